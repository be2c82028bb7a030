#pragma once
/// \file
/// Operands for the tests of the arithmetic: the special ones, and many of every size.

#include <bit>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__SSE__)
#  include <xmmintrin.h>
#endif

#include <nogpu/ptx/arithmetic/rounding.hpp>
#include "support/catch.hpp"

namespace arithmetic_test {

using nogpu::ptx::rounding;

/// SplitMix64: the same operands in every run.
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

/// Integers near the ends and the middle of every width, as 64 bits.
inline std::vector<std::uint64_t> special_integers() {
  std::vector<std::uint64_t> values;
  for (const int shift : {0, 3, 7, 8, 15, 16, 23, 24, 31, 32, 47, 52, 53, 62, 63}) {
    const std::uint64_t bit = std::uint64_t{1} << shift;
    for (const std::uint64_t v : {bit - 1, bit, bit + 1}) {
      values.push_back(v);
      values.push_back(0 - v);
    }
  }
  return values;
}

/// Both signs of zeros, subnormals, the limits, ones, ties, infinities and NaNs.
inline std::vector<float> special_floats() {
  std::vector<float> values;
  for (const std::uint32_t bits :
       {0u,          1u,          2u,          0x400000u,   0x7fffffu,   0x800000u,   0x800001u,
        0xffffffu,   0x1000000u,  0x33800000u, 0x337fffffu, 0x34000000u, 0x3effffffu, 0x3f000000u,
        0x3f000001u, 0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x3fc00000u, 0x40000000u, 0x40200000u,
        0x40490fdbu, 0x437f0000u, 0x43800000u, 0x4afffffeu, 0x4b000000u, 0x4b7fffffu, 0x4b800000u,
        0x4effffffu, 0x4f000000u, 0x4f7fffffu, 0x4f800000u, 0x5effffffu, 0x5f000000u, 0x5f800000u,
        0x7e800000u, 0x7effffffu, 0x7f000000u, 0x7f7ffffeu, 0x7f7fffffu, 0x7f800000u, 0x7f800001u,
        0x7fc00000u, 0x7fc12345u, 0x7fffffffu}) {
    values.push_back(std::bit_cast<float>(bits));
    values.push_back(std::bit_cast<float>(bits | 0x80000000u));
  }
  return values;
}

inline std::vector<double> special_doubles() {
  std::vector<double> values;
  for (const std::uint64_t bits : {0ull,
                                   1ull,
                                   2ull,
                                   0x8000000000000ull,
                                   0xfffffffffffffull,
                                   0x10000000000000ull,
                                   0x10000000000001ull,
                                   0x1fffffffffffffull,
                                   0x36a0000000000000ull,
                                   0x380fffffffffffffull,
                                   0x3810000000000000ull,
                                   0x3ca0000000000000ull,
                                   0x3cb0000000000000ull,
                                   0x3fdfffffffffffffull,
                                   0x3fe0000000000000ull,
                                   0x3fe0000000000001ull,
                                   0x3fefffffffffffffull,
                                   0x3ff0000000000000ull,
                                   0x3ff0000000000001ull,
                                   0x3ff8000000000000ull,
                                   0x4000000000000000ull,
                                   0x4004000000000000ull,
                                   0x41dfffffffc00000ull,
                                   0x41e0000000000000ull,
                                   0x41efffffffe00000ull,
                                   0x41f0000000000000ull,
                                   0x432fffffffffffffull,
                                   0x4330000000000000ull,
                                   0x433fffffffffffffull,
                                   0x43dfffffffffffffull,
                                   0x43e0000000000000ull,
                                   0x43efffffffffffffull,
                                   0x43f0000000000000ull,
                                   0x47efffffe0000000ull,
                                   0x47efffffefffffffull,
                                   0x47effffff0000000ull,
                                   0x47f0000000000000ull,
                                   0x7fe0000000000000ull,
                                   0x7feffffffffffffeull,
                                   0x7fefffffffffffffull,
                                   0x7ff0000000000000ull,
                                   0x7ff0000000000001ull,
                                   0x7ff8000000000000ull,
                                   0x7ff8123456789abcull,
                                   0x7fffffffffffffffull}) {
    values.push_back(std::bit_cast<double>(bits));
    values.push_back(std::bit_cast<double>(bits | 0x8000000000000000ull));
  }
  return values;
}

/// A number with any exponent: all bit patterns are as likely.
inline float any_float(random_bits& random) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
}
inline double any_double(random_bits& random) { return std::bit_cast<double>(random()); }

