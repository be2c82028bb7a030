#pragma once
/// \file
/// `bound_argument`: converts an argument of a call to a parameter of a generated kernel.

#include <gpu/algorithm/detail/loop_call.hpp>

namespace gpu::inline v1::detail {

/// An argument on its way to the parameter `P` of a generated kernel.
template <class P> struct bound_argument {
  P value;
  text refused;  ///< why, if the argument is refused

  template <class A>
  explicit bound_argument(A&& a) noexcept
      : value{pass_as<P>(static_cast<A&&>(a))}, refused{refusal_of(a)} {
    static_assert(
        kernel_argument_for<A, P>,
        "this argument does not fit the parameter of the generated kernel: it has another "
        "type, or the conversion could change its value (cast it if that is intended)");
  }
  loop_argument get() noexcept { return {nullptr, &value, nullptr, nullptr, &refused}; }
};
template <class T> struct bound_argument<T*> {
  loop_operand operand;

  explicit bound_argument(const loop_operand& described) noexcept : operand{described} {}
  // In parentheses, so that the operand, of 200 bytes, is made in its place and not copied.
  template <class A>
  explicit bound_argument(A&& a) noexcept : operand(operand_of(static_cast<A&&>(a))) {}
  loop_argument get() noexcept { return {&operand, nullptr}; }

 private:
  template <class A> static loop_operand operand_of(A&& a) noexcept {
    static_assert(
        device_range<A> || is_array_view<remove_cvref_t<A>>,
        "a pointer parameter of a generated kernel takes device memory or a view of it: a "
        "device_buffer, a device_span, an array_view; not host memory, and not a "
        "temporary buffer, because its memory is gone before the kernel runs");
    if constexpr (device_range<A> || is_array_view<remove_cvref_t<A>>) {
      using element = typename elements_of_argument<remove_reference_t<A>>::type;
      static_assert(same<remove_cv_t<element>, remove_cv_t<T>>,
                    "the argument's elements have another type than the parameter of the generated "
                    "kernel; nothing is converted, so declare the parameter with the same type");
      static_assert(!is_const<element> || is_const<T>,
                    "the parameter of the generated kernel is written, but the argument's elements "
                    "are const; declare the parameter as `const T*` if it is only read");
      return make_operand(a);
    } else {
      return {};
    }
  }
};
template <class T> struct bound_argument<raw<T*>> {
  T* value;
  copy_end memory;
  bool is_known = false;
  loop_operand view;  ///< if it is of one
  bool is_view = false;

  template <class A>
  explicit bound_argument(A&& a) noexcept : value{pass_as<T*>(static_cast<A&&>(a))} {
    static_assert(kernel_argument_for<A, T*>,
                  "this argument is not device memory of the parameter's type, or it is a "
                  "temporary buffer, whose memory is gone before the kernel runs");
    if constexpr (device_range<A>) {
      memory = copy_end_of(a);
      is_known = true;
    } else if constexpr (is_array_view<remove_cvref_t<A>>) {
      view = make_operand(a);
      is_view = true;
    }
  }
  loop_argument get() noexcept {
    return {nullptr, &value, is_known ? &memory : nullptr, is_view ? &view : nullptr};
  }
};

}  // namespace gpu::inline v1::detail
