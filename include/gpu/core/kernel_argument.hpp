#pragma once
/// \file
/// `kernel_argument`: how a type is passed to a kernel. The launch does not depend on the types
/// that refer to device memory, nor they on the launch; both use this trait.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/text.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// Defines what a kernel's parameter receives for an argument of type `A`. The primary template is
/// for values: the parameter receives a copy. A type that refers to device memory specializes it:
///
///     template <> struct gpu::kernel_argument<my_array> {
///       // for parameters such as `float*`, `const float*` and `void*`
///       static float* pointer(const my_array& a) noexcept { return a.device_data(); }
///       // for parameters of class type; optional
///       static gpu::device_span<float> value(const my_array& a) noexcept { return a.span(); }
///       // a temporary owner would free the memory before the kernel reads it
///       static float* pointer(const my_array&&) = delete;
///       static gpu::device_span<float> value(const my_array&&) = delete;
///       // optional: the context that the memory belongs to, empty after a move
///       static gpu::context_ref context(const my_array& a) noexcept { return a.context(); }
///       // optional, of a type without memory: why a kernel may not have it, as a sentence; or
///       empty static gpu::text refusal(const my_array& a) noexcept { return {}; }
///     };
///
/// The functions must be cheap and must not fail; every launch calls them. With `context`, the
/// launch rejects arguments that were moved from and memory that the kernel's device cannot access.
/// With `refusal`, it rejects those for which there is a sentence.
/// `static constexpr bool any_context = true;` declares that every device can access it.
template <class A> struct kernel_argument {
  static constexpr const A& value(const A& argument) noexcept { return argument; }
};

/// A type that a kernel can take as a parameter: its bytes are copied to the device as they are.
template <class P>
concept kernel_parameter =
    std::is_object_v<P> && !std::is_array_v<P> && std::is_trivially_copyable_v<P> &&
    std::is_trivially_destructible_v<P> && std::same_as<P, std::remove_cv_t<P>>;

namespace detail {

template <class A> using kernel_argument_of = kernel_argument<std::remove_cvref_t<A>>;

/// Satisfied if `A` (with the reference of the argument) refers to device memory.
template <class A>
concept has_kernel_pointer = requires(A&& argument) {
  requires std::is_pointer_v<decltype(kernel_argument_of<A>::pointer(static_cast<A&&>(argument)))>;
};

template <class A>
concept has_kernel_value = requires(A&& argument) {
  requires kernel_parameter<
      std::remove_cvref_t<decltype(kernel_argument_of<A>::value(static_cast<A&&>(argument)))>>;
};

/// Satisfied if the context that the memory belongs to is known.
template <class A>
concept has_kernel_context =
    requires(const A& argument) { kernel_argument_of<A>::context(argument).native(); };

/// Satisfied if some values of `A` may not be passed.
template <class A>
concept has_kernel_refusal = requires(const A& argument) {
  { kernel_argument_of<A>::refusal(argument) } -> std::same_as<text>;
};

/// Tells why a kernel may not have an argument, which must still live when it is asked.
class argument_refusal {
 public:
  argument_refusal() noexcept = default;
  template <class A> explicit argument_refusal([[maybe_unused]] const A& argument) noexcept {
    if constexpr (has_kernel_refusal<A>) {
      argument_ = __builtin_addressof(argument);
      reason_ = [](const void* given) noexcept {
        return kernel_argument_of<A>::refusal(*static_cast<const A*>(given));
      };
    }
  }

  /// Returns whether the argument is of a type that has values which kernels may not have.
  explicit operator bool() const noexcept { return reason_ != nullptr; }
  /// Returns the reason; empty if a kernel may have the argument.
  text reason() const noexcept { return reason_ == nullptr ? text() : reason_(argument_); }

 private:
  const void* argument_ = nullptr;
  text (*reason_)(const void*) noexcept = nullptr;
};

template <class A>
concept reached_from_any_context = requires { requires kernel_argument_of<A>::any_context; };

template <class From, class To>
concept kernel_convertible = std::is_convertible_v<From, To>;

/// Returns whether an arithmetic conversion can lose bits of an integer, or the fraction of a
/// number: from floating point to an integer, or to an integer with fewer bits. An integer passes
/// for one of the same size, whose sign may be another, and for floating point, as in any C++ call.
template <class From, class To> constexpr bool conversion_mangles() noexcept {
  if constexpr (std::same_as<From, To>) {
    return false;
  } else if constexpr (detail::standard_float<From>) {
    return detail::word_integer<To>;
  } else if constexpr (detail::word_integer<From> && detail::word_integer<To>) {
    return std::same_as<To, bool> || sizeof(From) > sizeof(To);
  } else {
    return std::is_pointer_v<From> && std::same_as<To, bool>;
  }
}

template <class A, class P> constexpr bool passes_as() noexcept {
  if constexpr (std::is_pointer_v<P> && has_kernel_pointer<A>) {
    return kernel_convertible<decltype(kernel_argument_of<A>::pointer(std::declval<A>())), P>;
  } else if constexpr (has_kernel_value<A>) {
    using value = decltype(kernel_argument_of<A>::value(std::declval<A>()));
    return kernel_convertible<value, P> && !conversion_mangles<std::remove_cvref_t<value>, P>();
  } else {
    return std::is_null_pointer_v<std::remove_cvref_t<A>> && std::is_pointer_v<P>;
  }
}

/// The type of a parameter with const elements: `const T*` for `T*`.
template <class P> struct with_const_elements : std::type_identity<P> {};
template <class T> struct with_const_elements<T*> : std::type_identity<const T*> {};
template <template <class, auto> class View, class T, auto Extent>
struct with_const_elements<View<T, Extent>> : std::type_identity<View<const T, Extent>> {};

/// Returns whether an argument of type `A` does not pass for `P` because its elements are const.
template <class A, class P> constexpr bool lacks_only_const() noexcept {
  using read = typename with_const_elements<P>::type;
  if constexpr (std::same_as<P, read> || passes_as<A, P>())
    return false;
  else
    return passes_as<A, read>();
}

/// Returns whether an argument of type `A` is an integer with more bits than the integer `P`.
template <class A, class P> constexpr bool has_more_bits() noexcept {
  using value = std::remove_cvref_t<A>;
  if constexpr (detail::word_integer<value> && detail::word_integer<P>)
    return std::same_as<P, bool> ? !std::same_as<value, bool> : sizeof(value) > sizeof(P);
  return false;
}

/// Returns the value that a parameter `P` receives for `argument`.
template <class P, class A> constexpr P pass_as(A&& argument) noexcept {
  if constexpr (std::is_pointer_v<P> && has_kernel_pointer<A>) {
    return kernel_argument_of<A>::pointer(static_cast<A&&>(argument));
  } else if constexpr (detail::plain_number<P>) {
    return static_cast<P>(kernel_argument_of<A>::value(static_cast<A&&>(argument)));
  } else {
    return kernel_argument_of<A>::value(static_cast<A&&>(argument));
  }
}

}  // namespace detail

/// Satisfied if an argument of type `A` can be passed for a parameter of type `P`: it refers to
/// device memory of the right type, or it converts without changing the number.
template <class A, class P>
concept kernel_argument_for = kernel_parameter<P> && detail::passes_as<A, P>();

}}  // namespace gpu::v1
