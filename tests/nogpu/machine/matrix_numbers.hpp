#pragma once
/// \file
/// Matrices of small numbers, which are exact in every format, and the places of their elements in
/// registers, as the tables in the manual of PTX have them.

#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/ptx/arithmetic/half_bits.hpp>
#include "support/catch.hpp"

namespace matrix_numbers {

using u32 = std::uint32_t;
using matrix = std::map<std::pair<u32, u32>, int>;

struct format {
  const char* name;
  u32 bits;
  int least, most;
  std::function<std::uint64_t(int)> encode;
};

inline const format& format_of(const std::string& name) {
  using namespace nogpu;
  const auto half = [](int v) { return std::uint64_t{ptx::detail::to_half<ptx::f16>(v).bits}; };
  const auto brain = [](int v) { return std::uint64_t{ptx::detail::to_half<ptx::bf16>(v).bits}; };
  const auto single = [](int v) {
    return std::uint64_t{std::bit_cast<u32>(static_cast<float>(v))};
  };
  const auto wide = [](int v) { return std::bit_cast<std::uint64_t>(static_cast<double>(v)); };
  const auto four_three = [](int v) {
    return std::uint64_t{ptx::detail::to_half<ptx::e4m3>(v).bits};
  };
  const auto five_two = [](int v) {
    return std::uint64_t{ptx::detail::to_half<ptx::e5m2>(v).bits};
  };
  const auto integer = [](int v) { return static_cast<std::uint64_t>(static_cast<u32>(v)); };
  static const format formats[] = {
      {"f16", 16, -5, 5, half},     {"bf16", 16, -5, 5, brain},    {"tf32", 32, -5, 5, single},
      {"f32", 32, -9, 9, single},   {"f64", 64, -9, 9, wide},      {"e4m3", 8, -5, 5, four_three},
      {"e5m2", 8, -4, 4, five_two}, {"s8", 8, -128, 127, integer}, {"u8", 8, 0, 255, integer},
      {"s4", 4, -8, 7, integer},    {"u4", 4, 0, 15, integer},     {"s32", 32, -9, 9, integer},
      {"b1", 1, 0, 1, integer}};
  for (const format& f : formats)
    if (f.name == name) return f;
  FAIL(name);
  return formats[0];
}

struct generator {
  std::uint64_t state = 1;
  int below(int least, int most) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + static_cast<int>((state >> 33) % static_cast<std::uint64_t>(most - least + 1));
  }
};

inline matrix random_matrix(generator& g, u32 rows, u32 columns, const format& f) {
  matrix m;
  for (u32 r = 0; r < rows; ++r)
    for (u32 c = 0; c < columns; ++c) m[{r, c}] = g.below(f.least, f.most);
  return m;
}

struct place {
  u32 row, column;
};
/// The manual's tables: group = lane / 4, thread = lane % 4, i the number of the element.
inline place place_of_a(u32 rows, const format& f, u32 lane, u32 i) {
  const u32 unit = f.bits < 32 ? 32 / f.bits : 1, reg = i / unit, group = lane / 4;
  if (rows == 8) return {group, lane % 4 * unit + i % unit + reg * 4 * unit};
  return {reg % 2 == 0 ? group : group + 8, lane % 4 * unit + i % unit + reg / 2 * 4 * unit};
}
inline place place_of_b(const format& f, u32 lane, u32 i) {
  const u32 unit = f.bits < 32 ? 32 / f.bits : 1;
  return {lane % 4 * unit + i % unit + i / unit * 4 * unit, lane / 4};
}
inline place place_of_c(u32 lane, u32 i) {
  return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + i % 2};
}

/// The registers of all lanes that hold a matrix, a lane's side by side.
inline std::vector<std::uint8_t> pack(const matrix& m, const format& f, u32 each,
                                      const std::function<place(u32, u32)>& where) {
  std::vector<std::uint8_t> bytes(32 * each * f.bits / 8);
  for (u32 lane = 0; lane < 32; ++lane)
    for (u32 i = 0; i < each; ++i) {
      const place p = where(lane, i);
      const std::uint64_t value = f.encode(m.at({p.row, p.column}));
      const u32 bit = (lane * each + i) * f.bits;
      for (u32 b = 0; b < f.bits; ++b)
        if (value >> b & 1) bytes[(bit + b) / 8] |= static_cast<std::uint8_t>(1u << (bit + b) % 8);
    }
  return bytes;
}

