#pragma once
/// \file
/// CUDA arrays, the memory that textures sample and surfaces write: `cuda_array` owns an array,
/// `cuda_array_ref` refers to one.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/detail/library_pool.hpp>  // IWYU pragma: keep
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/detail/array_checks.hpp>
#include <gpu/texture/detail/array_owner.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

/// The physical memory that an array of `array_flags::deferred_mapping` needs.
struct array_memory_requirements {
  std::size_t size = 0;       ///< bytes
  std::size_t alignment = 0;  ///< of the offset in the physical memory, in bytes
};

/// The tiles and the mip tail of an array of `array_flags::sparse`.
struct array_sparse_properties {
  box_extent tile;                ///< the extent of a tile, in texels
  unsigned mip_tail_level = 0;    ///< the first level of the mip tail
  std::size_t mip_tail_size = 0;  ///< bytes of a mip tail; 0 without one
  bool single_mip_tail = false;   ///< true if all layers share one mip tail
};

template <class T = void> class cuda_array_ref;

namespace detail {

/// Returns `errc::invalid_argument` unless `wanted` is the format of the array.
inline result<> require_format(texel_format format, texel_format wanted, const char* function,
                               source_location where) noexcept {
  if (format == wanted) return {};
  text_builder out;
  out << "the array has ";
  write_format(out, format);
  out << ", but the requested type has ";
  write_format(out, wanted);
  out << ". Name the type of the array's texels, or void.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

inline result<> require_flag(const array_shape& shape, array_flags flag, const char* name,
                             const char* function, source_location where) noexcept {
  if (has(shape.flags, flag)) return {};
  text_builder out;
  out << "the array was created without gpu::array_flags::" << name << ". Add it to its flags.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

template <class Array>
result<> require_array(const Array& array, const char* function, const char* what,
                       source_location where) noexcept {
  if (array.native() != nullptr) return {};
  return fail(empty_handle_error(function, what, where));
}

/// Returns the tiles of an array or a mipmapped array; `Member` is the driver's function for it.
template <auto Member, class Array>
result<array_sparse_properties> sparse_properties_of(const Array& array, const char* function,
                                                     const char* what,
                                                     source_location where) noexcept {
  GPU_TRY(require_array(array, function, what, where));
  GPU_TRY(require_flag(array.shape(), array_flags::sparse, "sparse", function, where));
  CUDA_ARRAY_SPARSE_PROPERTIES native{};
  GPU_TRY(driver::call_in<Member>(array.context().native(), where, &native, array.native()));
  array_sparse_properties properties;
  properties.tile = {native.tileExtent.width, native.tileExtent.height, native.tileExtent.depth};
  properties.mip_tail_level = native.miptailFirstLevel;
  properties.mip_tail_size = native.miptailSize;
  properties.single_mip_tail = (native.flags & CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL) != 0;
  return properties;
}

/// Returns the memory that an array or a mipmapped array needs; `Member` is the driver's function
/// for it.
template <auto Member, class Array>
result<array_memory_requirements> memory_requirements_of(const Array& array, const char* function,
                                                         const char* what,
                                                         source_location where) noexcept {
  GPU_TRY(require_array(array, function, what, where));
  GPU_TRY(require_flag(array.shape(), array_flags::deferred_mapping, "deferred_mapping", function,
                       where));
  CUDA_ARRAY_MEMORY_REQUIREMENTS native{};
  GPU_TRY(driver::call_in<Member>(array.context().native(), where, &native, array.native(),
                                  array.device().native()));
  array_memory_requirements requirements;
  requirements.size = native.size;
  requirements.alignment = native.alignment;
  return requirements;
}

}  // namespace detail

/// The members that `cuda_array` and `cuda_array_ref` share.
/// **Threads**: any thread may call any member. **Errors**: `errc::empty_handle`, and those of the
/// driver call named in parentheses. **Capture**: not affected.
template <class Self> class cuda_array_operations {
 public:
  /// Returns one plane of an array with a multi-planar format, such as `array_format::nv12`. The
  /// plane is itself an array, and lives as long as this one. (cuArrayGetPlane)
  /// **Errors**: CUDA_ERROR_INVALID_VALUE if the array does not have that plane.
  result<cuda_array_ref<>> plane(unsigned index,
                                 source_location where = source_location::current()) const noexcept;

  /// Returns the physical memory that an array of `array_flags::deferred_mapping` needs.
  /// **Errors**: `errc::invalid_argument` for other arrays. (cuArrayGetMemoryRequirements)
  result<array_memory_requirements> memory_requirements(
      source_location where = source_location::current()) const noexcept {
    constexpr auto member = &driver::entry_points::array_get_memory_requirements;
    return detail::memory_requirements_of<member>(self(), "gpu::cuda_array::memory_requirements",
                                                  "array", where);
  }

  /// Returns the tiles of an array of `array_flags::sparse`.
  /// **Errors**: `errc::invalid_argument` for other arrays. (cuArrayGetSparseProperties)
  result<array_sparse_properties> sparse_properties(
      source_location where = source_location::current()) const noexcept {
    constexpr auto member = &driver::entry_points::array_get_sparse_properties;
    return detail::sparse_properties_of<member>(self(), "gpu::cuda_array::sparse_properties",
                                                "array", where);
  }

 private:
  friend Self;
  cuda_array_operations() = default;

  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

/// Refers to an array without owning it; cheap to copy. `T` is the type of the texels, or `void` if
/// their format is known only at run time. A default-constructed ref is empty.
template <class T>
class cuda_array_ref : public cuda_array_operations<cuda_array_ref<T>>,
                       public detail::array_ref_base<CUarray> {
  static_assert(detail::texel_check<T>::passed);

 public:
  using value_type = T;

  constexpr cuda_array_ref() noexcept = default;
  /// Converts from an array with a known texel type to one of any.
  template <class U>
    requires(detail::untyped_texel<T> && !detail::untyped_texel<U>)
  constexpr cuda_array_ref(const cuda_array_ref<U>& other) noexcept
      : array_ref_base{other.native(), other.context(), other.shape(), other.format()} {}

  /// Refers to an array created by other code, and asks the driver for its shape and format.
  /// (cuArray3DGetDescriptor)
  /// **Errors**: `errc::invalid_argument` if its texels are not of type `T`.
  static result<cuda_array_ref> of(CUarray native, context_ref context,
                                   source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(context, "gpu::cuda_array_ref::of", where));
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    GPU_TRY(driver::call_in<&driver::entry_points::array_3d_get_descriptor>(context.native(), where,
                                                                            &descriptor, native));
    const texel_format format = detail::format_of(descriptor);
    if constexpr (!detail::untyped_texel<T>) {
      GPU_TRY(detail::require_format(format, texel_format_of<T>, "gpu::cuda_array_ref::of", where));
    }
    return cuda_array_ref::from_native(native, context, detail::shape_of(descriptor), format);
  }
  /// Refers to an array created by other code, whose shape and format the caller knows.
  static constexpr cuda_array_ref from_native(CUarray native, context_ref context,
                                              const array_shape& shape,
                                              texel_format format) noexcept {
    return cuda_array_ref{native, context, shape, format};
  }

  friend constexpr bool operator==(const cuda_array_ref& a, const cuda_array_ref& b) noexcept {
    return a.native() == b.native();
  }

 private:
  constexpr cuda_array_ref(CUarray native, context_ref context, const array_shape& shape,
                           texel_format format) noexcept
      : array_ref_base{native, context, shape, format} {}
};

template <class Self>
result<cuda_array_ref<>> cuda_array_operations<Self>::plane(unsigned index,
                                                            source_location where) const noexcept {
  GPU_TRY(detail::require_array(self(), "gpu::cuda_array::plane", "array", where));
  CUarray native = nullptr;
  GPU_TRY(driver::call_in<&driver::entry_points::array_get_plane>(self().context().native(), where,
                                                                  &native, self().native(), index));
  return cuda_array_ref<>::of(native, self().context(), where);
}

namespace detail {

struct destroy_array {
  template <class T> void operator()(const cuda_array_ref<T>& array) const noexcept {
    driver::destroy_in<&driver::entry_points::array_destroy>(array.context().native(),
                                                             array.native());
  }
};

}  // namespace detail

/// Owns an array. Move-only; empty after a move. The contents are undefined until they are written.
/// `T` is the type of the texels, or `void` if their format is known only at run time.
/// **Ordering**: the array must live until the work that uses it has finished.
template <class T = void>
class cuda_array
    : public cuda_array_operations<cuda_array<T>>,
      public detail::array_owner<cuda_array<T>, cuda_array_ref, T, detail::destroy_array> {
  using owner = detail::array_owner<cuda_array, cuda_array_ref, T, detail::destroy_array>;

 public:
  /// Creates an empty object, to be assigned to.
  cuda_array() noexcept = default;

  /// Creates an array of texels of type `T` on a device (in its primary context) or in a context:
  ///
  ///     auto image = GPU_TRY(gpu::cuda_array<float>::create(device, {.width = 64, .height = 32}));
  ///
  /// **Errors**: `errc::invalid_argument` for an inconsistent shape, or one that exceeds the
  /// device's limits; CUDA_ERROR_OUT_OF_MEMORY with the bytes requested, free and in total.
  /// **Capture**: not allowed. (cuDeviceGetAttribute, cuArray3DCreate, cuArrayDestroy)
  static result<cuda_array> create(context_or_device on, const array_shape& shape,
                                   source_location where = source_location::current()) noexcept
    requires(!detail::untyped_texel<T>)
  {
    return make(on, texel_format_of<T>, shape, where);
  }
  /// Creates an array whose format is known only at run time.
  static result<cuda_array> create(context_or_device on, texel_format format,
                                   const array_shape& shape,
                                   source_location where = source_location::current()) noexcept
    requires(detail::untyped_texel<T>)
  {
    return make(on, format, shape, where);
  }

 private:
  friend owner;
  explicit cuda_array(const cuda_array_ref<T>& owned) noexcept : owner{owned} {}

  static result<cuda_array> make(context_or_device on, texel_format format,
                                 const array_shape& shape, source_location where) noexcept {
    constexpr const char* function = "gpu::cuda_array::create";
    const context_ref in = GPU_TRY(on.resolve(function, where));
    GPU_TRY(detail::check_array(function, in.device(), shape, format, false, where));
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = detail::native_descriptor(shape, format);
    CUarray native = nullptr;
    result<> made = detail::with_kept_memory(stream_ref::from_native(nullptr, in), native, [&] {
      return driver::call_in<&driver::entry_points::array_3d_create>(in.native(), where, &native,
                                                                     &descriptor);
    });
    cuda_array owner{native == nullptr ? cuda_array_ref<T>{}
                                       : cuda_array_ref<T>::from_native(native, in, shape, format)};
    if (made.has_value()) return owner;
    return detail::fail(detail::explain_out_of_memory(std::move(made).error(), in,
                                                      detail::array_bytes(shape, format)));
  }
};

}}  // namespace gpu::v1
