#pragma once
/// \file
/// `put` and `put_along_axis` write elements by index. Indices, errors and the rest are as for
/// `take`; if an index occurs several times the last value stays, in every run, as in NumPy.

#include <gpu/algorithm/gather.hpp>
#include <gpu/algorithm/scatter.hpp>  // IWYU pragma: keep
#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/detail/shared_kernel.hpp>
#include <gpu/array/take.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T> struct cycle_family;

/// Writes where the chosen elements are, counted in elements from an address.
template <class T, class Index, int Rank>
result<> locate_elements(const char* function, const stream_ref& stream, array<long long>& offsets,
                         indexed_axis<T, Index, Rank> to, CUdeviceptr first,
                         source_location where) {
  const loop_operand written = operand_of(offsets.view(), offsets);
  const loop_operand x = make_operand(to.x), positions = make_operand(to.positions);
  const loop_argument arguments[] = {{&written, nullptr},   {&x, nullptr},
                                     {&positions, nullptr}, {nullptr, &to.size},
                                     {nullptr, &to.stride}, {nullptr, &first}};
  return run_shared<locate_family<T, Index>, long long*, const T*, const Index*, long long,
                    long long, raw<const T*>>(
      {function, "gpu_locate", "out, x, indices, size, stride, first"}, stream, where,
      [] {
        text_builder code;
        code << "out[i] = &" << indexed_element<Index>() << " - &first[0]";
        return code.finish();
      },
      arguments);
}

/// Writes values to the chosen elements of `view`.
template <class T, class Index, int Rank>
result<> put_elements(const char* function, const stream_ref& stream,
                      const array_view<T, Rank>& view, const indexed_axis<T, Index, Rank>& to,
                      const array_view<const T, Rank>& values, source_location where) {
  if (to.positions.size() == 0) return {};
  // All elements of the view lie in this range of the memory.
  const loop_operand operand = make_operand(view);
  const element_reach reach = reach_of(operand);
  const CUdeviceptr first =
      view.native() + static_cast<CUdeviceptr>(reach.low * static_cast<std::ptrdiff_t>(sizeof(T)));
  const auto whole =
      device_span<T>::from_native(first, static_cast<std::size_t>(reach.high - reach.low) + 1);
  auto offsets = GPU_TRY((gpu::empty<long long>(stream, shape<1>{to.positions.size()}, where)));
  GPU_TRY(locate_elements(function, stream, offsets, to, first, where));
  const byte_range read = bytes_of(make_operand(values), sizeof(T));
  if (read.begin < whole.native() + whole.size_bytes() && whole.native() < read.end) {
    const auto copied = GPU_TRY(gpu::evaluate(stream, values, where));
    return gpu::scatter(stream, copied, offsets, whole, {}, where);
  }
  return gpu::scatter(stream, values, offsets, whole, {}, where);
}

/// Makes an array of `count` elements that are those of `values` in turn, over and over.
template <class T>
result<array<T>> cycle_elements(const char* function, const stream_ref& stream,
                                const array_view<const T>& values, std::size_t count,
                                source_location where) {
  auto made = GPU_TRY((gpu::empty<T>(stream, shape<1>{count}, where)));
  const loop_operand written = operand_of(made.view(), made);
  CUdeviceptr address = values.native();
  auto period = static_cast<long long>(values.size());
  const loop_argument arguments[] = {{&written, nullptr}, {nullptr, &address}, {nullptr, &period}};
  GPU_TRY((run_shared<cycle_family<T>, T*, raw<const T*>, long long>(
      {function, "gpu_cycle", "out, values, period"}, stream, where,
      [] { return text("out[i] = values[i % period]"); }, arguments)));
  return made;
}

/// Fails with both shapes if values cannot be repeated to the shape of indices.
template <class T, int From, class Index, int To>
result<> require_repeatable(const char* function, const stream_ref& stream,
                            const array_view<T, From>& values,
                            const array_view<const Index, To>& positions,
                            source_location where) noexcept {
  static_assert(From <= To, "the values have more axes than the indices");
  expression_layout layout;
  layout.rank = From;
  for (int axis = 0; axis < From; ++axis) layout.extents[axis] = values.extent(axis);
  return require_target({function, stream, where}, layout, make_operand(positions));
}

template <class A, class V> constexpr void check_put() noexcept {
  static_assert(!std::is_const_v<viewed_element_t<A>>, "the elements of `a` are const");
  static_assert(std::same_as<value_of_view<A>, value_of_view<V>>,
                "the values have the type of the elements of `a`; convert them with gpu::assign");
}

}  // namespace detail

