#pragma once
/// \file
/// Sparse matrices: their products, their order, and equations with them.

// IWYU pragma: begin_exports
#include <gpu/sparse/conjugate_gradient.hpp>
#include <gpu/sparse/coo_matrix.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/sparse/linear_operator.hpp>
#include <gpu/sparse/reordered_matrix.hpp>
// IWYU pragma: end_exports
