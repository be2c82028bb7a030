#pragma once
/// \file
/// `from_runtime`: converts objects of the CUDA runtime. `__global__` functions become kernels,
/// `cudaStream_t` and `cudaEvent_t` become refs, `cudaError_t` becomes a `result`.
///
/// The other direction needs no function: `stream.native()` is a `cudaStream_t`, `event.native()` a
/// `cudaEvent_t`, and device memory has the same addresses in both.
///
/// The program links the runtime, as nvcc does by default. Both have to use the same driver, so the
/// runtime cannot use a CPU driver or its kernels.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_origin.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/kernel/kernel.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <driver_types.h>
#include <concepts>
#include <cstdint>

namespace gpu { inline namespace v1 {

namespace detail {

/// Returns the `errc` nearest to a code that the runtime has but the driver does not. Codes that
/// both have mean the same.
constexpr errc runtime_errc(int code) noexcept {
  switch (code) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorMissingConfiguration: return errc::invalid_launch;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction: return errc::unknown_name;
    case cudaErrorInsufficientDriver: return errc::driver_too_old;
    case cudaErrorNotYetImplemented:
    case cudaErrorSoftwareValidityNotEstablished:
    case cudaErrorStartupFailure: return errc::not_supported;
    default: return errc::invalid_argument;
  }
}

inline cuda_error runtime_error(cudaError_t code, const char* call,
                                source_location where) noexcept {
  const int number = static_cast<int>(code);
  if (error_domain::driver.name_of(number) != nullptr) {
    return explain_fault(cuda_error(error_domain::driver, number, call, where), nullptr);
  }
  text_builder out;
  out << cudaGetErrorName(code) << ": " << cudaGetErrorString(code) << '.';
  return refusal(runtime_errc(number), call, out.finish(), where,
                 static_cast<std::uint64_t>(number));
}

/// The kernels of the program's own code that were looked up. They live until the process ends, as
/// their code does.
inline kernel_list& runtime_kernels() noexcept {
  static kernel_list known{};
  return known;
}

/// Sets `record` to the record of the kernel behind a `__global__` function.
inline result<> find_runtime_kernel(const void* function, kernel_record*& record,
                                    source_location where) noexcept {
  cudaKernel_t native = nullptr;
  const cudaError_t got = cudaGetKernel(&native, function);
  if (got != cudaSuccess) return fail(runtime_error(got, "cudaGetKernel", where));
  const char* name = nullptr;
  GPU_TRY(driver::call<&driver::entry_points::kernel_get_name>(where, &name, native));
  const string_ref called(name);
  // If a shared library is unloaded, the handle of its kernel may be reused for another kernel.
  record = runtime_kernels().find([&](const kernel_record& known) {
    return known.native == native && string_ref(known.name) == called;
  });
  if (record != nullptr) return {};
  const text own_name = called.to_text();
  if (own_name.lost()) {
    return fail(out_of_host_memory_error("gpu::launch", called.size(), where));
  }
  owned_kernel_record made = GPU_TRY(read_kernel(native, own_name, where));
  record = made.release();
  runtime_kernels().add(record);
  return {};
}

/// Returns the context that the runtime uses: the current one, or else the primary context of the
/// device that cudaSetDevice selected.
inline result<context_ref> runtime_context(source_location where) noexcept {
  const context_ref current = GPU_TRY(context_ref::current(where));
  if (current.native() != nullptr) return current;
  int ordinal = 0;
  const cudaError_t got = cudaGetDevice(&ordinal);
  if (got != cudaSuccess) return fail(runtime_error(got, "cudaGetDevice", where));
  return context::primary(device::from_native(ordinal), where);
}

/// The meaning of stream 0 in this source, which depends on `--default-stream`. A type, so that
/// sources that are compiled differently get functions of their own.
struct zero_is_legacy {};
struct zero_is_per_thread {};
#if defined(__CUDART_API_PER_THREAD_DEFAULT_STREAM)
using runtime_stream_zero = zero_is_per_thread;
#else
using runtime_stream_zero = zero_is_legacy;
#endif

}  // namespace detail

/// Returns the kernel of a `__global__` function, for `launch`, `occupancy`, graphs and so on:
///
///     __global__ void saxpy(float a, const float* x, float* y, std::size_t n);
///
///     const auto kernel = GPU_TRY(gpu::from_runtime(saxpy));
///     GPU_TRY(gpu::launch(stream, {gpu::grid_for(n, 256), 256}, kernel, 2.0f, x, y, n));
///
/// Its parameters are those of its declaration; pass an instance of a template with its arguments,
/// `axpy<float>`. One kernel serves every device.
/// **Ownership**: none; valid as long as the code is in the process.
/// **Threads**: any. **Cost**: a look-up in the runtime; keep the result.
/// **Errors**: `errc::unknown_name` for a function that is not a `__global__` function of this
/// program. **Capture**: make the first call for a function before a capture begins, since the
/// runtime may have to load the code; later calls are allowed. (cudaGetKernel, cuKernelGetName,
/// cuKernelGetParamInfo)
template <class... Parameters>
auto from_runtime(void (*function)(Parameters...),
                  source_location where = source_location::current()) noexcept
    -> result<kernel<Parameters...>> {
  detail::kernel_record* record = nullptr;
  GPU_TRY(detail::find_runtime_kernel(reinterpret_cast<const void*>(function), record, where));
  return detail::kernel_access::make<kernel<Parameters...>>(record);
}

/// Returns a `cudaStream_t` as a ref with its context. Streams 0, `cudaStreamLegacy` and
/// `cudaStreamPerThread` belong to the context that the runtime uses: the current one, or else the
/// primary context of the device that cudaSetDevice selected. Stream 0 is the default stream that
/// this source was compiled for (`--default-stream`).
/// **Ownership**: the caller keeps the stream. Allowed during capture. (cuStreamGetCtx)
template <class Zero = detail::runtime_stream_zero>
result<stream_ref> from_runtime(cudaStream_t stream,
                                source_location where = source_location::current()) noexcept {
  if (detail::is_default_stream(stream)) {
    const context_ref context = GPU_TRY(detail::runtime_context(where));
    const bool per_thread = stream == nullptr ? std::same_as<Zero, detail::zero_is_per_thread>
                                              : stream == cudaStreamPerThread;
    return per_thread ? stream_ref::per_thread_default(context)
                      : stream_ref::legacy_default(context);
  }
  CUcontext native = nullptr;
  GPU_TRY(driver::call<&driver::entry_points::stream_get_ctx>(where, stream, &native));
  const context_ref context =
      GPU_TRY(driver::in_context(native, where, [&] { return context_ref::current(where); }));
  return stream_ref::from_native(stream, context);
}

/// Returns a `cudaEvent_t` as a ref in the context that the runtime uses now; the driver cannot
/// report the context of an event. `options` are those that it was created with.
/// **Ownership**: the caller keeps the event. Allowed during capture.
inline result<event_ref> from_runtime(cudaEvent_t event, event_options options = {},
                                      source_location where = source_location::current()) noexcept {
  const context_ref context = GPU_TRY(detail::runtime_context(where));
  return event_ref::from_native(event, context, options);
}

/// Converts the return value of a runtime call to a `result`:
///
///     GPU_TRY(gpu::from_runtime(cudaMemcpyToSymbol(table, host, sizeof host),
///     "cudaMemcpyToSymbol"));
///
/// Codes that the driver has too become errors of the driver; faults of kernels name the launches
/// that may have caused them. The runtime's own codes become an `errc`, with the code in `asked()`.
inline result<> from_runtime(cudaError_t code, const char* call = "the CUDA runtime",
                             source_location where = source_location::current()) noexcept {
  if (code == cudaSuccess) return {};
  return detail::fail(detail::runtime_error(code, call, where));
}

}}  // namespace gpu::v1
