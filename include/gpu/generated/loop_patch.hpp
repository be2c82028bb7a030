#pragma once
/// \file
/// Chooses patches in place of rows, where views of one call are contiguous along different axes.

#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_views.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// If a view that is loaded or stored by element is contiguous along another axis than the last,
/// and both are long enough, changes `form` and `axes` to patches along the two. All parameters
/// with elements are views then.
inline void choose_patch(const loop_call& call, loop_form& form, merged_axes& axes) noexcept {
  constexpr std::size_t least = 16;
  if (!form.by_element || axes.rank < 2 || call.code().full_width < 2) return;
  const operands_as_views views(call, form);
  if (views.count == 0) return;
  merged_axes merged;
  views.merge(merged);
  const int last = merged.rank - 1;
  int patch_axis = -1;
  std::uint32_t turned = 0;
  for (std::size_t v = 0; v < views.count; ++v) {
    const std::ptrdiff_t* const strides = merged.strides[v];
    if (strides[last] == 0 || strides[last] == 1) continue;
    if (views.is_in_memory(call, views.parameter[v])) continue;
    for (int axis = 0; axis < last; ++axis) {
      const bool usable = strides[axis] == 1 && merged.extents[axis] >= least;
      if (usable && (patch_axis < 0 || patch_axis == axis)) {
        patch_axis = axis;
        turned |= 1u << views.parameter[v];
      }
    }
  }
  if (patch_axis < 0 || merged.extents[last] < least) return;
  form.width = form.aligned = call.code().full_width < 4 ? call.code().full_width : 4;
  for (std::size_t v = 0; v < views.count; ++v) {
    const std::size_t p = views.parameter[v];
    if (views.is_in_memory(call, p)) continue;
    const int along = (turned >> p & 1u) != 0 ? patch_axis : last;
    while (form.aligned > 1 &&
           !allows_width_along(views.operands[v], merged.strides[v], merged.rank, along,
                               call.code().parameters[p].type.bytes, form.aligned)) {
      form.aligned /= 2;
    }
  }
  views.merge(axes);
  form.views = views.parameters;
  form.rank = merged.rank;
  form.groups = 1;
  form.patch_axis = patch_axis + 1;
  form.turned = turned;
}

/// Returns how many blocks of 16 x 16 patches cover the axes.
inline std::size_t patch_blocks(const loop_form& form, const merged_axes& axes) noexcept {
  const std::size_t side = std::size_t{16} * form.width;
  std::size_t blocks = 1;
  for (int axis = 0; axis < axes.rank; ++axis) {
    const bool in_patch = axis == axes.rank - 1 || axis == form.patch_axis - 1;
    blocks *= in_patch ? (axes.extents[axis] - 1) / side + 1 : axes.extents[axis];
  }
  return blocks;
}

}}}  // namespace gpu::v1::detail
