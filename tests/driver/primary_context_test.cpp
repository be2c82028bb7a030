#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/driver/driver_version.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/l2_cache.hpp>
#include <gpu/driver/primary_context.hpp>
#include <gpu/driver/profiler.hpp>
#include <gpu/driver/remote_writes.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <cstddef>
#include <string>

namespace primary_context_control_test {

using test::error_of;
using test::says;
using test::value_of;

TEST_CASE("primary context: its state is the driver's", "[driver][context]") {
  const gpu::device device = test::first_device();
  value_of(gpu::context::primary(device));
  unsigned flags = 0;
  int active = 0;
  REQUIRE(test::driver().device_primary_ctx_get_state(device.native(), &flags, &active) ==
          CUDA_SUCCESS);
  const gpu::primary_context_state state = value_of(gpu::get_primary_context_state(device));
  CHECK(state.active);
  CHECK(active == 1);
  CHECK(static_cast<unsigned>(state.flags) == flags);
}

TEST_CASE("primary context: nobody has it before it is used", "[driver][context][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  CHECK_FALSE(value_of(gpu::get_primary_context_state(device)).active);
  value_of(gpu::context::primary(device));
  CHECK(value_of(gpu::get_primary_context_state(device)).active);
}

TEST_CASE("primary context: its flags can be set and are kept", "[driver][context]") {
  const gpu::device device = test::first_device();
  const gpu::context_flags before = value_of(gpu::get_primary_context_state(device)).flags;
  for (const auto wanted :
       {gpu::context_flags::spin, gpu::context_flags::yield, gpu::context_flags::blocking_sync,
        gpu::context_flags::none, gpu::context_flags::keep_local_memory}) {
    REQUIRE(gpu::set_primary_context_flags(device, wanted).has_value());
    unsigned flags = 0;
    int active = 0;
    REQUIRE(test::driver().device_primary_ctx_get_state(device.native(), &flags, &active) ==
            CUDA_SUCCESS);
    CHECK((flags & CU_CTX_SCHED_MASK) == (static_cast<unsigned>(wanted) & CU_CTX_SCHED_MASK));
    CHECK(static_cast<unsigned>(value_of(gpu::get_primary_context_state(device)).flags) == flags);
  }
  CHECK(gpu::set_primary_context_flags(device, before).has_value());
}

TEST_CASE("primary context: after a reset the next use makes it anew", "[driver][context][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::context_ref before = value_of(gpu::context::primary(device));
  const unsigned long long id = value_of(before.id());
  REQUIRE(gpu::reset_primary_context(device).has_value());
  CHECK_FALSE(value_of(gpu::get_primary_context_state(device)).active);
  const gpu::context_ref after = value_of(gpu::context::primary(device));
  CHECK(value_of(gpu::get_primary_context_state(device)).active);
  CHECK(after.synchronize().has_value());
  CHECK(value_of(after.id()) != id);
  // The library holds one reference, as before: giving that up ends the context.
  REQUIRE(driver.table().device_primary_ctx_release(device.native()) == CUDA_SUCCESS);
  CHECK_FALSE(value_of(gpu::get_primary_context_state(device)).active);
}

TEST_CASE("primary context: a reset ends what others retain, and what lives in it",
          "[driver][context][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  CUcontext of_others = nullptr;
  REQUIRE(driver.table().device_primary_ctx_retain(&of_others, device.native()) == CUDA_SUCCESS);
  const gpu::context_ref context = value_of(gpu::context::primary(device));
  const std::size_t before = driver.live_objects();
  CUdeviceptr address = 0;
  {
    const gpu::context_scope scope = value_of(gpu::context_scope::enter(context));
    REQUIRE(driver.table().mem_alloc(&address, 64) == CUDA_SUCCESS);
  }
  CHECK(driver.live_objects() == before + 1);
  REQUIRE(gpu::reset_primary_context(device).has_value());
  CHECK(driver.live_objects() == before);
  CHECK_FALSE(value_of(gpu::get_primary_context_state(device)).active);
  CHECK(driver.table().device_primary_ctx_release(device.native()) == CUDA_SUCCESS);
}

TEST_CASE("primary context: a reset of one that was never used is no error",
          "[driver][context][cpu]") {
  test::own_cpu_driver driver;
  CHECK(gpu::reset_primary_context(test::first_device()).has_value());
}

TEST_CASE("profiler: a range starts and stops", "[driver][profiler]") {
  static int started, stopped;
  static const gpu::driver::entry_points* real;
  started = stopped = 0;
  const gpu::driver::entry_points before = test::driver();
  real = &before;
  gpu::driver::entry_points table = before;
  table.profiler_start = [] {
    ++started;
    return real->profiler_start();
  };
  table.profiler_stop = [] {
    ++stopped;
    return real->profiler_stop();
  };
  const gpu::driver::scoped_entry_points in_force(table);
  {
    const gpu::profiler_range range = value_of(gpu::profiler_range::start());
    CHECK(started == 1);
    CHECK(stopped == 0);
  }
  CHECK(stopped == 1);
  CHECK(gpu::start_profiler().has_value());
  CHECK(gpu::stop_profiler().has_value());
  CHECK(started == 2);
  CHECK(stopped == 2);
}

TEST_CASE("profiler: a range that cannot begin is an error, and one that cannot end is reported",
          "[driver][profiler][faults]") {
  // Its destructor has nobody else to tell.
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::profiler_range range = GPU_TRY(gpu::profiler_range::start());
              return {};
            },
            {"cuProfilerStop", "cuCtxGetCurrent", "cuCtxPushCurrent"}) == "");
  gpu::driver::entry_points failing = test::driver();
  failing.profiler_stop = [] { return CUDA_ERROR_NOT_PERMITTED; };
  const gpu::driver::scoped_entry_points in_force(failing);
  test::reported_errors reported;
  {
    const gpu::profiler_range range = value_of(gpu::profiler_range::start());
  }
  CHECK(reported.count() == 1);
  CHECK(reported.last().find("cuProfilerStop: CUDA_ERROR_NOT_PERMITTED") != std::string::npos);
}

