#pragma once
/// \file
/// The names of all error codes, known without a driver to ask.

#include <gpu/core/error_code.hpp>

#include <cstddef>

namespace gpu::detail {

struct named_code {
  int code;
  const char* name;
};

// Plain numbers rather than the enumerators: a name has to be known too where the headers are older
// than the driver, and this header needs no `cuda.h`.
inline constexpr named_code driver_code_names[] = {
    {0, "CUDA_SUCCESS"},
    {1, "CUDA_ERROR_INVALID_VALUE"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {4, "CUDA_ERROR_DEINITIALIZED"},
    {5, "CUDA_ERROR_PROFILER_DISABLED"},
    {6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED"},
    {7, "CUDA_ERROR_PROFILER_ALREADY_STARTED"},
    {8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED"},
    {34, "CUDA_ERROR_STUB_LIBRARY"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {101, "CUDA_ERROR_INVALID_DEVICE"},
    {102, "CUDA_ERROR_DEVICE_NOT_LICENSED"},
    {200, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT"},
    {205, "CUDA_ERROR_MAP_FAILED"},
    {206, "CUDA_ERROR_UNMAP_FAILED"},
    {207, "CUDA_ERROR_ARRAY_IS_MAPPED"},
    {208, "CUDA_ERROR_ALREADY_MAPPED"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {210, "CUDA_ERROR_ALREADY_ACQUIRED"},
    {211, "CUDA_ERROR_NOT_MAPPED"},
    {212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY"},
    {213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {215, "CUDA_ERROR_UNSUPPORTED_LIMIT"},
    {216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED"},
    {224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY"},
    {225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC"},
    {226, "CUDA_ERROR_CONTAINED"},
    {300, "CUDA_ERROR_INVALID_SOURCE"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND"},
    {302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND"},
    {303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM"},
    {400, "CUDA_ERROR_INVALID_HANDLE"},
    {401, "CUDA_ERROR_ILLEGAL_STATE"},
    {402, "CUDA_ERROR_LOSSY_QUERY"},
    {500, "CUDA_ERROR_NOT_FOUND"},
    {600, "CUDA_ERROR_NOT_READY"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
    {710, "CUDA_ERROR_ASSERT"},
    {711, "CUDA_ERROR_TOO_MANY_PEERS"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
    {718, "CUDA_ERROR_INVALID_PC"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK"},
    {800, "CUDA_ERROR_NOT_PERMITTED"},
    {801, "CUDA_ERROR_NOT_SUPPORTED"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY"},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED"},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED"},
    {811, "CUDA_ERROR_CDP_NOT_SUPPORTED"},
    {812, "CUDA_ERROR_CDP_VERSION_MISMATCH"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    {907, "CUDA_ERROR_CAPTURED_EVENT"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
    {909, "CUDA_ERROR_TIMEOUT"},
    {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE"},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
    {913, "CUDA_ERROR_FUNCTION_NOT_LOADED"},
    {914, "CUDA_ERROR_INVALID_RESOURCE_TYPE"},
    {915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"},
    {916, "CUDA_ERROR_KEY_ROTATION"},
    {999, "CUDA_ERROR_UNKNOWN"},
};

inline constexpr named_code nvrtc_code_names[] = {
    {0, "NVRTC_SUCCESS"},
    {1, "NVRTC_ERROR_OUT_OF_MEMORY"},
    {2, "NVRTC_ERROR_PROGRAM_CREATION_FAILURE"},
    {3, "NVRTC_ERROR_INVALID_INPUT"},
    {4, "NVRTC_ERROR_INVALID_PROGRAM"},
    {5, "NVRTC_ERROR_INVALID_OPTION"},
    {6, "NVRTC_ERROR_COMPILATION"},
    {7, "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"},
    {8, "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION"},
    {9, "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION"},
    {10, "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID"},
    {11, "NVRTC_ERROR_INTERNAL_ERROR"},
    {12, "NVRTC_ERROR_TIME_FILE_WRITE_FAILED"},
    {13, "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED"},
    {14, "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED"},
    {15, "NVRTC_ERROR_PCH_CREATE"},
    {16, "NVRTC_ERROR_CANCELLED"},
    {17, "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED"},
};

inline constexpr named_code nvjitlink_code_names[] = {
    {0, "NVJITLINK_SUCCESS"},
    {1, "NVJITLINK_ERROR_UNRECOGNIZED_OPTION"},
    {2, "NVJITLINK_ERROR_MISSING_ARCH"},
    {3, "NVJITLINK_ERROR_INVALID_INPUT"},
    {4, "NVJITLINK_ERROR_PTX_COMPILE"},
    {5, "NVJITLINK_ERROR_NVVM_COMPILE"},
    {6, "NVJITLINK_ERROR_INTERNAL"},
    {7, "NVJITLINK_ERROR_THREADPOOL"},
    {8, "NVJITLINK_ERROR_UNRECOGNIZED_INPUT"},
    {9, "NVJITLINK_ERROR_FINALIZE"},
    {10, "NVJITLINK_ERROR_NULL_INPUT"},
    {11, "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS"},
    {12, "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE"},
    {13, "NVJITLINK_ERROR_ARCH_MISMATCH"},
    {14, "NVJITLINK_ERROR_OUTDATED_LIBRARY"},
    {15, "NVJITLINK_ERROR_MISSING_FATBIN"},
    {16, "NVJITLINK_ERROR_UNRECOGNIZED_ARCH"},
    {17, "NVJITLINK_ERROR_UNSUPPORTED_ARCH"},
    {18, "NVJITLINK_ERROR_LTO_NOT_ENABLED"},
};

inline constexpr named_code gpu_code_names[] = {
    {static_cast<int>(errc::no_driver), "no_driver"},
    {static_cast<int>(errc::driver_too_old), "driver_too_old"},
    {static_cast<int>(errc::not_supported), "not_supported"},
    {static_cast<int>(errc::no_nvrtc), "no_nvrtc"},
    {static_cast<int>(errc::nvrtc_too_old), "nvrtc_too_old"},
    {static_cast<int>(errc::process_forked), "process_forked"},
    {static_cast<int>(errc::process_exiting), "process_exiting"},
    {static_cast<int>(errc::invalid_argument), "invalid_argument"},
    {static_cast<int>(errc::index_out_of_range), "index_out_of_range"},
    {static_cast<int>(errc::size_mismatch), "size_mismatch"},
    {static_cast<int>(errc::size_overflow), "size_overflow"},
    {static_cast<int>(errc::empty_handle), "empty_handle"},
    {static_cast<int>(errc::wrong_context), "wrong_context"},
    {static_cast<int>(errc::out_of_host_memory), "out_of_host_memory"},
    {static_cast<int>(errc::invalid_launch), "invalid_launch"},
    {static_cast<int>(errc::argument_mismatch), "argument_mismatch"},
    {static_cast<int>(errc::unknown_name), "unknown_name"},
    {static_cast<int>(errc::invalid_image), "invalid_image"},
    {static_cast<int>(errc::compile_failed), "compile_failed"},
    {static_cast<int>(errc::file_error), "file_error"},
    {static_cast<int>(errc::capture_prohibited), "capture_prohibited"},
    {static_cast<int>(errc::no_nvjitlink), "no_nvjitlink"},
    {static_cast<int>(errc::nvjitlink_too_old), "nvjitlink_too_old"},
    {static_cast<int>(errc::link_failed), "link_failed"},
    {static_cast<int>(errc::callback_threw), "callback_threw"},
};

template <std::size_t Count>
constexpr const char* find_name(const named_code (&names)[Count], int code) noexcept {
  for (const named_code& entry : names) {
    if (entry.code == code) return entry.name;
  }
  return nullptr;
}

/// The enumerator's name, or null for a code that no list knows.
constexpr const char* error_code_name(error_domain domain, int code) noexcept {
  switch (domain) {
    case error_domain::gpu:
      return find_name(gpu_code_names, code);
    case error_domain::driver:
      return find_name(driver_code_names, code);
    case error_domain::nvrtc:
      return find_name(nvrtc_code_names, code);
    case error_domain::nvjitlink:
      return find_name(nvjitlink_code_names, code);
    case error_domain::curand:
      break;
  }
  return nullptr;
}

}  // namespace gpu::detail
