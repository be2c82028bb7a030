#pragma once
/// \file
/// Moved to `gpu/memory/shape.hpp`; stays here for one release.

#include <gpu/memory/shape.hpp>  // IWYU pragma: export
