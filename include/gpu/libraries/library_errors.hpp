#pragma once
/// \file
/// The errors of CUDA's libraries: names of their codes, advice, and kinds.

#include <gpu/core/error_code.hpp>

namespace gpu { inline namespace v1 {

namespace detail {

inline error_kind compile_kind(int) noexcept { return error_kind::compile; }
inline error_kind runtime_kind(int) noexcept { return error_kind::runtime; }

/// Values of `nvrtcResult`.
enum class nvrtc_code : int {
  out_of_memory = 1,
  invalid_option = 5,
  compilation = 6,
  builtin_operation_failure = 7,
  name_expression_not_valid = 10,
  internal_error = 11,
};

inline constexpr char nvrtc_code_names[] =
    "0 NVRTC_SUCCESS\0"
    "1 NVRTC_ERROR_OUT_OF_MEMORY\0"
    "2 NVRTC_ERROR_PROGRAM_CREATION_FAILURE\0"
    "3 NVRTC_ERROR_INVALID_INPUT\0"
    "4 NVRTC_ERROR_INVALID_PROGRAM\0"
    "5 NVRTC_ERROR_INVALID_OPTION\0"
    "6 NVRTC_ERROR_COMPILATION\0"
    "7 NVRTC_ERROR_BUILTIN_OPERATION_FAILURE\0"
    "8 NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION\0"
    "9 NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION\0"
    "10 NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID\0"
    "11 NVRTC_ERROR_INTERNAL_ERROR\0"
    "12 NVRTC_ERROR_TIME_FILE_WRITE_FAILED\0"
    "13 NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED\0"
    "14 NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED\0"
    "15 NVRTC_ERROR_PCH_CREATE\0"
    "16 NVRTC_ERROR_CANCELLED\0"
    "17 NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED\0";

inline const char* nvrtc_advice(int code) noexcept {
  switch (static_cast<nvrtc_code>(code)) {
    case nvrtc_code::out_of_memory: return "The host ran out of memory while compiling.";
    case nvrtc_code::invalid_option:
      return "NVRTC does not support one of the options; the log names it.";
    case nvrtc_code::compilation: return "See the log above.";
    case nvrtc_code::builtin_operation_failure:
      return "libnvrtc-builtins was not found in the folder of libnvrtc; install both.";
    case nvrtc_code::name_expression_not_valid:
      return "The name expression does not name a function or variable of the program.";
    case nvrtc_code::internal_error: return "NVRTC had an internal error; try a newer version.";
    default: return nullptr;
  }
}

inline error_kind nvrtc_kind(int code) noexcept {
  return code == static_cast<int>(nvrtc_code::out_of_memory) ? error_kind::memory
                                                             : error_kind::compile;
}

inline constexpr error_codes nvrtc_errors{.number = 2,
                                          .name = "nvrtc",
                                          .names = nvrtc_code_names,
                                          .kind = &nvrtc_kind,
                                          .advice = &nvrtc_advice};

/// Values of `nvJitLinkResult`.
enum class nvjitlink_code : int {
  unrecognized_option = 1,
  invalid_input = 3,
  internal = 6,
  unrecognized_input = 8,
  incorrect_input_type = 12,
  arch_mismatch = 13,
  outdated_library = 14,
  unrecognized_arch = 16,
  unsupported_arch = 17,
  lto_not_enabled = 18,
};

inline constexpr char nvjitlink_code_names[] =
    "0 NVJITLINK_SUCCESS\0"
    "1 NVJITLINK_ERROR_UNRECOGNIZED_OPTION\0"
    "2 NVJITLINK_ERROR_MISSING_ARCH\0"
    "3 NVJITLINK_ERROR_INVALID_INPUT\0"
    "4 NVJITLINK_ERROR_PTX_COMPILE\0"
    "5 NVJITLINK_ERROR_NVVM_COMPILE\0"
    "6 NVJITLINK_ERROR_INTERNAL\0"
    "7 NVJITLINK_ERROR_THREADPOOL\0"
    "8 NVJITLINK_ERROR_UNRECOGNIZED_INPUT\0"
    "9 NVJITLINK_ERROR_FINALIZE\0"
    "10 NVJITLINK_ERROR_NULL_INPUT\0"
    "11 NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS\0"
    "12 NVJITLINK_ERROR_INCORRECT_INPUT_TYPE\0"
    "13 NVJITLINK_ERROR_ARCH_MISMATCH\0"
    "14 NVJITLINK_ERROR_OUTDATED_LIBRARY\0"
    "15 NVJITLINK_ERROR_MISSING_FATBIN\0"
    "16 NVJITLINK_ERROR_UNRECOGNIZED_ARCH\0"
    "17 NVJITLINK_ERROR_UNSUPPORTED_ARCH\0"
    "18 NVJITLINK_ERROR_LTO_NOT_ENABLED\0";

inline const char* nvjitlink_advice(int code) noexcept {
  switch (static_cast<nvjitlink_code>(code)) {
    case nvjitlink_code::unrecognized_option:
      return "nvJitLink does not support one of the options; the log names it.";
    case nvjitlink_code::invalid_input:
    case nvjitlink_code::unrecognized_input:
    case nvjitlink_code::incorrect_input_type:
      return "Pass a complete, unmodified cubin, fatbin, PTX, LTO-IR or host object.";
    case nvjitlink_code::internal: return "nvJitLink had an internal error; try a newer version.";
    case nvjitlink_code::arch_mismatch:
      return "Compile the inputs for the architecture of the link, or for an older one.";
    case nvjitlink_code::lto_not_enabled: return "Set link_time_optimization in the link_options.";
    case nvjitlink_code::outdated_library:
      return "The LTO-IR comes from a newer toolkit; use an nvJitLink that is at least as new as "
             "NVRTC.";
    case nvjitlink_code::unrecognized_arch:
    case nvjitlink_code::unsupported_arch:
      return "This nvJitLink does not support the architecture; install a newer toolkit.";
    default: return nullptr;
  }
}

inline constexpr error_codes nvjitlink_errors{.number = 4,
                                              .name = "nvjitlink",
                                              .names = nvjitlink_code_names,
                                              .kind = &compile_kind,
                                              .advice = &nvjitlink_advice};

// Errors that cuBLAS, cuSOLVER and cuSPARSE share. The error names the function, and so the
// library.
inline constexpr char library_not_initialized[] =
    "Create the handle while the driver and a context work, and outside of captures.";
inline constexpr char library_alloc_failed[] = "Free device buffers that are no longer needed.";
inline constexpr char library_invalid_value[] = "Check extents, strides and alignment.";
inline constexpr char library_arch_mismatch[] =
    "Install a version of the library that is as new as the device.";
inline constexpr char library_execution_failed[] = "An earlier kernel may have lost the context.";

/// Values of `cublasStatus_t`.
enum class cublas_code : int {
  not_initialized = 1,
  alloc_failed = 3,
  invalid_value = 7,
  arch_mismatch = 8,
  execution_failed = 13,
  not_supported = 15,
};

inline constexpr char cublas_code_names[] =
    "0 CUBLAS_STATUS_SUCCESS\0"
    "1 CUBLAS_STATUS_NOT_INITIALIZED\0"
    "3 CUBLAS_STATUS_ALLOC_FAILED\0"
    "7 CUBLAS_STATUS_INVALID_VALUE\0"
    "8 CUBLAS_STATUS_ARCH_MISMATCH\0"
    "11 CUBLAS_STATUS_MAPPING_ERROR\0"
    "13 CUBLAS_STATUS_EXECUTION_FAILED\0"
    "14 CUBLAS_STATUS_INTERNAL_ERROR\0"
    "15 CUBLAS_STATUS_NOT_SUPPORTED\0"
    "16 CUBLAS_STATUS_LICENSE_ERROR\0";

inline const char* cublas_advice(int code) noexcept {
  switch (static_cast<cublas_code>(code)) {
    case cublas_code::not_initialized: return library_not_initialized;
    case cublas_code::alloc_failed: return library_alloc_failed;
    case cublas_code::invalid_value: return library_invalid_value;
    case cublas_code::arch_mismatch: return library_arch_mismatch;
    case cublas_code::execution_failed: return library_execution_failed;
    case cublas_code::not_supported:
      return "This cuBLAS does not have the operation for these types and layouts; gpu::matmul "
             "does.";
    default: return nullptr;
  }
}

inline error_kind cublas_kind(int code) noexcept {
  return code == static_cast<int>(cublas_code::alloc_failed) ? error_kind::memory
                                                             : error_kind::runtime;
}

inline constexpr error_codes cublas_errors{.number = 5,
                                           .name = "cublas",
                                           .names = cublas_code_names,
                                           .kind = &cublas_kind,
                                           .advice = &cublas_advice};

/// Values of `cusolverStatus_t`.
enum class cusolver_code : int {
  not_initialized = 1,
  alloc_failed = 2,
  invalid_value = 3,
  arch_mismatch = 4,
  execution_failed = 6,
};

// Without those of iterative refinement, whose functions are not called here.
inline constexpr char cusolver_code_names[] =
    "0 CUSOLVER_STATUS_SUCCESS\0"
    "1 CUSOLVER_STATUS_NOT_INITIALIZED\0"
    "2 CUSOLVER_STATUS_ALLOC_FAILED\0"
    "3 CUSOLVER_STATUS_INVALID_VALUE\0"
    "4 CUSOLVER_STATUS_ARCH_MISMATCH\0"
    "5 CUSOLVER_STATUS_MAPPING_ERROR\0"
    "6 CUSOLVER_STATUS_EXECUTION_FAILED\0"
    "7 CUSOLVER_STATUS_INTERNAL_ERROR\0"
    "8 CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED\0"
    "9 CUSOLVER_STATUS_NOT_SUPPORTED\0"
    "10 CUSOLVER_STATUS_ZERO_PIVOT\0"
    "11 CUSOLVER_STATUS_INVALID_LICENSE\0"
    "31 CUSOLVER_STATUS_INVALID_WORKSPACE\0";

inline const char* cusolver_advice(int code) noexcept {
  switch (static_cast<cusolver_code>(code)) {
    case cusolver_code::not_initialized: return library_not_initialized;
    case cusolver_code::alloc_failed: return library_alloc_failed;
    case cusolver_code::invalid_value: return library_invalid_value;
    case cusolver_code::arch_mismatch: return library_arch_mismatch;
    case cusolver_code::execution_failed: return library_execution_failed;
    default: return nullptr;
  }
}

inline error_kind cusolver_kind(int code) noexcept {
  return code == static_cast<int>(cusolver_code::alloc_failed) ? error_kind::memory
                                                               : error_kind::runtime;
}

inline constexpr error_codes cusolver_errors{.number = 8,
                                             .name = "cusolver",
                                             .names = cusolver_code_names,
                                             .kind = &cusolver_kind,
                                             .advice = &cusolver_advice};

/// Values of `cusparseStatus_t`.
enum class cusparse_code : int {
  not_initialized = 1,
  alloc_failed = 2,
  invalid_value = 3,
  arch_mismatch = 4,
  execution_failed = 6,
  not_supported = 10,
  insufficient_resources = 11,
};

inline constexpr char cusparse_code_names[] =
    "0 CUSPARSE_STATUS_SUCCESS\0"
    "1 CUSPARSE_STATUS_NOT_INITIALIZED\0"
    "2 CUSPARSE_STATUS_ALLOC_FAILED\0"
    "3 CUSPARSE_STATUS_INVALID_VALUE\0"
    "4 CUSPARSE_STATUS_ARCH_MISMATCH\0"
    "5 CUSPARSE_STATUS_MAPPING_ERROR\0"
    "6 CUSPARSE_STATUS_EXECUTION_FAILED\0"
    "7 CUSPARSE_STATUS_INTERNAL_ERROR\0"
    "8 CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED\0"
    "9 CUSPARSE_STATUS_ZERO_PIVOT\0"
    "10 CUSPARSE_STATUS_NOT_SUPPORTED\0"
    "11 CUSPARSE_STATUS_INSUFFICIENT_RESOURCES\0";

inline const char* cusparse_advice(int code) noexcept {
  switch (static_cast<cusparse_code>(code)) {
    case cusparse_code::not_initialized: return library_not_initialized;
    case cusparse_code::alloc_failed: return library_alloc_failed;
    case cusparse_code::invalid_value: return library_invalid_value;
    case cusparse_code::arch_mismatch: return library_arch_mismatch;
    case cusparse_code::execution_failed: return library_execution_failed;
    case cusparse_code::not_supported:
      return "cuSPARSE does not have this operation for these types and layouts.";
    case cusparse_code::insufficient_resources:
      return "The device has too little memory or shared memory.";
    default: return nullptr;
  }
}

inline error_kind cusparse_kind(int code) noexcept {
  return code == static_cast<int>(cusparse_code::alloc_failed) ? error_kind::memory
                                                               : error_kind::runtime;
}

inline constexpr error_codes cusparse_errors{.number = 9,
                                             .name = "cusparse",
                                             .names = cusparse_code_names,
                                             .kind = &cusparse_kind,
                                             .advice = &cusparse_advice};

/// Values of `cufftResult`.
enum class cufft_code : int {
  alloc_failed = 2,
  invalid_size = 8,
};

inline constexpr char cufft_code_names[] =
    "0 CUFFT_SUCCESS\0"
    "1 CUFFT_INVALID_PLAN\0"
    "2 CUFFT_ALLOC_FAILED\0"
    "3 CUFFT_INVALID_TYPE\0"
    "4 CUFFT_INVALID_VALUE\0"
    "5 CUFFT_INTERNAL_ERROR\0"
    "6 CUFFT_EXEC_FAILED\0"
    "7 CUFFT_SETUP_FAILED\0"
    "8 CUFFT_INVALID_SIZE\0"
    "9 CUFFT_UNALIGNED_DATA\0"
    "11 CUFFT_INVALID_DEVICE\0"
    "13 CUFFT_NO_WORKSPACE\0"
    "14 CUFFT_NOT_IMPLEMENTED\0"
    "16 CUFFT_NOT_SUPPORTED\0"
    "17 CUFFT_MISSING_DEPENDENCY\0"
    "18 CUFFT_NVRTC_FAILURE\0"
    "19 CUFFT_NVJITLINK_FAILURE\0"
    "20 CUFFT_NVSHMEM_FAILURE\0";

inline const char* cufft_advice(int code) noexcept {
  switch (static_cast<cufft_code>(code)) {
    case cufft_code::alloc_failed:
      return "cuFFT had no memory for its workspace; free buffers that are no longer needed, or "
             "transform fewer signals at a time.";
    case cufft_code::invalid_size: return "cuFFT does not transform signals of this length.";
    default: return nullptr;
  }
}

inline error_kind cufft_kind(int code) noexcept {
  return code == static_cast<int>(cufft_code::alloc_failed) ? error_kind::memory
                                                            : error_kind::runtime;
}

inline constexpr error_codes cufft_errors{.number = 7,
                                          .name = "cufft",
                                          .names = cufft_code_names,
                                          .kind = &cufft_kind,
                                          .advice = &cufft_advice};

/// Values of `ncclResult_t`.
enum class nccl_code : int {
  unhandled_cuda_error = 1,
  system_error = 2,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};

inline constexpr char nccl_code_names[] =
    "0 ncclSuccess\0"
    "1 ncclUnhandledCudaError\0"
    "2 ncclSystemError\0"
    "3 ncclInternalError\0"
    "4 ncclInvalidArgument\0"
    "5 ncclInvalidUsage\0"
    "6 ncclRemoteError\0"
    "7 ncclInProgress\0";

inline const char* nccl_advice(int code) noexcept {
  switch (static_cast<nccl_code>(code)) {
    case nccl_code::unhandled_cuda_error:
      return "A CUDA call in NCCL failed; set NCCL_DEBUG=WARN to see which.";
    case nccl_code::system_error:
      return "A system call in NCCL failed; set NCCL_DEBUG=WARN to see which, and check the "
             "network and the size of /dev/shm.";
    case nccl_code::invalid_argument: return "NCCL rejects one of the arguments.";
    case nccl_code::invalid_usage:
      return "The calls of the ranks do not fit together, such as two ranks on one device; set "
             "NCCL_DEBUG=WARN to see the reason.";
    case nccl_code::remote_error:
      return "Another rank has failed or ended; abort the communicator, and create one of the "
             "ranks that are left.";
    case nccl_code::in_progress:
      return "The communicator has not finished its last call; ask check() again.";
    default: return nullptr;
  }
}

inline constexpr error_codes nccl_errors{.number = 6,
                                         .name = "nccl",
                                         .names = nccl_code_names,
                                         .kind = &runtime_kind,
                                         .advice = &nccl_advice};

/// No function is called that returns a `curandStatus_t`, so its values have no names here.
inline constexpr error_codes curand_errors{.number = 3, .name = "curand", .kind = &runtime_kind};

}  // namespace detail

inline constexpr error_domain error_domain::nvrtc{detail::nvrtc_errors};
inline constexpr error_domain error_domain::curand{detail::curand_errors};
inline constexpr error_domain error_domain::nvjitlink{detail::nvjitlink_errors};
inline constexpr error_domain error_domain::cublas{detail::cublas_errors};
inline constexpr error_domain error_domain::nccl{detail::nccl_errors};
inline constexpr error_domain error_domain::cufft{detail::cufft_errors};
inline constexpr error_domain error_domain::cusolver{detail::cusolver_errors};
inline constexpr error_domain error_domain::cusparse{detail::cusparse_errors};

}}  // namespace gpu::v1
