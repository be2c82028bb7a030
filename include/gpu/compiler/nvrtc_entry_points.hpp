#pragma once
/// \file
/// The table of NVRTC functions, loaded on first use and replaceable as a whole: the counterpart of
/// the driver's table, and independent of it. NVRTC needs neither a GPU nor a driver.

#include <gpu/compiler/nvrtc_library.hpp>
#include <gpu/core/error_code.hpp>

#include <cstddef>
#include <cstring>
#include <gpu/core/utility.hpp>

namespace gpu::nvrtc {

using nvrtc_program = void*;

/// Pointers to NVRTC's functions; all null where there is no NVRTC.
struct entry_points {
#define GPU_NVRTC_ENTRY(member, function, ...) gpu::detail::pointer_to<__VA_ARGS__> member;
#include <gpu/compiler/nvrtc_entry_points.inc>

  /// Why all members are null, or 0: `errc::no_nvrtc` or `errc::nvrtc_too_old`.
  errc unavailable;
  /// What the loader said, for the message; a string that outlives the table, or null.
  const char* unavailable_detail;
};

/// The name and position of one member of `entry_points`.
struct entry_point_info {
  const char* name;    ///< as in nvrtc.h
  std::size_t offset;  ///< of the member in the table, in bytes
};

inline constexpr entry_point_info entry_point_list[] = {
#define GPU_NVRTC_ENTRY(member, function, ...) {#function, offsetof(entry_points, member)},
#include <gpu/compiler/nvrtc_entry_points.inc>
};

namespace detail {

/// What the process has one of, for NVRTC.
struct process_state {
  const entry_points* table;  // null until first use
  gpu::detail::mutex loading;
  entry_points loaded;
  char detail[2048];
};

inline process_state& state_of_process() noexcept {
  static process_state private_state{};
  static process_state* const state = [] {
    char name[64];
    std::snprintf(name, sizeof name, "gpu-nvrtc-%zu", sizeof(process_state));
    void* shared = gpu::detail::process_wide_memory(name, sizeof(process_state));
    return shared != nullptr ? static_cast<process_state*>(shared) : &private_state;
  }();
  return *state;
}

/// Opens NVRTC and fills `table`; on failure all members are null and `unavailable` says why.
inline void load_entry_points(entry_points& table, char* detail, std::size_t size) noexcept {
  table = {};
  gpu::detail::message_buffer log{detail, size};
  void* library = gpu::detail::open_toolkit_library(gpu::detail::nvrtc_library, log);
  table.unavailable_detail = detail;
  if (library == nullptr) {
    table.unavailable = errc::no_nvrtc;
    return;
  }
  const char* missing = nullptr;
  for (const entry_point_info& entry : entry_point_list) {
    auto* function = gpu::detail::find_symbol<void*>(library, entry.name);
    if (function == nullptr) missing = entry.name;
    std::memcpy(reinterpret_cast<char*>(&table) + entry.offset, &function, sizeof function);
  }
  int major = 0, minor = 0;
  if (table.version != nullptr) table.version(&major, &minor);
  if (missing == nullptr && major >= 12) {
    gpu::detail::open_nvrtc_builtins(reinterpret_cast<const void*>(table.version), major, minor);
    return;
  }
  table = {};
  table.unavailable = errc::nvrtc_too_old;
  table.unavailable_detail = detail;
  log.clear();
  log.add("this is NVRTC %d.%d", major, minor);
}

inline const entry_points* entry_points_on_first_use() noexcept {
  process_state& state = state_of_process();
  const gpu::detail::scoped_lock lock(state.loading);
  const entry_points* table = __atomic_load_n(&state.table, __ATOMIC_ACQUIRE);
  if (table == nullptr) {
    load_entry_points(state.loaded, state.detail, sizeof state.detail);
    table = &state.loaded;
    __atomic_store_n(&state.table, table, __ATOMIC_RELEASE);
  }
  return table;
}

}  // namespace detail

/// The table in force; the first call loads NVRTC, where no table was put in its place. Never
/// fails: without NVRTC all members are null and `unavailable` says why.
/// **Threads**: any number may call it at once; NVRTC is loaded once a process.
inline const entry_points& current_entry_points() noexcept {
  const entry_points* table = __atomic_load_n(&detail::state_of_process().table, __ATOMIC_ACQUIRE);
  if (table == nullptr) table = detail::entry_points_on_first_use();
  return *table;
}

/// Puts `table` in force for the whole process; returns the one before, or null where NVRTC had not
/// been used yet. `table` has to outlive all use; null goes back to loading NVRTC on the next call,
/// which also looks again where it was not found before.
inline const entry_points* use_entry_points(const entry_points* table) noexcept {
  return __atomic_exchange_n(&detail::state_of_process().table, table, __ATOMIC_ACQ_REL);
}

/// Puts a table in force for a scope, for the whole process: for tests.
class [[nodiscard]] scoped_entry_points {
 public:
  explicit scoped_entry_points(const entry_points& table) noexcept
      : before_{use_entry_points(&table)} {}
  scoped_entry_points(const scoped_entry_points&) = delete;
  scoped_entry_points& operator=(const scoped_entry_points&) = delete;
  ~scoped_entry_points() { use_entry_points(before_); }

 private:
  const entry_points* before_;
};

}  // namespace gpu::nvrtc
