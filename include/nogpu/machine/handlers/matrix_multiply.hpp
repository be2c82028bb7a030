// Handlers of the matrix products: mma and wmma.mma.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>

#include <nogpu/machine/handlers/matrix_lanes.hpp>
#include <nogpu/machine/sparse_rows.hpp>
#include <nogpu/ptx/arithmetic/matrix_products.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

inline constexpr std::uint32_t most_elements = 512;  // of a matrix
inline constexpr std::uint32_t most_rows = 32;

/// A fragment in registers.
template <class Byte> struct matrix_registers {
  Byte* registers = nullptr;
  const std::uint32_t* slots = nullptr;
};

/// The operands of one product.
struct matrix_operands {
  const matrix_plan& plan;
  const ptx::instruction& source;
  matrix_registers<std::byte> d;
  matrix_registers<const std::byte> a, b, c;
  const sparse_rows* chosen = nullptr;  // of a sparse A
};

/// The operands of mma and wmma.mma: the list has the registers of D, A, B, C.
inline matrix_operands operands_of(const party& p) {
  const matrix_plan& plan = plan_of(p);
  const std::uint32_t* const d = slots_of(p);
  const std::uint32_t* const a = d + plan.d.registers;
  const std::uint32_t* const b = a + plan.a.registers;
  return {plan,
          *p.instruction->source,
          {p.registers, d},
          {p.registers, a},
          {p.registers, b},
          {p.registers, b + plan.b.registers}};
}

/// The elements of column `n` of B that row `m` of A is multiplied with, from `first` of the row
/// on: of a sparse A, gathered in `room`.
template <class T>
inline const T* column_for(const matrix_operands& o, const T* b, std::uint32_t m, std::uint32_t n,
                           std::uint32_t first, std::uint32_t count, T* room) {
  const T* const column = b + n * o.plan.b.length;
  if (o.chosen == nullptr) return column + first;
  for (std::uint32_t i = 0; i < count; ++i) room[i] = column[o.chosen->places[m][first + i]];
  return room;
}

/// A or B of floating numbers.
template <class Real> struct matrix_factors {
  alignas(16) Real values[most_elements];
  alignas(16) std::int16_t exponents[most_elements];
  bool special[most_rows] = {};

  template <class Decode>
  void read(const matrix_registers<const std::byte>& from, const fragment_plan& f, Decode decode) {
    each_element(from.registers, from.slots, f, [&](std::uint32_t at, std::uint32_t bits) {
      const ptx::detail::factor<Real> one = decode(bits);
      values[at] = one.value;
      exponents[at] = one.exponent;
      if (one.special) special[at / f.length] = true;
    });
  }
  ptx::factor_row<Real> row(const fragment_plan& f, std::uint32_t index, std::uint32_t from) const {
    const std::uint32_t at = index * f.length + from;
    return {values + at, exponents + at, special[index]};
  }
};

template <class Largest> inline void* room_for_matrices() {
  alignas(16) static thread_local std::byte room[sizeof(Largest)];
  return room;
}

template <class Real> struct factor_matrices {
  matrix_factors<Real> a, b;
};
struct double_matrices {
  double a[most_elements], b[most_elements], c[most_elements];
};

/// Makes matrices in memory of the calling thread, until the next call: a small stack has no room
/// for them.
template <class Matrices> inline Matrices& make_matrices() {
  static_assert(sizeof(Matrices) <= sizeof(double_matrices));
  return *::new (room_for_matrices<double_matrices>()) Matrices;
}

/// C as floats; exact.
inline void read_addends(const matrix_operands& o, float* c) {
  const bool halves = o.plan.c.element == ptx::type::f16;
  each_element(o.c.registers, o.c.slots, o.plan.c, [&](std::uint32_t at, std::uint32_t bits) {
    c[at] = halves ? ptx::to_float(ptx::f16{static_cast<std::uint16_t>(bits)})
                   : std::bit_cast<float>(bits);
  });
}

/// The bits of a sum as an element of D.
template <int FractionBits = ptx::sum_model::fraction_bits>
inline std::uint32_t sum_bits(double sum, bool halves) {
  return halves ? std::uint32_t{ptx::round_sum_to_f16(sum).bits}
                : std::bit_cast<std::uint32_t>(ptx::round_sum_to_f32<FractionBits>(sum));
}
inline float sum_value(std::uint32_t bits, bool halves) {
  return halves ? ptx::to_float(ptx::f16{static_cast<std::uint16_t>(bits)})
                : std::bit_cast<float>(bits);
}

