#pragma once
/// \file
/// Arrays of any number of axes: made, copied, computed, printed and saved.
///
/// A program of several sources compiles the code of generated kernels once: it links the CMake
/// target `gpu::compiled`, or compiles gpu/gpu.cpp as one of its sources and defines `GPU_COMPILED`
/// for all of them. See docs/arrays.md.

// IWYU pragma: begin_exports
#include <gpu/array/array.hpp>
#include <gpu/array/assign_all.hpp>
#include <gpu/array/axes.hpp>
#include <gpu/array/color_map.hpp>
#include <gpu/array/compare.hpp>
#include <gpu/array/concatenate.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/cumulative.hpp>
#include <gpu/array/diff.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/array/formula.hpp>
#include <gpu/array/functions.hpp>
#include <gpu/array/index_along.hpp>
#include <gpu/array/leaf.hpp>
#include <gpu/array/matmul.hpp>
#include <gpu/array/meshgrid.hpp>
#include <gpu/array/nan_reductions.hpp>
#include <gpu/array/nonzero.hpp>
#include <gpu/array/npy.hpp>
#include <gpu/array/npz.hpp>
#include <gpu/array/operators.hpp>
#include <gpu/array/outer.hpp>
#include <gpu/array/pad.hpp>
#include <gpu/array/picture.hpp>
#include <gpu/array/put.hpp>
#include <gpu/array/quantile.hpp>
#include <gpu/array/reductions.hpp>
#include <gpu/array/repeat.hpp>
#include <gpu/array/roll.hpp>
#include <gpu/array/sorted.hpp>
#include <gpu/array/take.hpp>
#include <gpu/array/to_text.hpp>
#include <gpu/array/triangle.hpp>
#include <gpu/array/unique_values.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/array/view_elements.hpp>
#include <gpu/array/view_shape.hpp>
// IWYU pragma: end_exports
