#pragma once
/// \file
/// What <type_traits> and <concepts> do not have.

#include <concepts>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

template <class T, class... List>
concept one_of = (std::same_as<T, List> || ...);

// The numbers that C++20 and devices share. The standard's traits also hold for `__int128`, with
// GNU extensions, and for `std::float16_t` and the like since C++23.
template <class T>
concept word_integer = std::is_integral_v<T> && sizeof(T) <= sizeof(long long);
template <class T>
concept standard_float = one_of<std::remove_cv_t<T>, float, double, long double>;
template <class T>
concept plain_number = word_integer<T> || standard_float<T>;

/// False for every T, for a `static_assert` that fails only where it is used.
template <class...> inline constexpr bool always_false = false;

template <class T> struct without_class : std::type_identity<T> {};
template <class T, class C> struct without_class<T C::*> : std::type_identity<T> {};
/// The type of the member that a pointer to a member points to.
template <class T> using pointed_member_t = typename without_class<std::remove_cv_t<T>>::type;

}}}  // namespace gpu::v1::detail
