#pragma once
/// \file
/// `exchange` and `swap_values`: what the library needs of `<utility>`, which costs two thirds of
/// what `cuda.h` does.

#include <gpu/core/traits.hpp>

namespace gpu::detail {

/// As `std::exchange`.
template <class T, class U = T> constexpr T exchange(T& object, U&& replacement) noexcept {
  T old = detail::move(object);
  object = detail::forward<U>(replacement);
  return old;
}

/// As `std::swap`; under another name, which can be confused with no other `swap`.
template <class T> constexpr void swap_values(T& a, T& b) noexcept {
  T old = detail::move(a);
  a = detail::move(b);
  b = detail::move(old);
}

}  // namespace gpu::detail
