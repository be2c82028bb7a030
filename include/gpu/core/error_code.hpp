#pragma once
/// \file
/// The codes of an error: who reported it (`error_domain`), the codes of `gpu` itself (`errc`), and
/// the kinds of errors that a caller handles in the same way (`error_kind`).

#include <cstdint>

namespace gpu { inline namespace v1 {

/// The component that reported an error. It determines the type of the code.
enum class error_domain : std::uint8_t {
  gpu,        ///< this library, before it called the driver; the code is an `errc`
  driver,     ///< the CUDA driver; the code is a `CUresult`
  nvrtc,      ///< NVRTC; the code is an `nvrtcResult`
  curand,     ///< cuRAND; the code is a `curandStatus_t`
  nvjitlink,  ///< nvJitLink; the code is an `nvJitLinkResult`
  cublas,     ///< cuBLAS or cuBLASLt; the code is a `cublasStatus_t`
  nccl,       ///< NCCL; the code is an `ncclResult_t`
  cufft,      ///< cuFFT; the code is a `cufftResult`
  cusolver,   ///< cuSOLVER; the code is a `cusolverStatus_t`
  cusparse,   ///< cuSPARSE; the code is a `cusparseStatus_t`
};

/// The errors that this library finds itself.
enum class errc : int {
  no_driver = 1,    ///< libcuda.so.1 was not found
  driver_too_old,   ///< the driver is older than this library supports
  not_supported,    ///< the driver or the device does not support the feature
  no_nvrtc,         ///< no NVRTC library was found
  nvrtc_too_old,    ///< NVRTC is older than this library supports
  process_forked,   ///< a child process of fork() cannot use the driver or the compiler of its
                    ///< parent
  process_exiting,  ///< the process is exiting; the driver and the compiler are not called any more
  invalid_argument,    ///< a value that is never valid
  index_out_of_range,  ///< a device, element or parameter index past the end
  size_mismatch,       ///< two ranges that must have the same length differ
  size_overflow,       ///< more elements or bytes than memory can have
  empty_handle,        ///< a handle that was moved from or never set
  wrong_context,       ///< handles of different contexts or devices in one call
  out_of_host_memory,  ///< the host is out of memory
  invalid_launch,      ///< grid, block or shared memory outside the device's limits
  argument_mismatch,   ///< the arguments do not match the kernel's parameters
  unknown_name,        ///< the module has no kernel or variable with this name
  invalid_image,       ///< not a cubin, fatbin or PTX, or truncated
  compile_failed,      ///< the program does not compile; the log says why
  file_error,          ///< a file could not be read or written
  capture_prohibited,  ///< not allowed while the stream is being captured
  no_nvjitlink,        ///< no nvJitLink library was found
  nvjitlink_too_old,   ///< nvJitLink is older than this library supports
  link_failed,         ///< the inputs cannot be linked; the log says why
  callback_threw,      ///< a callback of the driver threw an exception
  not_converged,       ///< an iteration did not reach its tolerance, or cannot
  no_library,          ///< a library such as cuBLAS or NCCL was not found, or cannot be used here
  library_too_old,     ///< such a library is older than this library supports
};

/// The kinds of errors that a caller handles in the same way, like the exception classes of PyCUDA.
enum class error_kind : std::uint8_t {
  memory,   ///< an allocation failed
  launch,   ///< a kernel failed; often reported by a later call
  logic,    ///< the program is wrong
  compile,  ///< a source or an image is not valid
  runtime,  ///< the machine or its installation lacks something
};

}}  // namespace gpu::v1
