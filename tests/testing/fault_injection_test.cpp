#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/catch.hpp"
#include "support/drivers.hpp"
#include "support/subprocess.hpp"

namespace fault_injection_test {
namespace {

using gpu::driver::entry_points;
using gpu::testing::fault_injection;

int live_streams = 0;

/// A driver of three functions, to tell what the interposed table adds to it.
entry_points small_driver() {
  entry_points table{};
  table.device_get_count = [](int* count) {
    *count = 3;
    return CUDA_SUCCESS;
  };
  table.stream_create = [](CUstream* stream, unsigned) {
    *stream = reinterpret_cast<CUstream>(std::uintptr_t{16});
    ++live_streams;
    return CUDA_SUCCESS;
  };
  table.stream_destroy = [](CUstream) {
    --live_streams;
    return CUDA_SUCCESS;
  };
  return table;
}

constexpr auto here = gpu::source_location{};

gpu::result<int> count_devices() {
  int count = 0;
  GPU_TRY(gpu::driver::call<&entry_points::device_get_count>(here, &count));
  return count;
}

}  // namespace

TEST_CASE("an interposed table passes calls on and keeps missing functions missing") {
  const entry_points inner = small_driver();
  fault_injection faults(inner);
  gpu::driver::scoped_entry_points in_force(faults.entry_points());

  CHECK(count_devices().value_or(0) == 3);
  CHECK(faults.calls() == 1);
  CHECK(faults.calls("cuDeviceGetCount") == 1);
  CHECK(faults.calls("cuStreamCreate") == 0);
  const auto missing = gpu::driver::call<&entry_points::ctx_synchronize>(here);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error() == gpu::errc::not_supported);
  CHECK(missing.error().message().contains("cuCtxSynchronize"));
}

TEST_CASE("a sweep sees retains that are not released, and contexts that are not popped", "[cpu]") {
  const test::own_cpu_driver driver;
  fault_injection faults(driver.table());
  gpu::driver::scoped_entry_points in_force(faults.entry_points());
  gpu::testing::fault_sweep_options options;
  options.live = [&] { return driver.held(); };
  CUcontext kept = nullptr;
  REQUIRE(driver.table().device_primary_ctx_retain(&kept, 0) == CUDA_SUCCESS);

  SECTION("a retain") {
    const auto sweep = gpu::testing::sweep_faults(
        faults,
        []() -> gpu::result<> {
          CUcontext context = nullptr;
          return gpu::driver::call<&entry_points::device_primary_ctx_retain>(here, &context, 0);
        },
        options);
    CHECK(sweep.text().find("objects were not released") != std::string::npos);
  }
  SECTION("a push") {
    const auto sweep = gpu::testing::sweep_faults(
        faults,
        [&]() -> gpu::result<> {
          return gpu::driver::call<&entry_points::ctx_push_current>(here, kept);
        },
        options);
    CHECK(sweep.text().find("objects were not released") != std::string::npos);
  }
  SECTION("a context that takes the place of another") {
    const auto sweep = gpu::testing::sweep_faults(faults, [&]() -> gpu::result<> {
      CUcontext before = nullptr;
      GPU_TRY(gpu::driver::call<&entry_points::ctx_get_current>(here, &before));
      return gpu::driver::call<&entry_points::ctx_set_current>(here,
                                                               before == kept ? nullptr : kept);
    });
    CHECK(sweep.text().find("the current context has changed") != std::string::npos);
  }
  SECTION("and nothing where both are given back") {
    const auto sweep = gpu::testing::sweep_faults(
        faults,
        [&]() -> gpu::result<> {
          GPU_TRY(gpu::driver::call<&entry_points::ctx_push_current>(here, kept));
          CUcontext popped = nullptr;
          gpu::driver::destroy<&entry_points::ctx_pop_current>(&popped);
          return {};
        },
        options);
    CHECK(sweep.text() == "");
  }
}

