#pragma once
/// \file
/// Buffers and images of OpenGL in kernels: `registered_gl_buffer` and `registered_gl_image` make
/// them known to CUDA, a `graphics_mapping` lets it use them. No header of OpenGL is needed.
///
/// The functions that register, map, unmap and unregister have to be called by a thread in which
/// the context of OpenGL is current, and the device has to be one of `gl_devices`.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/interop/detail/graphics_errors.hpp>
#include <gpu/interop/graphics_mapping.hpp>

#include <cuda.h>
#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

/// How CUDA will use a resource; combine with `|`.
enum class graphics_register_flags : unsigned {
  none = CU_GRAPHICS_REGISTER_FLAGS_NONE,            ///< it is read and written
  read_only = CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY,  ///< it is not written
  write_discard =
      CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD,  ///< it is overwritten; what it held is lost
  surface_load_store = CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST,  ///< images: written by surfaces
  texture_gather = CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER,    ///< images: read by tex2Dgather
};
template <> inline constexpr bool is_flag_set<graphics_register_flags> = true;

/// How CUDA will use a resource while it is mapped.
enum class graphics_map_flags : unsigned {
  none = CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE,            ///< it is read and written
  read_only = CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY,  ///< it is not written
  write_discard =
      CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD,  ///< it is overwritten; what it held is lost
};

/// Returns the enumerator's name, such as "read_only"; null for an unknown value.
constexpr const char* name_of(graphics_map_flags flags) noexcept {
  using enum graphics_map_flags;
  return detail::find_name(
      flags, {{none, "none"}, {read_only, "read_only"}, {write_discard, "write_discard"}});
}

/// The kinds of images that can be registered; the values are those of OpenGL.
enum class gl_target : unsigned {
  texture_2d = 0x0de1,         ///< GL_TEXTURE_2D
  texture_3d = 0x806f,         ///< GL_TEXTURE_3D
  texture_rectangle = 0x84f5,  ///< GL_TEXTURE_RECTANGLE
  texture_cube_map = 0x8513,   ///< GL_TEXTURE_CUBE_MAP
  texture_2d_array = 0x8c1a,   ///< GL_TEXTURE_2D_ARRAY
  renderbuffer = 0x8d41,       ///< GL_RENDERBUFFER
};

/// Returns the enumerator's name, such as "texture_2d"; null for an unknown value.
constexpr const char* name_of(gl_target target) noexcept {
  using enum gl_target;
  return detail::find_name(target, {{texture_2d, "texture_2d"},
                                    {texture_3d, "texture_3d"},
                                    {texture_rectangle, "texture_rectangle"},
                                    {texture_cube_map, "texture_cube_map"},
                                    {texture_2d_array, "texture_2d_array"},
                                    {renderbuffer, "renderbuffer"}});
}

/// The devices that `gl_devices` returns; the values are those of cudaGL.h.
enum class gl_device_list : unsigned {
  all = 1,            ///< those of all GPUs that the context of OpenGL uses
  current_frame = 2,  ///< those that render the current frame
  next_frame = 3,     ///< those that will render the next frame
};

/// Returns the enumerator's name, such as "all"; null for an unknown value.
constexpr const char* name_of(gl_device_list list) noexcept {
  using enum gl_device_list;
  return detail::find_name(
      list, {{all, "all"}, {current_frame, "current_frame"}, {next_frame, "next_frame"}});
}

/// The devices of a context of OpenGL, at most 64.
class gl_device_set {
 public:
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  device operator[](std::size_t index) const noexcept {
    return device::from_native(natives_[index]);
  }

 private:
  friend result<gl_device_set> gl_devices(gl_device_list which, source_location where) noexcept;
  static constexpr unsigned most = 64;

  CUdevice natives_[most] = {};
  unsigned size_ = 0;
};

/// Returns the devices of the context of OpenGL that is current in the calling thread.
/// **Errors**: the driver's CUDA_ERROR_NO_DEVICE if the context of OpenGL is not one of an NVIDIA
/// GPU, and CUDA_ERROR_INVALID_GRAPHICS_CONTEXT or CUDA_ERROR_OPERATING_SYSTEM if none is current,
/// with an explanation. **Capture**: not affected. (cuGLGetDevices)
inline result<gl_device_set> gl_devices(
    gl_device_list which = gl_device_list::all,
    source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require_enumerator(which, "gl_device_list", "gpu::gl_devices", where));
  gl_device_set all;
  result<> done = driver::call<&driver::entry_points::gl_get_devices>(
      where, &all.size_, &all.natives_[0], gl_device_set::most, static_cast<unsigned>(which));
  if (!done.has_value()) return detail::fail(detail::explain_gl_context(std::move(done).error()));
  return all;
}

