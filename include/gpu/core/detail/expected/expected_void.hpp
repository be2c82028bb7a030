#pragma once
/// \file
/// The stand-in for `std::expected<void, E>`: success, or an error. Includes the primary template,
/// so that this header is the whole stand-in.

#include <gpu/core/detail/expected/expected.hpp>

#include <initializer_list>

namespace gpu::inline v0::fallback::inline abi {

/// Whether a success or an error in `expected<U, G>` can become that of an `expected<void, E>`.
template <class GF, class E, class U, class G>
concept converts_error = is_void<U> && constructible<E, GF> && unrelated_error<E, expected<U, G>>;

template <class G, class E>
concept assigns_error = constructible<E, G> && assignable<E&, G>;

/// Success, or the error that explains the failure.
template <class T, class E>
  requires is_void<T>
class [[nodiscard]] expected<T, E> : private storage<nothing, E>,
                                     public monadic<expected<T, E>, T, E> {
  static_assert(is_error_type<E>,
                "the error is an object type: no reference, array, const or "
                "volatile type, and no unexpected");
  using base = storage<nothing, E>;

 public:
  using value_type = T;
  using error_type = E;
  using unexpected_type = unexpected<E>;
  template <class U> using rebind = expected<U, error_type>;

  /// Success.
  constexpr expected() noexcept : base(built_t{}, value_t{}) {}
  constexpr explicit expected(const std::in_place_t&) noexcept : base(built_t{}, value_t{}) {}

  /// Holds what `other` holds, converted.
  template <class U, class G>
    requires converts_error<const G&, E, U, G>
  constexpr explicit(!convertible<const G&, E>) expected(const expected<U, G>& other)
      : base(converted_t{}, other) {}
  template <class U, class G>
    requires converts_error<G, E, U, G>
  constexpr explicit(!convertible<G, E>) expected(expected<U, G>&& other)
      : base(converted_t{}, detail::move(other)) {}

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

  /// Assigns an error.
  template <class G>
    requires assigns_error<const G&, E>
  constexpr expected& operator=(const unexpected<G>& failure) {
    fallback::assign_error(this->held, failure.error());
    return *this;
  }
  template <class G>
    requires assigns_error<G, E>
  constexpr expected& operator=(unexpected<G>&& failure) {
    fallback::assign_error(this->held, detail::move(failure).error());
    return *this;
  }

  /// Makes it a success.
  constexpr void emplace() noexcept { fallback::replace_by_value(this->held); }

  constexpr void swap(expected& other) noexcept(nothrow_swappable<E>)
    requires swappable_when_held<nothing, E>
  {
    fallback::swap_payloads(this->held, other.held);
  }
  friend constexpr void swap(expected& a, expected& b) noexcept(noexcept(a.swap(b)))
    requires swappable_when_held<nothing, E>
  {
    a.swap(b);
  }

  /// Whether there is a value.
  constexpr bool has_value() const noexcept { return this->held.has_value; }
  constexpr explicit operator bool() const noexcept { return this->held.has_value; }

  /// The error. Undefined where there is a value.
  constexpr const E& error() const& noexcept { return this->held.error; }
  constexpr E& error() & noexcept { return this->held.error; }
  constexpr const E&& error() const&& noexcept { return detail::move(this->held.error); }
  constexpr E&& error() && noexcept { return detail::move(this->held.error); }

  /// Does nothing. Undefined where there is an error.
  constexpr void operator*() const noexcept {}

  /// Where there is an error, throws `bad_expected_access<E>` with it; without exceptions, says so
  /// on stderr and ends the program.
  [[gnu::always_inline]] constexpr void value() const& {
    static_assert(constructible<E, const E&>, "value() copies the error into the exception");
    if (!has_value()) refuse_access<E>(error());
  }
  [[gnu::always_inline]] constexpr void value() && {
    static_assert(constructible<E, const E&> && constructible<E, E>,
                  "value() moves the error into the exception");
    if (!has_value()) refuse_access<E>(detail::move(*this).error());
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

  /// Both a success, or errors that are equal.
  template <class U, class G>
    requires is_void<U>
  friend constexpr bool operator==(const expected& a, const expected<U, G>& b) {
    if (a.has_value() != b.has_value()) return false;
    return a.has_value() || static_cast<bool>(a.error() == b.error());
  }
  template <class G>
  friend constexpr bool operator==(const expected& a, const unexpected<G>& failure) {
    return !a.has_value() && static_cast<bool>(a.error() == failure.error());
  }

 private:
  friend struct result_of_call;

  template <class F>
  constexpr explicit expected(error_of_t which, F&& call)
      : base(built_t{}, which, static_cast<F&&>(call)) {}
};

}  // namespace gpu::inline v0::fallback::inline abi
