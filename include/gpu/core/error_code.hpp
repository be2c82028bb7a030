#pragma once
/// \file
/// The codes that an error can carry: where it arose (`error_domain`), what `gpu` itself refuses
/// (`errc`), and the kinds that a caller handles alike (`error_kind`).

#include <cstdint>

namespace gpu::inline v0 {

/// Who reported the error; says how to read the code.
enum class error_domain : std::uint8_t {
  gpu,        ///< this library, before the driver was asked; the code is an `errc`
  driver,     ///< the CUDA driver; the code is a `CUresult`
  nvrtc,      ///< the run-time compiler; the code is an `nvrtcResult`
  curand,     ///< cuRAND; the code is a `curandStatus_t`
  nvjitlink,  ///< the run-time linker; the code is an `nvJitLinkResult`
};

/// What this library refuses or cannot find by itself.
enum class errc : int {
  no_driver = 1,       ///< libcuda.so.1 is not on this machine
  driver_too_old,      ///< there is a driver, but older than the library can use
  not_supported,       ///< the driver or the device lacks this one feature
  no_nvrtc,            ///< no NVRTC library was found
  nvrtc_too_old,       ///< there is an NVRTC, but older than the library can use
  process_forked,      ///< driver or compiler was in use at fork(); a child cannot go on with it
  process_exiting,     ///< process exit has begun; the driver and the compiler are left alone
  invalid_argument,    ///< a value that can never be right
  index_out_of_range,  ///< a device, element or parameter index past the end
  size_mismatch,       ///< two ranges that have to have the same length have not
  size_overflow,       ///< a number of elements whose bytes do not fit in size_t
  empty_handle,        ///< a handle that was moved from, or never filled
  wrong_context,       ///< handles of different contexts or devices in one call
  out_of_host_memory,  ///< the host could not give memory
  invalid_launch,      ///< grid, block or shared memory outside the device's limits
  argument_mismatch,   ///< arguments do not match the kernel's parameters
  unknown_name,        ///< the module has no kernel or variable of that name
  invalid_image,       ///< not a cubin, fatbin or PTX, or cut short
  compile_failed,      ///< the program does not compile; the log says why
  file_error,          ///< a file could not be read or written
  capture_prohibited,  ///< not allowed while the stream is being captured
  no_nvjitlink,        ///< no nvJitLink library was found
  nvjitlink_too_old,   ///< there is an nvJitLink, but older than the library can use
  link_failed,         ///< the inputs do not link; the log says why
  callback_threw,      ///< a callable that the driver called let an exception out
};

/// What a caller handles alike; the classes of PyCUDA's exceptions.
enum class error_kind : std::uint8_t {
  memory,   ///< an allocation could not be satisfied
  launch,   ///< a kernel failed, often seen at a later call
  logic,    ///< the program did something wrong
  compile,  ///< source or image was refused
  runtime,  ///< the machine or its set-up is not up to it
};

}  // namespace gpu::inline v0
