#pragma once
/// \file
/// `outer`, the products of all pairs of two vectors, and `trace`, the sum of a diagonal.

#include <gpu/algorithm/sum.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/view_shape.hpp>  // IWYU pragma: keep
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T> struct outer_family;

}  // namespace detail

/// Makes a matrix of the products of all elements of two vectors: `(i, j)` is `a(i) * b(j)`. As
/// NumPy's `outer`; complex numbers are not conjugated, the product of `bool` is "and".
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**: the reason of a
/// faulty view; `errc::wrong_context`; `errc::empty_handle`; CUDA_ERROR_OUT_OF_MEMORY. **Cost**:
/// one launch. **Capture**: allowed; the memory then belongs to the graph.
template <detail::viewable A, detail::viewable B>
  requires(detail::viewed_rank<A> == 1 && detail::viewed_rank<B> == 1)
auto outer(const stream_ref& stream, A&& a, B&& b,
           source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, 2>> {
  constexpr const char* function = "gpu::outer";
  using element = detail::value_of_view<A>;
  static_assert(std::same_as<element, detail::value_of_view<B>>,
                "gpu::outer: both vectors have elements of one type; convert one with gpu::assign");
  static_assert(detail::number<element>, "gpu::outer: the elements are numbers");
  const auto x = detail::array_view_of(static_cast<A&&>(a));
  const auto y = detail::array_view_of(static_cast<B&&>(b));
  GPU_TRY(detail::require_operand(function, stream, "the first operand", x, a, where));
  GPU_TRY(detail::require_operand(function, stream, "the second operand", y, b, where));
  const shape<2> extents{x.extent(0), y.extent(0)};
  auto made = GPU_TRY((gpu::empty<element>(stream, extents, where)));
  const detail::loop_operand out = detail::operand_of(made.view(), made);
  const detail::loop_operand column =
      detail::make_operand(gpu::broadcast_to(gpu::expand_dims(x, 1), extents));
  const detail::loop_operand row = detail::make_operand(gpu::broadcast_to(y, extents));
  const detail::loop_argument arguments[] = {{&out, nullptr}, {&column, nullptr}, {&row, nullptr}};
  GPU_TRY(
      (detail::run_shared<detail::outer_family<element>, element*, const element*, const element*>(
          {function, "gpu_outer", "out, x, y"}, stream, where,
          [] { return text("out[i] = x[i] * y[i]"); }, arguments)));
  return made;
}

/// Returns the sum of the elements of a diagonal of a matrix, number `diagonal` above the main one.
/// As NumPy's `trace`, with the type of `sum`.
/// **Ordering**: after the work queued on the stream; waits for the result. **Errors**, **Cost**:
/// as for `sum`.
template <detail::viewable A>
  requires(detail::viewed_rank<A> == 2)
auto trace(const stream_ref& stream, A&& a, std::ptrdiff_t diagonal = 0,
           source_location where = source_location::current())
    -> result<detail::sum_t<detail::value_of_view<A>>> {
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand("gpu::trace", stream, "the operand", view, a, where));
  return gpu::sum(stream, gpu::diagonal(view, diagonal), where);
}

}}  // namespace gpu::v1
