#pragma once
/// \file
/// Surfaces, arrays that kernels read and write: `surface` owns one, `surface_ref` names one in a
/// kernel's parameters.

#include <gpu/core/kernel_argument.hpp>
#include <gpu/texture/detail/image_object.hpp>

namespace gpu::inline v0 {

/// Names a surface in a kernel's parameters, 8 bytes: state it where the kernel has a
/// `cudaSurfaceObject_t`, and a texture, or a surface of other texels, is refused. `T` is the type
/// of the texels; a `surface_ref<>` takes any. Copy it freely; it does not keep the surface alive.
template <class T = void> class surface_ref : public detail::image_name<surface_ref<T>> {
 public:
  constexpr surface_ref() noexcept = default;
  template <class U>
    requires(detail::untyped_texel<T> && !detail::untyped_texel<U>)
  constexpr surface_ref(surface_ref<U> other) noexcept
      : detail::image_name<surface_ref>{other.native()} {}
};

namespace detail {

template <class T>
using surface_owner = image_owner<surface_ref<T>, unique_handle<cuda_array_ref<T>, destroy_array>,
                                  &driver::entry_points::surf_object_destroy>;

}  // namespace detail

/// Owns a surface, and the array that it writes where that was moved into it. Move-only; empty
/// after a move. `T` is the type of the texels, or `void` where it is known at run time only. It
/// passes to kernels where the parameter is a `cudaSurfaceObject_t` or a `surface_ref`; there,
/// coordinates along x count bytes.
/// **Ordering**: the surface and its array have to live until the work that uses it has finished.
/// What a kernel writes is seen by textures in the kernels after it.
/// **Threads**: any thread may call any member.
template <class T = void> class surface : public detail::surface_owner<T> {
  static_assert(detail::texel_check<T>::passed);
  using owner = detail::surface_owner<T>;

 public:
  using value_type = T;

  /// A surface of an array of `array_flags::surface_load_store`, or of a level of such a mipmapped
  /// array. It has to live as long, or is moved into it.
  /// Not allowed while a stream is captured. (cuSurfObjectCreate, cuSurfObjectDestroy)
  /// **Errors**: `errc::invalid_argument` for an array without the flag, which the driver would let
  /// through; `errc::empty_handle`.
  static result<surface> create(const cuda_array_ref<T>& array,
                                source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::surface::create";
    GPU_TRY(detail::require_array(array, function, "array", where));
    GPU_TRY(detail::require_flag(array.shape(), array_flags::surface_load_store,
                                 "surface_load_store", function, where));
    texture_resource resource;
    resource.array = array.native();
    const CUDA_RESOURCE_DESC native = detail::native_resource(resource);
    CUsurfObject object = 0;
    result<> done = driver::call_in<&driver::entry_points::surf_object_create>(
        array.context().native(), where, &object, &native);
    surface owner{object == 0 ? detail::image_object{}
                              : detail::image_object{object, array.context()}};
    GPU_TRY(detail::move(done));
    return owner;
  }
  static result<surface> create(cuda_array<T>&& array,
                                source_location where = source_location::current()) noexcept {
    surface made = GPU_TRY(create(array, where));
    made.kept_.reset(array.release());
    return made;
  }

  /// Takes over a surface that cuSurfObjectCreate made in that context.
  static surface adopt(surface_ref<T> owned, context_ref context) noexcept {
    return surface{{owned.native(), context}};
  }

  /// What it writes. **Capture**: not affected. (cuSurfObjectGetResourceDesc)
  result<texture_resource> resource(
      source_location where = source_location::current()) const noexcept {
    CUDA_RESOURCE_DESC native{};
    GPU_TRY(owner::template get<&driver::entry_points::surf_object_get_resource_desc>(
        "gpu::surface::resource", "surface", where, &native));
    return texture_resource{detail::resource_of(native)};
  }

 private:
  explicit surface(const detail::image_object& owned) noexcept : owner{owned} {}
};

template <class T> struct kernel_argument<surface<T>> {
  static surface_ref<T> value(const surface<T>& surface) noexcept { return surface; }
  static void value(const surface<T>&&) = delete;
  static context_ref context(const surface<T>& surface) noexcept { return surface.context(); }
  static constexpr bool any_context = true;  // no question tells what other devices reach
};

}  // namespace gpu::inline v0
