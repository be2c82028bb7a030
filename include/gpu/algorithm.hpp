#pragma once
/// \file
/// Everything in `gpu/algorithm/`: kernels that are generated from lines of text, and sparse
/// matrices.

// IWYU pragma: begin_exports
#include <gpu/algorithm/argmin.hpp>
#include <gpu/algorithm/bincount.hpp>
#include <gpu/algorithm/check_indices.hpp>
#include <gpu/algorithm/conjugate_gradient.hpp>
#include <gpu/algorithm/coo_matrix.hpp>
#include <gpu/algorithm/count.hpp>
#include <gpu/algorithm/csr_matrix.hpp>
#include <gpu/algorithm/dot.hpp>
#include <gpu/algorithm/elementwise.hpp>
#include <gpu/algorithm/gather.hpp>
#include <gpu/algorithm/histogram.hpp>
#include <gpu/algorithm/inclusive_scan.hpp>
#include <gpu/algorithm/inner_product.hpp>
#include <gpu/algorithm/linear_operator.hpp>
#include <gpu/algorithm/mean_variance.hpp>
#include <gpu/algorithm/min_max.hpp>
#include <gpu/algorithm/norm.hpp>
#include <gpu/algorithm/partition.hpp>
#include <gpu/algorithm/reduce_by_key.hpp>
#include <gpu/algorithm/reduction.hpp>
#include <gpu/algorithm/reordered_matrix.hpp>
#include <gpu/algorithm/run_length.hpp>
#include <gpu/algorithm/scan.hpp>
#include <gpu/algorithm/scatter.hpp>
#include <gpu/algorithm/search_sorted.hpp>
#include <gpu/algorithm/select.hpp>
#include <gpu/algorithm/snippet_options.hpp>
#include <gpu/algorithm/sort.hpp>
#include <gpu/algorithm/subset.hpp>
#include <gpu/algorithm/sum.hpp>
#include <gpu/algorithm/top_k.hpp>
#include <gpu/algorithm/unique.hpp>
// IWYU pragma: end_exports
