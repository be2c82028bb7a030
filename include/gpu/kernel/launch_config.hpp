#pragma once
/// \file
/// `launch_config`: the shape of a launch; `launch_attributes_ref`: its attributes; `grid_for`: the
/// number of blocks that cover a number of elements.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/dims.hpp>

#include <gpu/core/count.hpp>
#include <gpu/driver/detail/cuda_header.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

/// Refers to the attributes of a launch, which have to live until the launch returns: those of a
/// `launch_attributes` (launch_attribute.hpp), or an array of the driver's type.
class launch_attributes_ref {
 public:
  constexpr launch_attributes_ref() noexcept = default;

  static constexpr launch_attributes_ref from_native(const CUlaunchAttribute* first,
                                                     std::size_t count) noexcept {
    launch_attributes_ref attributes;
    attributes.first_ = first;
    attributes.count_ = count;
    return attributes;
  }
  constexpr const CUlaunchAttribute* native() const noexcept { return first_; }
  constexpr std::size_t size() const noexcept { return count_; }

 private:
  const CUlaunchAttribute* first_ = nullptr;
  std::size_t count_ = 0;
};

/// The shape of a launch:
///
///     gpu::launch(stream, {gpu::grid_for(n, 256), 256}, kernel, ...);
///     gpu::launch(stream, {.grid = 64, .block = {32, 8}, .shared_bytes = 100'000}, kernel, ...);
struct launch_config {
  dims grid = {};   ///< blocks
  dims block = {};  ///< threads of a block
  /// Dynamic shared memory of a block, in bytes. More than the usual 48 KiB needs no opt-in by the
  /// caller, up to the limit of the device.
  basic_count<std::uint32_t> shared_bytes = {};
  /// Blocks of a cluster (compute capability 9.0 and later); its extents divide those of the grid.
  dims cluster = {};
  /// Whether all blocks run at once, so that they can wait for each other
  /// (`cooperative_groups::this_grid().sync()`). `max_cooperative_blocks` (occupancy.hpp) returns
  /// the largest such grid.
  bool cooperative = false;
  /// Priority, programmatic dependent launch and more: see launch_attribute.hpp.
  launch_attributes_ref attributes = {};
};

namespace detail {

/// Returns the shape as the driver's type, with these attributes.
inline CUlaunchConfig native_config(const launch_config& config, CUstream stream,
                                    const CUlaunchAttribute* attributes,
                                    std::size_t count) noexcept {
  CUlaunchConfig native;
  native.gridDimX = config.grid.x;
  native.gridDimY = config.grid.y;
  native.gridDimZ = config.grid.z;
  native.blockDimX = config.block.x;
  native.blockDimY = config.block.y;
  native.blockDimZ = config.block.z;
  native.sharedMemBytes = config.shared_bytes;
  native.hStream = stream;
  native.attrs = const_cast<CUlaunchAttribute*>(attributes);
  native.numAttrs = static_cast<unsigned>(count);
  return native;
}

/// Returns a cluster as the driver's attribute.
inline CUlaunchAttribute cluster_attribute(const dims& cluster) noexcept {
  CUlaunchAttribute native{};
  native.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  native.value.clusterDim.x = cluster.x;
  native.value.clusterDim.y = cluster.y;
  native.value.clusterDim.z = cluster.z;
  return native;
}

/// Returns cooperation as the driver's attribute.
inline CUlaunchAttribute cooperative_attribute() noexcept {
  CUlaunchAttribute native{};
  native.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  native.value.cooperative = 1;
  return native;
}

/// Returns whether all blocks of a launch run at once: its shape or an attribute says so.
inline bool is_cooperative(const launch_config& config) noexcept {
  if (config.cooperative) return true;
  for (std::size_t i = 0; i < config.attributes.size(); ++i) {
    const CUlaunchAttribute& each = config.attributes.native()[i];
    if (each.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) return each.value.cooperative != 0;
  }
  return false;
}

}  // namespace detail

/// Returns the number of blocks of `block` threads that have a thread for each of `elements`,
/// rounded up. Returns 1 for zero elements, so that the launch stays valid (the kernel's own
/// bounds check then keeps every thread idle), and the largest `uint32_t`, which `launch` rejects,
/// if a grid cannot have that many blocks.
template <class Integer>
  requires detail::word_integer<Integer>
constexpr std::uint32_t grid_for(Integer elements, basic_count<std::uint32_t> block) noexcept {
  if (elements <= 0 || block == 0) return 1;
  const std::uint64_t blocks = (static_cast<std::uint64_t>(elements) - 1) / block.value() + 1;
  return blocks > 0xffff'ffff ? 0xffff'ffff : static_cast<std::uint32_t>(blocks);
}

}}  // namespace gpu::v1
