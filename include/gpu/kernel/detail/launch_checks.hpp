#pragma once
/// \file
/// The checks of a launch against the limits of kernel and device. Each error has the value, the
/// limit and the cure.

#include <gpu/core/dims.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/argument_owner.hpp>
#include <gpu/kernel/detail/kernel_limits.hpp>
#include <gpu/kernel/detail/kernel_record.hpp>
#include <gpu/kernel/detail/launch_failure.hpp>
#include <gpu/kernel/detail/prepared_launch.hpp>
#include <gpu/kernel/detail/shared_memory_opt_in.hpp>
#include <gpu/kernel/detail/submit_launch.hpp>
#include <gpu/kernel/launch_config.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

inline void write(text_builder& out, const dims& d) noexcept {
  out << '{' << d.x << ", " << d.y << ", " << d.z << '}';
}

/// Checks the extents of a grid or a block, called `what`.
inline result<> check_extents(const prepared_launch& launch, const char* function, const char* what,
                              const dims& asked, const dims& limit, const char* cure) noexcept {
  const std::uint32_t values[] = {asked.x, asked.y, asked.z};
  const std::uint32_t limits[] = {limit.x, limit.y, limit.z};
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t value = values[axis], most = limits[axis];
    if (value != 0 && value <= most) continue;
    text_builder out;
    out << "kernel " << launch.kernel->label << ": the " << what << " is ";
    write(out, asked);
    out << ", and its "
        << "xyz"[axis] << " extent of " << value
        << (value == 0 ? " is zero; it must be at least 1 and at most "
            : value == ~std::uint32_t{0}
                ? " (or more, or negative) is not within the device's limit of "
                : " is more than the device's limit of ")
        << most << ". " << (value == 0 ? "Skip the launch if there is nothing to do." : cure);
    return fail(refusal(errc::invalid_launch, function, out.finish(), launch.where, value,
                        value == 0 ? 1 : most));
  }
  return {};
}

/// The number of blocks in a cluster that every device with clusters supports. Larger clusters cost
/// a launch one more driver call.
inline constexpr int portable_cluster_size = 8;

/// Returns the largest number of blocks that a cluster of the kernel can have, for clusters of more
/// than the portable size.
inline result<int> find_cluster_limit(const prepared_launch& launch,
                                      const kernel_limits& limits) noexcept {
  if (limits.has_clusters == 0) return 1;
  const auto in = launch.stream.context().native();
  int answer = 0;
  GPU_TRY(driver::call_in<&driver::entry_points::kernel_get_attribute>(
      in, launch.where, &answer, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
      launch.kernel->native, launch.stream.device().native()));
  if (answer == 0) return int{portable_cluster_size};
  const CUlaunchConfig native = native_config(launch.config, nullptr, nullptr, 0);
  GPU_TRY(driver::call_in<&driver::entry_points::occupancy_max_potential_cluster_size>(
      in, launch.where, &answer, reinterpret_cast<CUfunction>(launch.kernel->native), &native));
  return answer;
}

/// Checks the cluster against the grid, and against the limits of device and kernel.
inline result<> check_cluster(const prepared_launch& launch, const char* function,
                              const kernel_limits& limits) noexcept {
  const dims& cluster = launch.config.cluster;
  const dims& grid = launch.config.grid;
  const std::uint64_t blocks = cluster.volume();
  if (blocks == 1) return {};
  std::uint64_t limit = portable_cluster_size;
  if (blocks > limit || limits.has_clusters == 0)
    limit = static_cast<std::uint64_t>(GPU_TRY(find_cluster_limit(launch, limits)));
  const bool divides =
      blocks != 0 && grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
  if (divides && blocks <= limit) return {};
  text_builder out;
  out << "kernel " << launch.kernel->label << ": a cluster of ";
  write(out, cluster);
  if (blocks == 0) {
    limit = 1;
    out << " has no blocks; each extent must be at least 1, and {1, 1, 1} means no clusters.";
  } else if (blocks > limit) {
    out << " has " << blocks << " blocks, more than the limit of " << limit;
    out << (limits.has_clusters == 0
                ? ", because the device does not support clusters. Leave the cluster out."
            : limit == portable_cluster_size
                ? ". Use smaller clusters, or set "
                  "gpu::kernel_attribute::allows_nonportable_cluster if the device supports more."
                : " for this kernel on this device. Use smaller clusters.");
  } else {
    limit = grid.volume();
    out << " blocks does not divide the grid of ";
    write(out, grid);
    out << ". Round the grid up to whole clusters.";
  }
  return fail(refusal(errc::invalid_launch, function, out.finish(), launch.where, blocks, limit));
}

