#pragma once
/// \file
/// Occupancy: how many blocks or clusters of a kernel run at once, which resource limits them, and
/// which block size gives the most.

#include <gpu/core/count.hpp>
#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_data.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/detail/launch_checks.hpp>
#include <gpu/kernel/detail/occupancy_calls.hpp>
#include <gpu/kernel/detail/prepared_launch.hpp>
#include <gpu/kernel/detail/submit_launch.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch_config.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

/// Flags of the occupancy calculation.
enum class occupancy_flags : unsigned {
  none = CU_OCCUPANCY_DEFAULT,
  /// Assumes that caching of global memory in L1 costs no occupancy, on devices where it does.
  disable_caching_override = CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE,
};
template <> inline constexpr bool is_flag_set<occupancy_flags> = true;

/// The resource of a multiprocessor that runs out first.
enum class occupancy_limit : unsigned char { blocks, warps, registers, shared_memory };

/// Returns the limit's name, such as "registers", or null for a value that is not valid.
constexpr const char* name_of(occupancy_limit limit) noexcept {
  using enum occupancy_limit;
  return detail::find_name(limit, {{blocks, "blocks"},
                                   {warps, "warps"},
                                   {registers, "registers"},
                                   {shared_memory, "shared_memory"}});
}

/// The occupancy of a multiprocessor by blocks of one kernel.
struct occupancy {
  int blocks = 0;       ///< resident at once, as the driver reports
  int warps = 0;        ///< of these blocks
  double fraction = 0;  ///< of the warps that a multiprocessor can hold, from 0 to 1
  occupancy_limit limited_by = occupancy_limit::blocks;
  /// The number of blocks that each resource alone would allow, indexed by `occupancy_limit`.
  int allowed_by[4] = {};
};

/// The resources that a block takes.
struct block_demands {
  int threads = 0;
  int registers = 0;              ///< of each thread
  std::size_t shared_memory = 0;  ///< bytes, static and dynamic together
};

/// A block size, and the smallest grid that fills the device with such blocks.
struct block_size_suggestion {
  int block_size = 0;  ///< threads
  int grid_size = 0;   ///< blocks
};

namespace detail {

inline result<> require_occupancy_flags(occupancy_flags flags, const char* function,
                                        source_location where) noexcept {
  return require_flags(flags, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE, "occupancy_flags", function,
                       where);
}

inline result<int> count_active_blocks(const char* function, const kernel_handle& kernel, device on,
                                       int block_size, std::size_t dynamic_shared,
                                       occupancy_flags flags, source_location where) noexcept {
  int blocks = 0;
  dynamic_shared = bounded_dynamic_shared(dynamic_shared);
  GPU_TRY(require_occupancy_flags(flags, function, where));
  if (kernel) GPU_TRY(require_block_size(function, kernel, block_size, where));
  GPU_TRY(call_with_opt_in<
          &driver::entry_points::occupancy_max_active_blocks_per_multiprocessor_with_flags>(
      function, kernel, on, dynamic_shared, where, &blocks, as_function(kernel), block_size,
      dynamic_shared, static_cast<unsigned>(flags)));
  return blocks;
}

/// Fills in what follows from the demands of a block and the capacities of a multiprocessor; not
/// `blocks` and what depends on it.
inline void limit_blocks(const device_data& device, const block_demands& block,
                         occupancy& found) noexcept {
  const auto round_up = [](auto value, auto unit) { return (value + unit - 1) / unit * unit; };
  const int warp = static_cast<int>(device.warp_size);
  const int warps = (block.threads + warp - 1) / warp;
  // Each of the partitions has its share of the registers, and a warp has all of its own in one.
  constexpr int partitions = device_data::register_partitions;
  const int of_warp = round_up(block.registers * warp, device_data::register_unit);
  const std::size_t shared = round_up(block.shared_memory + device.reserved_shared_memory,
                                      device_data::shared_memory_unit);
  const int most = device.blocks_per_multiprocessor;
  const int allowed[] = {
      most, device.warps_per_multiprocessor / warps,
      of_warp == 0
          ? most
          : device.registers_per_multiprocessor / partitions / of_warp * partitions / warps,
      shared == 0 ? most : static_cast<int>(device.shared_memory_per_multiprocessor / shared)};
  for (int i = 0; i < 4; ++i) {
    found.allowed_by[i] = allowed[i];
    if (allowed[i] < found.allowed_by[static_cast<int>(found.limited_by)]) {
      found.limited_by = static_cast<occupancy_limit>(i);
    }
  }
}

/// Fills in what follows from `blocks`.
inline void count_warps(const device_data& device, int threads, occupancy& found) noexcept {
  const int warp = static_cast<int>(device.warp_size);
  found.warps = found.blocks * ((threads + warp - 1) / warp);
  found.fraction = device.warps_per_multiprocessor == 0
                       ? 0
                       : static_cast<double>(found.warps) / device.warps_per_multiprocessor;
}

}  // namespace detail

