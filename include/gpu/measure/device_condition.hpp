#pragma once
/// \file
/// `device_monitor`: reads clocks, throttling, temperature and power of a device, where NVML is.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/measure/detail/nvml.hpp>
#include <gpu/system/library_table.hpp>

#include <utility>

namespace gpu { inline namespace v1 {

/// The reasons for which a device runs below its highest clock; the bits are NVML's.
enum class throttle_reasons : unsigned long long {
  none = 0,
  idle = 0x1,                ///< nothing runs
  application_clocks = 0x2,  ///< the clocks were set by a user
  power_cap = 0x4,
  hardware_slowdown = 0x8,  ///< heat or power: one of the two below, on most devices
  sync_boost = 0x10,
  software_thermal = 0x20,
  hardware_thermal = 0x40,
  hardware_power_brake = 0x80,
  display_clocks = 0x100,
};
template <> inline constexpr bool is_flag_set<throttle_reasons> = true;

/// Returns the name of one reason, such as "power_cap"; null for any other value.
constexpr const char* name_of(throttle_reasons reason) noexcept {
  using enum throttle_reasons;
  return detail::find_name(reason, {{none, "none"},
                                    {idle, "idle"},
                                    {application_clocks, "application_clocks"},
                                    {power_cap, "power_cap"},
                                    {hardware_slowdown, "hardware_slowdown"},
                                    {sync_boost, "sync_boost"},
                                    {software_thermal, "software_thermal"},
                                    {hardware_thermal, "hardware_thermal"},
                                    {hardware_power_brake, "hardware_power_brake"},
                                    {display_clocks, "display_clocks"}});
}

/// The condition of a device at a moment, or over several readings. What the device does not report
/// stays 0.
struct device_condition {
  text unknown;                          ///< why nothing is known; empty if something is
  unsigned multiprocessor_mhz = 0;       ///< of several readings the lowest
  unsigned memory_mhz = 0;               ///< of several readings the lowest
  unsigned most_multiprocessor_mhz = 0;  ///< that the device can have
  unsigned most_memory_mhz = 0;          ///< that the device can have
  throttle_reasons reasons = {};         ///< of all readings
  unsigned temperature = 0;              ///< in degrees Celsius; of several readings the highest
  double power = 0;                      ///< in watts; of several readings the highest

  /// Returns whether the clocks were held down by heat, power or their like; not if the device was
  /// idle or a user has set its clocks.
  constexpr bool is_throttled() const noexcept {
    constexpr auto by_choice = throttle_reasons::idle | throttle_reasons::application_clocks |
                               throttle_reasons::display_clocks;
    return (static_cast<unsigned long long>(reasons) &
            ~static_cast<unsigned long long>(by_choice)) != 0;
  }

  /// Adds another reading.
  void add(const device_condition& other) noexcept {
    const auto least = [](unsigned a, unsigned b) { return a == 0 || (b != 0 && b < a) ? b : a; };
    if (!other.unknown.empty()) return;
    multiprocessor_mhz = least(multiprocessor_mhz, other.multiprocessor_mhz);
    memory_mhz = least(memory_mhz, other.memory_mhz);
    most_multiprocessor_mhz = other.most_multiprocessor_mhz;
    most_memory_mhz = other.most_memory_mhz;
    reasons = reasons | other.reasons;
    if (other.temperature > temperature) temperature = other.temperature;
    if (other.power > power) power = other.power;
  }
};

/// Reads the condition of one device through NVML (libnvidia-ml.so.1), which it keeps initialized
/// while it lives. Where NVML is not, or does not know the device, the readings say so. Move-only.
/// **Threads**: any; NVML locks. (nvmlInit, nvmlDeviceGetHandleByPciBusId, nvmlShutdown)
class device_monitor {
 public:
  /// **Errors**: those of `device::pci_bus_id`. A missing NVML is not an error.
  static result<device_monitor> create(
      device of, source_location where = source_location::current()) noexcept {
    const text address = GPU_TRY(of.pci_bus_id(where));
    const detail::library_use<detail::nvml_library> use;
    const detail::nvml_table& nvml = detail::library_table<detail::nvml_library>();
    device_monitor made;
    if (nvml.init == nullptr) {
      detail::text_builder out;
      out << "NVML cannot be used";
      if (nvml.unavailable_detail != nullptr) out << ": " << nvml.unavailable_detail;
      made.unknown_ = out.finish();
      return made;
    }
    int code = nvml.init();
    made.initialized_ = code == 0;
    if (code == 0) code = nvml.get_handle(address.c_str(), &made.handle_);
    if (code != 0) {
      detail::text_builder out;
      out << "NVML does not know the device at " << address << ": " << nvml.error_string(code);
      made.unknown_ = out.finish();
    }
    return made;
  }

  device_monitor(device_monitor&& other) noexcept
      : handle_{other.handle_},
        initialized_{std::exchange(other.initialized_, false)},
        unknown_{std::move(other.unknown_)} {}
  device_monitor& operator=(device_monitor&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(initialized_, other.initialized_);
    std::swap(unknown_, other.unknown_);
    return *this;
  }
  ~device_monitor() {
    const detail::library_use<detail::nvml_library> use;
    if (!initialized_) return;
    const detail::nvml_table& nvml = detail::library_table<detail::nvml_library>();
    if (nvml.shutdown != nullptr) nvml.shutdown();
  }

  /// Reads the condition now, in some 10 us. Does not touch the CUDA driver.
  /// (nvmlDeviceGetClockInfo, nvmlDeviceGetCurrentClocksThrottleReasons, nvmlDeviceGetTemperature,
  /// nvmlDeviceGetPowerUsage)
  device_condition read() const noexcept {
    device_condition found;
    found.unknown = unknown_;
    const detail::library_use<detail::nvml_library> use;
    const detail::nvml_table& nvml = detail::library_table<detail::nvml_library>();
    if (!unknown_.empty() || !initialized_ || nvml.get_clock == nullptr) {
      if (unknown_.empty()) found.unknown = text("NVML can no longer be used");
      return found;
    }
    const auto get = [&](auto function, auto kind, unsigned& value) {
      unsigned answer = 0;
      if (function(handle_, kind, &answer) == 0) value = answer;
    };
    get(nvml.get_clock, detail::nvml_multiprocessor_clock, found.multiprocessor_mhz);
    get(nvml.get_clock, detail::nvml_memory_clock, found.memory_mhz);
    get(nvml.get_max_clock, detail::nvml_multiprocessor_clock, found.most_multiprocessor_mhz);
    get(nvml.get_max_clock, detail::nvml_memory_clock, found.most_memory_mhz);
    get(nvml.get_temperature, detail::nvml_gpu_sensor, found.temperature);
    unsigned long long reasons = 0;
    unsigned milliwatts = 0;
    if (nvml.get_throttle_reasons(handle_, &reasons) == 0)
      found.reasons = static_cast<throttle_reasons>(reasons);
    if (nvml.get_power(handle_, &milliwatts) == 0) found.power = milliwatts * 1e-3;
    return found;
  }

 private:
  device_monitor() noexcept = default;

  void* handle_ = nullptr;
  bool initialized_ = false;
  text unknown_;
};

}}  // namespace gpu::v1
