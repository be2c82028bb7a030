#pragma once
/// \file
/// `tensor_map`: describes an array to the bulk copy engine of devices of compute capability 9.0
/// and later, which copies tiles of it to and from shared memory.

#include <gpu/compiler/detail/offered_headers.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/device/embedded/tensor_copy.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/device_refusals.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/tensor_copy/detail/tensor_map_checks.hpp>
#include <gpu/tensor_copy/tensor_map_options.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

inline constexpr device_code_header tensor_copy_headers[] = {
    {"gpu/tensor_copy.hpp", tensor_copy_header}};
inline const offered_headers offered_tensor_copy_headers{tensor_copy_headers};

}  // namespace detail

/// What an `im2col` copy takes: columns of pixels, each of which is the channels of one place of an
/// image. The axes of the tensor are images, then one to three axes of pixels, then channels.
///
/// The first pixel of each column walks through a box of places, from `lower` to the last pixel
/// plus `upper` along each axis of pixels; the offset that the kernel passes is then added. For a
/// convolution with padding p and a filter of R places, `lower` is -p and `upper` p - (R - 1), and
/// the offsets are the places 0 to R - 1 of the filter.
template <int Rank> struct im2col_box {
  int lower[std::size_t{Rank} - 2] =
      {};  ///< the first place of the box, from the first pixel of each axis
  int upper[std::size_t{Rank} - 2] =
      {};                    ///< the last place of the box, from the last pixel of each axis
  std::size_t channels = 1;  ///< that are copied of each pixel, up to 256
  std::size_t pixels = 1;    ///< that one copy takes, up to 1024
};

namespace detail {

inline result<> replace_tensor_address(CUtensorMap& map, context_ref context,
                                       std::uintptr_t address, source_location where) noexcept {
  if (address % 16 != 0) {
    text_builder out;
    out << "the new first element is " << address % 16
        << " bytes behind a multiple of 16 bytes, where a tensor map has to begin.";
    return fail(refusal(errc::invalid_argument, "gpu::tensor_map::replace_address", out.finish(),
                        where, address, 16));
  }
  return driver::call_in<&driver::entry_points::tensor_map_replace_address>(
      context.native(), where, &map, reinterpret_cast<void*>(address));
}

}  // namespace detail

/// Describes elements of type `T` in device memory to the bulk copy engine, as `make_tensor_map`
/// says. It is a value of 128 bytes that refers to the memory, which something else keeps alive.
/// Copy it freely.
///
/// A kernel takes it by value, as `const __grid_constant__ gpu::tensor_map<T, Rank>` of
/// `<gpu/tensor_copy.hpp>`, a header for device code that has the functions that use it, or as
/// `const __grid_constant__ CUtensorMap`. Of `const` elements no tile can be written.
template <class T, int Rank> class alignas(CUtensorMap) tensor_map {
  static_assert(Rank >= 1 && Rank <= 5, "a tensor map has 1 to 5 axes");

 public:
  using element_type = T;
  static constexpr int rank = Rank;

  /// Makes a map of nothing, to be assigned to. A kernel must not use it.
  constexpr tensor_map() noexcept = default;
  /// Makes a map of what the driver encoded.
  static constexpr tensor_map from_native(const CUtensorMap& native) noexcept {
    tensor_map made;
    made.native_ = native;
    return made;
  }
  constexpr const CUtensorMap& native() const noexcept { return native_; }

  /// Moves the map to other memory, with extents, strides and options as they are: `first` is the
  /// element with all indices 0 from now on.
  /// **Errors**: `errc::invalid_argument` if `first` is not aligned to 16 bytes; the driver's if it
  /// needs 32. **Capture**: not affected. (cuTensorMapReplaceAddress)
  result<> replace_address(context_or_device on, T* first,
                           source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::tensor_map::replace_address";
    const context_ref context = GPU_TRY(on.resolve(function, where));
    const auto address = reinterpret_cast<std::uintptr_t>(first);
    return detail::replace_tensor_address(native_, context, address, where);
  }

 private:
  CUtensorMap native_{};
};

