#pragma once
/// \file
/// `device_properties`: all that a device says about itself, read once.

#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The counterpart of `cudaDeviceProp`: a plain value, whose members but the first four are named
/// and typed as in `device_attribute`.
struct device_properties {
  text name;                     ///< such as "NVIDIA H200"
  device_uuid uuid;              ///< no other device has it
  text pci_address;              ///< such as "0000:3b:00.0"
  std::size_t total_memory = 0;  ///< bytes
#define GPU_DEVICE_ATTRIBUTE(name, native, ...) __VA_ARGS__ name{};
#include <gpu/driver/detail/device_attribute.inc>
};

inline result<device_properties> device::properties(source_location where) const noexcept {
  constexpr std::size_t count = sizeof device_attribute_list / sizeof device_attribute_list[0];
  int values[count] = {};
  const detail::last_error_mark before;
  for (std::size_t i = 0; i < count; ++i) {
    const auto which = static_cast<CUdevice_attribute>(device_attribute_list[i].attribute);
    const result<> answered = driver::call<&driver::entry_points::device_get_attribute>(
        where, &values[i], which, native());
    const bool unknown = !answered.has_value() &&
                         answered.error().domain() == error_domain::driver &&
                         answered.error().code() == CUDA_ERROR_INVALID_VALUE;
    if (!answered.has_value() && !unknown) return detail::fail(answered.error());
    if (unknown) before.restore();
  }
  device_properties found;
  found.name = GPU_TRY(this->name(where));
  found.uuid = GPU_TRY(uuid(where));
  found.pci_address = GPU_TRY(pci_bus_id(where));
  found.total_memory = GPU_TRY(total_memory(where));
  const int* value = values;
#define GPU_DEVICE_ATTRIBUTE(name, native, ...) found.name = static_cast<__VA_ARGS__>(*value++);
#include <gpu/driver/detail/device_attribute.inc>
  return found;
}

}}  // namespace gpu::v1
