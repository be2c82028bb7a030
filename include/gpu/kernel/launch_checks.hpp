#pragma once
/// \file
/// The launch off its fast path: exact checks with their messages, larger shared memory, clusters
/// and attributes, the default streams, and what happens when the driver refuses.
///
/// What is not on the fast path is a template on the text builder that writes its messages: so it
/// is compiled where something is launched, and costs next to nothing where this is only included.

#include <gpu/driver/stream.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/kernel/shared_memory_opt_in.hpp>

namespace gpu::detail {

/// A launch with its arguments in place.
struct prepared_launch {
  stream_ref stream;
  launch_config config;
  kernel_record* kernel;
  void** arguments;
  source_location where;
};

inline void write(text_builder& out, const dims& d) noexcept {
  out << '{' << d.x << ", " << d.y << ", " << d.z << '}';
}

/// `what` of a launch is zero or too large along an axis.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline result<> check_extents(const prepared_launch& launch,
                                                           const char* function, const char* what,
                                                           const dims& asked, const dims& limit,
                                                           const char* cure) noexcept {
  const std::uint32_t values[] = {asked.x, asked.y, asked.z};
  const std::uint32_t limits[] = {limit.x, limit.y, limit.z};
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t value = values[axis], most = limits[axis];
    if (value != 0 && value <= most) continue;
    Builder out;
    out << "kernel " << launch.kernel->name << ": the " << what << " is ";
    write(out, asked);
    out << ", and its "
        << "xyz"[axis] << " extent of " << value
        << (value == 0 ? " is zero; it must be at least 1 and at most "
                       : " is more than the device's limit of ")
        << most << ". " << (value == 0 ? "Skip the launch where there is nothing to do." : cure);
    return fail(refusal(errc::invalid_launch, function, out.finish(), launch.where, value,
                        value == 0 ? 1 : most));
  }
  return {};
}

/// Grid, block and cluster against the limits of the device and of the kernel.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline result<> check_shape(const prepared_launch& launch,
                                                         const char* function,
                                                         const kernel_limits& limits) noexcept {
  const launch_config& config = launch.config;
  GPU_TRY(check_extents(launch, function, "grid", config.grid, limits.grid,
                        "Give each thread several elements, in a loop that strides by the grid."));
  GPU_TRY(check_extents(launch, function, "block", config.block, limits.block,
                        "Use smaller blocks and more of them."));
  const std::uint64_t threads = config.block.volume();
  if (threads > limits.kernel_threads) {
    const bool by_registers = limits.kernel_threads < limits.device_threads;
    Builder out;
    out << "kernel " << launch.kernel->name << ": a block of ";
    write(out, config.block);
    out << " has " << threads << " threads, more than the "
        << (by_registers ? "kernel's" : "device's") << " limit of " << limits.kernel_threads
        << (by_registers ? ", which its registers set. Use smaller blocks, or give the kernel "
                           "__launch_bounds__."
                         : ". Use smaller blocks and more of them.");
    return fail(refusal(errc::invalid_launch, function, out.finish(), launch.where, threads,
                        limits.kernel_threads));
  }
  const dims& cluster = config.cluster;
  if (cluster.volume() == 0 || config.grid.x % cluster.x != 0 || config.grid.y % cluster.y != 0 ||
      config.grid.z % cluster.z != 0) {
    Builder out;
    out << "kernel " << launch.kernel->name << ": a cluster of ";
    write(out, cluster);
    out << " blocks does not divide the grid of ";
    write(out, config.grid);
    out << ". Round the grid up to whole clusters.";
    return fail(refusal(errc::invalid_launch, function, out.finish(), launch.where,
                        cluster.volume(), config.grid.volume()));
  }
  return {};
}

/// Sees to it that the kernel may use `asked` bytes of dynamic shared memory.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline result<> allow_shared_memory(const kernel_on_device& place,
                                                                 const kernel_limits& limits,
                                                                 std::uint32_t asked) noexcept {
  if (asked <= limits.dynamic_shared) return {};
  const std::uint32_t most = most_dynamic_shared(limits);
  if (asked > most) {
    Builder out;
    out << "kernel " << place.kernel->name << ": " << asked
        << " bytes of dynamic shared memory are more than the " << most << " that are left of the "
        << limits.opt_in_shared << " which a block can have on device " << limits.label.device
        << ", since the kernel itself declares " << limits.static_shared
        << ". Ask for less, or split the work into smaller tiles.";
    return fail(
        refusal(errc::invalid_launch, place.function, out.finish(), place.where, asked, most));
  }
  return raise_dynamic_shared(place, limits);
}

