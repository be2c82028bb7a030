#pragma once
/// \file
/// BLAKE2b-256 (RFC 7693): the digest that names and checks cache entries.

#include <gpu/core/string_ref.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A digest of 32 bytes. Two contents with the same digest would be a break of BLAKE2b.
struct digest {
  unsigned char bytes[32] = {};

  friend bool operator==(const digest& a, const digest& b) noexcept {
    return __builtin_memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
  }

  /// 64 hexadecimal digits and a terminating zero.
  struct hexadecimal {
    char digits[65];
  };
  hexadecimal hex() const noexcept {
    hexadecimal made;
    for (std::size_t i = 0; i < sizeof bytes; ++i) {
      made.digits[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
      made.digits[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    made.digits[64] = '\0';
    return made;
  }
};

/// Computes the digest of bytes that are given piece by piece.
class digest_builder {
 public:
  digest_builder() noexcept {
    for (int i = 0; i < 8; ++i) state_[i] = initial[i];
    state_[0] ^= 0x01010000u ^ sizeof(digest);  // no key, one leaf, 32 bytes of output
  }

  /// Adds bytes. Out of line, for small programs (benchmarks/program_cost).
  [[gnu::noinline]] digest_builder& append(const void* data, std::size_t size) noexcept {
    const auto* from = static_cast<const unsigned char*>(data);
    while (size > 0) {
      // The last block is compressed differently, so a full one waits until more bytes come.
      if (filled_ == sizeof block_) compress(block_, false);
      if (filled_ == 0 && size > sizeof block_) {
        filled_ = sizeof block_;
        compress(from, false);
        from += sizeof block_;
        size -= sizeof block_;
        continue;
      }
      const std::size_t room = sizeof block_ - filled_;
      const std::size_t count = size < room ? size : room;
      __builtin_memcpy(block_ + filled_, from, count);
      filled_ += count;
      from += count;
      size -= count;
    }
    return *this;
  }
  /// Adds a number as eight bytes, in little-endian order.
  digest_builder& operator<<(std::uint64_t number) noexcept {
    unsigned char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(number >> (8 * i));
    return append(bytes, sizeof bytes);
  }
  /// Adds the length of a string and the string, so that two strings do not run into each other.
  digest_builder& operator<<(string_ref string) noexcept {
    return (*this << std::uint64_t{string.size()}).append(string.data(), string.size());
  }
  digest_builder& operator<<(const digest& other) noexcept {
    return append(other.bytes, sizeof other.bytes);
  }

  /// Returns the digest of all that was added. The builder cannot be used any more.
  digest finish() noexcept {
    __builtin_memset(block_ + filled_, 0, sizeof block_ - filled_);
    compress(block_, true);
    digest made;
    for (std::size_t i = 0; i < sizeof made.bytes; ++i) {
      made.bytes[i] = static_cast<unsigned char>(state_[i / 8] >> (8 * (i % 8)));
    }
    return made;
  }

 private:
  using word = std::uint64_t;

  static constexpr word initial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                      0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                      0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  static constexpr unsigned char order[10][16] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

  // Without these attributes, GCC -O2 does not inline and the digest takes a third longer.
  [[gnu::always_inline]] static word rotate_right(word value, int count) noexcept {
    return value >> count | value << (64 - count);
  }

  [[gnu::always_inline]] static void mix(word* v, int a, int b, int c, int d, word x,
                                         word y) noexcept {
    v[a] += v[b] + x;
    v[d] = rotate_right(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotate_right(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotate_right(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotate_right(v[b] ^ v[c], 63);
  }
  [[gnu::always_inline]] static void mix_all(word* v, const word* m,
                                             const unsigned char* s) noexcept {
    mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
    mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
    mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
    mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
    mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
    mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
    mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
    mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
  }

  /// Mixes `filled_` bytes of a block into the state.
  void compress(const unsigned char* block, bool last) noexcept {
    count_ += filled_;
    word m[16], v[16];
    for (int i = 0; i < 16; ++i) {
      __builtin_memcpy(&m[i], block + 8 * i, sizeof m[i]);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
      m[i] = __builtin_bswap64(m[i]);
#endif
    }
    for (int i = 0; i < 8; ++i) {
      v[i] = state_[i];
      v[i + 8] = initial[i];
    }
    v[12] ^= count_;
    if (last) v[14] = ~v[14];
    // Unrolled, so that optimized code does not load the order of the words from a table.
#ifndef __CUDACC__  // nvcc warns about the pragma
#  pragma GCC unroll 12
#endif
    for (int round = 0; round < 12; ++round) mix_all(v, m, order[round % 10]);
    for (int i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
    filled_ = 0;
  }

  word state_[8];
  word count_ = 0;
  std::size_t filled_ = 0;
  unsigned char block_[128];
};

inline digest digest_of(string_ref contents) noexcept {
  return digest_builder().append(contents.data(), contents.size()).finish();
}

}}}  // namespace gpu::v1::detail
