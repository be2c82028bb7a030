#pragma once
/// \file
/// `exchange` and `swap_values`: what the library needs of `<utility>`, which costs two thirds of
/// what `cuda.h` does; and `cleared`.

#include <gpu/core/detail/traits.hpp>

namespace gpu::inline v0::detail {

/// As `std::exchange`.
template <class T, class U = T> constexpr T exchange(T& object, U&& replacement) noexcept {
  T old = detail::move(object);
  object = static_cast<U&&>(replacement);
  return old;
}

/// As `std::swap`; under another name, which can be confused with no other `swap`.
template <class T> constexpr void swap_values(T& a, T& b) noexcept {
  T old = detail::move(a);
  a = detail::move(b);
  b = detail::move(old);
}

/// A structure of the driver's in which every byte is zero. Braces clear of a union the first
/// member alone, and leave the rest of it as the stack had it: the driver reads that as reserved.
template <class Struct> Struct cleared() noexcept {
  Struct made;
  __builtin_memset(&made, 0, sizeof made);
  return made;
}

}  // namespace gpu::inline v0::detail
