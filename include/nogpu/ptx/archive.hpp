#pragma once
/// Finds the fat binaries in what a host's linker takes: archives (`ar`) and object files (ELF).

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <nogpu/ptx/fatbin.hpp>
#include <nogpu/ptx/image_kind.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// A file in an archive. `contents` points into the archive.
struct archive_member {
  std::string name;
  std::span<const std::byte> contents;
};

inline constexpr std::string_view archive_magic = "!<arch>\n";

inline bool is_archive(std::span<const std::byte> file) {
  return file.size() >= archive_magic.size() &&
         std::memcmp(file.data(), archive_magic.data(), archive_magic.size()) == 0;
}

/// Lists the files of an archive as GNU and BSD write it, without its tables of symbols; false if
/// it is cut off or broken. Zeros may follow.
inline bool read_archive(std::span<const std::byte> file, std::vector<archive_member>& members) {
  constexpr std::size_t header_size = 60;
  if (!is_archive(file)) return false;
  std::string_view rest(reinterpret_cast<const char*>(file.data()), file.size());
  std::string_view long_names;
  const auto number = [](std::string_view digits, std::size_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && end != digits.data();
  };
  rest.remove_prefix(archive_magic.size());
  while (!rest.empty() && rest.front() != '\0') {
    std::size_t size = 0;
    if (rest.size() < header_size || rest.substr(58, 2) != "`\n") return false;
    if (!number(rest.substr(48, 10), size) || size > rest.size() - header_size) return false;
    std::string_view name = rest.substr(0, 16), contents = rest.substr(header_size, size);
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    std::size_t at = 0;
    bool table = name == "/" || name == "/SYM64/";
    if (name == "//") {
      long_names = contents;
      table = true;
    } else if (name.starts_with("#1/")) {  // the name is before the contents
      if (!number(name.substr(3), at) || at > contents.size()) return false;
      name = contents.substr(0, at);
      name = name.substr(0, name.find('\0'));
      contents.remove_prefix(at);
      table = name.starts_with("__.SYMDEF");
    } else if (!table && name.starts_with('/')) {
      if (!number(name.substr(1), at) || at >= long_names.size()) return false;
      name = long_names.substr(at);
      name = name.substr(0, name.find('\n'));
    }
    if (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
    if (!table)
      members.push_back({std::string(name),
                         {reinterpret_cast<const std::byte*>(contents.data()), contents.size()}});
    const std::size_t padded = header_size + size + size % 2;
    rest.remove_prefix(padded < rest.size() ? padded : rest.size());
  }
  return true;
}

/// Lists the fat binaries of an object file, which nvcc puts into sections of their own; false if
/// the file or one of them is cut off or broken.
inline bool fatbins_of_object(std::span<const std::byte> object,
                              std::vector<std::span<const std::byte>>& fatbins) {
  using detail::read_at;
  constexpr std::size_t elf_header = 64, section_header = 64;
  if (object.size() < elf_header || identify(object.data()) != image_kind::elf) return false;
  const std::byte* file = object.data();
  const std::uint64_t table = read_at<std::uint64_t>(file, 40);
  const std::uint64_t count = read_at<std::uint16_t>(file, 60);
  const std::uint64_t names = read_at<std::uint16_t>(file, 62);
  if (table > object.size() || count > (object.size() - table) / section_header || names >= count)
    return count == 0;
  const auto section = [&](std::uint64_t index, std::span<const std::byte>& contents) {
    const std::byte* header = file + table + index * section_header;
    const std::uint64_t begin = read_at<std::uint64_t>(header, 24);
    const std::uint64_t size = read_at<std::uint64_t>(header, 32);
    if (begin > object.size() || size > object.size() - begin) return false;
    contents = object.subspan(begin, size);
    return true;
  };
  std::span<const std::byte> name_bytes, contents;
  if (!section(names, name_bytes)) return false;
  const std::string_view all_names(reinterpret_cast<const char*>(name_bytes.data()),
                                   name_bytes.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t at = read_at<std::uint32_t>(file + table + i * section_header, 0);
    if (at >= all_names.size()) continue;
    const std::string_view name = all_names.substr(at, all_names.find('\0', at) - at);
    if (name != "__nv_relfatbin" && name != ".nv_fatbin") continue;
    if (!section(i, contents)) return false;
    while (contents.size() >= 16) {
      if (identify(contents.data()) != image_kind::fatbin) {  // zeros between two
        contents = contents.subspan(8);
        continue;
      }
      const std::uint64_t size = fatbin_size(contents.data());
      if (size < 16 || size > contents.size()) return false;  // less where the sum overflows
      fatbins.push_back(contents.first(size));
      const std::uint64_t padded = (size + 7) / 8 * 8;
      contents = contents.subspan(padded < contents.size() ? padded : contents.size());
    }
  }
  return true;
}

/// The PTX of an object of a host with code for devices, or of a fat binary: one text for
/// each fat binary.
inline std::vector<image_text> texts_of_object(std::span<const std::byte> bytes,
                                               std::uint32_t max_target) {
  const bool long_enough = bytes.size() >= 20;
  const bool elf = long_enough && identify(bytes.data()) == image_kind::elf;
  std::vector<std::span<const std::byte>> fatbins;
  if (elf && detail::read_at<std::uint16_t>(bytes.data(), 18) == 190)
    return {text_of_image(bytes.data(), max_target)};  // machine code, with the sentence for it
  if (elf && !fatbins_of_object(bytes, fatbins))
    return {
        detail::refuse_image("this object file is truncated or damaged", refusal::invalid_image)};
  if (!elf && long_enough && identify(bytes.data()) == image_kind::fatbin)
    fatbins.push_back(bytes);
  else if (!elf)
    return {
        detail::refuse_image("this is not an object file with GPU code", refusal::invalid_image)};
  std::vector<image_text> texts;
  texts.reserve(fatbins.size());
  for (const auto& each : fatbins) texts.push_back(text_of_fatbin(each, max_target));
  return texts;
}

}}}  // namespace nogpu::v1::ptx