/// Returns how many blocks of `block_size` threads a multiprocessor holds at once; 0 if not one
/// fits. `dynamic_shared` is in bytes per block; if it is more than the usual 48 KiB, the kernel is
/// opted in to it, as by `launch`.
/// **Errors**: `errc::invalid_launch` for a block size that no device supports;
/// `errc::invalid_argument` for unknown flags; `errc::empty_handle`; the driver's. **Capture**: not
/// affected. **Threads**: any. (cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
/// cuKernelSetAttribute)
inline result<int> max_active_blocks(const kernel_handle& kernel, device on, int block_size,
                                     std::size_t dynamic_shared = 0,
                                     occupancy_flags flags = occupancy_flags::none,
                                     source_location where = source_location::current()) noexcept {
  return detail::count_active_blocks("gpu::max_active_blocks", kernel, on, block_size,
                                     dynamic_shared, flags, where);
}

/// Returns the largest number of blocks of a cooperative launch: how many blocks of `block_size`
/// threads the device holds at once; 0 if not one fits.
///
///     const int blocks = GPU_TRY(gpu::max_cooperative_blocks(kernel, device, 128));
///     GPU_TRY(gpu::launch(stream, {.grid = blocks, .block = 128, .cooperative = true}, kernel,
///     x));
///
/// For a launch with clusters, that is `max_active_clusters` times the size of a cluster.
/// **Errors**, **Capture**, **Threads**: as `max_active_blocks`.
/// (cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, cuKernelSetAttribute)
inline result<int> max_cooperative_blocks(
    const kernel_handle& kernel, device on, int block_size, std::size_t dynamic_shared = 0,
    source_location where = source_location::current()) noexcept {
  const int blocks =
      GPU_TRY(detail::count_active_blocks("gpu::max_cooperative_blocks", kernel, on, block_size,
                                          dynamic_shared, occupancy_flags::none, where));
  int multiprocessors = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(
      where, &multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, on.native()));
  return blocks * multiprocessors;
}

/// Returns the number of resident blocks, as `max_active_blocks`, and which resource limits it. The
/// blocks that each resource allows are computed from the attributes of kernel and device, and the
/// units in which the hardware allocates: registers by 256 per warp, in each of the four partitions
/// of a multiprocessor; shared memory by 128 bytes.
/// **Errors**, **Capture**, **Threads**: as `max_active_blocks`.
inline result<occupancy> get_occupancy(
    const kernel_handle& kernel, device on, int block_size, std::size_t dynamic_shared = 0,
    source_location where = source_location::current()) noexcept {
  occupancy found;
  dynamic_shared = detail::bounded_dynamic_shared(dynamic_shared);
  found.blocks = GPU_TRY(detail::count_active_blocks("gpu::get_occupancy", kernel, on, block_size,
                                                     dynamic_shared, occupancy_flags::none, where));
  const device_data data = GPU_TRY(device_data::of(on, where));
  const auto of_kernel = [&](CUfunction_attribute which, int& value) {
    return driver::call_in_any<&driver::entry_points::kernel_get_attribute>(
        where, &value, which, kernel.native(), on.native());
  };
  block_demands block{.threads = block_size};
  int shared = 0;
  GPU_TRY(of_kernel(CU_FUNC_ATTRIBUTE_NUM_REGS, block.registers));
  GPU_TRY(of_kernel(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, shared));
  block.shared_memory = static_cast<std::size_t>(shared) + dynamic_shared;
  detail::limit_blocks(data, block, found);
  detail::count_warps(data, block_size, found);
  return found;
}

