#pragma once
/// \file
/// What the kernels of the corpus get: the same words on every machine, with the values that
/// instructions treat specially among them.

#include "manifest.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace corpus {

/// SplitMix64, seeded by a name.
class generator {
 public:
  explicit generator(const std::string& name) {
    for (const char c : name) {
      state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    }
  }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
  std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>(next() >> 32) % limit;
  }
  /// In [0, 1), a multiple of 2^-53.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  template <class T, std::size_t Count> T among(const T (&values)[Count]) {
    return values[below(static_cast<std::uint32_t>(Count))];
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ull;
};

namespace detail {

inline std::uint32_t special_integer(generator& g) {
  constexpr std::uint32_t values[] = {0,          1,          2,          31,         32,
                                      33,         0xffffffff, 0xfffffffe, 0x7fffffff, 0x80000000,
                                      0x80000001, 0xffff,     0x8000,     0x7fff,     0x10000,
                                      0xff,       0x80,       0x7f,       0x00800080, 0x80008000};
  return g.among(values);
}

inline std::uint32_t any_f32(generator& g) {
  constexpr std::uint32_t values[] = {
      0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
      0xffc00000, 0x7f800001, 0x7fffffff, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
      0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f7fffff, 0x3f800001, 0x34000000, 0x4b000000,
      0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x5f000000, 0xdf000000, 0x3f000000};
  switch (g.below(4)) {
    case 0: return g.among(values);
    case 1:
      return std::bit_cast<std::uint32_t>(static_cast<float>(std::ldexp(2 * g.unit() - 1, 4)));
    default: return static_cast<std::uint32_t>(g.next());
  }
}

/// Finite, of moderate size, with zeros and numbers halfway between integers.
inline double near_value(generator& g) {
  switch (g.below(8)) {
    case 0: return static_cast<double>(g.below(64)) / 2 - 16;
    case 1: return std::ldexp(2 * g.unit() - 1, 20);
    default: {
      const int exponent = static_cast<int>(g.below(12)) - 6;
      return std::ldexp(2 * g.unit() - 1, exponent);
    }
  }
}

inline std::uint64_t any_f64(generator& g) {
  constexpr std::uint64_t values[] = {0,
                                      0x8000000000000000,
                                      0x3ff0000000000000,
                                      0xbff0000000000000,
                                      0x7ff0000000000000,
                                      0xfff0000000000000,
                                      0x7ff8000000000000,
                                      0xfff8000000000001,
                                      0x7ff0000000000001,
                                      0x0000000000000001,
                                      0x800fffffffffffff,
                                      0x0010000000000000,
                                      0x7fefffffffffffff,
                                      0xffefffffffffffff,
                                      0x3fefffffffffffff,
                                      0x3ff0000000000001,
                                      0x41dfffffffc00000,
                                      0x41e0000000000000,
                                      0xc1e0000000200000,
                                      0x41efffffffe00000,
                                      0x43e0000000000000,
                                      0xc3e0000000000000,
                                      0x43f0000000000000,
                                      0x47efffffe0000000,
                                      0x47effffff0000000,
                                      0x3810000000000000,
                                      0x36a0000000000000,
                                      0x3690000000000000};
  switch (g.below(4)) {
    case 0: return g.among(values);
    case 1: return std::bit_cast<std::uint64_t>(std::ldexp(2 * g.unit() - 1, 4));
    default: return g.next();
  }
}

inline std::uint64_t nan_f64(generator& g) {
  const std::uint64_t random = g.next();
  switch (g.below(3)) {
    case 0: return random | 0x7ff8000000000000;
    case 1: return (random & 0x8007ffffffffffff) | 0x7ff0000000000100;
    default: return std::bit_cast<std::uint64_t>(2 * g.unit() - 1);
  }
}

/// The 16 bits of an f16 or, with 7 bits of significand, of a bf16.
inline std::uint32_t any_half(generator& g, int significand) {
  const std::uint32_t top = 0x7fffu >> significand << significand;
  const std::uint32_t values[] = {0,
                                  0x8000,
                                  top / 2 + 0x200u,
                                  top,
                                  top | 0x8000u,
                                  top | 1,
                                  0x7fff,
                                  0xffff,
                                  1,
                                  0x8001,
                                  top - 1u,
                                  (1u << significand) - 1u,
                                  1u << significand,
                                  0x3c00,
                                  0xbc00,
                                  0x3f80};
  return (g.below(4) == 0 ? g.among(values) : static_cast<std::uint32_t>(g.next())) & 0xffff;
}

/// The bits of `value` as f16, cut off; it is a normal number or becomes zero.
inline std::uint32_t f16_of(double value) {
  if (std::abs(value) < 0x1p-14) return std::signbit(value) ? 0x8000 : 0;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<std::uint32_t>(bits >> 52 & 0x7ff) - 1023 + 15;
  return static_cast<std::uint32_t>(bits >> 63) << 15 | exponent << 10 |
         static_cast<std::uint32_t>(bits >> 42 & 0x3ff);
}

inline std::uint32_t bits_of(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

/// Half a word of one of the 16-bit kinds.
inline std::uint32_t half_word(generator& g, const std::string& kind) {
  if (kind == "f16") return any_half(g, 10);
  if (kind == "bf16") return any_half(g, 7);
  if (kind == "f16unit") return f16_of(2 * g.unit() - 1);
  if (kind == "bf16near") return bits_of(near_value(g)) >> 16;
  const auto random = static_cast<std::uint32_t>(g.next() & 0xffff);
  if (kind == "f16denormal") return g.below(2) == 0 ? random & 0x87ff : random & 0xbfff;
  // f16number: no NaN, whether read as f16 or as bf16.
  return (random & 0x7c00) == 0x7c00 ? random & 0xfc00 : random;
}

inline std::uint32_t word(generator& g, const std::string& kind) {
  if (kind == "bits") {
    return g.below(4) == 0 ? special_integer(g) : static_cast<std::uint32_t>(g.next());
  }
  if (kind == "small") return g.below(256);
  if (kind == "small_signed") return g.below(0x20000) - 0x10000u;
  if (kind == "f32") return any_f32(g);
  if (kind == "f32near") return bits_of(near_value(g));
  if (kind == "f32unit") return bits_of(static_cast<double>(g.below(1u << 24)) * 0x1p-24);
  if (kind == "angle") return bits_of((2 * g.unit() - 1) * 3.14159);
  if (kind == "exponent") return g.below(8) == 0 ? any_f32(g) : bits_of((2 * g.unit() - 1) * 150);
  if (kind == "denormal") {
    const auto random = static_cast<std::uint32_t>(g.next());
    return random & (g.below(3) == 0 ? 0x80ffffff : 0x807fffff);
  }
  const std::uint32_t low = half_word(g, kind);
  return low | half_word(g, kind) << 16;
}

inline std::uint64_t double_word(generator& g, const std::string& kind) {
  if (kind == "f64near") return std::bit_cast<std::uint64_t>(near_value(g));
  if (kind == "f64unit") return std::bit_cast<std::uint64_t>(g.unit());
  return kind == "f64nan" ? nan_f64(g) : any_f64(g);
}

/// The ends of the ranges of integers and of shift counts, which three operands of 32 values each
/// cross.
inline constexpr std::uint32_t edges[] = {
    0,          1,          2,          7,          8,          15,         31,         32,
    33,         63,         64,         0x7f,       0x80,       0xff,       0x101,      0x7fff,
    0x8000,     0xffff,     0x10000,    0x7f7f8080, 0x7fff8000, 0x7ffffffe, 0x7fffffff, 0x80000000,
    0x80000001, 0x80007fff, 0x8080ff7f, 0xdeadbeef, 0xffff0001, 0xffff7fff, 0xfffffffe, 0xffffffff};

inline constexpr std::uint32_t f32_edges[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800001,
    0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x34000000, 0x33800000, 0x3f000000, 0xbeffffff,
    0x477fe000, 0xc77ff000, 0x38800000, 0x33000001, 0x4b7fffff, 0xcb800000, 0x4f000000, 0xcf000001,
    0x5f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xff812345, 0x40490fdb};

inline constexpr std::uint64_t f64_edges[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff,
    0x0010000000000000, 0x8010000000000001, 0x3ff0000000000000, 0xbff0000000000000,
    0x3fefffffffffffff, 0x3ff0000000000001, 0x3ca0000000000000, 0x3fe0000000000000,
    0xbfdfffffffffffff, 0x36a0000000000000, 0x3690000000000001, 0x3810000000000000,
    0x380fffffffffffff, 0x47efffffe0000000, 0xc7effffff0000000, 0x40effc0000000000,
    0xc0f0000000000000, 0x41dfffffffc00000, 0xc1e0000000200000, 0x43e0000000000000,
    0xc3f0000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000555, 0xfff4000012345678, 0x400921fb54442d18};

/// With `significand` bits: 10 of an f16, 7 of a bf16.
inline std::uint32_t half_edge(std::uint32_t k, int significand) {
  const std::uint32_t infinity = 0x7fffu >> significand << significand, one = infinity / 2;
  const std::uint32_t rounded_one = one >> significand << significand;
  const std::uint32_t magnitudes[] = {0,
                                      1,
                                      (1u << significand) - 1,
                                      1u << significand,
                                      rounded_one,
                                      rounded_one + 1,
                                      rounded_one - 1,
                                      rounded_one - (1u << significand),
                                      rounded_one + (5u << significand) + 3,
                                      rounded_one + (8u << significand),
                                      infinity - (1u << significand),
                                      infinity - 1,
                                      infinity,
                                      infinity + 1,
                                      infinity | 1u << (significand - 1),
                                      0x7fff};
  return magnitudes[k % 16] | k / 16 % 2 << 15;
}

}  // namespace detail

/// The edges of ranges, in an order of their own for each of the three operands that meet: `edges`,
/// `f32edges`, `f64edges`, `f16edges` or `bf16edges`, the last two in both halves of a word.
inline std::vector<std::uint32_t> edges_of(const kernel_entry& entry) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t k = 0; words.size() < entry.input_words; ++k) {
    const std::uint32_t turned = (k * (2 * (k / 32) + 1) + k / 32 * 11) % 32;
    if (entry.input == "f64edges") {
      words.push_back(static_cast<std::uint32_t>(detail::f64_edges[turned]));
      words.push_back(static_cast<std::uint32_t>(detail::f64_edges[turned] >> 32));
    } else if (entry.input == "f32edges") {
      words.push_back(detail::f32_edges[turned]);
    } else if (entry.input == "edges") {
      words.push_back(detail::edges[turned]);
    } else {
      const int significand = entry.input == "f16edges" ? 10 : 7;
      words.push_back(detail::half_edge(turned, significand) |
                      detail::half_edge(turned * 5 + 3, significand) << 16);
    }
  }
  words.resize(entry.input_words);
  return words;
}

/// The input of a kernel: `bits`, `small` or one of the floating formats, `near` meaning numbers of
/// moderate size and `unit` those of at most 1.
inline std::vector<std::uint32_t> input_of(const kernel_entry& entry) {
  if (entry.input.ends_with("edges")) return edges_of(entry);
  generator g(entry.name);
  std::vector<std::uint32_t> words;
  while (words.size() < entry.input_words) {
    if (entry.input.rfind("f64", 0) == 0) {
      const std::uint64_t value = detail::double_word(g, entry.input);
      words.push_back(static_cast<std::uint32_t>(value));
      words.push_back(static_cast<std::uint32_t>(value >> 32));
    } else {
      words.push_back(detail::word(g, entry.input));
    }
  }
  words.resize(entry.input_words);
  return words;
}

}  // namespace corpus
