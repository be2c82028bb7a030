#pragma once
/// \file
/// `device_properties`: all that a device says about itself, read once.

#include <gpu/core/detail/last_error_mark.hpp>
#include <gpu/driver/device_attribute.hpp>

namespace gpu::inline v1 {

/// The counterpart of `cudaDeviceProp`: a plain value, whose members but the first four are named
/// and typed as in `device_attribute`.
struct device_properties {
  text name;                     ///< such as "NVIDIA H200"
  device_uuid uuid;              ///< no other device has it
  text pci_address;              ///< such as "0000:3b:00.0"
  std::size_t total_memory = 0;  ///< bytes
#define GPU_DEVICE_ATTRIBUTE(name, native, ...) __VA_ARGS__ name{};
#include <gpu/driver/detail/device_attribute.inc>

  /// Reads all properties. It takes 150 driver calls, about 10 us, so keep the answer. An attribute
  /// that the driver is too old to know stays 0.
  /// **Errors**: the driver's. **Capture**: not affected. **Threads**: any.
  /// (cuDeviceGetAttribute, cuDeviceGetName, cuDeviceGetUuid, cuDeviceGetPCIBusId,
  /// cuDeviceTotalMem)
  static result<device_properties> of(device asked,
                                      source_location where = source_location::current()) noexcept {
    constexpr std::size_t count = sizeof device_attribute_list / sizeof device_attribute_list[0];
    int values[count] = {};
    const detail::last_error_mark before;
    for (std::size_t i = 0; i < count; ++i) {
      const auto native = static_cast<CUdevice_attribute>(device_attribute_list[i].attribute);
      const result<> answered = driver::call<&driver::entry_points::device_get_attribute>(
          where, &values[i], native, asked.native());
      const bool unknown = !answered.has_value() &&
                           answered.error().domain() == error_domain::driver &&
                           answered.error().code() == CUDA_ERROR_INVALID_VALUE;
      if (!answered.has_value() && !unknown) return detail::fail(answered.error());
      if (unknown) before.restore();
    }
    device_properties found;
    found.name = GPU_TRY(asked.name(where));
    found.uuid = GPU_TRY(asked.uuid(where));
    found.pci_address = GPU_TRY(asked.pci_bus_id(where));
    found.total_memory = GPU_TRY(asked.total_memory(where));
    const int* value = values;
#define GPU_DEVICE_ATTRIBUTE(name, native, ...) found.name = static_cast<__VA_ARGS__>(*value++);
#include <gpu/driver/detail/device_attribute.inc>
    return found;
  }
};

}  // namespace gpu::inline v1