/// Returns the occupancy from plain numbers, for a device and a kernel that need not be there. The
/// answer is that of `get_occupancy`, if the compiler's figures are the same.
/// **Errors**: `errc::invalid_launch` for a block that the device cannot run: without threads or
/// with too many, with more registers or shared memory than a block can have. Asks no driver.
/// **Capture**: not affected. **Threads**: any.
inline result<occupancy> estimate_occupancy(
    const device_data& device, const block_demands& block,
    source_location where = source_location::current()) noexcept {
  const auto refuse = [&](const char* what, std::uint64_t has,
                          std::uint64_t most) -> result<occupancy> {
    detail::text_builder out;
    out << "a block of " << block.threads << " threads with " << block.registers
        << " registers each and " << block.shared_memory << " bytes of shared memory has " << has
        << ' ' << what << ", but must have " << (what[0] == 't' ? "from 1 to " : "at most ") << most
        << ". Make it smaller.";
    return detail::fail(detail::refusal(errc::invalid_launch, "gpu::estimate_occupancy",
                                        out.finish(), where, has, most));
  };
  const auto threads = static_cast<std::uint64_t>(block.threads < 0 ? 0 : block.threads);
  const auto each = static_cast<std::uint64_t>(block.registers < 0 ? 0 : block.registers);
  if (threads < 1 || threads > device.threads_per_block || device.warp_size == 0)
    return refuse("threads", threads, device.threads_per_block);
  if (threads * each > static_cast<std::uint64_t>(device.registers_per_block))
    return refuse("registers", threads * each,
                  static_cast<std::uint64_t>(device.registers_per_block));
  if (block.shared_memory > device.shared_memory_opt_in)
    return refuse("bytes of shared memory", block.shared_memory, device.shared_memory_opt_in);
  occupancy found;
  detail::limit_blocks(device, block, found);
  found.blocks = found.allowed_by[static_cast<int>(found.limited_by)];
  detail::count_warps(device, block.threads, found);
  return found;
}

/// The constraints for `suggest_block_size`.
struct block_size_request {
  basic_count<std::size_t> dynamic_shared = {};  ///< bytes per block, of any size
  int largest = 0;  ///< the largest block size; 0 for the kernel's own limit
  occupancy_flags flags = occupancy_flags::none;
};

namespace detail {

inline result<block_size_suggestion> suggest_block_size(const kernel_handle& kernel, device on,
                                                        CUoccupancyB2DSize shared_of_size,
                                                        const block_size_request& request,
                                                        source_location where) noexcept {
  constexpr const char* function = "gpu::suggest_block_size";
  GPU_TRY(require_occupancy_flags(request.flags, function, where));
  if (kernel && request.largest != 0) {
    GPU_TRY(require_block_size(function, kernel, request.largest, where));
  }
  block_size_suggestion found;
  const std::size_t bytes = bounded_dynamic_shared(request.dynamic_shared);
  const std::size_t shared = shared_of_size != nullptr ? all_dynamic_shared : bytes;
  GPU_TRY(call_with_opt_in<&driver::entry_points::occupancy_max_potential_block_size_with_flags>(
      function, kernel, on, shared, where, &found.grid_size, &found.block_size, as_function(kernel),
      shared_of_size, bytes, request.largest, static_cast<unsigned>(request.flags)));
  return found;
}

/// The callback of the calling thread: the driver calls it in the same thread, and passes it
/// nothing of the caller's.
template <class SharedOfSize> inline thread_local SharedOfSize* current_shared_of_size = nullptr;

template <class SharedOfSize> std::size_t call_shared_of_size(int block_size) noexcept {
  return bounded_dynamic_shared(
      static_cast<std::size_t>((*current_shared_of_size<SharedOfSize>)(block_size)));
}

}  // namespace detail

/// Returns the block size at which a multiprocessor holds most threads of the kernel; the largest
/// of several that do.
/// **Errors**: `errc::invalid_launch` for a limit that no device supports; `errc::invalid_argument`
/// for unknown flags; `errc::empty_handle`; the driver's. **Capture**: not affected. **Threads**:
/// any. (cuOccupancyMaxPotentialBlockSizeWithFlags, cuKernelSetAttribute)
inline result<block_size_suggestion> suggest_block_size(
    const kernel_handle& kernel, device on, const block_size_request& request = {},
    source_location where = source_location::current()) noexcept {
  return detail::suggest_block_size(kernel, on, nullptr, request, where);
}

/// As above, if the dynamic shared memory depends on the block size: `shared_of_size(threads)`
/// returns the bytes. It is called in this thread, before the function returns, and must not throw.
/// The kernel is opted in to all the dynamic shared memory of the device, as by `launch`.
template <class SharedOfSize>
  requires requires(SharedOfSize& f) { static_cast<std::size_t>(f(1)); }
