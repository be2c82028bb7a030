#pragma once
/// \file
/// `unexpected`, `unexpect` and `bad_expected_access` as C++23 has them, for standard libraries
/// without a complete `std::expected`. Include gpu/core/expected.hpp, which picks.

#include <gpu/core/detail/traits.hpp>

#include <initializer_list>
#include <new>  // std::exception, as the base of std::bad_alloc, for less than <exception> costs

// `std::in_place_t` is part of the interface, and <utility> costs two thirds of what cuda.h does.
// libstdc++ keeps it where its versioned namespace would be; no other library says where.
#if defined(__GLIBCXX__)
namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION
struct in_place_t;
_GLIBCXX_END_NAMESPACE_VERSION
}  // namespace std
#else
#  include <utility>
#endif

namespace gpu::inline v0::fallback {
/// The tag goes into the name of every function that returns one of these types: see expected.hpp.
inline namespace abi __attribute__((abi_tag("gpu_fallback"))) {}
}  // namespace gpu::inline v0::fallback

namespace gpu::inline v0::fallback::inline abi {

template <class T, class E> class expected;
template <class E> class unexpected;

template <class> inline constexpr bool is_expected = false;
template <class T, class E> inline constexpr bool is_expected<expected<T, E>> = true;
template <class> inline constexpr bool is_unexpected = false;
template <class E> inline constexpr bool is_unexpected<unexpected<E>> = true;

using detail::assignable;
using detail::constructible;
using detail::convertible;
using detail::is_array;
using detail::is_const;
using detail::is_object;
using detail::is_void;
using detail::is_volatile;
using detail::nothrow_constructible;
using detail::remove_cv_t;
using detail::remove_cvref_t;
using detail::same;

/// As `std::swap`, which may not be there, for types without a `swap` of their own. Two parameters,
/// so that where there is another `swap`, also the standard's, it is the better match.
namespace swapping {

template <class T, class U>
  requires same<T, U> && constructible<T, T> && assignable<T&, T>
constexpr void swap(T& a,
                    U& b) noexcept(nothrow_constructible<T, T> && __is_nothrow_assignable(T&, T)) {
  T old(detail::move(a));
  a = detail::move(b);
  b = detail::move(old);
}

template <class T>
concept swappable = requires(T& a, T& b) { swap(a, b); };
template <class T>
concept nothrow_swappable = swappable<T> && requires(T& a, T& b) {
  { swap(a, b) } noexcept;
};
template <class T> constexpr void swap_values(T& a, T& b) noexcept(nothrow_swappable<T>) {
  swap(a, b);
}

}  // namespace swapping

/// What an `unexpected` or an `expected` may hold as its error.
template <class E>
inline constexpr bool is_error_type =
    is_object<E> && !is_array<E> && !is_const<E> && !is_volatile<E> && !is_unexpected<E>;

/// What `unexpected<E>` makes its error from.
template <class G, class E>
concept error_source = !same<remove_cvref_t<G>, unexpected<E>> &&
                       !same<remove_cvref_t<G>, std::in_place_t> && constructible<E, G>;

template <class U> using list_reference = std::initializer_list<U>&;
template <class T, class U, class... Args>
concept list_constructible = constructible<T, list_reference<U>, Args...>;

/// Selects the constructor of `expected` that builds the error in place.
struct unexpect_t {
  explicit unexpect_t() = default;
};
inline constexpr unexpect_t unexpect{};

/// An error on its way into an `expected`.
template <class E> class unexpected {
  static_assert(is_error_type<E>,
                "the error is an object type: no reference, array, const or "
                "volatile type, and no unexpected");

 public:
  constexpr unexpected(const unexpected&) = default;
  constexpr unexpected(unexpected&&) = default;

  /// Holds `E(error)`.
  template <class G = E>
    requires error_source<G, E>
  constexpr explicit unexpected(G&& error) noexcept(nothrow_constructible<E, G>)
      : error_(static_cast<G&&>(error)) {}

  /// Builds the error in place.
  template <class... Args>
    requires constructible<E, Args...>
  constexpr explicit unexpected(const std::in_place_t&,
                                Args&&... args) noexcept(nothrow_constructible<E, Args...>)
      : error_(static_cast<Args&&>(args)...) {}
  template <class U, class... Args>
    requires list_constructible<E, U, Args...>
  constexpr explicit unexpected(const std::in_place_t&, std::initializer_list<U> list,
                                Args&&... args)
      : error_(list, static_cast<Args&&>(args)...) {}

  constexpr unexpected& operator=(const unexpected&) = default;
  constexpr unexpected& operator=(unexpected&&) = default;

  /// The error, with the value category of the object.
  constexpr const E& error() const& noexcept { return error_; }
  constexpr E& error() & noexcept { return error_; }
  constexpr const E&& error() const&& noexcept { return detail::move(error_); }
  constexpr E&& error() && noexcept { return detail::move(error_); }

  constexpr void swap(unexpected& other) noexcept(swapping::nothrow_swappable<E>) {
    static_assert(swapping::swappable<E>, "the error type cannot be swapped");
    swapping::swap_values(error_, other.error_);
  }
  friend constexpr void swap(unexpected& a, unexpected& b) noexcept(noexcept(a.swap(b)))
    requires swapping::swappable<E>
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

/// What every `bad_expected_access` is, whatever the type of its error.
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

/// Thrown by `expected::value()` where there is no value; carries the error.
template <class E> class bad_expected_access : public bad_expected_access<void> {
 public:
  explicit bad_expected_access(E error) : error_(detail::move(error)) {}

  E& error() & noexcept { return error_; }
  const E& error() const& noexcept { return error_; }
  E&& error() && noexcept { return detail::move(error_); }
  const E&& error() const&& noexcept { return detail::move(error_); }

 private:
  E error_;
};

}  // namespace gpu::inline v0::fallback::inline abi
