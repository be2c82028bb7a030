#pragma once
/// \file
/// `launch`: runs a kernel on a stream.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/located.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/argument_owner.hpp>
#include <gpu/kernel/detail/argument_pack.hpp>
#include <gpu/kernel/detail/kernel_limits.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/kernel/detail/launch_checks.hpp>
#include <gpu/kernel/detail/launch_mistakes.hpp>
#include <gpu/kernel/detail/signature.hpp>
#include <gpu/kernel/detail/submit_launch.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch_config.hpp>

#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// Launches with the arguments packed at `pointers`. `arguments` are those of the caller, some of
/// which know the context of their memory; `as_pointers` says which are passed for pointers.
template <class... A>
[[gnu::always_inline]] inline result<> launch_packed(const stream_ref& stream,
                                                     const launch_config& config,
                                                     kernel_record* kernel, void** pointers,
                                                     source_location where, const bool* as_pointers,
                                                     const A&... arguments) noexcept {
  const kernel_limits& limits = limits_of(kernel, stream);
  [[maybe_unused]] std::size_t k = 0;
  const bool belong = (belongs_to(arguments, as_pointers[k++], stream.context()) && ...);
  if (belong && is_fast_path(config, limits))
    return submit(stream, config, kernel, limits, pointers, where);
  const argument_owners<sizeof...(A)> owners(as_pointers, arguments...);
  return check_and_submit({stream, config, kernel, pointers, where, owners.list,
                           belong ? 0 : owners.count, &owners.refusal});
}

/// Launches a kernel whose parameters are `P...`.
template <class... P, class... A>
[[gnu::always_inline]] inline result<> launch_typed(const stream_ref& stream,
                                                    const launch_config& config,
                                                    kernel_record* kernel, source_location where,
                                                    A&&... arguments) noexcept {
  argument_pack<P...> pack(static_cast<A&&>(arguments)...);
  static constexpr bool as_pointers[] = {std::is_pointer_v<P>..., false};
  return launch_packed(stream, config, kernel, pack.pointers(), where, as_pointers, arguments...);
}

/// Compares the sizes of the argument types with the module's parameters, unless these types were
/// found to fit before.
template <class... A>
result<> check_untyped(kernel_record* kernel, source_location where) noexcept {
  const auto& passed = passed_list<A...>;
  if (atomic_load<memory_order::relaxed>(kernel->fitting_arguments) == &passed) {
    return {};
  }
  GPU_TRY(check_parameters(*kernel, passed_words, kernel->label, passed.list, passed.count, where));
  atomic_store<memory_order::relaxed>(kernel->fitting_arguments, static_cast<const void*>(&passed));
  return {};
}

/// Launches a kernel whose parameters are not stated.
template <class... A>
result<> launch_untyped(const stream_ref& stream, const launch_config& config,
                        kernel_record* kernel, source_location where, A&&... arguments) noexcept {
  GPU_TRY(check_untyped<A...>(kernel, where));
  const auto launch_values = [&](untyped_argument<A>... values) {
    [[maybe_unused]] const module_parameter* parameter = kernel->parameters;
    const bool known = kernel->parameters_known;
    void* pointers[] = {values.address(known ? parameter++->size : 0)..., nullptr};
    // An argument that stands for memory is kept as a value and as a pointer.
    const void* value_addresses[] = {&values.value..., nullptr};
    bool as_pointers[sizeof...(A) + 1];
    for (std::size_t k = 0; k < sizeof...(A); ++k)
      as_pointers[k] = pointers[k] != value_addresses[k];
    return launch_packed(stream, config, kernel, pointers, where, as_pointers, arguments...);
  };
  return launch_values(untyped_argument<A>(static_cast<A&&>(arguments))...);
}

}  // namespace detail

