// A context on the device that is named, or on the first that can be used.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/default_context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>

#include "support/drivers.hpp"
#include "support/environment_setting.hpp"
#include "support/results.hpp"

#include <vector>

namespace default_context_test {

using test::environment_setting;
using test::error_of;
using test::says;
using test::value_of;

namespace {

/// The environment of a user who has chosen no device.
struct nothing_chosen {
  test::temporary_home home;
  environment_setting gpu_device{"GPU_DEVICE", ""}, cuda_device{"CUDA_DEVICE", ""};
};

/// A driver whose devices below `unusable` cannot have contexts.
struct taken_devices {
  static inline const gpu::driver::entry_points* real;
  static inline CUdevice unusable;

  explicit taken_devices(CUdevice first_usable) {
    real = &driver.table();
    unusable = first_usable;
    table.ctx_create = [](CUcontext* context, CUctxCreateParams* parameters, unsigned flags,
                          CUdevice device) {
      return device < unusable ? CUDA_ERROR_DEVICE_UNAVAILABLE
                               : real->ctx_create(context, parameters, flags, device);
    };
  }

  test::own_cpu_driver driver{{.devices = 3}};
  gpu::driver::entry_points table = driver.table();
  gpu::driver::scoped_entry_points in_force{table};
};

}  // namespace

TEST_CASE("default_context: the device is the one that is named", "[driver][context][cpu]") {
  const nothing_chosen nothing;
  const taken_devices taken(1);
  nothing.home.write(".cuda_device", "1");
  CHECK(value_of(gpu::default_context()).device().native() == 1);
  const environment_setting chosen("CUDA_DEVICE", "2");
  CHECK(value_of(gpu::default_context()).device().native() == 2);
  const environment_setting unusable("CUDA_DEVICE", "0");
  const gpu::cuda_error error = error_of(gpu::default_context());
  CHECK(error.code() == CUDA_ERROR_DEVICE_UNAVAILABLE);  // no other device is tried
  const environment_setting missing("CUDA_DEVICE", "3");
  CHECK(says(error_of(gpu::default_context()), "CUDA_DEVICE is \"3\"", "default_context_test.cpp"));
}

TEST_CASE("default_context: without a name every device has its turn", "[driver][context][cpu]") {
  const nothing_chosen nothing;
  {
    const taken_devices taken(2);
    static_cast<void>(gpu::take_last_error());
    const gpu::context made = value_of(gpu::default_context());
    CHECK(made.device().native() == 2);
    CHECK(value_of(gpu::context::current()).native() == nullptr);
    CHECK(gpu::take_last_error().has_value());  // nothing went wrong
  }
  const taken_devices all(3);
  const gpu::cuda_error error = error_of(gpu::default_context());
  CHECK(error.code() == CUDA_ERROR_DEVICE_UNAVAILABLE);
  CHECK(says(error, "none of the 3 devices can be used",
             "device 0: ", "device 1: ", "device 2: ", "default_context_test.cpp"));
}

TEST_CASE("default_context: the context is what the caller makes", "[driver][context][cpu]") {
  const nothing_chosen nothing;
  const test::own_cpu_driver driver({.devices = 2});
  std::vector<CUdevice> tried;
  const gpu::context_ref primary =
      value_of(gpu::default_context([&](gpu::device on) -> gpu::result<gpu::context_ref> {
        tried.push_back(on.native());
        if (on.native() == 0) return gpu::unexpected(error_of(gpu::device::get(9)));
        return gpu::context::primary(on);
      }));
  CHECK(tried == std::vector<CUdevice>{0, 1});
  CHECK(primary == value_of(gpu::context::primary(primary.device())));
  CHECK(primary.device().native() == 1);
}

TEST_CASE("default_context: no device, and every call that fails is told",
          "[driver][context][cpu]") {
  const nothing_chosen nothing;
  CHECK(test::sweep([]() -> gpu::result<> {
          GPU_TRY(gpu::default_context());
          return {};
        }) == "");
  const test::own_cpu_driver driver;
  gpu::driver::entry_points table = driver.table();
  table.device_get_count = [](int* count) { return *count = 0, CUDA_SUCCESS; };
  const gpu::driver::scoped_entry_points in_force(table);
  CHECK(error_of(gpu::default_context()) == gpu::errc::index_out_of_range);
}

}  // namespace default_context_test
