#pragma once
/// \file
/// `bound_argument`: converts an argument of a call to a parameter of a generated kernel.

#include <gpu/core/kernel_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/device_span.hpp>

#include <concepts>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// An argument on its way to the parameter `P` of a generated kernel. `get` refers to it.
template <class P> struct bound_argument {
  P value;
  value_checks checks;

  template <class A>
  explicit bound_argument(A&& a) noexcept
      : value{pass_as<P>(static_cast<A&&>(a))}, checks{nullptr, nullptr, argument_refusal(a)} {
    constexpr bool fits = kernel_argument_for<A, P>;
    constexpr bool wide = !fits && has_more_bits<A, P>();
    static_assert(!wide,
                  "this argument does not fit the parameter of the generated kernel: it is an "
                  "integer with more bits, and the value may not fit; write static_cast<int>(n), "
                  "or a constant without a suffix (5, not 5ul), or declare the parameter with as "
                  "many bits");
    static_assert(
        fits || wide,
        "this argument does not fit the parameter of the generated kernel: it has another "
        "type, or the conversion could change its value (cast it if that is intended)");
  }
  loop_argument get() noexcept { return {nullptr, &value, checks.refusal ? &checks : nullptr}; }
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
        device_range<A> || is_array_view<std::remove_cvref_t<A>>,
        "a pointer parameter of a generated kernel takes device memory or a view of it: a "
        "device_buffer, a device_span, an array_view; not host memory, and not a "
        "temporary buffer, because its memory is gone before the kernel runs");
    if constexpr (device_range<A> || is_array_view<std::remove_cvref_t<A>>) {
      using element = typename elements_of_argument<std::remove_reference_t<A>>::type;
      static_assert(std::same_as<std::remove_cv_t<element>, std::remove_cv_t<T>>,
                    "the argument's elements have another type than the parameter of the generated "
                    "kernel; nothing is converted, so declare the parameter with the same type");
      static_assert(!std::is_const_v<element> || std::is_const_v<T>,
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
  value_checks checks{};

  template <class A>
  explicit bound_argument(A&& a) noexcept : value{pass_as<T*>(static_cast<A&&>(a))} {
    constexpr bool constant = lacks_only_const<A, T*>();
    static_assert(!constant,
                  "the parameter of the generated kernel is written, but the argument's elements "
                  "are const; declare the parameter as `gpu::raw<const T*>` if it is only read");
    static_assert(kernel_argument_for<A, T*> || constant,
                  "this argument is not device memory of the parameter's type, or it is a "
                  "temporary buffer, whose memory is gone before the kernel runs");
    if constexpr (device_range<A>) {
      memory = copy_end_of(a);
      is_known = true;
    } else if constexpr (is_array_view<std::remove_cvref_t<A>>) {
      view = make_operand(a);
      is_view = true;
    }
  }
  loop_argument get() noexcept {
    checks = {is_known ? &memory : nullptr, is_view ? &view : nullptr};
    return {nullptr, &value, &checks};
  }
};

}}}  // namespace gpu::v1::detail