namespace detail {

struct unregister_graphics {
  void operator()(const graphics_resource_ref& resource) const noexcept {
    driver::destroy_in<&driver::entry_points::graphics_unregister_resource>(
        resource.context().native(), resource.native());
  }
};

/// The base of the owners of registered buffers and images.
template <class Self> class registered_graphics {
 public:
  /// Returns OpenGL's name of the object; 0 if it is empty.
  unsigned gl_name() const noexcept { return handle_ ? name_ : 0; }
  CUgraphicsResource native() const noexcept { return handle_.get().native(); }
  context_ref context() const noexcept { return handle_.get().context(); }
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  operator graphics_resource_ref() const& noexcept { return handle_.get(); }
  operator graphics_resource_ref() const&& = delete;  // a ref must not outlive its owner

  /// Unregisters it now, and returns the error that the destructor could only report. The object is
  /// empty afterwards. If the context cannot be made current, nothing changes.
  /// (cuGraphicsUnregisterResource)
  result<> unregister(source_location where = source_location::current()) noexcept {
    if (!handle_) return {};
    const graphics_resource_ref owned = handle_.get();
    return driver::in_context(owned.context().native(), where, [&] {
      static_cast<void>(handle_.release());
      return driver::call<&driver::entry_points::graphics_unregister_resource>(where,
                                                                               owned.native());
    });
  }

  /// Says how the resource is used when it is mapped the next time. (cuGraphicsResourceSetMapFlags)
  /// **Errors**: `errc::empty_handle`; the driver's CUDA_ERROR_ALREADY_MAPPED while it is mapped.
  result<> set_map_flags(graphics_map_flags flags,
                         source_location where = source_location::current()) noexcept {
    GPU_TRY(require_enumerator(flags, "graphics_map_flags", Self::map_flags_function, where));
    if (!handle_) return refuse_empty_handle(Self::map_flags_function, Self::what, where);
    return driver::call_in<&driver::entry_points::graphics_resource_set_map_flags>(
        context().native(), where, native(), static_cast<unsigned>(flags));
  }

 protected:
  registered_graphics() noexcept = default;

  /// Registers what `call(native)` names, in a context.
  template <class Call>
  static result<Self> make(const char* function, context_or_device on, unsigned name,
                           graphics_register_flags flags, Call call,
                           source_location where) noexcept {
    GPU_TRY(check_register_flags(function, static_cast<unsigned>(flags), Self::most_flags,
                                 Self::what, where));
    GPU_TRY(check_gl_name(function, Self::what, name, where));
    const context_ref in = GPU_TRY(on.resolve(function, where));
    CUgraphicsResource native = nullptr;
    result<> done = driver::in_context(in.native(), where, [&] { return call(native); });
    Self made;
    if (native != nullptr) made.handle_.reset(graphics_resource_ref::from_native(native, in));
    made.name_ = name;
    if (!done.has_value())
      return fail(explain_registration(std::move(done).error(), Self::what, name));
    return made;
  }

 private:
  unique_handle<graphics_resource_ref, unregister_graphics> handle_;
  unsigned name_ = 0;
};

}  // namespace detail

/// Owns the registration of a buffer of OpenGL. Move-only; empty after a move. It must end before
/// the buffer is deleted, and before the context of OpenGL is destroyed.
/// **Capture**: not allowed. **Threads**: that of the context of OpenGL.
class registered_gl_buffer : public detail::registered_graphics<registered_gl_buffer> {
 public:
  /// Creates an empty object, to be assigned to.
  registered_gl_buffer() noexcept = default;

  /// Registers the buffer that glGenBuffers named, in a device (its primary context) or a context.
  /// Registering is slow: do it once.
  /// **Errors**: `errc::invalid_argument` for the name 0 and the flags of images; the driver's,
  /// with an explanation. (cuGraphicsGLRegisterBuffer, cuGraphicsUnregisterResource)
  static result<registered_gl_buffer> create(
      context_or_device on, unsigned name,
      graphics_register_flags flags = graphics_register_flags::none,
      source_location where = source_location::current()) noexcept {
    return make(
        "gpu::registered_gl_buffer::create", on, name, flags,
        [&](CUgraphicsResource& native) {
          return driver::call<&driver::entry_points::graphics_gl_register_buffer>(
              where, &native, name, static_cast<unsigned>(flags));
        },
        where);
  }

 private:
  friend registered_graphics;
  static constexpr const char* what = "buffer";
  static constexpr const char* map_flags_function = "gpu::registered_gl_buffer::set_map_flags";
  static constexpr unsigned most_flags = 3;
};

/// Owns the registration of a texture or renderbuffer of OpenGL. Move-only; empty after a move. It
/// must end before the image is deleted, and before the context of OpenGL is destroyed.
/// **Capture**: not allowed. **Threads**: that of the context of OpenGL.
class registered_gl_image : public detail::registered_graphics<registered_gl_image> {
 public:
  /// Creates an empty object, to be assigned to.
  registered_gl_image() noexcept = default;

  /// Registers an image, which must have its storage: its format and extents may not change any
  /// more. Its format has 1, 2 or 4 channels of 8, 16 or 32 bits, such as GL_RGBA8 or GL_R32F.
  /// Registering is slow: do it once.
  /// **Errors**: `errc::invalid_argument` for the name 0 and invalid targets; the driver's, with an
  /// explanation. (cuGraphicsGLRegisterImage, cuGraphicsUnregisterResource)
  static result<registered_gl_image> create(
      context_or_device on, unsigned name, gl_target target = gl_target::texture_2d,
      graphics_register_flags flags = graphics_register_flags::none,
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::registered_gl_image::create";
    GPU_TRY(detail::require_enumerator(target, "gl_target", function, where));
    registered_gl_image made = GPU_TRY(make(
        function, on, name, flags,
        [&](CUgraphicsResource& native) {
          return driver::call<&driver::entry_points::graphics_gl_register_image>(
              where, &native, name, static_cast<unsigned>(target), static_cast<unsigned>(flags));
        },
        where));
    made.target_ = target;
    return made;
  }

  gl_target target() const noexcept { return target_; }

 private:
  friend registered_graphics;
  static constexpr const char* what = "image";
  static constexpr const char* map_flags_function = "gpu::registered_gl_image::set_map_flags";
  static constexpr unsigned most_flags = 15;

  gl_target target_ = gl_target::texture_2d;
};

}}  // namespace gpu::v1