/// Writes values to elements that are chosen along an axis, with indices for each row of its own:
/// `a(i, indices(i, k)) = values(i, k)` for axis 1. As NumPy's `put_along_axis`: the values are
/// repeated to the shape of the indices, whose shape agrees with that of `a` but for the axis;
/// extents of 1 are repeated. Values that lie in the memory of `a` are copied first. **Cost**: that
/// of `scatter` for the memory from the first to the last element of `a`, and a launch and 8 bytes
/// of temporary memory for each index.
template <detail::viewable A, detail::viewable I, detail::viewable V>
  requires(detail::viewed_rank<A> == detail::viewed_rank<I>)
result<> put_along_axis(const stream_ref& stream, A&& a, I&& indices, V&& values, int axis,
                        const gather_options& options = {},
                        source_location where = source_location::current()) {
  constexpr const char* function = "gpu::put_along_axis";
  constexpr int rank = detail::viewed_rank<A>;
  using element = detail::value_of_view<A>;
  using index = detail::value_of_view<I>;
  detail::check_taken<index>();
  detail::check_put<A, V>();
  const array_view<element, rank> view = detail::array_view_of(static_cast<A&&>(a));
  const array_view<const element, rank> read = view;
  const array_view<const index, rank> chosen = detail::array_view_of(static_cast<I&&>(indices));
  const auto written = detail::array_view_of(static_cast<V&&>(values));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  GPU_TRY(detail::require_operand(function, stream, "the indices", chosen, indices, where));
  GPU_TRY(detail::require_operand(function, stream, "the values", written, values, where));
  axis = GPU_TRY(detail::require_axis(function, axis, rank, where));
  const auto to = GPU_TRY(detail::match_axis(function, read, chosen, axis, where));
  GPU_TRY(detail::require_repeatable(function, stream, written, to.positions, where));
  GPU_TRY(detail::require_taken(function, stream, to, indices, options.check, where));
  return detail::put_elements(function, stream, view, to, gpu::broadcast_to(written, to.shape()),
                              where);
}

/// Writes values to the elements of `a` that `indices` choose, counted in C order: `a(indices(k)) =
/// values(k)`. As NumPy's `put`: values beyond the indices are not used, and fewer than the indices
/// are used over and over. `a` is an array or a view. **Cost**: as for `put_along_axis`; operands
/// that are not in C order are copied, `a` there and back.
template <detail::viewable A, detail::viewable I, detail::viewable V>
result<> put(const stream_ref& stream, A&& a, I&& indices, V&& values,
             const gather_options& options = {},
             source_location where = source_location::current()) {
  constexpr const char* function = "gpu::put";
  using element = detail::value_of_view<A>;
  using index = detail::value_of_view<I>;
  detail::check_taken<index>();
  detail::check_put<A, V>();
  const array_view<element, detail::viewed_rank<A>> view =
      detail::array_view_of(static_cast<A&&>(a));
  const auto chosen = detail::array_view_of(static_cast<I&&>(indices));
  const auto written = detail::array_view_of(static_cast<V&&>(values));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  GPU_TRY(detail::require_operand(function, stream, "the indices", chosen, indices, where));
  GPU_TRY(detail::require_operand(function, stream, "the values", written, values, where));
  const std::size_t count = chosen.size();
  if (count == 0 || written.size() == 0) return {};
  if (!chosen.is_contiguous()) {
    const auto copied = GPU_TRY(gpu::evaluate(stream, chosen, where));
    return gpu::put(stream, view, copied, written, options, where);
  }
  if (!written.is_contiguous()) {
    const auto copied = GPU_TRY(gpu::evaluate(stream, written, where));
    return gpu::put(stream, view, chosen, copied, options, where);
  }
  if (!view.is_contiguous()) {
    auto copied = GPU_TRY(gpu::evaluate(stream, view, where));
    GPU_TRY(gpu::put(stream, copied, chosen, written, options, where));
    return gpu::assign(stream, view, copied, where);
  }
  const array_view<element> line = gpu::ravel(view);
  const array_view<const element> read = line;
  const array_view<const index> places = gpu::ravel(chosen);
  const array_view<const element> given = gpu::ravel(written);
  const auto to = GPU_TRY(detail::match_axis(function, read, places, 0, where));
  GPU_TRY(detail::require_taken(function, stream, to, places, options.check, where));
  if (given.size() >= count) {
    return detail::put_elements(function, stream, line, to, detail::part_along(given, 0, 0, count),
                                where);
  }
  const auto cycled = GPU_TRY(detail::cycle_elements(function, stream, given, count, where));
  return detail::put_elements(function, stream, line, to, array_view<const element>(cycled.view()),
                              where);
}

}}  // namespace gpu::v1
