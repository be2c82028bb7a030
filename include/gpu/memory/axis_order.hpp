#pragma once
/// \file
/// `axis_order`: which axis of an array is contiguous in memory.

namespace gpu { inline namespace v1 {

/// The order of the elements of an array in memory.
enum class axis_order : unsigned char {
  c,        ///< the last index is contiguous, as in C
  fortran,  ///< the first index is contiguous, as in Fortran
  keep,     ///< of functions that take a model: the axes are in the model's order
};

}}  // namespace gpu::v1
