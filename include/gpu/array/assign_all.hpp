#pragma once
/// \file
/// `assign_all`: several results from one kernel.

#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_launch.hpp>
#include <gpu/array/detail/run_expressions.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/core/located.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>

namespace gpu { inline namespace v1 {

/// Names where an expression goes, for `assign_all`.
template <detail::viewable Out, detail::evaluated A> auto into(Out&& out, A&& a) noexcept {
  return detail::make_assignment(static_cast<Out&&>(out), static_cast<A&&>(a));
}

/// Evaluates several expressions in one kernel, which loads shared operands once:
///
///     gpu::assign_all(stream, gpu::into(sum, x + y), gpu::into(difference, x - y));
///
/// All results are as if no element had been written before the last one was computed. They have
/// one shape, to which each expression is repeated. Otherwise as `assign`.
template <class... E>
result<> assign_all(located<stream_ref> stream, const detail::assignment<E>&... assignments) {
  static_assert(sizeof...(E) >= 1 && sizeof...(E) <= 16, "gpu::assign_all: 1 to 16 results");
  const detail::expression_target targets[] = {assignments.target()...};
  return detail::run_expressions({"gpu::assign_all", stream.value, stream.where}, targets,
                                 sizeof...(E), detail::evaluation_step::run);
}

}}  // namespace gpu::v1
