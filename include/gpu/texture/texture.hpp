#pragma once
/// \file
/// Textures, images that kernels sample: `texture` owns one, `texture_ref` names one in a kernel's
/// parameters.

#include <gpu/core/kernel_argument.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/texture/detail/image_object.hpp>
#include <gpu/texture/resource_view.hpp>
#include <gpu/texture/texture_options.hpp>
#include <gpu/texture/texture_resource.hpp>

namespace gpu::inline v0 {

/// Names a texture in a kernel's parameters, 8 bytes: state it where the kernel has a
/// `cudaTextureObject_t`, and a texture of other texels is refused. `T` is the type of the texels
/// in memory; a `texture_ref<>` takes any. Copy it freely; it does not keep the texture alive.
template <class T = void> class texture_ref : public detail::image_name<texture_ref<T>> {
 public:
  constexpr texture_ref() noexcept = default;
  template <class U>
    requires(detail::untyped_texel<T> && !detail::untyped_texel<U>)
  constexpr texture_ref(texture_ref<U> other) noexcept
      : detail::image_name<texture_ref>{other.native()} {}
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

/// All that a texture is made from.
struct texture_request {
  texture_resource resource;
  context_ref context;
  array_shape shape;
  unsigned levels = 1;

  template <class T>
  explicit texture_request(const cuda_array_ref<T>& array) noexcept
      : context{array.context()}, shape{array.shape()} {
    resource.array = array.native();
    resource.format = array.format();
  }
  template <class T>
  explicit texture_request(const mipmapped_array_ref<T>& array) noexcept
      : context{array.context()}, shape{array.shape()}, levels{array.levels()} {
    resource.type = resource_type::mipmapped_array;
    resource.mipmapped_array = array.native();
    resource.format = array.format();
  }
  texture_request(CUdeviceptr address, texel_format format, std::size_t count) noexcept {
    resource.type = resource_type::linear;
    resource.address = address;
    resource.format = format;
    resource.width = count;
  }
  texture_request(const region_side& box, texel_format format, std::size_t width) noexcept {
    resource.type = resource_type::pitched;
    resource.address = static_cast<CUdeviceptr>(box.address);
    resource.format = format;
    resource.width = width;
    resource.height = box.size.height * box.size.depth;
    resource.pitch = box.pitch;
  }

  bool is_array() const noexcept {
    return resource.type == resource_type::array || resource.type == resource_type::mipmapped_array;
  }
};

/// Sets `texels` to how many there are in so many bytes, of memory or of a row, or refuses a rest.
inline result<> count_texels(const char* what, std::size_t bytes, texel_format format,
                             std::size_t& texels, source_location where) noexcept {
  GPU_TRY(check_format("gpu::texture::create", format, where));
  const std::size_t size = texel_bytes(format) == 0 ? 1 : texel_bytes(format);
  texels = bytes / size;
  if (bytes % size == 0) [[likely]]
    return {};
  text_builder out;
  out << what << bytes << " bytes, which are not whole texels of " << size
      << ". Pass whole texels.";
  return fail(
      refusal(errc::size_mismatch, "gpu::texture::create", out.finish(), where, bytes, size));
}

/// Makes a texture object. (cuDeviceGetAttribute, cuDeviceGetTexture1DLinearMaxWidth,
/// cuPointerGetAttributes, cuTexObjectCreate)
inline result<> make_texture(texture_request request, texture_options options,
                             const resource_view& view, image_object& made,
                             source_location where) noexcept {
  constexpr const char* function = "gpu::texture::create";
  const bool partial = !(view == resource_view{});
  texel_format seen = request.resource.format;
  CUDA_RESOURCE_VIEW_DESC native_view{};
  if (request.is_array()) {
    if (request.resource.array == nullptr && request.resource.mipmapped_array == nullptr) {
      return fail(empty_handle_error(function, "array", where));
    }
    if (partial) {
      GPU_TRY(make_view(function, view, request.shape, seen, request.levels, native_view, where));
      seen = viewed_format(view.format, seen);
    }
    // The device samples a line as a row of a plane, halfway between it and what is above.
    if (request.shape.height == 0) options.address.y = options.address.z = address_mode::clamp;
    const auto last = static_cast<float>(request.levels - 1);
    if (options.max_mipmap_level > last && options.min_mipmap_level <= last) {
      options.max_mipmap_level = last;
    }
  } else {
    GPU_TRY(require_texture_memory(function, request.resource, where));
    copy_end end;
    end.address = request.resource.address;
    GPU_TRY(find_context(end, request.context, where, function));
    if (request.resource.type == resource_type::linear) {
      GPU_TRY(check_linear(function, request.resource, request.context.device(), where));
    } else {
      GPU_TRY(check_pitched(function, request.resource, request.context.device(), where));
    }
  }
  GPU_TRY(check_values(function, options, where));
  if (const char* why = fault_of(options, request.resource.type, seen, request.shape.cubemap)) {
    return fail(refusal(errc::invalid_argument, function, text(why), where));
  }
  const CUDA_RESOURCE_DESC resource = native_resource(request.resource);
  const CUDA_TEXTURE_DESC native_texture = native_options(options);
  made.context = request.context;
  return driver::call_in<&driver::entry_points::tex_object_create>(
      request.context.native(), where, &made.native, &resource, &native_texture,
      static_cast<const CUDA_RESOURCE_VIEW_DESC*>(partial ? &native_view : nullptr));
}

}  // namespace detail

/// Owns a texture, and the array that it samples where that was moved into it. Move-only; empty
/// after a move. `T` is the type of the texels in memory, or `void` where it is known at run time
/// only.
///
///     auto image = GPU_TRY(gpu::cuda_array<float>::create(device, {.width = 64, .height = 64}));
///     GPU_TRY(gpu::copy(pixels, image));
///     auto texture = GPU_TRY(gpu::texture<float>::create(
///         std::move(image), {.filter = gpu::filter_mode::linear}));
///     GPU_TRY(gpu::launch(stream, config, scale, texture, result.span()));
///
/// It passes to kernels where the parameter is a `cudaTextureObject_t` or a `texture_ref`.
/// **Ordering**: the texture, and what it samples, has to live until the work that uses it has
/// finished. A kernel sees what was written before its launch.
/// **Threads**: any thread may call any member.
template <class T = void> class texture : public detail::texture_owner<T> {
  static_assert(detail::texel_check<T>::passed);
  using owner = detail::texture_owner<T>;

 public:
  using value_type = T;

  /// A texture of an array, which has to live as long, or is moved into it. A view shows a part of
  /// the levels and layers, or other texels of the same size.
  /// Not allowed while a stream is captured. (cuTexObjectCreate, cuTexObjectDestroy)
  /// **Errors**: `errc::invalid_argument` for options that do not go together, most of which the
  /// driver would let through, and for a view of texels of another size; `errc::index_out_of_range`
  /// for a view beyond the array; `errc::empty_handle`.
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

  /// A texture of device memory, which has to live as long: texels by their index (tex1Dfetch), or
  /// rows, planes below each other. Memory begins and rows follow as the device asks.
  /// **Errors**: also `errc::invalid_argument` with the alignment or the extent that is not kept.
  /// Not allowed while a stream is captured.
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
  /// The same with a format that is known at run time only, of memory as bytes.
  /// **Errors**: also `errc::size_mismatch` where they are not whole texels.
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

  /// Takes over a texture that cuTexObjectCreate made in that context.
  static texture adopt(texture_ref<T> owned, context_ref context) noexcept {
    return texture{{owned.native(), context}};
  }

  /// How it samples. The driver tells all but the border colour. **Capture**: not affected, by the
  /// next two neither. (cuTexObjectGetTextureDesc)
  result<texture_options> options(
      source_location where = source_location::current()) const noexcept {
    CUDA_TEXTURE_DESC native{};
    GPU_TRY(owner::template get<&driver::entry_points::tex_object_get_texture_desc>(
        "gpu::texture::options", "texture", where, &native));
    return texture_options{detail::options_of(native)};
  }
  /// What it samples. (cuTexObjectGetResourceDesc)
  result<texture_resource> resource(
      source_location where = source_location::current()) const noexcept {
    CUDA_RESOURCE_DESC native{};
    GPU_TRY(owner::template get<&driver::entry_points::tex_object_get_resource_desc>(
        "gpu::texture::resource", "texture", where, &native));
    return texture_resource{detail::resource_of(native)};
  }
  /// Which part of it; a `resource_view{}` where none was asked for.
  /// (cuTexObjectGetResourceViewDesc)
  result<resource_view> view(source_location where = source_location::current()) const noexcept {
    CUDA_RESOURCE_VIEW_DESC native{};
    GPU_TRY(owner::template get<&driver::entry_points::tex_object_get_resource_view_desc>(
        "gpu::texture::view", "texture", where, &native));
    // The driver leaves it as it was where there is no view.
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
    GPU_TRY(detail::move(done));
    return owner;
  }

  static result<texture> of_rows(texel_format format, const detail::region_side& box,
                                 std::size_t width, const texture_options& options,
                                 source_location where) noexcept {
    GPU_TRY(detail::check_side("gpu::texture::create", "texture", box, where));
    if (box.size.depth > 1 && box.rows != box.size.height) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::texture::create",
          text("there are rows between the planes, and a texture has one plane. Pass a plane, or "
               "planes without a gap."),
          where, box.rows, box.size.height));
    }
    return make(detail::texture_request(box, format, width), options, {}, where);
  }
};

template <class T> struct kernel_argument<texture<T>> {
  static texture_ref<T> value(const texture<T>& texture) noexcept { return texture; }
  static void value(const texture<T>&&) = delete;
  static context_ref context(const texture<T>& texture) noexcept { return texture.context(); }
  static constexpr bool any_context = true;  // no question tells what other devices reach
};

}  // namespace gpu::inline v0
