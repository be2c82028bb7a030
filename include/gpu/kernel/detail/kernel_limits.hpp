#pragma once
/// \file
/// What each device allows a kernel: read once from the driver, and kept.

#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/kernel/detail/plain_launch.hpp>

#include <new>

namespace gpu::inline v0::detail {

/// What one device allows a kernel, as things stand. Never changes and lives until the process
/// ends, because records of launches point at its label when the module is gone.
struct kernel_limits {
  launch_label label;            ///< first, so that the launch path need not add to find it
  plain_launch_limits plain;     ///< for the launch path
  std::uint32_t kernel_threads;  ///< of a block, as the kernel's registers allow
  std::uint32_t dynamic_shared;  ///< what may be asked for without preparation, in bytes
  std::uint32_t static_shared;   ///< declared in the kernel, in bytes
  std::uint32_t device_threads;  ///< of a block
  std::uint32_t usual_shared;    ///< of a block, without asking for more
  std::uint32_t opt_in_shared;   ///< of a block, for a kernel that asked
  std::uint32_t multiprocessors;
  std::uint32_t has_clusters;  ///< whether the device has clusters of more than one block
  dims block;                  ///< largest extents
  dims grid;
};

/// What stands for the limits of a device where the kernel was not launched yet: nothing is
/// allowed.
inline constinit const kernel_limits no_limits{};

/// Held while limits are read, raised and kept; never on the launch path. Doubled where several
/// shared libraries have their own: each then guards its own modules.
inline mutex& kernel_lock() noexcept {
  static mutex lock{};
  return lock;
}

/// The one copy of `limits` that is kept for all kernels called `name` with these limits, null
/// where memory runs out. `limits.label` is filled here. To be called locked.
template <class Limits>
const Limits* keep_limits(Limits limits, const text& name, CUdevice device) noexcept {
  struct node {
    Limits limits;
    text name;
    node* next;
  };
  static node* first = nullptr;
  // As things stand, for all that depends on them alone.
  const bool usual = limits.block == usual_largest_block && limits.grid == usual_largest_grid;
  limits.plain = make_plain_launch_limits(usual ? limits.kernel_threads : 0, limits.dynamic_shared);
  for (node* n = first; n != nullptr; n = n->next) {
    const Limits& kept = n->limits;
    if (kept.label.device == device && kept.kernel_threads == limits.kernel_threads &&
        kept.dynamic_shared == limits.dynamic_shared &&
        kept.static_shared == limits.static_shared &&
        kept.multiprocessors == limits.multiprocessors &&
        kept.has_clusters == limits.has_clusters && n->name == name) {
      return &kept;
    }
  }
  node* made = new (std::nothrow) node{limits, name, first};
  if (made == nullptr) return nullptr;
  made->limits.label = {made->name.c_str(), device};
  first = made;
  return &made->limits;
}

/// Asks the driver what a device allows a kernel, on behalf of `function`. To be called locked, and
/// where a context of the device is current.
inline result<const kernel_limits*> read_limits(const char* function, CUkernel kernel,
                                                const text& name, CUdevice device,
                                                source_location where) noexcept {
  kernel_limits limits{};
  struct device_attribute {
    CUdevice_attribute which;
    std::uint32_t* value;
  };
  const device_attribute of_device[] = {
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &limits.device_threads},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &limits.block.x},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &limits.block.y},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &limits.block.z},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &limits.grid.x},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &limits.grid.y},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &limits.grid.z},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &limits.multiprocessors},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, &limits.has_clusters},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &limits.usual_shared},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &limits.opt_in_shared}};
  struct kernel_attribute {
    CUfunction_attribute which;
    std::uint32_t* value;
  };
  std::uint32_t raised = 0;
  const kernel_attribute of_kernel[] = {
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &limits.kernel_threads},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &limits.static_shared},
      {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &raised}};
  int value = 0;
  for (const device_attribute& attribute : of_device) {
    GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(where, &value,
                                                                      attribute.which, device));
    *attribute.value = static_cast<std::uint32_t>(value);
  }
  for (const kernel_attribute& attribute : of_kernel) {
    GPU_TRY(driver::call<&driver::entry_points::kernel_get_attribute>(
        where, &value, attribute.which, kernel, device));
    *attribute.value = static_cast<std::uint32_t>(value);
  }
  const std::uint32_t available =
      limits.usual_shared > limits.static_shared ? limits.usual_shared - limits.static_shared : 0;
  limits.dynamic_shared = raised > available ? raised : available;
  const kernel_limits* kept = keep_limits(limits, name, device);
  if (kept == nullptr)
    return fail(out_of_host_memory_error(function, sizeof(kernel_limits), where));
  return kept;
}

}  // namespace gpu::inline v0::detail
