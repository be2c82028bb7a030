#pragma once
/// \file
/// Physical memory of arrays that were made without memory: the position of each run of texels in
/// it. A tile holds its texels row by row. Mapped memory stays readable to all objects of the
/// array.

#include <nogpu/driver/array_memory.hpp>
#include <nogpu/driver/array_objects.hpp>
#include <nogpu/driver/virtual_memory.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// A run of texels, and where it lies in the memory of the part that it belongs to.
struct mapped_run {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

/// The memory that is mapped to an array, or to all levels of a mipmapped array. Ends with the
/// array.
class array_mappings {
 public:
  explicit array_mappings(driver_state& driver) : driver_{driver} {}
  array_mappings(const array_mappings&) = delete;
  array_mappings& operator=(const array_mappings&) = delete;
  ~array_mappings() {
    while (!pieces_.empty()) remove(pieces_.begin());
  }

  bool empty() const noexcept { return pieces_.empty(); }

  void map(const mapped_run& run, const physical_ptr& memory, std::uint64_t offset,
           const array_state& array) {
    unmap(run);
    // This cannot fail: the range is inside the memory, and the addresses are the array's own.
    (void)driver_.memory.map(run.address, memory->memory, offset + run.offset,
                             {.size = run.bytes,
                              .kind = machine::memory_kind::array,
                              .owner = array.context->owner,
                              .site = array.place});
    ++memory->mappings;
    pieces_.emplace(run.address, memory);
  }
  void unmap(const mapped_run& run) {
    if (const auto found = pieces_.find(run.address); found != pieces_.end()) remove(found);
  }

 private:
  using piece_list = std::map<std::uint64_t, physical_ptr>;

  void remove(piece_list::iterator piece) {
    const physical_ptr memory = std::move(piece->second);
    (void)driver_.memory.free(piece->first);
    pieces_.erase(piece);
    --memory->mappings;
    drop_unused(driver_, memory);
  }

  driver_state& driver_;
  piece_list pieces_;  // by address
};

/// An array of a mapping: its levels, and how they are divided.
struct mapped_levels {
  std::span<const array_ptr> levels;
  CUDA_ARRAY_SPARSE_PROPERTIES sparse{};  // of one that is

  const array_state& finest() const { return *levels.front(); }
  bool deferred() const { return (finest().form.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) != 0; }
  std::uint64_t layers() const { return has_layers(finest().form) ? finest().slices() : 1; }
  bool one_tail() const { return sparse.flags != 0 || layers() == 1; }
  bool in_tail(std::uint64_t level) const {
    return sparse.miptailSize != 0 && level >= sparse.miptailFirstLevel;
  }
};

/// The runs of a box of tiles, and the bytes of them all; false if it is not one of the array.
inline bool find_tiles(const mapped_levels& of, const CUarrayMapInfo& info,
                       std::vector<mapped_run>& runs, std::uint64_t& bytes) {
  const auto& box = info.subresource.sparseLevel;
  if (box.level >= of.levels.size() || of.in_tail(box.level) || box.layer >= of.layers())
    return false;
  const array_state& level = *of.levels[box.level];
  const std::uint64_t depth = has_layers(level.form) ? 1 : level.slices();
  const std::uint64_t tile[] = {of.sparse.tileExtent.width, of.sparse.tileExtent.height,
                                of.sparse.tileExtent.depth};
  const std::uint64_t size[] = {level.form.Width, level.rows(), depth};
  const std::uint64_t first[] = {box.offsetX, box.offsetY, box.offsetZ};
  const std::uint64_t extent[] = {box.extentWidth, box.extentHeight, box.extentDepth};
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t end = first[i] + extent[i];
    if (extent[i] == 0 || first[i] % tile[i] != 0 || end > size[i] ||
        (extent[i] % tile[i] != 0 && end != size[i]))
      return false;
  }
  const std::uint64_t unit = level.format.unit;
  std::uint64_t begin = 0;  // of a tile in the memory
  for (std::uint64_t z = first[2]; z < first[2] + extent[2]; z += tile[2])
    for (std::uint64_t y = first[1]; y < first[1] + extent[1]; y += tile[1])
      for (std::uint64_t x = first[0]; x < first[0] + extent[0]; x += tile[0], begin += tile_bytes)
        for (std::uint64_t k = z; k < std::min(z + tile[2], size[2]); ++k)
          for (std::uint64_t j = y; j < std::min(y + tile[1], size[1]); ++j)
            runs.push_back({level.base + (box.layer + k) * level.slice_bytes() +
                                j * level.row_bytes() + x * unit,
                            std::min(tile[0], size[0] - x) * unit,
                            begin + ((k - z) * tile[1] + (j - y)) * tile[0] * unit});
  bytes = begin;
  return true;
}

/// The runs of a part of the mip tail, where the levels lie one behind the other; false if it is
/// not one of the array. No run goes past a tile's worth of bytes, so that all parts end where one
/// ends.
inline bool find_tail(const mapped_levels& of, const CUarrayMapInfo& info,
                      std::vector<mapped_run>& runs) {
  const auto& part = info.subresource.miptail;
  const std::uint64_t all = of.sparse.miptailSize;
  if (part.size == 0 || part.offset % tile_bytes != 0 || part.size % tile_bytes != 0 ||
      part.offset > all || part.size > all - part.offset ||
      part.layer >= (of.one_tail() ? 1 : of.layers()))
    return false;
  const std::uint64_t end = part.offset + part.size;
  std::uint64_t at = 0;  // in the tail
  for (std::size_t i = of.sparse.miptailFirstLevel; i < of.levels.size(); ++i) {
    const array_state& level = *of.levels[i];
    const std::uint64_t layer = of.one_tail() ? 0 : part.layer * level.slice_bytes();
    const std::uint64_t bytes = of.one_tail() ? level.bytes() : level.slice_bytes();
    for (std::uint64_t done = 0; done < bytes;) {
      const std::uint64_t here = std::min(bytes - done, tile_bytes - (at + done) % tile_bytes);
      if (at + done >= part.offset && at + done < end)
        runs.push_back({level.base + layer + done, here, at + done - part.offset});
      done += here;
    }
    at += bytes;
  }
  return true;
}

/// The runs of what a request is about, and the bytes of physical memory that it takes.
inline bool find_runs(const mapped_levels& of, const CUarrayMapInfo& info,
                      std::vector<mapped_run>& runs, std::uint64_t& bytes) {
  if (of.deferred()) {
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
    (void)give_requirements(of.levels, needs);
    bytes = needs.size;
    std::uint64_t all = 0;
    for (const array_ptr& each : of.levels) all += each->bytes();
    runs.push_back({of.finest().base, all, 0});
    return true;
  }
  switch (info.subresourceType) {
    case CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL: return find_tiles(of, info, runs, bytes);
    case CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL:
      bytes = info.subresource.miptail.size;
      return find_tail(of, info, runs);
  }
  return false;
}

}}}  // namespace nogpu::v1::driver
