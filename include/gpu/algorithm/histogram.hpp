#pragma once
/// \file
/// `histogram`: counts the elements in each of several bins.

#include <gpu/algorithm/histogram/histogram_kernel.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>

#include <concepts>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

template <class X, class Counts>
histogram_request describe_histogram(const stream_ref& stream, X& x, bin_kind kind, Counts& counts,
                                     source_location where) noexcept {
  using element = std::remove_const_t<element_t<X>>;
  using count = element_t<Counts>;
  static_assert(sortable<element>,
                "gpu::histogram: elements are numbers of 8 to 64 bits (bool, integers, float, "
                "double, __half, __nv_bfloat16)");
  static_assert(index_type<count>,
                "gpu::histogram: counts are written, as std::uint32_t, std::int32_t, "
                "std::uint64_t or std::int64_t");
  return request_counts("gpu::histogram", stream, x, kind, counts, where);
}

}  // namespace detail

/// Counts the elements of `x` in bins of equal width between `low` and `high`, one for each element
/// of `counts`. Bin k has the elements from `low + k * width` up to, without, `low + (k + 1) *
/// width`, computed in double; `high` belongs to the last bin. Elements that are out of range, and
/// NaN, are not counted. These are the bins of `numpy.histogram(x.astype(float), len(counts), (low,
/// high))`, also at their edges. What `counts` held before is overwritten.
///
/// `x` is a device range of numbers that `sort` takes; integers of 64 bits count as the nearest
/// double. Counts are integers of 32 or 64 bits.
/// **Ordering**: after the work queued on the stream; does not wait.
/// **Errors**: `errc::invalid_argument` for no counts, for a range that is empty, not finite or too
/// small for that many bins, for counts of 32 bits that could overflow, and for memory that
/// overlaps; `errc::wrong_context`; `errc::empty_handle`; those of `compile` at the first call with
/// these types. **Cost**: a fill and a launch, which reads `x` once. Up to 12,288 bins are counted
/// in shared memory, more in global memory, which is slower. **Capture**: allowed. **Threads**: any
/// number may call.
template <device_range X, device_range Counts>
result<> histogram(const stream_ref& stream, X&& x, double low, double high, Counts&& counts,
                   source_location where = source_location::current()) {
  detail::histogram_request request =
      detail::describe_histogram(stream, x, detail::bin_kind::even, counts, where);
  request.low = low;
  request.high = high;
  return detail::run_even_histogram(request);
}

/// Counts the elements of `x` in the bins between neighboring `edges`: bin k has the elements from
/// `edges[k]` up to, without, `edges[k + 1]`; the last edge belongs to the last bin. As
/// `numpy.histogram(x, edges)`. Edges are a device range, one more than counts, of the type of the
/// elements, or `double`s.
/// **Precondition**: the edges do not decrease, and none is NaN. Otherwise the counts are
/// unspecified, but nothing else is written.
/// **Errors**: also `errc::size_mismatch` for another number of edges. **Cost**: also a binary
/// search for each element. Otherwise as for bins of equal width.
template <device_range X, device_range Edges, device_range Counts>
result<> histogram(const stream_ref& stream, X&& x, Edges&& edges, Counts&& counts,
                   source_location where = source_location::current()) {
  using element = std::remove_const_t<detail::element_t<X>>;
  using edge = std::remove_const_t<detail::element_t<Edges>>;
  constexpr bool same_type = std::same_as<element, edge>;
  static_assert(same_type || std::same_as<edge, double>,
                "gpu::histogram: edges have the type of the elements, or are doubles");
  detail::histogram_request request = detail::describe_histogram(
      stream, x, same_type ? detail::bin_kind::edges : detail::bin_kind::doubles, counts, where);
  request.edges = detail::name_elements("edges", edges);
  return detail::run_edge_histogram(request);
}

}}  // namespace gpu::v1
