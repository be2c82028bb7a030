#pragma once
/// \file
/// `subset_sum`, `subset_dot`, `subset_min`, `subset_max`: reductions of the elements that a list
/// of indices chooses.

#include <gpu/algorithm/dot.hpp>
#include <gpu/algorithm/gather/indexed_axes.hpp>
#include <gpu/algorithm/min_max.hpp>
#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/algorithm/reduce/run_named.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/algorithm/sum.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/generated/snippet.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// The parameter with the axes of a view.
template <int Rank> constexpr named_parameter axes_parameter() noexcept {
  return {parameter_kind::number, indexed_axes_type<Rank>()};
}

/// Elements that are read by index: an address and the axes.
template <int Rank> struct indexed_elements {
  reduction_output read;
  const void* address;
  indexed_axes<Rank> axes;

  template <class X>
  indexed_elements(const char* name, X& x) noexcept
      : read{make_output(name, x)},
        address{reinterpret_cast<const void*>(read.operand.memory.address)},
        axes{read.operand} {}
};

template <class X> inline constexpr int rank_of = 1;
template <class X>
  requires(is_array_view<std::remove_cvref_t<X>>)
inline constexpr int rank_of<X> = std::remove_cvref_t<X>::rank;

/// A reduction of one range or view by the text of another family.
template <class Base, class Index, class T, int Rank> struct subset_family {
  using result_type = typename Base::result_type;
  static constexpr named_reduction make() noexcept {
    named_reduction made = Base::text;
    made.names = "indices, x, x_axes";
    made.parameters[0] = elements_of_type<Index>();
    made.parameters[1] = pointer_to_type<T>();
    made.parameters[2] = axes_parameter<Rank>();
    made.map = "gpu_value(x[x_axes.offset(indices[i], 0)])";
    return made;
  }
  static constexpr named_reduction make(const char* function, const char* kernel) noexcept {
    named_reduction made = make();
    made.function = function;
    made.kernel = kernel;
    return made;
  }
};
template <class Index, class T, int Rank, class R>
struct subset_sum_family : subset_family<sum_family<T, R>, Index, T, Rank> {
  static constexpr named_reduction text =
      subset_sum_family::make("gpu::subset_sum", "gpu_subset_sum");
};
template <class Index, class T, int Rank>
struct subset_min_family : subset_family<min_family<T>, Index, T, Rank> {
  static constexpr named_reduction text =
      subset_min_family::make("gpu::subset_min", "gpu_subset_min");
};
template <class Index, class T, int Rank>
struct subset_max_family : subset_family<max_family<T>, Index, T, Rank> {
  static constexpr named_reduction text =
      subset_max_family::make("gpu::subset_max", "gpu_subset_max");
};
template <class Index, class X, int XRank, class Y, int YRank, class R> struct subset_dot_family {
  using result_type = R;
  static constexpr named_reduction make() noexcept {
    named_reduction made = dot_family<X, Y, R>::text;
    made.function = "gpu::subset_dot";
    made.kernel = "gpu_subset_dot";
    made.names = "indices, x, y, x_axes, y_axes";
    made.parameters[0] = elements_of_type<Index>();
    made.parameters[1] = pointer_to_type<X>();
    made.parameters[2] = pointer_to_type<Y>();
    made.parameters[3] = axes_parameter<XRank>();
    made.parameters[4] = axes_parameter<YRank>();
    made.map =
        "gpu_value(x[x_axes.offset(indices[i], 0)]) * gpu_value(y[y_axes.offset(indices[i], 0)])";
    return made;
  }
  static constexpr named_reduction text = make();
};

template <class Indices> constexpr void check_subset() noexcept {
  static_assert(index_type<argument_element<Indices>>,
                "indices are std::uint32_t, std::int32_t, std::uint64_t or std::int64_t");
}