inline int product(const std::string& operation, int a, int b) {
  return operation == "xor" ? a ^ b : a * b;
}

inline matrix multiply(const matrix& a, const matrix& b, const matrix& c, u32 k,
                       const std::string& operation = {}) {
  matrix d = c;
  for (auto& [at, sum] : d)
    for (u32 i = 0; i < k; ++i)
      sum += product(operation, a.at({at.first, i}), b.at({i, at.second}));
  return d;
}

inline std::string registers(const char* prefix, u32 count) {
  std::string text = "{";
  for (u32 i = 0; i < count; ++i) text += (i ? ",%" : "%") + (prefix + std::to_string(i));
  return text + "}";
}

/// Loads or stores the registers of a fragment, which lie side by side for each lane.
inline std::string move_registers(bool load, const char* prefix, u32 count, u32 bytes,
                                  const char* base) {
  std::string text =
      "mad.wide.u32 %rd9, %l, " + std::to_string(count * bytes) + ", " + base + ";\n";
  for (u32 i = 0; i < count; ++i) {
    const std::string reg = "%" + (prefix + std::to_string(i));
    const std::string at = "[%rd9+" + std::to_string(i * bytes) + "]";
    text += std::string(load ? "ld" : "st") + ".global.b" + std::to_string(8 * bytes) + " " +
            (load ? reg + ", " + at : at + ", " + reg) + ";\n";
  }
  return text;
}

/// 16 rows of a sparse A: all of them, the elements that are there, and the metadata of 32 lanes,
/// as the figures in the manual have it.
struct sparse_matrix {
  matrix whole, packed;
  std::vector<u32> metadata = std::vector<u32>(32, 0x5a5a5a5a);
};

inline void set_bits(u32& word, u32 shift, u32 count, u32 value) {
  const u32 mask = ((1u << count) - 1) << shift;
  word = (word & ~mask) | value << shift;
}

/// Of each four elements, or pairs of elements of 4 bits, two are there, of two of tf32 one.
inline sparse_matrix random_sparse(generator& g, u32 k, const format& f, u32 selector) {
  sparse_matrix made;
  const bool tf32 = f.bits == 32;
  const u32 unit = f.bits == 4 ? 2 : 1;  // elements that are there or not together
  for (u32 row = 0; row < 16; ++row) {
    for (u32 c = 0; c < k; ++c) made.whole[{row, c}] = 0;
    u32 at = 0, bit = 0;
    const auto put = [&](u32 value, u32 count) {
      // f16, tf32: a lane has 16 bits of row g and 16 of row g + 8. Others: 32 bits of a row.
      const bool halves = f.bits >= 16;
      const u32 lane = halves ? bit / 16 : row / 8 + bit / 32 * 2;
      const u32 all = halves ? k * (tf32 ? 2 : 1) / 16 : k / unit / 16;
      set_bits(made.metadata[row % 8 * 4 + selector * all + lane],
               halves ? bit % 16 + row / 8 * 16 : bit % 32, count, value);
      bit += count;
    };
    const auto take = [&](u32 column) {
      for (u32 i = 0; i < unit; ++i, ++at)
        made.packed[{row, at}] = made.whole[{row, column * unit + i}] = g.below(f.least, f.most);
    };
    for (u32 chunk = 0; chunk < k / unit; chunk += tf32 ? 2 : 4) {
      if (tf32) {
        const u32 one = static_cast<u32>(g.below(0, 1));
        put(one ? 0b1110 : 0b0100, 4);
        take(chunk + one);
        continue;
      }
      const u32 first = static_cast<u32>(g.below(0, 2));
      const u32 second = static_cast<u32>(g.below(static_cast<int>(first) + 1, 3));
      put(first | second << 2, 4);
      take(chunk + first);
      take(chunk + second);
    }
  }
  return made;
}

}  // namespace matrix_numbers
