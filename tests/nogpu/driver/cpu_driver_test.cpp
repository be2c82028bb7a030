// The driver as an object: several at once, leaks with their places, life before and after; and the
// fixture of the other tests.

#include "support/cpu_driver.hpp"
#include "driver_fixture.hpp"

#include <unistd.h>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace test {

struct driver_fixture::state {
  explicit state(gpu::testing::cpu_driver_options options)
      : driver{collecting(std::move(options))} {}

  gpu::testing::cpu_driver_options collecting(gpu::testing::cpu_driver_options options) {
    options.report = [this](std::string_view text) {
      const std::lock_guard lock(mutex);
      reports.append(text).append("\n");
    };
    options.print = [this](std::string_view text) {
      const std::lock_guard lock(mutex);
      prints.append(text);
    };
    return options;
  }

  mutable std::mutex mutex;
  std::string reports;
  std::string prints;
  cpu_driver driver;
};

driver_fixture::driver_fixture(gpu::testing::cpu_driver_options options)
    : state_{std::make_unique<state>(std::move(options))}, cu{state_->driver.entry_points()} {
  REQUIRE(cu.device_primary_ctx_retain(&context, 0) == CUDA_SUCCESS);
  REQUIRE(cu.ctx_push_current(context) == CUDA_SUCCESS);
}

driver_fixture::~driver_fixture() {
  CUcontext popped = nullptr;
  (void)cu.ctx_pop_current(&popped);
  (void)cu.device_primary_ctx_release(0);
}

std::string driver_fixture::reports() const {
  const std::lock_guard lock(state_->mutex);
  return state_->reports;
}

std::string driver_fixture::prints() const {
  const std::lock_guard lock(state_->mutex);
  return state_->prints;
}

std::size_t driver_fixture::take_findings() const { return state_->driver.take_findings(); }

std::vector<std::string> driver_fixture::live() const { return state_->driver.live(); }

std::string driver_fixture::print_leaks() const {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  const std::size_t count = state_->driver.report_leaks();
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::rewind(file);
  std::string printed;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) printed += static_cast<char>(c);
  std::fclose(file);
  CHECK(count == state_->driver.live_count());
  return printed;
}

}  // namespace test

