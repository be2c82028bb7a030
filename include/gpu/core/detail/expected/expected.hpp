#pragma once
/// \file
/// The stand-in for C++23's `std::expected`, for standard libraries without it. Include
/// gpu/core/expected.hpp, which selects.
///
/// It differs from the standard in constant evaluation: only an `expected` of types that are copied
/// as bytes can be copied, assigned or swapped there. (For other types that needs
/// `std::construct_at`, and `<memory>` costs eleven times what cuda.h does.)

#include <gpu/core/detail/expected/conversions.hpp>
#include <gpu/core/detail/expected/members.hpp>
#include <gpu/core/detail/expected/monadic.hpp>
#include <gpu/core/detail/expected/unexpected.hpp>

#include <initializer_list>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 { namespace fallback { inline namespace abi {

/// A value of type `T`, or the error that explains why there is none. If `T` is void, success or
/// the error that explains the failure.
template <class T, class E>
class [[nodiscard(
    "write GPU_TRY(...) around the call, or look at the result: an error would be "
    "lost")]] expected {
  using held = typename value_types<T>::held;
  using lvalue = typename value_types<T>::lvalue;
  using const_lvalue = typename value_types<T>::const_lvalue;
  using rvalue = typename value_types<T>::rvalue;
  using const_rvalue = typename value_types<T>::const_rvalue;

  static_assert(is_value_type<T>,
                "the value must be void or an object type: not a reference, an array, a tag, or an "
                "unexpected");
  static_assert(is_error_type<E>,
                "the error must be an object type: not a reference, an array, a const or volatile "
                "type, or an unexpected");

 public:
  using value_type = T;
  using error_type = E;
  using unexpected_type = unexpected<E>;
  template <class U> using rebind = expected<U, error_type>;

  /// Holds a value-initialized `T`, or success.
  constexpr expected() noexcept(std::is_nothrow_constructible_v<held>)
    requires std::is_constructible_v<held>
      : value_(), has_value_(true) {}

  // Special members that the compiler generates, if there is nothing to do but to copy bytes.
#if !defined(__clang__) || __clang_major__ >= 16
  constexpr expected(const expected&)
    requires plain<E> && plain<held>
  = default;
  constexpr expected(expected&&)
    requires plain<E> && plain<held>
  = default;
  constexpr expected& operator=(const expected&)
    requires plain<E> && plain<held> && one_moves_without_throwing<held, E>
  = default;
  constexpr expected& operator=(expected&&)
    requires plain<E> && plain<held> && one_moves_without_throwing<held, E>
  = default;
  constexpr ~expected()
    requires plain<E> && plain<held>
  = default;
#endif

  constexpr expected(const expected& other) noexcept(nothrow_copy_constructible<held, E>)
    requires copy_constructible<E> && copy_constructible<held>
  {
    copy_from(other);
  }
  constexpr expected(expected&& other) noexcept(nothrow_move_constructible<held, E>)
    requires move_constructible<E> && move_constructible<held>
  {
    copy_from(std::move(other));
  }

  /// Holds what `other` holds, converted.
  template <class U, class G>
    requires converts_members<typename value_types<U>::const_lvalue, const G&, T, E, U, G>
  constexpr explicit(!std::is_convertible_v<typename value_types<U>::const_lvalue, T> ||
                     !std::is_convertible_v<const G&, E>) expected(const expected<U, G>& other) {
    copy_from(other);
  }
  template <class U, class G>
    requires converts_members<U, G, T, E, U, G>
  constexpr explicit(!std::is_convertible_v<U, T> || !std::is_convertible_v<G, E>)
      expected(expected<U, G>&& other) {
    copy_from(std::move(other));
  }

  /// Holds the value `T(value)`.
  template <class U = std::remove_cv_t<T>>
    requires value_source<U, T, E>
  constexpr explicit(!std::is_convertible_v<U, T>)
      expected(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>)
      : value_(static_cast<U&&>(value)), has_value_(true) {}

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

  /// Builds the value in place.
  template <class... Args>
    requires std::is_constructible_v<held, Args...>
  constexpr explicit expected(std::in_place_t, Args&&... args) noexcept(
      std::is_nothrow_constructible_v<held, Args...>)
      : value_(static_cast<Args&&>(args)...), has_value_(true) {}
  template <class U, class... Args>
    requires std::is_constructible_v<held, std::initializer_list<U>&, Args...>
  constexpr explicit expected(std::in_place_t, std::initializer_list<U> list, Args&&... args)
      : value_(list, static_cast<Args&&>(args)...), has_value_(true) {}

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

  constexpr ~expected() { destroy(); }

  /// Copies or moves what `other` holds. If that throws in a change from value to error or back,
  /// this object is as it was.
  constexpr expected& operator=(const expected& other) noexcept(nothrow_copyable<held, E>)
    requires copy_assignable<E> && copy_assignable<held> && one_moves_without_throwing<held, E>
  {
    other.has_value_ ? assign_value(other.value_) : assign_error(other.error_);
    return *this;
  }
  constexpr expected& operator=(expected&& other) noexcept(nothrow_movable<held, E>)
    requires move_assignable<E> && move_assignable<held> && one_moves_without_throwing<held, E>
  {
    other.has_value_ ? assign_value(std::move(other.value_))
                     : assign_error(std::move(other.error_));
    return *this;
  }

  /// Assigns a value. If that throws in place of an error, the error is as it was.
  template <class U = std::remove_cv_t<T>>
    requires assigns_value<U, T, E>
  constexpr expected& operator=(U&& value) {
    assign_value(static_cast<U&&>(value));
    return *this;
  }

  /// Assigns an error. If that throws in place of a value, the value is as it was.
  template <class G>
    requires assigns_error<const G&, held, E>
  constexpr expected& operator=(const unexpected<G>& failure) {
    assign_error(failure.error());
    return *this;
  }
  template <class G>
    requires assigns_error<G, held, E>
  constexpr expected& operator=(unexpected<G>&& failure) {
    assign_error(std::move(failure).error());
    return *this;
  }

  /// Replaces the value or the error by a value built in place, and returns it.
  template <class... Args>
    requires std::is_nothrow_constructible_v<held, Args...>
  constexpr lvalue emplace(Args&&... args) noexcept {
    destroy();
    make_value(static_cast<Args&&>(args)...);
    return static_cast<lvalue>(value_);
  }
  template <class U, class... Args>
    requires std::is_nothrow_constructible_v<held, std::initializer_list<U>&, Args...>
  constexpr lvalue emplace(std::initializer_list<U> list, Args&&... args) noexcept {
    destroy();
    make_value(list, static_cast<Args&&>(args)...);
    return static_cast<lvalue>(value_);
  }

  constexpr void swap(expected& other) noexcept(nothrow_move_constructible<held, E> &&
                                                std::is_nothrow_swappable_v<held> &&
                                                std::is_nothrow_swappable_v<E>)
    requires std::is_swappable_v<held> && std::is_swappable_v<E> && move_constructible<E> &&
             move_constructible<held> && one_moves_without_throwing<held, E>
  {
    using std::swap;
    if (has_value_ && other.has_value_) {
      swap(value_, other.value_);
    } else if (!has_value_ && !other.has_value_) {
      swap(error_, other.error_);
    } else if (has_value_) {
      swap_value_with_error(other);
    } else {
      other.swap_value_with_error(*this);
    }
  }
  /// Returns whether there is a value.
  constexpr bool has_value() const noexcept { return has_value_; }
  constexpr explicit operator bool() const noexcept { return has_value_; }

  /// Returns the value, or nothing if it is void. Undefined if there is an error.
  constexpr const T* operator->() const noexcept
    requires(!std::is_void_v<T>)
  {
    return __builtin_addressof(value_);
  }
  constexpr T* operator->() noexcept
    requires(!std::is_void_v<T>)
  {
    return __builtin_addressof(value_);
  }
  constexpr const_lvalue operator*() const& noexcept { return static_cast<const_lvalue>(value_); }
  constexpr lvalue operator*() & noexcept { return static_cast<lvalue>(value_); }
  constexpr const_rvalue operator*() const&& noexcept { return static_cast<const_rvalue>(value_); }
  constexpr rvalue operator*() && noexcept { return static_cast<rvalue>(value_); }

  /// Returns the error. Undefined if there is a value.
  constexpr const E& error() const& noexcept { return error_; }
  constexpr E& error() & noexcept { return error_; }
  constexpr const E&& error() const&& noexcept { return std::move(error_); }
  constexpr E&& error() && noexcept { return std::move(error_); }

  /// Returns the value, or nothing if it is void. If there is an error, throws it in a
  /// `bad_expected_access<E>`; in a program without exceptions, prints it to stderr and ends the
  /// program.
  [[gnu::always_inline]] constexpr const_lvalue value() const& {
    if (!has_value_) bad_access<E>(error_);
    return static_cast<const_lvalue>(value_);
  }
  [[gnu::always_inline]] constexpr lvalue value() & {
    if (!has_value_) bad_access<E>(static_cast<const E&>(error_));
    return static_cast<lvalue>(value_);
  }
  [[gnu::always_inline]] constexpr const_rvalue value() const&& {
    if (!has_value_) bad_access<E>(std::move(error_));
    return static_cast<const_rvalue>(value_);
  }
  [[gnu::always_inline]] constexpr rvalue value() && {
    if (!has_value_) bad_access<E>(std::move(error_));
    return static_cast<rvalue>(value_);
  }

  /// Returns the value, or `T(otherwise)`.
  template <class U = std::remove_cv_t<T>>
    requires(!std::is_void_v<T>)
  constexpr T value_or(U&& otherwise) const& {
    return has_value_ ? value_ : static_cast<T>(static_cast<U&&>(otherwise));
  }
  template <class U = std::remove_cv_t<T>>
    requires(!std::is_void_v<T>)
  constexpr T value_or(U&& otherwise) && {
    return has_value_ ? std::move(value_) : static_cast<T>(static_cast<U&&>(otherwise));
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

  /// Passes the value to `f`, or calls it without an argument if the value is void. `f` returns an
  /// `expected` with the same error type. Keeps an error.
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

  /// Passes the error to `f`, which returns an `expected` with the same value type; keeps a value.
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

  /// Replaces the value by what `f` returns for it, or without an argument if the value is void.
  /// Keeps an error.
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

  /// Replaces the error by what `f` returns for it; keeps a value.
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

  /// Holds what `call()` returns, without moving it.
  template <class F>
  constexpr expected(value_of_call, F&& call)
      : value_(static_cast<F&&>(call)()), has_value_(true) {}
  template <class F>
  constexpr expected(error_of_call, F&& call)
      : error_(static_cast<F&&>(call)()), has_value_(false) {}

  /// Ends the lifetime of the value or the error.
  constexpr void destroy() noexcept {
    if constexpr (!(plain<E> && plain<held>)) {
      if (has_value_) {
        value_.~held();
      } else {
        error_.~E();
      }
    }
  }

  // Begin the lifetime of a value or an error in an object that holds neither. Assigning the whole
  // object does so in constant evaluation, too.
  template <class... Args> constexpr void make_value(Args&&... args) {
    if constexpr (plain<E> && plain<held>) {
      *this = expected(std::in_place, static_cast<Args&&>(args)...);
    } else {
      fallback::construct(value_, static_cast<Args&&>(args)...);
      has_value_ = true;
    }
  }
  template <class... Args> constexpr void make_error(Args&&... args) {
    if constexpr (plain<E> && plain<held>) {
      *this = expected(unexpect, static_cast<Args&&>(args)...);
    } else {
      fallback::construct(error_, static_cast<Args&&>(args)...);
      has_value_ = false;
    }
  }
  template <class Other> constexpr void copy_from(Other&& other) {
    if (!other.has_value()) {
      make_error(static_cast<Other&&>(other).error());
    } else if constexpr (std::is_void_v<T>) {
      make_value();
    } else {
      make_value(*static_cast<Other&&>(other));
    }
  }

  template <class U> constexpr void assign_value(U&& value) {
    if (has_value_) {
      value_ = static_cast<U&&>(value);
    } else if constexpr (plain<E> && plain<held>) {
      make_value(static_cast<U&&>(value));
    } else {
      fallback::replace(error_, value_, static_cast<U&&>(value));
      has_value_ = true;
    }
  }
  template <class G> constexpr void assign_error(G&& error) {
    if (!has_value_) {
      error_ = static_cast<G&&>(error);
    } else if constexpr (plain<E> && plain<held>) {
      make_error(static_cast<G&&>(error));
    } else {
      fallback::replace(value_, error_, static_cast<G&&>(error));
      has_value_ = false;
    }
  }

  /// Swaps the value of this object with the error of the other one.
  constexpr void swap_value_with_error(expected& other) {
    if constexpr (plain<E> && plain<held>) {
      const expected old = *this;
      *this = other;
      other = old;
    } else {
      if constexpr (std::is_nothrow_constructible_v<E, E>) {
        fallback::exchange(other.error_, other.value_, error_, value_);
      } else {
        fallback::exchange(value_, error_, other.value_, other.error_);
      }
      has_value_ = false;
      other.has_value_ = true;
    }
  }

  union {
    held value_;
    E error_;
  };
  bool has_value_;
};

}}}}  // namespace gpu::v1::fallback::abi
