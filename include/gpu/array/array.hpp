#pragma once
/// \file
/// `array<T, Rank>`: owns elements in device memory that have one index for each axis.

#include <gpu/array/detail/view_changes.hpp>
#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>  // IWYU pragma: keep
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/pick_axes.hpp>
#include <gpu/memory/detail/shape_text.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// Copies elements of the host to device memory, and waits until they have arrived.
inline result<> upload(const stream_ref& stream, const void* from, const copy_end& to,
                       std::size_t element_bytes, source_location where) noexcept {
  copy_end source;
  source.address = reinterpret_cast<std::uintptr_t>(from);
  source.count = to.count;
  GPU_TRY(copy_on(stream, source, to, element_bytes, where));
  return stream.synchronize(where);
}

/// Fails with `errc::size_mismatch` if the shape has another number of elements.
template <int Rank>
result<> require_shape(const char* function, std::size_t count, const shape<Rank>& extents,
                       source_location where) noexcept {
  if (count == extents.size()) return {};
  text_builder out;
  out << "a shape of " << extents.size() << " elements does not match " << count
      << " elements. Pass extents whose product is the number of elements.";
  return fail(refusal(errc::size_mismatch, function, out.finish(), where, extents.size(), count));
}

/// Fails with `errc::size_overflow` if an array of this shape has more bytes than memory can have.
template <class T, int Rank>
result<> require_array_size(const char* function, const shape<Rank>& extents,
                            source_location where) noexcept {
  if (saturated_product(extents.size(), sizeof(T)) <= most_memory_bytes) return {};
  text_builder out;
  out << "an array of the shape ";
  write_shape(out, extents);
  out << " with elements of " << sizeof(T) << (sizeof(T) == 1 ? " byte" : " bytes")
      << " has more than " << most_memory_bytes
      << " bytes, the most that memory can have. Pass smaller extents.";
  return fail(refusal(errc::size_overflow, function, out.finish(), where, extents.size(),
                      most_memory_bytes / sizeof(T)));
}

/// Fails with `errc::invalid_argument` for an order that needs a model, or is not a valid one.
inline result<> require_order(const char* function, axis_order order,
                              source_location where) noexcept {
  if (order == axis_order::c || order == axis_order::fortran) return {};
  text_builder out;
  if (order == axis_order::keep) {
    out << "axis_order::keep needs a model. Pass axis_order::c or axis_order::fortran, or call "
           "gpu::empty_like.";
  } else {
    out << static_cast<int>(order)
        << " is not a valid gpu::axis_order. Use one of its enumerators.";
  }
  return fail(refusal(errc::invalid_argument, function, out.finish(), where));
}

struct array_access;

}  // namespace detail

