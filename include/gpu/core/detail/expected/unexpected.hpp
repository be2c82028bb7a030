#pragma once
/// \file
/// `unexpected`, `unexpect` and `bad_expected_access` as in C++23, for standard libraries without a
/// complete `std::expected`. Include gpu/core/expected.hpp, which selects.

#include <concepts>
#include <exception>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 { namespace fallback {
/// The tag becomes part of the name of every function that returns one of these types: see
/// expected.hpp.
inline namespace abi __attribute__((abi_tag("gpu_fallback"))) {
}
}}}  // namespace gpu::v1::fallback

namespace gpu { inline namespace v1 { namespace fallback { inline namespace abi {

template <class T, class E> class expected;
template <class E> class unexpected;

template <class> inline constexpr bool is_expected = false;
template <class T, class E> inline constexpr bool is_expected<expected<T, E>> = true;
template <class> inline constexpr bool is_unexpected = false;
template <class E> inline constexpr bool is_unexpected<unexpected<E>> = true;

/// The types that an `unexpected` or an `expected` can hold as its error.
template <class E>
inline constexpr bool is_error_type =
    std::is_object_v<E> && !std::is_array_v<E> && !std::is_const_v<E> && !std::is_volatile_v<E> &&
    !is_unexpected<E>;

/// Selects the constructor of `expected` that builds the error in place.
struct unexpect_t {
  explicit unexpect_t() = default;
};
inline constexpr unexpect_t unexpect{};

/// An error that is about to be stored in an `expected`.
template <class E> class unexpected {
  static_assert(is_error_type<E>,
                "the error must be an object type: not a reference, an array, a const or volatile "
                "type, or an unexpected");

 public:
  /// Holds `E(error)`.
  template <class G = E>
    requires(!std::same_as<std::remove_cvref_t<G>, unexpected> &&
             !std::same_as<std::remove_cvref_t<G>, std::in_place_t> &&
             std::is_constructible_v<E, G>)
  constexpr explicit unexpected(G&& error) noexcept(std::is_nothrow_constructible_v<E, G>)
      : error_(static_cast<G&&>(error)) {}

  /// Builds the error in place.
  template <class... Args>
    requires std::is_constructible_v<E, Args...>
  constexpr explicit unexpected(std::in_place_t, Args&&... args) noexcept(
      std::is_nothrow_constructible_v<E, Args...>)
      : error_(static_cast<Args&&>(args)...) {}
  template <class U, class... Args>
    requires std::is_constructible_v<E, std::initializer_list<U>&, Args...>
  constexpr explicit unexpected(std::in_place_t, std::initializer_list<U> list, Args&&... args)
      : error_(list, static_cast<Args&&>(args)...) {}

  /// Returns the error, with the value category of the object.
  constexpr const E& error() const& noexcept { return error_; }
  constexpr E& error() & noexcept { return error_; }
  constexpr const E&& error() const&& noexcept { return std::move(error_); }
  constexpr E&& error() && noexcept { return std::move(error_); }

  constexpr void swap(unexpected& other) noexcept(std::is_nothrow_swappable_v<E>) {
    using std::swap;
    swap(error_, other.error_);
  }
  friend constexpr void swap(unexpected& a, unexpected& b) noexcept(noexcept(a.swap(b)))
    requires std::is_swappable_v<E>
  {
    a.swap(b);
  }

  template <class G> friend constexpr bool operator==(const unexpected& a, const unexpected<G>& b) {
    return a.error() == b.error();
  }

 private:
  E error_;
};

template <class E> unexpected(E) -> unexpected<E>;

template <class E> class bad_expected_access;

/// The base of every `bad_expected_access`, whatever the type of its error.
template <> class bad_expected_access<void> : public std::exception {
 public:
  const char* what() const noexcept override {
    return "gpu::expected::value(): the object holds an error";
  }

 protected:
  bad_expected_access() = default;
  bad_expected_access(const bad_expected_access&) = default;
  bad_expected_access(bad_expected_access&&) = default;
  bad_expected_access& operator=(const bad_expected_access&) = default;
  bad_expected_access& operator=(bad_expected_access&&) = default;
  ~bad_expected_access() override = default;
};

/// Thrown by `expected::value()` if there is no value; holds the error.
template <class E> class bad_expected_access : public bad_expected_access<void> {
 public:
  explicit bad_expected_access(E error) : error_(std::move(error)) {}

  E& error() & noexcept { return error_; }
  const E& error() const& noexcept { return error_; }
  E&& error() && noexcept { return std::move(error_); }
  const E&& error() const&& noexcept { return std::move(error_); }

 private:
  E error_;
};

}}}}  // namespace gpu::v1::fallback::abi