static_assert(sizeof(tensor_map<float, 2>) == 128 && alignof(tensor_map<float, 2>) == 128);

namespace detail {

template <class A> using mapped_view = decltype(array_view_of(std::declval<A>()));
template <class A>
using tensor_map_of = tensor_map<typename mapped_view<A>::element_type, mapped_view<A>::rank>;

inline constexpr char needs_tensor_maps[] =
    "use tensor maps, which need compute capability 9.0. Copy the elements with loads and stores "
    "there, or with cp.async.";

/// Returns the context, after the check that its device has tensor maps, and that swizzle.
inline result<context_ref> tensor_map_context(context_or_device on, tensor_swizzle swizzle,
                                              const tensor_map_call& call) noexcept {
  const context_ref context = GPU_TRY(on.resolve(call.function, call.where));
  GPU_TRY(require_ability(call.function, context.device(),
                          CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, needs_tensor_maps,
                          call.where));
  if (swizzle > tensor_swizzle::bytes_128 && name_of(swizzle) != nullptr) {
    const int major = GPU_TRY(context.device().compute_capability(call.where)).major;
    if (major < 10) {
      text_builder out;
      out << "device " << context.device().native() << " has compute capability " << major
          << ".x, and tensor_swizzle::" << name_of(swizzle)
          << " needs 10.0. Use tensor_swizzle::bytes_128.";
      GPU_TRY(call.refuse(out, static_cast<std::uint64_t>(major), 10, errc::not_supported));
    }
  }
  return context;
}

/// The parts of the functions below that do not depend on the type. The box is in the order of the
/// view's axes.
inline result<CUtensorMap> encode_tiled(context_or_device on, const view_layout& view,
                                        tensor_element element, const std::size_t* box,
                                        const tensor_map_options& options,
                                        source_location where) noexcept {
  const tensor_map_call call{"gpu::make_tensor_map", where};
  const context_ref context = GPU_TRY(tensor_map_context(on, options.swizzle, call));
  native_tensor tensor;
  GPU_TRY(describe_tensor(tensor, view, element, options, call));
  cuuint32_t tile[most_tensor_axes] = {};
  GPU_TRY(describe_tile(tile, box, view, options, call));
  std::size_t rows = 1;
  for (int axis = 0; axis + 1 < view.rank; ++axis) rows *= box[axis];
  GPU_TRY(check_tile_bytes("a tile", rows, box[view.rank - 1] * view.element_bytes, options,
                           context.device(), call));
  CUtensorMap made{};
  GPU_TRY(driver::call_in<&driver::entry_points::tensor_map_encode_tiled>(
      context.native(), where, &made, tensor.type, tensor.rank, tensor.address, tensor.extents,
      tensor.strides, tile, tensor.steps, tensor.interleave, tensor.swizzle, tensor.promotion,
      tensor.fill));
  return made;
}

inline result<CUtensorMap> encode_im2col(context_or_device on, const view_layout& view,
                                         tensor_element element, const int* lower, const int* upper,
                                         std::size_t channels, std::size_t pixels,
                                         const tensor_map_options& options,
                                         source_location where) noexcept {
  const tensor_map_call call{"gpu::make_im2col_map", where};
  const context_ref context = GPU_TRY(tensor_map_context(on, options.swizzle, call));
  native_tensor tensor;
  GPU_TRY(describe_tensor(tensor, view, element, options, call));
  const int axes = view.rank - 2;
  int low[3] = {}, high[3] = {};
  for (int n = 0; n < axes; ++n) {  // axis 1 + n of the view; the driver's last one
    GPU_TRY(check_corners(1 + n, lower[n], upper[n], view.extents[1 + n], axes, call));
    low[axes - 1 - n] = lower[n];
    high[axes - 1 - n] = upper[n];
  }
  GPU_TRY(check_column(channels, pixels, view.element_bytes, options, call));
  GPU_TRY(check_tile_bytes("a copy of all pixels", pixels, channels * view.element_bytes, options,
                           context.device(), call));
  CUtensorMap made{};
  GPU_TRY(driver::call_in<&driver::entry_points::tensor_map_encode_im2col>(
      context.native(), where, &made, tensor.type, tensor.rank, tensor.address, tensor.extents,
      tensor.strides, low, high, static_cast<cuuint32_t>(channels), static_cast<cuuint32_t>(pixels),
      tensor.steps, tensor.interleave, tensor.swizzle, tensor.promotion, tensor.fill));
  return made;
}

}  // namespace detail