/// Whether the first of several sums begins with C, or with 0 and C is added to the last one.
enum class sum_start { c, zero };

/// `Count` products in each sum, `Sums` sums one after the other.
template <class Real, unsigned Count, unsigned Sums = 1,
          int FractionBits = ptx::sum_model::fraction_bits, sum_start Start = sum_start::c>
inline void multiply_factors(const matrix_operands& o, const matrix_factors<Real>& a,
                             const matrix_factors<Real>& b) {
  const matrix_plan& plan = o.plan;
  const bool halves = plan.d.element == ptx::type::f16;
  float c[most_elements];
  std::uint32_t d[most_elements];
  read_addends(o, c);
  for (std::uint32_t m = 0; m < plan.a.rows; ++m)
    for (std::uint32_t n = 0; n < plan.b.rows; ++n) {
      const std::uint32_t at = m * plan.d.length + n;
      float sum = Start == sum_start::c ? c[at] : 0.0f;
      for (unsigned s = 0; s < Sums; ++s) {
        Real values[Count];
        std::int16_t exponents[Count];
        const ptx::factor_row<Real> column{
            column_for(o, b.values, m, n, s * Count, Count, values),
            column_for(o, b.exponents, m, n, s * Count, Count, exponents), b.special[n]};
        d[at] = sum_bits<FractionBits>(
            ptx::cut_sum<Count, FractionBits>(a.row(plan.a, m, s * Count), column, sum), halves);
        if (Sums != 1) sum = sum_value(d[at], halves);
      }
      if (Start == sum_start::zero) {
        const float whole = ptx::add<ptx::rounding::nearest_even>(c[at], sum);
        d[at] = halves ? sum_bits(static_cast<double>(whole), true)
                       : std::bit_cast<std::uint32_t>(whole);
      }
    }
  set_elements(o.d.registers, o.d.slots, plan.d, [&](std::uint32_t at) { return d[at]; });
}

inline void multiply_f16(const matrix_operands& o) {
  auto& [a, b] = make_matrices<factor_matrices<float>>();
  const auto decode = [](std::uint32_t bits) {
    return ptx::detail::factor_of_f16(static_cast<std::uint16_t>(bits));
  };
  a.read(o.a, o.plan.a, decode);
  b.read(o.b, o.plan.b, decode);
  o.plan.a.length == 8 ? multiply_factors<float, 8>(o, a, b) : multiply_factors<float, 16>(o, a, b);
}

inline void multiply_bf16(const matrix_operands& o) {
  auto& [a, b] = make_matrices<factor_matrices<double>>();
  const auto decode = [](std::uint32_t bits) {
    return ptx::detail::factor_of_bf16(static_cast<std::uint16_t>(bits));
  };
  a.read(o.a, o.plan.a, decode);
  b.read(o.b, o.plan.b, decode);
  o.plan.a.length == 8 ? multiply_factors<double, 8>(o, a, b)
                       : multiply_factors<double, 16>(o, a, b);
}

inline void multiply_tf32(const matrix_operands& o) {
  auto& [a, b] = make_matrices<factor_matrices<double>>();
  a.read(o.a, o.plan.a, ptx::detail::factor_of_tf32);
  b.read(o.b, o.plan.b, ptx::detail::factor_of_tf32);
  if (o.source.op == ptx::opcode::wmma_mma) return multiply_factors<double, 4, 2>(o, a, b);
  o.plan.a.length == 4 ? multiply_factors<double, 4>(o, a, b)
                       : multiply_factors<double, 8>(o, a, b);
}

inline void multiply_f8(const matrix_operands& o) {
  auto& [a, b] = make_matrices<factor_matrices<float>>();
  const auto read = [&](matrix_factors<float>& to, const matrix_registers<const std::byte>& from,
                        const fragment_plan& f) {
    const bool e4m3 = f.element == ptx::type::e4m3;
    to.read(from, f, [e4m3](std::uint32_t bits) {
      const auto byte = static_cast<std::uint8_t>(bits);
      return e4m3 ? ptx::detail::factor_of_f8<ptx::e4m3>(byte)
                  : ptx::detail::factor_of_f8<ptx::e5m2>(byte);
    });
  };
  read(a, o.a, o.plan.a);
  read(b, o.b, o.plan.b);
  if (o.source.op == ptx::opcode::wgmma_mma)
    return multiply_factors<float, 32, 1, ptx::sum_model::fraction_bits_of_bytes>(o, a, b);
  constexpr int bits = ptx::sum_model::fraction_bits;
  o.plan.a.length == 16 ? multiply_factors<float, 8, 2, bits, sum_start::zero>(o, a, b)
                        : multiply_factors<float, 16, 2, bits, sum_start::zero>(o, a, b);
}

