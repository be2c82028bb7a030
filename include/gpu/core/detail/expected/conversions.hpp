#pragma once
/// \file
/// Concepts for the types that an `expected` can hold, converts from and is assigned from.

#include <gpu/core/detail/expected/unexpected.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace fallback { inline namespace abi {

/// True if an `expected` can hold a `T` as its value.
template <class> inline constexpr bool is_value_type = true;
template <class T> inline constexpr bool is_value_type<T&> = false;
template <class T> inline constexpr bool is_value_type<T&&> = false;
template <class T> inline constexpr bool is_value_type<T[]> = false;
template <class T, std::size_t N> inline constexpr bool is_value_type<T[N]> = false;
template <class E> inline constexpr bool is_value_type<unexpected<E>> = false;
template <> inline constexpr bool is_value_type<in_place_t> = false;
template <> inline constexpr bool is_value_type<unexpect_t> = false;

/// True if `T` can be made from an `expected` `X` itself instead of from its value.
template <class T, class X>
concept constructs_from_expected = constructible<T, X&> || constructible<T, X> ||
                                   constructible<T, const X&> || constructible<T, const X>;
template <class T, class X>
concept converts_from_expected =
    constructs_from_expected<T, X> || convertible<X&, T> || convertible<X, T> ||
    convertible<const X&, T> || convertible<const X, T>;

template <class T> inline constexpr bool is_bool = same<remove_cv_t<T>, bool>;

/// True if an `expected<U, G>`, whose members are seen as `UF` and `GF`, converts to `expected<T,
/// E>`.
template <class UF, class GF, class T, class E, class U, class G>
concept converts_members =
    !(same<U, T> && same<G, E>) && constructible<T, UF> && constructible<E, GF> &&
    (is_bool<T> || !converts_from_expected<T, expected<U, G>>) &&
    !constructs_from_expected<unexpected<E>, expected<U, G>>;

/// True if `expected<T, E>` makes its value from a `U`. Most returns pass a `T`.
template <class U, class T, class E>
concept value_source =
    same<U, T> ||
    (!is_unexpected<remove_cvref_t<U>> && !same<remove_cvref_t<U>, in_place_t> &&
     !same<remove_cvref_t<U>, unexpect_t> && !same<remove_cvref_t<U>, expected<T, E>> &&
     (!is_bool<T> || !is_expected<remove_cvref_t<U>>) && constructible<T, U>);

/// True if a `New` made from an `X` can replace an `Old` such that the `Old` is kept if that
/// throws.
template <class X, class New, class Old>
concept replaces_strongly = nothrow_constructible<New, X> || nothrow_constructible<New, New> ||
                            nothrow_constructible<Old, Old>;
template <class U, class T, class E>
concept assigns_value =
    !same<remove_cvref_t<U>, expected<T, E>> && !is_unexpected<remove_cvref_t<U>> &&
    constructible<T, U> && assignable<T&, U> && replaces_strongly<U, T, E>;
template <class G, class T, class E>
concept assigns_error = constructible<E, G> && assignable<E&, G> && replaces_strongly<G, E, T>;

template <class T, class E>
concept one_moves_without_throwing = nothrow_constructible<T, T> || nothrow_constructible<E, E>;

}}}}  // namespace gpu::v1::fallback::abi
