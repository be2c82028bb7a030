#pragma once
/// \file
/// Moved to `gpu/sparse/conjugate_gradient.hpp`; stays here for one release.

#include <gpu/sparse/conjugate_gradient.hpp>  // IWYU pragma: export
