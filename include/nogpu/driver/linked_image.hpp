#pragma once
/// \file
/// The output of this driver's linker: an ELF file like any other cubin, with one section that has
/// the PTX of the units; loading it is like loading one text.

#include <nogpu/ptx/link.hpp>
#include <nogpu/ptx/parser.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// A unit of a link: its name and its PTX.
using linked_unit = std::pair<std::string, std::string>;

namespace detail {

/// A mark in bytes of the header that ELF leaves unused, which images of other programs lack.
inline constexpr char linked_image_mark[] = "CPULINK";
inline constexpr std::size_t elf_header_size = 64, section_header_size = 64;

template <class T> void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}
template <class T> T get(const char* bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes + at, sizeof value);
  return value;
}

}  // namespace detail

/// Returns whether an image, of which at least four bytes can be read, is one of
/// `make_linked_image`.
inline bool is_linked_image(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  return std::memcmp(bytes, "\177ELF", 4) == 0 &&
         std::memcmp(bytes + 8, detail::linked_image_mark, 8) == 0;
}

/// The size that an image states of itself.
inline std::size_t size_of_linked_image(const void* image) {
  return detail::get<std::uint64_t>(static_cast<const char*>(image), 40) +
         2 * detail::section_header_size;
}

/// The architecture that an image was linked for.
inline std::uint32_t target_of_linked_image(const void* image) {
  return detail::get<std::uint32_t>(static_cast<const char*>(image), 48);
}

/// The most registers of a thread that the link asked for, or 0.
inline std::uint32_t max_registers_of_linked_image(const void* image) {
  return detail::get<std::uint32_t>(static_cast<const char*>(image), 24);
}

/// Makes the image of a link for a device of architecture `target`, such as 90.
inline std::string make_linked_image(const std::vector<linked_unit>& units, std::uint32_t target,
                                     std::uint32_t max_registers = 0) {
  std::string payload;
  for (const linked_unit& unit : units) {
    for (const std::string* text : {&unit.first, &unit.second}) {
      const std::uint64_t size = text->size();
      payload.append(reinterpret_cast<const char*>(&size), sizeof size);
      payload += *text;
    }
  }
  payload.resize((payload.size() + 7) / 8 * 8);
  const std::uint64_t sections = detail::elf_header_size + payload.size();
  std::string image(detail::elf_header_size, '\0');
  constexpr char identity[] = "\177ELF\2\1\1";  // 64 bits, little-endian
  std::memcpy(image.data(), identity, sizeof identity);
  std::memcpy(image.data() + 8, detail::linked_image_mark, sizeof detail::linked_image_mark);
  detail::put<std::uint16_t>(image, 16, 2);    // an executable
  detail::put<std::uint16_t>(image, 18, 190);  // of CUDA
  detail::put<std::uint32_t>(image, 20, 1);
  detail::put<std::uint32_t>(image, 24, max_registers);
  detail::put<std::uint64_t>(image, 40, sections);
  detail::put<std::uint32_t>(image, 48, target);
  detail::put<std::uint16_t>(image, 52, detail::elf_header_size);
  detail::put<std::uint16_t>(image, 58, detail::section_header_size);
  detail::put<std::uint16_t>(image, 60, 2);
  image += payload;
  std::string headers(2 * detail::section_header_size, '\0');
  constexpr std::size_t second = detail::section_header_size;
  detail::put<std::uint32_t>(headers, second + 4, 1);  // contents that the program defines
  detail::put<std::uint64_t>(headers, second + 24, detail::elf_header_size);
  detail::put<std::uint64_t>(headers, second + 32, payload.size());
  return image + headers;
}

/// Returns the units of an image; empty if the image was modified after linking.
inline std::vector<linked_unit> units_of_linked_image(std::string_view image) {
  std::vector<linked_unit> units;
  if (image.size() < detail::elf_header_size + 2 * detail::section_header_size) return {};
  image.remove_prefix(detail::elf_header_size);
  image.remove_suffix(2 * detail::section_header_size);
  while (image.size() >= 16) {
    std::string parts[2];
    for (std::string& part : parts) {
      if (image.size() < 8) return {};
      const auto size = detail::get<std::uint64_t>(image.data(), 0);
      image.remove_prefix(8);
      if (size > image.size()) return {};
      part = image.substr(0, size);
      image.remove_prefix(size);
    }
    units.emplace_back(std::move(parts[0]), std::move(parts[1]));
  }
  return units;
}

/// Reads PTX, or a linked image as one module.
inline ptx::parse_result parse_code(const std::string& text) {
  if (text.size() < detail::elf_header_size || !is_linked_image(text.data())) {
    return ptx::parse(text);
  }
  ptx::linker symbols;
  ptx::parse_result whole;
  for (linked_unit& unit : units_of_linked_image(text)) {
    ptx::parse_result part = ptx::parse(unit.second);
    if (!part) return part;
    const std::vector<std::string> errors = symbols.add(std::move(part.value), unit.first);
    if (errors.empty()) continue;
    whole.error = ptx::diagnostic{1, 1, errors.front(), ptx::refusal::invalid_image};
    return whole;
  }
  if (const std::vector<std::string> errors = symbols.undefined(); !errors.empty()) {
    whole.error = ptx::diagnostic{1, 1, errors.front(), ptx::refusal::invalid_image};
    return whole;
  }
  whole.value = symbols.take();
  return whole;
}

}}}  // namespace nogpu::v1::driver
