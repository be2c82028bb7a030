#pragma once
/// \file
/// New arrays: `empty`, `zeros`, `ones`, `full`, those like another, and those of a function of the
/// index: `arange`, `linspace`, `logspace`, `eye`, `indices`, `from_function`.
///
/// All of them: **Ordering**: the array belongs to `stream`, and work queued there from now on may
/// use it; none waits. **Errors**: `errc::size_overflow` and CUDA_ERROR_OUT_OF_MEMORY, as of
/// `device_buffer::create`. **Capture**: allowed; the memory then belongs to the graph. **Cost**:
/// an allocation and, but for `empty`, a launch; kernels are compiled by the first call with these
/// types.

#include <gpu/array/array.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

/// Makes an array whose elements have undefined values: `empty<float>(stream, gpu::shape{3, 4})`.
/// In C order, unless another is named: `empty<float>(stream, shape, gpu::axis_order::fortran)`.
template <class T, int Rank>
result<array<T, Rank>> empty(const stream_ref& stream, const shape<Rank>& extents, axis_order order,
                             source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require_order("gpu::empty", order, where));
  GPU_TRY(detail::require_array_size<T>("gpu::empty", extents, where));
  return array<T, Rank>::adopt(GPU_TRY(device_buffer<T>::create(stream, extents.size(), where)),
                               extents, order, where);
}
template <class T, int Rank>
result<array<T, Rank>> empty(const stream_ref& stream, const shape<Rank>& extents,
                             source_location where = source_location::current()) noexcept {
  return gpu::empty<T>(stream, extents, axis_order::c, where);
}

/// Makes an array of elements all of whose bytes are 0.
template <class T, int Rank>
result<array<T, Rank>> zeros(const stream_ref& stream, const shape<Rank>& extents, axis_order order,
                             source_location where = source_location::current()) noexcept {
  auto made = GPU_TRY((gpu::empty<T>(stream, extents, order, where)));
  GPU_TRY(gpu::fill(stream, as_writable_bytes(made.span()), std::byte{0}, where));
  return made;
}
template <class T, int Rank>
result<array<T, Rank>> zeros(const stream_ref& stream, const shape<Rank>& extents,
                             source_location where = source_location::current()) noexcept {
  return gpu::zeros<T>(stream, extents, axis_order::c, where);
}

/// Makes an array of elements of one value.
template <class T, int Rank>
result<array<T, Rank>> full(const stream_ref& stream, const shape<Rank>& extents,
                            const detail::same_type<T>& value, axis_order order,
                            source_location where = source_location::current()) {
  auto made = GPU_TRY((gpu::empty<T>(stream, extents, order, where)));
  GPU_TRY(gpu::assign(stream, made.span(), value, where));
  return made;
}
template <class T, int Rank>
result<array<T, Rank>> full(const stream_ref& stream, const shape<Rank>& extents,
                            const detail::same_type<T>& value,
                            source_location where = source_location::current()) {
  return gpu::full<T>(stream, extents, value, axis_order::c, where);
}

template <class T, int Rank>
result<array<T, Rank>> ones(const stream_ref& stream, const shape<Rank>& extents, axis_order order,
                            source_location where = source_location::current()) {
  return gpu::full<T>(stream, extents, T(1), order, where);
}
template <class T, int Rank>
result<array<T, Rank>> ones(const stream_ref& stream, const shape<Rank>& extents,
                            source_location where = source_location::current()) {
  return gpu::full<T>(stream, extents, T(1), axis_order::c, where);
}

namespace detail {

/// The type of an array like `A`, of elements of type `T` unless that is void.
template <class T, class A>
using array_like = array<chosen_t<T, value_of_view<A>>, viewed_rank<const A&>>;

/// Makes an array of undefined values for the functions below.
template <class T, class A>
result<array_like<T, A>> make_like(const char* function, const stream_ref& stream, const A& a,
                                   axis_order order, source_location where) noexcept {
  const auto model = array_view_of(a);
  GPU_TRY(require_sound(function, "the model", model, where));
  if (order != axis_order::keep) GPU_TRY(require_order(function, order, where));
  return array_access::make_like<chosen_t<T, value_of_view<A>>>(stream, model, order, where);
}

}  // namespace detail

/// Makes an array of the shape and the element type of a view or an array, or of another type:
/// `empty_like<double>(stream, a)`. In C order, whatever the strides of `a` are, unless another is
/// named: `axis_order::keep` keeps the order of the axes of `a`.
template <class T = void, detail::viewable A>
result<detail::array_like<T, A>> empty_like(
    const stream_ref& stream, const A& a, axis_order order = axis_order::c,
    source_location where = source_location::current()) noexcept {
  return detail::make_like<T>("gpu::empty_like", stream, a, order, where);
}
template <class T = void, detail::viewable A>
result<detail::array_like<T, A>> zeros_like(
    const stream_ref& stream, const A& a, axis_order order = axis_order::c,
    source_location where = source_location::current()) noexcept {
  auto made = GPU_TRY((detail::make_like<T>("gpu::zeros_like", stream, a, order, where)));
  GPU_TRY(gpu::fill(stream, as_writable_bytes(made.span()), std::byte{0}, where));
  return made;
}
template <class T = void, detail::viewable A>
result<detail::array_like<T, A>> full_like(
    const stream_ref& stream, const A& a,
    const detail::chosen_t<T, detail::value_of_view<A>>& value, axis_order order = axis_order::c,
    source_location where = source_location::current()) {
  auto made = GPU_TRY((detail::make_like<T>("gpu::full_like", stream, a, order, where)));
  GPU_TRY(gpu::assign(stream, made.span(), value, where));
  return made;
}
template <class T = void, detail::viewable A>
result<detail::array_like<T, A>> ones_like(const stream_ref& stream, const A& a,
                                           axis_order order = axis_order::c,
                                           source_location where = source_location::current()) {
  using element = detail::chosen_t<T, detail::value_of_view<A>>;
  auto made = GPU_TRY((detail::make_like<T>("gpu::ones_like", stream, a, order, where)));
  GPU_TRY(gpu::assign(stream, made.span(), element(1), where));
  return made;
}

