#pragma once
/// \file
/// `unexpected`, `unexpect` and `bad_expected_access` as C++23 has them, for standard libraries
/// without a complete `std::expected`. Include gpu/core/expected.hpp, which picks.

#include <gpu/core/utility.hpp>
#include <initializer_list>
#include <new>  // std::exception, as the base of std::bad_alloc, for less than <exception> costs
#include <type_traits>

namespace gpu::fallback {
/// The tag goes into the name of every function that returns one of these types: see expected.hpp.
inline namespace abi __attribute__((abi_tag("gpu_fallback"))) {}
}  // namespace gpu::fallback

namespace gpu::fallback::inline abi {

template <class T, class E> class expected;
template <class E> class unexpected;

template <class> inline constexpr bool is_expected = false;
template <class T, class E> inline constexpr bool is_expected<expected<T, E>> = true;
template <class> inline constexpr bool is_unexpected = false;
template <class E> inline constexpr bool is_unexpected<unexpected<E>> = true;

// The compiler's own traits, and two that it lacks. Those of <type_traits> instantiate several
// classes each, for every type that an `expected` is made with; these cost a fraction.

template <class T, class U>
concept same = __is_same(T, U);
template <class T>
concept is_void = same<const volatile T, const volatile void>;
template <class T>
concept is_object = std::is_const_v<const T> && !is_void<T>;  // no reference or function is const
template <class T, class... Args>
concept constructible = __is_constructible(T, Args...);
template <class T, class... Args>
concept nothrow_constructible = __is_nothrow_constructible(T, Args...);
template <class T, class From>
concept assignable = __is_assignable(T, From);
template <class From, class To>
concept convertible = requires(void (*take)(To), From && (*give)()) { take(give()); };

/// What an `unexpected` or an `expected` may hold as its error.
template <class E>
inline constexpr bool is_error_type = is_object<E> && !std::is_array_v<E> && !std::is_const_v<E> &&
                                      !std::is_volatile_v<E> && !is_unexpected<E>;

/// What `unexpected<E>` makes its error from.
template <class G, class E>
concept error_source = !same<std::remove_cvref_t<G>, unexpected<E>> &&
                       !same<std::remove_cvref_t<G>, std::in_place_t> && constructible<E, G>;

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
      : error_(std::forward<G>(error)) {}

  /// Builds the error in place.
  template <class... Args>
    requires constructible<E, Args...>
  constexpr explicit unexpected(std::in_place_t,
                                Args&&... args) noexcept(nothrow_constructible<E, Args...>)
      : error_(std::forward<Args>(args)...) {}
  template <class U, class... Args>
    requires list_constructible<E, U, Args...>
  constexpr explicit unexpected(std::in_place_t, std::initializer_list<U> list, Args&&... args)
      : error_(list, std::forward<Args>(args)...) {}

  constexpr unexpected& operator=(const unexpected&) = default;
  constexpr unexpected& operator=(unexpected&&) = default;

  /// The error, with the value category of the object.
  constexpr const E& error() const& noexcept { return error_; }
  constexpr E& error() & noexcept { return error_; }
  constexpr const E&& error() const&& noexcept { return std::move(error_); }
  constexpr E&& error() && noexcept { return std::move(error_); }

  constexpr void swap(unexpected& other) noexcept(std::is_nothrow_swappable_v<E>) {
    static_assert(std::is_swappable_v<E>, "the error type cannot be swapped");
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
  explicit bad_expected_access(E error) : error_(std::move(error)) {}

  E& error() & noexcept { return error_; }
  const E& error() const& noexcept { return error_; }
  E&& error() && noexcept { return std::move(error_); }
  const E&& error() const&& noexcept { return std::move(error_); }

 private:
  E error_;
};

}  // namespace gpu::fallback::inline abi
