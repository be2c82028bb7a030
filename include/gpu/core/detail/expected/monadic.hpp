#pragma once
/// \file
/// `and_then`, `or_else`, `transform` and `transform_error` of the stand-in for `std::expected`,
/// once for both of its forms.

#include <gpu/core/detail/expected/storage.hpp>

namespace gpu::inline v0::fallback::inline abi {

/// `std::invoke` with one argument, without what <functional> costs.
template <class F, class A> constexpr decltype(auto) invoke_with(F&& f, A&& a) {
  if constexpr (!detail::is_member_pointer<remove_cvref_t<F>>) {
    return static_cast<F&&>(f)(static_cast<A&&>(a));
  } else if constexpr (detail::is_member_function_pointer<remove_cvref_t<F>>) {
    if constexpr (requires { (static_cast<A&&>(a).*f)(); }) {
      return (static_cast<A&&>(a).*f)();
    } else if constexpr (requires { (a.get().*f)(); }) {
      return (a.get().*f)();  // std::reference_wrapper
    } else {
      return ((*static_cast<A&&>(a)).*f)();
    }
  } else {
    if constexpr (requires { static_cast<A&&>(a).*f; }) {
      return (static_cast<A&&>(a).*f);
    } else if constexpr (requires { a.get().*f; }) {
      return (a.get().*f);
    } else {
      return ((*static_cast<A&&>(a)).*f);
    }
  }
}

/// Calls `f` with the value of `self`, or with nothing where the value is void.
template <class Self, class F> constexpr decltype(auto) invoke_with_value(Self&& self, F&& f) {
  if constexpr (is_void<typename remove_cvref_t<Self>::value_type>) {
    return static_cast<F&&>(f)();
  } else {
    return invoke_with(static_cast<F&&>(f), *static_cast<Self&&>(self));
  }
}

/// Makes an `expected` whose value or error is what a call returns, without moving it.
struct result_of_call {
  template <class Expected, class Which, class F>
  static constexpr Expected as(Which which, F&& call) {
    return Expected(which, static_cast<F&&>(call));
  }
};

template <class Self, class F> constexpr auto apply_and_then(Self&& self, F&& f) {
  using result =
      remove_cvref_t<decltype(invoke_with_value(static_cast<Self&&>(self), static_cast<F&&>(f)))>;
  using error_type = typename remove_cvref_t<Self>::error_type;
  static_assert(is_expected<result>, "and_then: the function returns an expected");
  static_assert(same<typename result::error_type, error_type>,
                "and_then: the function returns an expected with the same error type");
  if (self.has_value()) {
    return result(invoke_with_value(static_cast<Self&&>(self), static_cast<F&&>(f)));
  }
  return result(unexpect, static_cast<Self&&>(self).error());
}

template <class Self, class F> constexpr auto apply_or_else(Self&& self, F&& f) {
  using result =
      remove_cvref_t<decltype(invoke_with(static_cast<F&&>(f), static_cast<Self&&>(self).error()))>;
  using value_type = typename remove_cvref_t<Self>::value_type;
  static_assert(is_expected<result>, "or_else: the function returns an expected");
  static_assert(same<typename result::value_type, value_type>,
                "or_else: the function returns an expected with the same value type");
  if (!self.has_value()) {
    return result(invoke_with(static_cast<F&&>(f), static_cast<Self&&>(self).error()));
  }
  if constexpr (is_void<value_type>) {
    return result();
  } else {
    return result_of_call::as<result>(
        value_of_t{}, [&]() -> decltype(auto) { return *static_cast<Self&&>(self); });
  }
}

template <class Self, class F> constexpr auto apply_transform(Self&& self, F&& f) {
  using value =
      remove_cv_t<decltype(invoke_with_value(static_cast<Self&&>(self), static_cast<F&&>(f)))>;
  using result = expected<value, typename remove_cvref_t<Self>::error_type>;
  if (!self.has_value()) return result(unexpect, static_cast<Self&&>(self).error());
  if constexpr (is_void<value>) {
    invoke_with_value(static_cast<Self&&>(self), static_cast<F&&>(f));
    return result();
  } else {
    return result_of_call::as<result>(value_of_t{}, [&]() -> decltype(auto) {
      return invoke_with_value(static_cast<Self&&>(self), static_cast<F&&>(f));
    });
  }
}

template <class Self, class F> constexpr auto apply_transform_error(Self&& self, F&& f) {
  using error =
      remove_cv_t<decltype(invoke_with(static_cast<F&&>(f), static_cast<Self&&>(self).error()))>;
  using value_type = typename remove_cvref_t<Self>::value_type;
  using result = expected<value_type, error>;
  static_assert(is_error_type<error>, "transform_error: the function returns an error object");
  if (!self.has_value()) {
    return result_of_call::as<result>(error_of_t{}, [&]() -> decltype(auto) {
      return invoke_with(static_cast<F&&>(f), static_cast<Self&&>(self).error());
    });
  }
  if constexpr (is_void<value_type>) {
    return result();
  } else {
    return result_of_call::as<result>(
        value_of_t{}, [&]() -> decltype(auto) { return *static_cast<Self&&>(self); });
  }
}

// Whether the untouched value can move on into the result. Concepts, so that no `void&` is named.
template <class T>
concept lvalue_moves_on = is_void<T> || constructible<T, T&>;
template <class T>
concept const_lvalue_moves_on = is_void<T> || constructible<T, const T&>;

/// The monadic operations as members of `Self`, an `expected<T, E>`, which derives from this.
template <class Self, class T, class E> class monadic {
 public:
  /// The value goes to `f`, which returns an `expected` with the same error type; an error stays.
  template <class F>
  constexpr auto and_then(F&& f) &
    requires constructible<E, E&>
  {
    return apply_and_then(self(), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto and_then(F&& f) const&
    requires constructible<E, const E&>
  {
    return apply_and_then(self(), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto and_then(F&& f) &&
    requires constructible<E, E>
  {
    return apply_and_then(detail::move(self()), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto and_then(F&& f) const&&
    requires constructible<E, const E>
  {
    return apply_and_then(detail::move(self()), static_cast<F&&>(f));
  }

  /// The error goes to `f`, which returns an `expected` with the same value type; a value stays.
  template <class F>
  constexpr auto or_else(F&& f) &
    requires lvalue_moves_on<T>
  {
    return apply_or_else(self(), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto or_else(F&& f) const&
    requires const_lvalue_moves_on<T>
  {
    return apply_or_else(self(), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto or_else(F&& f) &&
    requires is_void<T> || constructible<T, T>
  {
    return apply_or_else(detail::move(self()), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto or_else(F&& f) const&&
    requires is_void<T> || constructible<T, const T>
  {
    return apply_or_else(detail::move(self()), static_cast<F&&>(f));
  }

  /// The value becomes what `f` returns; an error stays.
  template <class F>
  constexpr auto transform(F&& f) &
    requires constructible<E, E&>
  {
    return apply_transform(self(), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto transform(F&& f) const&
    requires constructible<E, const E&>
  {
    return apply_transform(self(), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto transform(F&& f) &&
    requires constructible<E, E>
  {
    return apply_transform(detail::move(self()), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto transform(F&& f) const&&
    requires constructible<E, const E>
  {
    return apply_transform(detail::move(self()), static_cast<F&&>(f));
  }

  /// The error becomes what `f` returns; a value stays.
  template <class F>
  constexpr auto transform_error(F&& f) &
    requires lvalue_moves_on<T>
  {
    return apply_transform_error(self(), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto transform_error(F&& f) const&
    requires const_lvalue_moves_on<T>
  {
    return apply_transform_error(self(), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto transform_error(F&& f) &&
    requires is_void<T> || constructible<T, T>
  {
    return apply_transform_error(detail::move(self()), static_cast<F&&>(f));
  }
  template <class F>
  constexpr auto transform_error(F&& f) const&&
    requires is_void<T> || constructible<T, const T>
  {
    return apply_transform_error(detail::move(self()), static_cast<F&&>(f));
  }

 private:
  constexpr Self& self() noexcept { return static_cast<Self&>(*this); }
  constexpr const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace gpu::inline v0::fallback::inline abi
