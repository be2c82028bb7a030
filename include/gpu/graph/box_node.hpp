#pragma once
/// \file
/// Copies and fills of boxes as nodes of a graph: rows and planes with a pitch, whole or in part.

#include <gpu/graph/node_description.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/fill.hpp>

namespace gpu::inline v0 {

/// Copies a box, or a part of it, at each launch:
///
///     GPU_TRY(graph.add({}, gpu::copy_box_node(image, corner, {.size = {64, 64}})));
///
/// Either end is a `pitched_buffer` or a pitched view, on a device or in host memory, which need
/// not be page-locked. Both have to live as long as the graph and what is instantiated from it: see
/// `graph::keep`.
/// **Errors**: those of `copy` for boxes; `errc::invalid_argument` for no elements.
class copy_box_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::copy;

  template <detail::pitched_range Source, detail::pitched_range Destination>
  copy_box_node(Source&& source, Destination&& destination, copy_region region = {}) noexcept
      : source_{detail::side_of(source)},
        destination_{detail::side_of(destination)},
        region_{region} {
    detail::check_region_copy<Source, Destination>();
  }

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref context,
                    source_location where) const noexcept {
    copy_region region = region_;
    GPU_TRY(detail::complete_region(source_, destination_, region, where));
    if (region.size.empty()) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::copy_box_node",
          text("a node cannot copy 0 elements. Leave the node out, or add an empty_node."), where));
    }
    to.native.memcpy.copyCtx = context.native();
    to.native.memcpy.copyParams = detail::native_copy(source_, destination_, region);
    return {};
  }

  detail::region_side source_;
  detail::region_side destination_;
  copy_region region_;
};

/// Writes `value` to every element of a box, of 1, 2 or 4 bytes each, at each launch; what is
/// between the rows is left alone. The memory has to live as long as the graph and what is
/// instantiated from it: see `graph::keep`.
/// **Errors**: those of `fill` for boxes; `errc::invalid_argument` for no elements, and for planes
/// with a gap between them.
class fill_box_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::fill;

  template <detail::pitched_range Destination>
    requires(detail::is_device_region<Destination>())
  fill_box_node(Destination&& destination,
                const detail::remove_cv_t<typename detail::pitched_view_t<Destination>::element_type>&
                    value) noexcept
      : box_{detail::side_of(destination)},
        pattern_{
            detail::fill_pattern<typename detail::pitched_view_t<Destination>::element_type>(value)} {}

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref context,
                    source_location where) const noexcept {
    constexpr const char* function = "gpu::fill_box_node";
    GPU_TRY(detail::check_side(function, "destination", box_, where));
    if (box_.size.empty()) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, function,
          text("a node cannot fill 0 elements. Leave the node out, or add an empty_node."), where));
    }
    GPU_TRY(detail::check_fill_alignment(function, box_, where));
    if (box_.size.depth > 1 && box_.rows != box_.size.height) {
      detail::text_builder out;
      out << "a node fills one plane, and the " << box_.size.depth
          << " of the box have a gap between them: " << box_.size.height << " rows, of "
          << box_.rows << " to the next. Add a node for each plane.";
      return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where,
                                          box_.size.depth, 1));
    }
    CUDA_MEMSET_NODE_PARAMS_v2& fill = to.native.memset;
    fill.dst = static_cast<CUdeviceptr>(box_.address);
    fill.pitch = box_.pitch;
    fill.value = pattern_;
    fill.elementSize = static_cast<unsigned>(box_.element);
    fill.width = box_.size.width;
    fill.height = box_.size.height * box_.size.depth;
    fill.ctx = context.native();
    return {};
  }

  detail::region_side box_;
  unsigned pattern_;
};

}  // namespace gpu::inline v0
