#pragma once
/// \file
/// The stand-in for C++23's `std::expected`, for standard libraries without it. Include
/// gpu/core/expected.hpp, which picks.

#include <gpu/core/detail/expected/monadic.hpp>
#include <gpu/core/detail/expected/special_members.hpp>
#include <gpu/core/detail/expected/unexpected.hpp>

#if !defined(__cpp_exceptions)
#  include <cstdio>
#endif
#include <initializer_list>

namespace gpu::inline v0::fallback::inline abi {

// Units with and without exceptions can meet in one program, so what depends on them is inlined
// into the caller, down to a function whose name tells the two apart.
#if defined(__cpp_exceptions)
template <class E, class G>
[[noreturn, gnu::cold, gnu::noinline]] constexpr void throw_bad_access(G&& error) {
  throw bad_expected_access<E>(static_cast<G&&>(error));
}
template <class E, class G> [[gnu::always_inline]] inline constexpr void refuse_access(G&& error) {
  throw_bad_access<E>(static_cast<G&&>(error));
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
concept constructs_from_any_cvref = constructible<T, X&> || constructible<T, X> ||
                                    constructible<T, const X&> || constructible<T, const X>;
template <class T, class X>
concept converts_from_any_cvref =
    constructs_from_any_cvref<T, X> || convertible<X&, T> || convertible<X, T> ||
    convertible<const X&, T> || convertible<const X, T>;

template <class T> inline constexpr bool is_bool = same<remove_cv_t<T>, bool>;
template <class T, class X>
concept unrelated_value = is_bool<T> || !converts_from_any_cvref<T, X>;
template <class E, class X>
concept unrelated_error = !constructs_from_any_cvref<unexpected<E>, X>;

/// Whether the alternatives of `expected<U, G>`, seen as `UF` and `GF`, can become `T` and `E`.
template <class UF, class GF, class T, class E, class U, class G>
concept converts_alternatives =
    constructible<T, UF> && constructible<E, GF> && unrelated_value<T, expected<U, G>> &&
    unrelated_error<E, expected<U, G>>;

/// What `expected<T, E>` makes its value from. The two forms of most returns come first and decide.
template <class U, class T, class E>
concept value_source = !is_unexpected<remove_cvref_t<U>> &&
                       (same<U, T> || (!same<remove_cvref_t<U>, std::in_place_t> &&
                                       !same<remove_cvref_t<U>, unexpect_t> &&
                                       !same<remove_cvref_t<U>, expected<T, E>> &&
                                       (!is_bool<T> || !is_expected<remove_cvref_t<U>>))) &&
                       constructible<T, U>;

/// Whether a `T` made from an `X` can replace an `E` such that the `E` is kept if that throws.
template <class X, class T, class E>
concept replaces_strongly =
    nothrow_constructible<T, X> || nothrow_constructible<T, T> || nothrow_constructible<E, E>;

template <class U, class T, class E>
concept assigns_value =
    !same<remove_cvref_t<U>, expected<T, E>> && !is_unexpected<remove_cvref_t<U>> &&
    constructible<T, U> && assignable<T&, U> && replaces_strongly<U, T, E>;
template <class G, class T, class E>
concept assigns_error_to = constructible<E, G> && assignable<E&, G> && replaces_strongly<G, E, T>;

/// A value of type `T`, or the error that explains why there is none.
template <class T, class E>
class [[nodiscard]] expected : private storage<T, E>, public monadic<expected<T, E>, T, E> {
  static_assert(is_object<T> && !is_array<T> && !same<remove_cv_t<T>, std::in_place_t> &&
                    !same<remove_cv_t<T>, unexpect_t> && !is_unexpected<remove_cv_t<T>>,
                "the value is an object type or void: no reference, no array, no tag, no "
                "unexpected");
  static_assert(is_error_type<E>,
                "the error is an object type: no reference, array, const or "
                "volatile type, and no unexpected");
  using base = storage<T, E>;

 public:
  using value_type = T;
  using error_type = E;
  using unexpected_type = unexpected<E>;
  template <class U> using rebind = expected<U, error_type>;

  /// Holds a value-initialised `T`.
  constexpr expected() noexcept(nothrow_constructible<T>)
    requires constructible<T>
      : base(built_t{}, value_t{}) {}

  /// Holds what `other` holds, converted.
  template <class U, class G>
    requires converts_alternatives<const U&, const G&, T, E, U, G>
  constexpr explicit(!convertible<const U&, T> || !convertible<const G&, E>)
      expected(const expected<U, G>& other)
      : base(converted_t{}, other) {}
  template <class U, class G>
    requires converts_alternatives<U, G, T, E, U, G>
  constexpr explicit(!convertible<U, T> || !convertible<G, E>) expected(expected<U, G>&& other)
      : base(converted_t{}, detail::move(other)) {}

  /// Holds the value `T(value)`.
  template <class U = remove_cv_t<T>>
    requires value_source<U, T, E>
  constexpr explicit(!convertible<U, T>) expected(U&& value) noexcept(nothrow_constructible<T, U>)
      : base(built_t{}, value_t{}, static_cast<U&&>(value)) {}

  /// Holds the error.
  template <class G>
    requires constructible<E, const G&>
  constexpr explicit(!convertible<const G&, E>)
      expected(const unexpected<G>& failure) noexcept(nothrow_constructible<E, const G&>)
      : base(built_t{}, error_t{}, failure.error()) {}
  template <class G>
    requires constructible<E, G>
  constexpr explicit(!convertible<G, E>)
      expected(unexpected<G>&& failure) noexcept(nothrow_constructible<E, G>)
      : base(built_t{}, error_t{}, detail::move(failure).error()) {}

  /// Builds the value in place.
  template <class... Args>
    requires constructible<T, Args...>
  constexpr explicit expected(const std::in_place_t&,
                              Args&&... args) noexcept(nothrow_constructible<T, Args...>)
      : base(built_t{}, value_t{}, static_cast<Args&&>(args)...) {}
  template <class U, class... Args>
    requires list_constructible<T, U, Args...>
  constexpr explicit expected(const std::in_place_t&, std::initializer_list<U> list, Args&&... args)
      : base(built_t{}, value_t{}, list, static_cast<Args&&>(args)...) {}

  /// Builds the error in place.
  template <class... Args>
    requires constructible<E, Args...>
  constexpr explicit expected(unexpect_t,
                              Args&&... args) noexcept(nothrow_constructible<E, Args...>)
      : base(built_t{}, error_t{}, static_cast<Args&&>(args)...) {}
  template <class U, class... Args>
    requires list_constructible<E, U, Args...>
  constexpr explicit expected(unexpect_t, std::initializer_list<U> list, Args&&... args)
      : base(built_t{}, error_t{}, list, static_cast<Args&&>(args)...) {}

  /// Assigns a value. If that throws from an error, the error is kept.
  template <class U = remove_cv_t<T>>
    requires assigns_value<U, T, E>
  constexpr expected& operator=(U&& value) {
    fallback::assign_value(this->held, static_cast<U&&>(value));
    return *this;
  }

  /// Assigns an error. If that throws from a value, the value is kept.
  template <class G>
    requires assigns_error_to<const G&, T, E>
  constexpr expected& operator=(const unexpected<G>& failure) {
    fallback::assign_error(this->held, failure.error());
    return *this;
  }
  template <class G>
    requires assigns_error_to<G, T, E>
  constexpr expected& operator=(unexpected<G>&& failure) {
    fallback::assign_error(this->held, detail::move(failure).error());
    return *this;
  }

  /// Replaces what is held by a value built in place, and returns it.
  template <class... Args>
    requires nothrow_constructible<T, Args...>
  constexpr T& emplace(Args&&... args) noexcept {
    fallback::replace_by_value(this->held, static_cast<Args&&>(args)...);
    return **this;
  }
  template <class U, class... Args>
    requires nothrow_constructible<T, list_reference<U>, Args...>
  constexpr T& emplace(std::initializer_list<U> list, Args&&... args) noexcept {
    fallback::replace_by_value(this->held, list, static_cast<Args&&>(args)...);
    return **this;
  }

  constexpr void swap(expected& other) noexcept(nothrow_swappable<T, E>)
    requires swappable_when_held<T, E>
  {
    fallback::swap_payloads(this->held, other.held);
  }
  friend constexpr void swap(expected& a, expected& b) noexcept(noexcept(a.swap(b)))
    requires swappable_when_held<T, E>
  {
    a.swap(b);
  }

  /// Whether there is a value.
  constexpr bool has_value() const noexcept { return this->held.has_value; }
  constexpr explicit operator bool() const noexcept { return this->held.has_value; }

  /// The value. Undefined without one.
  constexpr const T& operator*() const& noexcept { return this->held.value; }
  constexpr T& operator*() & noexcept { return this->held.value; }
  constexpr const T&& operator*() const&& noexcept { return detail::move(this->held.value); }
  constexpr T&& operator*() && noexcept { return detail::move(this->held.value); }
  constexpr const T* operator->() const noexcept { return __builtin_addressof(this->held.value); }
  constexpr T* operator->() noexcept { return __builtin_addressof(this->held.value); }

  /// The error. Undefined where there is a value.
  constexpr const E& error() const& noexcept { return this->held.error; }
  constexpr E& error() & noexcept { return this->held.error; }
  constexpr const E&& error() const&& noexcept { return detail::move(this->held.error); }
  constexpr E&& error() && noexcept { return detail::move(this->held.error); }

  /// The value. Where there is an error, throws `bad_expected_access<E>` with it; without
  /// exceptions, says so on stderr and ends the program.
  [[gnu::always_inline]] constexpr const T& value() const& {
    static_assert(constructible<E, const E&>, "value() copies the error into the exception");
    if (!has_value()) refuse_access<E>(error());
    return **this;
  }
  [[gnu::always_inline]] constexpr T& value() & {
    static_assert(constructible<E, const E&>, "value() copies the error into the exception");
    if (!has_value()) refuse_access<E>(static_cast<const expected&>(*this).error());
    return **this;
  }
  [[gnu::always_inline]] constexpr const T&& value() const&& {
    if (!has_value()) refuse_access<E>(detail::move(*this).error());
    return *detail::move(*this);
  }
  [[gnu::always_inline]] constexpr T&& value() && {
    if (!has_value()) refuse_access<E>(detail::move(*this).error());
    return *detail::move(*this);
  }

  /// The value, or `T(otherwise)`.
  template <class U = remove_cv_t<T>> constexpr T value_or(U&& otherwise) const& {
    return has_value() ? **this : static_cast<T>(static_cast<U&&>(otherwise));
  }
  template <class U = remove_cv_t<T>> constexpr T value_or(U&& otherwise) && {
    return has_value() ? *detail::move(*this) : static_cast<T>(static_cast<U&&>(otherwise));
  }

  /// The error, or `E(otherwise)`.
  template <class G = E> constexpr E error_or(G&& otherwise) const& {
    if (has_value()) return static_cast<G&&>(otherwise);
    return error();
  }
  template <class G = E> constexpr E error_or(G&& otherwise) && {
    if (has_value()) return static_cast<G&&>(otherwise);
    return detail::move(*this).error();
  }

  /// Equal in state and in what they hold.
  template <class U, class G>
    requires is_object<U>
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
  friend struct result_of_call;

  template <class F>
  constexpr explicit expected(value_of_t which, F&& call)
      : base(built_t{}, which, static_cast<F&&>(call)) {}
  template <class F>
  constexpr explicit expected(error_of_t which, F&& call)
      : base(built_t{}, which, static_cast<F&&>(call)) {}
};

}  // namespace gpu::inline v0::fallback::inline abi
