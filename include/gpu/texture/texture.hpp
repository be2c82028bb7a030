#pragma once
/// \file
/// Textures, images that kernels sample: `texture` owns one, `texture_ref` refers to one in a
/// kernel's parameters.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/memory/detail/region_side.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/cuda_array.hpp>
#include <gpu/texture/detail/array_owner.hpp>
#include <gpu/texture/detail/image_object.hpp>
#include <gpu/texture/detail/make_texture.hpp>
#include <gpu/texture/mipmapped_array.hpp>
#include <gpu/texture/resource_view.hpp>
#include <gpu/texture/texture_options.hpp>
#include <gpu/texture/texture_resource.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

/// Refers to a texture without owning it; 8 bytes. Use it in a kernel's signature for a parameter
/// of type `cudaTextureObject_t`: then textures of other texels are rejected at compile time. `T`
/// is the type of the texels in memory; a `texture_ref<>` accepts any.
template <class T = void> class texture_ref : public detail::image_ref_base<texture_ref<T>> {
 public:
  constexpr texture_ref() noexcept = default;
  template <class U>
    requires(detail::untyped_texel<T> && !detail::untyped_texel<U>)
  constexpr texture_ref(texture_ref<U> other) noexcept
      : detail::image_ref_base<texture_ref>{other.native()} {}
};

namespace detail {

/// The array that was moved into a texture.
template <class T> struct kept_image {
  unique_handle<cuda_array_ref<T>, destroy_array> array;
  unique_handle<mipmapped_array_ref<T>, destroy_mipmapped_array> mipmapped_array;
};

template <class T>
using texture_owner =
    image_owner<texture_ref<T>, kept_image<T>, &driver::entry_points::tex_object_destroy>;

}  // namespace detail

