#pragma once
/// \file
/// The functions of NVML, NVIDIA's management library, which comes with the driver: opened on first
/// use, and replaceable as a whole for tests.

#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/library_table.hpp>
#include <gpu/system/shared_library.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

struct nvml_library;

/// Pointers to the functions, with the types of NVML's header; all null without NVML.
struct nvml_table {
  using library = nvml_library;
  using device = void*;

  int (*init)();
  int (*shutdown)();
  const char* (*error_string)(int code);
  int (*get_handle)(const char* pci_bus_id, device* handle);
  int (*get_clock)(device, int domain, unsigned* mhz);
  int (*get_max_clock)(device, int domain, unsigned* mhz);
  int (*get_throttle_reasons)(device, unsigned long long* reasons);
  int (*get_temperature)(device, int sensor, unsigned* celsius);
  int (*get_power)(device, unsigned* milliwatts);

  errc unavailable;  ///< why all are null, or 0
  const char* unavailable_detail;
};

/// The values of NVML's enumerations.
inline constexpr int nvml_multiprocessor_clock = 1, nvml_memory_clock = 2, nvml_gpu_sensor = 0;

/// Describes NVML for `library_table`.
struct nvml_library {
  using table = nvml_table;
  static constexpr const char* name = "NVML";
  static constexpr errc absent = errc::not_supported, too_old = errc::not_supported;
  static constexpr library_function functions[] = {
      {"nvmlInit_v2", offsetof(table, init)},
      {"nvmlShutdown", offsetof(table, shutdown)},
      {"nvmlErrorString", offsetof(table, error_string)},
      {"nvmlDeviceGetHandleByPciBusId_v2", offsetof(table, get_handle)},
      {"nvmlDeviceGetClockInfo", offsetof(table, get_clock)},
      {"nvmlDeviceGetMaxClockInfo", offsetof(table, get_max_clock)},
      {"nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(table, get_throttle_reasons)},
      {"nvmlDeviceGetTemperature", offsetof(table, get_temperature)},
      {"nvmlDeviceGetPowerUsage", offsetof(table, get_power)}};

  static void* open(text_builder& looked_in) noexcept {
    constexpr const char* file = "libnvidia-ml.so.1";
    void* const opened = open_library(file);
    if (opened == nullptr) looked_in << open_library_failure();
    return opened;
  }
  static void* find_function(void* opened, const char* function) noexcept {
    return find_symbol<void*>(opened, function);
  }
  static bool accept(const table&, text_builder&) noexcept { return true; }
};

using scoped_nvml_table = scoped_library_table<nvml_library>;

}}}  // namespace gpu::v1::detail