TEST_CASE("fault injection: child that makes a rule", "[.child]") {
  const entry_points inner = small_driver();
  fault_injection faults(inner);
  const std::string rule = std::getenv("GPU_TEST_RULE");
  if (rule == "name") faults.fail_call("cuMemAlocc", 0, CUDA_ERROR_UNKNOWN);
  if (rule == "version") faults.fail_call("cuMemAlloc_v2", 0, CUDA_ERROR_UNKNOWN);
  if (rule == "count") (void)faults.calls("cuMemAlocc");
  if (rule == "share") faults.fail_share(7.0, 1, CUDA_ERROR_UNKNOWN);
  if (rule == "no number") faults.fail_share(std::nan(""), 1, CUDA_ERROR_UNKNOWN);
  if (rule == "success") faults.fail_share(0.5, 1, CUDA_SUCCESS);
  if (rule == "survivor") {
    gpu::testing::fault_sweep_options options;
    options.may_survive = {"cuMemAlocc"};
    (void)gpu::testing::sweep_faults(faults, count_devices, options);
  }
  std::exit(0);
}

TEST_CASE("a rule that can never do what it says ends the program with a sentence") {
  const struct {
    const char *rule, *says;
  } rules[] = {{"name", "\"cuMemAlocc\" is not a driver function that the library calls"},
               {"version",
                "\"cuMemAlloc_v2\" is not a driver function that the library calls; write the "
                "name as in cuda.h, without _v2: \"cuMemAlloc\"."},
               {"count", "\"cuMemAlocc\" is not a driver function"},
               {"survivor", "\"cuMemAlocc\" is not a driver function"},
               {"share", "fail_share(7, ...): the share must be between 0 and 1."},
               {"no number", "the share must be between 0 and 1."},
               {"success", "a call cannot fail with CUDA_SUCCESS; choose an error."}};
  for (const auto& each : rules) {
    const test::program_outcome outcome =
        test::run_child("fault injection: child that makes a rule", {{"GPU_TEST_RULE", each.rule}});
    INFO(outcome.output);
    CHECK(outcome.signal == SIGABRT);
    CHECK(outcome.output.find(each.says) != std::string::npos);
  }
  CHECK(test::run_child("fault injection: child that makes a rule", {{"GPU_TEST_RULE", "none"}})
            .succeeded());
}

