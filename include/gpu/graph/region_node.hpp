#pragma once
/// \file
/// Nodes that copy and fill 2D and 3D regions: rows and planes with a pitch, whole or in part.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/graph/graph_node.hpp>
#include <gpu/graph/node_description.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/detail/region_side.hpp>
#include <gpu/memory/fill.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

/// Copies a region at each launch:
///
///     GPU_TRY(graph.add({}, gpu::copy_region_node(image, corner, {.size = {64, 64}})));
///
/// Source and destination are each a `pitched_buffer` or a pitched view, of device memory or of
/// host memory, which need not be page-locked. Both must live as long as the graph and its
/// executable graphs: see `graph::keep`.
/// **Errors**: those of `copy` of regions; `errc::invalid_argument` for 0 elements.
class copy_region_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::copy;

  template <detail::pitched_range Source, detail::pitched_range Destination>
  copy_region_node(Source&& source, Destination&& destination, copy_region region = {}) noexcept
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
          errc::invalid_argument, "gpu::copy_region_node",
          text("a node cannot copy 0 elements; omit the node, or add an empty_node."), where));
    }
    to.native.memcpy.copyCtx = context.native();
    to.native.memcpy.copyParams = detail::native_copy(source_, destination_, region);
    return {};
  }

  detail::region_side source_;
  detail::region_side destination_;
  copy_region region_;
};

/// Writes `value` to every element of a region, of 1, 2 or 4 bytes each, at each launch; the
/// padding of the rows does not change. The memory must live as long as the graph and its
/// executable graphs: see `graph::keep`.
/// **Errors**: those of `fill` of regions; `errc::invalid_argument` for 0 elements, and for planes
/// with a gap between them.
class fill_region_node {
 public:
  static constexpr graph_node_kind node_kind = graph_node_kind::fill;

  template <detail::pitched_range Destination>
    requires(detail::is_device_region<Destination>())
  fill_region_node(
      Destination&& destination,
      const std::remove_cv_t<typename detail::pitched_view_t<Destination>::element_type>&
          value) noexcept
      : region_{detail::side_of(destination)},
        pattern_{detail::fill_pattern<typename detail::pitched_view_t<Destination>::element_type>(
            value)} {}

 private:
  friend struct detail::node_access;
  result<> describe(detail::node_parameters& to, context_ref context,
                    source_location where) const noexcept {
    constexpr const char* function = "gpu::fill_region_node";
    GPU_TRY(detail::check_side(function, "destination", region_, where));
    if (region_.size.empty()) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, function,
          text("a node cannot fill 0 elements; omit the node, or add an empty_node."), where));
    }
    GPU_TRY(detail::check_fill_alignment(function, region_, where));
    if (region_.size.depth > 1 && region_.rows != region_.size.height) {
      detail::text_builder out;
      out << "a node cannot fill " << region_.size.depth
          << " planes with gaps between them: each has " << region_.size.height
          << " rows, and the next begins after " << region_.rows << "; add a node for each plane.";
      return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where,
                                          region_.size.depth, 1));
    }
    CUDA_MEMSET_NODE_PARAMS_v2& fill = to.native.memset;
    fill.dst = static_cast<CUdeviceptr>(region_.address);
    fill.pitch = region_.pitch;
    fill.value = pattern_;
    fill.elementSize = static_cast<unsigned>(region_.element);
    fill.width = region_.size.width;
    fill.height = region_.size.height * region_.size.depth;
    fill.ctx = context.native();
    return {};
  }

  detail::region_side region_;
  unsigned pattern_;
};

}}  // namespace gpu::v1
