#include <gpu/driver/calls.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include "support/results.hpp"

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
    CHECK(sweep.problems[0].find("left alive") != std::string::npos);
  }
  SECTION("an operation that makes no call proves nothing") {
    CHECK_FALSE(gpu::testing::sweep_faults(faults, []() -> gpu::result<int> { return 1; }).clean());
  }
}

}  // namespace fault_injection_test
