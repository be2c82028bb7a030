#pragma once
/// \file
/// The stand-in for `std::expected<void, E>`: success, or an error. It includes the primary
/// template, so this header is the whole stand-in.

#include <gpu/core/detail/expected/conversions.hpp>
#include <gpu/core/detail/expected/expected.hpp>
#include <gpu/core/detail/expected/members.hpp>
#include <gpu/core/detail/expected/monadic.hpp>
#include <gpu/core/detail/expected/unexpected.hpp>

#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 { namespace fallback { inline namespace abi {

/// True if an `expected<U, G>`, whose error is seen as `GF`, converts to an `expected<void, E>`.
template <class GF, class E, class U, class G>
concept converts_error =
    std::is_void_v<U> && !std::same_as<G, E> && std::is_constructible_v<E, GF> &&
    !constructs_from_expected<unexpected<E>, expected<U, G>>;

/// Success, or the error that explains the failure.
template <class T, class E>
  requires std::is_void_v<T>
class [[nodiscard(
    "write GPU_TRY(...) around the call, or look at the result: an error would be "
    "lost")]] expected<T, E> {
  static_assert(is_error_type<E>,
                "the error must be an object type: not a reference, an array, a const or volatile "
                "type, or an unexpected");

 public:
  using value_type = T;
  using error_type = E;
  using unexpected_type = unexpected<E>;
  template <class U> using rebind = expected<U, error_type>;

  /// Success.
  constexpr expected() noexcept : nothing_(), has_value_(true) {}
  constexpr explicit expected(std::in_place_t) noexcept : nothing_(), has_value_(true) {}

  // Special members that the compiler generates, if there is nothing to do but to copy bytes.
#if !defined(__clang__) || __clang_major__ >= 16
  constexpr expected(const expected&)
    requires plain<E>
  = default;
  constexpr expected(expected&&)
    requires plain<E>
  = default;
  constexpr expected& operator=(const expected&)
    requires plain<E>
  = default;
  constexpr expected& operator=(expected&&)
    requires plain<E>
  = default;
  constexpr ~expected()
    requires plain<E>
  = default;
#endif

  constexpr expected(const expected& other) noexcept(nothrow_copy_constructible<E>)
    requires copy_constructible<E>
      : nothing_(), has_value_(true) {
    if (!other.has_value_) make_error(other.error_);
  }
  constexpr expected(expected&& other) noexcept(nothrow_move_constructible<E>)
    requires move_constructible<E>
      : nothing_(), has_value_(true) {
    if (!other.has_value_) make_error(std::move(other.error_));
  }

  /// Holds what `other` holds, converted.
  template <class U, class G>
    requires converts_error<const G&, E, U, G>
  constexpr explicit(!std::is_convertible_v<const G&, E>) expected(const expected<U, G>& other)
      : nothing_(), has_value_(true) {
    if (!other) make_error(other.error());
  }
  template <class U, class G>
    requires converts_error<G, E, U, G>
  constexpr explicit(!std::is_convertible_v<G, E>) expected(expected<U, G>&& other)
      : nothing_(), has_value_(true) {
    if (!other) make_error(std::move(other).error());
  }

  /// Holds the error.
  template <class G>
    requires std::is_constructible_v<E, const G&>
  constexpr explicit(!std::is_convertible_v<const G&, E>)
      expected(const unexpected<G>& failure) noexcept(std::is_nothrow_constructible_v<E, const G&>)
      : error_(failure.error()), has_value_(false) {}
  template <class G>
    requires std::is_constructible_v<E, G>
  constexpr explicit(!std::is_convertible_v<G, E>)
      expected(unexpected<G>&& failure) noexcept(std::is_nothrow_constructible_v<E, G>)
      : error_(std::move(failure).error()), has_value_(false) {}

  /// Builds the error in place.
  template <class... Args>
    requires std::is_constructible_v<E, Args...>
  constexpr explicit expected(unexpect_t,
                              Args&&... args) noexcept(std::is_nothrow_constructible_v<E, Args...>)
      : error_(static_cast<Args&&>(args)...), has_value_(false) {}
  template <class U, class... Args>
    requires std::is_constructible_v<E, std::initializer_list<U>&, Args...>
  constexpr explicit expected(unexpect_t, std::initializer_list<U> list, Args&&... args)
      : error_(list, static_cast<Args&&>(args)...), has_value_(false) {}

  constexpr ~expected() {
    if (!has_value_) error_.~E();
  }

  /// Copies or moves what `other` holds. If that throws after a success, this object is a success.
  constexpr expected& operator=(const expected& other) noexcept(nothrow_copyable<E>)
    requires copy_assignable<E>
  {
    other.has_value_ ? emplace() : assign_error(other.error_);
    return *this;
  }
  constexpr expected& operator=(expected&& other) noexcept(nothrow_movable<E>)
    requires move_assignable<E>
  {
    other.has_value_ ? emplace() : assign_error(std::move(other.error_));
    return *this;
  }

  /// Assigns an error.
  template <class G>
    requires std::is_constructible_v<E, const G&> && std::is_assignable_v<E&, const G&>
  constexpr expected& operator=(const unexpected<G>& failure) {
    assign_error(failure.error());
    return *this;
  }
  template <class G>
    requires std::is_constructible_v<E, G> && std::is_assignable_v<E&, G>
  constexpr expected& operator=(unexpected<G>&& failure) {
    assign_error(std::move(failure).error());
    return *this;
  }

  /// Makes it a success.
  constexpr void emplace() noexcept {
    if constexpr (plain<E>) {
      *this = expected();
    } else {
      if (!has_value_) error_.~E();
      has_value_ = true;
    }
  }

  constexpr void swap(expected& other) noexcept(nothrow_move_constructible<E> &&
                                                std::is_nothrow_swappable_v<E>)
    requires std::is_swappable_v<E> && move_constructible<E>
  {
    if (!has_value_ && !other.has_value_) {
      std::ranges::swap(error_, other.error_);
    } else if (!has_value_) {
      other.make_error(std::move(error_));
      emplace();
    } else if (!other.has_value_) {
      make_error(std::move(other.error_));
      other.emplace();
    }
  }
  /// Returns whether it is a success.
  constexpr bool has_value() const noexcept { return has_value_; }
  constexpr explicit operator bool() const noexcept { return has_value_; }

  /// Returns the error. Undefined after a success.
  constexpr const E& error() const& noexcept { return error_; }
  constexpr E& error() & noexcept { return error_; }
  constexpr const E&& error() const&& noexcept { return std::move(error_); }
  constexpr E&& error() && noexcept { return std::move(error_); }

  /// Does nothing. Undefined if there is an error.
  constexpr void operator*() const noexcept {}

  /// If there is an error, throws it in a `bad_expected_access<E>`; in a program without
  /// exceptions, prints it to stderr and ends the program.
  [[gnu::always_inline]] constexpr void value() const& {
    if (!has_value_) bad_access<E>(error_);
  }
  [[gnu::always_inline]] constexpr void value() && {
    if (!has_value_) bad_access<E>(std::move(error_));
  }

  /// Returns the error, or `E(otherwise)`.
  template <class G = E> constexpr E error_or(G&& otherwise) const& {
    if (has_value_) return static_cast<G&&>(otherwise);
    return error_;
  }
  template <class G = E> constexpr E error_or(G&& otherwise) && {
    if (has_value_) return static_cast<G&&>(otherwise);
    return std::move(error_);
  }

  /// Calls `f` after a success, which returns an `expected` with the same error type; keeps an
  /// error.
  template <class F> constexpr auto and_then(F&& f) & {
    return monadic::and_then(*this, static_cast<F&&>(f));
  }
  template <class F> constexpr auto and_then(F&& f) const& {
    return monadic::and_then(*this, static_cast<F&&>(f));
  }
  template <class F> constexpr auto and_then(F&& f) && {
    return monadic::and_then(std::move(*this), static_cast<F&&>(f));
  }
  template <class F> constexpr auto and_then(F&& f) const&& {
    return monadic::and_then(std::move(*this), static_cast<F&&>(f));
  }

  /// Passes the error to `f`, which returns an `expected` with the same value type; keeps a
  /// success.
  template <class F> constexpr auto or_else(F&& f) & {
    return monadic::or_else(*this, static_cast<F&&>(f));
  }
  template <class F> constexpr auto or_else(F&& f) const& {
    return monadic::or_else(*this, static_cast<F&&>(f));
  }
  template <class F> constexpr auto or_else(F&& f) && {
    return monadic::or_else(std::move(*this), static_cast<F&&>(f));
  }
  template <class F> constexpr auto or_else(F&& f) const&& {
    return monadic::or_else(std::move(*this), static_cast<F&&>(f));
  }

  /// Calls `f` after a success and holds what it returns; keeps an error.
  template <class F> constexpr auto transform(F&& f) & {
    return monadic::transform(*this, static_cast<F&&>(f));
  }
  template <class F> constexpr auto transform(F&& f) const& {
    return monadic::transform(*this, static_cast<F&&>(f));
  }
  template <class F> constexpr auto transform(F&& f) && {
    return monadic::transform(std::move(*this), static_cast<F&&>(f));
  }
  template <class F> constexpr auto transform(F&& f) const&& {
    return monadic::transform(std::move(*this), static_cast<F&&>(f));
  }

  /// Replaces the error by what `f` returns for it; keeps a success.
  template <class F> constexpr auto transform_error(F&& f) & {
    return monadic::transform_error(*this, static_cast<F&&>(f));
  }
  template <class F> constexpr auto transform_error(F&& f) const& {
    return monadic::transform_error(*this, static_cast<F&&>(f));
  }
  template <class F> constexpr auto transform_error(F&& f) && {
    return monadic::transform_error(std::move(*this), static_cast<F&&>(f));
  }
  template <class F> constexpr auto transform_error(F&& f) const&& {
    return monadic::transform_error(std::move(*this), static_cast<F&&>(f));
  }

 private:
  friend struct monadic;

  /// Holds the error that `call()` returns, without moving it.
  template <class F>
  constexpr expected(error_of_call, F&& call)
      : error_(static_cast<F&&>(call)()), has_value_(false) {}

  /// Turns a success into an error. Assigning the whole object does so in constant evaluation, too.
  template <class... Args> constexpr void make_error(Args&&... args) {
    if constexpr (plain<E>) {
      *this = expected(unexpect, static_cast<Args&&>(args)...);
    } else {
      fallback::construct(error_, static_cast<Args&&>(args)...);
      has_value_ = false;
    }
  }
  template <class G> constexpr void assign_error(G&& error) {
    if (has_value_) {
      make_error(static_cast<G&&>(error));
    } else {
      error_ = static_cast<G&&>(error);
    }
  }

  union {
    struct {
    } nothing_;
    E error_;
  };
  bool has_value_;
};

}}}}  // namespace gpu::v1::fallback::abi
