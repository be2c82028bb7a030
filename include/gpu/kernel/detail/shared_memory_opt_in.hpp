#pragma once
/// \file
/// What a device allows a kernel, found when it is first asked for and kept; and the opt-in to more
/// dynamic shared memory than usual, which `launch`, graphs and the questions about occupancy make
/// where they need it.

#include <gpu/driver/detail/current_context.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>

namespace gpu::inline v0::detail {

/// A kernel on a device, in a context of it, and the user's call that this is about.
struct kernel_on_device {
  kernel_record* kernel;
  CUcontext context;
  CUdevice device;
  const char* function;
  source_location where;
};

/// What the device allows the kernel, which is asked at the first use there and then kept; of
/// devices that the record has no room for, every time.
[[gnu::cold, gnu::noinline]] inline result<const kernel_limits*> find_limits(
    const kernel_on_device& place) noexcept {
  kernel_record& kernel = *place.kernel;
  // The limits come from where the kernel will run.
  const auto read = [&] {
    return driver::in_context(place.context, place.where, [&] {
      return read_limits(place.function, kernel.native, kernel.name, place.device, place.where);
    });
  };
  const std::size_t index = limits_place(place.device);
  if (index == 0) {
    const scoped_lock lock(kernel_lock());
    return read();
  }
  const kernel_limits*& kept = kernel.limits[index];
  const kernel_limits* limits = __atomic_load_n(&kept, __ATOMIC_ACQUIRE);
  if (limits != &no_limits) return limits;
  const scoped_lock lock(kernel_lock());
  limits = __atomic_load_n(&kept, __ATOMIC_ACQUIRE);
  if (limits != &no_limits) return limits;
  limits = GPU_TRY(read());
  __atomic_store_n(&kept, limits, __ATOMIC_RELEASE);
  return limits;
}

/// The dynamic shared memory of a block, in bytes, that the kernel can have with the opt-in.
constexpr std::uint32_t most_dynamic_shared(const kernel_limits& limits) noexcept {
  const std::uint32_t opt_in = limits.opt_in_shared;
  return opt_in > limits.static_shared ? opt_in - limits.static_shared : 0;
}

/// Makes the opt-in: to all that the device has, so that it is made once. (cuKernelSetAttribute)
[[gnu::cold, gnu::noinline]] inline result<> raise_dynamic_shared(
    const kernel_on_device& place, const kernel_limits& limits) noexcept {
  const std::uint32_t most = most_dynamic_shared(limits);
  const scoped_lock lock(kernel_lock());
  GPU_TRY(driver::call_in<&driver::entry_points::kernel_set_attribute>(
      place.context, place.where, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
      static_cast<int>(most), place.kernel->native, place.device));
  kernel_limits raised = limits;
  raised.dynamic_shared = most;
  const kernel_limits* kept = keep_limits(raised, place.kernel->name, place.device);
  if (kept == nullptr)
    return fail(out_of_host_memory_error(place.function, sizeof(kernel_limits), place.where));
  if (const std::size_t index = limits_place(place.device); index != 0)
    __atomic_store_n(&place.kernel->limits[index], kept, __ATOMIC_RELEASE);
  return {};
}

}  // namespace gpu::inline v0::detail
