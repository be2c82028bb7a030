#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/choose_device.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>

#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/environment_setting.hpp"
#include "support/host_memory.hpp"
#include "support/results.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

namespace choose_device_test {

using test::environment_setting;
using test::error_of;
using test::says;
using test::value_of;

namespace {

/// As nvidia-smi writes it.
std::string uuid_text(const gpu::device_uuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(uuid.bytes[i]));
    text += digits;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

}  // namespace

TEST_CASE("choose_device: without requirements any device will do", "[driver][device]") {
  const gpu::device chosen = value_of(gpu::choose_device());
  CHECK(chosen.native() >= 0);
  CHECK(chosen.native() < value_of(gpu::device::count()));
}

TEST_CASE("choose_device: the device meets what was asked", "[driver][device]") {
  const gpu::device first = test::first_device();
  const gpu::compute_capability has = value_of(first.compute_capability());
  const gpu::device chosen = value_of(
      gpu::choose_device({.compute_capability = has, .total_memory = 1, .multiprocessors = 1}));
  CHECK(value_of(chosen.compute_capability()) >= has);
}

TEST_CASE("choose_device: a device that lacks something is not chosen without host memory",
          "[driver][device][cpu]") {
  if (!test::failing_allocation::possible()) return;
  const test::own_cpu_driver driver({.devices = 2});
  for (const bool lasting : {false, true}) {
    bool happened = true;
    for (std::size_t n = 0; happened; ++n) {
      CAPTURE(lasting, n);
      const test::failing_allocation failing(n, {.lasting = lasting});
      const auto chosen = gpu::choose_device({.compute_capability = {99, 0},
                                              .total_memory = std::size_t{1} << 60,
                                              .multiprocessors = 100000});
      happened = failing.happened();
      const test::spared_allocations spared;
      const gpu::cuda_error error = error_of(chosen);
      CHECK((error == gpu::errc::not_supported || error == gpu::errc::out_of_host_memory));
    }
  }
}

TEST_CASE("choose_device: the faster of two that will do", "[driver][device][cpu]") {
  test::own_cpu_driver driver({.devices = 3});
  // Device 1 has more multiprocessors than the others, device 2 no memory pools.
  static const gpu::driver::entry_points* real;
  real = &driver.table();
  gpu::driver::entry_points table = driver.table();
  table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice device) {
    const CUresult code = real->device_get_attribute(value, which, device);
    if (which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT && device == 1) *value += 1;
    if (which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT && device == 2) *value += 2;
    if (which == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED && device == 2) *value = 0;
    return code;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  CHECK(value_of(gpu::choose_device()).native() == 2);
  CHECK(value_of(gpu::choose_device({.memory_pools = true})).native() == 1);
}

TEST_CASE("choose_device: of equals the first", "[driver][device][cpu]") {
  test::own_cpu_driver driver({.devices = 3});
  CHECK(value_of(gpu::choose_device({.cooperative_launch = true})).native() == 0);
}

TEST_CASE("choose_device: a refusal says what each device lacks", "[driver][device]") {
  const gpu::cuda_error error =
      error_of(gpu::choose_device({.compute_capability = {99, 0}, .multiprocessors = 1000000}));
  CHECK(error == gpu::errc::not_supported);
  CHECK(says(error, "device 0", "compute capability", "of 99.0", "multiprocessors", "of 1000000",
             "Ask for less", "choose_device_test.cpp"));
}

TEST_CASE("choose_device: a compute capability has a minor number", "[driver][device][cpu]") {
  test::own_cpu_driver driver({.devices = 3});
  static const gpu::driver::entry_points* real;
  real = &driver.table();
  gpu::driver::entry_points table = driver.table();
  table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice device) {
    const CUresult code = real->device_get_attribute(value, which, device);
    if (which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *value = 8;
    if (which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) *value = 3 * device;
    return code;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  CHECK(value_of(gpu::choose_device({.compute_capability = {8, 0}})).native() == 0);
  CHECK(value_of(gpu::choose_device({.compute_capability = {8, 1}})).native() == 1);
  CHECK(value_of(gpu::choose_device({.compute_capability = {8, 6}})).native() == 2);
  const gpu::cuda_error error = error_of(gpu::choose_device({.compute_capability = {8, 7}}));
  CHECK(says(error, "compute capability 8.0 of 8.7", "compute capability 8.3 of 8.7",
             "compute capability 8.6 of 8.7"));
}

TEST_CASE("choose_device: shared memory is what a block can opt in to", "[driver][device]") {
  int most = 0;
  for (CUdevice device = 0; device < test::device_count(); ++device) {
    int has = 0;
    REQUIRE(test::driver().device_get_attribute(
                &has, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device) ==
            CUDA_SUCCESS);
    most = std::max(most, has);
  }
  const auto all = static_cast<std::size_t>(most);
  const gpu::device chosen = value_of(gpu::choose_device({.shared_memory_per_block = all}));
  CHECK(value_of(chosen.limits()).shared_memory_opt_in == all);
  const gpu::cuda_error error = error_of(gpu::choose_device({.shared_memory_per_block = all + 1}));
  const std::string lack =
      "shared memory per block " + std::to_string(all) + " bytes of " + std::to_string(all + 1);
  CHECK(says(error, lack.c_str()));
}

TEST_CASE("choose_device: memory is asked for in bytes", "[driver][device]") {
  const std::size_t all = value_of(test::first_device().total_memory());
  CHECK(value_of(gpu::choose_device({.total_memory = all})).native() >= 0);
  const gpu::cuda_error error = error_of(gpu::choose_device({.total_memory = ~std::size_t{0}}));
  CHECK(says(error, "memory", std::to_string(all).c_str(), "18446744073709551615"));
}

TEST_CASE("find_device_by_uuid: whole or in part, as nvidia-smi writes it", "[driver][device]") {
  const gpu::device first = test::first_device();
  const std::string uuid = uuid_text(value_of(first.uuid()));
  CHECK(value_of(gpu::find_device_by_uuid(uuid.c_str())) == first);
  std::string large = uuid;
  for (std::size_t i = 4; i < large.size(); ++i) {
    if (large[i] >= 'a') large[i] = static_cast<char>(large[i] - 'a' + 'A');
  }
  CHECK(value_of(gpu::find_device_by_uuid(large.c_str())) == first);

  std::string other = uuid;
  other[4] = other[4] == '0' ? '1' : '0';
  const gpu::cuda_error unknown = error_of(gpu::find_device_by_uuid(other.c_str()));
  CHECK(unknown == gpu::errc::invalid_argument);
  CHECK(says(unknown, "0 of", other.c_str(), "nvidia-smi -L"));
  for (const char* nonsense : {"", "GPU", "GPU-", "GPU--", "GPU-xyz", "MIG-1"}) {
    CHECK(error_of(gpu::find_device_by_uuid(nonsense)) == gpu::errc::invalid_argument);
  }
  CHECK(error_of(gpu::find_device_by_uuid((uuid + "0").c_str())) == gpu::errc::invalid_argument);
  const gpu::cuda_error null = error_of(gpu::find_device_by_uuid(nullptr));
  CHECK(null == gpu::errc::invalid_argument);
  CHECK(says(null, "0 of", "begins with \"\"", "nvidia-smi -L"));
}

TEST_CASE("find_device_by_uuid: every digit counts", "[driver][device][cpu]") {
  test::own_cpu_driver driver({.devices = 1});
  gpu::driver::entry_points table = driver.table();
  table.device_get_uuid = [](CUuuid* uuid, CUdevice) {
    *uuid = {{0x01, 0x23, 0x45, 0x67, char(0x89), char(0xab), char(0xcd), char(0xef)}};
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  for (const char* uuid :
       {"GPU-01234567-89ab-cdef-0000-000000000000", "GPU-01234567-89AB-CDEF-0000-000000000000",
        "GPU-0", "GPU-01234567-89abcdef"}) {
    INFO(uuid);
    CHECK(value_of(gpu::find_device_by_uuid(uuid)).native() == 0);
  }
}

TEST_CASE("find_device_by_uuid: allowed during a capture", "[driver][device][capture]") {
  const gpu::device first = test::first_device();
  const std::string uuid = uuid_text(value_of(first.uuid()));
  const gpu::stream stream = value_of(gpu::stream::create(first));
  const test::captured made = test::capture(
      stream, [&] { CHECK(value_of(gpu::find_device_by_uuid(uuid.c_str())) == first); });
  CHECK(made.unharmed());
  CHECK(made.nodes == 0);
}

TEST_CASE("find_device_by_uuid: a beginning that two devices share is refused",
          "[driver][device][cpu]") {
  test::own_cpu_driver driver({.devices = 2});
  const std::string first = uuid_text(value_of(value_of(gpu::device::get(0)).uuid()));
  const std::string second = uuid_text(value_of(value_of(gpu::device::get(1)).uuid()));
  std::size_t shared = 0;
  while (shared < first.size() && first[shared] == second[shared]) ++shared;
  REQUIRE(shared < first.size());
  CHECK(value_of(gpu::find_device_by_uuid(second.substr(0, shared + 1).c_str())).native() == 1);
  if (shared > 4) {
    const gpu::cuda_error error = error_of(gpu::find_device_by_uuid(second.substr(0, 5).c_str()));
    CHECK(says(error, "2 of 2"));
  }
}

TEST_CASE("default_device: what the environment names", "[driver][device]") {
  const gpu::device first = test::first_device();
  const environment_setting no_choice("GPU_DEVICE", ""), no_other("CUDA_DEVICE", "");
  CHECK(value_of(gpu::default_device()) == first);
  for (const char* variable : {"GPU_DEVICE", "CUDA_DEVICE"}) {
    const auto named = [&](const std::string& value) {
      const environment_setting chosen(variable, value);
      return gpu::default_device();
    };
    const auto refused = [&](const std::string& value, gpu::errc code, auto... words) {
      const gpu::cuda_error error = error_of(named(value));
      const std::string beginning = std::string(variable) + " is \"" + value + '"';
      return error == code && says(error, beginning.c_str(), words...) &&
             says(error_of(gpu::take_last_error()), beginning.c_str());
    };
    for (const std::string& name :
         {std::string("0"), std::string(value_of(first.pci_bus_id()).c_str()),
          uuid_text(value_of(first.uuid()))}) {
      INFO(name);
      CHECK(value_of(named(name)) == first);
    }
    CHECK(refused("99999", gpu::errc::index_out_of_range, "devices"));
    for (const char* nonsense : {"first", "-1", "1x", "99999999999999999999", "~"}) {
      CHECK(refused(nonsense, gpu::errc::invalid_argument, "which does not name a device",
                    "0000:3b:00.0", "Set it to an index such as 0", "GPU-8f6d2a71"));
    }
    CHECK(refused("ffff:ff:1f.0", gpu::errc::invalid_argument, "no device is at"));
    CHECK(refused("GPU-xyz", gpu::errc::invalid_argument, "nvidia-smi -L"));
  }
}

TEST_CASE("default_device: GPU_DEVICE comes before CUDA_DEVICE", "[driver][device][cpu]") {
  test::own_cpu_driver driver({.devices = 3});
  const environment_setting other("CUDA_DEVICE", "2");
  {
    const environment_setting chosen("GPU_DEVICE", "1");
    CHECK(value_of(gpu::default_device()).native() == 1);
  }
  const environment_setting empty("GPU_DEVICE", "");
  CHECK(value_of(gpu::default_device()).native() == 2);
}

TEST_CASE("default_device: a file in the home directory comes after the environment",
          "[driver][device][cpu]") {
  test::own_cpu_driver driver({.devices = 3});
  const test::temporary_home home;
  const environment_setting no_choice("GPU_DEVICE", ""), no_other("CUDA_DEVICE", "");
  CHECK(value_of(gpu::default_device()).native() == 0);
  home.write(".cuda-device", "2\n");
  CHECK(value_of(gpu::default_device()).native() == 2);
  home.write(".cuda_device", " \t1 \r\n");  // which PyCUDA reads
  CHECK(value_of(gpu::default_device()).native() == 1);
  {
    const environment_setting chosen("CUDA_DEVICE", "0");
    CHECK(value_of(gpu::default_device()).native() == 0);
  }
  for (const char* nonsense : {"", "\n", "one", "1 2", "7"}) {
    INFO(nonsense);
    home.write(".cuda_device", nonsense);
    CHECK(says(error_of(gpu::default_device()), "/.cuda_device holds \""));
  }
  home.write(".cuda_device", value_of(value_of(gpu::device::get(2)).pci_bus_id()).c_str());
  CHECK(value_of(gpu::default_device()).native() == 2);
  home.make_folder(".cuda_device");
  const gpu::cuda_error error = error_of(gpu::default_device());
  CHECK(error == gpu::errc::file_error);
  CHECK(says(error, "/.cuda_device\" could not be read", "choose_device_test.cpp"));
}

TEST_CASE("choose_device: every call that fails is told", "[driver][device]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          GPU_TRY(gpu::choose_device({.memory_pools = true, .managed_memory = false}));
          return {};
        }) == "");
  const test::temporary_home home;
  home.write(".cuda_device", "0");
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const std::string uuid = uuid_text(GPU_TRY(device.uuid()));
          GPU_TRY(gpu::find_device_by_uuid(uuid.c_str()));
          GPU_TRY(gpu::default_device());
          const auto place = GPU_TRY(device.pci_bus_id());
          for (const char* name : {uuid.c_str(), "0", place.c_str()}) {
            const environment_setting chosen("GPU_DEVICE", name);
            GPU_TRY(gpu::default_device());
          }
          return {};
        }) == "");
}

}  // namespace choose_device_test
