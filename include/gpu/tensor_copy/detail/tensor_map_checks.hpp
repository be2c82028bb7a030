#pragma once
/// \file
/// The limits of tensor maps, checked before the driver is asked, and their descriptions in the
/// order of the driver: the contiguous axis first.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/tensor_copy/tensor_map_options.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

inline constexpr int most_tensor_axes = 5;
inline constexpr std::size_t most_box_elements = 256;  ///< along an axis
inline constexpr std::size_t most_column_pixels = 1024;
inline constexpr std::uint64_t most_tensor_elements = std::uint64_t{1} << 32;
inline constexpr std::uint64_t tensor_stride_end = std::uint64_t{1} << 40;

/// The elements of a tensor, as the driver names them.
struct tensor_element {
  CUtensorMapDataType type;
  bool floating = false;
};

/// Returns the driver's name for a type. What it has no name for is copied as an unsigned number of
/// the same size.
template <class T> constexpr tensor_element tensor_element_of() noexcept {
  using bare = std::remove_cv_t<T>;
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "the elements of a tensor map have 1, 2, 4 or 8 bytes: make larger ones an axis of "
                "the view (gpu::view_as)");
  static_assert(std::is_trivially_copyable_v<bare>,
                "the elements of a tensor map are copied as bytes");
  if constexpr (std::same_as<bare, float>) return {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, true};
  if constexpr (std::same_as<bare, double>) return {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, true};
  if (type_name_of<bare>() == string_ref("__half")) return {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, true};
  if (type_name_of<bare>() == string_ref("__nv_bfloat16"))
    return {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, true};
  if constexpr (sizeof(T) == 1) return {CU_TENSOR_MAP_DATA_TYPE_UINT8};
  if constexpr (sizeof(T) == 2) return {CU_TENSOR_MAP_DATA_TYPE_UINT16};
  if constexpr (sizeof(T) == 4)
    return {std::is_signed_v<bare> ? CU_TENSOR_MAP_DATA_TYPE_INT32
                                   : CU_TENSOR_MAP_DATA_TYPE_UINT32};
  return {std::is_signed_v<bare> ? CU_TENSOR_MAP_DATA_TYPE_INT64 : CU_TENSOR_MAP_DATA_TYPE_UINT64};
}

/// A tensor as the driver describes it.
struct native_tensor {
  CUtensorMapDataType type{};
  cuuint32_t rank = 0;
  void* address = nullptr;
  cuuint64_t extents[most_tensor_axes] = {};
  cuuint64_t strides[most_tensor_axes] = {};  ///< bytes; of the axes after the first
  cuuint32_t steps[most_tensor_axes] = {};
  CUtensorMapInterleave interleave{};
  CUtensorMapSwizzle swizzle{};
  CUtensorMapL2promotion promotion{};
  CUtensorMapFloatOOBfill fill{};
};

/// What the checks say of a mistake: the function, and where it was called.
struct tensor_map_call {
  const char* function;
  source_location where;

  result<> refuse(text_builder& sentence, std::uint64_t asked, std::uint64_t limit,
                  errc code = errc::invalid_argument) const noexcept {
    return fail(refusal(code, function, sentence.finish(), where, asked, limit));
  }
  /// `what` completes "the step of axis 1 is 9".
  result<> require_between(const char* what, int axis, std::uint64_t asked, std::uint64_t least,
                           std::uint64_t most) const noexcept {
    if (asked >= least && asked <= most) return {};
    text_builder out;
    out << what;
    if (axis >= 0) out << axis;
    out << " is " << asked << "; it has to be " << least << " to " << most << '.';
    return refuse(out, asked, asked < least ? least : most);
  }
};

/// Checks that the options are enumerators that go with each other and with the elements.
inline result<> check_tensor_options(const tensor_map_options& options, tensor_element element,
                                     const view_layout& view,
                                     const tensor_map_call& call) noexcept {
  GPU_TRY(require_enumerator(options.swizzle, "tensor_swizzle", call.function, call.where));
  GPU_TRY(require_enumerator(options.interleave, "tensor_interleave", call.function, call.where));
  GPU_TRY(require_enumerator(options.promotion, "l2_promotion", call.function, call.where));
  GPU_TRY(require_enumerator(options.fill, "tensor_fill", call.function, call.where));
  GPU_TRY(require_enumerator(options.floats, "tensor_float", call.function, call.where));
  text_builder out;
  if (options.fill == tensor_fill::nans && !element.floating) {
    out << "tensor_fill::nans is for floating-point elements, and these are " << view.element_bytes
        << " bytes of another type. Use tensor_fill::zeros.";
    return call.refuse(out, 0, 0);
  }
  if (options.floats != tensor_float::unchanged &&
      element.type != CU_TENSOR_MAP_DATA_TYPE_FLOAT32) {
    out << "tensor_float::" << name_of(options.floats)
        << " is for elements of type float. Use tensor_float::unchanged.";
    return call.refuse(out, 0, 0);
  }
  const bool slices = options.interleave != tensor_interleave::none;
  if (slices && view.rank < 3) {
    out << "an interleaved tensor has at least 3 axes, and this view has " << view.rank
        << ". Add axes with gpu::new_axis(), or use tensor_interleave::none.";
    return call.refuse(out, static_cast<std::uint64_t>(view.rank), 3);
  }
  if (options.interleave == tensor_interleave::bytes_32 &&
      options.swizzle != tensor_swizzle::bytes_32) {
    out << "tensor_interleave::bytes_32 goes with tensor_swizzle::bytes_32, not with "
        << name_of(options.swizzle) << '.';
    return call.refuse(out, static_cast<std::uint64_t>(options.swizzle),
                       static_cast<std::uint64_t>(tensor_swizzle::bytes_32));
  }
  return {};
}

