#pragma once
/// \file
/// Moved to `gpu/sparse/linear_operator.hpp`; stays here for one release.

#include <gpu/sparse/linear_operator.hpp>  // IWYU pragma: export
