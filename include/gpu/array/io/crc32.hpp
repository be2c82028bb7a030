#pragma once
/// \file
/// The CRC-32 of ZIP and PNG files: the polynomial 0x04c11db7, bits reversed.

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

struct crc32_table {
  std::uint32_t remainders[256] = {};
  constexpr crc32_table() noexcept {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t rest = byte;
      for (int bit = 0; bit < 8; ++bit)
        rest = (rest & 1u) != 0 ? rest >> 1 ^ 0xedb88320u : rest >> 1;
      remainders[byte] = rest;
    }
  }
};

/// Continues a CRC, which begins as 0, with more bytes.
inline std::uint32_t crc32(std::uint32_t before, const void* bytes, std::size_t count) noexcept {
  static constexpr crc32_table table;
  std::uint32_t rest = ~before;
  const auto* const from = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < count; ++i)
    rest = table.remainders[(rest ^ from[i]) & 0xff] ^ rest >> 8;
  return ~rest;
}

}}}  // namespace gpu::v1::detail