/// Checks the stride of an axis that is not the last, in bytes.
inline result<> check_tensor_stride(int axis, std::int64_t bytes, std::uint64_t unit,
                                    const tensor_map_call& call) noexcept {
  if (bytes > 0 && static_cast<std::uint64_t>(bytes) < tensor_stride_end &&
      static_cast<std::uint64_t>(bytes) % unit == 0)
    return {};
  text_builder out;
  out << "along axis " << axis << " the elements of the view are " << bytes
      << " bytes apart; a tensor map needs a positive multiple of " << unit
      << " below 2^40. Copy the view to rows that are a multiple of " << unit
      << " bytes long, such as a gpu::pitched_buffer or a wider array has.";
  return call.refuse(out, static_cast<std::uint64_t>(bytes), unit);
}

/// Checks a view and describes it to the driver.
inline result<> describe_tensor(native_tensor& out, const view_layout& view, tensor_element element,
                                const tensor_map_options& options,
                                const tensor_map_call& call) noexcept {
  if (view.fault) return fail(fault_error(view.fault, nullptr, call.function, call.where));
  GPU_TRY(check_tensor_options(options, element, view, call));
  const std::uint64_t unit = options.interleave == tensor_interleave::bytes_32 ? 32 : 16;
  if (view.address % unit != 0) {
    text_builder sentence;
    sentence << "the view begins " << view.address % unit << " bytes behind a multiple of " << unit
             << " bytes, where a tensor map has to begin. Begin it at such an element, or copy it.";
    return call.refuse(sentence, view.address, unit, errc::invalid_argument);
  }
  out.type = element.type;
  switch (options.floats) {
    case tensor_float::unchanged: break;
    case tensor_float::flushed: out.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ; break;
    case tensor_float::tf32: out.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32; break;
    case tensor_float::flushed_tf32: out.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ; break;
  }
  out.interleave = static_cast<CUtensorMapInterleave>(options.interleave);
  out.swizzle = static_cast<CUtensorMapSwizzle>(options.swizzle);
  out.promotion = static_cast<CUtensorMapL2promotion>(options.promotion);
  out.fill = static_cast<CUtensorMapFloatOOBfill>(options.fill);
  out.rank = static_cast<cuuint32_t>(view.rank);
  out.address = reinterpret_cast<void*>(view.address);
  for (int axis = view.rank; axis-- > 0;) {
    const int n = view.rank - 1 - axis;  // the driver's number of the axis
    const std::uint64_t extent = view.extents[axis];
    GPU_TRY(call.require_between("the extent of axis ", axis, extent, 1, most_tensor_elements));
    out.extents[n] = extent;
    const unsigned step = options.steps[axis];
    const bool steps_count = n != 0 || options.interleave != tensor_interleave::none;
    GPU_TRY(call.require_between("the step of axis ", axis, step, 1, steps_count ? 8 : 1));
    out.steps[n] = step;
    const auto bytes = static_cast<std::int64_t>(view.element_bytes) * view.strides[axis];
    if (n == 0) {
      if (extent == 1 || view.strides[axis] == 1) continue;
      text_builder sentence;
      sentence << "along axis " << axis << ", the last, the elements of the view are "
               << view.strides[axis]
               << " elements apart; a tensor map needs them side by side. Move an axis that is "
                  "contiguous to the end (gpu::move_axis), or copy the view.";
      return call.refuse(sentence, static_cast<std::uint64_t>(view.strides[axis]), 1);
    }
    if (extent != 1) {
      GPU_TRY(check_tensor_stride(axis, bytes, unit, call));
      out.strides[n - 1] = static_cast<cuuint64_t>(bytes);
    } else {  // it matters to nobody, but the driver checks it
      const std::uint64_t inner = n == 1 ? view.element_bytes : out.strides[n - 2];
      const std::uint64_t row = saturated_product(inner, out.extents[n - 1]);
      const std::uint64_t dense = row / unit * unit + (row % unit == 0 ? 0 : unit);
      out.strides[n - 1] = row < tensor_stride_end && dense < tensor_stride_end ? dense : unit;
    }
  }
  return {};
}