/// Finds out what the device allows, checks shape and shared memory against it, and prepares the
/// kernel, on behalf of `function`.
template <class Limits = const kernel_limits*>
[[gnu::cold, gnu::noinline]] inline result<Limits> prepare_kernel(const prepared_launch& launch,
                                                                  const char* function) noexcept {
  const kernel_on_device place{launch.kernel, launch.stream.context().native(),
                               launch.stream.device().native(), function, launch.where};
  Limits limits = GPU_TRY(find_limits<Limits>(place));
  GPU_TRY(check_shape(launch, function, *limits));
  GPU_TRY(allow_shared_memory(place, *limits, launch.config.shared_bytes));
  return limits;
}

/// Without a driver, or in a forked child, says why there is no launch.
template <class Builder = text_builder>
result<> require_launch_function(source_location where) noexcept {
  if (driver::current_entry_points().launch_kernel != nullptr) return {};
  return driver::call<&driver::entry_points::launch_kernel>(
      where, CUfunction{}, 0u, 0u, 0u, 0u, 0u, 0u, 0u, CUstream{}, static_cast<void**>(nullptr),
      static_cast<void**>(nullptr));
}

/// Turns what the driver said to a launch into an error, and takes the record of it back. With
/// CUDA_LAUNCH_BLOCKING=1 a fault comes from this very launch; else from one before it. What has to
/// be known is read from the record, so that the launch path need not keep it: even the name of the
/// file, which is lost where 256 other launches were made since.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline result<> launch_failed(
    int code, std::uint64_t ticket, std::uint32_t line,
    std::size_t call = driver::entry_point_index(&driver::entry_points::launch_kernel)) noexcept {
  launch_ring& ring = launches();
  const launch_record& record = ring.records[ticket % launch_ring::size];
  const launch_label* label = __atomic_load_n(&record.label, __ATOMIC_RELAXED);
  const char* file = __atomic_load_n(&record.file, __ATOMIC_RELAXED);
  CUstream stream = __atomic_load_n(&record.stream, __ATOMIC_RELAXED);
  // Whether the record is still that of this launch, after so many others.
  if (!forget_launch(ring, ticket)) {
    label = nullptr;
    file = "";
    stream = nullptr;
  }
  const auto where = source_location::current(file, static_cast<int>(line));
  GPU_TRY(require_launch_function(where));
  const char* blocking = environment_variable("CUDA_LAUNCH_BLOCKING");
  if (label == nullptr || !is_kernel_fault(code) || blocking == nullptr ||
      __builtin_strcmp(blocking, "1") != 0) {
    return fail(driver::error_of(static_cast<CUresult>(code), call, where, stream));
  }
  Builder out;
  out << "The fault comes from kernel " << label->kernel << ", which this launch ran to its end.";
  return fail(cuda_error(error_domain::driver, code, driver::entry_point_list[call].name, where)
                  .with_details(out.finish()));
}

/// More than there are to choose from; a cluster is one beside these.
inline constexpr std::size_t most_launch_attributes = 31;

template <class Builder = text_builder>
inline result<> check_attributes(const prepared_launch& launch) noexcept {
  const std::size_t count = launch.config.attribute_count;
  if (count <= most_launch_attributes) [[likely]]
    return {};
  Builder out;
  out << "kernel " << launch.kernel->name << ": " << count
      << " launch attributes are more than the limit of " << most_launch_attributes
      << ". Pass each attribute once.";
  return fail(refusal(errc::invalid_launch, "gpu::launch", out.finish(), launch.where, count,
                      most_launch_attributes));
}