/// Describes an array, view, buffer or span of up to 5 axes for copies of tiles. `box` is the shape
/// of a tile in shared memory, in the order of the axes. A copy begins, along the last axis, at a
/// multiple of 16 bytes, and may begin outside, but to write not before the array: a kernel that
/// does otherwise ends with an illegal instruction.
///
///     auto map = GPU_TRY(gpu::make_tensor_map(device, matrix, {64, 32}));
///     GPU_TRY(gpu::launch(stream, config, kernel, map));
///
/// The last axis is contiguous; along the others, elements are multiples of 16 bytes apart, and the
/// first element is at a multiple of 16 bytes. A tile has up to 256 elements along each axis, and
/// along the last a multiple of 16 bytes, no more than the swizzle spans; it fits into the shared
/// memory of a multiprocessor.
/// **Ordering**: nothing is read or written; the memory has to be there when a kernel copies.
/// **Errors**: `errc::not_supported` below compute capability 9.0; `errc::invalid_argument` with
/// value and limit for everything that the copy engine does not do; the error of a faulty view.
/// **Threads**: any. **Capture**: not affected. (cuDeviceGetAttribute, cuTensorMapEncodeTiled)
template <detail::viewable A>
result<detail::tensor_map_of<A>> make_tensor_map(
    context_or_device on, A&& elements, const shape<detail::mapped_view<A>::rank>& box,
    const tensor_map_options& options = {},
    source_location where = source_location::current()) noexcept {
  using map = detail::tensor_map_of<A>;
  const auto view = detail::array_view_of(static_cast<A&&>(elements));
  return map::from_native(GPU_TRY(detail::encode_tiled(
      on, detail::view_access::layout_of(view),
      detail::tensor_element_of<typename map::element_type>(), box.begin(), options, where)));
}

/// Describes images for copies of the columns that a convolution multiplies with its filter, see
/// `im2col_box`. The elements have 3 to 5 axes, such as images, rows, columns, channels; lengths
/// and strides have the limits of `make_tensor_map`. A copy lies in shared memory as `box.pixels`
/// rows of `box.channels` elements.
/// **Errors**: those of `make_tensor_map`; corners of the box are -32768 to 32767 for one axis of
/// pixels, -128 to 127 for two, -16 to 15 for three. **Threads**: any. **Capture**: not affected.
/// (cuDeviceGetAttribute, cuTensorMapEncodeIm2col)
template <detail::viewable A>
result<detail::tensor_map_of<A>> make_im2col_map(
    context_or_device on, A&& elements, const im2col_box<detail::mapped_view<A>::rank>& box,
    const tensor_map_options& options = {},
    source_location where = source_location::current()) noexcept {
  using map = detail::tensor_map_of<A>;
  static_assert(map::rank >= 3, "im2col is for images: 3 to 5 axes, the last of which is channels");
  const auto view = detail::array_view_of(static_cast<A&&>(elements));
  return map::from_native(GPU_TRY(
      detail::encode_im2col(on, detail::view_access::layout_of(view),
                            detail::tensor_element_of<typename map::element_type>(), box.lower,
                            box.upper, box.channels, box.pixels, options, where)));
}

}}  // namespace gpu::v1
