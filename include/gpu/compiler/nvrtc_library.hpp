#pragma once
/// \file
/// Finds the library NVRTC, and with it the one that has its built-in declarations.

#include <gpu/compiler/toolkit_library.hpp>

namespace gpu::detail {

/// Newest first: a newer NVRTC knows more devices, and the driver can be handed older PTX.
inline constexpr toolkit_library nvrtc_library{
    "GPU_NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, "nvidia/cuda_nvrtc/lib"};

/// Opens the library with NVRTC's built-in declarations, from the folder of NVRTC itself. NVRTC
/// asks for it by name alone, which the system's loader cannot follow into a toolkit or a wheel
/// that was opened by path; a library of that name that is open already is what it gets then.
inline void open_nvrtc_builtins(const void* function_of_nvrtc, int major, int minor) noexcept {
  Dl_info info{};
  if (::dladdr(function_of_nvrtc, &info) == 0 || info.dli_fname == nullptr) return;
  const char* slash = std::strrchr(info.dli_fname, '/');
  if (slash == nullptr) return;
  char path[1024];
  std::snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d",
                static_cast<int>(slash - info.dli_fname), info.dli_fname, major, minor);
  open_library(path);
}

}  // namespace gpu::detail
