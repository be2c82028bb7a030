#pragma once
/// \file
/// The definitions of run_expressions.hpp.

#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_launch.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/known_launches.hpp>
#include <gpu/array/detail/reduction_steps.hpp>
#include <gpu/core/detail/compiled.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/driver/stream.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Evaluates expressions of which some have reductions in them.
inline result<> run_with_reductions(const evaluation& call, const expression_target* targets,
                                    std::size_t count, evaluation_step step) {
  return catch_bad_alloc(call.function, call.where, [&]() -> result<> {
    reduction_steps steps;
    sequence<sequence<expression_word>> words;
    sequence<expression_target> rest;
    words.resize(count);
    for (std::size_t t = 0; t < count; ++t) {
      GPU_TRY(steps.add(call, targets[t].expression, words[t]));
      const expression_ref& own = targets[t].expression;
      rest.push_back({{words[t].data(), words[t].size(), own.kind, own.rank},
                      targets[t].out,
                      targets[t].kind});
    }
    // What does not fit is refused before anything runs.
    expression_layout layout;
    for (std::size_t t = 0; t < count; ++t)
      GPU_TRY(add_expression(call, rest[t].expression, layout));
    GPU_TRY(make_result(targets[0], layout));
    for (std::size_t t = 0; t < count; ++t) GPU_TRY(require_target(call, layout, *targets[t].out));
    const bool is_last = count == 1 && steps.is_last(words[0], targets[0]);
    bool is_written = false;
    GPU_TRY(steps.run(call, is_last ? targets[0].out : nullptr, is_written, step));
    if (is_written) return {};
    for (sequence<expression_word>& each : words) steps.fill(each);
    return run_in_one_kernel(call, rest.data(), count, step);
  });
}

GPU_DETAIL_INLINE stable_result run_expressions(const evaluation& call,
                                                const expression_target* targets, std::size_t count,
                                                evaluation_step step) {
  GPU_TRY(require(call.stream, call.function, call.where));
  if (count == 1 && step == evaluation_step::run) {
    if (GPU_TRY(known_launches::run(call, targets[0]))) return {};
  }
  for (std::size_t t = 0; t < count; ++t) {
    if (has_reduction(targets[t].expression))
      return run_with_reductions(call, targets, count, step);
  }
  return run_in_one_kernel(call, targets, count, step);
}

/// Takes an expression apart, in which others may be reduced, to find its shape.
inline result<> find_layout(const evaluation& call, const expression_ref& expression,
                            expression_layout& layout) {
  if (!has_reduction(expression)) return add_expression(call, expression, layout);
  return catch_bad_alloc(call.function, call.where, [&]() -> result<> {
    reduction_steps steps;
    sequence<expression_word> rest;
    GPU_TRY(steps.add(call, expression, rest));
    GPU_TRY(
        add_expression(call, {rest.data(), rest.size(), expression.kind, expression.rank}, layout));
    layout.slot_count = 0;  // they would refer to words that are gone
    return {};
  });
}

GPU_DETAIL_INLINE stable_result find_extents(const evaluation& call, const expression_ref& e,
                                             std::size_t* extents) {
  GPU_TRY(require(call.stream, call.function, call.where));
  expression_layout layout;
  GPU_TRY(find_layout(call, e, layout));
  for (int axis = 0; axis < layout.rank; ++axis) extents[axis] = layout.extents[axis];
  return {};
}

}}}  // namespace gpu::v1::detail