/// Checks grid and block against the limits of the device and of the kernel.
inline result<> check_shape(const prepared_launch& launch, const char* function,
                            const kernel_limits& limits) noexcept {
  const launch_config& config = launch.config;
  GPU_TRY(check_extents(launch, function, "grid", config.grid, limits.grid,
                        "Let each thread process several elements, in a grid-stride loop."));
  GPU_TRY(check_extents(launch, function, "block", config.block, limits.block,
                        "Use smaller blocks and more of them."));
  const std::uint64_t threads = config.block.volume();
  if (threads > limits.checked_threads) {
    const bool by_kernel = limits.checked_threads < limits.device_threads;
    text_builder out;
    out << "kernel " << launch.kernel->label << ": a block of ";
    write(out, config.block);
    out << " has " << threads << " threads, more than the " << (by_kernel ? "kernel's" : "device's")
        << " limit of " << limits.checked_threads
        << (by_kernel ? ", which its registers or its __launch_bounds__ set. Use smaller blocks, "
                        "or change its __launch_bounds__."
                      : ". Use smaller blocks and more of them.");
    return fail(refusal(errc::invalid_launch, function, out.finish(), launch.where, threads,
                        limits.checked_threads));
  }
  return {};
}

/// Opts in to `asked` bytes of dynamic shared memory if that is needed; fails if no block can have
/// that much.
inline result<> allow_shared_memory(const kernel_on_device& target, const kernel_limits& limits,
                                    std::uint32_t asked) noexcept {
  if (asked <= limits.dynamic_shared) return {};
  const std::uint32_t most = most_dynamic_shared(limits);
  if (asked > most) {
    text_builder out;
    out << "kernel " << target.kernel->label << ": " << asked
        << (asked == ~std::uint32_t{0} ? " (or more, or a negative number of)" : "")
        << " bytes of dynamic shared memory are more than the limit of " << most
        << ": a block on device " << limits.label.device << " can have " << limits.opt_in_shared
        << " bytes, of which the kernel declares " << limits.static_shared
        << " statically. Use less, or split the work into smaller tiles.";
    return fail(
        refusal(errc::invalid_launch, target.function, out.finish(), target.where, asked, most));
  }
  return raise_dynamic_shared(target, limits);
}

/// Checks that the attributes of a launch are there, and not too many.
inline result<> check_attributes(const prepared_launch& launch, const char* function) noexcept {
  const launch_attributes_ref& given = launch.config.attributes;
  const std::size_t count = given.size();
  if (count <= most_launch_attributes && (given.native() != nullptr || count == 0)) return {};
  const bool missing = count <= most_launch_attributes;
  text_builder out;
  out << "kernel " << launch.kernel->label << ": ";
  if (missing) {
    out << "config.attributes has size " << count
        << " but a null pointer. Pass the array that holds the attributes.";
  } else {
    out << count << " launch attributes are more than the limit of " << most_launch_attributes
        << ". Pass each attribute once.";
  }
  return fail(refusal(errc::invalid_launch, function, out.finish(), launch.where, count,
                      missing ? 0 : most_launch_attributes));
}

