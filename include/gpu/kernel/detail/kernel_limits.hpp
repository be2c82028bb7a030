#pragma once
/// \file
/// The limits of a kernel on each device, read once from the driver and kept; and the test whether
/// a launch is certainly within them.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/dims.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

/// The limits of a kernel on a device. Never change, and live until the process ends, because the
/// records of launches point at their label even after the module is gone.
struct kernel_limits {
  launch_label label;
  dims grid;   ///< largest extents
  dims block;  ///< largest extents
  /// Of a block that needs no further check, as the kernel's registers allow; 0 if the kernel
  /// synchronizes its grid, so that each launch is checked.
  std::uint32_t kernel_threads;
  std::uint32_t device_threads;   ///< of a block, as the device allows
  std::uint32_t dynamic_shared;   ///< bytes of a block that need no opt-in, or had it
  std::uint32_t static_shared;    ///< bytes that the kernel declares
  std::uint32_t default_shared;   ///< bytes of a block without opt-in
  std::uint32_t opt_in_shared;    ///< bytes of a block with opt-in
  std::uint32_t multiprocessors;  ///< of the device
  std::uint32_t has_clusters;     ///< whether the device has clusters of more than one block
  std::uint32_t checked_threads;  ///< of a block, as the kernel's registers allow
};

/// Stands for the limits of a device on which the kernel was not launched yet: rejects every
/// launch.
inline constinit const kernel_limits no_limits{{}, {0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0};

/// The largest number of attributes that a launch can have: more than there are to choose from.
inline constexpr std::size_t most_launch_attributes = 31;

/// Returns whether every extent is at least 1 and at most that of `largest`.
[[gnu::always_inline]] inline bool is_within(const dims& extents, const dims& largest) noexcept {
  return extents.x - 1 < largest.x && extents.y - 1 < largest.y && extents.z - 1 < largest.z;
}

/// Returns whether the shape is certainly within the limits, whatever attributes the launch has and
/// if it is not cooperative.
[[gnu::always_inline]] inline bool fits(const launch_config& config,
                                        const kernel_limits& limits) noexcept {
  const dims& block = config.block;
  return is_within(config.grid, limits.grid) && is_within(block, limits.block) &&
         block.x * block.y * block.z <= limits.kernel_threads &&
         config.shared_bytes <= limits.dynamic_shared && config.cluster == dims{};
}

/// Returns whether there are attributes, of which none depends on the shape.
inline bool are_independent_of_shape(const launch_attributes_ref& attributes) noexcept {
  if (attributes.native() == nullptr || attributes.size() == 0 ||
      attributes.size() > most_launch_attributes) {
    return false;
  }
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    if (attributes.native()[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) return false;
  }
  return true;
}

/// Returns whether a launch is within the limits, has no attributes and is not cooperative.
[[gnu::always_inline]] inline bool is_fast_path(const launch_config& config,
                                                const kernel_limits& limits) noexcept {
  // One test of both takes two instructions less (benchmarks/kernel/launch_overhead).
  return fits(config, limits) && (config.attributes.size() | std::size_t{config.cooperative}) == 0;
}

/// Held while limits are read, raised and kept; never on the launch path. Each shared library may
/// have its own, which then guards its own modules.
inline mutex& kernel_lock() noexcept {
  static mutex lock{};
  return lock;
}

/// Returns the one copy of `limits` that is kept for all kernels called `name` with these limits,
/// or null if memory runs out. Fills `limits.label`. The caller holds the lock.
inline const kernel_limits* keep_limits(kernel_limits limits, const text& name,
                                        CUdevice device) noexcept {
  struct node {
    kernel_limits limits;
    text name;
    node* next;
  };
  static node* first = nullptr;
  for (node* n = first; n != nullptr; n = n->next) {
    const kernel_limits& kept = n->limits;
    if (kept.label.device == device && kept.kernel_threads == limits.kernel_threads &&
        kept.dynamic_shared == limits.dynamic_shared &&
        kept.static_shared == limits.static_shared &&
        kept.multiprocessors == limits.multiprocessors &&
        kept.has_clusters == limits.has_clusters &&
        kept.checked_threads == limits.checked_threads && n->name == name) {
      return &kept;
    }
  }
  node* made = new (std::nothrow) node{limits, name, first};
  if (made == nullptr) return nullptr;
  made->limits.label = {made->name.c_str(), device};
  first = made;
  return &made->limits;
}

/// Reads the limits of a kernel on a device, on behalf of `function`. The caller holds the lock,
/// and a context of the device is current.
inline result<const kernel_limits*> read_limits(const char* function, CUkernel kernel,
                                                const text& name, bool synchronizes_grid,
                                                CUdevice device, source_location where) noexcept {
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
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &limits.default_shared},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &limits.opt_in_shared}};
  struct kernel_attribute {
    CUfunction_attribute which;
    std::uint32_t* value;
  };
  std::uint32_t raised = 0;
  const kernel_attribute of_kernel[] = {
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &limits.checked_threads},
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
  const std::uint32_t available = limits.default_shared > limits.static_shared
                                      ? limits.default_shared - limits.static_shared
                                      : 0;
  limits.dynamic_shared = raised > available ? raised : available;
  limits.kernel_threads = synchronizes_grid ? 0 : limits.checked_threads;
  const kernel_limits* kept = keep_limits(limits, name, device);
  if (kept == nullptr)
    return fail(out_of_host_memory_error(function, sizeof(kernel_limits), where));
  return kept;
}

}}}  // namespace gpu::v1::detail
