#pragma once
/// \file
/// `from_runtime`: what a program has of the CUDA runtime, in the terms of `gpu`. Its own
/// `__global__` functions become kernels, `cudaStream_t` and `cudaEvent_t` become refs,
/// `cudaError_t` becomes a `result`.
///
/// The way back needs nothing: `stream.native()` is a `cudaStream_t`, `event.native()` a
/// `cudaEvent_t`, and device memory has the same addresses for both.
///
/// The program links the runtime, as nvcc does by itself. Both have to talk to the same driver, so
/// a CPU driver, and its kernels, are out of the runtime's reach.

#include <gpu/driver/event.hpp>
#include <gpu/kernel/kernel.hpp>

#include <cuda_runtime_api.h>

namespace gpu::inline v0 {

namespace detail {

/// What comes nearest to a code that the runtime has and the driver has not. All codes that both
/// have mean the same.
constexpr errc runtime_errc(int code) noexcept {
  switch (code) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorMissingConfiguration:
      return errc::invalid_launch;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction:
      return errc::unknown_name;
    case cudaErrorInsufficientDriver:
      return errc::driver_too_old;
    case cudaErrorNotYetImplemented:
    case cudaErrorSoftwareValidityNotEstablished:
    case cudaErrorStartupFailure:
      return errc::not_supported;
    default:
      return errc::invalid_argument;
  }
}

[[gnu::cold, gnu::noinline]] inline cuda_error runtime_error(cudaError_t code, const char* call,
                                                             source_location where) noexcept {
  const int number = static_cast<int>(code);
  if (error_code_name(error_domain::driver, number) != nullptr) {
    return with_launch_origins(cuda_error(error_domain::driver, number, call, where), nullptr);
  }
  text_builder out;
  out << cudaGetErrorName(code) << ": " << cudaGetErrorString(code) << '.';
  return refusal(runtime_errc(number), call, out.finish(), where,
                 static_cast<std::uint64_t>(number));
}

/// The kernels of the program's own code that were asked for. They stay until the process ends, as
/// their code does.
inline kernel_list& runtime_kernels() noexcept {
  static kernel_list known{};
  return known;
}

/// Sets `record` to that of the kernel behind a `__global__` function.
inline result<> find_runtime_kernel(const void* function, kernel_record*& record,
                                    source_location where) noexcept {
  cudaKernel_t native = nullptr;
  const cudaError_t got = cudaGetKernel(&native, function);
  if (got != cudaSuccess) return fail(runtime_error(got, "cudaGetKernel", where));
  const char* name = nullptr;
  GPU_TRY(driver::call<&driver::entry_points::kernel_get_name>(where, &name, native));
  const string_ref called(name);
  // Code of a shared library can go, and its handle be another kernel's afterwards.
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

/// The context that the runtime works in: the current one, or else the primary context of the
/// device that cudaSetDevice chose.
inline result<context_ref> runtime_context(source_location where) noexcept {
  const context_ref current = GPU_TRY(context_ref::current(where));
  if (current.native() != nullptr) return current;
  int ordinal = 0;
  const cudaError_t got = cudaGetDevice(&ordinal);
  if (got != cudaSuccess) return fail(runtime_error(got, "cudaGetDevice", where));
  return context::primary(device::from_native(ordinal), where);
}

/// What stream 0 is to the runtime: how a source is compiled decides it. A type, so that sources
/// that are compiled differently have functions of their own.
struct zero_is_legacy {};
struct zero_is_per_thread {};
#if defined(__CUDART_API_PER_THREAD_DEFAULT_STREAM)
using runtime_stream_zero = zero_is_per_thread;
#else
using runtime_stream_zero = zero_is_legacy;
#endif

}  // namespace detail

/// The kernel that a `__global__` function is, for `launch`, `occupancy`, graphs and the rest:
///
///     __global__ void saxpy(float a, const float* x, float* y, std::size_t n);
///
///     const auto kernel = GPU_TRY(gpu::from_runtime(saxpy));
///     GPU_TRY(gpu::launch(stream, {gpu::grid_for(n, 256), 256}, kernel, 2.0f, x, y, n));
///
/// Its parameters are those of its declaration, so that nothing has to be compared; an instance of
/// a template is named with its arguments, `axpy<float>`. One kernel serves every device.
/// **Ownership**: nobody's; valid as long as the code is in the process.
/// **Threads**: any. **Cost**: a look-up in the runtime; ask once and keep it.
/// **Errors**: `errc::unknown_name` for what is no `__global__` function of this program.
/// **Capture**: a function can be asked for again; ask the first time before a capture begins,
/// since the runtime may have to load the code. (cudaGetKernel, cuKernelGetName,
/// cuKernelGetParamInfo)
template <class... Parameters>
auto from_runtime(void (*function)(Parameters...),
                  source_location where = source_location::current()) noexcept
    -> result<kernel<Parameters...>> {
  detail::kernel_record* record = nullptr;
  GPU_TRY(detail::find_runtime_kernel(reinterpret_cast<const void*>(function), record, where));
  return detail::kernel_access::make<kernel<Parameters...>>(record);
}

/// The stream that a `cudaStream_t` is, with the context that it belongs to. Streams 0,
/// `cudaStreamLegacy` and `cudaStreamPerThread` belong to the context that the runtime works in:
/// the current one, or else the primary context of the device that cudaSetDevice chose. Stream 0 is
/// the one that this source was compiled for (`--default-stream`).
/// **Ownership**: the stream stays the caller's. Allowed in a capture. (cuStreamGetCtx)
template <class Zero = detail::runtime_stream_zero>
result<stream_ref> from_runtime(cudaStream_t stream,
                                source_location where = source_location::current()) noexcept {
  if (detail::is_default_stream(stream)) {
    const context_ref context = GPU_TRY(detail::runtime_context(where));
    const bool per_thread = stream == nullptr ? detail::same<Zero, detail::zero_is_per_thread>
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

/// The event that a `cudaEvent_t` is, in the context that the runtime works in now; no driver tells
/// where an event was made. `options` are those that it was made with.
/// **Ownership**: the event stays the caller's. Allowed in a capture.
inline result<event_ref> from_runtime(cudaEvent_t event, event_options options = {},
                                      source_location where = source_location::current()) noexcept {
  const context_ref context = GPU_TRY(detail::runtime_context(where));
  return event_ref::from_native(event, context, options);
}

/// What a call of the runtime returned, as a `result`:
///
///     GPU_TRY(gpu::from_runtime(cudaMemcpyToSymbol(table, host, sizeof host),
///     "cudaMemcpyToSymbol"));
///
/// Codes that the driver has as well are errors of the driver's, faults of kernels with the
/// launches that can have caused them. The runtime's own become an `errc`, with the code in
/// `asked()`.
inline result<> from_runtime(cudaError_t code, const char* call = "the CUDA runtime",
                             source_location where = source_location::current()) noexcept {
  if (code == cudaSuccess) [[likely]]
    return {};
  return detail::fail(detail::runtime_error(code, call, where));
}

}  // namespace gpu::inline v0
