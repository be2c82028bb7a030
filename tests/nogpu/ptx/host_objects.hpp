#pragma once
/// \file
/// Fat binaries, object files and archives, put together by what `ar`, readelf and nvcc show of
/// theirs.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace ptx_test {

template <class T> void put(std::string& bytes, std::size_t at, T value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A fat binary of one program: PTX, or machine code.
inline std::string fatbin_of(std::string program, bool is_ptx = true, std::uint32_t target = 90) {
  program.resize((program.size() + 8) / 8 * 8);
  std::string bytes;
  put<std::uint32_t>(bytes, 0, 0xba55ed50);
  put<std::uint16_t>(bytes, 4, 1);
  put<std::uint16_t>(bytes, 6, 16);
  put<std::uint64_t>(bytes, 8, 64 + program.size());
  put<std::uint16_t>(bytes, 16, is_ptx ? 1 : 2);
  put<std::uint16_t>(bytes, 18, 0x101);
  put<std::uint32_t>(bytes, 20, 64);
  put<std::uint64_t>(bytes, 24, program.size());
  put<std::uint32_t>(bytes, 44, target);
  bytes.resize(16 + 64);
  return bytes + program;
}

/// An object file for x86-64 with these sections.
inline std::string object_of(const std::vector<std::pair<std::string, std::string>>& sections) {
  std::string bytes = "\177ELF\2\1\1", names(1, '\0'), headers(64, '\0');
  put<std::uint16_t>(bytes, 16, 1);
  put<std::uint16_t>(bytes, 18, 62);
  bytes.resize(64);
  const auto add = [&](const std::string& name, const std::string& contents) {
    const std::size_t header = headers.size();
    bytes.resize((bytes.size() + 7) / 8 * 8);
    put<std::uint32_t>(headers, header, static_cast<std::uint32_t>(names.size()));
    put<std::uint64_t>(headers, header + 24, bytes.size());
    names += name + '\0';
    const std::string& all = name == ".shstrtab" ? names : contents;
    put<std::uint64_t>(headers, header + 32, all.size());
    headers.resize(header + 64);
    bytes += all;
  };
  for (const auto& [name, contents] : sections) add(name, contents);
  add(".shstrtab", "");
  bytes.resize((bytes.size() + 7) / 8 * 8);
  put<std::uint64_t>(bytes, 40, bytes.size());
  put<std::uint16_t>(bytes, 52, 64);
  put<std::uint16_t>(bytes, 58, 64);
  put<std::uint16_t>(bytes, 60, static_cast<std::uint16_t>(headers.size() / 64));
  put<std::uint16_t>(bytes, 62, static_cast<std::uint16_t>(headers.size() / 64 - 1));
  return bytes + headers;
}

/// A file of an archive, with the name as the header has it.
inline std::string member_of(std::string name, const std::string& contents) {
  name.resize(16, ' ');
  std::string size = std::to_string(contents.size());
  size.resize(10, ' ');
  return name + "0           0     0     100644  " + size + "`\n" + contents +
         (contents.size() % 2 != 0 ? "\n" : "");
}

/// An archive as GNU `ar` writes it.
inline std::string archive_of(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string bytes = "!<arch>\n" + member_of("/", std::string(4, '\0')), names;
  for (const auto& [name, contents] : files) names += name + "/\n";
  bytes += member_of("//", names);
  std::size_t at = 0;
  for (const auto& [name, contents] : files) {
    bytes += member_of(name.size() < 16 ? name + "/" : "/" + std::to_string(at), contents);
    at += name.size() + 2;
  }
  return bytes;
}

}  // namespace ptx_test
