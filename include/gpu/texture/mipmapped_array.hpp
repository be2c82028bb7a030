#pragma once
/// \file
/// Mipmapped arrays, an image at several resolutions: `mipmapped_array` owns one,
/// `mipmapped_array_ref` refers to one. Each level is a CUDA array that lives as long as the whole.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/memory/detail/library_pool.hpp>  // IWYU pragma: keep
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/cuda_array.hpp>
#include <gpu/texture/detail/array_checks.hpp>
#include <gpu/texture/detail/array_owner.hpp>

#include <cstddef>
#include <utility>

namespace gpu { inline namespace v1 {

template <class T = void> class mipmapped_array_ref;

/// The members that `mipmapped_array` and `mipmapped_array_ref` share.
/// **Threads**: any thread may call any member. **Errors**: `errc::empty_handle`, and those of the
/// driver call named in parentheses. **Capture**: not affected.
template <class Self, class T> class mipmapped_array_operations {
 public:
  /// Returns a level, which can be copied, sampled and written like any array. Level 0 is the
  /// largest; each following one has half the width, height and depth.
  /// **Errors**: `errc::index_out_of_range` with the index and the number of levels.
  /// (cuMipmappedArrayGetLevel)
  result<cuda_array_ref<T>> level(
      unsigned index, source_location where = source_location::current()) const noexcept {
    constexpr const char* function = "gpu::mipmapped_array::level";
    GPU_TRY(detail::require_array(self(), function, "mipmapped array", where));
    if (index >= self().levels()) {
      detail::text_builder out;
      out << "level " << index << " does not exist: the array has " << self().levels()
          << ". Pass a smaller index.";
      return detail::fail(detail::refusal(errc::index_out_of_range, function, out.finish(), where,
                                          index, self().levels()));
    }
    CUarray native = nullptr;
    GPU_TRY(driver::call_in<&driver::entry_points::mipmapped_array_get_level>(
        self().context().native(), where, &native, self().native(), index));
    return cuda_array_ref<T>::from_native(native, self().context(), self().shape().level(index),
                                          self().format());
  }

  /// Returns the physical memory that an array of `array_flags::deferred_mapping` needs.
  /// **Errors**: `errc::invalid_argument` for other arrays. (cuMipmappedArrayGetMemoryRequirements)
  result<array_memory_requirements> memory_requirements(
      source_location where = source_location::current()) const noexcept {
    constexpr auto member = &driver::entry_points::mipmapped_array_get_memory_requirements;
    return detail::memory_requirements_of<member>(
        self(), "gpu::mipmapped_array::memory_requirements", "mipmapped array", where);
  }

  /// Returns the tiles of an array of `array_flags::sparse`, and its mip tail: the levels that are
  /// smaller than a tile.
  /// **Errors**: `errc::invalid_argument` for other arrays. (cuMipmappedArrayGetSparseProperties)
  result<array_sparse_properties> sparse_properties(
      source_location where = source_location::current()) const noexcept {
    constexpr auto member = &driver::entry_points::mipmapped_array_get_sparse_properties;
    return detail::sparse_properties_of<member>(self(), "gpu::mipmapped_array::sparse_properties",
                                                "mipmapped array", where);
  }

 private:
  friend Self;
  mipmapped_array_operations() = default;

  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

/// Refers to a mipmapped array without owning it; cheap to copy. `T` is the type of the texels, or
/// `void` if their format is known only at run time. A default-constructed ref is empty.
template <class T>
class mipmapped_array_ref : public mipmapped_array_operations<mipmapped_array_ref<T>, T>,
                            public detail::array_ref_base<CUmipmappedArray> {
  static_assert(detail::texel_check<T>::passed);

 public:
  using value_type = T;

  constexpr mipmapped_array_ref() noexcept = default;
  /// Converts from an array with a known texel type to one of any.
  template <class U>
    requires(detail::untyped_texel<T> && !detail::untyped_texel<U>)
  constexpr mipmapped_array_ref(const mipmapped_array_ref<U>& other) noexcept
      : mipmapped_array_ref{from_native(other.native(), other.context(), other.shape(),
                                        other.format(), other.levels())} {}

  /// Refers to an array created by other code. The driver cannot be asked for its properties:
  /// `shape` is that of level 0.
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
      : array_ref_base{native, context, shape, format}, levels_{levels} {}

  unsigned levels_ = 0;
};

namespace detail {

/// Fails unless an array of this shape can have so many levels, and turns 0 into all levels.
inline result<> resolve_levels(const char* function, const array_shape& shape, unsigned& levels,
                               source_location where) noexcept {
  const unsigned most = shape.max_levels();
  if (levels > most) {
    text_builder out;
    out << "the number of levels is " << levels << ", but an array of this shape has at most "
        << most << ". Pass a smaller number, or 0 for all levels.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, levels, most));
  }
  if (levels == 0) levels = most;
  return {};
}

struct destroy_mipmapped_array {
  template <class T> void operator()(const mipmapped_array_ref<T>& array) const noexcept {
    driver::destroy_in<&driver::entry_points::mipmapped_array_destroy>(array.context().native(),
                                                                       array.native());
  }
};

}  // namespace detail

/// Owns a mipmapped array. Move-only; empty after a move. The contents are undefined until its
/// levels are written. `T` is the type of the texels, or `void` if their format is known only at
/// run time.
/// **Ordering**: the array must live until the work that uses it has finished.
template <class T = void>
class mipmapped_array : public mipmapped_array_operations<mipmapped_array<T>, T>,
                        public detail::array_owner<mipmapped_array<T>, mipmapped_array_ref, T,
                                                   detail::destroy_mipmapped_array> {
  using owner =
      detail::array_owner<mipmapped_array, mipmapped_array_ref, T, detail::destroy_mipmapped_array>;

 public:
  /// Creates an empty object, to be assigned to.
  mipmapped_array() noexcept = default;

  /// Creates an array of texels of type `T` on a device (in its primary context) or in a context.
  /// `shape` is that of level 0; `levels` is the number of levels, or 0 for all levels down to a
  /// single texel.
  /// **Errors**: `errc::invalid_argument` for an inconsistent shape, one that exceeds the device's
  /// limits, and too many levels; CUDA_ERROR_OUT_OF_MEMORY with the bytes requested, free and in
  /// total. **Capture**: not allowed.
  /// (cuDeviceGetAttribute, cuMipmappedArrayCreate, cuMipmappedArrayDestroy)
  static result<mipmapped_array> create(context_or_device on, const array_shape& shape,
                                        unsigned levels = 0,
                                        source_location where = source_location::current()) noexcept
    requires(!detail::untyped_texel<T>)
  {
    return make(on, texel_format_of<T>, shape, levels, where);
  }
  /// Creates an array whose format is known only at run time.
  static result<mipmapped_array> create(context_or_device on, texel_format format,
                                        const array_shape& shape, unsigned levels = 0,
                                        source_location where = source_location::current()) noexcept
    requires(detail::untyped_texel<T>)
  {
    return make(on, format, shape, levels, where);
  }

  unsigned levels() const noexcept { return owner::ref().levels(); }

 private:
  friend owner;
  explicit mipmapped_array(const mipmapped_array_ref<T>& owned) noexcept : owner{owned} {}

  static result<mipmapped_array> make(context_or_device on, texel_format format,
                                      const array_shape& shape, unsigned levels,
                                      source_location where) noexcept {
    constexpr const char* function = "gpu::mipmapped_array::create";
    const context_ref in = GPU_TRY(on.resolve(function, where));
    GPU_TRY(detail::check_array(function, in.device(), shape, format, true, where));
    GPU_TRY(detail::resolve_levels(function, shape, levels, where));
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = detail::native_descriptor(shape, format);
    CUmipmappedArray native = nullptr;
    result<> made = detail::with_kept_memory(stream_ref::from_native(nullptr, in), native, [&] {
      return driver::call_in<&driver::entry_points::mipmapped_array_create>(
          in.native(), where, &native, &descriptor, levels);
    });
    mipmapped_array owner{
        native == nullptr ? mipmapped_array_ref<T>{}
                          : mipmapped_array_ref<T>::from_native(native, in, shape, format, levels)};
    if (made.has_value()) return owner;
    std::size_t bytes = 0;
    for (unsigned i = 0; i < levels; ++i) bytes += detail::array_bytes(shape.level(i), format);
    return detail::fail(detail::explain_out_of_memory(std::move(made).error(), in, bytes));
  }
};

}}  // namespace gpu::v1