/// Owns a texture, and its array if that was moved into it. Move-only; empty after a move. `T` is
/// the type of the texels in memory, or `void` if it is known only at run time.
///
///     auto image = GPU_TRY(gpu::cuda_array<float>::create(device, {.width = 64, .height = 64}));
///     GPU_TRY(gpu::copy(pixels, image));
///     auto texture = GPU_TRY(gpu::texture<float>::create(
///         std::move(image), {.filter = gpu::filter_mode::linear}));
///     GPU_TRY(gpu::launch(stream, config, scale, texture, result.span()));
///
/// It can be passed to kernels as a `cudaTextureObject_t` or a `texture_ref`.
/// **Ordering**: the texture and its memory must live until the work that uses them has finished. A
/// kernel sees what was written before its launch.
/// **Threads**: any thread may call any member.
template <class T = void> class texture : public detail::texture_owner<T> {
  static_assert(detail::texel_check<T>::passed);
  using owner = detail::texture_owner<T>;

 public:
  /// Creates an empty object, to be assigned to.
  texture() noexcept = default;

  using value_type = T;

  /// Creates a texture of an array or a mipmapped array. The array must outlive the texture, unless
  /// it is moved into it. A view selects levels and layers, or another format of the same size.
  /// **Errors**: `errc::invalid_argument` for options that contradict each other or the format,
  /// most of which the driver would accept, and for a view whose texels have another size;
  /// `errc::index_out_of_range` for a view outside the array; `errc::empty_handle`.
  /// **Capture**: not allowed. (cuTexObjectCreate, cuTexObjectDestroy)
  static result<texture> create(const cuda_array_ref<T>& array, const texture_options& options = {},
                                const resource_view& view = {},
                                source_location where = source_location::current()) noexcept {
    return make(detail::texture_request(array), options, view, where);
  }
  static result<texture> create(const mipmapped_array_ref<T>& array, const texture_options& options,
                                const resource_view& view = {},
                                source_location where = source_location::current()) noexcept {
    return make(detail::texture_request(array), options, view, where);
  }
  static result<texture> create(cuda_array<T>&& array, const texture_options& options = {},
                                const resource_view& view = {},
                                source_location where = source_location::current()) noexcept {
    texture made = GPU_TRY(create(array, options, view, where));
    made.kept_.array.reset(array.release());
    return made;
  }
  static result<texture> create(mipmapped_array<T>&& array, const texture_options& options,
                                const resource_view& view = {},
                                source_location where = source_location::current()) noexcept {
    texture made = GPU_TRY(create(array, options, view, where));
    made.kept_.mipmapped_array.reset(array.release());
    return made;
  }

  /// Creates a texture of device memory, which must outlive it: linear memory for tex1Dfetch, or
  /// pitched memory for tex2D. The planes of a 3D view become rows, one plane below the other. The
  /// address and the pitch must have the alignment that the device requires.
  /// **Errors**: also `errc::invalid_argument` with the required alignment or the maximum extent.
  /// **Capture**: not allowed.
  /// (cuPointerGetAttributes, cuDeviceGetAttribute, cuDeviceGetTexture1DLinearMaxWidth)
  static result<texture> create(device_span<const T> texels, const texture_options& options = {},
                                source_location where = source_location::current()) noexcept
    requires(!detail::untyped_texel<T>)
  {
    return make(detail::texture_request(texels.native(), texel_format_of<T>, texels.size()),
                options, {}, where);
  }
  static result<texture> create(pitched_span<const T> texels, const texture_options& options = {},
                                source_location where = source_location::current()) noexcept
    requires(!detail::untyped_texel<T>)
  {
    return of_rows(texel_format_of<T>, detail::side_of(texels), texels.size().width, options,
                   where);
  }
  /// Creates a texture whose format is known only at run time, of memory as bytes.
  /// **Errors**: also `errc::size_mismatch` if the bytes are not whole texels.
  static result<texture> create(texel_format format, device_span<const std::byte> bytes,
                                const texture_options& options = {},
                                source_location where = source_location::current()) noexcept
    requires(detail::untyped_texel<T>)
  {
    std::size_t texels = 0;
    GPU_TRY(detail::count_texels("the memory has ", bytes.size(), format, texels, where));
    return make(detail::texture_request(bytes.native(), format, texels), options, {}, where);
  }
  static result<texture> create(texel_format format, pitched_span<const std::byte> bytes,
                                const texture_options& options = {},
                                source_location where = source_location::current()) noexcept
    requires(detail::untyped_texel<T>)
  {
    std::size_t width = 0;
    GPU_TRY(detail::count_texels("the rows have ", bytes.size().width, format, width, where));
    return of_rows(format, detail::side_of(bytes), width, options, where);
  }

  /// Takes ownership of a texture that cuTexObjectCreate created in that context.
  static texture adopt(texture_ref<T> owned, context_ref context) noexcept {
    return texture{{owned.native(), context}};
  }

  /// Returns the options of the texture, without the border color, which the driver does not
  /// report.
  /// **Capture**: not affected. (cuTexObjectGetTextureDesc)
  result<texture_options> options(
      source_location where = source_location::current()) const noexcept {
    CUDA_TEXTURE_DESC native{};
    GPU_TRY(owner::template get<&driver::entry_points::tex_object_get_texture_desc>(
        "gpu::texture::options", "texture", where, &native));
    return texture_options{detail::options_of(native)};
  }
  /// Returns the memory that the texture samples. **Capture**: not affected.
  /// (cuTexObjectGetResourceDesc)
  result<texture_resource> resource(
      source_location where = source_location::current()) const noexcept {
    CUDA_RESOURCE_DESC native{};
    GPU_TRY(owner::template get<&driver::entry_points::tex_object_get_resource_desc>(
        "gpu::texture::resource", "texture", where, &native));
    return texture_resource{detail::resource_of(native)};
  }
  /// Returns the view of the texture; a `resource_view{}` if it was created without one.
  /// **Capture**: not affected. (cuTexObjectGetResourceViewDesc)
  result<resource_view> view(source_location where = source_location::current()) const noexcept {
    CUDA_RESOURCE_VIEW_DESC native{};
    GPU_TRY(owner::template get<&driver::entry_points::tex_object_get_resource_view_desc>(
        "gpu::texture::view", "texture", where, &native));
    // Without a view the driver leaves it unchanged.
    if (native.format == CU_RES_VIEW_FORMAT_NONE) return resource_view{};
    return resource_view{detail::view_of(native)};
  }

 private:
  explicit texture(const detail::image_object& owned) noexcept : owner{owned} {}

  static result<texture> make(const detail::texture_request& request,
                              const texture_options& options, const resource_view& view,
                              source_location where) noexcept {
    detail::image_object object;
    result<> done = detail::make_texture(request, options, view, object, where);
    texture owner{object.native == 0 ? detail::image_object{} : object};
    GPU_TRY(std::move(done));
    return owner;
  }

  static result<texture> of_rows(texel_format format, const detail::region_side& rows,
                                 std::size_t width, const texture_options& options,
                                 source_location where) noexcept {
    GPU_TRY(detail::check_side("gpu::texture::create", "texture", rows, where));
    if (rows.size.depth > 1 && rows.rows != rows.size.height) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::texture::create",
          text("the planes have unused rows between them, which a texture cannot skip. Pass a "
               "single plane, or planes without a gap."),
          where, rows.rows, rows.size.height));
    }
    return make(detail::texture_request(rows, format, width), options, {}, where);
  }
};

template <class T> struct kernel_argument<texture<T>> {
  static texture_ref<T> value(const texture<T>& texture) noexcept { return texture; }
  static void value(const texture<T>&&) = delete;
  static context_ref context(const texture<T>& texture) noexcept { return texture.context(); }
  static constexpr bool any_context = true;  // the driver cannot say which devices can access it
};

}}  // namespace gpu::v1
