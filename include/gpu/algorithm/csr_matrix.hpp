#pragma once
/// \file
/// Moved to `gpu/sparse/csr_matrix.hpp`; stays here for one release.

#include <gpu/sparse/csr_matrix.hpp>  // IWYU pragma: export
