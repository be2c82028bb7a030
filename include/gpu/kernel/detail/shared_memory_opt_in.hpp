#pragma once
/// \file
/// Finds the limits of a kernel on a device, and opts the kernel in to more dynamic shared memory
/// than usual, for launches, graphs and occupancy.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/kernel_limits.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A kernel on a device, in a context of the device, and the caller to name in errors.
struct kernel_on_device {
  kernel_record* kernel;
  CUcontext context;
  CUdevice device;
  const char* function;
  source_location where;
};

/// Returns the limits of the kernel on the device. They are read at the first use on the device and
/// then kept; for devices without a slot in the record, they are read every time.
inline result<const kernel_limits*> find_limits(const kernel_on_device& target) noexcept {
  kernel_record& kernel = *target.kernel;
  const auto read = [&] {
    return driver::in_context(target.context, target.where, [&] {
      return read_limits(target.function, kernel.native, kernel.label, kernel.synchronizes_grid,
                         target.device, target.where);
    });
  };
  const std::size_t index = device_slot(target.device);
  if (index == 0) {
    const scoped_lock lock(kernel_lock());
    return read();
  }
  const kernel_limits*& kept = kernel.limits[index];
  const kernel_limits* limits = atomic_load<memory_order::acquire>(kept);
  if (limits != &no_limits) return limits;
  const scoped_lock lock(kernel_lock());
  limits = atomic_load<memory_order::acquire>(kept);
  if (limits != &no_limits) return limits;
  limits = GPU_TRY(read());
  atomic_store<memory_order::release>(kept, limits);
  return limits;
}

/// Returns the dynamic shared memory, in bytes, that a block of the kernel can have after the
/// opt-in.
constexpr std::uint32_t most_dynamic_shared(const kernel_limits& limits) noexcept {
  const std::uint32_t opt_in = limits.opt_in_shared;
  return opt_in > limits.static_shared ? opt_in - limits.static_shared : 0;
}

/// Opts in to all the shared memory of the device, so that it happens once. (cuKernelSetAttribute)
inline result<> raise_dynamic_shared(const kernel_on_device& target,
                                     const kernel_limits& limits) noexcept {
  const std::uint32_t most = most_dynamic_shared(limits);
  const scoped_lock lock(kernel_lock());
  GPU_TRY(driver::call_in<&driver::entry_points::kernel_set_attribute>(
      target.context, target.where, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
      static_cast<int>(most), target.kernel->native, target.device));
  kernel_limits raised = limits;
  raised.dynamic_shared = most;
  const kernel_limits* kept = keep_limits(raised, target.kernel->label, target.device);
  if (kept == nullptr)
    return fail(out_of_host_memory_error(target.function, sizeof(kernel_limits), target.where));
  if (const std::size_t index = device_slot(target.device); index != 0)
    atomic_store<memory_order::release>(target.kernel->limits[index], kept);
  return {};
}

}}}  // namespace gpu::v1::detail
