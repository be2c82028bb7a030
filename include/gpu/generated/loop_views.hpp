#pragma once
/// \file
/// `operands_as_views`: all operands of a call as views of one shape, for loops in another order
/// than C order.

#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/snippet_access.hpp>

#include <cstddef>
#include <cstdint>
#include <gpu/core/detail/size_product.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the operand as a view of `shape`, which has as many elements.
inline loop_operand as_view_of(const loop_operand& operand, const loop_operand& shape) noexcept {
  if (!operand.contiguous) return operand;
  loop_operand view = shape;
  view.memory = operand.memory;
  set_dense_strides(view.extents, view.strides, view.rank);
  return view;
}

/// The operands of a call as views of one shape, except those that the snippet reaches in memory
/// and that are contiguous: they need no layout.
struct operands_as_views {
  static constexpr std::size_t most = 16;

  std::size_t count = 0;
  loop_operand operands[most];
  std::size_t parameter[most];   ///< of each view
  std::uint32_t parameters = 0;  ///< a bit for each parameter that is a view
  const loop_operand* shape = nullptr;

  /// Gathers the views, unless no operand is one or there are too many parameters.
  operands_as_views(const loop_call& call, const loop_form& form) noexcept {
    if (call.count() > most) return;
    for (std::size_t p = 0; p < call.count(); ++p) {
      if ((form.views >> p & 1u) != 0) shape = call.operand(p);
    }
    if (shape == nullptr) return;
    for (std::size_t p = 0; p < call.count(); ++p) {
      const loop_operand* const operand = call.operand(p);
      if (operand == nullptr || (is_in_memory(call, p) && operand->contiguous)) continue;
      operands[count] = as_view_of(*operand, *shape);
      parameter[count++] = p;
      parameters |= 1u << p;
    }
  }

  /// Sets `axes` to those of the views. Those before axis `boundary` of the shape are not joined
  /// with those from there on.
  void merge(merged_axes& axes, int boundary = 0) const noexcept {
    const loop_operand* views[most];
    for (std::size_t v = 0; v < count; ++v) views[v] = &operands[v];
    merge_axes(axes, views, count, boundary);
  }

  static bool is_in_memory(const loop_call& call, std::size_t p) noexcept {
    return call.state.uses[p].access == element_access::memory;
  }
};

/// Returns whether `width` elements along an axis can be moved together from each multiple of it.
inline bool allows_width_along(const loop_operand& operand, const std::ptrdiff_t* strides, int rank,
                               int along, std::size_t element_bytes, std::size_t width) noexcept {
  const std::size_t bytes = element_bytes * width;
  const bool is_chunk = (bytes & (bytes - 1)) == 0;
  if (is_chunk && operand.memory.address % (bytes < 16 ? bytes : 16) != 0) return false;
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != along && strides[axis] % static_cast<std::ptrdiff_t>(width) != 0) return false;
  }
  return true;
}

}}}  // namespace gpu::v1::detail