/// Makes an array of `first`, `first + step`, ... before `last` is reached, as NumPy's `arange` has
/// them, bit for bit.
/// **Errors**: `errc::invalid_argument` for a step of 0, and for floating-point numbers of which
/// the number of elements does not follow.
template <class T>
  requires(detail::plain_number<T> && !std::same_as<T, bool>)
result<array<T>> arange(const stream_ref& stream, T first, T last, T step = T(1),
                        source_location where = source_location::current()) {
  const std::size_t count = GPU_TRY(detail::count_steps(first, last, step, where));
  auto made = GPU_TRY((gpu::empty<T>(stream, shape<1>{count}, where)));
  // NumPy's step is the difference of the first two elements as they are stored.
  T start = first, by = step;
  if constexpr (!detail::word_integer<T>)
    by = static_cast<T>(static_cast<T>(detail::uncombined(first + step)) - first);
  const detail::loop_operand out = detail::operand_of(made.view(), made);
  const detail::loop_argument arguments[] = {{&out, nullptr}, {nullptr, &start}, {nullptr, &by}};
  GPU_TRY((detail::run_shared<detail::arange_family<T>, T*, T, T>(
      {"gpu::arange", "gpu_arange", "out, first, step"}, stream, where, &detail::arange_text<T>,
      arguments)));
  return made;
}

/// Makes an array of the numbers from 0 to `count - 1`.
template <class T>
  requires(detail::plain_number<T> && !std::same_as<T, bool>)
result<array<T>> arange(const stream_ref& stream, T count,
                        source_location where = source_location::current()) {
  return gpu::arange<T>(stream, T(0), count, T(1), where);
}

/// Makes an array of `count` numbers at equal distances from `first` to `last`, which is the last
/// one if `endpoint`. Computed in double as by NumPy's `linspace`, bit for bit, and then converted;
/// for integers rounded down.
template <class T>
  requires(detail::plain_number<T> && !std::same_as<T, bool>)
result<array<T>> linspace(const stream_ref& stream, double first, double last, std::size_t count,
                          bool endpoint = true,
                          source_location where = source_location::current()) {
  return detail::make_spaced<T, false>("gpu::linspace", stream, first, last, count, endpoint, 0,
                                       where);
}

/// Makes an array of the powers of `base` whose exponents are those of `linspace`. The accuracy is
/// that of `pow` in double on the device.
template <class T>
  requires(detail::plain_number<T> && !std::same_as<T, bool>)
result<array<T>> logspace(const stream_ref& stream, double first, double last, std::size_t count,
                          bool endpoint = true, double base = 10,
                          source_location where = source_location::current()) {
  return detail::make_spaced<T, true>("gpu::logspace", stream, first, last, count, endpoint, base,
                                      where);
}

/// Makes an array of the values of a line of CUDA C++ for each index: `i0`, `i1`, ... are the
/// indices of the element along the axes, and `i` is its number in C order, all `long long`.
///
///     gpu::from_function<float>(stream, gpu::shape{480, 640}, "hypotf(i0 - 240, i1 - 320)");
///
/// **Errors**: `errc::compile_failed` with the compiler's message.
template <class T, int Rank>
result<array<T, Rank>> from_function(const stream_ref& stream, const shape<Rank>& extents,
                                     string_ref code,
                                     source_location where = source_location::current()) {
  auto made = GPU_TRY((gpu::empty<T>(stream, extents, where)));
  GPU_TRY(detail::fill_by_index(stream, made, code, where));
  return made;
}

/// Makes a matrix with 1 on a diagonal, number `diagonal` above the main one, and 0 elsewhere.
/// `columns` is the number of rows unless it is given.
template <class T>
result<array<T, 2>> eye(const stream_ref& stream, std::size_t rows, std::size_t columns,
                        std::ptrdiff_t diagonal = 0,
                        source_location where = source_location::current()) {
  auto made = GPU_TRY((gpu::zeros<T>(stream, shape<2>{rows, columns}, where)));
  // A diagonal past a corner has no elements.
  GPU_TRY(gpu::assign(stream, gpu::diagonal(made, diagonal), T(1), where));
  return made;
}
template <class T>
result<array<T, 2>> eye(const stream_ref& stream, std::size_t rows,
                        source_location where = source_location::current()) {
  return gpu::eye<T>(stream, rows, rows, 0, where);
}

/// Makes an array that has, for each axis of a shape, the index along that axis of each element:
/// NumPy's `indices`. Its first axis counts the axes.
template <class T = long long, int Rank>
  requires(Rank > 0)
result<array<T, Rank + 1>> indices(const stream_ref& stream, const shape<Rank>& extents,
                                   source_location where = source_location::current()) {
  shape<Rank + 1> all;
  all[0] = Rank;
  for (int axis = 0; axis < Rank; ++axis) all[axis + 1] = extents[axis];
  auto made = GPU_TRY((gpu::empty<T>(stream, all, where)));
  detail::text_builder code;
  for (int axis = 0; axis < Rank; ++axis) code << "i0 == " << axis << " ? i" << axis + 1 << " : ";
  code << "0";
  const text whole = code.finish();
  GPU_TRY(detail::fill_by_index(stream, made, whole, where));
  return made;
}

}}  // namespace gpu::v1
