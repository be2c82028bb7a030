#pragma once
/// \file
/// Memory for arrays that were created without any: `map_array` maps physical memory to tiles of a
/// sparse array, or to the whole of a deferred-mapping array; `unmap_array` removes the mapping.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cleared.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/physical_memory.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/cuda_array.hpp>
#include <gpu/texture/detail/mapping_checks.hpp>
#include <gpu/texture/mipmapped_array.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

/// Tiles in a region of a sparse array, in one layer of one level; by default, all tiles of layer 0
/// of level 0.
struct array_tiles {
  unsigned level = 0;  ///< of a mipmapped array; a level before its mip tail
  unsigned layer = 0;  ///< of a layered array
  box_position at{};   ///< texels, multiples of the tile's extent
  /// Texels: whole tiles, or up to the edge of the level; by default up to all edges.
  box_extent size{to_the_edge, to_the_edge, to_the_edge};
};

/// A part of the mip tail: the memory of all levels that are smaller than a tile. By default all of
/// it.
struct array_mip_tail {
  unsigned layer = 0;      ///< of a layered array whose layers each have a mip tail
  std::size_t offset = 0;  ///< bytes, whole tiles
  std::size_t size = 0;    ///< bytes, whole tiles; 0 means everything from `offset` on
};

namespace detail {

/// The whole of a deferred-mapping array.
struct whole_array {};

template <class Part>
concept array_part = std::same_as<Part, array_tiles> || std::same_as<Part, array_mip_tail>;

/// The differences between mapping an array and a mipmapped array.
template <class Array> struct mapped_kind;
template <> struct mapped_kind<cuda_array_ref<>> {
  static constexpr const char* what = "array";
  static constexpr auto properties = &driver::entry_points::array_get_sparse_properties;
  static constexpr auto requirements = &driver::entry_points::array_get_memory_requirements;

  static constexpr unsigned levels(const cuda_array_ref<>&) noexcept { return 1; }
  static void set_resource(const cuda_array_ref<>& array, CUarrayMapInfo& info) noexcept {
    info.resourceType = CU_RESOURCE_TYPE_ARRAY;
    info.resource.array = array.native();
  }
};
template <> struct mapped_kind<mipmapped_array_ref<>> {
  static constexpr const char* what = "mipmapped array";
  static constexpr auto properties = &driver::entry_points::mipmapped_array_get_sparse_properties;
  static constexpr auto requirements =
      &driver::entry_points::mipmapped_array_get_memory_requirements;

  static constexpr unsigned levels(const mipmapped_array_ref<>& array) noexcept {
    return array.levels();
  }
  static void set_resource(const mipmapped_array_ref<>& array, CUarrayMapInfo& info) noexcept {
    info.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    info.resource.mipmap = array.native();
  }
};

inline cuda_array_ref<> mapped_ref(const cuda_array_ref<>& array) noexcept { return array; }
inline mipmapped_array_ref<> mapped_ref(const mipmapped_array_ref<>& array) noexcept {
  return array;
}
/// An array or a mipmapped array, its owner or a ref.
template <class Array>
concept mapped_array = requires(const Array& array) { detail::mapped_ref(array); };

/// Sets `info` to a part of an array, and `bytes` to the physical memory that it needs.
template <class Array>
result<> describe_part(const char* function, const Array& array, const array_tiles& tiles,
                       CUarrayMapInfo& info, mapped_bytes& bytes, source_location where) noexcept {
  using kind = mapped_kind<Array>;
  const auto properties =
      GPU_TRY((sparse_properties_of<kind::properties>(array, function, kind::what, where)));
  GPU_TRY(require_below(function, "level", tiles.level, kind::levels(array), where));
  if (properties.mip_tail_size != 0 && tiles.level >= properties.mip_tail_level) {
    text_builder out;
    out << "level " << tiles.level << " has no tiles: the mip tail begins at level "
        << properties.mip_tail_level << ". Map a gpu::array_mip_tail.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, tiles.level,
                        properties.mip_tail_level));
  }
  const array_shape level = array.shape().level(tiles.level);
  const bool layered = level.layers != 0;
  GPU_TRY(require_below(function, "layer", tiles.layer, layered ? level.layers : 1, where));
  box_extent whole = level.extent();
  if (layered) whole.depth = 1;
  const box_position at = tiles.at;
  const box_extent size = part_of(whole, at, tiles.size);
  const box_extent tile = properties.tile;
  box_extent count;
  GPU_TRY(
      count_tiles(function, 'x', at.x, size.width, tile.width, whole.width, count.width, where));
  GPU_TRY(count_tiles(function, 'y', at.y, size.height, tile.height, whole.height, count.height,
                      where));
  GPU_TRY(
      count_tiles(function, 'z', at.z, size.depth, tile.depth, whole.depth, count.depth, where));
  info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
  info.subresource.sparseLevel = {
      tiles.level,
      tiles.layer,
      static_cast<unsigned>(at.x),
      static_cast<unsigned>(at.y),
      static_cast<unsigned>(at.z),
      static_cast<unsigned>(size.width),
      static_cast<unsigned>(size.height),
      static_cast<unsigned>(size.depth),
  };
  bytes.unit = tile_bytes(tile, array.format());
  const std::size_t extents[] = {count.width, count.height, count.depth, bytes.unit};
  bytes.size = saturated_product(extents, 4);
  return {};
}

