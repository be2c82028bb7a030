#pragma once
/// \file
/// `kernel_argument`: how a type is passed to a kernel. The launch does not depend on the types
/// that refer to device memory, nor they on the launch; both use this trait.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/text.hpp>

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
    detail::is_object<P> && !detail::is_array<P> && detail::trivially_copyable<P> &&
    detail::trivially_destructible<P> && detail::same<P, detail::remove_cv_t<P>>;

namespace detail {

template <class A> using kernel_argument_of = kernel_argument<remove_cvref_t<A>>;

/// Satisfied if `A` (with the reference of the argument) refers to device memory.
template <class A>
concept has_kernel_pointer = requires(A&& argument) {
  requires is_pointer<decltype(kernel_argument_of<A>::pointer(static_cast<A&&>(argument)))>;
};

template <class A>
concept has_kernel_value = requires(A&& argument) {
  requires kernel_parameter<
      remove_cvref_t<decltype(kernel_argument_of<A>::value(static_cast<A&&>(argument)))>>;
};

/// Satisfied if the context that the memory belongs to is known.
template <class A>
concept has_kernel_context =
    requires(const A& argument) { kernel_argument_of<A>::context(argument).native(); };

/// Satisfied if some values of `A` may not be passed.
template <class A>
concept has_kernel_refusal = requires(const A& argument) {
  { kernel_argument_of<A>::refusal(argument) } -> same<text>;
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
concept kernel_convertible = convertible<From, To>;

/// Returns whether an arithmetic conversion can lose bits of an integer, or the fraction of a
/// number: from floating point to an integer, or to an integer with fewer bits. An integer passes
/// for one of the same size, whose sign may be another, and for floating point, as in any C++ call.
template <class From, class To> constexpr bool conversion_mangles() noexcept {
  if constexpr (same<From, To>) {
    return false;
  } else if constexpr (is_floating_point<From>) {
    return is_integral<To>;
  } else if constexpr (is_integral<From> && is_integral<To>) {
    return same<To, bool> || sizeof(From) > sizeof(To);
  } else {
    return is_pointer<From> && same<To, bool>;
  }
}

template <class A, class P> constexpr bool passes_as() noexcept {
  if constexpr (is_pointer<P> && has_kernel_pointer<A>) {
    return kernel_convertible<decltype(kernel_argument_of<A>::pointer(declval<A>())), P>;
  } else if constexpr (has_kernel_value<A>) {
    using value = decltype(kernel_argument_of<A>::value(declval<A>()));
    return kernel_convertible<value, P> && !conversion_mangles<remove_cvref_t<value>, P>();
  } else {
    return is_null_pointer<remove_cvref_t<A>> && is_pointer<P>;
  }
}

/// The type of a parameter with const elements: `const T*` for `T*`.
template <class P> struct with_const_elements : type_identity<P> {};
template <class T> struct with_const_elements<T*> : type_identity<const T*> {};
template <template <class, auto> class View, class T, auto Extent>
struct with_const_elements<View<T, Extent>> : type_identity<View<const T, Extent>> {};

/// Returns whether an argument of type `A` does not pass for `P` because its elements are const.
template <class A, class P> constexpr bool lacks_only_const() noexcept {
  using read = typename with_const_elements<P>::type;
  if constexpr (same<P, read> || passes_as<A, P>())
    return false;
  else
    return passes_as<A, read>();
}

/// Returns whether an argument of type `A` is an integer with more bits than the integer `P`.
template <class A, class P> constexpr bool has_more_bits() noexcept {
  using value = remove_cvref_t<A>;
  if constexpr (is_integral<value> && is_integral<P>)
    return same<P, bool> ? !same<value, bool> : sizeof(value) > sizeof(P);
  return false;
}

/// Returns the value that a parameter `P` receives for `argument`.
template <class P, class A> constexpr P pass_as(A&& argument) noexcept {
  if constexpr (is_pointer<P> && has_kernel_pointer<A>) {
    return kernel_argument_of<A>::pointer(static_cast<A&&>(argument));
  } else if constexpr (is_arithmetic<P>) {
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