result<block_size_suggestion> suggest_block_size(
    const kernel_handle& kernel, device on, SharedOfSize shared_of_size,
    const block_size_request& request = {},
    source_location where = source_location::current()) noexcept {
  SharedOfSize*& current = detail::current_shared_of_size<SharedOfSize>;
  SharedOfSize* const before = current;
  current = &shared_of_size;
  auto found = detail::suggest_block_size(kernel, on, &detail::call_shared_of_size<SharedOfSize>,
                                          request, where);
  current = before;
  return found;
}

/// Returns the dynamic shared memory, in bytes, that each of `blocks` resident blocks can have. The
/// kernel is opted in to all that the device has, as by `launch`, so that the answer can be
/// launched.
/// **Errors**: `errc::invalid_launch` for a block size that no device supports, and for less than
/// one block; `errc::empty_handle`; CUDA_ERROR_INVALID_VALUE if that many blocks never fit.
/// **Capture**: not affected. **Threads**: any.
/// (cuOccupancyAvailableDynamicSMemPerBlock, cuKernelSetAttribute)
inline result<std::size_t> available_dynamic_shared(
    const kernel_handle& kernel, device on, int blocks, int block_size,
    source_location where = source_location::current()) noexcept {
  constexpr const char* function = "gpu::available_dynamic_shared";
  std::size_t bytes = 0;
  if (kernel) GPU_TRY(detail::require_block_size(function, kernel, block_size, where));
  GPU_TRY(detail::require_resident_blocks(function, blocks, where));
  GPU_TRY(
      detail::call_with_opt_in<&driver::entry_points::occupancy_available_dynamic_smem_per_block>(
          function, kernel, on, detail::all_dynamic_shared, where, &bytes,
          detail::as_function(kernel), blocks, block_size));
  return bytes;
}

namespace detail {

/// Calls an occupancy function of the driver about launches of a kernel in this shape, after the
/// checks and preparations of `launch`.
template <auto Member>
result<int> count_clusters(const char* function, const kernel_handle& kernel, device on,
                           const launch_config& config, source_location where) noexcept {
  if (!kernel) return fail(empty_handle_error(function, "kernel", where));
  CUcontext primary = nullptr;
  GPU_TRY(find_primary_context(on.native(), primary, where));
  const auto stream = stream_ref::legacy_default(context_ref::from_native(primary, on));
  const prepared_launch launch{stream, config, kernel_access::record(kernel), nullptr, where};
  GPU_TRY(prepare_kernel(launch, function));
  // A cluster of one block is stated too, or the driver would assume a launch without clusters.
  whole_attributes attributes(config);
  attributes.add_cluster(config.cluster);
  const CUlaunchConfig native = native_config(config, nullptr, attributes.all, attributes.count);
  int answer = 0;
  GPU_TRY(driver::call_in<Member>(primary, where, &answer, as_function(kernel), &native));
  return answer;
}

}  // namespace detail

/// Returns the largest number of blocks that a cluster can have, for launches in this shape and
/// with these attributes, whatever `config.cluster` is: up to 8 on devices with clusters, more if
/// `kernel_attribute::allows_nonportable_cluster` was set, 0 if not one block fits.
/// **Errors**: those of `launch` for shape and attributes; `errc::empty_handle`; the driver's.
/// **Capture**: not affected. **Threads**: any. (cuOccupancyMaxPotentialClusterSize)
inline result<int> max_cluster_size(const kernel_handle& kernel, device on,
                                    const launch_config& config,
                                    source_location where = source_location::current()) noexcept {
  launch_config alone = config;
  alone.cluster = {};
  return detail::count_clusters<&driver::entry_points::occupancy_max_potential_cluster_size>(
      "gpu::max_cluster_size", kernel, on, alone, where);
}

/// Returns how many clusters of `config.cluster` the device holds at once, for launches in this
/// shape and with these attributes.
/// **Errors**: those of `launch` for shape, cluster and attributes; `errc::empty_handle`; the
/// driver's. **Capture**: not affected. **Threads**: any. (cuOccupancyMaxActiveClusters)
inline result<int> max_active_clusters(
    const kernel_handle& kernel, device on, const launch_config& config,
    source_location where = source_location::current()) noexcept {
  return detail::count_clusters<&driver::entry_points::occupancy_max_active_clusters>(
      "gpu::max_active_clusters", kernel, on, config, where);
}

}}  // namespace gpu::v1
