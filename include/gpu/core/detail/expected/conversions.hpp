#pragma once
/// \file
/// Concepts for the types that an `expected` can hold, converts from and is assigned from.

#include <gpu/core/detail/expected/unexpected.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 { namespace fallback { inline namespace abi {

/// True if an `expected` can hold a `T` as its value.
template <class> inline constexpr bool is_value_type = true;
template <class T> inline constexpr bool is_value_type<T&> = false;
template <class T> inline constexpr bool is_value_type<T&&> = false;
template <class T> inline constexpr bool is_value_type<T[]> = false;
template <class T, std::size_t N> inline constexpr bool is_value_type<T[N]> = false;
template <class E> inline constexpr bool is_value_type<unexpected<E>> = false;
template <> inline constexpr bool is_value_type<std::in_place_t> = false;
template <> inline constexpr bool is_value_type<unexpect_t> = false;

/// True if `T` can be made from an `expected` `X` itself instead of from its value.
template <class T, class X>
concept constructs_from_expected =
    std::is_constructible_v<T, X&> || std::is_constructible_v<T, X> ||
    std::is_constructible_v<T, const X&> || std::is_constructible_v<T, const X>;
template <class T, class X>
concept converts_from_expected =
    constructs_from_expected<T, X> || std::is_convertible_v<X&, T> || std::is_convertible_v<X, T> ||
    std::is_convertible_v<const X&, T> || std::is_convertible_v<const X, T>;

template <class T> inline constexpr bool is_bool = std::same_as<std::remove_cv_t<T>, bool>;

/// True if an `expected<U, G>`, whose members are seen as `UF` and `GF`, converts to `expected<T,
/// E>`. One of void converts to one of void alone.
template <class UF, class GF, class T, class E, class U, class G>
concept converts_members =
    !(std::same_as<U, T> && std::same_as<G, E>) &&
    (std::is_constructible_v<T, UF> || (std::is_void_v<T> && std::is_void_v<U>)) &&
    std::is_constructible_v<E, GF> && (is_bool<T> || !converts_from_expected<T, expected<U, G>>) &&
    !constructs_from_expected<unexpected<E>, expected<U, G>>;

/// True if `expected<T, E>` makes its value from a `U`. Most returns pass a `T`.
template <class U, class T, class E>
concept value_source =
    std::same_as<U, T> ||
    (!is_unexpected<std::remove_cvref_t<U>> &&
     !std::same_as<std::remove_cvref_t<U>, std::in_place_t> &&
     !std::same_as<std::remove_cvref_t<U>, unexpect_t> &&
     !std::same_as<std::remove_cvref_t<U>, expected<T, E>> &&
     (!is_bool<T> || !is_expected<std::remove_cvref_t<U>>) && std::is_constructible_v<T, U>);

/// True if a `New` made from an `X` can replace an `Old` such that the `Old` is kept if that
/// throws.
template <class X, class New, class Old>
concept replaces_strongly =
    std::is_nothrow_constructible_v<New, X> || std::is_nothrow_constructible_v<New, New> ||
    std::is_nothrow_constructible_v<Old, Old>;
template <class U, class T, class E>
concept assigns_value = !std::same_as<std::remove_cvref_t<U>, expected<T, E>> &&
                        !is_unexpected<std::remove_cvref_t<U>> && std::is_constructible_v<T, U> &&
                        std::is_assignable_v<T&, U> && replaces_strongly<U, T, E>;
template <class G, class T, class E>
concept assigns_error =
    std::is_constructible_v<E, G> && std::is_assignable_v<E&, G> && replaces_strongly<G, E, T>;

template <class T, class E>
concept one_moves_without_throwing =
    std::is_nothrow_constructible_v<T, T> || std::is_nothrow_constructible_v<E, E>;

}}}}  // namespace gpu::v1::fallback::abi
