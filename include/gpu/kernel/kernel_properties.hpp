#pragma once
/// \file
/// `kernel_properties`: the properties of a kernel on a device, all at once. kernel_attribute.hpp
/// reads each alone, and sets those that can be set.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/dims.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

/// The distribution of a cluster's blocks over multiprocessors. Converts to
/// `CUclusterSchedulingPolicy` by cast.
enum class cluster_scheduling : unsigned char {
  unspecified = CU_CLUSTER_SCHEDULING_POLICY_DEFAULT,
  spread = CU_CLUSTER_SCHEDULING_POLICY_SPREAD,
  load_balancing = CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING,
};

/// Returns the policy's name, such as "load_balancing", or null for a value that is not valid.
constexpr const char* name_of(cluster_scheduling policy) noexcept {
  using enum cluster_scheduling;
  return detail::find_name(
      policy,
      {{unspecified, "unspecified"}, {spread, "spread"}, {load_balancing, "load_balancing"}});
}

/// The properties of a kernel on a device.
struct kernel_properties {
  std::uint32_t max_threads_per_block = 0;   ///< as the kernel's registers allow
  std::size_t static_shared_bytes = 0;       ///< of a block, declared in the kernel
  std::size_t constant_bytes = 0;            ///< of the user's `__constant__` variables
  std::size_t local_bytes = 0;               ///< of a thread: spilled registers and arrays
  std::uint32_t registers = 0;               ///< of a thread
  compute_capability ptx_version = {};       ///< for which the PTX was compiled
  compute_capability binary_version = {};    ///< for which the machine code was compiled
  bool caches_globals_in_l1 = false;         ///< compiled with -Xptxas --dlcm=ca
  std::size_t max_dynamic_shared_bytes = 0;  ///< of a block, as set now; `launch` raises it
  int shared_carveout = -1;                  ///< percent, or -1 for the driver's choice
  bool needs_cluster = false;                ///< a launch has to specify the cluster
  dims required_cluster = {0, 0, 0};         ///< declared in the kernel; zeros if not
  bool allows_nonportable_cluster = false;   ///< of more than 8 blocks
  gpu::cluster_scheduling cluster_scheduling = {};
};

namespace detail {

/// Fills `found`. The caller has made a context current.
inline result<> read_properties(CUkernel kernel, CUdevice device, kernel_properties& found,
                                source_location where) noexcept {
  int values[CU_FUNC_ATTRIBUTE_MAX] = {};
  for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; ++i) {
    GPU_TRY(driver::call<&driver::entry_points::kernel_get_attribute>(
        where, &values[i], static_cast<CUfunction_attribute>(i), kernel, device));
  }
  const auto number = [&](CUfunction_attribute which) {
    return static_cast<std::uint32_t>(values[which]);
  };
  const auto capability = [&](CUfunction_attribute which) {
    return compute_capability{values[which] / 10, values[which] % 10};
  };
  found.max_threads_per_block = number(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  found.static_shared_bytes = number(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  found.constant_bytes = number(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  found.local_bytes = number(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  found.registers = number(CU_FUNC_ATTRIBUTE_NUM_REGS);
  found.ptx_version = capability(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  found.binary_version = capability(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  found.caches_globals_in_l1 = values[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA] != 0;
  found.max_dynamic_shared_bytes = number(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  found.shared_carveout = values[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
  found.needs_cluster = values[CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET] != 0;
  found.required_cluster = dims(number(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
                                number(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
                                number(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH));
  found.allows_nonportable_cluster =
      values[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] != 0;
  found.cluster_scheduling = static_cast<gpu::cluster_scheduling>(
      values[CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE]);
  return {};
}

}  // namespace detail
}}  // namespace gpu::v1
