#pragma once
/// \file
/// Describes elementwise kernels and launches them.

#include <gpu/core/detail/compiled.hpp>  // IWYU pragma: keep
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/snippet_options.hpp>
#include <gpu/memory/slice.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Fills in the snippet of an elementwise kernel, whose function and types of parameters are set.
stable_result describe_elementwise(loop_state& state, string_ref names, string_ref body,
                                   const snippet_options& options, source_location where);

/// Launches the kernel over all elements, or over a slice of the indices.
stable_result run_elementwise(const loop_call& call, const slice* range);

}}}  // namespace gpu::v1::detail

#if !defined(GPU_COMPILED)
#  include <gpu/algorithm/elementwise/run_elementwise_inl.hpp>  // IWYU pragma: keep
#endif
