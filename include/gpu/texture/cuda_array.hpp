#pragma once
/// \file
/// CUDA arrays, the memory that textures sample and surfaces write: `cuda_array` owns one,
/// `cuda_array_ref` names one.

#include <gpu/memory/detail/allocation.hpp>
#include <gpu/texture/detail/array_checks.hpp>
#include <gpu/texture/detail/array_owner.hpp>

namespace gpu::inline v0 {

/// The memory that an array of `array_flags::deferred_mapping` has to be given.
struct array_memory_requirements {
  std::size_t size = 0;       ///< bytes
  std::size_t alignment = 0;  ///< bytes, of the offset in what is mapped
};

/// How an array of `array_flags::sparse` is divided.
struct array_sparse_properties {
  box_extent tile;                ///< what is mapped at once, in texels
  unsigned mip_tail_level = 0;    ///< the first level that is in the mip tail
  std::size_t mip_tail_size = 0;  ///< bytes that all levels of the tail share, of a layer or of all
  bool single_mip_tail = false;   ///< the layers share one tail
};

template <class T = void> class cuda_array_ref;

namespace detail {

/// `errc::invalid_argument` where an array of some format is taken for one of another.
template <class T>
result<> require_format([[maybe_unused]] texel_format format, [[maybe_unused]] const char* function,
                        [[maybe_unused]] source_location where) noexcept {
  if constexpr (!untyped_texel<T>) {
    if (!(format == texel_format_of<T>)) {
      text_builder out;
      out << "the array has ";
      write_format(out, format);
      out << ", but ";
      write_format(out, texel_format_of<T>);
      out << " are asked for. Name the type of its texels, or void.";
      return fail(refusal(errc::invalid_argument, function, out.finish(), where));
    }
  }
  return {};
}

inline result<> require_flag(const array_shape& shape, array_flags flag, const char* name,
                             const char* function, source_location where) noexcept {
  if (has(shape.flags, flag)) return {};
  text_builder out;
  out << "the array was made without gpu::array_flags::" << name << ". Add it to its flags.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

template <class Handle>
result<> require_array(const Handle& array, const char* function, const char* what,
                       source_location where) noexcept {
  if (array.native() == nullptr) [[unlikely]]
    return fail(empty_handle_error(function, what, where));
  return {};
}

/// What arrays and mipmapped arrays can both be asked, by different functions of the driver.
template <auto Member, class Properties, class Self>
result<Properties> sparse_properties_of(const Self& array, const char* function, const char* what,
                                        source_location where) noexcept {
  GPU_TRY(require_array(array, function, what, where));
  GPU_TRY(require_flag(array.shape(), array_flags::sparse, "sparse", function, where));
  CUDA_ARRAY_SPARSE_PROPERTIES native{};
  GPU_TRY(driver::call_in<Member>(array.context().native(), where, &native, array.native()));
  Properties properties;
  properties.tile = {native.tileExtent.width, native.tileExtent.height, native.tileExtent.depth};
  properties.mip_tail_level = native.miptailFirstLevel;
  properties.mip_tail_size = native.miptailSize;
  properties.single_mip_tail = (native.flags & CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL) != 0;
  return properties;
}

template <auto Member, class Requirements, class Self>
result<Requirements> memory_requirements_of(const Self& array, const char* function,
                                            const char* what, source_location where) noexcept {
  GPU_TRY(require_array(array, function, what, where));
  GPU_TRY(require_flag(array.shape(), array_flags::deferred_mapping, "deferred_mapping", function,
                       where));
  CUDA_ARRAY_MEMORY_REQUIREMENTS native{};
  GPU_TRY(driver::call_in<Member>(array.context().native(), where, &native, array.native(),
                                  array.device().native()));
  Requirements requirements;
  requirements.size = native.size;
  requirements.alignment = native.alignment;
  return requirements;
}

}  // namespace detail

/// What `cuda_array` and `cuda_array_ref` can both do.
/// **Threads**: any thread may call any member. **Errors**: `errc::empty_handle`, and those of the
/// driver call named in parentheses. None is affected by stream capture.
template <class Self> class cuda_array_operations {
 public:
  /// One plane of an array with a format of several, such as `array_format::nv12`; an array by
  /// itself that lives as long as this one. (cuArrayGetPlane)
  /// **Errors**: CUDA_ERROR_INVALID_VALUE where there is no such plane.
  result<cuda_array_ref<>> plane(unsigned index,
                                 source_location where = source_location::current()) const noexcept;

  /// The memory to map to an array that was made without.
  /// **Errors**: `errc::invalid_argument` for other arrays. (cuArrayGetMemoryRequirements)
  result<array_memory_requirements> memory_requirements(
      source_location where = source_location::current()) const noexcept {
    constexpr auto member = &driver::entry_points::array_get_memory_requirements;
    return detail::memory_requirements_of<member, array_memory_requirements>(
        self(), "gpu::cuda_array::memory_requirements", "array", where);
  }

  /// The tiles of a sparse array.
  /// **Errors**: `errc::invalid_argument` for other arrays. (cuArrayGetSparseProperties)
  result<array_sparse_properties> sparse_properties(
      source_location where = source_location::current()) const noexcept {
    constexpr auto member = &driver::entry_points::array_get_sparse_properties;
    return detail::sparse_properties_of<member, array_sparse_properties>(
        self(), "gpu::cuda_array::sparse_properties", "array", where);
  }

 private:
  friend Self;
  cuda_array_operations() = default;

  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

/// Names an array that something else keeps alive; copy it freely. `T` is the type of its texels,
/// or `void` where their format is known at run time only. Default constructed it is empty.
template <class T>
class cuda_array_ref : public cuda_array_operations<cuda_array_ref<T>>,
                       public detail::array_name<CUarray> {
  static_assert(detail::texel_check<T>::passed);

 public:
  using value_type = T;

  constexpr cuda_array_ref() noexcept = default;
  /// An array of known texels is also one of any.
  template <class U>
    requires(detail::untyped_texel<T> && !detail::untyped_texel<U>)
  constexpr cuda_array_ref(const cuda_array_ref<U>& other) noexcept
      : array_name{other.native(), other.context(), other.shape(), other.format()} {}

  /// An array made elsewhere; asks the driver what it is. (cuArray3DGetDescriptor)
  /// **Errors**: `errc::invalid_argument` where its texels are no `T`.
  static result<cuda_array_ref> of(CUarray native, context_ref context,
                                   source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require(context, "gpu::cuda_array_ref::of", where));
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    GPU_TRY(driver::call_in<&driver::entry_points::array_3d_get_descriptor>(context.native(), where,
                                                                            &descriptor, native));
    GPU_TRY(
        detail::require_format<T>(detail::format_of(descriptor), "gpu::cuda_array_ref::of", where));
    return cuda_array_ref::from_native(native, context, detail::shape_of(descriptor),
                                       detail::format_of(descriptor));
  }
  /// An array made elsewhere, of which all is known.
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
      : array_name{native, context, shape, format} {}
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
  template <class Array> void operator()(const Array& array) const noexcept {
    driver::destroy_in<&driver::entry_points::array_destroy>(array.context().native(),
                                                             array.native());
  }
};

}  // namespace detail

/// Owns an array. Move-only; empty after a move. What is in it is undefined until something is
/// copied or written into it. `T` is the type of its texels, or `void`.
/// **Ordering**: the array has to live until the work that uses it has finished.
template <class T = void>
class cuda_array
    : public cuda_array_operations<cuda_array<T>>,
      public detail::array_owner<cuda_array<T>, cuda_array_ref, T, detail::destroy_array> {
  using owner = detail::array_owner<cuda_array, cuda_array_ref, T, detail::destroy_array>;

 public:
  /// An array of texels `T` on a device, or in a context of the caller's choice:
  ///
  ///     auto image = GPU_TRY(gpu::cuda_array<float>::create(device, {.width = 64, .height = 32}));
  ///
  /// Not allowed while a stream is captured. (cuDeviceGetAttribute, cuArray3DCreate,
  /// cuArrayDestroy)
  /// **Errors**: `errc::invalid_argument` for a shape that contradicts itself or is beyond the
  /// device's limits; CUDA_ERROR_OUT_OF_MEMORY with the bytes asked, free and total.
  static result<cuda_array> create(context_or_device on, const array_shape& shape,
                                   source_location where = source_location::current()) noexcept
    requires(!detail::untyped_texel<T>)
  {
    return make(on, texel_format_of<T>, shape, where);
  }
  /// The same with a format that is known at run time only.
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
    result<> made = driver::call_in<&driver::entry_points::array_3d_create>(in.native(), where,
                                                                            &native, &descriptor);
    cuda_array owner{native == nullptr ? cuda_array_ref<T>{}
                                       : cuda_array_ref<T>::from_native(native, in, shape, format)};
    if (made.has_value()) [[likely]]
      return owner;
    return detail::fail(detail::explain_out_of_memory(detail::move(made).error(), in,
                                                 detail::array_bytes(shape, format)));
  }
};

}  // namespace gpu::inline v0
