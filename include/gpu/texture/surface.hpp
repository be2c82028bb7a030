#pragma once
/// \file
/// Surfaces, arrays that kernels read and write: `surface` owns one, `surface_ref` refers to one in
/// a kernel's parameters.

#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/cuda_array.hpp>
#include <gpu/texture/detail/array_owner.hpp>
#include <gpu/texture/detail/image_object.hpp>
#include <gpu/texture/texture_resource.hpp>

#include <utility>

namespace gpu { inline namespace v1 {

/// Refers to a surface without owning it; 8 bytes. Use it in a kernel's signature for a parameter
/// of type `cudaSurfaceObject_t`: then textures, and surfaces of other texels, are rejected at
/// compile time. `T` is the type of the texels; a `surface_ref<>` accepts any.
template <class T = void> class surface_ref : public detail::image_ref_base<surface_ref<T>> {
 public:
  constexpr surface_ref() noexcept = default;
  template <class U>
    requires(detail::untyped_texel<T> && !detail::untyped_texel<U>)
  constexpr surface_ref(surface_ref<U> other) noexcept
      : detail::image_ref_base<surface_ref>{other.native()} {}
};

namespace detail {

template <class T>
using surface_owner = image_owner<surface_ref<T>, unique_handle<cuda_array_ref<T>, destroy_array>,
                                  &driver::entry_points::surf_object_destroy>;

}  // namespace detail

/// Owns a surface, and its array if that was moved into it. Move-only; empty after a move. `T` is
/// the type of the texels, or `void` if it is known only at run time. It can be passed to kernels
/// as a `cudaSurfaceObject_t` or a `surface_ref`. In device code the x coordinate is in bytes.
/// **Ordering**: the surface and its array must live until the work that uses them has finished.
/// Textures see what a kernel wrote only in later kernels.
/// **Threads**: any thread may call any member.
template <class T = void> class surface : public detail::surface_owner<T> {
  static_assert(detail::texel_check<T>::passed);
  using owner = detail::surface_owner<T>;

 public:
  /// Creates an empty object, to be assigned to.
  surface() noexcept = default;

  using value_type = T;

  /// Creates a surface of an array with `array_flags::surface_load_store`, or of a level of such a
  /// mipmapped array. The array must outlive the surface, unless it is moved into it.
  /// **Errors**: `errc::invalid_argument` for an array without the flag, which the driver would
  /// accept; `errc::empty_handle`. **Capture**: not allowed.
  /// (cuSurfObjectCreate, cuSurfObjectDestroy)
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
    GPU_TRY(std::move(done));
    return owner;
  }
  static result<surface> create(cuda_array<T>&& array,
                                source_location where = source_location::current()) noexcept {
    surface made = GPU_TRY(create(array, where));
    made.kept_.reset(array.release());
    return made;
  }

  /// Takes ownership of a surface that cuSurfObjectCreate created in that context.
  static surface adopt(surface_ref<T> owned, context_ref context) noexcept {
    return surface{{owned.native(), context}};
  }

  /// Returns the array that it reads and writes. **Capture**: not affected.
  /// (cuSurfObjectGetResourceDesc)
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
  static constexpr bool any_context = true;  // the driver cannot say which devices can access it
};

}}  // namespace gpu::v1