/// Owns elements of type `T` in device memory with `Rank` indices, one after the other without
/// gaps: in C order, unless the array was made in another. Move-only; empty after a move. The
/// memory is freed in the order of the stream on which the array was made, which must still exist
/// then.
///
/// `view()` is an `array_view`, which functions of views, generated kernels and kernels of your own
/// take; they take the array itself, too, unless it is a temporary. As a range of `size()`
/// elements, in the order in which they are in memory, it can be copied with `gpu::copy`, from and
/// to the host.
template <class T, int Rank = 1> class array {
 public:
  /// Creates an empty object, to be assigned to.
  array() noexcept = default;

  // Refuses common guesses; the error says what to write.
  template <class First, class... Rest>
    requires(detail::begins_creation<First> ||
             std::is_convertible_v<const First&, gpu::shape<Rank>>)
  explicit array(const First&, const Rest&...) noexcept {
    static_assert(detail::always_false<First>, "write gpu::zeros<T>(stream, shape)");
  }
  template <class Expression>
    requires detail::is_expression<Expression>
  array(const Expression&) noexcept {
    static_assert(detail::always_false<Expression>,
                  "write GPU_TRY(gpu::evaluate(stream, expression))");
  }
  template <class Expression>
    requires detail::is_expression<Expression>
  array& operator=(const Expression&) noexcept {
    static_assert(detail::always_false<Expression>, "write gpu::assign(stream, array, expression)");
    return *this;
  }
  template <class Operand> array& operator+=(const Operand&) noexcept { return refuse<Operand>(); }
  template <class Operand> array& operator-=(const Operand&) noexcept { return refuse<Operand>(); }
  template <class Operand> array& operator*=(const Operand&) noexcept { return refuse<Operand>(); }
  template <class Operand> array& operator/=(const Operand&) noexcept { return refuse<Operand>(); }

  using value_type = T;
  static constexpr int rank = Rank;

  array(array&& other) noexcept
      : buffer_{std::move(other.buffer_)},
        shape_{std::exchange(other.shape_, {})},
        strides_{other.strides_} {}
  array& operator=(array&& other) noexcept {
    buffer_ = std::move(other.buffer_);
    shape_ = std::exchange(other.shape_, {});
    strides_ = other.strides_;
    return *this;
  }

  /// Takes over a buffer, whose elements get this shape; they are in C order unless another is
  /// named.
  /// **Errors**: `errc::size_mismatch`; `errc::invalid_argument` for `axis_order::keep`.
  static result<array> adopt(device_buffer<T>&& buffer, const gpu::shape<Rank>& extents,
                             source_location where = source_location::current()) noexcept {
    return adopt(std::move(buffer), extents, axis_order::c, where);
  }
  static result<array> adopt(device_buffer<T>&& buffer, const gpu::shape<Rank>& extents,
                             axis_order order,
                             source_location where = source_location::current()) noexcept {
    GPU_TRY(detail::require_shape("gpu::array::adopt", buffer.size(), extents, where));
    GPU_TRY(detail::require_order("gpu::array::adopt", order, where));
    return array{std::move(buffer), extents, order};
  }
  /// Gives the elements away; the array is empty then.
  [[nodiscard]] device_buffer<T> release() noexcept {
    shape_ = {};
    return std::move(buffer_);
  }

  /// Makes an array of the elements of a host range: `array<float>::from(stream, vector)`. With a
  /// shape, of any rank; the elements are in C order, in the range and in the array, unless another
  /// is named.
  /// **Ordering**: waits for the stream, so the range may be a temporary and may be pageable. To
  /// copy without waiting, use `gpu::empty` and `gpu::copy(stream, pinned, array)`.
  /// **Errors**: `errc::size_mismatch`; `errc::invalid_argument` for `axis_order::keep`; those of
  /// `device_buffer::create` and `copy`.
  /// **Capture**: not allowed.
  template <host_range Range>
    requires(Rank == 1)
  static result<array> from(const stream_ref& stream, const Range& values,
                            source_location where = source_location::current()) noexcept {
    return from(stream, values, gpu::shape<1>{detail::size_of(values)}, where);
  }
  template <host_range Range>
  static result<array> from(const stream_ref& stream, const Range& values,
                            const gpu::shape<Rank>& extents,
                            source_location where = source_location::current()) noexcept {
    return from(stream, values, extents, axis_order::c, where);
  }
  template <host_range Range>
  static result<array> from(const stream_ref& stream, const Range& values,
                            const gpu::shape<Rank>& extents, axis_order order,
                            source_location where = source_location::current()) noexcept {
    using element = detail::host_element_t<const Range>;
    static_assert(std::same_as<std::remove_cv_t<element>, T>,
                  "gpu::array::from: the elements of the range are of another type than those of "
                  "the array");
    GPU_TRY(detail::require_shape("gpu::array::from", detail::size_of(values), extents, where));
    GPU_TRY(detail::require_order("gpu::array::from", order, where));
    return upload(stream, detail::data_of(values), extents, order, where);
  }

  /// Makes an array of the listed values, of one to three axes: `from(stream, {{1, 2}, {3, 4}})`.
  template <std::size_t A>
    requires(Rank == 1)
  static result<array> from(const stream_ref& stream, const T (&values)[A],
                            source_location where = source_location::current()) noexcept {
    return upload(stream, values, {A}, axis_order::c, where);
  }
  template <std::size_t A, std::size_t B>
    requires(Rank == 2)
  static result<array> from(const stream_ref& stream, const T (&values)[A][B],
                            source_location where = source_location::current()) noexcept {
    return upload(stream, values, {A, B}, axis_order::c, where);
  }
  template <std::size_t A, std::size_t B, std::size_t C>
    requires(Rank == 3)
  static result<array> from(const stream_ref& stream, const T (&values)[A][B][C],
                            source_location where = source_location::current()) noexcept {
    return upload(stream, values, {A, B, C}, axis_order::c, where);
  }

  /// Returns a view of all elements.
  array_view<T, Rank> view() & noexcept { return make_view<T>(); }
  array_view<const T, Rank> view() const& noexcept { return make_view<const T>(); }
  void view() const&& = delete;  // a view must not outlive the owner
  operator array_view<T, Rank>() & noexcept { return view(); }
  operator array_view<const T, Rank>() const& noexcept { return view(); }
  operator array_view<const T, Rank>() & noexcept { return view(); }
  operator array_view<const T, Rank>() const&& = delete;

  /// Returns a part of the array, as `array_view` does.
  template <detail::axis_index... Indices> auto operator()(Indices... indices) & noexcept {
    return view()(indices...);
  }
  template <detail::axis_index... Indices> auto operator()(Indices... indices) const& noexcept {
    return view()(indices...);
  }
  template <detail::axis_index... Indices> void operator()(Indices... indices) const&& = delete;
  template <class Mask>
    requires(detail::is_expression<Mask> || requires(const Mask& mask) { mask.view(); })
  auto operator()(const Mask&) const& noexcept {
    static_assert(detail::always_false<Mask>,
                  "write gpu::extract(stream, mask, array), or gpu::take with indices");
  }
  template <class Index> auto operator[](const Index&) const noexcept {
    static_assert(detail::always_false<Index>, "write array(index)");
  }

  /// Returns all elements in the order in which they are in memory.
  device_span<T> span() & noexcept { return buffer_.span(); }
  device_span<const T> span() const& noexcept { return buffer_.span(); }
  void span() const&& = delete;

  /// Returns the device's pointer to the first element. The host may pass it on, but not
  /// dereference it.
  T* data() noexcept { return buffer_.data(); }
  const T* data() const noexcept { return buffer_.data(); }
  CUdeviceptr native() const noexcept { return buffer_.native(); }
  std::size_t size() const noexcept { return buffer_.size(); }
  std::size_t size_bytes() const noexcept { return buffer_.size_bytes(); }
  gpu::shape<Rank> shape() const noexcept { return shape_; }
  std::size_t extent(int axis) const noexcept { return shape_[axis]; }
  std::ptrdiff_t stride(int axis) const noexcept { return strides_.steps[axis]; }
  /// Returns whether the elements are one after the other in C order, or in another one, as
  /// `array_view` does.
  bool is_contiguous(axis_order order = axis_order::c) const noexcept {
    return view().is_contiguous(order);
  }
  /// Declares that work which is queued on `other` uses the elements, as
  /// `device_buffer::also_used_on` does.
  result<> also_used_on(const stream_ref& other,
                        source_location where = source_location::current()) const noexcept {
    return buffer_.also_used_on(other, where);
  }

  /// Returns the context that the memory belongs to; empty after a move.
  context_ref context() const noexcept { return buffer_.context(); }
  gpu::device device() const noexcept { return buffer_.device(); }

 private:
  template <class Operand> array& refuse() noexcept {
    static_assert(detail::always_false<Operand>,
                  "write gpu::assign(stream, array, array + operand)");
    return *this;
  }

  friend detail::array_access;

  struct step_list {
    std::ptrdiff_t steps[Rank == 0 ? 1 : std::size_t{Rank}] = {};
  };

  array(device_buffer<T>&& buffer, const gpu::shape<Rank>& extents, axis_order order,
        const step_list& model = {}) noexcept
      : buffer_{std::move(buffer)}, shape_{extents} {
    detail::view_layout layout;
    for (int axis = 0; axis < Rank; ++axis) layout.add_axis(extents[axis], model.steps[axis]);
    detail::set_dense_strides(layout, order);
    for (int axis = 0; axis < Rank; ++axis) strides_.steps[axis] = layout.strides[axis];
  }

  static result<array> upload(const stream_ref& stream, const void* values,
                              const gpu::shape<Rank>& extents, axis_order order,
                              source_location where) noexcept {
    array made{GPU_TRY(device_buffer<T>::create(stream, extents.size(), where)), extents, order};
    GPU_TRY(detail::upload(stream, values, detail::copy_end_of(made.buffer_), sizeof(T), where));
    return made;
  }

  template <class U> array_view<U, Rank> make_view() const noexcept {
    detail::view_layout layout;
    layout.address = static_cast<std::uintptr_t>(native());
    for (int axis = 0; axis < Rank; ++axis) layout.add_axis(shape_[axis], strides_.steps[axis]);
    return detail::view_access::make<U, Rank>(layout);
  }

  device_buffer<T> buffer_;
  gpu::shape<Rank> shape_;
  step_list strides_;
};

