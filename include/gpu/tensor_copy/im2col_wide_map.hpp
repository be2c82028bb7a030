#pragma once
/// \file
/// `make_im2col_wide_map`: describes images for copies of pixels along one row, on devices of
/// compute capability 10.0 and later.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/tensor_copy/detail/tensor_map_checks.hpp>
#include <gpu/tensor_copy/tensor_map.hpp>
#include <gpu/tensor_copy/tensor_map_options.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

/// How many pixels of a row one copy takes. Converts to `CUtensorMapIm2ColWideMode` by cast.
enum class im2col_width : int {
  stated = CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,         ///< as many as the box says
  pixels_128 = CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128,  ///< 128
};

/// The enumerator, such as "stated"; null for a value that this library does not know.
constexpr const char* name_of(im2col_width width) noexcept {
  using enum im2col_width;
  return detail::find_name(width, {{stated, "stated"}, {pixels_128, "pixels_128"}});
}

/// As `im2col_box`, but pixels follow each other along the last axis of pixels alone.
struct im2col_row {
  int lower = 0;             ///< the first place, from the first pixel of the row
  int upper = 0;             ///< the last place, from the last pixel
  std::size_t channels = 1;  ///< that are copied of each pixel, up to 256
  std::size_t pixels = 1;    ///< that one copy takes, up to 1024; ignored for `pixels_128`
  im2col_width width = im2col_width::stated;
};

namespace detail {

inline result<CUtensorMap> encode_im2col_wide(context_or_device on, const view_layout& view,
                                              tensor_element element, const im2col_row& box,
                                              const tensor_map_options& options,
                                              source_location where) noexcept {
  const tensor_map_call call{"gpu::make_im2col_wide_map", where};
  const context_ref context = GPU_TRY(tensor_map_context(on, options.swizzle, call));
  const int major = GPU_TRY(context.device().compute_capability(where)).major;
  text_builder out;
  if (major < 10) {
    out << "device " << context.device().native() << " has compute capability " << major
        << ".x, and the wide form of im2col needs 10.0. Use gpu::make_im2col_map.";
    return fail(refusal(errc::not_supported, call.function, out.finish(), where,
                        static_cast<std::uint64_t>(major), 10));
  }
  GPU_TRY(require_enumerator(box.width, "im2col_width", call.function, where));
  native_tensor tensor;
  GPU_TRY(describe_tensor(tensor, view, element, options, call));
  if (options.swizzle != tensor_swizzle::bytes_64 && options.swizzle != tensor_swizzle::bytes_128) {
    out << "the wide form of im2col takes tensor_swizzle::bytes_64 or bytes_128, not "
        << name_of(options.swizzle) << '.';
    return fail(refusal(errc::invalid_argument, call.function, out.finish(), where));
  }
  const int axis = view.rank - 2;
  GPU_TRY(check_corners(axis, box.lower, box.upper, view.extents[axis], 1, call));
  const std::size_t pixels = box.width == im2col_width::stated ? box.pixels : 128;
  GPU_TRY(check_column(box.channels, pixels, view.element_bytes, options, call));
  CUtensorMap made{};
  GPU_TRY(driver::call_in<&driver::entry_points::tensor_map_encode_im2col_wide>(
      context.native(), where, &made, tensor.type, tensor.rank, tensor.address, tensor.extents,
      tensor.strides, box.lower, box.upper, static_cast<cuuint32_t>(box.channels),
      static_cast<cuuint32_t>(pixels), tensor.steps, tensor.interleave,
      static_cast<CUtensorMapIm2ColWideMode>(box.width), tensor.swizzle, tensor.promotion,
      tensor.fill));
  return made;
}

}  // namespace detail

/// Describes images, as `make_im2col_map`, for copies of pixels that follow each other along the
/// last axis of pixels, which the `.im2col::w` forms of `cp.async.bulk.tensor` take.
/// **Errors**: those of `make_im2col_map`; `errc::not_supported` below compute capability 10.0.
/// **Threads**: any. **Capture**: not affected. (cuDeviceGetAttribute, cuTensorMapEncodeIm2colWide)
template <detail::viewable A>
result<detail::tensor_map_of<A>> make_im2col_wide_map(
    context_or_device on, A&& elements, const im2col_row& box, const tensor_map_options& options,
    source_location where = source_location::current()) noexcept {
  using map = detail::tensor_map_of<A>;
  static_assert(map::rank >= 3, "im2col is for images: 3 to 5 axes, the last of which is channels");
  const auto view = detail::array_view_of(static_cast<A&&>(elements));
  return map::from_native(GPU_TRY(detail::encode_im2col_wide(
      on, detail::view_access::layout_of(view),
      detail::tensor_element_of<typename map::element_type>(), box, options, where)));
}

}}  // namespace gpu::v1