/// Returns how many bytes a swizzle spans.
constexpr std::size_t span_of(tensor_swizzle swizzle) noexcept {
  return swizzle > tensor_swizzle::bytes_128 ? 128 : std::size_t{16} << static_cast<int>(swizzle);
}

/// Checks the bytes of a tile along its last axis: whole pieces, and no more than the swizzle
/// spans.
inline result<> check_inner_bytes(const char* what, std::size_t count, std::size_t element_bytes,
                                  const tensor_map_options& options,
                                  const tensor_map_call& call) noexcept {
  const std::size_t bytes = saturated_product(count, element_bytes);
  if (options.interleave != tensor_interleave::none) return {};
  text_builder out;
  if (bytes % 16 != 0) {
    out << what << " are " << bytes
        << " bytes; they have to be a multiple of 16. Pass a multiple of " << 16 / element_bytes
        << " elements.";
    return call.refuse(out, bytes, 16);
  }
  if (options.swizzle == tensor_swizzle::none) return {};
  const std::size_t span = span_of(options.swizzle);
  if (bytes <= span) return {};
  out << what << " are " << bytes << " bytes, more than the " << span
      << " of tensor_swizzle::" << name_of(options.swizzle) << ". Pass at most "
      << span / element_bytes << " elements, or another swizzle.";
  return call.refuse(out, bytes, span);
}

/// Checks the channels and pixels that a copy by im2col takes.
inline result<> check_column(std::size_t channels, std::size_t pixels, std::size_t element_bytes,
                             const tensor_map_options& options,
                             const tensor_map_call& call) noexcept {
  GPU_TRY(call.require_between("the number of channels", -1, channels, 1, most_box_elements));
  GPU_TRY(call.require_between("the number of pixels", -1, pixels, 1, most_column_pixels));
  return check_inner_bytes("the channels of a pixel", channels, element_bytes, options, call);
}

/// Checks that the rows of a tile fit into the shared memory of the device, as its driver asks.
/// They are as far apart there as the swizzle spans.
inline result<> check_tile_bytes(const char* what, std::size_t rows, std::size_t row_bytes,
                                 const tensor_map_options& options, device on,
                                 const tensor_map_call& call) noexcept {
  const bool spread =
      options.swizzle != tensor_swizzle::none && options.interleave == tensor_interleave::none;
  const std::size_t bytes = saturated_product(rows, spread ? span_of(options.swizzle) : row_bytes);
  int most = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_attribute>(
      call.where, &most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, on.native()));
  if (bytes <= static_cast<std::size_t>(most)) return {};
  text_builder out;
  out << what << " is " << bytes << " bytes, more than the " << most
      << " bytes of shared memory that a multiprocessor of device " << on.native()
      << " has. Pass a smaller one.";
  return call.refuse(out, bytes, static_cast<std::uint64_t>(most));
}

/// Checks the extents of a tile, and gives those of the driver: the elements that the steps cross.
inline result<> describe_tile(cuuint32_t (&native)[most_tensor_axes], const std::size_t* box,
                              const view_layout& view, const tensor_map_options& options,
                              const tensor_map_call& call) noexcept {
  for (int axis = view.rank; axis-- > 0;) {
    GPU_TRY(call.require_between("the extent of the tile along axis ", axis, box[axis], 1,
                                 most_box_elements / options.steps[axis]));
    native[view.rank - 1 - axis] = static_cast<cuuint32_t>(box[axis]) * options.steps[axis];
  }
  return check_inner_bytes("the elements of a tile along the last axis", box[view.rank - 1],
                           view.element_bytes, options, call);
}

/// Checks the corners of a box of pixels along one axis, whose limits depend on their number.
inline result<> check_corners(int axis, int lower, int upper, std::size_t extent, int axes,
                              const tensor_map_call& call) noexcept {
  const int most = axes == 1 ? 32767 : axes == 2 ? 127 : 15;
  for (const int corner : {lower, upper}) {
    if (corner >= -most - 1 && corner <= most) continue;
    text_builder out;
    out << "a corner of the box of pixels is " << corner << " along axis " << axis << "; with "
        << axes << (axes == 1 ? " axis" : " axes") << " of pixels it has to be " << -most - 1
        << " to " << most << '.';
    return call.refuse(out, static_cast<std::uint64_t>(std::int64_t{corner}),
                       static_cast<std::uint64_t>(most));
  }
  const std::int64_t pixels = static_cast<std::int64_t>(extent) + upper - lower;
  if (pixels > 0) return {};
  text_builder out;
  out << "along axis " << axis << " of " << extent << " pixels, the box from corner " << lower
      << " to corner " << upper << " has " << pixels
      << " pixels; there has to be one. Corners count from the first and from the last pixel.";
  return call.refuse(out, static_cast<std::uint64_t>(pixels), 1);
}

}}}  // namespace gpu::v1::detail
