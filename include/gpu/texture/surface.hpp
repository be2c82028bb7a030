#pragma once
/// \file
/// Surfaces, arrays that kernels read and write: `surface` owns one, `surface_ref` names one in a
/// kernel's parameters.

#include <gpu/texture/texture.hpp>

namespace gpu {

/// Names a surface in a kernel's parameters, 8 bytes: state it where the kernel has a
/// `cudaSurfaceObject_t`, and a texture, or a surface of other texels, is refused. `T` is the type
/// of the texels; a `surface_ref<>` takes any. Copy it freely; it does not keep the surface alive.
template <class T = void> class surface_ref : public detail::image_handle {
 public:
  constexpr surface_ref() noexcept : image_handle{0} {}
  template <class U>
    requires(detail::untyped_texel<T> && !detail::untyped_texel<U>)
  constexpr surface_ref(surface_ref<U> other) noexcept : image_handle{other.native()} {}

  static constexpr surface_ref from_native(CUsurfObject native) noexcept {
    return surface_ref{native};
  }
  friend constexpr bool operator==(surface_ref a, surface_ref b) noexcept {
    return a.native() == b.native();
  }

 private:
  constexpr explicit surface_ref(CUsurfObject native) noexcept : image_handle{native} {}
};

namespace detail {

struct destroy_surface {
  void operator()(const image_object& object) const noexcept {
    driver::destroy_in<&driver::entry_points::surf_object_destroy>(object.context.native(),
                                                                   object.native);
  }
};

}  // namespace detail

/// Owns a surface, and the array that it writes where that was moved into it. Move-only; empty
/// after a move. `T` is the type of the texels, or `void` where it is known at run time only. It
/// passes to kernels where the parameter is a `cudaSurfaceObject_t` or a `surface_ref`; there,
/// coordinates along x count bytes.
/// **Ordering**: the surface and its array have to live until the work that uses it has finished.
/// What a kernel writes is seen by textures in the kernels after it.
/// **Threads**: any thread may call any member.
template <class T = void> class surface {
  static_assert(
      detail::array_texel<T>,
      "a texel has 1, 2 or 4 channels of integers up to 32 bits, float or gpu::half_bits, "
      "or a gpu::texel_format_of");

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
    made.array_.reset(array.release());
    return made;
  }

  /// Takes over a surface that cuSurfObjectCreate made in that context.
  static surface adopt(surface_ref<T> owned, context_ref context) noexcept {
    return surface{{owned.native(), context}};
  }
  /// Gives the surface up; the caller destroys it. An array that was moved into it stays, and goes
  /// with this object.
  [[nodiscard]] surface_ref<T> release() noexcept {
    return surface_ref<T>::from_native(handle_.release().native);
  }

  surface(surface&&) noexcept = default;
  surface& operator=(surface&& other) noexcept {
    handle_ = detail::move(other.handle_);  // before what it writes
    array_ = detail::move(other.array_);
    return *this;
  }

  CUsurfObject native() const noexcept { return handle_.get().native; }
  /// The context that the surface belongs to; empty after a move.
  context_ref context() const noexcept { return handle_.get().context; }
  gpu::device device() const noexcept { return context().device(); }

  /// What it writes. (cuSurfObjectGetResourceDesc)
  template <class Resource = texture_resource>
  result<Resource> resource(source_location where = source_location::current()) const noexcept {
    if (!handle_) [[unlikely]] {
      return detail::fail(detail::empty_handle_error("gpu::surface::resource", "surface", where));
    }
    CUDA_RESOURCE_DESC native_resource{};
    GPU_TRY(driver::call_in<&driver::entry_points::surf_object_get_resource_desc>(
        context().native(), where, &native_resource, native()));
    return Resource{detail::resource_of(native_resource)};
  }

  operator surface_ref<T>() const& noexcept { return surface_ref<T>::from_native(native()); }
  operator surface_ref<T>() const&& = delete;  // a name must not outlive its owner

 private:
  explicit surface(const detail::image_object& owned) noexcept : handle_{owned} {}

  unique_handle<cuda_array_ref<T>, detail::destroy_array> array_;
  unique_handle<detail::image_object, detail::destroy_surface> handle_;
};

template <class T> struct kernel_argument<surface<T>> {
  static surface_ref<T> value(const surface<T>& surface) noexcept { return surface; }
  static void value(const surface<T>&&) = delete;
};

}  // namespace gpu
