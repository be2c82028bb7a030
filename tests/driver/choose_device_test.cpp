#include <gpu/driver/choose_device.hpp>

#include "support/captured.hpp"

#include <cstdlib>

namespace choose_device_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

/// Sets GPU_DEVICE for a scope.
class chosen_by_environment {
 public:
  explicit chosen_by_environment(const std::string& value) {
    const char* set = std::getenv("GPU_DEVICE");
    if (set != nullptr) before_ = set;
    was_set_ = set != nullptr;
    ::setenv("GPU_DEVICE", value.c_str(), 1);
  }
  chosen_by_environment(const chosen_by_environment&) = delete;
  chosen_by_environment& operator=(const chosen_by_environment&) = delete;
  ~chosen_by_environment() {
    if (was_set_) {
      ::setenv("GPU_DEVICE", before_.c_str(), 1);
    } else {
      ::unsetenv("GPU_DEVICE");
    }
  }

 private:
  std::string before_;
  bool was_set_ = false;
};

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
  for (const char* nonsense : {"", "GPU", "GPU-", "GPU-xyz", "MIG-1"}) {
    CHECK(error_of(gpu::find_device_by_uuid(nonsense)) == gpu::errc::invalid_argument);
  }
  CHECK(error_of(gpu::find_device_by_uuid((uuid + "0").c_str())) == gpu::errc::invalid_argument);
  const gpu::cuda_error null = error_of(gpu::find_device_by_uuid(nullptr));
  CHECK(null == gpu::errc::invalid_argument);
  CHECK(says(null, "0 of", "begins with \"\"", "nvidia-smi -L"));
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
  for (const std::string& name :
       {std::string(""), std::string("0"), std::string(value_of(first.pci_bus_id()).c_str()),
        uuid_text(value_of(first.uuid()))}) {
    INFO(name);
    const chosen_by_environment chosen(name);
    CHECK(value_of(gpu::default_device()) == first);
  }
  {
    const chosen_by_environment chosen("99999");
    CHECK(error_of(gpu::default_device()) == gpu::errc::index_out_of_range);
  }
  for (const char* nonsense : {"first", "-1", "1x", "99999999999999999999"}) {
    const chosen_by_environment chosen(nonsense);
    const gpu::cuda_error error = error_of(gpu::default_device());
    CHECK(!(error == gpu::errc::no_driver));
    CHECK(says(error, "devic"));
  }
}

TEST_CASE("choose_device: every call that fails is told", "[driver][device]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          GPU_TRY(gpu::choose_device({.memory_pools = true, .managed_memory = false}));
          return {};
        }) == "");
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const std::string uuid = uuid_text(GPU_TRY(device.uuid()));
          GPU_TRY(gpu::find_device_by_uuid(uuid.c_str()));
          GPU_TRY(gpu::default_device());
          return {};
        }) == "");
}

}  // namespace choose_device_test
