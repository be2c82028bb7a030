#pragma once
/// \file
/// Moved to `gpu/memory/slice.hpp`; stays here for one release.

#include <gpu/memory/slice.hpp>  // IWYU pragma: export
