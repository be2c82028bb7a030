#pragma once
/// \file
/// The process-wide state of the driver layer: the driver table in force, the record of launches,
/// and the error reporter.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/system/mutex.hpp>
#include <gpu/system/output.hpp>
#include <gpu/system/process_wide.hpp>
#include <gpu/system/shared_library.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpu { inline namespace v1 {

class cuda_error;

namespace detail {

/// The part of the process's state that every driver call reads. Until that state is found, and
/// until a table is in force, `table` points to a table of null pointers, so a call only has to
/// check its own function.
struct process_front {
  const driver::entry_points* table;
  struct process_state* state;  // this object, or null before it is found
};

struct process_state : process_front {
  static constexpr const char* name = "driver";

  // cuLaunchKernel of the table, or `refuse_launch`; null only before the first table. So a launch
  // need not check it.
  decltype(&::cuLaunchKernel) launch_kernel;
  std::uint64_t generation;                   // grows when the table is replaced
  std::int64_t own_contexts;                  // the number of contexts that are not primary
  void (*reporter)(const cuda_error& error);  // null: print to stderr
  bool (*keep_event)(CUevent);                // takes over an event that graphs need, or null
  mutex loading;
  bool is_loading;                // by a thread that holds the lock
  driver::entry_points unloaded;  // in force before the first use
  driver::entry_points loaded;
  driver::entry_points forked;
  driver::entry_points exiting;
  bool hooks_set;
  char detail[256];
  launch_ring launches;