/// Four products of 8 x 4 and 4 x 8.
inline void multiply_four(const matrix_operands& o) {
  auto& [a, b] = make_matrices<factor_matrices<float>>();
  const auto decode = [](std::uint32_t bits) {
    return ptx::detail::factor_of_f16(static_cast<std::uint16_t>(bits));
  };
  a.read(o.a, o.plan.a, decode);
  b.read(o.b, o.plan.b, decode);
  const bool halves = o.plan.d.element == ptx::type::f16;
  float c[most_elements];
  std::uint32_t d[most_elements];
  read_addends(o, c);
  for (std::uint32_t m = 0; m < 32; ++m)
    for (std::uint32_t n = 0; n < 8; ++n) {
      const std::uint32_t at = m * 8 + n;
      const float* const row = a.values + m * 4;
      const float* const column = b.values + (m / 8 * 8 + n) * 4;
      const float sum = halves ? ptx::four_products_and_f16(row, column, c[at])
                               : ptx::four_products_and_f32(row, column, c[at]);
      d[at] = halves ? sum_bits(static_cast<double>(sum), true) : std::bit_cast<std::uint32_t>(sum);
    }
  set_elements(o.d.registers, o.d.slots, o.plan.d, [&](std::uint32_t at) { return d[at]; });
}

/// Reads or writes a matrix of doubles.
template <class F>
inline void each_double(const std::uint32_t* slots, const fragment_plan& f, F act) {
  for (std::uint32_t reg = 0; reg < f.registers; ++reg)
    for (unsigned lane = 0; lane < warp_size; ++lane)
      if (slots[reg] != no_slot) act(slots[reg], lane, f.of(reg, lane)[0]);
}

template <ptx::rounding R> inline void multiply_doubles(const matrix_operands& o) {
  double_matrices& all = make_matrices<double_matrices>();
  const auto read = [&](const matrix_registers<const std::byte>& from, const fragment_plan& f,
                        double* to) {
    each_double(from.slots, f, [&](std::uint32_t slot, unsigned lane, std::uint32_t at) {
      to[at] = read_lane<double>(from.registers, slot, lane);
    });
  };
  read(o.a, o.plan.a, all.a);
  read(o.b, o.plan.b, all.b);
  read(o.c, o.plan.c, all.c);
  const std::uint32_t k = o.plan.a.length;
  for (std::uint32_t m = 0; m < o.plan.a.rows; ++m)
    for (std::uint32_t n = 0; n < o.plan.b.rows; ++n) {
      double& sum = all.c[m * o.plan.c.length + n];
      sum = ptx::chain_of_products<R>(all.a + m * k, all.b + n * k, k, sum);
    }
  each_double(o.d.slots, o.plan.d, [&](std::uint32_t slot, unsigned lane, std::uint32_t at) {
    write_lane(o.d.registers, slot, lane, all.c[at]);
  });
}

inline void multiply_f64(const matrix_operands& o) {
  using enum ptx::rounding;
  switch (o.source.with.round) {
    case toward_zero: return multiply_doubles<toward_zero>(o);
    case toward_negative: return multiply_doubles<toward_negative>(o);
    case toward_positive: return multiply_doubles<toward_positive>(o);
    default: return multiply_doubles<nearest_even>(o);
  }
}

/// An element of the low bits of a word as a number.
constexpr std::int16_t integer_element(std::uint32_t bits, ptx::type t) {
  switch (t) {
    case ptx::type::s8: return static_cast<std::int8_t>(bits);
    case ptx::type::u8: return static_cast<std::uint8_t>(bits);
    case ptx::type::s4: return static_cast<std::int16_t>(static_cast<int>((bits & 15) ^ 8) - 8);
    default: return static_cast<std::int16_t>(bits & 15);
  }
}

/// Computes D with `sum(row of A, what it takes of a column of B, C)`, of matrices that were read
/// to `a` and `b`.
template <class T, class F>
inline void multiply_exactly(const matrix_operands& o, const T* a, const T* b, F sum) {
  std::uint32_t c[most_elements];
  each_element(o.c.registers, o.c.slots, o.plan.c,
               [&](std::uint32_t at, std::uint32_t bits) { c[at] = bits; });
  const std::uint32_t k = o.plan.a.length;
  for (std::uint32_t m = 0; m < o.plan.a.rows; ++m)
    for (std::uint32_t n = 0; n < o.plan.b.rows; ++n) {
      std::uint32_t& one = c[m * o.plan.c.length + n];
      T room[sparse_rows::most];
      one = sum(a + m * k, column_for(o, b, m, n, 0, k, room), one);
    }
  set_elements(o.d.registers, o.d.slots, o.plan.d, [&](std::uint32_t at) { return c[at]; });
}