/// Calls `run(call)` with the arguments of a reduction of chosen elements.
template <class X, class Indices, class Run>
result<> call_subset(const stream_ref& stream, X& x, Indices& indices, source_location where,
                     Run run) {
  check_subset<Indices>();
  bound_argument<const argument_element<Indices>*> chosen(indices);
  indexed_elements<rank_of<X>> from("x", x);
  const loop_argument list[] = {chosen.get(), {nullptr, &from.address}, {nullptr, &from.axes}};
  return run(named_call{stream, list, where, &from.read, 1});
}
/// The same for two ranges.
template <class X, class Y, class Indices, class Run>
result<> call_subset(const stream_ref& stream, X& x, Y& y, Indices& indices, source_location where,
                     Run run) {
  check_subset<Indices>();
  bound_argument<const argument_element<Indices>*> chosen(indices);
  indexed_elements<rank_of<X>> left("x", x);
  indexed_elements<rank_of<Y>> right("y", y);
  const loop_argument list[] = {chosen.get(),
                                {nullptr, &left.address},
                                {nullptr, &right.address},
                                {nullptr, &left.axes},
                                {nullptr, &right.axes}};
  const reduction_output reads[] = {left.read, right.read};
  return run(named_call{stream, list, where, reads, 2});
}

template <class Family, class X, class Indices>
result<typename Family::result_type> reduce_subset(const stream_ref& stream, X& x, Indices& indices,
                                                   source_location where) {
  typename Family::result_type value;
  GPU_TRY(call_subset(stream, x, indices, where,
                      [&](const named_call& call) { return reduce_named<Family>(call, &value); }));
  return value;
}
template <class Family, class X, class Indices, class Out>
result<> reduce_subset_into(const stream_ref& stream, X& x, Indices& indices, Out& out,
                            source_location where) {
  const reduction_output output = make_output("out", out);
  return call_subset(stream, x, indices, where, [&](const named_call& call) {
    return reduce_named_into<Family>(call, &output);
  });
}

/// Finds the smallest or the largest of the chosen elements.
template <template <class, class, int> class Family, class X, class Indices>
result<argument_element<X>> subset_extreme(const stream_ref& stream, X& x, Indices& indices,
                                           source_location where) {
  using element = argument_element<X>;
  check_ordered<element>();
  return reduce_subset<Family<argument_element<Indices>, element, rank_of<X>>>(stream, x, indices,
                                                                               where);
}
/// Stores that of each segment.
template <template <class, class, int> class Family, class X, class Indices, class Out>
result<> subset_extremes(const stream_ref& stream, X& x, Indices& indices, Out& out,
                         source_location where) {
  using element = argument_element<X>;
  check_extremes<element, Out>();
  return reduce_subset_into<Family<argument_element<Indices>, element, rank_of<X>>>(
      stream, x, indices, out, where);
}

template <class X, class Y, class Indices, class R>
using subset_dot_of = subset_dot_family<argument_element<Indices>, argument_element<X>, rank_of<X>,
                                        argument_element<Y>, rank_of<Y>, R>;

}  // namespace detail

/// Returns the sum of the elements of `x` that `indices` chooses: of `x[indices[k]]` for each k. An
/// index that occurs twice counts twice.
///
/// Both are device memory or views; an index into a view counts in C order. Indices are of 32 or 64
/// bits, from 0 to one less than `x` has elements. They are read on the device and not checked:
/// what lies outside of `x` is read if there is memory, and else the kernel faults. (On the CPU
/// driver the access is reported with its address; `check_indices` finds it before.) Negative
/// indices do not count from the end.
/// Types and order are as for `sum`.
/// **Ordering**: after the work queued on the stream; waits for the result. **Errors**: as for
/// `sum`, and `errc::invalid_argument` if there are indices but no elements. **Cost**: as for
/// `sum`.
/// **Threads**: any number may call.
template <class R = void, class X, detail::range_or_view Indices>
auto subset_sum(const stream_ref& stream, X&& x, Indices&& indices,
                source_location where = source_location::current())
    -> result<detail::chosen_t<R, detail::sum_t<detail::argument_element<X>>>> {
  using from = detail::argument_element<X>;
  using to = detail::chosen_t<R, detail::sum_t<from>>;
  detail::check_combined<from, to>();
  using family =
      detail::subset_sum_family<detail::argument_element<Indices>, from, detail::rank_of<X>, to>;
  return detail::reduce_subset<family>(stream, x, indices, where);
}

