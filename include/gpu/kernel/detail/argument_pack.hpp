#pragma once
/// \file
/// Puts the arguments of a kernel where the driver wants them: values, and an array of pointers to
/// them.

#include <gpu/core/kernel_argument.hpp>
#include <gpu/kernel/detail/signature.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Values of the types `P...`, one after another.
template <class... P> struct argument_values {
  void write_pointers(void**) noexcept {}
};
template <class P, class... Rest> struct argument_values<P, Rest...> {
  P value;
  argument_values<Rest...> rest;

  template <class A, class... B>
  explicit argument_values(A&& argument, B&&... others) noexcept
      : value{pass_as<P>(static_cast<A&&>(argument))}, rest{static_cast<B&&>(others)...} {}
  void write_pointers(void** to) noexcept {
    *to = &value;
    rest.write_pointers(to + 1);
  }
};

/// The arguments of a kernel as its parameters `P...`, kept together with pointers to them.
template <class... P> class argument_pack {
 public:
  template <class... A>
  explicit argument_pack(A&&... arguments) noexcept : values_{static_cast<A&&>(arguments)...} {
    values_.write_pointers(pointers_);
  }
  argument_pack(const argument_pack&) = delete;
  argument_pack& operator=(const argument_pack&) = delete;

  void** pointers() noexcept { return pointers_; }

 private:
  argument_values<P...> values_;
  void* pointers_[sizeof...(P) == 0 ? 1 : sizeof...(P)];
};

/// An argument of a kernel whose parameters are not stated. An argument that stands for memory is
/// kept both as a span and as a pointer; the size of the module's parameter decides.
template <class A> struct untyped_argument {
  using value_type = std::remove_cvref_t<decltype(kernel_argument_of<A>::value(std::declval<A>()))>;
  value_type value;

  static constexpr std::size_t pointer_size = 0;
  explicit untyped_argument(A&& a) noexcept
      : value(kernel_argument_of<A>::value(static_cast<A&&>(a))) {}
  void* address(std::size_t) noexcept { return &value; }
};

template <class A>
  requires(has_kernel_pointer<A> && !has_kernel_value<A>)
struct untyped_argument<A> {
  using value_type = decltype(kernel_argument_of<A>::pointer(std::declval<A>()));
  value_type value;

  static constexpr std::size_t pointer_size = 0;
  explicit untyped_argument(A&& a) noexcept
      : value(kernel_argument_of<A>::pointer(static_cast<A&&>(a))) {}
  void* address(std::size_t) noexcept { return &value; }
};

template <class A>
  requires(has_kernel_pointer<A> && has_kernel_value<A>)
struct untyped_argument<A> {
  using value_type = std::remove_cvref_t<decltype(kernel_argument_of<A>::value(std::declval<A>()))>;
  using pointer_type = decltype(kernel_argument_of<A>::pointer(std::declval<A>()));
  value_type value;
  pointer_type pointer;

  static constexpr std::size_t pointer_size = sizeof(pointer_type);
  explicit untyped_argument(A&& a) noexcept
      : value(kernel_argument_of<A>::value(static_cast<A&&>(a))),
        pointer(kernel_argument_of<A>::pointer(static_cast<A&&>(a))) {}
  void* address(std::size_t size) noexcept {
    return size == sizeof(pointer_type) && size != sizeof(value_type) ? static_cast<void*>(&pointer)
                                                                      : &value;
  }
};

/// An argument that a kernel without stated parameters can be given.
template <class A>
concept untyped_kernel_argument =
    has_kernel_value<A> || (has_kernel_pointer<A> && !has_kernel_value<A>);

/// The types that are passed, for the comparison with the module's parameters.
template <class... A>
inline constexpr stated_parameters<sizeof...(A)> passed_list = {{stated_parameter{
    type_name_of<typename untyped_argument<A>::value_type>(),
    sizeof(typename untyped_argument<A>::value_type), untyped_argument<A>::pointer_size,
    alignof(typename untyped_argument<A>::value_type),
    parameter_type_of<typename untyped_argument<A>::value_type>()}...}};

}}}  // namespace gpu::v1::detail
