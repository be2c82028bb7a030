#pragma once
/// Unpacks the LZ4 block format, runs of literals and copies of earlier output, as older versions
/// of nvcc and its --compress-mode=speed pack PTX.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// Unpacks what must become exactly `size` bytes; `out` never grows beyond.
inline bool unpack_lz4(std::span<const std::byte> in, std::uint64_t size, std::string& out) {
  std::size_t i = 0;
  out.clear();
  const auto next = [&](std::size_t& length) {
    // A length of 15 continues in further bytes, as long as they are 255.
    for (unsigned byte = 255; byte == 255; length += byte) {
      if (i >= in.size()) return false;
      byte = std::to_integer<unsigned>(in[i++]);
    }
    return true;
  };
  while (i < in.size()) {
    const auto token = std::to_integer<unsigned>(in[i++]);
    std::size_t literals = token >> 4;
    if (literals == 15 && !next(literals)) return false;
    if (literals > in.size() - i || literals > size - out.size()) return false;
    out.append(reinterpret_cast<const char*>(in.data() + i), literals);
    i += literals;
    if (i == in.size() || out.size() == size) break;
    if (in.size() - i < 2) return false;
    const std::size_t distance =
        std::to_integer<std::size_t>(in[i]) | std::to_integer<std::size_t>(in[i + 1]) << 8;
    i += 2;
    std::size_t length = token & 15;
    if (length == 15 && !next(length)) return false;
    length += 4;
    if (distance == 0 || distance > out.size() || length > size - out.size()) return false;
    // Byte by byte: source and destination overlap when a short pattern repeats.
    for (; length > 0; --length) out += out[out.size() - distance];
  }
  return out.size() == size;
}

}}}  // namespace nogpu::v1::ptx::detail
