#pragma once
/// \file
/// The codes of an error: the codes of `gpu` itself (`errc`), the kinds of errors that a caller
/// handles in the same way (`error_kind`), and who reported it (`error_domain`).

#include <cstdint>

namespace gpu { inline namespace v1 {

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

namespace detail {

/// What the codes of one domain mean. Defined next to the calls that report them.
struct error_codes {
  int number;        ///< the same in all shared libraries of a process
  const char* name;  ///< as in "nccl"
  /// A code and the name of its enumerator each, `"1 first\0" "2 second\0"`, or null. (An array of
  /// structures costs the compiler ten times as much.)
  const char* names = nullptr;
  error_kind (*kind)(int code) noexcept;
  const char* (*advice)(int code) noexcept = nullptr;  ///< null, or returns null: there is none
  bool (*is_sticky)(int code) noexcept = nullptr;      ///< null: no error loses the context
};

/// Returns the name that follows `code` in a list, or null.
inline const char* find_name(const char* list, int code) noexcept {
  while (*list != '\0') {
    int listed = 0;
    for (; *list != ' '; ++list) listed = listed * 10 + (*list - '0');
    ++list;
    if (listed == code) return list;
    while (*list != '\0') ++list;
    ++list;
  }
  return nullptr;
}

}  // namespace detail

/// The component that reported an error. It determines the type of the code. Converts to a number,
/// so that domains can be compared, and can be the cases of a `switch`. Those of the driver and of
/// libraries are defined by `gpu/driver.hpp`, by `gpu/compiler.hpp`, and by the headers of
/// `gpu/interop/` that call the library.
class error_domain {
 public:
  static const error_domain gpu;        ///< this library, before it called the driver; an `errc`
  static const error_domain driver;     ///< the CUDA driver; the code is a `CUresult`
  static const error_domain nvrtc;      ///< NVRTC; the code is an `nvrtcResult`
  static const error_domain curand;     ///< cuRAND; the code is a `curandStatus_t`
  static const error_domain nvjitlink;  ///< nvJitLink; the code is an `nvJitLinkResult`
  static const error_domain cublas;     ///< cuBLAS or cuBLASLt; the code is a `cublasStatus_t`
  static const error_domain nccl;       ///< NCCL; the code is an `ncclResult_t`
  static const error_domain cufft;      ///< cuFFT; the code is a `cufftResult`
  static const error_domain cusolver;   ///< cuSOLVER; the code is a `cusolverStatus_t`
  static const error_domain cusparse;   ///< cuSPARSE; the code is a `cusparseStatus_t`

  explicit constexpr error_domain(const detail::error_codes& codes) noexcept : codes_{&codes} {}

  constexpr operator int() const noexcept { return codes_->number; }

  /// Returns the name: "gpu", "cuda" for the driver, or that of the library, as in "nccl".
  constexpr const char* name() const noexcept { return codes_->name; }
  /// Returns the name of a code's enumerator, or null if the code is unknown.
  const char* name_of(int code) const noexcept {
    return codes_->names != nullptr ? detail::find_name(codes_->names, code) : nullptr;
  }
  /// Returns what to do about an error, or null if there is no advice for its code.
  const char* advice_for(int code) const noexcept {
    return codes_->advice != nullptr ? codes_->advice(code) : nullptr;
  }
  error_kind kind_of(int code) const noexcept { return codes_->kind(code); }
  /// Returns whether the context is lost after an error.
  bool is_sticky(int code) const noexcept {
    return codes_->is_sticky != nullptr && codes_->is_sticky(code);
  }

 private:
  const detail::error_codes* codes_;
};

}}  // namespace gpu::v1
