#pragma once
/// \file
/// The table of NVRTC's functions, loaded on first use and replaceable as a whole. NVRTC needs
/// neither a GPU nor a driver.

#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/library_table.hpp>
#include <gpu/system/shared_library.hpp>

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace gpu { inline namespace v1 { namespace nvrtc {

using nvrtc_program = void*;

namespace detail {
struct library;
}

/// Pointers to NVRTC's functions; all null without NVRTC.
struct entry_points {
  using library = detail::library;

  int (*version)(int*, int*);
  const char* (*get_error_string)(int);
  int (*get_num_supported_archs)(int*);
  int (*get_supported_archs)(int*);
  int (*create_program)(nvrtc_program*, const char*, const char*, int, const char* const*,
                        const char* const*);
  int (*destroy_program)(nvrtc_program*);
  int (*add_name_expression)(nvrtc_program, const char*);
  int (*compile_program)(nvrtc_program, int, const char* const*);
  int (*get_lowered_name)(nvrtc_program, const char*, const char**);
  int (*get_ptx_size)(nvrtc_program, std::size_t*);
  int (*get_ptx)(nvrtc_program, char*);
  int (*get_cubin_size)(nvrtc_program, std::size_t*);
  int (*get_cubin)(nvrtc_program, char*);
  int (*get_lto_ir_size)(nvrtc_program, std::size_t*);
  int (*get_lto_ir)(nvrtc_program, char*);
  int (*get_program_log_size)(nvrtc_program, std::size_t*);
  int (*get_program_log)(nvrtc_program, char*);

  /// Why all members are null, or 0: `errc::no_nvrtc` or `errc::nvrtc_too_old`.
  errc unavailable;
  /// The loader's message, in a string that outlives the table; or null.
  const char* unavailable_detail;
};

namespace detail {

/// Describes NVRTC for `gpu::detail::library_table`.
struct library : gpu::detail::run_time_library<library> {
  using table = entry_points;
  static constexpr gpu::detail::library_function functions[] = {
      {"nvrtcVersion", offsetof(table, version)},
      {"nvrtcGetErrorString", offsetof(table, get_error_string)},
      {"nvrtcGetNumSupportedArchs", offsetof(table, get_num_supported_archs)},
      {"nvrtcGetSupportedArchs", offsetof(table, get_supported_archs)},
      {"nvrtcCreateProgram", offsetof(table, create_program)},
      {"nvrtcDestroyProgram", offsetof(table, destroy_program)},
      {"nvrtcAddNameExpression", offsetof(table, add_name_expression)},
      {"nvrtcCompileProgram", offsetof(table, compile_program)},
      {"nvrtcGetLoweredName", offsetof(table, get_lowered_name)},
      {"nvrtcGetPTXSize", offsetof(table, get_ptx_size)},
      {"nvrtcGetPTX", offsetof(table, get_ptx)},
      {"nvrtcGetCUBINSize", offsetof(table, get_cubin_size)},
      {"nvrtcGetCUBIN", offsetof(table, get_cubin)},
      {"nvrtcGetLTOIRSize", offsetof(table, get_lto_ir_size)},
      {"nvrtcGetLTOIR", offsetof(table, get_lto_ir)},
      {"nvrtcGetProgramLogSize", offsetof(table, get_program_log_size)},
      {"nvrtcGetProgramLog", offsetof(table, get_program_log)},
  };
  static constexpr const char* name = "NVRTC";
  static constexpr const char* wheel = "nvidia-cuda-nvrtc";
  static constexpr const char* part_of = "CUDA toolkit";
  static constexpr const char* oldest = "12.0";
  static constexpr errc absent = errc::no_nvrtc, too_old = errc::nvrtc_too_old;
  static constexpr error_domain domain = error_domain::nvrtc;
  /// Newest first: a newer NVRTC supports more devices, and drivers accept older PTX.
  static constexpr gpu::detail::toolkit_library files{
      "GPU_NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, "nvidia/cuda_nvrtc/lib"};

  static bool accept(const entry_points& found, gpu::detail::text_builder& reason) noexcept {
    if (found.version == nullptr) return true;  // then it lacks more than one function
    int major = 0, minor = 0;
    found.version(&major, &minor);
    if (major < 12) {
      reason << "this is NVRTC " << major << '.' << minor;
      return false;
    }
    open_builtins(reinterpret_cast<const void*>(found.version), major, minor);
    return true;
  }

 private:
  /// Opens the library with NVRTC's built-in declarations, from NVRTC's own folder. NVRTC later
  /// opens it by name alone, which the dynamic loader cannot find in a toolkit or a wheel that was
  /// opened by path; but it does find a library of that name that is already open.
  static void open_builtins(const void* function_of_nvrtc, int major, int minor) noexcept {
    Dl_info info{};
    if (::dladdr(function_of_nvrtc, &info) == 0 || info.dli_fname == nullptr) return;
    const char* slash = std::strrchr(info.dli_fname, '/');
    if (slash == nullptr) return;
    char path[1024];
    std::snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d",
                  static_cast<int>(slash - info.dli_fname), info.dli_fname, major, minor);
    gpu::detail::open_library(path);
  }
};

}  // namespace detail

/// Returns the table in force. The first call loads NVRTC, unless a table was put in force. Never
/// fails: without NVRTC all members are null and `unavailable` says why.
/// **Threads**: any number may call it at once; NVRTC is loaded once per process.
inline const entry_points& current_entry_points() noexcept {
  return gpu::detail::library_table<detail::library>();
}

/// Returns the table in force, or null before the first use of NVRTC.
inline const entry_points* entry_points_in_force() noexcept {
  return gpu::detail::library_table_in_force<detail::library>();
}

/// Puts `table` in force for the whole process. Returns the previous one, or null if NVRTC had not
/// been used yet. `table` has to outlive all use. Null makes the next call load NVRTC, and search
/// again if it was not found before.
inline const entry_points* use_entry_points(const entry_points* table) noexcept {
  return gpu::detail::use_library_table<detail::library>(table);
}

/// Puts a table in force for a scope, for the whole process: for tests.
using scoped_entry_points = gpu::detail::scoped_library_table<detail::library>;

}}}  // namespace gpu::v1::nvrtc