/// Numbers of similar size with few significant bits, so that sums cancel and ties are frequent.
inline float close_float(random_bits& random) {
  const std::uint64_t r = random();
  const auto sign = static_cast<std::uint32_t>(r >> 63) << 31;
  const auto exponent = static_cast<std::uint32_t>(110 + (r >> 32) % 34) << 23;
  const std::uint32_t mask = 0x7fffffu << (r >> 40) % 23 & 0x7fffffu;
  return std::bit_cast<float>(sign | exponent | (static_cast<std::uint32_t>(r) & mask));
}
inline double close_double(random_bits& random) {
  const std::uint64_t r = random();
  const std::uint64_t exponent = (1000 + (random() >> 32) % 60) << 52;
  const std::uint64_t mask = 0xfffffffffffffull << (random() >> 40) % 52 & 0xfffffffffffffull;
  return std::bit_cast<double>((r & 1ull << 63) | exponent | (r & mask));
}

/// The bits, all NaNs of a float being one value here.
inline std::uint32_t bits_of(float a) {
  return a != a ? 0x7fffffffu : std::bit_cast<std::uint32_t>(a);
}
inline std::uint64_t bits_of(double a) { return std::bit_cast<std::uint64_t>(a); }

/// The processor rounds in the given mode while this object lives. The oracle reads its operands
/// from volatile variables and writes its result to one, so nothing is folded or moved.
class processor_rounding {
 public:
  explicit processor_rounding(rounding r) : saved_(std::fegetround()) {
    std::fesetround(r == rounding::toward_zero       ? FE_TOWARDZERO
                    : r == rounding::toward_negative ? FE_DOWNWARD
                    : r == rounding::toward_positive ? FE_UPWARD
                                                     : FE_TONEAREST);
  }
  ~processor_rounding() { std::fesetround(saved_); }
  processor_rounding(const processor_rounding&) = delete;
  processor_rounding& operator=(const processor_rounding&) = delete;

 private:
  int saved_;
};

/// The processor flushes subnormal results while this object lives: as GPUs do, those that are
/// below the normal numbers after rounding without a least exponent. Other processors than those
/// with SSE flush before they round, and cannot serve as the oracle.
#if defined(__SSE__)
class processor_flush {
 public:
  static constexpr bool is_oracle = true;
  processor_flush() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8000); }
  ~processor_flush() { _mm_setcsr(saved_); }
  processor_flush(const processor_flush&) = delete;
  processor_flush& operator=(const processor_flush&) = delete;

 private:
  unsigned saved_;
};
#else
struct processor_flush {
  static constexpr bool is_oracle = false;
};
#endif

/// Counts mismatches, and shows the first few.
class comparison_run {
 public:
  template <class T, class... Operands> void expect(T got, T want, Operands... operands) {
    ++checked_;
    if (got == want) return;
    if (++failed_ > 5) return;
    std::vector<std::uint64_t> given{static_cast<std::uint64_t>(operands)...};
    CAPTURE(given, static_cast<std::uint64_t>(got), static_cast<std::uint64_t>(want));
    CHECK(got == want);
  }
  void finish(std::size_t at_least) const {
    CHECK(failed_ == 0);
    CHECK(checked_ >= at_least);
  }

 private:
  std::size_t checked_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace arithmetic_test