namespace detail {
struct array_access {
  /// Makes an array of undefined values with the axes of a view in the order of its strides, or in
  /// another one.
  template <class T, class U, int Rank>
  static result<array<T, Rank>> make_like(const stream_ref& stream,
                                          const array_view<U, Rank>& model, axis_order order,
                                          source_location where) noexcept {
    typename array<T, Rank>::step_list steps;
    for (int axis = 0; axis < Rank; ++axis) steps.steps[axis] = model.stride(axis);
    return array<T, Rank>{GPU_TRY(device_buffer<T>::create(stream, model.shape().size(), where)),
                          model.shape(), order, steps};
  }
};
}  // namespace detail

template <class T, int Rank> struct kernel_argument<array<T, Rank>> {
  static auto pointer(array<T, Rank>& a) noexcept { return a.data(); }
  static auto pointer(const array<T, Rank>& a) noexcept { return a.data(); }
  static void pointer(const array<T, Rank>&&) = delete;
  static auto value(array<T, Rank>& a) noexcept { return a.view(); }
  static auto value(const array<T, Rank>& a) noexcept { return a.view(); }
  static void value(const array<T, Rank>&&) = delete;
  static auto context(const array<T, Rank>& a) noexcept { return a.context(); }
};

}}  // namespace gpu::v1
