#pragma once
/// \file
/// `opcode`: what expressions are made of, with the names, the texts and the types of each.

#include <gpu/array/detail/operation_helpers.hpp>

namespace gpu { inline namespace v1 { namespace detail {

enum class opcode : unsigned char {
  // Operands that have no operands.
  view,    ///< elements of an array
  number,  ///< of the host
  leaf,    ///< of the leaf protocol
  // Operations with a text of their own.
  cast,
  formula,
  named,
  fast,
  take,    ///< an element that an index chooses; see `taken_flag`
  reduce,  ///< over axes; the last part of an operand whose elements are combined
  // Operators.
  add,
  subtract,
  multiply,
  divide,
  modulo,
  negative,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shift_left,
  shift_right,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
  logical_not,
  // Functions of several operands.
  where,
  minimum,
  maximum,
  fmin,
  fmax,
  fma,
  true_divide,
  floor_divide,
  remainder,
  fmod,
  pow,
  atan2,
  hypot,
  fdim,
  copysign,
  nextafter,
  ldexp,
  // Functions of one operand.
  abs,
  sign,
  square,
  reciprocal,
  real,
  imag,
  conj,
  arg,
  floor,
  ceil,
  trunc,
  rint,
  round,
  isnan,
  isinf,
  isfinite,
  signbit,
  sqrt,
  exp,
  log,
  sin,
  cos,
  sinh,
  cosh,
  fabs,
  rsqrt,
  cbrt,
  exp2,
  exp10,
  expm1,
  log2,
  log10,
  log1p,
  tan,
  asin,
  acos,
  atan,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  erfc,
  erfinv,
  erfcinv,
  tgamma,
  lgamma,
  frexp_significand,
  frexp_exponent,
  modf_fraction,
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
    {opcode::view, operation_rule::structure, 0, "view", ""},
    {opcode::number, operation_rule::structure, 0, "number", ""},
    {opcode::leaf, operation_rule::structure, 0, "leaf", ""},
    {opcode::cast, operation_rule::structure, 1, "cast", "$1"},
    {opcode::formula, operation_rule::structure, 0, "formula", ""},
    {opcode::named, operation_rule::structure, 1, "named", ""},
    {opcode::fast, operation_rule::structure, 1, "fast", ""},
    {opcode::take, operation_rule::structure, 2, "take", ""},
    {opcode::reduce, operation_rule::structure, 1, "reduce", ""},
    {opcode::add, operation_rule::arithmetic, 2, "add", "$1 + $2"},
    {opcode::subtract, operation_rule::no_booleans, 2, "subtract", "$1 - $2"},
    {opcode::multiply, operation_rule::arithmetic, 2, "multiply", "$1 * $2"},
    {opcode::divide, operation_rule::fraction, 2, "divide", "$1 / $2"},
    {opcode::modulo, operation_rule::real_fraction, 2, "remainder", "gpu_remainder($1, $2)",
     remainder_helper},
    {opcode::negative, operation_rule::no_booleans, 1, "negative", "-$1"},
    {opcode::bit_and, operation_rule::bits, 2, "and", "$1 & $2"},
    {opcode::bit_or, operation_rule::bits, 2, "or", "$1 | $2"},
    {opcode::bit_xor, operation_rule::bits, 2, "xor", "$1 ^ $2"},
    {opcode::bit_not, operation_rule::bits, 1, "not", "gpu_invert($1)", invert_helper},
    {opcode::shift_left, operation_rule::shift, 2, "shift_left", "gpu_shift_left($1, $2)",
     shift_helper},
    {opcode::shift_right, operation_rule::shift, 2, "shift_right", "gpu_shift_right($1, $2)",
     shift_helper},
    {opcode::equal, operation_rule::equality, 2, "equal", "$1 == $2"},
    {opcode::not_equal, operation_rule::equality, 2, "not_equal", "$1 != $2"},
    {opcode::less, operation_rule::order, 2, "less", "$1 < $2"},
    {opcode::less_equal, operation_rule::order, 2, "less_equal", "$1 <= $2"},
    {opcode::greater, operation_rule::order, 2, "greater", "$1 > $2"},
    {opcode::greater_equal, operation_rule::order, 2, "greater_equal", "$1 >= $2"},
    {opcode::logical_and, operation_rule::truth, 2, "logical_and", "$1 & $2"},
    {opcode::logical_or, operation_rule::truth, 2, "logical_or", "$1 | $2"},
    {opcode::logical_not, operation_rule::truth, 1, "logical_not", "!$1"},
    {opcode::where, operation_rule::choice, 3, "where", "$1 ? $2 : $3"},
    {opcode::minimum, operation_rule::extreme, 2, "minimum", "gpu_minimum($1, $2)", extreme_helper,
     "minimum($1, $2)"},
    {opcode::maximum, operation_rule::extreme, 2, "maximum", "gpu_maximum($1, $2)", extreme_helper,
     "maximum($1, $2)"},
    {opcode::fmin, operation_rule::extreme, 2, "fmin", "gpu_fmin($1, $2)", other_extreme_helper,
     "fmin($1, $2)"},
    {opcode::fmax, operation_rule::extreme, 2, "fmax", "gpu_fmax($1, $2)", other_extreme_helper,
     "fmax($1, $2)"},
    {opcode::fma, operation_rule::real_fraction, 3, "fma", "fma($1, $2, $3)", "", nullptr,
     "gpu::fma_to_odd($1, $2, $3)"},
    {opcode::true_divide, operation_rule::quotient, 2, "true_divide", "$1 / $2"},
    {opcode::floor_divide, operation_rule::integer_quotient, 2, "floor_divide",
     "gpu_floor_divide($1, $2)", floor_divide_helper},
    {opcode::remainder, operation_rule::integer_quotient, 2, "remainder", "gpu_remainder($1, $2)",
     remainder_helper},
    {opcode::fmod, operation_rule::real_function, 2, "fmod", "fmod($1, $2)"},
    {opcode::pow, operation_rule::function, 2, "pow", "pow($1, $2)"},
    {opcode::atan2, operation_rule::real_function, 2, "atan2", "atan2($1, $2)"},
    {opcode::hypot, operation_rule::real_function, 2, "hypot", "hypot($1, $2)"},
    {opcode::fdim, operation_rule::real_function, 2, "fdim", "fdim($1, $2)"},
    {opcode::copysign, operation_rule::real_function, 2, "copysign", "copysign($1, $2)"},
    {opcode::nextafter, operation_rule::exact_fraction, 2, "nextafter", "nextafter($1, $2)"},
    {opcode::ldexp, operation_rule::scale, 2, "ldexp", "gpu_ldexp($1, $2)", ldexp_helper},
    {opcode::abs, operation_rule::size, 1, "abs", "gpu_abs($1)", abs_helper, "abs($1)"},
    {opcode::sign, operation_rule::step, 1, "sign", "gpu_sign($1)", sign_helper, "sign($1)"},
    {opcode::square, operation_rule::arithmetic, 1, "square", "$1 * $1"},
    {opcode::reciprocal, operation_rule::fraction, 1, "reciprocal", "$t(1) / $1", "",
     "reciprocal($1)"},
    {opcode::real, operation_rule::part, 1, "real", "$1", "", "real($1)"},
    {opcode::imag, operation_rule::part, 1, "imag", "$t(0)", "", "imag($1)"},
    {opcode::conj, operation_rule::conjugate, 1, "conj", "$1", "", "conj($1)"},
    {opcode::arg, operation_rule::angle, 1, "arg", "atan2($t(0), $1)", "", "arg($1)"},
    {opcode::floor, operation_rule::rounding, 1, "floor", "floor($1)"},
    {opcode::ceil, operation_rule::rounding, 1, "ceil", "ceil($1)"},
    {opcode::trunc, operation_rule::rounding, 1, "trunc", "trunc($1)"},
    {opcode::rint, operation_rule::rounding, 1, "rint", "rint($1)"},
    {opcode::round, operation_rule::rounding, 1, "round", "round($1)"},
    {opcode::isnan, operation_rule::test, 1, "isnan", "gpu_isnan($1)", isnan_helper, "isnan($1)"},
    {opcode::isinf, operation_rule::test, 1, "isinf", "gpu_isinf($1)", isinf_helper, "isinf($1)"},
    {opcode::isfinite, operation_rule::test, 1, "isfinite", "gpu_isfinite($1)", isfinite_helper,
     "isfinite($1)"},
    {opcode::signbit, operation_rule::order, 1, "signbit", "gpu_signbit($1)", signbit_helper},
    {opcode::sqrt, operation_rule::function, 1, "sqrt", "sqrt($1)"},
    {opcode::exp, operation_rule::function, 1, "exp", "exp($1)"},
    {opcode::log, operation_rule::function, 1, "log", "log($1)"},
    {opcode::sin, operation_rule::function, 1, "sin", "sin($1)"},
    {opcode::cos, operation_rule::function, 1, "cos", "cos($1)"},
    {opcode::sinh, operation_rule::function, 1, "sinh", "sinh($1)"},
    {opcode::cosh, operation_rule::function, 1, "cosh", "cosh($1)"},
    {opcode::fabs, operation_rule::real_function, 1, "fabs", "fabs($1)"},
    {opcode::rsqrt, operation_rule::real_function, 1, "rsqrt", "rsqrt($1)"},
    {opcode::cbrt, operation_rule::real_function, 1, "cbrt", "cbrt($1)"},
    {opcode::exp2, operation_rule::function, 1, "exp2", "exp2($1)"},
    {opcode::exp10, operation_rule::real_function, 1, "exp10", "exp10($1)"},
    {opcode::expm1, operation_rule::function, 1, "expm1", "expm1($1)"},
    {opcode::log2, operation_rule::function, 1, "log2", "log2($1)"},
    {opcode::log10, operation_rule::function, 1, "log10", "log10($1)"},
    {opcode::log1p, operation_rule::function, 1, "log1p", "log1p($1)"},
    {opcode::tan, operation_rule::function, 1, "tan", "tan($1)"},
    {opcode::asin, operation_rule::function, 1, "asin", "asin($1)"},
    {opcode::acos, operation_rule::function, 1, "acos", "acos($1)"},
    {opcode::atan, operation_rule::function, 1, "atan", "atan($1)"},
    {opcode::tanh, operation_rule::function, 1, "tanh", "tanh($1)"},
    {opcode::asinh, operation_rule::function, 1, "asinh", "asinh($1)"},
    {opcode::acosh, operation_rule::function, 1, "acosh", "acosh($1)"},
    {opcode::atanh, operation_rule::function, 1, "atanh", "atanh($1)"},
    {opcode::erf, operation_rule::real_function, 1, "erf", "erf($1)"},
    {opcode::erfc, operation_rule::real_function, 1, "erfc", "erfc($1)"},
    {opcode::erfinv, operation_rule::real_function, 1, "erfinv", "erfinv($1)"},
    {opcode::erfcinv, operation_rule::real_function, 1, "erfcinv", "erfcinv($1)"},
    {opcode::tgamma, operation_rule::real_function, 1, "tgamma", "tgamma($1)"},
    {opcode::lgamma, operation_rule::real_function, 1, "lgamma", "lgamma($1)"},
    {opcode::frexp_significand, operation_rule::real_function, 1, "frexp_significand",
     "gpu_significand($1)", significand_helper},
    {opcode::frexp_exponent, operation_rule::exponent, 1, "frexp_exponent", "gpu_exponent($1)",
     exponent_helper},
    {opcode::modf_fraction, operation_rule::real_function, 1, "modf_fraction", "gpu_fraction($1)",
     fraction_helper},
};

constexpr const operation_facts& facts_of(opcode what) noexcept {
  return operation_table[static_cast<int>(what)];
}

/// Returns whether the table is in the order of the enumerators.
constexpr bool is_in_order() noexcept {
  int position = 0;
  for (const operation_facts& each : operation_table) {
    if (static_cast<int>(each.what) != position++) return false;
  }
  return position == static_cast<int>(opcode::count);
}
static_assert(is_in_order());

}}}  // namespace gpu::v1::detail
