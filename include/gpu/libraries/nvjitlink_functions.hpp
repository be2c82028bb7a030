#pragma once
/// \file
/// The table of nvJitLink's functions, loaded on first use and replaceable as a whole. nvJitLink
/// needs neither a GPU nor a driver.

#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/library_table.hpp>
#include <gpu/system/shared_library.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace gpu { inline namespace v1 { namespace nvjitlink {

using nvjitlink_handle = void*;

namespace detail {
struct library;
}

/// Pointers to nvJitLink's functions; all null without nvJitLink.
struct entry_points {
  using library = detail::library;

  int (*version)(unsigned*, unsigned*);
  int (*create)(nvjitlink_handle*, std::uint32_t, const char* const*);
  int (*destroy)(nvjitlink_handle*);
  int (*add_data)(nvjitlink_handle, int, const void*, std::size_t, const char*);
  int (*complete)(nvjitlink_handle);
  int (*get_linked_cubin_size)(nvjitlink_handle, std::size_t*);
  int (*get_linked_cubin)(nvjitlink_handle, char*);
  int (*get_linked_ptx_size)(nvjitlink_handle, std::size_t*);
  int (*get_linked_ptx)(nvjitlink_handle, char*);
  int (*get_error_log_size)(nvjitlink_handle, std::size_t*);
  int (*get_error_log)(nvjitlink_handle, char*);
  int (*get_info_log_size)(nvjitlink_handle, std::size_t*);
  int (*get_info_log)(nvjitlink_handle, char*);

  /// Why all members are null, or 0: `errc::no_nvjitlink` or `errc::nvjitlink_too_old`.
  errc unavailable;
  /// The loader's message, in a string that outlives the table; or null.
  const char* unavailable_detail;
};

namespace detail {

/// Describes nvJitLink for `gpu::detail::library_table`.
struct library : gpu::detail::run_time_library<library> {
  using table = entry_points;
  static constexpr gpu::detail::library_function functions[] = {
      {"nvJitLinkVersion", offsetof(table, version), true},  // came with 12.3
      {"nvJitLinkCreate", offsetof(table, create)},
      {"nvJitLinkDestroy", offsetof(table, destroy)},
      {"nvJitLinkAddData", offsetof(table, add_data)},
      {"nvJitLinkComplete", offsetof(table, complete)},
      {"nvJitLinkGetLinkedCubinSize", offsetof(table, get_linked_cubin_size)},
      {"nvJitLinkGetLinkedCubin", offsetof(table, get_linked_cubin)},
      {"nvJitLinkGetLinkedPtxSize", offsetof(table, get_linked_ptx_size)},
      {"nvJitLinkGetLinkedPtx", offsetof(table, get_linked_ptx)},
      {"nvJitLinkGetErrorLogSize", offsetof(table, get_error_log_size)},
      {"nvJitLinkGetErrorLog", offsetof(table, get_error_log)},
      {"nvJitLinkGetInfoLogSize", offsetof(table, get_info_log_size)},
      {"nvJitLinkGetInfoLog", offsetof(table, get_info_log)},
  };
  static constexpr const char* name = "nvJitLink";
  static constexpr const char* wheel = "nvidia-nvjitlink";
  static constexpr const char* part_of = "CUDA toolkit";
  static constexpr const char* oldest = "12.0";
  static constexpr errc absent = errc::no_nvjitlink, too_old = errc::nvjitlink_too_old;
  static constexpr error_domain domain = error_domain::nvjitlink;
  static constexpr gpu::detail::toolkit_library files{
      "GPU_NVJITLINK",
      {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"},
      "nvidia/nvjitlink/lib"};

  /// Returns one function. The header of nvJitLink gives each a name that contains the toolkit's
  /// version; later libraries have the plain name as well, the first ones do not.
  static void* find_function(void* opened, const char* function) noexcept {
    if (auto* plain = gpu::detail::find_symbol<void*>(opened, function)) return plain;
    char versioned[64];
    for (int minor = 9; minor >= 0; --minor) {
      std::snprintf(versioned, sizeof versioned, "__%s_12_%d", function, minor);
      if (auto* found = gpu::detail::find_symbol<void*>(opened, versioned)) return found;
    }
    return nullptr;
  }

  static bool accept(const entry_points&, gpu::detail::text_builder&) noexcept { return true; }
};

}  // namespace detail

/// Returns the table in force. The first call loads nvJitLink, unless a table was put in force.
/// Never fails: without nvJitLink all members are null and `unavailable` says why.
/// **Threads**: any number may call it at once; nvJitLink is loaded once per process.
inline const entry_points& current_entry_points() noexcept {
  return gpu::detail::library_table<detail::library>();
}

/// Returns whether there is an nvJitLink to link with.
inline bool is_available() noexcept { return current_entry_points().create != nullptr; }

/// Puts `table` in force for the whole process. Returns the previous one, or null if nvJitLink had
/// not been used yet. `table` has to outlive all use. Null makes the next call load nvJitLink, and
/// search again if it was not found before.
inline const entry_points* use_entry_points(const entry_points* table) noexcept {
  return gpu::detail::use_library_table<detail::library>(table);
}

/// Puts a table in force for a scope, for the whole process: for tests.
using scoped_entry_points = gpu::detail::scoped_library_table<detail::library>;

}}}  // namespace gpu::v1::nvjitlink