TEST_CASE("remote writes: flushed where the device can, else told", "[driver][context]") {
  const gpu::device device = test::first_device();
  const gpu::context_ref context = value_of(gpu::context::primary(device));
  const bool can = gpu::has(
      value_of(gpu::attribute<gpu::device_attribute::gpu_direct_rdma_flush_writes_options>(device)),
      gpu::rdma_flush_options::host);
  for (const auto scope :
       {gpu::remote_writes_scope::owner, gpu::remote_writes_scope::all_devices}) {
    const gpu::result<> flushed = gpu::flush_remote_writes(context, scope);
    CHECK(flushed.has_value() == can);
    if (!can) CHECK(flushed.error().code() == CUDA_ERROR_NOT_SUPPORTED);
  }
  CHECK(error_of(gpu::flush_remote_writes(gpu::context_ref{})) == gpu::errc::empty_handle);
  const gpu::cuda_error none =
      error_of(gpu::flush_remote_writes(context, static_cast<gpu::remote_writes_scope>(7)));
  CHECK(none == gpu::errc::invalid_argument);
  CHECK(says(none, "7 is not a valid gpu::remote_writes_scope"));
}

TEST_CASE("remote writes: the scope arrives, and each call may fail", "[driver][context][cpu]") {
  static int scope_seen;
  const test::own_cpu_driver driver;
  gpu::driver::entry_points able = driver.table();
  able.flush_gpu_direct_rdma_writes = [](CUflushGPUDirectRDMAWritesTarget target,
                                         CUflushGPUDirectRDMAWritesScope scope) {
    scope_seen = scope;
    return target == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_INVALID_VALUE;
  };
  gpu::testing::fault_injection faults(able);
  const gpu::driver::scoped_entry_points in_force(faults.entry_points());
  const gpu::context_ref context = value_of(gpu::context::primary(test::first_device()));
  for (const auto scope :
       {gpu::remote_writes_scope::owner, gpu::remote_writes_scope::all_devices}) {
    const auto flush = [&] { return gpu::flush_remote_writes(context, scope); };
    CHECK(gpu::testing::sweep_faults(faults, flush).text() == "");
    CHECK(scope_seen == static_cast<int>(scope));
  }
}

TEST_CASE("l2 cache: what persists can be given up", "[driver][context]") {
  const gpu::context_ref primary = value_of(gpu::context::primary(test::first_device()));
  const gpu::context other = value_of(gpu::context::create(test::first_device()));
  const gpu::context_scope elsewhere = value_of(gpu::context_scope::enter(other));
  static CUcontext context;
  static const gpu::driver::entry_points* real;
  real = &test::driver();
  context = nullptr;
  gpu::driver::entry_points noting = test::driver();
  noting.ctx_reset_persisting_l2_cache = [] {
    CHECK(real->ctx_get_current(&context) == CUDA_SUCCESS);
    return real->ctx_reset_persisting_l2_cache();
  };
  const gpu::driver::scoped_entry_points in_force(noting);
  CHECK(gpu::reset_persisting_l2_cache(primary).has_value());
  CHECK(context == primary.native());
  CHECK(error_of(gpu::reset_persisting_l2_cache(gpu::context_ref{})) == gpu::errc::empty_handle);
}

TEST_CASE("primary context: every call that fails is told", "[driver][context]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          GPU_TRY(gpu::get_primary_context_state(device));
          GPU_TRY(gpu::set_primary_context_flags(device, gpu::context_flags::spin));
          GPU_TRY(gpu::start_profiler());
          GPU_TRY(gpu::stop_profiler());
          GPU_TRY(gpu::reset_persisting_l2_cache(GPU_TRY(gpu::context::primary(device))));
          GPU_TRY(gpu::driver_version());
          return {};
        }) == "");
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          GPU_TRY(gpu::context::primary(device));
          GPU_TRY(gpu::reset_primary_context(device));
          return {};
        }) == "");
}

}  // namespace primary_context_control_test
