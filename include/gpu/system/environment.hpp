#pragma once
/// \file
/// Environment variables.

#include <stdlib.h>
#include <cstdlib>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns an environment variable's value, or null. Always returns null in a program that runs
/// with more rights than its user, who must not choose what it loads and where it writes.
inline const char* environment_variable(const char* name) noexcept { return ::secure_getenv(name); }

}}}  // namespace gpu::v1::detail
