#pragma once
/// \file
/// All of tensor_copy: tensor maps, and `<gpu/tensor_copy.hpp>` for device code. Not in `gpu.hpp`,
/// because programs that use the bulk copy engine are few.

// IWYU pragma: begin_exports
#include <gpu/tensor_copy/im2col_wide_map.hpp>
#include <gpu/tensor_copy/tensor_map.hpp>
#include <gpu/tensor_copy/tensor_map_options.hpp>
// IWYU pragma: end_exports