/// Stores the sum of what each segment of `indices` chooses in an element of `out`. Segments are as
/// for `sum`. **Ordering**: after the work queued on the stream; does not wait. **Capture**:
/// allowed.
template <class X, detail::range_or_view Indices, detail::range_or_view Out>
result<> subset_sum(const stream_ref& stream, X&& x, Indices&& indices, Out&& out,
                    source_location where = source_location::current()) {
  using from = detail::argument_element<X>;
  using to = detail::stored_element_t<Out>;
  detail::check_combined<from, to>();
  using family =
      detail::subset_sum_family<detail::argument_element<Indices>, from, detail::rank_of<X>, to>;
  return detail::reduce_subset_into<family>(stream, x, indices, out, where);
}

/// Returns the sum of `x[k] * y[k]` for each k in `indices`. Complex numbers are not conjugated.
/// Otherwise as `subset_sum`, and types as for `dot`.
template <class R = void, class X, class Y, detail::range_or_view Indices>
auto subset_dot(const stream_ref& stream, X&& x, Y&& y, Indices&& indices,
                source_location where = source_location::current())
    -> result<detail::product_sum_t<R, X, Y>> {
  using to = detail::product_sum_t<R, X, Y>;
  detail::check_combined<detail::argument_element<X>, to>();
  detail::check_combined<detail::argument_element<Y>, to>();
  to value;
  GPU_TRY(detail::call_subset(stream, x, y, indices, where, [&](const detail::named_call& call) {
    return detail::reduce_named<detail::subset_dot_of<X, Y, Indices, to>>(call, &value);
  }));
  return value;
}

/// Stores the sum of products of what each segment of `indices` chooses in an element of `out`.
/// Otherwise as `subset_sum`.
template <class X, class Y, detail::range_or_view Indices, detail::range_or_view Out>
result<> subset_dot(const stream_ref& stream, X&& x, Y&& y, Indices&& indices, Out&& out,
                    source_location where = source_location::current()) {
  using to = detail::stored_element_t<Out>;
  detail::check_combined<detail::argument_element<X>, to>();
  detail::check_combined<detail::argument_element<Y>, to>();
  const detail::reduction_output output = detail::make_output("out", out);
  return detail::call_subset(stream, x, y, indices, where, [&](const detail::named_call& call) {
    return detail::reduce_named_into<detail::subset_dot_of<X, Y, Indices, to>>(call, &output);
  });
}

/// Returns the smallest of the elements of `x` that `indices` chooses; of no indices it is an
/// `errc::invalid_argument`. Otherwise as `min` and `subset_sum`.
template <class X, detail::range_or_view Indices>
auto subset_min(const stream_ref& stream, X&& x, Indices&& indices,
                source_location where = source_location::current())
    -> result<detail::argument_element<X>> {
  return detail::subset_extreme<detail::subset_min_family>(stream, x, indices, where);
}

/// Stores the smallest of what each segment of `indices` chooses in an element of `out`. Otherwise
/// as `min` and `subset_sum`.
template <class X, detail::range_or_view Indices, detail::range_or_view Out>
result<> subset_min(const stream_ref& stream, X&& x, Indices&& indices, Out&& out,
                    source_location where = source_location::current()) {
  return detail::subset_extremes<detail::subset_min_family>(stream, x, indices, out, where);
}

/// Returns the largest of the elements of `x` that `indices` chooses. Otherwise as `subset_min`.
template <class X, detail::range_or_view Indices>
auto subset_max(const stream_ref& stream, X&& x, Indices&& indices,
                source_location where = source_location::current())
    -> result<detail::argument_element<X>> {
  return detail::subset_extreme<detail::subset_max_family>(stream, x, indices, where);
}

/// Stores the largest of what each segment of `indices` chooses in an element of `out`. Otherwise
/// as `subset_min`.
template <class X, detail::range_or_view Indices, detail::range_or_view Out>
result<> subset_max(const stream_ref& stream, X&& x, Indices&& indices, Out&& out,
                    source_location where = source_location::current()) {
  return detail::subset_extremes<detail::subset_max_family>(stream, x, indices, out, where);
}

}}  // namespace gpu::v1
