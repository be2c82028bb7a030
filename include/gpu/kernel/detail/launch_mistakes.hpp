#pragma once
/// \file
/// Calls of `launch` that do not compile, and what the compiler says instead.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/located.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/parameter_type.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch_config.hpp>

#include <concepts>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// True for a contiguous range that kernels do not take, such as a `std::vector`.
template <class A>
inline constexpr bool is_unpassed_range =
    !has_kernel_pointer<std::remove_cvref_t<A>&> && requires(A&& argument) { *argument.data(); };

/// Gives a clearer compiler error than the conversion that fails.
template <class A, class P> constexpr bool check_kernel_argument() noexcept {
  // The message of refuse_result, stated here so that the compiler has fewer lines around it.
  constexpr bool result = is_result<std::remove_cvref_t<A>>;
  static_assert(
      !result, "this is a result<T>, not a T: write GPU_TRY(...) around the call that returned it");
  constexpr bool fits = kernel_argument_for<A, P>;  // without notes on the concept
  constexpr bool host = !fits && !result && is_unpassed_range<A>;
  static_assert(
      !host,
      "gpu::launch: this range is in host memory, which the kernel cannot access: copy it "
      "to a gpu::device_buffer, or pass gpu::in, gpu::out or gpu::inout of it");
  constexpr bool constant = !fits && !result && !host && lacks_only_const<A, P>();
  static_assert(!constant,
                "gpu::launch: this argument does not fit the kernel's parameter: its elements are "
                "const, and those of the parameter are not; state the parameter as a pointer or a "
                "span of const elements (const float*) if the kernel only reads them, or pass "
                "memory that is not const");
  constexpr bool wide = !fits && has_more_bits<A, P>();
  static_assert(
      !wide,
      "gpu::launch: this argument does not fit the kernel's parameter: it is an integer "
      "with more bits, and the value may not fit; write static_cast<int>(n), or a constant "
      "without a suffix (5, not 5ul), or declare the kernel's parameter with as many "
      "bits");
  static_assert(fits || result || host || constant || wide,
                "gpu::launch: this argument does not fit the kernel's parameter: it has another "
                "type, or the conversion could change its value (cast it if that is intended), or "
                "it is a temporary that would free its memory before the kernel runs");
  return fits;
}

/// Returns whether a kernel may write to the elements that it reaches through a parameter.
template <class P> constexpr bool writes_through() noexcept {
  if constexpr (reached_element<P>::known)
    return !std::is_const_v<typename reached_element<P>::type>;
  return false;
}

/// Refuses `in` for what the kernel may write.
template <class A, class P> constexpr bool check_in_argument() noexcept {
  if constexpr (is_host_argument<A>) {
    constexpr bool kept =
        !std::is_const_v<passed_element_t<std::remove_cvref_t<A>>> || !writes_through<P>();
    static_assert(kept,
                  "gpu::launch: gpu::in is passed for a parameter through which the kernel writes, "
                  "and what it writes would be lost; pass gpu::inout or gpu::out, or state the "
                  "parameter as a pointer or span of const elements");
    return kept;
  }
  return true;
}

}  // namespace detail

/// Does not compile, and says so: a kernel runs on a stream.
template <class... Parameters, class... Arguments>
result<> launch(const launch_config&, const kernel<Parameters...>&, Arguments&&...) noexcept {
  static_assert(detail::always_false<kernel<Parameters...>>,
                "gpu::launch: the stream is missing; write gpu::launch(stream, {blocks, threads}, "
                "kernel, ...)");
  return {};
}
template <class Kernel, class... Arguments>
  requires std::same_as<Kernel, untyped_kernel>
result<> launch(const launch_config&, const Kernel&, Arguments&&...) noexcept {
  static_assert(detail::always_false<Kernel>,
                "gpu::launch: the stream is missing; write gpu::launch(stream, {blocks, threads}, "
                "kernel, ...)");
  return {};
}

/// Does not compile, and says so: the kernel is a result.
template <class T, class... Arguments>
result<> launch(located<stream_ref>, const launch_config&, const expected<T, cuda_error>&,
                Arguments&&...) noexcept {
  detail::refuse_result<T>();
  return {};
}

}}  // namespace gpu::v1
