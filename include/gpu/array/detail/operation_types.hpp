#pragma once
/// \file
/// `resolve_types`: the types of an operation's operands and result.

#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/operation.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// An operand's element type. A number of the host is weak: it takes the type of what it meets.
struct operand_type {
  element_kind kind;
  bool weak = false;
};

/// Why operands do not fit an operation.
enum class type_problem : unsigned char {
  none,
  booleans,   ///< bool, for which the operation has no meaning
  integers,   ///< integers, of which a quotient could be several
  fractions,  ///< floating-point numbers, which have no bits
  complexes,  ///< complex numbers, which have no order
  shorts,     ///< numbers of 16 bits, which are computed as float
};

/// The kinds of an operation's result, and those to which its operands are converted before.
struct operation_types {
  element_kind result = element_kind::none;
  element_kind operands[3] = {};
  type_problem problem = type_problem::none;
};

/// Returns the kind of a weak number beside nothing but weak numbers.
constexpr element_kind default_kind(kind_class number) noexcept {
  return number == kind_class::boolean   ? element_kind::boolean
         : number == kind_class::integer ? element_kind::int64
         : number == kind_class::real    ? element_kind::float64
                                         : element_kind::complex128;
}

/// Returns the common kind of operands: that of the strong ones, to which the weak ones adapt.
constexpr element_kind common_kind(const operand_type* operands, int count) noexcept {
  element_kind common = element_kind::none;
  for (int k = 0; k < count; ++k) {
    if (operands[k].weak) continue;
    common = common == element_kind::none ? operands[k].kind : promote(common, operands[k].kind);
  }
  for (int k = 0; k < count; ++k) {
    if (!operands[k].weak) continue;
    const kind_class number = class_of(operands[k].kind);
    common = common == element_kind::none ? default_kind(number) : weak_kind(number, common);
  }
  return common;
}

/// Returns the kind in which functions of floating-point numbers compute: integers of up to 16 bits
/// become float, larger ones double.
constexpr element_kind fraction_kind(element_kind kind) noexcept {
  if (!is_integral_kind(kind)) return kind;
  return facts_of(kind).bytes <= 2 ? element_kind::float32 : element_kind::float64;
}

/// Returns the kind of an operand of a comparison. Integers of the host keep theirs beside
/// integers, so that every comparison of integers is exact.
constexpr operand_type compared_operand(operand_type own, operand_type other) noexcept {
  const bool both = is_integral_kind(own.kind) && is_integral_kind(other.kind);
  return {own.kind, own.weak && !both};
}

/// Returns what an operation makes of its operands.
constexpr operation_types resolve_types(opcode what, const operand_type* given) noexcept {
  const operation_facts& facts = facts_of(what);
  const operation_rule rule = facts.rule;
  operation_types found;
  operand_type operands[3] = {};
  for (int k = 0; k < facts.operands; ++k) operands[k] = given[k];
  const bool compares = rule == operation_rule::equality || rule == operation_rule::order;
  if (compares && facts.operands == 2) {
    operands[0] = compared_operand(given[0], given[1]);
    operands[1] = compared_operand(given[1], given[0]);
  }
  const int first = rule == operation_rule::choice ? 1 : 0;
  element_kind common = common_kind(operands + first, facts.operands - first);
  if (rule == operation_rule::scale) common = common_kind(operands, 1);
  const kind_class type = class_of(common);
  const bool is_complex = type == kind_class::complex, is_boolean = type == kind_class::boolean;
  const auto refuse = [&](bool refused, type_problem problem) {
    if (refused && found.problem == type_problem::none) found.problem = problem;
  };
  found.result = common;
  switch (rule) {
    case operation_rule::no_booleans: refuse(is_boolean, type_problem::booleans); break;
    case operation_rule::exact_fraction:
      refuse(is_short_kind(common), type_problem::shorts);
      [[fallthrough]];
    case operation_rule::real_fraction:
      refuse(is_complex, type_problem::complexes);
      [[fallthrough]];
    case operation_rule::fraction: refuse(is_integral_kind(common), type_problem::integers); break;
    case operation_rule::bits: refuse(is_fractional(common), type_problem::fractions); break;
    case operation_rule::shift:
      refuse(is_fractional(common), type_problem::fractions);
      refuse(is_boolean, type_problem::booleans);
      break;
    case operation_rule::order: refuse(is_complex, type_problem::complexes); [[fallthrough]];
    case operation_rule::equality:
    case operation_rule::test: found.result = element_kind::boolean; break;
    case operation_rule::truth: found.result = common = element_kind::boolean; break;
    case operation_rule::rounding:
      refuse(is_complex && what != opcode::rint, type_problem::complexes);
      break;
    case operation_rule::quotient:
      if (is_integral_kind(common)) found.result = common = element_kind::float64;
      break;
    case operation_rule::integer_quotient:
      refuse(is_complex, type_problem::complexes);
      [[fallthrough]];
    case operation_rule::step: refuse(is_boolean, type_problem::booleans); break;
    case operation_rule::scale:
      refuse(is_fractional(operands[1].kind), type_problem::fractions);
      [[fallthrough]];
    case operation_rule::real_function:
      refuse(is_complex, type_problem::complexes);
      [[fallthrough]];
    case operation_rule::function: found.result = common = fraction_kind(common); break;
    case operation_rule::exponent:
      refuse(is_complex, type_problem::complexes);
      common = fraction_kind(common);
      found.result = element_kind::int32;
      break;
    case operation_rule::size: refuse(is_boolean, type_problem::booleans); [[fallthrough]];
    case operation_rule::part: found.result = real_kind(common); break;
    case operation_rule::angle:
      common = fraction_kind(common);
      found.result = real_kind(common);
      break;
    case operation_rule::structure:
    case operation_rule::arithmetic:
    case operation_rule::extreme:
    case operation_rule::choice:
    case operation_rule::conjugate: break;
  }
  for (int k = 0; k < facts.operands; ++k) found.operands[k] = common;
  if (rule == operation_rule::choice) found.operands[0] = element_kind::boolean;
  if (rule == operation_rule::scale) {  // in 64 bits, so that no exponent wraps around
    const bool is_large = operands[1].kind == element_kind::uint64;
    found.operands[1] = is_large ? element_kind::uint64 : element_kind::int64;
  }
  if (compares && common == element_kind::float64 && facts.operands == 2 &&
      is_integral_kind(operands[0].kind) && is_integral_kind(operands[1].kind)) {
    // Of 64 bits with and without sign: no type holds both.
    for (int k = 0; k < 2; ++k) {
      const bool is_signed = facts_of(operands[k].kind).is_signed;
      found.operands[k] = is_signed ? element_kind::int64 : element_kind::uint64;
    }
  }
  if (rule == operation_rule::truth) {
    for (int k = 0; k < facts.operands; ++k) found.operands[k] = element_kind::boolean;
  }
  return found;
}

}}}  // namespace gpu::v1::detail