template <class Array>
result<> describe_part(const char* function, const Array& array, const array_mip_tail& tail,
                       CUarrayMapInfo& info, mapped_bytes& bytes, source_location where) noexcept {
  using kind = mapped_kind<Array>;
  const auto properties =
      GPU_TRY((sparse_properties_of<kind::properties>(array, function, kind::what, where)));
  const std::size_t whole = properties.mip_tail_size;
  if (whole == 0) {
    return fail(refusal(errc::invalid_argument, function,
                        text("the array does not have a mip tail. Map gpu::array_tiles."), where));
  }
  const array_shape& shape = array.shape();
  const bool tails = shape.layers != 0 && !properties.single_mip_tail;
  GPU_TRY(require_below(function, "layer", tail.layer, tails ? shape.layers : 1, where));
  bytes.unit = tile_bytes(properties.tile, array.format());
  const bool inside = tail.offset < whole && tail.size <= whole - tail.offset;
  bytes.size = inside && tail.size == 0 ? whole - tail.offset : tail.size;
  if (!inside || tail.offset % bytes.unit != 0 || bytes.size % bytes.unit != 0) {
    text_builder out;
    out << tail.size << " bytes from offset " << tail.offset
        << " on are not whole tiles inside the mip tail, which has " << whole
        << " bytes in tiles of " << bytes.unit << ". Use multiples of " << bytes.unit
        << " inside the mip tail.";
    return fail(refusal(inside ? errc::invalid_argument : errc::index_out_of_range, function,
                        out.finish(), where, tail.offset + tail.size, whole));
  }
  info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
  info.subresource.miptail = {tail.layer, tail.offset, bytes.size};
  return {};
}

template <class Array>
result<> describe_part(const char* function, const Array& array, whole_array, CUarrayMapInfo&,
                       mapped_bytes& bytes, source_location where) noexcept {
  using kind = mapped_kind<Array>;
  const auto needed =
      GPU_TRY((memory_requirements_of<kind::requirements>(array, function, kind::what, where)));
  bytes = {needed.size, needed.alignment};
  return {};
}

inline constexpr launch_label map_label{"a mapping of an array", -1};
inline constexpr launch_label unmap_label{"an unmapping of an array", -1};

