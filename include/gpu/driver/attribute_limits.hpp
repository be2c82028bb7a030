#pragma once
/// \file
/// What is said of an attribute of a stream or a launch that is more than the device allows.

#include <gpu/driver/device.hpp>

namespace gpu::inline v0::detail {

/// Says of a value that the driver did not take that it is more than the device allows, where it
/// is. A call for failures alone, so that the good case asks nothing. (cuDeviceGetAttribute)
[[gnu::cold, gnu::noinline]] inline cuda_error with_excess(cuda_error error,
                                                           CUlaunchAttributeID which,
                                                           const CUlaunchAttributeValue& value,
                                                           device on) noexcept {
  const bool is_window = which == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
  if ((!is_window && which != CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) ||
      error.domain() != error_domain::driver || error.code() != CUDA_ERROR_INVALID_VALUE)
    return error;
  const auto& map = value.memSyncDomainMap;
  const unsigned domain = map.default_ > map.remote ? map.default_ : map.remote;
  const std::uint64_t asked = is_window ? value.accessPolicyWindow.num_bytes : domain + 1u;
  int limit = 0;
  const result<> told = driver::call<&driver::entry_points::device_get_attribute>(
      error.where(), &limit,
      is_window ? CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE
                : CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT,
      on.native());
  if (!told.has_value() || asked <= static_cast<std::uint64_t>(limit))
    return record_error(detail::move(error));
  text_builder out;
  if (is_window) {
    out << "an access policy window of " << asked << " bytes";
  } else {
    out << "domain " << domain << " of a memory_sync_domain_map, which takes " << asked
        << " domains,";
  }
  out << " is more than the " << limit << " of device " << on.native() << ". Use no more.";
  return record_error(detail::move(error)
                         .with_details(out.finish())
                         .with_values(asked, static_cast<std::uint64_t>(limit)));
}

}  // namespace gpu::inline v0::detail
