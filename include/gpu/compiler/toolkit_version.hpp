#pragma once
/// \file
/// The version of NVRTC that was found.

#include <gpu/compiler/toolkit/library_calls.hpp>
#include <gpu/compiler/toolkit/nvrtc_entry_points.hpp>
#include <gpu/core/version.hpp>

namespace gpu::inline v0 {

/// The version of the run-time compiler. (nvrtcVersion)
/// **Errors**: `errc::no_nvrtc`, with where it was looked for; `errc::nvrtc_too_old`.
inline result<version> nvrtc_version(source_location where = source_location::current()) noexcept {
  version found;
  GPU_TRY(detail::library_call<&nvrtc::entry_points::version>(where, &found.major, &found.minor));
  return found;
}

}  // namespace gpu::inline v0
