#pragma once
/// \file
/// The version of nvJitLink that was found.

#include <gpu/compiler/toolkit/library_calls.hpp>
#include <gpu/compiler/toolkit/nvjitlink_entry_points.hpp>
#include <gpu/core/version.hpp>

namespace gpu::inline v0 {

/// The version of the run-time linker; 12.0 where it is so old that it cannot tell.
/// (nvJitLinkVersion)
/// **Errors**: `errc::no_nvjitlink`, with where it was looked for; `errc::nvjitlink_too_old`.
inline result<version> nvjitlink_version(
    source_location where = source_location::current()) noexcept {
  using table = nvjitlink::entry_points;
  if (nvjitlink::is_available() && nvjitlink::current_entry_points().version == nullptr) {
    return version{12, 0};
  }
  unsigned major = 0, minor = 0;
  GPU_TRY(detail::library_call<&table::version>(where, &major, &minor));
  return version{static_cast<int>(major), static_cast<int>(minor)};
}

}  // namespace gpu::inline v0
