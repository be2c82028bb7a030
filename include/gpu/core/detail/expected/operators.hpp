#pragma once
/// \file
/// `swap` and `operator==` for the stand-in for `std::expected`.

#include <gpu/core/detail/expected/expected.hpp>
#include <gpu/core/detail/expected/unexpected.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 { namespace fallback { inline namespace abi {

template <class T, class E>
  requires requires(expected<T, E>& a) { a.swap(a); }
constexpr void swap(expected<T, E>& a, expected<T, E>& b) noexcept(noexcept(a.swap(b))) {
  a.swap(b);
}

/// Equal if both hold equal values, or both hold equal errors.
template <class T, class E, class U, class G>
constexpr bool operator==(const expected<T, E>& a, const expected<U, G>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a.has_value()) return static_cast<bool>(a.error() == b.error());
  if constexpr (std::is_void_v<T>) {
    static_assert(std::is_void_v<U>, "success cannot be compared with a value");
    return true;
  } else {
    return static_cast<bool>(*a == *b);
  }
}
template <class T, class E, class U>
constexpr bool operator==(const expected<T, E>& a, const U& value) {
  return a.has_value() && static_cast<bool>(*a == value);
}
template <class T, class E, class G>
constexpr bool operator==(const expected<T, E>& a, const unexpected<G>& failure) {
  return !a.has_value() && static_cast<bool>(a.error() == failure.error());
}

}}}}  // namespace gpu::v1::fallback::abi
