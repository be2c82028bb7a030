#pragma once
/// \file
/// The stand-in for C++23's `std::expected`, for standard libraries without it. Include
/// gpu/core/expected.hpp, which picks.

#include <gpu/core/expected_fallback_monadic.hpp>
#include <gpu/core/expected_fallback_special.hpp>
#include <gpu/core/unexpected_fallback.hpp>

#if !defined(__cpp_exceptions)
#  include <cstdio>
#endif
#include <gpu/core/utility.hpp>
#include <initializer_list>
#include <type_traits>

namespace gpu::fallback::inline abi {

// Units with and without exceptions can meet in one program, so what depends on them is inlined
// into the caller, down to a function whose name tells the two apart.
#if defined(__cpp_exceptions)
template <class E, class G>
[[noreturn, gnu::cold, gnu::noinline]] constexpr void throw_bad_access(G&& error) {
  throw bad_expected_access<E>(std::forward<G>(error));
}
template <class E, class G> [[gnu::always_inline]] inline constexpr void refuse_access(G&& error) {
  throw_bad_access<E>(std::forward<G>(error));
}
#else
template <class E>
[[noreturn, gnu::cold, gnu::noinline]] inline void end_on_bad_access(const E& e) {
  const char* refusal =
      "gpu::expected::value(): the object holds an error, and without exceptions "
      "nothing can carry it further";
  if constexpr (requires { e.message().c_str(); }) {
    std::fprintf(stderr, "%s: %s\n", refusal, e.message().c_str());
  } else {
    std::fprintf(stderr, "%s, in %s\n", refusal, __PRETTY_FUNCTION__);
  }
  __builtin_trap();
}
template <class E, class G> [[gnu::always_inline]] inline constexpr void refuse_access(G&& error) {
  end_on_bad_access<E>(error);
}
#endif

/// Whether `T` could be made from an `expected` `X` itself, not from its value.
template <class T, class X>
inline constexpr bool converts_from_any_cvref =
    std::is_constructible_v<T, X&> || std::is_convertible_v<X&, T> ||
    std::is_constructible_v<T, X> || std::is_convertible_v<X, T> ||
    std::is_constructible_v<T, const X&> || std::is_convertible_v<const X&, T> ||
    std::is_constructible_v<T, const X> || std::is_convertible_v<const X, T>;
template <class T, class X>
inline constexpr bool constructs_from_any_cvref =
    std::is_constructible_v<T, X&> || std::is_constructible_v<T, X> ||
    std::is_constructible_v<T, const X&> || std::is_constructible_v<T, const X>;

template <class T> inline constexpr bool is_bool = std::is_same_v<std::remove_cv_t<T>, bool>;
template <class T, class X>
concept unrelated_value = is_bool<T> || !converts_from_any_cvref<T, X>;
template <class E, class X>
concept unrelated_error = !constructs_from_any_cvref<unexpected<E>, X>;

/// Whether the alternatives of `expected<U, G>`, seen as `UF` and `GF`, can become `T` and `E`.
template <class UF, class GF, class T, class E, class U, class G>
concept converts_alternatives = std::is_constructible_v<T, UF> && std::is_constructible_v<E, GF> &&
    unrelated_value<T, expected<U, G>> && unrelated_error<E, expected<U, G>>;

/// What `expected<T, E>` makes its value from.
template <class U, class T, class E>
concept value_source = !std::is_same_v<std::remove_cvref_t<U>, std::in_place_t> &&
                       !std::is_same_v<std::remove_cvref_t<U>, unexpect_t> &&
                       !std::is_same_v<std::remove_cvref_t<U>, expected<T, E>> &&
                       !is_unexpected<std::remove_cvref_t<U>> && std::is_constructible_v<T, U> &&
                       (!is_bool<T> || !is_expected<std::remove_cvref_t<U>>);

/// Whether a `T` made from an `X` can replace an `E` such that the `E` is kept if that throws.
template <class X, class T, class E>
concept replaces_strongly = std::is_nothrow_constructible_v<T, X> ||
    std::is_nothrow_move_constructible_v<T> || std::is_nothrow_move_constructible_v<E>;

template <class U, class T, class E>
concept assigns_value = !std::is_same_v<std::remove_cvref_t<U>, expected<T, E>> &&
                        !is_unexpected<std::remove_cvref_t<U>> && std::is_constructible_v<T, U> &&
                        std::is_assignable_v<T&, U> && replaces_strongly<U, T, E>;
template <class G, class T, class E>
concept assigns_error_to =
    std::is_constructible_v<E, G> && std::is_assignable_v<E&, G> && replaces_strongly<G, E, T>;

/// A value of type `T`, or the error that explains why there is none.
template <class T, class E>
class [[nodiscard]] expected : private move_assigned<T, E>, public monadic<expected<T, E>, T, E> {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> &&
                    !std::is_same_v<std::remove_cv_t<T>, std::in_place_t> &&
                    !std::is_same_v<std::remove_cv_t<T>, unexpect_t> &&
                    !is_unexpected<std::remove_cv_t<T>>,
                "the value is an object type or void: no reference, no array, no tag, no "
                "unexpected");
  static_assert(is_error_type<E>,
                "the error is an object type: no reference, array, const or "
                "volatile type, and no unexpected");
  using base = move_assigned<T, E>;

