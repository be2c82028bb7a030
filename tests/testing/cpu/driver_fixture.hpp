#pragma once
/// \file
/// A CPU driver for one test, with its table at hand and what it reported.

#include <gpu/testing/cpu_driver.hpp>

#include "support/catch.hpp"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// Options that collect reports and prints instead of showing them.
struct collected {
  std::mutex mutex;
  std::string reports;
  std::string prints;
};

inline gpu::testing::cpu_driver_options collecting(collected& into,
                                                   gpu::testing::cpu_driver_options options = {}) {
  options.report = [&into](std::string_view text) {
    const std::lock_guard lock(into.mutex);
    into.reports.append(text).append("\n");
  };
  options.print = [&into](std::string_view text) {
    const std::lock_guard lock(into.mutex);
    into.prints.append(text);
  };
  return options;
}

/// A driver whose device 0 has its primary context current on the calling thread.
struct driver_fixture {
  explicit driver_fixture(gpu::testing::cpu_driver_options options = {})
      : driver{collecting(output, std::move(options))}, cu{driver.entry_points()} {
    REQUIRE(cu.device_primary_ctx_retain(&context, 0) == CUDA_SUCCESS);
    REQUIRE(cu.ctx_push_current(context) == CUDA_SUCCESS);
  }
  ~driver_fixture() {
    CUcontext popped = nullptr;
    (void)cu.ctx_pop_current(&popped);
    (void)cu.device_primary_ctx_release(0);
  }
  driver_fixture(const driver_fixture&) = delete;
  driver_fixture& operator=(const driver_fixture&) = delete;

  collected output;
  gpu::testing::cpu_driver driver;
  const gpu::driver::entry_points& cu;
  CUcontext context = nullptr;
};

inline gpu::testing::cpu_driver_options deferred() {
  gpu::testing::cpu_driver_options options;
  options.mode = gpu::testing::execution::deferred;
  return options;
}

inline gpu::testing::cpu_driver_options with_threads(gpu::testing::cpu_driver_options options) {
  options.stream_threads = true;
  return options;
}

/// Every way in which a driver can do its work.
inline std::vector<gpu::testing::cpu_driver_options> all_modes() {
  return {{}, deferred(), with_threads({}), with_threads(deferred())};
}

}  // namespace test
