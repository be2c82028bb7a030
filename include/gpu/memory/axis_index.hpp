#pragma once
/// \file
/// Selectors of elements of a view besides indices and slices: `all()`, `ellipsis()`, `new_axis()`.

namespace gpu { inline namespace v1 {

namespace detail {

/// All elements of an axis.
struct all_elements {};

}  // namespace detail

/// Selects all elements of an axis of a view: NumPy's `:`.
constexpr detail::all_elements all() noexcept { return {}; }

/// Stands for all axes of a view that the other indices leave over: NumPy's `...`.
struct ellipsis {};

/// Adds an axis of 1 element to a view: NumPy's `newaxis`.
struct new_axis {};

}}  // namespace gpu::v1
