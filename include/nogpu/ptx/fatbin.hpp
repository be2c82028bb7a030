#pragma once
/// Finds the PTX in what a program hands to a driver: text, a fat binary, or machine code.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nogpu/ptx/image_kind.hpp>
#include <nogpu/ptx/ir.hpp>
#include <nogpu/ptx/lz4.hpp>
#include <nogpu/ptx/zstandard.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

enum class compression : std::uint8_t { none, lz4, zstd, unknown };

/// One program in a container. `payload` points into the container.
struct fatbin_member {
  bool is_ptx = false;       ///< otherwise machine code or an intermediate form
  std::uint32_t target = 0;  ///< 90 for compute_90 and sm_90
  compression packed = compression::none;
  std::uint64_t unpacked_size = 0;
  std::span<const std::byte> payload;
};

/// PTX text, or why there is none.
struct image_text {
  std::string text;
  std::optional<diagnostic> error;

  explicit operator bool() const { return !error.has_value(); }
};

namespace detail {

/// The largest size of an unpacked text. The memory is allocated at once, for the size that a
/// header states.
inline constexpr std::uint64_t largest_unpacked = 256u << 20;

inline image_text refuse_image(std::string why, refusal reason) {
  return {{}, diagnostic{1, 1, std::move(why), reason}};
}

}  // namespace detail

/// Lists the programs of a container; false if it is cut off or broken.
inline bool read_fatbin(std::span<const std::byte> image, std::vector<fatbin_member>& members) {
  using detail::read_at;
  constexpr std::size_t shortest_header = 64;
  if (image.size() < 16 || read_at<std::uint32_t>(image.data(), 0) != detail::fatbin_magic) {
    return false;
  }
  const std::size_t header = read_at<std::uint16_t>(image.data(), 6);
  const std::uint64_t payload = read_at<std::uint64_t>(image.data(), 8);
  if (header < 16 || header > image.size() || payload > image.size() - header) return false;
  std::span<const std::byte> rest = image.subspan(header, payload);
  while (!rest.empty()) {
    if (rest.size() < shortest_header) return false;
    const std::byte* entry = rest.data();
    const std::size_t entry_header = read_at<std::uint32_t>(entry, 4);
    const std::uint64_t padded = read_at<std::uint64_t>(entry, 8);
    if (entry_header < shortest_header || entry_header > rest.size() ||
        padded > rest.size() - entry_header) {
      return false;
    }
    const std::uint64_t flags = read_at<std::uint64_t>(entry, 40);
    const std::uint32_t packed_size = read_at<std::uint32_t>(entry, 16);
    fatbin_member member;
    member.is_ptx = read_at<std::uint16_t>(entry, 0) == 1;
    member.target = read_at<std::uint32_t>(entry, 28);
    member.unpacked_size = read_at<std::uint64_t>(entry, 56);
    member.packed = (flags & 0x8000) != 0   ? compression::zstd
                    : (flags & 0x2000) != 0 ? compression::lz4
                    : (flags & 0x1000) != 0 ? compression::unknown
                                            : compression::none;
    const std::uint64_t size = member.packed == compression::none ? padded : packed_size;
    if (size > padded) return false;
    member.payload = rest.subspan(entry_header, size);
    members.push_back(member);
    rest = rest.subspan(entry_header + padded);
  }
  return true;
}

namespace detail {

/// The text of a PTX member, unpacked with that library where it takes one.
inline image_text text_of(const fatbin_member& member, const zstandard& (*find_library)()) {
  std::string text;
  bool sound = member.packed == compression::none || member.unpacked_size <= largest_unpacked;
  if (member.packed == compression::none) {
    text.assign(reinterpret_cast<const char*>(member.payload.data()), member.payload.size());
  } else if (sound && member.packed == compression::lz4) {
    sound = unpack_lz4(member.payload, member.unpacked_size, text);
  } else if (sound && member.packed == compression::zstd) {
    const zstandard& library = find_library();
    if (!library) {
      return refuse_image(
          "the PTX of this fat binary is compressed with Zstandard and this system has no "
          "libzstd.so.1: install libzstd, or compile with nvcc --no-compress or "
          "--compress-mode=speed",
          refusal::compressed);
    }
    sound = unpack_zstandard(library, member.payload, member.unpacked_size, text);
  } else if (sound) {
    return refuse_image(
        "the PTX of this fat binary is compressed in an unknown way: compile with nvcc "
        "--no-compress",
        refusal::compressed);
  }
  if (!sound) {
    return refuse_image("the compressed PTX of this fat binary is damaged", refusal::invalid_image);
  }
  text.resize(std::min(text.size(), text.find('\0')));
  return {std::move(text), std::nullopt};
}

}  // namespace detail

/// The text of one PTX member.
inline image_text text_of(const fatbin_member& member) {
  return detail::text_of(member, detail::system_zstandard);
}

/// The PTX of a container that suits a device: the newest that is not newer than `max_target`.
inline image_text text_of_fatbin(std::span<const std::byte> image, std::uint32_t max_target) {
  std::vector<fatbin_member> members;
  if (!read_fatbin(image, members)) {
    return detail::refuse_image("this fat binary is truncated or damaged", refusal::invalid_image);
  }
  const fatbin_member* best = nullptr;
  for (const fatbin_member& member : members) {
    if (!member.is_ptx || member.target > max_target) continue;
    if (best == nullptr || member.target > best->target) best = &member;
  }
  if (best != nullptr) return text_of(*best);
  return detail::refuse_image(
      "this fat binary has no PTX for compute capability " + std::to_string(max_target / 10) + "." +
          std::to_string(max_target % 10) + ": compile with -gencode arch=compute_" +
          std::to_string(max_target) + ",code=compute_" + std::to_string(max_target),
      refusal::no_ptx);
}

/// The PTX of an image as a driver receives it: a pointer without a size, whose own contents say
/// where it ends. Null is refused.
inline image_text text_of_image(const void* image, std::uint32_t max_target) {
  const std::optional<image_kind> kind =
      image != nullptr ? identify(image) : std::optional<image_kind>{};
  if (!kind.has_value()) {
    return detail::refuse_image("this image is neither PTX text nor a fat binary",
                                refusal::invalid_image);
  }
  const auto* bytes = static_cast<const std::byte*>(image);
  switch (*kind) {
    case image_kind::text: return {std::string(static_cast<const char*>(image)), std::nullopt};
    case image_kind::fatbin: return text_of_fatbin({bytes, fatbin_size(image)}, max_target);
    case image_kind::wrapper: {
      const void* container = detail::read_at<const void*>(bytes, 8);
      const bool good = container != nullptr && identify(container) == image_kind::fatbin;
      if (good) return text_of_image(container, max_target);
      return detail::refuse_image("this wrapper does not point to a fat binary",
                                  refusal::invalid_image);
    }
    case image_kind::elf: break;
  }
  const bool cubin = detail::read_at<std::uint16_t>(bytes, 18) == 190;  // EM_CUDA
  return detail::refuse_image(
      cubin ? "this image is machine code (a cubin): the CPU executes PTX, compile to compute_" +
                  std::to_string(max_target)
            : "this image is an ELF file of another machine",
      refusal::no_ptx);
}

}}}  // namespace nogpu::v1::ptx
