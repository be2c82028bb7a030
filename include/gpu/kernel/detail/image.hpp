#pragma once
/// \file
/// Recognizes the images that a module can be loaded from, and rejects damaged ones.

#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpu { inline namespace v1 { namespace detail {

enum class image_kind : unsigned char { ptx, cubin, fatbin, unknown };

template <class T> T read_at(bytes_ref image, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, image.characters() + offset, sizeof value);
  return value;
}

inline image_kind kind_of_image(bytes_ref image) noexcept {
  if (image.size() >= 4 && std::memcmp(image.data(), "\177ELF", 4) == 0) return image_kind::cubin;
  if (image.size() >= 4 && read_at<std::uint32_t>(image, 0) == 0xba55ed50u) {
    return image_kind::fatbin;
  }
  // PTX begins, after blanks, with a comment or with .version.
  for (std::size_t i = 0; i < image.size(); ++i) {
    const char c = image.characters()[i];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    return c == '.' || c == '/' ? image_kind::ptx : image_kind::unknown;
  }
  return image_kind::unknown;
}

/// Returns the size of an ELF image according to its header: up to the end of its last section or
/// table. Returns 0 if the header is cut off or not that of a cubin.
inline std::uint64_t bytes_of_cubin(bytes_ref image) noexcept {
  constexpr std::size_t header_size = 64, section_header_size = 64, program_header_size = 56;
  constexpr std::uint16_t cuda_machine = 190;
  constexpr std::uint32_t no_bits = 8;
  if (image.size() < header_size || image.characters()[4] != 2) return 0;
  if (read_at<std::uint16_t>(image, 18) != cuda_machine) return 0;
  const auto program_headers = read_at<std::uint64_t>(image, 32);
  const auto section_headers = read_at<std::uint64_t>(image, 40);
  const std::uint64_t program_count = read_at<std::uint16_t>(image, 56);
  const std::uint64_t section_count = read_at<std::uint16_t>(image, 60);
  std::uint64_t end = header_size;
  const auto extend = [&](std::uint64_t first, std::uint64_t bytes) {
    std::uint64_t last = 0;
    if (__builtin_add_overflow(first, bytes, &last)) last = ~std::uint64_t{0};
    if (last > end) end = last;
  };
  extend(program_headers, program_count * program_header_size);
  extend(section_headers, section_count * section_header_size);
  if (end > image.size()) return end;
  for (std::uint64_t i = 0; i < section_count; ++i) {
    const auto at = section_headers + i * section_header_size;
    if (read_at<std::uint32_t>(image, at + 4) == no_bits) continue;
    extend(read_at<std::uint64_t>(image, at + 24), read_at<std::uint64_t>(image, at + 32));
  }
  return end;
}

/// Returns the size of a fatbin according to its header, or 0 if the header is cut off.
inline std::uint64_t bytes_of_fatbin(bytes_ref image) noexcept {
  if (image.size() < 16) return 0;
  const auto header = read_at<std::uint16_t>(image, 6);
  std::uint64_t end = 0;
  if (__builtin_add_overflow(read_at<std::uint64_t>(image, 8), header, &end)) end = ~end;
  return end;
}

/// Rejects images that the driver would misread: empty, unknown and truncated ones.
inline result<> check_image(bytes_ref image, source_location where) noexcept {
  const auto reject = [&](text_builder& out) {
    out << " Pass a complete cubin, fatbin or PTX.";
    return refusal(errc::invalid_image, "gpu::module::load", out.finish(), where, image.size());
  };
  text_builder out;
  if (image.data() == nullptr || image.empty())
    return fail(reject(out << "the image has no bytes."));
  const image_kind kind = kind_of_image(image);
  constexpr std::uint32_t lto_ir = 0x7f4e'43ed;
  if (kind == image_kind::unknown && image.size() >= 4 &&
      read_at<std::uint32_t>(image, 0) == lto_ir) {
    out << "the image of " << image.size()
        << " bytes is LTO-IR, which the driver cannot load. Link it first: gpu::link({image}).";
    return fail(
        refusal(errc::invalid_image, "gpu::module::load", out.finish(), where, image.size()));
  }
  if (kind == image_kind::unknown) {
    return fail(reject(out << "the image of " << image.size()
                           << " bytes is not a cubin, a fatbin or PTX."));
  }
  if (kind == image_kind::ptx) {
    if (const void* zero = std::memchr(image.data(), 0, image.size())) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(zero) - image.characters());
      // Trailing zero bytes may be part of the range; other characters after them may not.
      for (std::size_t i = at; i < image.size(); ++i) {
        if (image.characters()[i] == '\0') continue;
        return fail(
            reject(out << "the PTX has a zero byte at " << at << " of " << image.size() << '.'));
      }
    }
    return {};
  }
  const char* what = kind == image_kind::cubin ? "cubin" : "fatbin";
  const std::uint64_t whole =
      kind == image_kind::cubin ? bytes_of_cubin(image) : bytes_of_fatbin(image);
  if (whole == 0) {
    return fail(reject(out << "the " << what << " of " << image.size()
                           << " bytes has a header that is truncated or not CUDA's."));
  }
  if (whole > image.size()) {
    return fail(reject(out << "the " << what << " is truncated: it has " << image.size()
                           << " bytes, and its header promises " << whole << '.'));
  }
  return {};
}

}}}  // namespace gpu::v1::detail