/// Runs a kernel on a stream, once for each thread of `config`:
///
///     GPU_TRY(gpu::launch(stream, {gpu::grid_for(n, 256), 256}, saxpy, 2.0f, x, y, n));
///
/// Each argument is converted to the corresponding parameter of `kernel`. Values are copied;
/// an integer passes for an integer with at least as many bits, signed or not, so that no bit is
/// lost, and for floating point; a floating-point number passes for floating point alone. Anything
/// else does not compile: cast it. Device buffers and spans convert to `device_span<T>` and to
/// `T*`, contiguous views to `T*`. `in(range)`, `out(range)` and `inout(range)` pass host memory
/// for either, see there.
///
/// **Ordering**: runs after the work queued on the stream; does not wait. With `in`, `out` or
/// `inout` the call returns when the kernel has run and the results are copied back.
/// **Ownership**: values are copied before the call returns; device memory must live until the
/// kernel has run (freeing a `device_buffer` on the same stream is stream-ordered). An empty buffer
/// passes as null.
/// **Threads**: any number of threads may launch one kernel, also on one stream.
/// **Errors**: `errc::invalid_launch` with the value and the limit for a grid, block, cluster or
/// shared memory that is zero or too large, for a cluster that does not divide the grid, for a
/// cooperative grid that the device cannot hold at once, and for a kernel that synchronizes its
/// grid in a launch that is not cooperative; `errc::empty_handle`, also for a buffer
/// that was moved from; `errc::wrong_context` for a buffer of another device that the stream's
/// device cannot reach (spans and pointers do not know their device, and are not checked);
/// `errc::invalid_argument` for a view with strides whose parameter is a pointer; the reason for
/// which a view is faulty or a value is refused (see `gpu::kernel_argument`); the driver's, with
/// value and limit if an attribute exceeds a limit of the device. A fault of the kernel is reported
/// by a later call, whose error names this launch and its source line.
/// **Cost**: no allocation and no lock; the first launch on a device reads its limits. A buffer of
/// another device costs a driver call each time; its span does not.
/// **Capture**: allowed, except with `in`, `out` and `inout`. (cuLaunchKernel, or cuLaunchKernelEx
/// for clusters and attributes)
template <class... Parameters, class... Arguments>
[[gnu::always_inline]] inline result<> launch(located<stream_ref> stream,
                                              const launch_config& config,
                                              const kernel<Parameters...>& kernel,
                                              Arguments&&... arguments) noexcept {
  static_assert(sizeof...(Arguments) == sizeof...(Parameters),
                "gpu::launch: the number of arguments differs from the number of parameters");
  detail::kernel_record* const record = detail::kernel_access::record(kernel);
  if constexpr (sizeof...(Arguments) != sizeof...(Parameters)) {
    return {};
  } else if constexpr (!(detail::check_in_argument<Arguments, Parameters>() && ...)) {
    return {};
  } else if constexpr ((detail::is_host_argument<Arguments> || ...)) {
    return detail::launch_with_host_memory(
        stream.value, stream.where, record->label.c_str(),
        [&](auto&&... staged) noexcept {
          static_assert((detail::check_kernel_argument<decltype(staged), Parameters>() && ...));
          return detail::launch_typed<Parameters...>(stream.value, config, record, stream.where,
                                                     static_cast<decltype(staged)>(staged)...);
        },
        static_cast<Arguments&&>(arguments)...);
  } else if constexpr ((detail::check_kernel_argument<Arguments, Parameters>() && ...)) {
    return detail::launch_typed<Parameters...>(stream.value, config, record, stream.where,
                                               static_cast<Arguments&&>(arguments)...);
  } else {
    return {};  // so that the compiler says nothing more
  }
}

/// Runs a kernel whose parameters are not stated. Every argument is passed in its own type, so a
/// literal must have the parameter's type: `2.0f`, not `2.0`, for a `float`. Device buffers and
/// spans pass for pointers and for spans.
/// **Errors**: as above; `errc::argument_mismatch`, with both lists side by side, if the number or
/// the sizes of the arguments differ from the module's parameters.
template <class... Arguments>
result<> launch(located<stream_ref> stream, const launch_config& config,
                const untyped_kernel& kernel, Arguments&&... arguments) noexcept {
  detail::kernel_record* const record = detail::kernel_access::record(kernel);
  if constexpr ((detail::is_result<std::remove_cvref_t<Arguments>> || ...)) {
    detail::refuse_result<Arguments...>();
    return {};
  } else if constexpr ((detail::is_host_argument<Arguments> || ...)) {
    return detail::launch_with_host_memory(
        stream.value, stream.where, record->label.c_str(),
        [&](auto&&... staged) noexcept {
          return detail::launch_untyped(stream.value, config, record, stream.where,
                                        static_cast<decltype(staged)>(staged)...);
        },
        static_cast<Arguments&&>(arguments)...);
  } else {
    static_assert(
        (detail::untyped_kernel_argument<Arguments> && ...),
        "gpu::launch: an argument is neither trivially copyable nor a type for device memory "
        "(see gpu::kernel_argument), or it is a temporary that would free its memory "
        "before the kernel runs");
    return detail::launch_untyped(stream.value, config, record, stream.where,
                                  static_cast<Arguments&&>(arguments)...);
  }
}

}}  // namespace gpu::v1
