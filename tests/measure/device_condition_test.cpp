// Clocks and throttling by NVML: a stand-in for it, and none.

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/measure/detail/nvml.hpp>
#include <gpu/measure/device_condition.hpp>
#include <gpu/measure/measure.hpp>
#include <gpu/measure/measurement.hpp>

#include "support/results.hpp"

#include <string>
#include <utility>

namespace device_condition_test {

using test::says;
using test::value_of;

namespace {

/// What the stand-in for NVML says, and what was asked of it.
struct {
  int init_code, handle_code, clock_code;
  int users;  ///< inits less shutdowns
  std::string address;
  unsigned clock;
  unsigned long long reasons;
} stand_in;

gpu::detail::nvml_table stand_in_table() {
  stand_in = {};
  stand_in.clock = 1980;
  gpu::detail::nvml_table table{};
  table.init = [] {
    if (stand_in.init_code == 0) ++stand_in.users;
    return stand_in.init_code;
  };
  table.shutdown = [] { return --stand_in.users, 0; };
  table.error_string = [](int code) { return code == 6 ? "Not Found" : "Driver Not Loaded"; };
  table.get_handle = [](const char* address, void** handle) {
    stand_in.address = address;
    *handle = &stand_in;
    return stand_in.handle_code;
  };
  table.get_clock = [](void* device, int domain, unsigned* mhz) {
    if (device != &stand_in) return 2;
    *mhz = domain == 1 ? stand_in.clock : domain == 2 ? 3201u : 1u;
    return stand_in.clock_code;
  };
  table.get_max_clock = [](void*, int domain, unsigned* mhz) {
    *mhz = domain == 1 ? 1980 : 3201;
    return 0;
  };
  table.get_throttle_reasons = [](void*, unsigned long long* reasons) {
    *reasons = stand_in.reasons;
    return 0;
  };
  table.get_temperature = [](void*, int sensor, unsigned* celsius) {
    *celsius = sensor == 0 ? 47 : 0;
    return 0;
  };
  table.get_power = [](void*, unsigned* milliwatts) { return *milliwatts = 321500, 0; };
  return table;
}

}  // namespace

TEST_CASE("device_monitor: a reading is what NVML says", "[measure]") {
  const auto table = stand_in_table();
  const gpu::detail::scoped_nvml_table in_force(table);
  const gpu::device device = test::first_device();
  {
    gpu::device_monitor monitor = value_of(gpu::device_monitor::create(device));
    CHECK(stand_in.users == 1);
    CHECK(stand_in.address == value_of(device.pci_bus_id()).c_str());
    stand_in.reasons = 0x4 | 0x1;
    const gpu::device_condition found = monitor.read();
    CHECK(found.unknown.empty());
    CHECK(found.multiprocessor_mhz == 1980);
    CHECK(found.memory_mhz == 3201);
    CHECK(found.most_multiprocessor_mhz == 1980);
    CHECK(found.most_memory_mhz == 3201);
    CHECK(found.reasons == (gpu::throttle_reasons::power_cap | gpu::throttle_reasons::idle));
    CHECK(found.is_throttled());
    CHECK(found.temperature == 47);
    CHECK(found.power == Approx(321.5));
    stand_in.clock_code = 3;  // not supported
    CHECK(monitor.read().multiprocessor_mhz == 0);
    gpu::device_monitor moved(std::move(monitor));
    monitor = value_of(gpu::device_monitor::create(device));
    CHECK(stand_in.users == 2);
    CHECK(moved.read().temperature == 47);
  }
  CHECK(stand_in.users == 0);
}

TEST_CASE("device_monitor: several readings are the worst of them", "[measure]") {
  gpu::device_condition all, first, second, unknown;
  first.multiprocessor_mhz = 1500, first.temperature = 50, first.power = 100;
  first.reasons = gpu::throttle_reasons::idle | gpu::throttle_reasons::application_clocks;
  second.multiprocessor_mhz = 1200, second.temperature = 40, second.power = 200;
  second.memory_mhz = 800;
  unknown.unknown = gpu::text("no"), unknown.temperature = 99;
  all.add(first);
  CHECK_FALSE(all.is_throttled());
  all.add(unknown);
  second.reasons = gpu::throttle_reasons::hardware_thermal;
  all.add(second);
  CHECK(all.multiprocessor_mhz == 1200);
  CHECK(all.memory_mhz == 800);
  CHECK(all.temperature == 50);
  CHECK(all.power == 200);
  CHECK(all.is_throttled());
  CHECK((all.reasons & gpu::throttle_reasons::idle) == gpu::throttle_reasons::idle);
  for (int bit = 0; bit < 9; ++bit)
    CHECK(gpu::name_of(static_cast<gpu::throttle_reasons>(1 << bit)) != nullptr);
  CHECK(std::string(gpu::name_of(gpu::throttle_reasons::none)) == "none");
  CHECK(gpu::name_of(static_cast<gpu::throttle_reasons>(3)) == nullptr);
}

TEST_CASE("device_monitor: a reason is given where nothing can be read", "[measure]") {
  const gpu::device device = test::first_device();
  auto table = stand_in_table();
  const auto unknown = [&] {
    const gpu::device_monitor monitor = value_of(gpu::device_monitor::create(device));
    const gpu::device_condition found = monitor.read();
    CHECK(found.multiprocessor_mhz == 0);
    CHECK_FALSE(found.is_throttled());
    return std::string(found.unknown.c_str());
  };
  {
    const gpu::detail::scoped_nvml_table in_force(table);
    stand_in.init_code = 9;
    CHECK(unknown().find("NVML does not know the device at") == 0);
    CHECK(unknown().find("Driver Not Loaded") != std::string::npos);
    stand_in.init_code = 0;
    stand_in.handle_code = 6;
    CHECK(unknown().find("Not Found") != std::string::npos);
    CHECK(stand_in.users == 0);
  }
  gpu::detail::nvml_table none{};
  none.unavailable = gpu::errc::not_supported;
  none.unavailable_detail = "libnvidia-ml.so.1: cannot open shared object file";
  const gpu::detail::scoped_nvml_table in_force(none);
  CHECK(unknown() == "NVML cannot be used: libnvidia-ml.so.1: cannot open shared object file");
  none.unavailable_detail = nullptr;
  CHECK(unknown() == "NVML cannot be used");
}

TEST_CASE("device_monitor: NVML may go while it is in use", "[measure]") {
  const auto table = stand_in_table();
  gpu::device_monitor* const monitor = [&] {
    const gpu::detail::scoped_nvml_table in_force(table);
    return new gpu::device_monitor(value_of(gpu::device_monitor::create(test::first_device())));
  }();
  const gpu::detail::nvml_table none{};
  const gpu::detail::scoped_nvml_table in_force(none);
  CHECK(std::string(monitor->read().unknown.c_str()) == "NVML can no longer be used");
  delete monitor;  // calls nothing
}

TEST_CASE("device_monitor: the library of this machine, or the reason why there is none",
          "[measure]") {
  const gpu::device_monitor monitor = value_of(gpu::device_monitor::create(test::first_device()));
  const gpu::device_condition found = monitor.read();
  if (found.unknown.empty()) {
    CHECK(found.most_multiprocessor_mhz > 0);
  } else {
    INFO(found.unknown.c_str());
    CHECK(found.unknown.contains("NVML "));
  }
}

TEST_CASE("measure: clocks are read while work runs", "[measure]") {
  const auto table = stand_in_table();
  const gpu::detail::scoped_nvml_table in_force(table);
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  const auto measured = [&] {
    return value_of(gpu::measure(stream, {.least_samples = 1, .most_samples = 1},
                                 gpu::candidate("nothing", []() -> gpu::result<> {
                                   stand_in.clock = 990;
                                   stand_in.reasons = 0x20;
                                   return {};
                                 })));
  };
  const gpu::measurements found = measured();
  CHECK(found.condition.unknown.empty());
  CHECK(found.condition.multiprocessor_mhz == 990);
  CHECK(found.condition.reasons == gpu::throttle_reasons::software_thermal);
  CHECK(stand_in.users == 0);
  const gpu::detail::nvml_table none{};
  const gpu::detail::scoped_nvml_table instead(none);
  CHECK(measured().condition.unknown == "NVML cannot be used");
}

TEST_CASE("device_monitor: each call that fails is told", "[measure]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          GPU_TRY(gpu::device_monitor::create(GPU_TRY(gpu::device::get(0))));
          return {};
        }) == "");
}

}  // namespace device_condition_test