  void after_fork() noexcept;
};

inline constinit process_front unknown_process{&driver::detail::null_entry_points, nullptr};

/// The state that driver calls read: `unknown_process` at first, then that of the process.
inline constinit process_front* known_process = &unknown_process;

inline process_state& find_process_state() noexcept {
  process_state& state = process_wide<process_state>::get();
  // Each thread, and each shared library, that comes here first may do this; only one succeeds.
  std::uint64_t untouched = 0;
  atomic_compare_exchange_strong<memory_order::seq_cst, memory_order::seq_cst>(
      state.launches.next, untouched, std::uint64_t{1});
  const driver::entry_points* none = nullptr;
  atomic_compare_exchange_strong<memory_order::seq_cst, memory_order::seq_cst>(state.table, none,
                                                                               &state.unloaded);
  atomic_store<memory_order::release>(state.state, &state);
  atomic_store<memory_order::release>(known_process, static_cast<process_front*>(&state));
  return state;
}

inline process_state& state_of_process() noexcept {
  process_front* const known = atomic_load<memory_order::acquire>(known_process);
  return known->state != nullptr ? *known->state : find_process_state();
}

/// Stands in for cuLaunchKernel in tables that lack it. The caller then asks the table for the
/// reason.
inline CUresult refuse_launch(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, unsigned, CUstream, void**, void**) noexcept {
  return CUDA_ERROR_NOT_INITIALIZED;
}

/// Puts `table` in force and returns the one before. Null stands for no table.
inline const driver::entry_points* put_in_force(process_state& state,
                                                const driver::entry_points* table) noexcept {
  const bool launches = table != nullptr && table->launch_kernel != nullptr;
  atomic_store<memory_order::release>(state.launch_kernel,
                                      launches ? table->launch_kernel : &refuse_launch);
  const driver::entry_points* before = atomic_exchange<memory_order::acq_rel>(
      state.table, table != nullptr ? table : &state.unloaded);
  return before != &state.unloaded ? before : nullptr;
}

/// Refuses all calls in a forked child if the parent has used the driver. If the parent had no
/// usable driver, the child has none for the same reason; if the parent had not looked for one, the
/// child may.
inline void process_state::after_fork() noexcept {
  loading.reset();
  const driver::entry_points* in_force = atomic_load<memory_order::acquire>(table);
  if (in_force == nullptr || (in_force == &unloaded && !is_loading)) return;
  if (in_force->unavailable != errc{} || in_force->start_failure != CUDA_SUCCESS) return;
  forked.unavailable = errc::process_forked;
  put_in_force(*this, &forked);
}

inline void refuse_calls_at_exit() noexcept {
  process_state& state = state_of_process();
  state.exiting.unavailable = errc::process_exiting;
  put_in_force(state, &state.exiting);
}

/// Called when the first table comes into force, after libcuda registered its own exit handlers:
/// handlers run in the reverse order, so this one runs before those.
inline void set_process_hooks(process_state& state) noexcept {
  if (state.hooks_set) return;
  state.hooks_set = true;
  on_process_exit(&refuse_calls_at_exit);
}

inline constexpr char driver_library_name[] = "libcuda.so.1";

/// Opens libcuda.so.1 and fills `table`; on failure all members are null, and `unavailable` or
/// `start_failure` says why.
inline void load_entry_points(driver::entry_points& table, char* detail,
                              std::size_t size) noexcept {
  const auto refuse = [&](errc why) {
    table = {};
    table.unavailable = why;
    table.unavailable_detail = detail;
  };
  const auto refuse_without = [&](const char* function) {
    format_into(detail, size, "it has no %s", function);
    refuse(errc::no_driver);
  };
  void* library = open_library(driver_library_name);
  if (library == nullptr) {
    format_into(detail, size, "%s", open_library_failure());
    return refuse(errc::no_driver);
  }
  const auto version_of =
      find_symbol<decltype(&::cuDriverGetVersion)>(library, "cuDriverGetVersion");
  const auto resolve = find_symbol<decltype(&::cuGetProcAddress)>(library, "cuGetProcAddress_v2");
  if (version_of == nullptr) return refuse_without("cuDriverGetVersion");
  int version = 0;
  if (const CUresult code = version_of(&version); code != CUDA_SUCCESS) {  // a stub's
    refuse(errc{});
    table.start_failure = code;
    table.unavailable_detail = "cuDriverGetVersion";
    return;
  }
  if (version < 12000) {
    format_into(detail, size, "this driver supports CUDA %d.%d", version / 1000,
                version % 1000 / 10);
    return refuse(errc::driver_too_old);
  }
  if (resolve == nullptr) return refuse_without("cuGetProcAddress_v2");
  for (std::size_t i = 0; i < driver::entry_point_count; ++i) {
    const driver::entry_point_info entry = driver::entry_point_list[i];
    void* function = nullptr;
    CUdriverProcAddressQueryResult found{};
    const CUresult code =
        resolve(entry.name, &function, entry.version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found);
    if (code != CUDA_SUCCESS || found != CU_GET_PROC_ADDRESS_SUCCESS) function = nullptr;
    std::memcpy(reinterpret_cast<char*>(&table) + entry.offset, &function, sizeof function);
  }
  if (table.init == nullptr) return refuse_without("cuInit");
  // nogpu's libcuda runs on the CPU: it is not what CUDA's other libraries and machine code need.
  const bool is_nogpu = find_symbol<const int*>(library, "nogpu_version") != nullptr;
  table.unavailable_detail = is_nogpu ? nullptr : driver_library_name;
}

/// Calls cuInit and keeps its code: the driver's other calls would return
/// CUDA_ERROR_NOT_INITIALIZED, whatever the reason.
inline void start_driver(driver::entry_points& table) noexcept {
  if (table.init == nullptr) return;
  const CUresult code = table.init(0);
  if (code == CUDA_SUCCESS) return;
  const auto version_of = table.driver_get_version;
  table = {};
  table.driver_get_version = version_of;
  table.start_failure = code;
  table.unavailable_detail = "cuInit";
}

/// Returns the table in force, and loads the driver first if it has not been loaded.
inline const driver::entry_points& entry_points_on_first_use() noexcept {
  process_state& state = state_of_process();
  const driver::entry_points* table = atomic_load<memory_order::acquire>(state.table);
  if (table != &state.unloaded) return *table;
  const scoped_lock lock(state.loading);
  table = atomic_load<memory_order::acquire>(state.table);
  if (table == &state.unloaded) {
    state.is_loading = true;
    load_entry_points(state.loaded, state.detail, sizeof state.detail);
    start_driver(state.loaded);
    state.is_loading = false;
    set_process_hooks(state);
    table = &state.loaded;
    put_in_force(state, table);
  }
  return *table;
}

}  // namespace detail
}}  // namespace gpu::v1
