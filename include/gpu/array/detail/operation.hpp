#pragma once
/// \file
/// `opcode`: what expressions are made of, with the names, the texts and the types of each.

#include <gpu/array/detail/operation_helpers.hpp>  // IWYU pragma: keep

namespace gpu { inline namespace v1 { namespace detail {

enum class opcode : unsigned char {
#define GPU_OPERATION(what, ...) what,
#include <gpu/array/detail/operation.inc>
  count,
};

/// The operands that an operation takes, and the type of its result.
enum class operation_rule : unsigned char {
  structure,         ///< has rules of its own
  arithmetic,        ///< any numbers, as their common type; integers wrap around
  no_booleans,       ///< the same without bool
  fraction,          ///< floating-point and complex numbers
  real_fraction,     ///< floating-point numbers
  exact_fraction,    ///< float and double
  bits,              ///< integers and bool
  shift,             ///< integers
  equality,          ///< any; the result is bool
  order,             ///< numbers that are not complex; the result is bool
  truth,             ///< any, each compared with 0; the result is bool
  choice,            ///< a condition, and two of any type
  extreme,           ///< any numbers
  quotient,          ///< any but bool; integers give double
  integer_quotient,  ///< integers and floating-point numbers
  function,          ///< floating-point and complex numbers; integers become floating-point ones
  real_function,     ///< floating-point numbers; integers become such
  scale,             ///< a floating-point number and an integer
  size,              ///< any but bool; of complex numbers, a real one
  step,              ///< any but bool
  rounding,          ///< any: what is whole stays as it is; of complex numbers, `rint` alone
  test,              ///< any; the result is bool
  part,              ///< any; the result is real
  angle,             ///< any; the result is real, and floating-point for integers
  conjugate,         ///< any
  exponent,          ///< floating-point numbers, integers become such; the result is an integer
};

/// The name, operands and device code of an operation. In `text`, `$1`, `$2` and `$3` are the
/// operands, converted to the type in which it computes, and `$t` is that type.
struct operation_facts {
  opcode what;
  operation_rule rule;
  unsigned char operands;
  const char* name;
  const char* text;
  const char* helper = "";             ///< what has to be defined before
  const char* complex_text = nullptr;  ///< for complex numbers, if it is another
  const char* short_text = nullptr;    ///< for numbers of 16 bits, if it is another
};

inline constexpr operation_facts operation_table[] = {
#define GPU_OPERATION(what, rule, ...) {opcode::what, operation_rule::rule, __VA_ARGS__},
#include <gpu/array/detail/operation.inc>
};

constexpr const operation_facts& facts_of(opcode what) noexcept {
  return operation_table[static_cast<int>(what)];
}

}}}  // namespace gpu::v1::detail
