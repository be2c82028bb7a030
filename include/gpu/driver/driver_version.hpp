#pragma once
/// \file
/// The versions of CUDA that the headers are from and that the driver supports.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/version.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>

namespace gpu { inline namespace v1 {

/// The CUDA version of the headers that the program was compiled with.
inline constexpr version headers_version = version::from_cuda(CUDA_VERSION);

/// Returns the newest CUDA version that the driver supports. (cuDriverGetVersion)
/// **Errors**: the reason why the driver is missing. **Capture**: not affected. **Threads**: any.
inline result<version> driver_version(source_location where = source_location::current()) noexcept {
  int number = 0;
  GPU_TRY(driver::call<&driver::entry_points::driver_get_version>(where, &number));
  return version::from_cuda(number);
}

}}  // namespace gpu::v1
