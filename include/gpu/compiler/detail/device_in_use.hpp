#pragma once
/// \file
/// `get_device_in_use`: the device for which kernels are compiled if the caller names none.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Sets `device` to that of the thread's current context, or else to the first.
inline result<> get_device_in_use(CUdevice& device, source_location where) {
  using table = driver::entry_points;
  CUcontext current = nullptr;
  GPU_TRY(driver::call<&table::ctx_get_current>(where, &current));
  if (current != nullptr) return driver::call<&table::ctx_get_device>(where, &device);
  return driver::call<&table::device_get>(where, &device, 0);
}

}}}  // namespace gpu::v1::detail