/// Maps physical memory to a part of an array or, if `memory` is null, removes the mapping.
/// (cuStreamIsCapturing, cuMemGetAllocationPropertiesFromHandle, cuMemMapArrayAsync)
template <class Array, class Part>
result<> change_mapping(const char* function, stream_ref stream, const Array& array,
                        const Part& part, const physical_memory* memory, std::size_t offset,
                        source_location where) noexcept {
  using kind = mapped_kind<Array>;
  GPU_TRY(require(stream, function, where));
  GPU_TRY(require_array(array, function, kind::what, where));
  const device on = stream.device();
  if (!(array.device() == on)) {
    return fail(wrong_context_error(function, "stream", on.native(), kind::what,
                                    array.device().native(), where));
  }
  if (memory != nullptr) GPU_TRY(memory->require(function, where));
  GPU_TRY(require_no_capture(
      stream, function,
      "Call it before the capture begins, and keep the mapping as long as the graph.", where));
  auto info = cleared<CUarrayMapInfo>();
  kind::set_resource(array, info);
  mapped_bytes bytes;
  GPU_TRY(describe_part(function, array, part, info, bytes, where));
  info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
  info.deviceBitMask = 1u << on.native();
  if (memory != nullptr) {
    GPU_TRY(check_room(function, *memory, offset, bytes, where));
    const physical_memory_properties known = GPU_TRY(memory->properties(where));
    if (!(known.location == memory_location(on))) {
      text_builder out;
      out << "the physical memory is on " << known.location << ", but the stream is on device "
          << on.native() << ". Create the memory on that device.";
      return fail(refusal(errc::wrong_context, function, out.finish(), where));
    }
    info.memOperationType = CU_MEM_OPERATION_TYPE_MAP;
    info.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
    info.memHandle.memHandle = memory->native();
    info.offset = offset;
  }
  const launch_label& label = memory == nullptr ? unmap_label : map_label;
  result<> done = on_stream(stream, where, [&] {
    return queue<&driver::entry_points::mem_map_array_async>(stream, label, where, &info, 1u,
                                                             stream.native());
  });
  if (done.has_value() || memory == nullptr || done.error().code() != CUDA_ERROR_INVALID_VALUE) {
    return done;
  }
  // The driver does not report whether the memory was created as a tile pool.
  return fail(record_error(std::move(done).error().with_details(
      text("physical memory for arrays must be created with {.tile_pool = true}"))));
}

}  // namespace detail

/// Maps tiles of a sparse array, or a part of its mip tail, to physical memory from `offset` bytes
/// on, in stream order; does not block. The tiles are stored one after the other, x first. Replaces
/// earlier mappings.
///
///     auto tile = GPU_TRY(image.sparse_properties()).tile;
///     auto memory = GPU_TRY(gpu::physical_memory::create(device, 2 << 20, {.tile_pool = true}));
///     GPU_TRY(gpu::map_array(stream, image, gpu::array_tiles{.size = tile}, memory));
///
/// The contents of memory that was mapped before are undefined. Textures and surfaces of the array
/// may already exist.
/// **Ownership**: the memory must live until it is unmapped, or the array is destroyed.
/// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for an array without the flag, and
/// for offsets and sizes that are not whole tiles; `errc::index_out_of_range` for a part outside
/// the array, or memory that is too small; `errc::wrong_context` if array, memory and stream are
/// not on the same device; `errc::capture_prohibited` during capture, which stays valid.
/// **Threads**: any.
/// (cuArrayGetSparseProperties, cuMipmappedArrayGetSparseProperties, cuStreamIsCapturing,
/// cuMemGetAllocationPropertiesFromHandle, cuMemMapArrayAsync)
template <detail::mapped_array Array, detail::array_part Part>
result<> map_array(stream_ref stream, const Array& array, const Part& part,
                   const physical_memory& memory, std::size_t offset = 0,
                   source_location where = source_location::current()) noexcept {
  return detail::change_mapping("gpu::map_array", stream, detail::mapped_ref(array), part, &memory,
                                offset, where);
}

/// Maps the whole of an array of `array_flags::deferred_mapping`. Its `memory_requirements` are the
/// size and alignment that it needs.
/// (cuArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements)
template <detail::mapped_array Array>
result<> map_array(stream_ref stream, const Array& array, const physical_memory& memory,
                   std::size_t offset = 0,
                   source_location where = source_location::current()) noexcept {
  return detail::change_mapping("gpu::map_array", stream, detail::mapped_ref(array),
                                detail::whole_array{}, &memory, offset, where);
}

/// Removes the mapping of tiles, or of a part of the mip tail, in stream order; the memory may then
/// be mapped elsewhere. **Errors**, **Threads**: as for `map_array`.
template <detail::mapped_array Array, detail::array_part Part>
result<> unmap_array(stream_ref stream, const Array& array, const Part& part,
                     source_location where = source_location::current()) noexcept {
  return detail::change_mapping("gpu::unmap_array", stream, detail::mapped_ref(array), part,
                                nullptr, 0, where);
}

/// Removes the mapping of an array of `array_flags::deferred_mapping`.
template <detail::mapped_array Array>
result<> unmap_array(stream_ref stream, const Array& array,
                     source_location where = source_location::current()) noexcept {
  return detail::change_mapping("gpu::unmap_array", stream, detail::mapped_ref(array),
                                detail::whole_array{}, nullptr, 0, where);
}

}}  // namespace gpu::v1
