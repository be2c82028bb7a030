#pragma once
/// \file
/// The operators of arrays, views and expressions: `+ - * / %`, `& | ^ ~ << >>`, comparisons,
/// `&& || !`. All work element by element, repeat axes with 1 element, and return an expression.
///
/// The type of the result is NumPy's (NEP 50). A number of the host takes the type of the array, if
/// it is of the same sort; `gpu::scalar<T>` keeps its own.

#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/expression.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

/// Integers wrap around.
template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator+(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::add>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator-(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::subtract>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator*(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::multiply>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// Of floating-point and complex numbers. Integers: `true_divide`, `floor_divide`.
template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator/(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::divide>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// Python's remainder, which has the sign of `b`. Integers: `remainder`.
template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator%(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::modulo>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// Of integers, and of bool.
template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator&(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::bit_and>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator|(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::bit_or>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator^(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::bit_xor>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// A shift by as many bits as an element has, or more, gives 0, or -1 for negative elements to the
/// right.
template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator<<(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::shift_left>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator>>(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::shift_right>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// Comparisons of integers are exact, whatever their types are.
template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator==(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::equal>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator!=(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::not_equal>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator<(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::less>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator<=(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::less_equal>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator>(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::greater>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator>=(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::greater_equal>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// Both sides are evaluated. An element is true if it is not 0.
template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator&&(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::logical_and>(static_cast<A&&>(a), static_cast<B&&>(b));
}

template <class A, class B>
  requires detail::operator_operands<A, B>
auto operator||(A&& a, B&& b) noexcept {
  return detail::apply<detail::opcode::logical_or>(static_cast<A&&>(a), static_cast<B&&>(b));
}

/// The elements as they are.
template <detail::array_operand A> auto operator+(A&& a) noexcept {
  constexpr detail::element_kind kind = detail::operand_type_of<A>().kind;
  std::remove_cvref_t<decltype(detail::as_operand<kind>(static_cast<A&&>(a)))> same =
      detail::as_operand<kind>(static_cast<A&&>(a));
  return same;
}

template <detail::array_operand A> auto operator-(A&& a) noexcept {
  return detail::apply<detail::opcode::negative>(static_cast<A&&>(a));
}

template <detail::array_operand A> auto operator~(A&& a) noexcept {
  return detail::apply<detail::opcode::bit_not>(static_cast<A&&>(a));
}

template <detail::array_operand A> auto operator!(A&& a) noexcept {
  return detail::apply<detail::opcode::logical_not>(static_cast<A&&>(a));
}

}}  // namespace gpu::v1
