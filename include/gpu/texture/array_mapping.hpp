#pragma once
/// \file
/// Memory for arrays that were made without: `map_array` puts physical memory behind tiles of a
/// sparse array, or behind all of an array of deferred mapping; `unmap_array` takes it away.

#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/physical_memory.hpp>
#include <gpu/texture/mipmapped_array.hpp>

namespace gpu::inline v0 {

/// A box of tiles of a sparse array, in one layer of one level; as it stands, all of the first.
struct array_tiles {
  unsigned level = 0;  ///< of a mipmapped array, above its mip tail
  unsigned layer = 0;  ///< of a layered array
  box_position at{};   ///< texels, multiples of the tile's extents
  /// Texels: whole tiles, or up to the level's edge; as it stands up to all edges.
  box_extent size{to_the_edge, to_the_edge, to_the_edge};
};

/// A part of what the levels share that are too small for tiles; as it stands, all of it.
struct array_mip_tail {
  unsigned layer = 0;      ///< of a layered array whose layers have a tail each
  std::size_t offset = 0;  ///< bytes, whole tiles
  std::size_t size = 0;    ///< bytes, whole tiles; 0 is all behind `offset`
};

namespace detail {

/// All of an array of deferred mapping.
struct whole_array {};

template <class Part>
concept array_part = same<Part, array_tiles> || same<Part, array_mip_tail>;

/// What maps differently for arrays and mipmapped arrays.
template <class Array> struct mapped_kind;
template <> struct mapped_kind<cuda_array_ref<>> {
  static constexpr const char* what = "array";
  static constexpr auto properties = &driver::entry_points::array_get_sparse_properties;
  static constexpr auto requirements = &driver::entry_points::array_get_memory_requirements;

  static constexpr unsigned levels(const cuda_array_ref<>&) noexcept { return 1; }
  static void name(const cuda_array_ref<>& array, CUarrayMapInfo& info) noexcept {
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
  static void name(const mipmapped_array_ref<>& array, CUarrayMapInfo& info) noexcept {
    info.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    info.resource.mipmap = array.native();
  }
};

inline cuda_array_ref<> mapped_name(const cuda_array_ref<>& array) noexcept { return array; }
inline mipmapped_array_ref<> mapped_name(const mipmapped_array_ref<>& array) noexcept {
  return array;
}
/// An array or a mipmapped array, its owner or its name.
template <class Array>
concept mapped_array = requires(const Array& array) { detail::mapped_name(array); };

/// What a part takes of physical memory.
struct mapped_bytes {
  std::size_t size = 0;
  std::size_t unit = 0;  // what offsets in the memory are multiples of
};

constexpr std::size_t tile_bytes(const box_extent& tile, texel_format format) noexcept {
  const std::size_t texel = texel_bytes(format);
  return texel == 0 ? 65536 : tile.width * tile.height * tile.depth * texel;  // 0: blocks of texels
}

/// Refuses an index of a level or a layer that there is not.
inline result<> require_below(const char* function, const char* what, unsigned index,
                              std::size_t count, source_location where) noexcept {
  if (index < count) [[likely]]
    return {};
  text_builder out;
  out << what << ' ' << index << " is asked for, and there are " << count
      << ". Choose one below that.";
  return fail(refusal(errc::index_out_of_range, function, out.finish(), where, index, count));
}

/// Counts the tiles along one direction, of texels from `at` on.
inline result<> count_tiles(const char* function, char along, std::size_t at, std::size_t size,
                            std::size_t tile, std::size_t length, std::size_t& count,
                            source_location where) noexcept {
  text_builder out;
  if (at >= length || size > length - at || size == 0) {
    out << "the tiles are " << size << " texels from " << at << " on along " << along
        << ", where the level has " << length << ". Stay inside, with at least one tile.";
    return fail(
        refusal(errc::index_out_of_range, function, out.finish(), where, at + size, length));
  }
  const bool begins = at % tile == 0;
  if (begins && (size % tile == 0 || size == length - at)) {
    count = (size + tile - 1) / tile;
    return {};
  }
  const std::size_t wrong = begins ? size : at;
  out << "the tiles " << (begins ? "are " : "begin at ") << wrong << " texels along " << along
      << ", which is no multiple of the " << tile << " of a tile. Use "
      << (begins ? (wrong / tile + 1) * tile : wrong / tile * tile);
  if (begins) out << ", or go up to the edge";
  out << '.';
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, wrong, tile));
}

template <class Array>
result<> describe_part(const char* function, const Array& array, const array_tiles& tiles,
                       CUarrayMapInfo& info, mapped_bytes& bytes, source_location where) noexcept {
  using kind = mapped_kind<Array>;
  const auto properties = GPU_TRY((sparse_properties_of<kind::properties, array_sparse_properties>(
      array, function, kind::what, where)));
  GPU_TRY(require_below(function, "level", tiles.level, kind::levels(array), where));
  if (properties.mip_tail_size != 0 && tiles.level >= properties.mip_tail_level) {
    text_builder out;
    out << "level " << tiles.level << " is smaller than a tile, and in the mip tail, as all are "
        << "from level " << properties.mip_tail_level << " on. Map a gpu::array_mip_tail.";
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
  bytes.size = count.width * count.height * count.depth * bytes.unit;
  return {};
}

template <class Array>
result<> describe_part(const char* function, const Array& array, const array_mip_tail& tail,
                       CUarrayMapInfo& info, mapped_bytes& bytes, source_location where) noexcept {
  using kind = mapped_kind<Array>;
  const auto properties = GPU_TRY((sparse_properties_of<kind::properties, array_sparse_properties>(
      array, function, kind::what, where)));
  const std::size_t whole = properties.mip_tail_size;
  if (whole == 0) {
    return fail(refusal(errc::invalid_argument, function,
                        text("the array has no mip tail: all of its levels have tiles. Map "
                             "gpu::array_tiles."),
                        where));
  }
  const array_shape& shape = array.shape();
  const bool tails = shape.layers != 0 && !properties.single_mip_tail;
  GPU_TRY(require_below(function, "layer", tail.layer, tails ? shape.layers : 1, where));
  bytes.unit = tile_bytes(properties.tile, array.format());
  const bool inside = tail.offset < whole && tail.size <= whole - tail.offset;
  bytes.size = inside && tail.size == 0 ? whole - tail.offset : tail.size;
  if (!inside || tail.offset % bytes.unit != 0 || bytes.size % bytes.unit != 0) {
    text_builder out;
    out << tail.size << " bytes from " << tail.offset << " on are no part of a mip tail of "
        << whole << " bytes in tiles of " << bytes.unit
        << ". Use multiples of that, and stay inside.";
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
      GPU_TRY((memory_requirements_of<kind::requirements, array_memory_requirements>(
          array, function, kind::what, where)));
  bytes = {needed.size, needed.alignment};
  return {};
}

/// Refuses memory that a part does not fit in, from `offset` on.
inline result<> check_room(const char* function, const physical_memory& memory, std::size_t offset,
                           const mapped_bytes& needed, source_location where) noexcept {
  text_builder out;
  if (offset % needed.unit != 0) {
    out << "the offset of " << offset << " bytes in the physical memory is no multiple of "
        << needed.unit << ". Use " << offset / needed.unit * needed.unit << '.';
    return fail(
        refusal(errc::invalid_argument, function, out.finish(), where, offset, needed.unit));
  }
  const std::size_t all = memory.size_bytes();
  const std::size_t room = offset < all ? all - offset : 0;
  if (needed.size <= room) [[likely]]
    return {};
  out << needed.size << " bytes are to be mapped, and from offset " << offset << " on there are "
      << room << " of physical memory. Create more.";
  return fail(refusal(errc::index_out_of_range, function, out.finish(), where, needed.size, room));
}

inline constexpr launch_label map_label{"a mapping of an array", -1};
inline constexpr launch_label unmap_label{"an unmapping of an array", -1};

/// Maps physical memory to a part of an array, or, without memory, takes away what is there.
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
      stream, function, "Do it before the capture begins, and keep it for as long as the graph.",
      where));
  auto info = cleared<CUarrayMapInfo>();
  kind::name(array, info);
  mapped_bytes bytes;
  GPU_TRY(describe_part(function, array, part, info, bytes, where));
  info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
  info.deviceBitMask = 1u << on.native();
  if (memory != nullptr) {
    GPU_TRY(check_room(function, *memory, offset, bytes, where));
    const physical_memory_properties known = GPU_TRY(memory->properties(where));
    if (!(known.location == memory_location(on))) {
      text_builder out;
      out << "the physical memory is on " << known.location << ", and the stream on device "
          << on.native() << ". Create memory there.";
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
  if (done.has_value() || memory == nullptr || done.error().code() != CUDA_ERROR_INVALID_VALUE)
      [[likely]]
    return done;
  // The driver does not tell what memory was created for.
  return fail(noted_error(move(done).error().with_details(
      text("physical memory for arrays is created with {.tile_pool = true}; other memory is "
           "refused in this way."))));
}

}  // namespace detail

/// Maps tiles of a sparse array, or a part of its mip tail, to physical memory from `offset` bytes
/// on; the tiles lie there one behind the other, those along x first. What was mapped before is
/// replaced.
///
///     auto tile = GPU_TRY(image.sparse_properties()).tile;
///     auto memory = GPU_TRY(gpu::physical_memory::create(device, 2 << 20, {.tile_pool = true}));
///     GPU_TRY(gpu::map_array(stream, image, gpu::array_tiles{.size = tile}, memory));
///
/// What is in memory that was mapped before is undefined. Textures and surfaces of the array may
/// have been made before.
/// **Ordering**: after what was queued on `stream`, before what will be.
/// **Ownership**: the memory has to live until it is unmapped, or the array is gone.
/// **Errors**: `errc::empty_handle`; `errc::invalid_argument` for an array without the flag, and
/// for offsets and sizes that are no whole tiles; `errc::index_out_of_range` for a part that is not
/// inside the array, or memory that is too small; `errc::wrong_context` where array, memory and
/// stream are not of one device; `errc::capture_prohibited`: a capture does not allow it, and goes
/// on. **Threads**: any.
/// (cuArrayGetSparseProperties, cuMipmappedArrayGetSparseProperties, cuStreamIsCapturing,
/// cuMemGetAllocationPropertiesFromHandle, cuMemMapArrayAsync)
template <detail::mapped_array Array, detail::array_part Part>
result<> map_array(stream_ref stream, const Array& array, const Part& part,
                   const physical_memory& memory, std::size_t offset = 0,
                   source_location where = source_location::current()) noexcept {
  return detail::change_mapping("gpu::map_array", stream, detail::mapped_name(array), part, &memory,
                                offset, where);
}

/// The same for an array of `array_flags::deferred_mapping`, which is mapped as a whole and says
/// with `memory_requirements` how much it takes.
/// (cuArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements)
template <detail::mapped_array Array>
result<> map_array(stream_ref stream, const Array& array, const physical_memory& memory,
                   std::size_t offset = 0,
                   source_location where = source_location::current()) noexcept {
  return detail::change_mapping("gpu::map_array", stream, detail::mapped_name(array),
                                detail::whole_array{}, &memory, offset, where);
}

/// Takes the memory away from tiles, or from a part of the mip tail; it may be mapped elsewhere
/// then. **Ordering**, **Errors**, **Threads**: as `map_array`.
template <detail::mapped_array Array, detail::array_part Part>
result<> unmap_array(stream_ref stream, const Array& array, const Part& part,
                     source_location where = source_location::current()) noexcept {
  return detail::change_mapping("gpu::unmap_array", stream, detail::mapped_name(array), part,
                                nullptr, 0, where);
}

/// Takes the memory away from an array of `array_flags::deferred_mapping`.
template <detail::mapped_array Array>
result<> unmap_array(stream_ref stream, const Array& array,
                     source_location where = source_location::current()) noexcept {
  return detail::change_mapping("gpu::unmap_array", stream, detail::mapped_name(array),
                                detail::whole_array{}, nullptr, 0, where);
}

}  // namespace gpu::inline v0
