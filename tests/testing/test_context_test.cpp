// The fixture of tests that need a device, and the reason to skip those that need a GPU.

#include <gpu/driver/context.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/testing/test_context.hpp>

#include "support/drivers.hpp"
#include "support/environment_setting.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <string>

namespace test_context_test {

using gpu::testing::test_context;
using test::value_of;

TEST_CASE("test_context: a test has a context of its own, and leaves nothing", "[testing][cpu]") {
  const test::own_cpu_driver driver;
  const gpu::context_ref before = value_of(gpu::context::current());
  const std::size_t held = driver.held();
  unsigned long long first = 0;
  for (int round = 0; round < 2; ++round) {
    const test_context fixture;
    REQUIRE(fixture.missing().empty());
    CHECK(value_of(gpu::context::current()) == fixture.context());
    CHECK(fixture.device().native() == 0);
    const auto buffer = value_of(gpu::device_buffer<int>::create(fixture.context(), 10));
    const unsigned long long id = value_of(fixture.context().id());
    CHECK(id != first);
    first = id;
  }
  CHECK(value_of(gpu::context::current()) == before);
  CHECK(driver.held() == held);
}

TEST_CASE("test_context: without a device it says what is missing", "[testing][cpu]") {
  const test::own_cpu_driver driver;
  const auto with = [&](auto change) {
    gpu::driver::entry_points table = driver.table();
    change(table);
    const gpu::driver::scoped_entry_points in_force(table);
    const test_context fixture;
    return fixture.missing();
  };
  CHECK(with([](auto& table) {
          table.device_get_count = [](int* count) { return *count = 0, CUDA_SUCCESS; };
        }).find("device") != std::string::npos);
  CHECK(with([](auto& table) {
          table.ctx_push_current = [](CUcontext) { return CUDA_ERROR_UNKNOWN; };
        }).find("CUDA_ERROR_UNKNOWN") != std::string::npos);
  CHECK(driver.held() == 0);
}

TEST_CASE("test_context: what the end cannot do is reported", "[testing][cpu]") {
  const test::own_cpu_driver driver;
  gpu::driver::entry_points table = driver.table();
  static decltype(table.ctx_pop_current) real;
  real = table.ctx_pop_current;
  static bool fails;
  fails = false;
  table.ctx_pop_current = [](CUcontext* popped) {
    const CUresult code = real(popped);
    return fails ? CUDA_ERROR_UNKNOWN : code;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const test::reported_errors reported;
  {
    const test_context fixture;
    fails = true;
  }
  CHECK(reported.count() == 1);
  CHECK(reported.last().find("CUDA_ERROR_UNKNOWN") != std::string::npos);
}

TEST_CASE("why_no_gpu: tests that need a GPU are skipped elsewhere", "[testing]") {
  CHECK(gpu::testing::why_no_gpu().empty() == test::on_hardware());
  const test::own_cpu_driver driver;
  CHECK(gpu::testing::why_no_gpu().find("the test needs a GPU") == 0);
  gpu::driver::entry_points table = driver.table();
  table.device_get_name = [](char* name, int, CUdevice) {
    name[0] = 'H', name[1] = '\0';
    return CUDA_SUCCESS;
  };
  {
    const gpu::driver::scoped_entry_points in_force(table);
    CHECK(gpu::testing::why_no_gpu().empty());
  }
  table.device_get_name = [](char*, int, CUdevice) { return CUDA_ERROR_UNKNOWN; };
  {
    const gpu::driver::scoped_entry_points in_force(table);
    CHECK(gpu::testing::why_no_gpu().find("CUDA_ERROR_UNKNOWN") != std::string::npos);
  }
  const test::environment_setting missing("GPU_DEVICE", "77");
  CHECK(gpu::testing::why_no_gpu().find("GPU_DEVICE is \"77\"") != std::string::npos);
}

}  // namespace test_context_test
