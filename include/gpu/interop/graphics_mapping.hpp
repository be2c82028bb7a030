#pragma once
/// \file
/// `graphics_mapping`: lets CUDA use buffers and images of a graphics interface for a while. Those
/// of OpenGL are registered by opengl.hpp.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/ref_in_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/detail/graphics_errors.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/texture/cuda_array.hpp>
#include <gpu/texture/mipmapped_array.hpp>

#include <cuda.h>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 {

/// Refers to a registered buffer or image; cheap to copy. `from_native` takes one that other code
/// has registered in a context, also of another interface than OpenGL.
class graphics_resource_ref
    : public detail::ref_in_context<graphics_resource_ref, CUgraphicsResource> {
 public:
  constexpr graphics_resource_ref() noexcept = default;
};

/// Lets CUDA use registered resources, from construction to destruction; OpenGL must leave them
/// alone in between. Move-only; empty after a move.
///
///     auto mapping = GPU_TRY(gpu::graphics_mapping::create(stream, {vertices, picture}));
///     GPU_TRY(gpu::launch(stream, shape, kernel, GPU_TRY(mapping.span<float>(vertices))));
///
/// **Ordering**: work that is queued on `stream` after the mapping sees what OpenGL did before it;
/// what OpenGL does after the end of the mapping sees the work of `stream` before it. Work on other
/// streams has to be ordered with `stream`.
/// **Capture**: not allowed. **Threads**: that of the context of OpenGL.
class graphics_mapping {
 public:
  /// Creates an empty object, to be assigned to.
  graphics_mapping() noexcept = default;

  /// Maps resources, all in one call, which is faster than one by one. The stream must live as long
  /// as the mapping.
  /// **Errors**: `errc::empty_handle`; `errc::wrong_context`; `errc::invalid_argument` for no
  /// resource, and one that is named twice; the driver's CUDA_ERROR_ALREADY_MAPPED, with an
  /// explanation. (cuGraphicsMapResources, cuGraphicsUnmapResources)
  static result<graphics_mapping> create(
      stream_ref stream, std::initializer_list<graphics_resource_ref> resources,
      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::graphics_mapping::create";
    GPU_TRY(detail::require(stream, function, where));
    graphics_mapping made;
    made.resources_ = new (std::nothrow) CUgraphicsResource[resources.size()];
    if (made.resources_ == nullptr) {
      return detail::fail(detail::out_of_host_memory_error(
          function, resources.size() * sizeof(CUgraphicsResource), where));
    }
    for (const graphics_resource_ref& each : resources) {
      if (!each) return detail::fail(detail::empty_handle_error(function, "resource", where));
      if (each.context() != stream.context()) {
        return detail::fail(
            detail::wrong_context_error(function, "stream", stream.context().device().native(),
                                        "resource", each.context().device().native(), where));
      }
      if (made.contains(each)) return detail::fail(detail::named_twice_error(function, where));
      made.resources_[made.count_++] = each.native();
    }
    if (made.count_ == 0) return detail::fail(detail::no_resource_error(function, where));
    bool mapped = false;
    result<> done = driver::in_context(stream.context().native(), where, [&] {
      result<> tried = driver::call<&driver::entry_points::graphics_map_resources>(
          where, made.count_, made.resources_, stream.native());
      mapped = tried.has_value();
      return tried;
    });
    if (mapped) made.stream_ = stream;
    if (!done.has_value()) return detail::fail(detail::explain_mapping(std::move(done).error()));
    return made;
  }
  /// Maps one resource.
  static result<graphics_mapping> create(
      stream_ref stream, graphics_resource_ref resource,
      source_location where = source_location::current()) noexcept {
    return create(stream, {resource}, where);
  }

  graphics_mapping(graphics_mapping&& other) noexcept { swap(other); }
  graphics_mapping& operator=(graphics_mapping&& other) noexcept {
    graphics_mapping taken{std::move(other)};
    swap(taken);
    return *this;
  }
  ~graphics_mapping() {
    if (*this) {
      driver::destroy_in<&driver::entry_points::graphics_unmap_resources>(
          stream_.context().native(), count_, resources_, stream_.native());
    }
    delete[] resources_;
  }

  /// Ends the mapping now, in the order of its stream, and returns the error that the destructor
  /// could only report. Does nothing if it is empty. (cuGraphicsUnmapResources)
  result<> unmap(source_location where = source_location::current()) noexcept {
    if (!*this) return {};
    return unmap(stream_, where);
  }
  /// Ends the mapping in the order of another stream of its context.
  /// **Errors**: `errc::empty_handle`; `errc::wrong_context`.
  result<> unmap(stream_ref stream, source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::graphics_mapping::unmap";
    GPU_TRY(detail::require(stream, function, where));
    if (!*this) return detail::refuse_empty_handle(function, "mapping", where);
    if (stream.context() != stream_.context()) {
      return detail::fail(detail::wrong_context_error(function, "stream",
                                                      stream.context().device().native(), "mapping",
                                                      stream_.context().device().native(), where));
    }
    return driver::in_context(stream.context().native(), where, [&] {
      stream_ = stream_ref{};
      return driver::call<&driver::entry_points::graphics_unmap_resources>(
          where, std::exchange(count_, 0u), resources_, stream.native());
    });
  }

