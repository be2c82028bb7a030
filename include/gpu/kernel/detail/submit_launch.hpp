#pragma once
/// \file
/// Submits a launch that was checked: leaves its record, and calls cuLaunchKernel or
/// cuLaunchKernelEx.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/dims.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/process_state.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/kernel_limits.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/kernel/detail/launch_failure.hpp>
#include <gpu/kernel/detail/prepared_launch.hpp>
#include <gpu/kernel/launch_config.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The attributes of a launch and, as more of them, its cooperation and its cluster.
struct whole_attributes {
  explicit whole_attributes(const launch_config& config) noexcept {
    for (std::size_t i = 0; i < config.attributes.size(); ++i) {
      const CUlaunchAttribute& each = config.attributes.native()[i];
      if (!config.cooperative || each.id != CU_LAUNCH_ATTRIBUTE_COOPERATIVE) all[count++] = each;
    }
    if (config.cooperative) all[count++] = cooperative_attribute();
  }
  void add_cluster(const dims& cluster) noexcept { all[count++] = cluster_attribute(cluster); }

  CUlaunchAttribute all[most_launch_attributes + 2];
  std::size_t count = 0;
};

/// Submits a launch with these attributes. (cuLaunchKernelEx)
inline result<> submit_with_attributes(const prepared_launch& launch, const kernel_limits& limits,
                                       const CUlaunchAttribute* attributes,
                                       std::size_t count) noexcept {
  const CUstream stream = launch.stream.native();
  const CUlaunchConfig native = native_config(launch.config, stream, attributes, count);
  const std::uint64_t ticket = note_launch(launch.kernel->process->launches, &limits.label,
                                           recorded_stream(stream), launch.where);
  const auto function = driver::current_entry_points().launch_kernel_ex;
  CUresult code = CUDA_ERROR_NOT_INITIALIZED;
  if (function != nullptr) {
    code = function(&native, reinterpret_cast<CUfunction>(launch.kernel->native), launch.arguments,
                    nullptr);
  }
  if (code == CUDA_SUCCESS) return {};
  return explain_launch_failure(code, ticket, limits.label, stream, launch.where, &native);
}

/// Submits a launch without attributes and cluster. `limits` are those of its device.
/// (cuLaunchKernel)
// Inlined, as are the functions on the way here in launch.hpp and kernel_limits.hpp: together they
// cost 55 to 96 instructions above the raw call with g++ 12. If one of them is not inlined, it is
// 92 to 144 (benchmarks/kernel/launch_overhead).
[[gnu::always_inline]] inline result<> submit(const stream_ref& stream, const launch_config& config,
                                              kernel_record* kernel, const kernel_limits& limits,
                                              void** arguments, source_location where) noexcept {
  process_state& process = *kernel->process;
  const std::uint64_t ticket =
      note_launch(process.launches, &limits.label, recorded_stream(stream.native()), where);
  const auto function = atomic_load<memory_order::acquire>(process.launch_kernel);
  const CUresult code =
      function(reinterpret_cast<CUfunction>(kernel->native), config.grid.x, config.grid.y,
               config.grid.z, config.block.x, config.block.y, config.block.z, config.shared_bytes,
               stream.native(), arguments, nullptr);
  if (code == CUDA_SUCCESS) return {};
  return explain_launch_failure(code, ticket, limits.label, stream.native(), where);
}

/// Submits a launch in any shape. The driver takes a cluster and cooperation as attributes.
inline result<> submit_any(const prepared_launch& launch, const kernel_limits& limits) noexcept {
  const launch_config& config = launch.config;
  if (config.cooperative || config.cluster != dims{}) {
    whole_attributes attributes(config);
    if (config.cluster != dims{}) attributes.add_cluster(config.cluster);
    return submit_with_attributes(launch, limits, attributes.all, attributes.count);
  }
  if (const launch_attributes_ref& attributes = config.attributes; attributes.size() != 0)
    return submit_with_attributes(launch, limits, attributes.native(), attributes.size());
  return submit(launch.stream, config, launch.kernel, limits, launch.arguments, launch.where);
}

}}}  // namespace gpu::v1::detail