/// Checks that the device holds a cooperative grid at once: its blocks wait for each other.
inline result<> check_cooperative(const prepared_launch& launch, const char* function,
                                  const kernel_limits& limits) noexcept {
  const launch_config& config = launch.config;
  const CUcontext in = launch.stream.context().native();
  const auto kernel = reinterpret_cast<CUfunction>(launch.kernel->native);
  int answer = 0;
  std::uint64_t unit = limits.multiprocessors;
  if (config.cluster.volume() == 1) {
    GPU_TRY(driver::call_in<
            &driver::entry_points::occupancy_max_active_blocks_per_multiprocessor_with_flags>(
        in, launch.where, &answer, kernel, static_cast<int>(config.block.volume()),
        std::size_t{config.shared_bytes}, 0u));
  } else {
    whole_attributes attributes(config);
    attributes.add_cluster(config.cluster);
    const CUlaunchConfig native = native_config(config, nullptr, attributes.all, attributes.count);
    GPU_TRY(driver::call_in<&driver::entry_points::occupancy_max_active_clusters>(
        in, launch.where, &answer, kernel, &native));
    unit = config.cluster.volume();
  }
  const std::uint64_t blocks = config.grid.volume();
  const std::uint64_t together = static_cast<std::uint64_t>(answer) * unit;
  if (blocks <= together) return {};
  text_builder out;
  out << "kernel " << launch.kernel->label << ": the cooperative grid of ";
  write(out, config.grid);
  out << " has " << blocks << " blocks, more than the limit of " << together << ", which device "
      << limits.label.device
      << " holds at once in this shape. Launch fewer blocks, and let each do more.";
  return fail(
      refusal(errc::invalid_launch, function, out.finish(), launch.where, blocks, together));
}

/// Fails for a launch that is not cooperative, of a kernel that would stop at a trap then.
inline result<> require_cooperative(const prepared_launch& launch, const char* function) noexcept {
  if (!launch.kernel->synchronizes_grid) return {};
  text_builder out;
  out << "kernel " << launch.kernel->label
      << " synchronizes its grid (cooperative_groups::this_grid().sync()), and the launch is not "
         "cooperative: the kernel would trap. Add .cooperative = true to the launch_config, with "
         "at most gpu::max_cooperative_blocks(kernel, device, block_size) blocks.";
  return fail(refusal(errc::invalid_launch, function, out.finish(), launch.where));
}

/// Checks cooperation against the shape, once the shape alone was checked.
inline result<> check_cooperation(const prepared_launch& launch, const char* function,
                                  const kernel_limits& limits) noexcept {
  return is_cooperative(launch.config) ? check_cooperative(launch, function, limits)
                                       : require_cooperative(launch, function);
}

/// Checks the arguments' memory, the attributes, and the shape against the limits, on behalf of
/// `function`, and opts the kernel in to the shared memory that it needs. Returns the limits.
inline result<const kernel_limits*> prepare_kernel(const prepared_launch& launch,
                                                   const char* function) noexcept {
  GPU_TRY(check_owners(launch, function));
  GPU_TRY(check_attributes(launch, function));
  const kernel_on_device target{launch.kernel, launch.stream.context().native(),
                                launch.stream.device().native(), function, launch.where};
  const kernel_limits* limits = GPU_TRY(find_limits(target));
  if (fits(launch.config, *limits)) return limits;
  GPU_TRY(check_shape(launch, function, *limits));
  GPU_TRY(allow_shared_memory(target, *limits, launch.config.shared_bytes));
  GPU_TRY(check_cluster(launch, function, *limits));
  return limits;
}

/// Checks a launch in full, prepares the kernel and submits it, with its context current if it is
/// on a default stream.
inline result<> launch_checked(const prepared_launch& launch) noexcept {
  if (launch.kernel == &no_kernel)
    return fail(empty_handle_error("gpu::launch", "kernel", launch.where));
  GPU_TRY(require(launch.stream, "gpu::launch", launch.where));
  // Before the lock: in a forked child, another thread of the parent may have held it.
  GPU_TRY(require_launch_function(false, launch.where));
  const kernel_limits& limits = *GPU_TRY(prepare_kernel(launch, "gpu::launch"));
  GPU_TRY(check_cooperation(launch, "gpu::launch", limits));
  return on_stream(launch.stream, launch.where, [&] { return submit_any(launch, limits); });
}

/// Submits a launch whose only reason to be here is its attributes; checks all others.
inline result<> check_and_submit(const prepared_launch& launch) noexcept {
  const launch_attributes_ref& attributes = launch.config.attributes;
  const kernel_limits& limits = limits_of(launch.kernel, launch.stream);
  if (launch.owner_count == 0 && !launch.config.cooperative && fits(launch.config, limits) &&
      are_independent_of_shape(attributes))
    return submit_with_attributes(launch, limits, attributes.native(), attributes.size());
  return launch_checked(launch);
}

}}}  // namespace gpu::v1::detail
