#pragma once
/// \file
/// The versions of the run-time compiler and of the run-time linker that were found.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/version.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

namespace gpu { inline namespace v1 {

/// Returns the version of NVRTC, the run-time compiler. (nvrtcVersion)
/// **Errors**: `errc::no_nvrtc`, with the folders that were searched; `errc::nvrtc_too_old`.
inline result<version> nvrtc_version(source_location where = source_location::current()) noexcept {
  version found;
  GPU_TRY(detail::library_call<&nvrtc::entry_points::version>(where, &found.major, &found.minor));
  return found;
}

/// Returns the version of nvJitLink, the run-time linker; 12.0 if it is too old to report one.
/// (nvJitLinkVersion)
/// **Errors**: `errc::no_nvjitlink`, with the folders that were searched;
/// `errc::nvjitlink_too_old`.
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

}}  // namespace gpu::v1