inline void multiply_integers(const matrix_operands& o) {
  std::int16_t a[2 * most_elements], b[2 * most_elements];
  const auto read = [&](const matrix_registers<const std::byte>& from, const fragment_plan& f,
                        std::int16_t* to) {
    each_element(from.registers, from.slots, f, [&](std::uint32_t at, std::uint32_t bits) {
      to[at] = integer_element(bits, f.element);
    });
  };
  read(o.a, o.plan.a, a);
  read(o.b, o.plan.b, b);
  const bool satfinite = o.source.with.satfinite;
  const std::uint32_t k = o.plan.a.length;
  multiply_exactly(
      o, a, b, [=](const std::int16_t* row, const std::int16_t* column, std::uint32_t c) {
        return static_cast<std::uint32_t>(
            ptx::sum_of_integers(row, column, k, static_cast<std::int32_t>(c), satfinite));
      });
}

inline void multiply_bits(const matrix_operands& o) {
  std::uint32_t a[most_elements], b[most_elements];
  const auto read = [&](const matrix_registers<const std::byte>& from, const fragment_plan& f,
                        std::uint32_t* to) {
    each_element(from.registers, from.slots, f,
                 [&](std::uint32_t at, std::uint32_t bits) { to[at] = bits; });
  };
  read(o.a, o.plan.a, a);
  read(o.b, o.plan.b, b);
  const bool both = o.source.with.op == ptx::operation::and_;
  const std::uint32_t k = o.plan.a.length;
  multiply_exactly(o, a, b,
                   [=](const std::uint32_t* row, const std::uint32_t* column, std::uint32_t c) {
                     for (std::uint32_t i = 0; i < k; ++i)
                       c += static_cast<std::uint32_t>(
                           std::popcount(both ? row[i] & column[i] : row[i] ^ column[i]));
                     return c;
                   });
}

/// D = A * B + C.
inline void multiply(const matrix_operands& o) {
  switch (o.plan.a.element) {
    case ptx::type::f16: multiply_f16(o); break;
    case ptx::type::bf16: multiply_bf16(o); break;
    case ptx::type::tf32: multiply_tf32(o); break;
    case ptx::type::e4m3:
    case ptx::type::e5m2: multiply_f8(o); break;
    case ptx::type::f64: multiply_f64(o); break;
    case ptx::type::b1: multiply_bits(o); break;
    default: multiply_integers(o); break;
  }
}

/// mma and wmma.mma.
inline bool multiply_matrices(warp& w, std::span<const party> parties, lane_mask present) {
  if (!is_whole(w, parties, present)) return false;
  const matrix_operands o = operands_of(parties[0]);
  o.plan.four ? multiply_four(o) : multiply(o);
  return true;
}

/// Reads the metadata of a sparse A: slot 5 has the lanes', `option` is the selector. False: a
/// fault.
inline bool read_sparse_rows(warp& w, const party& p, const matrix_plan& plan, sparse_rows& out) {
  const decoded& d = *p.instruction;
  std::array<std::uint32_t, warp_size> words;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    words[lane] = read_lane<std::uint32_t>(p.registers, d.slots[5], lane);
  std::uint32_t row = 0, bits = 0;
  const bool ordered = d.source->with.ordered || plan.types[1] == ptx::type::tf32;
  if (read_metadata(plan, ordered, d.option, words, out, row, bits)) return true;
  return fail_together(
      w, p, fault_kind::illegal_instruction, row % 8 * 4,
      "the metadata of row " + std::to_string(row) + " of A has " + std::to_string(bits) + ": " +
          (plan.types[1] == ptx::type::tf32
               ? "of two numbers of tf32, 4 stands for the first and 14 for the second"
               : "the lower of the two places comes first"));
}

/// mma.sp.
inline bool multiply_sparse(warp& w, std::span<const party> parties, lane_mask present) {
  if (!is_whole(w, parties, present)) return false;
  matrix_operands o = operands_of(parties[0]);
  sparse_rows chosen;
  if (!read_sparse_rows(w, parties[0], o.plan, chosen)) return false;
  o.chosen = &chosen;
  multiply(o);
  return true;
}

}}}  // namespace nogpu::v1::machine::detail