 public:
  using value_type = T;
  using error_type = E;
  using unexpected_type = unexpected<E>;
  template <class U> using rebind = expected<U, error_type>;

  /// Holds a value-initialised `T`.
  constexpr expected() noexcept(
      std::is_nothrow_default_constructible_v<T>) requires std::is_default_constructible_v<T>
      : base(value_t{}, std::in_place) {}

  /// Holds what `other` holds, converted.
  template <class U, class G>
  requires converts_alternatives<const U&, const G&, T, E, U, G>
  constexpr explicit(!std::is_convertible_v<const U&, T> || !std::is_convertible_v<const G&, E>)
      expected(const expected<U, G>& other)
      : base(converted_t{}, other) {}
  template <class U, class G>
  requires converts_alternatives<U, G, T, E, U, G>
  constexpr explicit(!std::is_convertible_v<U, T> || !std::is_convertible_v<G, E>)
      expected(expected<U, G>&& other)
      : base(converted_t{}, std::move(other)) {}

  /// Holds the value `T(value)`.
  template <class U = std::remove_cv_t<T>>
  requires value_source<U, T, E>
  constexpr explicit(!std::is_convertible_v<U, T>)
      expected(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>)
      : base(value_t{}, std::in_place, std::forward<U>(value)) {}

  /// Holds the error.
  template <class G>
  requires std::is_constructible_v<E, const G&>
  constexpr explicit(!std::is_convertible_v<const G&, E>)
      expected(const unexpected<G>& failure) noexcept(std::is_nothrow_constructible_v<E, const G&>)
      : base(error_t{}, std::in_place, failure.error()) {}
  template <class G>
  requires std::is_constructible_v<E, G>
  constexpr explicit(!std::is_convertible_v<G, E>)
      expected(unexpected<G>&& failure) noexcept(std::is_nothrow_constructible_v<E, G>)
      : base(error_t{}, std::in_place, std::move(failure).error()) {}

  /// Builds the value in place.
  template <class... Args>
  requires std::is_constructible_v<T, Args...>
  constexpr explicit expected(std::in_place_t,
                              Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>)
      : base(value_t{}, std::in_place, std::forward<Args>(args)...) {}
  template <class U, class... Args>
  requires list_constructible<T, U, Args...>
  constexpr explicit expected(std::in_place_t, std::initializer_list<U> list, Args&&... args)
      : base(value_t{}, std::in_place, list, std::forward<Args>(args)...) {}

  /// Builds the error in place.
  template <class... Args>
  requires std::is_constructible_v<E, Args...>
  constexpr explicit expected(unexpect_t,
                              Args&&... args) noexcept(std::is_nothrow_constructible_v<E, Args...>)
      : base(error_t{}, std::in_place, std::forward<Args>(args)...) {}
  template <class U, class... Args>
  requires list_constructible<E, U, Args...>
  constexpr explicit expected(unexpect_t, std::initializer_list<U> list, Args&&... args)
      : base(error_t{}, std::in_place, list, std::forward<Args>(args)...) {}

  /// Assigns a value. If that throws from an error, the error is kept.
  template <class U = std::remove_cv_t<T>>
  requires assigns_value<U, T, E>
  constexpr expected& operator=(U&& value) {
    this->assign_value(std::forward<U>(value));
    return *this;
  }

