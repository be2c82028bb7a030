#pragma once
/// \file
/// Moved to `gpu/sparse/coo_matrix.hpp`; stays here for one release.

#include <gpu/sparse/coo_matrix.hpp>  // IWYU pragma: export
