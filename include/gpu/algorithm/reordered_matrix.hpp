#pragma once
/// \file
/// Moved to `gpu/sparse/reordered_matrix.hpp`; stays here for one release.

#include <gpu/sparse/reordered_matrix.hpp>  // IWYU pragma: export
