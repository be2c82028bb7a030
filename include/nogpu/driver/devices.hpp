#pragma once
/// \file
/// Entry points: start-up, versions, names of errors, devices.

#include <gpu/core/error_code.hpp>
#include <gpu/driver/detail/driver_errors.hpp>
#include <nogpu/driver/device_attributes.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/error_strings.hpp>

#include <cuda.h>

#include <cstdio>
#include <cstring>

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult init(call& c, unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (c.driver.devices.empty()) return CUDA_ERROR_NO_DEVICE;
  c.driver.initialized = true;
  return CUDA_SUCCESS;
}

inline CUresult driver_get_version(call&, int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = driver_version;
  return CUDA_SUCCESS;
}

inline CUresult get_error_name(call&, CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = gpu::detail::find_name(gpu::detail::driver_code_names, static_cast<int>(error));
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUresult get_error_string(call&, CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = error_string(static_cast<int>(error));
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUresult device_get_count(call& c, int* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(c.driver.devices.size());
  return CUDA_SUCCESS;
}

inline CUresult device_get(call& c, CUdevice* device, int ordinal) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  device_state* found = nullptr;
  if (const CUresult bad = c.find_device(ordinal, found)) return bad;
  *device = ordinal;
  return CUDA_SUCCESS;
}

inline CUresult device_get_name(call& c, char* name, int length, CUdevice device) {
  device_state* found = nullptr;
  if (const CUresult bad = c.find_device(device, found)) return bad;
  if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, static_cast<std::size_t>(length), "%s", device_name);
  return CUDA_SUCCESS;
}

inline CUresult device_get_uuid(call& c, CUuuid* uuid, CUdevice device) {
  device_state* found = nullptr;
  if (const CUresult bad = c.find_device(device, found)) return bad;
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  static constexpr char text[] = "gpu cpu driver ";
  static_assert(sizeof text == sizeof uuid->bytes);
  std::memcpy(uuid->bytes, text, sizeof uuid->bytes);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}

inline CUresult device_total_mem(call& c, std::size_t* bytes, CUdevice device) {
  device_state* found = nullptr;
  if (const CUresult bad = c.find_device(device, found)) return bad;
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *bytes = found->memory;
  return CUDA_SUCCESS;
}

inline CUresult device_get_attribute(call& c, int* value, CUdevice_attribute attribute,
                                     CUdevice device) {
  device_state* found = nullptr;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(device, found)) return bad;
  return device_attribute(attribute, device, *value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUresult device_get_pci_bus_id(call& c, char* text, int length, CUdevice device) {
  device_state* found = nullptr;
  if (const CUresult bad = c.find_device(device, found)) return bad;
  constexpr int needed = 13;  // 0000:18:00.0 and its end
  if (text == nullptr || length < needed) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0",
                static_cast<unsigned>(pci_bus(device)) & 0xffu);
  return CUDA_SUCCESS;
}

inline CUresult device_get_by_pci_bus_id(call& c, CUdevice* device, const char* text) {
  if (device == nullptr || text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  unsigned function = 0;
  // [domain:]bus:device[.function], all hexadecimal
  const int whole = std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function);
  if (whole < 3) {
    domain = 0;
    function = 0;
    if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return CUDA_ERROR_INVALID_VALUE;
  }
  for (const auto& each : c.driver.devices) {
    if (domain == 0 && slot == 0 && function == 0 &&
        bus == static_cast<unsigned>(pci_bus(each->ordinal))) {
      *device = each->ordinal;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

inline CUresult device_can_access_peer(call& c, int* can, CUdevice device, CUdevice peer) {
  device_state* found = nullptr;
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(device, found)) return bad;
  if (const CUresult bad = c.find_device(peer, found)) return bad;
  *can = device != peer;
  return CUDA_SUCCESS;
}

inline CUresult device_get_p2p_attribute(call& c, int* value, CUdevice_P2PAttribute attribute,
                                         CUdevice source, CUdevice destination) {
  device_state* found = nullptr;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = c.find_device(source, found)) return bad;
  if (const CUresult bad = c.find_device(destination, found)) return bad;
  if (source == destination) return CUDA_ERROR_INVALID_DEVICE;
  switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *value = 1; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
      *value = 0;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}}}  // namespace nogpu::v1::driver::entry
