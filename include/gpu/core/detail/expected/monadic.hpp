#pragma once
/// \file
/// `and_then`, `or_else`, `transform` and `transform_error` of the stand-in for `std::expected`.

#include <gpu/core/detail/expected/unexpected.hpp>

#include <concepts>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace fallback { inline namespace abi {

struct value_of_call {};  ///< Selects the constructor that stores the value that a call returns.
struct error_of_call {};  ///< Selects the constructor that stores the error that a call returns.

struct monadic {
  template <class Self, class F> static constexpr auto and_then(Self&& self, F&& f) {
    using result =
        std::remove_cvref_t<decltype(call(static_cast<F&&>(f), static_cast<Self&&>(self)))>;
    static_assert(is_expected<result>, "and_then: the function must return an expected");
    static_assert(
        std::same_as<typename result::error_type, typename std::remove_cvref_t<Self>::error_type>,
        "and_then: the function must return an expected with the same error type");
    if (!self.has_value()) return result(unexpect, static_cast<Self&&>(self).error());
    return result(call(static_cast<F&&>(f), static_cast<Self&&>(self)));
  }

  template <class Self, class F> static constexpr auto or_else(Self&& self, F&& f) {
    using result = std::remove_cvref_t<decltype(invoke(static_cast<F&&>(f),
                                                       static_cast<Self&&>(self).error()))>;
    static_assert(is_expected<result>, "or_else: the function must return an expected");
    static_assert(
        std::same_as<typename result::value_type, typename std::remove_cvref_t<Self>::value_type>,
        "or_else: the function must return an expected with the same value type");
    if (self.has_value()) return keep_value<result>(static_cast<Self&&>(self));
    return result(invoke(static_cast<F&&>(f), static_cast<Self&&>(self).error()));
  }

  template <class Self, class F> static constexpr auto transform(Self&& self, F&& f) {
    using value = std::remove_cv_t<decltype(call(static_cast<F&&>(f), static_cast<Self&&>(self)))>;
    using result = expected<value, typename std::remove_cvref_t<Self>::error_type>;
    if (!self.has_value()) return result(unexpect, static_cast<Self&&>(self).error());
    if constexpr (std::is_void_v<value>) {
      call(static_cast<F&&>(f), static_cast<Self&&>(self));
      return result();
    } else {
      return result(value_of_call{}, [&]() -> decltype(auto) {
        return call(static_cast<F&&>(f), static_cast<Self&&>(self));
      });
    }
  }

  template <class Self, class F> static constexpr auto transform_error(Self&& self, F&& f) {
    using error =
        std::remove_cv_t<decltype(invoke(static_cast<F&&>(f), static_cast<Self&&>(self).error()))>;
    using result = expected<typename std::remove_cvref_t<Self>::value_type, error>;
    if (self.has_value()) return keep_value<result>(static_cast<Self&&>(self));
    return result(error_of_call{}, [&]() -> decltype(auto) {
      return invoke(static_cast<F&&>(f), static_cast<Self&&>(self).error());
    });
  }

 private:
  /// As `std::invoke` with one argument; `<functional>` costs many times what cuda.h does.
  template <class F, class A> static constexpr decltype(auto) invoke(F&& f, A&& a) {
    if constexpr (requires { static_cast<F&&>(f)(static_cast<A&&>(a)); }) {
      return static_cast<F&&>(f)(static_cast<A&&>(a));
    } else {  // a pointer to a member
      return member(static_cast<A&&>(a), f);
    }
  }
  template <class A, class M, class C>
  static constexpr decltype(auto) member(A&& a, M C::* pointer) {
    if constexpr (requires { (static_cast<A&&>(a).*pointer)(); }) {
      return (static_cast<A&&>(a).*pointer)();
    } else if constexpr (requires { static_cast<A&&>(a).*pointer; }) {
      return (static_cast<A&&>(a).*pointer);
    } else if constexpr (requires { a.get(); }) {
      return member(a.get(), pointer);  // a std::reference_wrapper
    } else {
      return member(*static_cast<A&&>(a), pointer);
    }
  }

  /// Calls `f` with the value of `self`, or without an argument if the value is void.
  template <class F, class Self> static constexpr decltype(auto) call(F&& f, Self&& self) {
    if constexpr (std::is_void_v<typename std::remove_cvref_t<Self>::value_type>) {
      return static_cast<F&&>(f)();
    } else {
      return invoke(static_cast<F&&>(f), *static_cast<Self&&>(self));
    }
  }

  template <class Result, class Self> static constexpr Result keep_value(Self&& self) {
    if constexpr (std::is_void_v<typename Result::value_type>) {
      return Result();
    } else {
      return Result(value_of_call{},
                    [&]() -> decltype(auto) { return *static_cast<Self&&>(self); });
    }
  }
};

}}}}  // namespace gpu::v1::fallback::abi
