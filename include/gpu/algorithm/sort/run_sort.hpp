#pragma once
/// \file
/// Sorts keys, and values with them.

#include <gpu/algorithm/sort/sort_kernel.hpp>
#include <gpu/core/detail/compiled.hpp>  // IWYU pragma: keep
#include <gpu/core/result.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Sorts, in one block or in sweeps over all keys, as the number of keys suggests.
stable_result run_sort(const sort_request& request);

}}}  // namespace gpu::v1::detail

#if !defined(GPU_COMPILED)
#  include <gpu/algorithm/sort/run_sort_inl.hpp>  // IWYU pragma: keep
#endif
