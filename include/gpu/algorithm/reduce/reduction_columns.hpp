#pragma once
/// \file
/// Chooses whether threads of a reduction hold neighboring segments, such as the columns of a
/// matrix, in place of neighboring elements of one. The order of the combination is the same.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_views.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Bytes of the values that a thread holds at one position of its segments, at the most.
inline constexpr std::size_t most_column_bytes = 32;
/// Elements that a thread holds in a group, at the most: their operations are written out, and more
/// take long to compile.
inline constexpr unsigned most_column_elements = 32;
/// Bytes of the value of a reduction by columns, at the most: a block has as many values as threads
/// in shared memory.
inline constexpr unsigned most_column_value = 128;
/// Bytes of neighboring segments that make a reduction by columns worth it: a sector.
inline constexpr std::size_t least_column_bytes = 32;
/// Threads that keep a device busy. A block is narrower if there would be fewer.
inline constexpr std::size_t enough_threads = std::size_t{1} << 17;

/// Returns how many leading axes of a shape have as many indices as there are segments; 0 if none
/// have.
inline int find_segment_axes(const loop_operand& shape, std::size_t segments) noexcept {
  std::size_t product = 1;
  for (int axis = 0; axis < shape.rank; ++axis) {
    if (product == segments) return axis;
    product = saturated_product(product, shape.extents[axis]);
  }
  return 0;
}

/// If the operands are contiguous along an axis of the segments, and not along the elements of a
/// segment, changes `form` and `axes` to threads that hold neighboring segments.
inline void choose_columns(const loop_call& call, loop_form& form, merged_axes& axes,
                           std::size_t segments, unsigned value_bytes) noexcept {
  if (!form.by_element || axes.rank == 0 || segments < 2 || value_bytes > most_column_value) return;
  const operands_as_views views(call, form);
  if (views.count == 0) return;
  const int boundary = find_segment_axes(*views.shape, segments);
  if (boundary == 0) return;
  merged_axes merged;
  views.merge(merged, boundary);
  const int along = merged.boundary - 1, last = merged.rank - 1;
  if (along < 0 || along == last) return;
  // Operands that are contiguous along the segments count for columns, the others against them.
  int gain = 0;
  unsigned columns = call.code().full_width;
  const auto is_too_much = [&] {
    return columns * value_bytes > most_column_bytes || columns * form.width > most_column_elements;
  };
  while (columns > 1 && is_too_much()) columns /= 2;
  for (std::size_t v = 0; v < views.count; ++v) {
    const std::size_t p = views.parameter[v];
    if (views.is_in_memory(call, p)) continue;
    const std::ptrdiff_t* const strides = merged.strides[v];
    const std::size_t bytes = call.code().parameters[p].type.bytes;
    const bool is_turned = strides[along] == 1 && strides[last] != 0 && strides[last] != 1;
    const bool is_straight = strides[last] == 1 && strides[along] != 0;
    if (is_turned && merged.extents[along] * bytes >= least_column_bytes) ++gain;
    if (is_straight) --gain;
    if (strides[along] != 1) continue;
    while (columns > 1 &&
           !allows_width_along(views.operands[v], strides, merged.rank, along, bytes, columns)) {
      columns /= 2;
    }
  }
  if (gain <= 0) return;
  while (merged.extents[along] % columns != 0) columns /= 2;
  views.merge(axes, boundary);
  form.views = views.parameters;
  form.rank = merged.rank;
  form.segment_axes = merged.boundary;
  form.aligned = columns;
  form.groups = 8;
  while (form.groups > 1 && form.groups * columns * form.width > 32) form.groups /= 2;
}

/// The division of threads among segments if threads hold neighboring segments.
struct column_blocks {
  unsigned columns;    ///< threads of a block side by side
  unsigned threads;    ///< of a block
  std::size_t blocks;  ///< side by side
};

/// Divides `segments` among blocks, with `shares` blocks for each segment. `warps * lanes` takers
/// share a segment, or a share of it. A block is as wide as there are segments for, and narrower if
/// the device would not be busy.
inline column_blocks divide_columns(const loop_form& form, std::size_t segments, std::size_t shares,
                                    unsigned warps, unsigned lanes,
                                    unsigned element_bytes) noexcept {
  const std::size_t holders = segments / form.aligned;
  unsigned columns = loop_threads / warps, places = warps;
  while (columns > 1) {
    const bool has_idle_half = columns / 2 >= holders;
    if (!has_idle_half && (holders * places * shares >= enough_threads ||
                           columns * form.aligned * element_bytes <= least_column_bytes)) {
      break;
    }
    const bool splits = places < warps * lanes;
    if (!splits && columns * places <= 64) break;
    columns /= 2;
    if (splits) places *= 2;
  }
  const std::size_t blocks = (holders - 1) / columns + 1;
  // Threads without a segment repeat the last one. If nearly half of them would, a width that is
  // not a power of two is faster: 9 columns of floats take 0.77 of the time.
  if (holders * 8 < blocks * columns * 5) {
    columns = static_cast<unsigned>((holders - 1) / blocks + 1);
  }
  return {columns, columns * places, blocks};
}

}}}  // namespace gpu::v1::detail
