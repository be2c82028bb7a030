#pragma once
/// \file
/// `entry_points`: the table of driver functions, the one way by which the library reaches the
/// driver.
///
/// The process has one table in force. It is loaded from libcuda.so.1 on first use, and it can be
/// replaced as a whole: before first use with `use_entry_points`, or for a scope with
/// `scoped_entry_points`. The CPU driver, fault injection and tracing are tables of their own.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/process_state.hpp>
#include <gpu/system/mutex.hpp>

#include <cstdint>
#include <cstring>

namespace gpu { inline namespace v1 { namespace driver {

/// Returns the table in force. The first call loads the driver, unless another table was put in
/// force before. Never fails: without a driver all members are null, and `unavailable` or
/// `start_failure` says why.
/// **Threads**: any number may call it at once; the driver is loaded once.
inline const entry_points& current_entry_points() noexcept {
  return gpu::detail::entry_points_on_first_use();
}

/// Returns whether the table in force was loaded from libcuda, or wraps one that was, so that
/// CUDA's other libraries, such as cuBLAS, use the same driver. False for the CPU driver, also if
/// it is loaded as libcuda by nogpu. Loads the driver if no table is in force.
inline bool uses_libcuda() noexcept {
  const entry_points& table = current_entry_points();
  return table.unavailable == errc{} && table.start_failure == CUDA_SUCCESS &&
         table.unavailable_detail != nullptr &&
         std::strcmp(table.unavailable_detail, gpu::detail::driver_library_name) == 0;
}

/// Returns a number that grows with each replacement of the table. It distinguishes tables that
/// were in force one after the other at the same address. The library stores this number with
/// everything that it remembers about a driver.
inline std::uint64_t entry_points_generation() noexcept {
  return gpu::detail::atomic_load<gpu::detail::memory_order::acquire>(
      gpu::detail::state_of_process().generation);
}

/// Puts `table` in force for the whole process, until it is replaced again. Returns the table
/// before, or null if the driver had not been used yet. `table` must stay unchanged and outlive all
/// use; null means that the next call loads libcuda. Objects of the old table must not be used or
/// destroyed under the new one, unless it passes their calls on.
inline const entry_points* use_entry_points(const entry_points* table) noexcept {
  gpu::detail::process_state& state = gpu::detail::state_of_process();
  const gpu::detail::scoped_lock lock(state.loading);
  gpu::detail::set_process_hooks(state);
  const entry_points* const before = gpu::detail::put_in_force(state, table);
  gpu::detail::atomic_fetch_add<gpu::detail::memory_order::acq_rel>(state.generation, 1);
  return before;
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

}}}  // namespace gpu::v1::driver
