// Where the elements of matrices are in the registers of a warp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <nogpu/ptx/ir.hpp>
#include <nogpu/ptx/matrix_fragments.hpp>

namespace nogpu { inline namespace v1 { namespace machine {

/// The fragments of one matrix. A is kept row after row, B column after column, C and D row after
/// row; elements of one bit are kept in words of 32.
struct fragment_plan {
  ptx::type element = ptx::type::none;
  std::uint32_t rows = 0;                // or columns, of B
  std::uint32_t length = 0;              // of each
  std::uint32_t registers = 0;           // of a lane
  std::uint32_t distinct = 0;            // of them: the others hold copies
  std::uint32_t each = 0;                // elements of a register
  std::vector<std::uint16_t> positions;  // [register][lane][element] of the distinct registers

  const std::uint16_t* of(std::uint32_t reg, unsigned lane) const {
    return positions.data() + (reg * 32 + lane) * each;
  }
};

/// What a matrix instruction does, by its shape and types.
struct matrix_plan {
  ptx::opcode op = ptx::opcode::mma;
  ptx::matrix_shape shape;
  std::array<ptx::type, 4> types{};  // of the instruction
  bool wmma = false;
  bool sparse = false;                        // A has the half of its elements that metadata tells
  bool four = false;                          // four products of 8 x 4 and 4 x 8
  bool a_columns = false, b_columns = false;  // of the four products: they change the fragments
  fragment_plan a, b, c, d;
};

namespace detail {

/// The bits of a register's number, one by one from the lowest.
class register_bits {
 public:
  explicit register_bits(std::uint32_t number) : number_{number} {}
  std::uint32_t take() {
    const std::uint32_t bit = number_ & 1;
    number_ >>= 1;
    ++taken_;
    return bit;
  }
  std::uint32_t taken() const { return taken_; }

