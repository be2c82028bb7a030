#pragma once
/// \file
/// Mipmapped arrays, an image in all its sizes: `mipmapped_array` owns one, `mipmapped_array_ref`
/// names one. Each level is a CUDA array that lives as long as the whole.

#include <gpu/texture/cuda_array.hpp>

namespace gpu::inline v0 {

template <class T = void> class mipmapped_array_ref;

/// What `mipmapped_array` and `mipmapped_array_ref` can both do.
/// **Threads**: any thread may call any member. **Errors**: `errc::empty_handle`, and those of the
/// driver call named in parentheses. None is affected by stream capture.
template <class Self, class T> class mipmapped_array_operations {
 public:
  /// A level, to copy to and from, to sample and to write: 0 is the largest, each next one half as
  /// wide, high and deep.
  /// **Errors**: `errc::index_out_of_range` with the index and how many there are.
  /// (cuMipmappedArrayGetLevel)
  template <class Level = cuda_array_ref<T>>
  result<Level> level(unsigned index,
                      source_location where = source_location::current()) const noexcept {
    constexpr const char* function = "gpu::mipmapped_array::level";
    GPU_TRY(detail::require_array(self(), function, "mipmapped array", where));
    if (index >= self().levels()) {
      detail::text_builder out;
      out << "level " << index << " is asked for, and there are " << self().levels()
          << ". Choose one below that.";
      return detail::fail(detail::refusal(errc::index_out_of_range, function, out.finish(), where,
                                          index, self().levels()));
    }
    CUarray native = nullptr;
    GPU_TRY(driver::call_in<&driver::entry_points::mipmapped_array_get_level>(
        self().context().native(), where, &native, self().native(), index));
    return Level::from_native(native, self().context(), self().shape().level(index),
                              self().format());
  }

  /// The memory to map to an array that was made without.
  /// **Errors**: `errc::invalid_argument` for others. (cuMipmappedArrayGetMemoryRequirements)
  result<array_memory_requirements> memory_requirements(
      source_location where = source_location::current()) const noexcept {
    constexpr auto member = &driver::entry_points::mipmapped_array_get_memory_requirements;
    return detail::memory_requirements_of<member, array_memory_requirements>(
        self(), "gpu::mipmapped_array::memory_requirements", "mipmapped array", where);
  }

  /// The tiles of a sparse array, and the levels that are too small to have any.
  /// **Errors**: `errc::invalid_argument` for others. (cuMipmappedArrayGetSparseProperties)
  result<array_sparse_properties> sparse_properties(
      source_location where = source_location::current()) const noexcept {
    constexpr auto member = &driver::entry_points::mipmapped_array_get_sparse_properties;
    return detail::sparse_properties_of<member, array_sparse_properties>(
        self(), "gpu::mipmapped_array::sparse_properties", "mipmapped array", where);
  }

 private:
  friend Self;
  mipmapped_array_operations() = default;

  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

/// Names a mipmapped array that something else keeps alive; copy it freely. `T` is the type of its
/// texels, or `void` where their format is known at run time only. Default constructed it is empty.
template <class T>
class mipmapped_array_ref : public mipmapped_array_operations<mipmapped_array_ref<T>, T>,
                            public detail::array_name<CUmipmappedArray> {
  static_assert(detail::texel_check<T>::passed);

 public:
  using value_type = T;

  constexpr mipmapped_array_ref() noexcept = default;
  /// An array of known texels is also one of any.
  template <class U>
    requires(detail::untyped_texel<T> && !detail::untyped_texel<U>)
  constexpr mipmapped_array_ref(const mipmapped_array_ref<U>& other) noexcept
      : mipmapped_array_ref{from_native(other.native(), other.context(), other.shape(),
                                        other.format(), other.levels())} {}

  /// An array made elsewhere. The driver does not tell what it is: `shape` is of its first level.
  static constexpr mipmapped_array_ref from_native(CUmipmappedArray native, context_ref context,
                                                   const array_shape& shape, texel_format format,
                                                   unsigned levels) noexcept {
    return mipmapped_array_ref{native, context, shape, format, levels};
  }

  constexpr unsigned levels() const noexcept { return levels_; }
  friend constexpr bool operator==(const mipmapped_array_ref& a,
                                   const mipmapped_array_ref& b) noexcept {
    return a.native() == b.native();
  }

 private:
  constexpr mipmapped_array_ref(CUmipmappedArray native, context_ref context,
                                const array_shape& shape, texel_format format,
                                unsigned levels) noexcept
      : array_name{native, context, shape, format}, levels_{levels} {}

  unsigned levels_ = 0;
};

namespace detail {

struct destroy_mipmapped_array {
  template <class Array> void operator()(const Array& array) const noexcept {
    driver::destroy_in<&driver::entry_points::mipmapped_array_destroy>(array.context().native(),
                                                                       array.native());
  }
};

}  // namespace detail

/// Owns a mipmapped array. Move-only; empty after a move. What is in it is undefined until
/// something is copied or written into its levels. `T` is the type of its texels, or `void`.
/// **Ordering**: the array has to live until the work that uses it has finished.
template <class T = void>
class mipmapped_array : public mipmapped_array_operations<mipmapped_array<T>, T>,
                        public detail::array_owner<mipmapped_array<T>, mipmapped_array_ref, T,
                                                   detail::destroy_mipmapped_array> {
  using owner =
      detail::array_owner<mipmapped_array, mipmapped_array_ref, T, detail::destroy_mipmapped_array>;

 public:
  /// An array of texels `T` whose first level has that shape, on a device or in a context of the
  /// caller's choice; `levels` is how many there are, 0 for as many as halve to one texel.
  /// Not allowed while a stream is captured.
  /// **Errors**: `errc::invalid_argument` for a shape that contradicts itself or is beyond the
  /// device's limits, and for too many levels; CUDA_ERROR_OUT_OF_MEMORY with the bytes asked, free
  /// and total. (cuDeviceGetAttribute, cuMipmappedArrayCreate, cuMipmappedArrayDestroy)
  static result<mipmapped_array> create(context_or_device on, const array_shape& shape,
                                        unsigned levels = 0,
                                        source_location where = source_location::current()) noexcept
    requires(!detail::untyped_texel<T>)
  {
    return make(on, texel_format_of<T>, shape, levels, where);
  }
  /// The same with a format that is known at run time only.
  static result<mipmapped_array> create(context_or_device on, texel_format format,
                                        const array_shape& shape, unsigned levels = 0,
                                        source_location where = source_location::current()) noexcept
    requires(detail::untyped_texel<T>)
  {
    return make(on, format, shape, levels, where);
  }

  unsigned levels() const noexcept { return owner::name().levels(); }

 private:
  friend owner;
  explicit mipmapped_array(const mipmapped_array_ref<T>& owned) noexcept : owner{owned} {}

  static result<mipmapped_array> make(context_or_device on, texel_format format,
                                      const array_shape& shape, unsigned levels,
                                      source_location where) noexcept {
    constexpr const char* function = "gpu::mipmapped_array::create";
    const context_ref in = GPU_TRY(on.resolve(function, where));
    GPU_TRY(detail::check_array(function, in.device(), shape, format, true, where));
    const unsigned most = shape.max_levels();
    if (levels > most) {
      detail::text_builder out;
      out << levels << " levels are asked for, but after " << most
          << " there is a single texel. Ask for fewer, or for 0 to have all.";
      return detail::fail(
          detail::refusal(errc::invalid_argument, function, out.finish(), where, levels, most));
    }
    if (levels == 0) levels = most;
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = detail::native_descriptor(shape, format);
    CUmipmappedArray native = nullptr;
    result<> made = driver::call_in<&driver::entry_points::mipmapped_array_create>(
        in.native(), where, &native, &descriptor, levels);
    mipmapped_array owner{
        native == nullptr ? mipmapped_array_ref<T>{}
                          : mipmapped_array_ref<T>::from_native(native, in, shape, format, levels)};
    if (made.has_value()) [[likely]]
      return owner;
    std::size_t bytes = 0;
    for (unsigned i = 0; i < levels; ++i) bytes += detail::array_bytes(shape.level(i), format);
    return detail::fail(detail::explain_out_of_memory(detail::move(made).error(), in, bytes));
  }
};

}  // namespace gpu::inline v0