  /// Assigns an error. If that throws from a value, the value is kept.
  template <class G>
  requires assigns_error_to<const G&, T, E>
  constexpr expected& operator=(const unexpected<G>& failure) {
    this->assign_error(failure.error());
    return *this;
  }
  template <class G>
  requires assigns_error_to<G, T, E>
  constexpr expected& operator=(unexpected<G>&& failure) {
    this->assign_error(std::move(failure).error());
    return *this;
  }

  /// Replaces what is held by a value built in place, and returns it.
  template <class... Args>
  requires std::is_nothrow_constructible_v<T, Args...>
  constexpr T& emplace(Args&&... args) noexcept {
    this->replace_by_value(std::forward<Args>(args)...);
    return **this;
  }
  template <class U, class... Args>
  requires std::is_nothrow_constructible_v<T, list_reference<U>, Args...>
  constexpr T& emplace(std::initializer_list<U> list, Args&&... args) noexcept {
    this->replace_by_value(list, std::forward<Args>(args)...);
    return **this;
  }

  constexpr void swap(expected& other) noexcept(nothrow_swappable<T, E>) requires
      swappable_when_held<T, E> {
    this->swap_with(other);
  }
  friend constexpr void swap(expected& a, expected& b) noexcept(noexcept(a.swap(b))) requires
      swappable_when_held<T, E> {
    a.swap(b);
  }

  using base::has_value;
  using base::operator bool;
  using base::operator*;
  using base::operator->;
  using base::error;

  /// The value. Where there is an error, throws `bad_expected_access<E>` with it; without
  /// exceptions, says so on stderr and ends the program.
  [[gnu::always_inline]] constexpr const T& value() const& {
    static_assert(std::is_copy_constructible_v<E>, "value() copies the error into the exception");
    if (!has_value()) refuse_access<E>(error());
    return **this;
  }
  [[gnu::always_inline]] constexpr T& value() & {
    static_assert(std::is_copy_constructible_v<E>, "value() copies the error into the exception");
    if (!has_value()) refuse_access<E>(static_cast<const expected&>(*this).error());
    return **this;
  }
  [[gnu::always_inline]] constexpr const T&& value() const&& {
    if (!has_value()) refuse_access<E>(std::move(*this).error());
    return *std::move(*this);
  }
  [[gnu::always_inline]] constexpr T&& value() && {
    if (!has_value()) refuse_access<E>(std::move(*this).error());
    return *std::move(*this);
  }

  /// The value, or `T(otherwise)`.
  template <class U = std::remove_cv_t<T>> constexpr T value_or(U&& otherwise) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(otherwise));
  }
  template <class U = std::remove_cv_t<T>> constexpr T value_or(U&& otherwise) && {
    return has_value() ? *std::move(*this) : static_cast<T>(std::forward<U>(otherwise));
  }

  /// The error, or `E(otherwise)`.
  template <class G = E> constexpr E error_or(G&& otherwise) const& {
    if (has_value()) return std::forward<G>(otherwise);
    return error();
  }
  template <class G = E> constexpr E error_or(G&& otherwise) && {
    if (has_value()) return std::forward<G>(otherwise);
    return std::move(*this).error();
  }

  /// Equal in state and in what they hold.
  template <class U, class G>
  requires std::is_object_v<U>
  friend constexpr bool operator==(const expected& a, const expected<U, G>& b) {
    if (a.has_value() != b.has_value()) return false;
    return a.has_value() ? static_cast<bool>(*a == *b) : static_cast<bool>(a.error() == b.error());
  }
  template <class U> friend constexpr bool operator==(const expected& a, const U& value) {
    return a.has_value() && static_cast<bool>(*a == value);
  }
  template <class G>
  friend constexpr bool operator==(const expected& a, const unexpected<G>& failure) {
    return !a.has_value() && static_cast<bool>(a.error() == failure.error());
  }

 private:
  template <class Self, class F> friend constexpr auto apply_transform(Self&& self, F&& f);
  template <class Self, class F> friend constexpr auto apply_transform_error(Self&& self, F&& f);

  template <class F>
  constexpr explicit expected(value_t which, F&& call)
      : base(which, result_of_t{}, std::forward<F>(call)) {}
  template <class F>
  constexpr explicit expected(error_t which, F&& call)
      : base(which, result_of_t{}, std::forward<F>(call)) {}
};

}  // namespace gpu::fallback::inline abi
