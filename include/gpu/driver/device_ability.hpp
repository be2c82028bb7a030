#pragma once
/// \file
/// The refusal of what a device cannot do.

#include <gpu/driver/device.hpp>

namespace gpu::inline v0::detail {

/// `errc::not_supported` where the device lacks an ability; `what` says which, as the sentence goes
/// on after "device 0 cannot ", and what to do instead. (cuDeviceGetAttribute)
inline result<> require_ability(const char* function, device on, CUdevice_attribute which,
                                const char* what, source_location where) noexcept {
  int has = 0;
  GPU_TRY(
      driver::call<&driver::entry_points::device_get_attribute>(where, &has, which, on.native()));
  if (has != 0) [[likely]]
    return {};
  text_builder out;
  out << "device " << on.native() << " cannot " << what;
  return fail(refusal(errc::not_supported, function, out.finish(), where));
}

}  // namespace gpu::inline v0::detail
