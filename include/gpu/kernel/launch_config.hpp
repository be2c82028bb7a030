#pragma once
/// \file
/// `launch_config`: the shape of a launch; `launch_attributes_ref`: what else is asked of it;
/// `grid_for`: how many blocks cover so many elements.

#include <gpu/core/dims.hpp>

#include <gpu/core/detail/traits.hpp>

#include <cuda.h>

#include <cstdint>

namespace gpu::inline v0 {

/// Attributes of a launch, which have to live until the launch returns: those of a
/// `launch_attributes` (launch_attribute.hpp), or an array in the driver's terms.
class launch_attributes_ref {
 public:
  constexpr launch_attributes_ref() noexcept = default;

  static constexpr launch_attributes_ref from_native(const CUlaunchAttribute* first,
                                                     std::size_t count) noexcept {
    launch_attributes_ref attributes;
    attributes.count_ = count;
    attributes.first_ = first;
    return attributes;
  }
  constexpr const CUlaunchAttribute* native() const noexcept { return first_; }
  constexpr std::size_t size() const noexcept { return count_; }

 private:
  std::size_t count_ = 0;  // first, where the launch path looks for it
  const CUlaunchAttribute* first_ = nullptr;
};

/// The shape of a launch:
///
///     gpu::launch(stream, {gpu::grid_for(n, 256), 256}, kernel, ...);
///     gpu::launch(stream, {.grid = 64, .block = {32, 8}, .shared_bytes = 100'000}, kernel, ...);
struct launch_config {
  dims grid = {};   ///< blocks
  dims block = {};  ///< threads of a block
  /// Dynamic shared memory of a block, in bytes. More than the usual 48 KiB needs no preparation,
  /// up to what the device has.
  std::uint32_t shared_bytes = 0;
  /// Blocks of a cluster (compute capability 9.0 and later); its extents divide those of the grid.
  dims cluster = {};
  /// Cooperative launch, priority, programmatic dependent launch and more: see
  /// launch_attribute.hpp.
  launch_attributes_ref attributes = {};
};

namespace detail {

/// The shape in the driver's words, with these attributes.
template <class Config>
CUlaunchConfig native_config(const Config& config, CUstream stream,
                             const CUlaunchAttribute* attributes, std::size_t count) noexcept {
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

template <class Dims> CUlaunchAttribute cluster_attribute(const Dims& cluster) noexcept {
  CUlaunchAttribute native{};
  native.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  native.value.clusterDim.x = cluster.x;
  native.value.clusterDim.y = cluster.y;
  native.value.clusterDim.z = cluster.z;
  return native;
}

}  // namespace detail

/// The number of blocks of `block` threads that have a thread for each of `elements`: rounded up,
/// and 1 where there are no elements, so that the launch stays valid (the kernel's own bounds check
/// then keeps every thread idle). More blocks than a grid can have give the largest `uint32_t`,
/// which `launch` refuses.
template <class Integer>
  requires detail::is_integral<Integer>
constexpr std::uint32_t grid_for(Integer elements, std::uint32_t block) noexcept {
  if (elements <= 0 || block == 0) return 1;
  const std::uint64_t blocks = (static_cast<std::uint64_t>(elements) - 1) / block + 1;
  return blocks > 0xffff'ffff ? 0xffff'ffff : static_cast<std::uint32_t>(blocks);
}

}  // namespace gpu::inline v0