/// Launches with cuLaunchKernelEx and these attributes.
template <class Builder = text_builder>
inline result<> launch_extended(const prepared_launch& launch, const kernel_limits& limits,
                                const CUlaunchAttribute* attributes, std::size_t count) noexcept {
  const CUlaunchConfig native =
      native_config(launch.config, launch.stream.native(), attributes, count);
  constexpr auto member = &driver::entry_points::launch_kernel_ex;
  process_state& process = *launch.kernel->process;
  const auto kernel = reinterpret_cast<CUfunction>(launch.kernel->native);
  const auto function = __atomic_load_n(&process.table, __ATOMIC_ACQUIRE)->*member;
  if (function == nullptr) [[unlikely]] {
    return driver::call<member>(launch.where, &native, kernel, launch.arguments,
                                static_cast<void**>(nullptr));
  }
  const std::uint64_t ticket =
      note_launch(process.launches, &limits.label, native.hStream, launch.where);
  const CUresult code = function(&native, kernel, launch.arguments, nullptr);
  if (code == CUDA_SUCCESS) [[likely]]
    return {};
  return launch_failed(code, ticket, launch.where.line(), driver::entry_point_index(member));
}

/// The same for a cluster, which is an attribute more.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline result<> launch_clusters(const prepared_launch& launch,
                                                             const kernel_limits& limits) noexcept {
  const launch_config& config = launch.config;
  CUlaunchAttribute attributes[most_launch_attributes + 1];
  for (std::size_t i = 0; i < config.attribute_count; ++i) attributes[i] = config.attributes[i];
  attributes[config.attribute_count] = cluster_attribute(config.cluster);
  return launch_extended(launch, limits, attributes, config.attribute_count + 1);
}

template <class Builder = text_builder>
inline result<> launch_plainly(const prepared_launch& launch,
                               const kernel_limits& limits) noexcept {
  const dims& grid = launch.config.grid;
  const dims& block = launch.config.block;
  constexpr auto member = &driver::entry_points::launch_kernel;
  const auto function = driver::current_entry_points().*member;
  const std::uint64_t ticket = note_launch(launch.kernel->process->launches, &limits.label,
                                           launch.stream.native(), launch.where);
  const CUresult code = function(
      reinterpret_cast<CUfunction>(launch.kernel->native), grid.x, grid.y, grid.z, block.x, block.y,
      block.z, launch.config.shared_bytes, launch.stream.native(), launch.arguments, nullptr);
  if (code == CUDA_SUCCESS) return {};
  return launch_failed(code, ticket, launch.where.line());
}

/// Does the whole of a launch of which nothing is known.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline result<> launch_carefully(
    const prepared_launch& launch) noexcept {
  kernel_record* const kernel = launch.kernel;
  if (kernel == &no_kernel) return fail(empty_handle_error("gpu::launch", "kernel", launch.where));
  GPU_TRY(require(launch.stream, "gpu::launch", launch.where));
  // In a forked child this stays away from the lock.
  GPU_TRY(require_launch_function(launch.where));
  GPU_TRY(check_attributes(launch));
  const kernel_limits& limits = *GPU_TRY(prepare_kernel(launch, "gpu::launch"));
  return on_stream(launch.stream, launch.where, [&] {
    const launch_config& config = launch.config;
    if (config.cluster.volume() != 1) return launch_clusters(launch, limits);
    if (config.attribute_count == 0) return launch_plainly(launch, limits);
    return launch_extended(launch, limits, config.attributes, config.attribute_count);
  });
}

/// A launch that is not plain. Where attributes alone are the reason, nothing about it is left to
/// be checked.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline result<> launch_otherwise(
    const prepared_launch& launch) noexcept {
  const launch_config& config = launch.config;
  const std::size_t place = stream_access::limits_place(launch.stream);
  const kernel_limits& limits = *__atomic_load_n(&launch.kernel->limits[place], __ATOMIC_ACQUIRE);
  if (!is_plain_shape(config, limits.plain)) return launch_carefully(launch);
  GPU_TRY(check_attributes(launch));
  return launch_extended(launch, limits, config.attributes, config.attribute_count);
}

/// Either of the two: a launch that is not plain, or one that the driver refused.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline result<> launch_unsuccessful(const prepared_launch* otherwise,
                                                                 int code, std::uint64_t ticket,
                                                                 std::uint32_t line) noexcept {
  if (otherwise != nullptr) return launch_otherwise(*otherwise);
  return launch_failed(code, ticket, line);
}

}  // namespace gpu::detail