namespace cpu_driver_test {

using gpu::testing::cpu_driver_options;
using test::cpu_driver;

TEST_CASE("drivers know nothing of each other", "[cpu]") {
  cpu_driver_options large;
  large.devices = 3;
  large.memory_per_device = std::size_t{1} << 20;
  const cpu_driver first;
  const cpu_driver second(large);
  int count = 0;
  CHECK(first.entry_points().device_get_count(&count) == CUDA_SUCCESS);
  CHECK(count == 1);
  CHECK(second.entry_points().device_get_count(&count) == CUDA_SUCCESS);
  CHECK(count == 3);
  CUcontext context = nullptr;
  REQUIRE(first.entry_points().device_primary_ctx_retain(&context, 0) == CUDA_SUCCESS);
  CHECK(second.entry_points().ctx_push_current(context) != CUDA_SUCCESS);
  REQUIRE(first.entry_points().ctx_push_current(context) == CUDA_SUCCESS);
  CUcontext current = context;
  CHECK(second.entry_points().ctx_get_current(&current) == CUDA_SUCCESS);
  CHECK(current == nullptr);
}

TEST_CASE("there is a limit to how many drivers are alive, and it is told", "[cpu]") {
  std::vector<std::unique_ptr<cpu_driver>> drivers;
  for (std::size_t i = 0; i <= cpu_driver::limit(); ++i)
    drivers.push_back(std::make_unique<cpu_driver>());
  const auto& table = drivers.back()->entry_points();
  CHECK(table.init == nullptr);
  CHECK(table.unavailable == gpu::errc::no_driver);
  const auto freed = drivers.front()->entry_points().init;
  drivers.front().reset();
  CHECK(freed(0) == CUDA_ERROR_DEINITIALIZED);
  const cpu_driver again;
  CHECK(again.entry_points().init != nullptr);
}

TEST_CASE("a driver that was not initialized says so", "[cpu]") {
  cpu_driver_options options = test::with_places();
  options.initialized = false;
  const cpu_driver driver(options);
  const auto& cu = driver.entry_points();
  int value = 0;
  CHECK(cu.device_get_count(&value) == CUDA_ERROR_NOT_INITIALIZED);
  CHECK(cu.driver_get_version(&value) == CUDA_SUCCESS);
  CHECK(value == 13000);
  const char* name = nullptr;
  CHECK(cu.get_error_name(CUDA_ERROR_NOT_INITIALIZED, &name) == CUDA_SUCCESS);
  CHECK(std::string(name) == "CUDA_ERROR_NOT_INITIALIZED");
  CHECK(cu.init(1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.init(0) == CUDA_SUCCESS);
  CHECK(cu.device_get_count(&value) == CUDA_SUCCESS);

  options.devices = 0;
  const cpu_driver empty(options);
  CHECK(empty.entry_points().init(0) == CUDA_ERROR_NO_DEVICE);
}

TEST_CASE("every member of the table is there", "[cpu]") {
  const cpu_driver driver;
  const auto* first = reinterpret_cast<const char*>(&driver.entry_points());
  for (std::size_t i = 0; i < gpu::driver::entry_point_count; ++i) {
    const gpu::driver::entry_point_info entry = gpu::driver::entry_point_list[i];
    void* function = nullptr;
    std::memcpy(&function, first + entry.offset, sizeof function);
    INFO(entry.name);
    CHECK(function != nullptr);
  }
}

TEST_CASE("what is not given back is listed with the place that made it", "[cpu][places]") {
  test::driver_fixture f(test::with_places());
  CHECK(f.live().empty());
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  void* pinned = nullptr;
  const int line = __LINE__ + 1;
  REQUIRE(f.cu.mem_alloc(&memory, 1000) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_create(&stream, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.event_create(&event, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_host(&pinned, 10) == CUDA_SUCCESS);
  const std::vector<std::string> list = f.live();
  REQUIRE(list.size() == 4);
  const std::string place = "cpu_driver_test.cpp:" + std::to_string(line);
  bool found = false;
  for (const std::string& each : list) {
    INFO(each);
    CHECK(each.find("cpu_driver_test.cpp:") != std::string::npos);
    found = found || (each.find("device memory of 1000 bytes") == 0 &&
                      each.find(place) != std::string::npos);
  }
  CHECK(found);
  CHECK(f.cu.mem_free(memory) == CUDA_SUCCESS);
  CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
  CHECK(f.cu.event_destroy(event) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free_host(pinned) == CUDA_SUCCESS);
  CHECK(f.live().empty());
}

TEST_CASE("a driver may end while work is waiting", "[cpu]") {
  for (const auto& mode : test::all_modes()) {
    auto driver = std::make_unique<cpu_driver>(mode);
    const auto cu = driver->entry_points();
    CUcontext context = nullptr;
    CUdeviceptr memory = 0;
    CUstream stream = nullptr;
    REQUIRE(cu.device_primary_ctx_retain(&context, 0) == CUDA_SUCCESS);
    REQUIRE(cu.ctx_push_current(context) == CUDA_SUCCESS);
    REQUIRE(cu.stream_create(&stream, 0) == CUDA_SUCCESS);
    REQUIRE(cu.mem_alloc_async(&memory, 1 << 16, stream) == CUDA_SUCCESS);
    for (int i = 0; i < 20; ++i)
      CHECK(cu.memset_d8_async(memory, 1, 1 << 16, stream) == CUDA_SUCCESS);
    driver.reset();
    CHECK(cu.stream_synchronize(stream) == CUDA_ERROR_DEINITIALIZED);
  }
}

}  // namespace cpu_driver_test