TEST_CASE("the n-th call fails, by number and by name") {
  const entry_points inner = small_driver();
  fault_injection faults(inner);
  gpu::driver::scoped_entry_points in_force(faults.entry_points());

  SECTION("whichever it is") {
    faults.fail_call(1, CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(count_devices().has_value());
    const auto failed = count_devices();
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().code() == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(count_devices().has_value());
    CHECK(faults.injected() == 1);
    CHECK(std::string_view(faults.last_injected()) == "cuDeviceGetCount");
  }
  SECTION("of one function") {
    faults.fail_call("cuDeviceGetCount", 0, CUDA_ERROR_UNKNOWN);
    CUstream stream = nullptr;
    CHECK(gpu::driver::call<&entry_points::stream_create>(here, &stream, 0u).has_value());
    CHECK_FALSE(count_devices().has_value());
    CHECK(gpu::driver::call<&entry_points::stream_destroy>(here, stream).has_value());
  }
  SECTION("counting starts when the rule is made") {
    CHECK(count_devices().has_value());
    faults.fail_call("cuDeviceGetCount", 1, CUDA_ERROR_UNKNOWN);
    CHECK(count_devices().has_value());
    CHECK_FALSE(count_devices().has_value());
  }
}

TEST_CASE("a random share of calls fails, the same ones for the same seed") {
  const entry_points inner = small_driver();
  const auto failures = [&](std::uint64_t seed) {
    fault_injection faults(inner);
    gpu::driver::scoped_entry_points in_force(faults.entry_points());
    faults.fail_share(0.25, seed, CUDA_ERROR_UNKNOWN);
    std::string pattern;
    for (int i = 0; i < 2000; ++i) pattern += count_devices().has_value() ? '.' : 'x';
    return pattern;
  };
  const std::string first = failures(7);
  const auto failed = std::count(first.begin(), first.end(), 'x');
  // Binomial with n = 2000 and p = 1/4: mean 500, standard deviation 19.4.
  CHECK(failed > 400);
  CHECK(failed < 600);
  CHECK(first == failures(7));
  CHECK(first != failures(8));
}

TEST_CASE("calls that end a lifetime do their work and then fail") {
  const entry_points inner = small_driver();
  fault_injection faults(inner);
  gpu::driver::scoped_entry_points in_force(faults.entry_points());
  live_streams = 0;
  CUstream stream = nullptr;
  REQUIRE(gpu::driver::call<&entry_points::stream_create>(here, &stream, 0u).has_value());
  faults.fail_call("cuStreamDestroy", 0, CUDA_ERROR_UNKNOWN);
  CHECK_FALSE(gpu::driver::call<&entry_points::stream_destroy>(here, stream).has_value());
  CHECK(live_streams == 0);
  CHECK(fault_injection::ends_a_lifetime("cuIpcCloseMemHandle"));
  CHECK_FALSE(fault_injection::ends_a_lifetime("cuIpcOpenMemHandle"));
}

TEST_CASE("a sweep fails each call in turn and finds what is wrong") {
  const entry_points inner = small_driver();
  fault_injection faults(inner);
  gpu::driver::scoped_entry_points in_force(faults.entry_points());
  live_streams = 0;
  gpu::testing::fault_sweep_options options;
  options.live = [] { return static_cast<std::size_t>(live_streams); };

  SECTION("nothing, in a sound operation") {
    const auto sweep = gpu::testing::sweep_faults(
        faults,
        []() -> gpu::result<int> {
          const int count = GPU_TRY(count_devices());
          CUstream stream = nullptr;
          GPU_TRY(gpu::driver::call<&entry_points::stream_create>(here, &stream, 0u));
          gpu::driver::destroy<&entry_points::stream_destroy>(stream);
          return count;
        },
        options);
    INFO(sweep.text());
    CHECK(sweep.clean());
    CHECK(sweep.calls == 3);
  }
  SECTION("an error that nobody is told of") {
    const auto sweep = gpu::testing::sweep_faults(faults, []() -> gpu::result<int> {
      const auto ignored = count_devices();
      return ignored.value_or(0);
    });
    REQUIRE(sweep.problems.size() == 1);
    CHECK(sweep.problems[0].find("cuDeviceGetCount") != std::string::npos);
  }
  SECTION("unless that is said to be in order") {
    gpu::testing::fault_sweep_options tolerant;
    tolerant.may_survive = {"cuDeviceGetCount"};
    const auto sweep = gpu::testing::sweep_faults(
        faults, []() -> gpu::result<int> { return count_devices().value_or(0); }, tolerant);
    CHECK(sweep.clean());
  }
  SECTION("another error in place of the injected one") {
    const auto sweep = gpu::testing::sweep_faults(faults, []() -> gpu::result<int> {
      if (const auto count = count_devices(); count.has_value()) return *count;
      return gpu::detail::fail(
          gpu::cuda_error(gpu::error_domain::driver, CUDA_ERROR_INVALID_VALUE, "other", here));
    });
    CHECK(sweep.problems.size() == 1);
  }
  SECTION("a leak") {
    const auto sweep = gpu::testing::sweep_faults(
        faults,
        []() -> gpu::result<int> {
          CUstream stream = nullptr;
          GPU_TRY(gpu::driver::call<&entry_points::stream_create>(here, &stream, 0u));
          const int count = GPU_TRY(count_devices());
          gpu::driver::destroy<&entry_points::stream_destroy>(stream);
          return count;
        },
        options);
    REQUIRE(sweep.problems.size() == 1);
    CHECK(sweep.problems[0].find("not released") != std::string::npos);
  }
  SECTION("a leak where nothing fails") {
    const auto sweep = gpu::testing::sweep_faults(
        faults,
        []() -> gpu::result<int> {
          CUstream stream = nullptr;
          GPU_TRY(gpu::driver::call<&entry_points::stream_create>(here, &stream, 0u));
          return 1;
        },
        options);
    REQUIRE(sweep.problems.size() == 2);
    CHECK(sweep.problems[0] == "the second run, without a fault: objects were not released");
    CHECK(sweep.problems[1] == "call 0 cuStreamCreate: objects were not released");
  }
  SECTION("what was there before, and is gone") {
    live_streams = 100;
    const auto sweep = gpu::testing::sweep_faults(
        faults,
        []() -> gpu::result<int> {
          const int count = GPU_TRY(count_devices());
          gpu::driver::destroy<&entry_points::stream_destroy>(CUstream{});
          return count;
        },
        options);
    CHECK(sweep.text().find("objects that existed before were destroyed") != std::string::npos);
  }
  SECTION("an operation that makes no call proves nothing") {
    CHECK_FALSE(gpu::testing::sweep_faults(faults, []() -> gpu::result<int> { return 1; }).clean());
  }
}

}  // namespace fault_injection_test
