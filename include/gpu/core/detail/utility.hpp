#pragma once
/// \file
/// `exchange` and `swap_values`, which cost the compiler a fifth of `std::exchange` and `std::swap`
/// for each type, because they do not compute whether they can throw; and `cleared`.

#include <gpu/core/detail/traits.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// As `std::exchange`, for types whose moves do not throw.
template <class T, class U = T> constexpr T exchange(T& object, U&& replacement) noexcept {
  T old = detail::move(object);
  object = static_cast<U&&>(replacement);
  return old;
}

/// As `std::swap`, for types whose moves do not throw. The name keeps it apart from the other
/// `swap`s.
template <class T> constexpr void swap_values(T& a, T& b) noexcept {
  T old = detail::move(a);
  a = detail::move(b);
  b = detail::move(old);
}

/// Returns a structure of the driver with all bytes zero. Braces would clear only the first member
/// of a union, and the driver requires that its reserved bytes are zero.
template <class Struct> Struct cleared() noexcept {
  Struct made;
  __builtin_memset(&made, 0, sizeof made);
  return made;
}

}}}  // namespace gpu::v1::detail