 private:
  std::uint32_t number_;
  std::uint32_t taken_ = 0;
};

struct matrix_place {
  std::uint32_t row = 0, at = 0;
  std::uint32_t used_bits = 0;  // of the register's number
};

/// A and B: four lanes side by side hold a row's elements, as many as a register holds; eight such
/// groups hold eight rows. The numbers of registers go over eight more rows, then along the row,
/// then over sixteen more rows; for B along the row first. `like_a` says which.
inline matrix_place place_factor(const fragment_plan& f, bool like_a, std::uint32_t reg,
                                 unsigned lane, std::uint32_t element) {
  register_bits bits(reg);
  matrix_place p{lane / 4, lane % 4 * f.each + element, 0};
  if (like_a && f.rows > 8) p.row += 8 * bits.take();
  for (std::uint32_t step = 4 * f.each; step < f.length; step *= 2) p.at += step * bits.take();
  if (!like_a && f.rows > 8) p.row += 8 * bits.take();
  if (f.rows > 16) p.row += 16 * bits.take();
  p.used_bits = bits.taken();
  return p;
}

/// The place of an element along a row. Of eight bits, the first two of each four are multiplied
/// first.
inline std::uint32_t place_along(const fragment_plan& f, std::uint32_t at) {
  const bool eighths = f.element == ptx::type::e4m3 || f.element == ptx::type::e5m2;
  return eighths ? at / 4 * 2 + at % 2 + at / 2 % 2 * (f.length / 2) : at;
}

/// C and D: a lane holds pairs side by side. `turned`: pairs of a column.
inline matrix_place place_sum(const fragment_plan& f, bool turned, std::uint32_t reg, unsigned lane,
                              std::uint32_t element) {
  register_bits bits(reg * f.each + element);
  const std::uint32_t rows = turned ? f.length : f.rows, length = turned ? f.rows : f.length;
  matrix_place p{lane / 4, lane % 4 * 2 + bits.take(), 0};
  if (rows > 8) p.row += 8 * bits.take();
  if (length > 8) p.at += 8 * bits.take();
  if (rows > 16) p.row += 16 * bits.take();
  return turned ? matrix_place{p.at, p.row, 0} : p;
}

/// The place in a fragment of mma.m8n8k4 of f16, in which lanes 4 * i to 4 * i + 3 and 16 more hold
/// the i-th product.
inline matrix_place place_of_four(const fragment_plan& f, ptx::matrix_role role, bool columns,
                                  std::uint32_t reg, unsigned lane, std::uint32_t element) {
  const std::uint32_t i = reg * f.each + element, near = lane % 4, far = lane / 16 * 4;
  const std::uint32_t product = lane / 4 % 4 * 8;
  if (role == ptx::matrix_role::c) {
    if (f.element == ptx::type::f16) return {product + near + far, i, 0};
    return {product + (lane & 1) + far + (i & 2), (i & 4) + (lane & 2) + (i & 1), 0};
  }
  const bool along = columns == (role == ptx::matrix_role::b);  // a lane's elements go along k
  return along ? matrix_place{product + near + far, i, 0}
               : matrix_place{product + i + far, near, 0};
}

inline fragment_plan plan_fragment(const matrix_plan& plan, ptx::matrix_role role,
                                   ptx::type element) {
  using enum ptx::matrix_role;
  using enum ptx::type;
  fragment_plan f;
  f.element = element;
  const std::uint32_t bits = ptx::element_bits(element);
  const std::uint32_t shares = bits == 1 ? 32 : plan.sparse && role == a ? 2 : 1;
  const std::uint32_t along = plan.shape.k / shares;
  f.rows = (role == b ? plan.shape.n : plan.shape.m) * (plan.four ? 4u : 1u);
  f.length = role == c ? plan.shape.n : along;
  f.registers = f.distinct =
      ptx::registers_of(plan.shape, role, element, plan.four, plan.wmma, plan.sparse);
  f.each = bits == 1 || bits >= 32 ? 1 : 32 / bits;
  const bool turned = plan.shape.m == 8 && plan.shape.n == 32;
  for (std::uint32_t reg = 0; reg < f.distinct; ++reg)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (std::uint32_t e = 0; e < f.each; ++e) {
        matrix_place p;
        if (plan.four) {
          p = place_of_four(f, role, role == a ? plan.a_columns : plan.b_columns, reg, lane, e);
        } else if (role == c) {
          p = place_sum(f, turned, reg, lane, e);
        } else {
          p = place_factor(f, turned == (role == b), reg, lane, e);
          if (f.distinct > 1u << p.used_bits) f.distinct = 1u << p.used_bits;
          // The elements of B that a sparse A takes are found by their places.
          if (!plan.sparse || role == a) p.at = place_along(f, p.at);
        }
        f.positions.push_back(static_cast<std::uint16_t>(p.row * f.length + p.at));
      }
  return f;
}

}  // namespace detail

/// The plan of mma, wmma.mma, wmma.load and wmma.store.
inline matrix_plan make_matrix_plan(const ptx::instruction& i) {
  using ptx::opcode;
  matrix_plan plan;
  plan.op = i.op;
  plan.shape = ptx::block_shape(i.op, i.with.shape);
  std::copy(std::begin(i.types), std::end(i.types), plan.types.begin());
  if (i.op == opcode::wgmma_mma) plan.types[3] = plan.types[0];
  plan.wmma = ptx::is_wmma(i.op);
  plan.sparse = i.with.sparse;
  plan.four = i.op == opcode::mma && ptx::is_four_products(plan.shape, i.types[1]);
  plan.a_columns = plan.four && i.with.a_columns;
  plan.b_columns = plan.four && i.with.b_columns;
  const auto fragment = [&](ptx::matrix_role role, ptx::type element) {
    return detail::plan_fragment(plan, role, element);
  };
  if (i.op == opcode::mma || i.op == opcode::mma_sp || i.op == opcode::wmma_mma ||
      i.op == opcode::wgmma_mma) {
    plan.d = fragment(ptx::matrix_role::c, i.types[0]);
    plan.a = fragment(ptx::matrix_role::a, i.types[1]);
    plan.b = fragment(ptx::matrix_role::b, i.types[2]);
    plan.c = fragment(ptx::matrix_role::c, plan.types[3]);
  } else if (i.op == opcode::wmma_load_a) {
    plan.a = fragment(ptx::matrix_role::a, i.types[0]);
  } else if (i.op == opcode::wmma_load_b) {
    plan.b = fragment(ptx::matrix_role::b, i.types[0]);
  } else {
    plan.c = fragment(ptx::matrix_role::c, i.types[0]);
  }
  return plan;
}

/// Returns whether an instruction has this plan.
inline bool has_plan(const matrix_plan& plan, const ptx::instruction& i) {
  const std::size_t types = i.op == ptx::opcode::wgmma_mma ? 3 : 4;
  return plan.op == i.op && plan.shape == ptx::block_shape(i.op, i.with.shape) &&
         plan.sparse == i.with.sparse && std::equal(i.types, i.types + types, plan.types.begin()) &&
         plan.a_columns == (plan.four && i.with.a_columns) &&
         plan.b_columns == (plan.four && i.with.b_columns);
}

}}}  // namespace nogpu::v1::machine
