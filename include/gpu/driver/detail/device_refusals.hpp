#pragma once
/// \file
/// Errors for requests that a device cannot meet: an ability that it lacks, or an attribute value
/// beyond its limits.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>

#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Fails with `errc::not_supported` if the device lacks an ability. `what` completes the sentence
/// "device 0 cannot ...", and says what to do instead. (cuDeviceGetAttribute)
inline result<> require_ability(const char* function, device on, CUdevice_attribute which,
                                const char* what, source_location where) noexcept {
  int has = 0;
  GPU_TRY(
      driver::call<&driver::entry_points::device_get_attribute>(where, &has, which, on.native()));
  if (has != 0) return {};
  text_builder out;
  out << "device " << on.native() << " cannot " << what;
  return fail(refusal(errc::not_supported, function, out.finish(), where));
}

/// Adds value and limit to the error of a stream or launch attribute, if the value is more than the
/// device allows. To be called after a failure only, since it asks the driver.
/// (cuDeviceGetAttribute)
inline cuda_error explain_excess(cuda_error error, CUlaunchAttributeID which,
                                 const CUlaunchAttributeValue& value, device on) noexcept {
  const bool is_window = which == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
  if ((!is_window && which != CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) ||
      error.domain() != error_domain::driver || error.code() != CUDA_ERROR_INVALID_VALUE)
    return error;
  const auto& map = value.memSyncDomainMap;
  const unsigned domain = map.default_ > map.remote ? map.default_ : map.remote;
  const std::uint64_t asked = is_window ? value.accessPolicyWindow.num_bytes : domain + 1u;
  int limit = 0;
  const result<> answered = driver::call<&driver::entry_points::device_get_attribute>(
      error.where(), &limit,
      is_window ? CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE
                : CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT,
      on.native());
  if (!answered.has_value() || asked <= static_cast<std::uint64_t>(limit))
    return record_error(std::move(error));
  text_builder out;
  if (is_window) {
    out << "an access policy window of " << asked << " bytes";
  } else {
    out << "domain " << domain << " of a memory_sync_domain_map, which takes " << asked
        << " domains,";
  }
  out << " is more than the " << limit << " of device " << on.native() << ". Use no more.";
  return record_error(std::move(error)
                          .with_details(out.finish())
                          .with_values(asked, static_cast<std::uint64_t>(limit)));
}

}}}  // namespace gpu::v1::detail