  /// Returns the elements of a mapped buffer, as long as it is mapped; their address may be another
  /// one at the next time. (cuGraphicsResourceGetMappedPointer)
  /// **Errors**: `errc::invalid_argument` for a resource of another mapping; `errc::size_mismatch`
  /// if its bytes are not a whole number of `T`; the driver's, with an explanation, for an image.
  template <class T>
  result<device_span<T>> span(graphics_resource_ref buffer,
                              source_location where = source_location::current()) const noexcept {
    constexpr const char* function = "gpu::graphics_mapping::span";
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    GPU_TRY(require(buffer, function, where));
    result<> done = driver::call_in<&driver::entry_points::graphics_resource_get_mapped_pointer>(
        stream_.context().native(), where, &address, &bytes, buffer.native());
    if (!done.has_value())
      return detail::fail(detail::explain_mapped_kind(std::move(done).error()));
    if (bytes % sizeof(T) != 0)
      return detail::fail(detail::partial_element_error(function, bytes, sizeof(T), where));
    return device_span<T>::from_native(address, bytes / sizeof(T));
  }

  /// Returns the array of a mapped image, as long as it is mapped: `index` is a layer of a
  /// texture_2d_array, or a face of a texture_cube_map in the order +x -x +y -y +z -z; `level` is
  /// the level of detail. `T` is the type of its texels, or `void`.
  /// (cuGraphicsSubResourceGetMappedArray, cuArray3DGetDescriptor)
  /// **Errors**: `errc::invalid_argument` for a resource of another mapping, and for other texels;
  /// the driver's, with an explanation, for a buffer and for indices that do not exist.
  template <class T = void>
  result<cuda_array_ref<T>> array(
      graphics_resource_ref image, unsigned index = 0, unsigned level = 0,
      source_location where = source_location::current()) const noexcept {
    CUarray native = nullptr;
    GPU_TRY(require(image, "gpu::graphics_mapping::array", where));
    result<> done = driver::call_in<&driver::entry_points::graphics_sub_resource_get_mapped_array>(
        stream_.context().native(), where, &native, image.native(), index, level);
    if (!done.has_value())
      return detail::fail(detail::explain_mapped_array(std::move(done).error(), index, level));
    return cuda_array_ref<T>::of(native, stream_.context(), where);
  }

  /// Returns all `levels` levels of a mapped image, as long as it is mapped.
  /// (cuGraphicsResourceGetMappedMipmappedArray, cuMipmappedArrayGetLevel, cuArray3DGetDescriptor)
  /// **Errors**: as `array`.
  template <class T = void>
  result<mipmapped_array_ref<T>> mipmapped_array(
      graphics_resource_ref image, unsigned levels,
      source_location where = source_location::current()) const noexcept {
    CUmipmappedArray native = nullptr;
    CUarray first = nullptr;
    GPU_TRY(require(image, "gpu::graphics_mapping::mipmapped_array", where));
    const CUcontext in = stream_.context().native();
    result<> done =
        driver::call_in<&driver::entry_points::graphics_resource_get_mapped_mipmapped_array>(
            in, where, &native, image.native());
    if (!done.has_value())
      return detail::fail(detail::explain_mapped_kind(std::move(done).error()));
    GPU_TRY(driver::call_in<&driver::entry_points::mipmapped_array_get_level>(in, where, &first,
                                                                              native, 0u));
    const auto finest = GPU_TRY(cuda_array_ref<T>::of(first, stream_.context(), where));
    return mipmapped_array_ref<T>::from_native(native, stream_.context(), finest.shape(),
                                               finest.format(), levels);
  }

  /// Returns the stream that the mapping began on; empty after its end.
  stream_ref stream() const noexcept { return stream_; }
  /// Returns whether the resource is one of those that are mapped.
  bool contains(graphics_resource_ref resource) const noexcept {
    for (unsigned i = 0; i < count_; ++i) {
      if (resources_[i] == resource.native()) return true;
    }
    return false;
  }
  explicit operator bool() const noexcept { return static_cast<bool>(stream_.context()); }

 private:
  void swap(graphics_mapping& other) noexcept {
    std::swap(resources_, other.resources_);
    std::swap(count_, other.count_);
    std::swap(stream_, other.stream_);
  }

  result<> require(graphics_resource_ref resource, const char* function,
                   source_location where) const noexcept {
    if (!*this) return detail::refuse_empty_handle(function, "mapping", where);
    if (contains(resource)) return {};
    return detail::fail(detail::not_mapped_error(function, where));
  }

  CUgraphicsResource* resources_ = nullptr;
  unsigned count_ = 0;
  stream_ref stream_;
};

}}  // namespace gpu::v1
