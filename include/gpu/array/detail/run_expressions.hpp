#pragma once
/// \file
/// Evaluates expressions.

#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_launch.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/core/detail/compiled.hpp>  // IWYU pragma: keep
#include <gpu/core/result.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Stores the shape of an expression in `extents`.
stable_result find_extents(const evaluation& call, const expression_ref& e, std::size_t* extents);

/// Evaluates expressions, each into its target, in one kernel, and in others before for each
/// reduction in them. All targets have the same shape.
stable_result run_expressions(const evaluation& call, const expression_target* targets,
                              std::size_t count, evaluation_step step);

}}}  // namespace gpu::v1::detail

#if !defined(GPU_COMPILED)
#  include <gpu/array/detail/run_expressions_inl.hpp>  // IWYU pragma: keep
#endif
