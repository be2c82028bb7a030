#pragma once
/// \file
/// Moved to `gpu/generated/snippet_options.hpp`; stays here for one release.

#include <gpu/generated/snippet_options.hpp>  // IWYU pragma: export
