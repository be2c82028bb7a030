#pragma once
/// \file
/// Settings of a device's primary context, which all code of the process shares.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/library_pools.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/device.hpp>

namespace gpu { inline namespace v1 {

/// The state of a primary context.
struct primary_context_state {
  context_flags flags = context_flags::none;
  bool active = false;  ///< it exists, because some code retains it
};

/// **Capture**: not affected. **Threads**: any. (cuDevicePrimaryCtxGetState)
inline result<primary_context_state> get_primary_context_state(
    device of, source_location where = source_location::current()) noexcept {
  unsigned flags = 0;
  int active = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_primary_ctx_get_state>(where, of.native(),
                                                                            &flags, &active));
  return primary_context_state{static_cast<context_flags>(flags), active != 0};
}

/// Sets how the primary context behaves, whether it exists already or is made later.
/// **Errors**: `errc::invalid_argument` for flags that do not go together. **Capture**: not
/// affected.
/// **Threads**: any; concerns all users of the device in the process, other libraries included.
/// (cuDevicePrimaryCtxSetFlags, the runtime's cudaSetDeviceFlags)
inline result<> set_primary_context_flags(
    device of, context_flags flags, source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::check_context_flags(flags, "gpu::set_primary_context_flags", where));
  return driver::call<&driver::entry_points::device_primary_ctx_set_flags>(
      where, of.native(), static_cast<unsigned>(flags));
}

/// Destroys the primary context and all that lives in it, of this library and of others: memory,
/// streams, events, loaded code; and the memory that the library keeps for the device. A new one is
/// made on next use. Call it when nothing in the context is in use any more. Objects that still
/// exist have to be destroyed or released before the device is used again; their destructors report
/// nothing then. A destructor that runs later would free memory that has the same address in the
/// new context.
/// **Threads**: no other thread may be using the device. **Capture**: ends every capture on the
/// device. (cuDevicePrimaryCtxReset, the runtime's cudaDeviceReset)
inline result<> reset_primary_context(device of,
                                      source_location where = source_location::current()) noexcept {
  const CUmemoryPool pool = detail::library_pools::of_process().remove(of.native());
  if (pool != nullptr) GPU_TRY(driver::call<&driver::entry_points::mem_pool_destroy>(where, pool));
  GPU_TRY(driver::call<&driver::entry_points::device_primary_ctx_reset>(where, of.native()));
  return detail::forget_primary_context(of.native(), where);
}

}}  // namespace gpu::v1
