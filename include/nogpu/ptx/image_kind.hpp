#pragma once
/// Finds out the kind and the length of code that a program passes to a driver as a bare pointer.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace nogpu { inline namespace v1 { namespace ptx {

enum class image_kind : std::uint8_t {
  text,     ///< PTX, ended by a zero byte
  fatbin,   ///< the container that nvcc -fatbin and fatbinary write
  wrapper,  ///< the structure in a host program that points to a container
  elf,      ///< machine code: a cubin, or an object of another machine
};

namespace detail {

inline constexpr std::uint32_t fatbin_magic = 0xba55ed50;
inline constexpr std::uint32_t wrapper_magic = 0x466243b1;

/// Values of a little-endian structure, at any alignment.
template <class T> T read_at(const std::byte* base, std::size_t offset) {
  T value;
  std::memcpy(&value, base + offset, sizeof value);
  return value;
}

}  // namespace detail

/// Returns the kind of an image. Reads no further than the first byte that decides. Returns nothing
/// for an image of an unknown kind.
inline std::optional<image_kind> identify(const void* image) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  const auto starts_with = [&](std::uint32_t magic) {
    for (unsigned i = 0; i < 4; ++i) {
      if (bytes[i] != (magic >> (8 * i) & 0xff)) return false;
    }
    return true;
  };
  if (starts_with(detail::fatbin_magic)) return image_kind::fatbin;
  if (starts_with(detail::wrapper_magic)) return image_kind::wrapper;
  if (starts_with(0x464c457f)) return image_kind::elf;
  const unsigned char c = bytes[0];
  const bool printable = (c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r';
  return printable ? std::optional(image_kind::text) : std::nullopt;
}

/// The bytes that a container spans, by its own header. The header's 16 bytes must be readable.
inline std::uint64_t fatbin_size(const void* image) {
  const auto* bytes = static_cast<const std::byte*>(image);
  return detail::read_at<std::uint16_t>(bytes, 6) + detail::read_at<std::uint64_t>(bytes, 8);
}

/// The bytes that an image spans: a text with its zero, an ELF file to the end of its section or
/// program headers, a container by its header, of a wrapper the structure alone.
inline std::size_t image_size(const void* image) {
  const auto* bytes = static_cast<const std::byte*>(image);
  switch (identify(image).value_or(image_kind::text)) {
    case image_kind::fatbin: return fatbin_size(image);
    case image_kind::wrapper: return 24;
    case image_kind::elf: {
      using detail::read_at;
      const std::uint64_t sections =
          read_at<std::uint64_t>(bytes, 40) +
          std::uint64_t{read_at<std::uint16_t>(bytes, 58)} * read_at<std::uint16_t>(bytes, 60);
      const std::uint64_t segments =
          read_at<std::uint64_t>(bytes, 32) +
          std::uint64_t{read_at<std::uint16_t>(bytes, 54)} * read_at<std::uint16_t>(bytes, 56);
      return static_cast<std::size_t>(sections > segments ? sections : segments);
    }
    case image_kind::text: break;
  }
  return std::string_view(static_cast<const char*>(image)).size() + 1;
}

}}}  // namespace nogpu::v1::ptx
