// Where the elements of a matrix are that a warp group reads from shared memory.
#pragma once

#include <cstdint>

namespace nogpu { inline namespace v1 { namespace machine {

/// A matrix descriptor of wgmma. A matrix lies in pieces of 16 bytes; all addresses are multiples
/// of them.
struct matrix_descriptor {
  std::uint64_t bits = 0;

  /// Bits that no field has. A descriptor with one of them is most likely an address.
  static constexpr std::uint64_t reserved = 0x3ff1'c000'c000'c000u;

  std::uint32_t start() const { return field(0); }
  std::uint32_t leading() const { return field(16); }
  std::uint32_t stride() const { return field(32); }
  std::uint32_t base_offset() const { return static_cast<std::uint32_t>(bits >> 49 & 7); }
  /// The pieces of a row of the pattern: 8, 4 or 2 with a swizzle, 1 without.
  std::uint32_t row_pieces() const {
    const auto mode = static_cast<std::uint32_t>(bits >> 62);
    return mode == 0 ? 1 : 16u >> mode;
  }

  /// The address of a piece of a matrix whose pieces go along k: `line` is the row of A or column
  /// of B, `piece` counts along it.
  std::uint32_t along_k(std::uint32_t line, std::uint32_t piece) const {
    const std::uint32_t row = row_pieces();
    return placed(line / 8 * stride() + line % 8 * row * 16 + piece * (row == 1 ? leading() : 16));
  }
  /// The same of a transposed matrix, whose pieces are 8 rows of A or columns of B of one `k`.
  std::uint32_t across_k(std::uint32_t piece, std::uint32_t k) const {
    const std::uint32_t row = row_pieces();
    if (row == 1) return placed(piece * stride() + k / 8 * leading() + k % 8 * 16);
    return placed(piece / row * leading() + piece % row * 16 + k / 8 * stride() + k % 8 * row * 16);
  }

 private:
  std::uint32_t field(unsigned shift) const {
    return static_cast<std::uint32_t>(bits >> shift & 0x3fff) << 4;
  }
  /// The address `offset` bytes into the matrix. A swizzle exchanges the pieces in each 128 bytes
  /// by where those are in the pattern, which begins at 1024, 512 or 256 bytes, or as the base
  /// offset says.
  std::uint32_t placed(std::uint32_t offset) const {
    const std::uint32_t at = (start() + offset) & 0x3ffff;
    const std::uint32_t line = (at >> 7) - base_offset();
    return at ^ (line & (row_pieces() - 1)) << 4;
  }
};

}}}  // namespace nogpu::v1::machine
