#pragma once
/// \file
/// Occupancy of clusters: how large they can be, and how many the device holds at once.

#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/occupancy.hpp>

namespace gpu::inline v0 {

namespace detail {

/// Asks the driver about launches of a kernel in this shape, once it was checked and prepared as
/// `launch` does.
template <auto Member, class Number>
result<Number> ask_about_clusters(const char* function, const kernel_handle& kernel, device on,
                                  const launch_config& config, source_location where) noexcept {
  if (!kernel) return fail(empty_handle_error(function, "kernel", where));
  CUcontext primary = nullptr;
  GPU_TRY(find_primary_context(on.native(), primary, where));
  const auto stream = stream_ref::legacy_default(context_ref::from_native(primary, on));
  const prepared_launch launch{stream, config, kernel_access::record(kernel), nullptr, where};
  GPU_TRY(prepare_kernel(launch, function));
  // The cluster is stated even where it is one block, or the driver would know none at all.
  const attributes_and_cluster attributes(config);
  const CUlaunchConfig native = native_config(config, nullptr, attributes.all, attributes.count);
  Number answer = 0;
  GPU_TRY(driver::call_in<Member>(primary, where, &answer, as_function(kernel), &native));
  return answer;
}

}  // namespace detail

/// The most blocks that a cluster of launches in this shape and with these attributes can have,
/// whatever `config.cluster` is: up to 8 on devices with clusters, more where
/// `kernel_attribute::allows_nonportable_cluster` was set, 0 where not one block fits.
/// **Errors**: those of `launch` for shape and attributes; `errc::empty_handle`; the driver's.
/// **Capture**: not affected, and goes on. **Threads**: any. (cuOccupancyMaxPotentialClusterSize)
inline result<int> max_cluster_size(const kernel_handle& kernel, device on,
                                    const launch_config& config,
                                    source_location where = source_location::current()) noexcept {
  launch_config alone = config;
  alone.cluster = {};
  return detail::ask_about_clusters<&driver::entry_points::occupancy_max_potential_cluster_size,
                                    int>("gpu::max_cluster_size", kernel, on, alone, where);
}

/// How many clusters of `config.cluster` the device holds at once, of launches in this shape and
/// with these attributes.
/// **Errors**: those of `launch` for shape, cluster and attributes; `errc::empty_handle`; the
/// driver's.
/// **Capture**: not affected, and goes on. **Threads**: any. (cuOccupancyMaxActiveClusters)
inline result<int> max_active_clusters(
    const kernel_handle& kernel, device on, const launch_config& config,
    source_location where = source_location::current()) noexcept {
  return detail::ask_about_clusters<&driver::entry_points::occupancy_max_active_clusters, int>(
      "gpu::max_active_clusters", kernel, on, config, where);
}

}  // namespace gpu::inline v0
