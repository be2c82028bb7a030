// Launches off the fast path that no other test comes to: what is said where the driver refuses
// one, or lacks the call for it, and devices of which a kernel keeps no limits.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>

#include "kernel/recorded_launch.hpp"
#include "support/results.hpp"

#include <stdlib.h>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace launch_checks_test { namespace {

constexpr const char* some_ptx = ".version 8.0";

struct recorded_kernel {
  gpu::module module = gpu::module::load(some_ptx).value();
  gpu::kernel<> kernel = module.kernel<>("recorded").value();
  gpu::stream_ref stream = test::recording_driver::stream();
};

/// A stream of that device that no driver made.
gpu::stream_ref stream_of(int device) {
  const auto context = gpu::context_ref::from_native(
      reinterpret_cast<CUcontext>(std::uintptr_t{0x2000}), gpu::device::from_native(device));
  return gpu::stream_ref::from_native(
      reinterpret_cast<CUstream>(std::uintptr_t{0x10000} + static_cast<unsigned>(device)), context);
}

/// Sets CUDA_LAUNCH_BLOCKING until the end of the scope; null unsets it.
class launch_blocking {
 public:
  explicit launch_blocking(const char* value) {
    if (const char* before = std::getenv(name)) before_ = before, was_set_ = true;
    set(value);
  }
  launch_blocking(const launch_blocking&) = delete;
  launch_blocking& operator=(const launch_blocking&) = delete;
  ~launch_blocking() { set(was_set_ ? before_.c_str() : nullptr); }

 private:
  static constexpr const char* name = "CUDA_LAUNCH_BLOCKING";
  static void set(const char* value) {
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  std::string before_;
  bool was_set_ = false;
};

TEST_CASE("a fault of a launch that blocks comes from that launch", "[kernel][launch]") {
  const test::recording_driver driver;
  const recorded_kernel f;
  REQUIRE(gpu::launch(f.stream, {1, 1}, f.kernel).has_value());
  struct expectation {
    const char* blocking;
    CUresult code;
    bool own_fault;
  };
  for (const expectation& expected : {expectation{"1", CUDA_ERROR_ILLEGAL_ADDRESS, true},
                                      expectation{"1", CUDA_ERROR_ASSERT, true},
                                      expectation{"1", CUDA_ERROR_INVALID_VALUE, false},
                                      expectation{"0", CUDA_ERROR_ILLEGAL_ADDRESS, false},
                                      expectation{nullptr, CUDA_ERROR_ILLEGAL_ADDRESS, false}}) {
    const launch_blocking blocking(expected.blocking);
    test::recording().answer = expected.code;
    for (const unsigned cluster : {1u, 2u}) {
      const auto failed =
          gpu::launch(f.stream, {.grid = 2, .block = 1, .cluster = cluster}, f.kernel);
      REQUIRE_FALSE(failed.has_value());
      INFO(failed.error().message().c_str());
      CHECK(failed.error().code() == expected.code);
      CHECK(std::string(failed.error().call()) ==
            (cluster == 1 ? "cuLaunchKernel" : "cuLaunchKernelEx"));
      CHECK(std::string(failed.error().where().file_name()) == __FILE__);
      CHECK(failed.error().details().contains(
                "kernel recorded, which this launch ran to its end") == expected.own_fault);
    }
  }
}

TEST_CASE("a refused launch is told though 256 others were made meanwhile", "[kernel][launch]") {
  const test::recording_driver driver;
  static const recorded_kernel* other;
  gpu::driver::entry_points busy = test::recorded::table();
  busy.launch_kernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, CUstream, void**, void**) {
    const gpu::driver::scoped_entry_points in_force(test::recorded::table());
    const auto far = stream_of(7);
    for (int i = 0; i < 128; ++i)
      CHECK(gpu::launch(other->stream, {1, 1}, other->kernel).has_value());
    for (int i = 0; i < 128; ++i) CHECK(gpu::launch(far, {1, 1}, other->kernel).has_value());
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  };
  const recorded_kernel f;
  other = &f;
  REQUIRE(gpu::launch(f.stream, {1, 1}, f.kernel).has_value());
  const gpu::driver::scoped_entry_points in_force(busy);
  const launch_blocking blocking(nullptr);
  const auto refused = gpu::launch(f.stream, {1, 1}, f.kernel);
  const unsigned line = __LINE__ - 1;
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(refused.error().where().line() == line);
  CHECK(std::string(refused.error().where().file_name()) == __FILE__);
  const std::string origins = refused.error().message().c_str();
  INFO(origins);
  CHECK(origins.find("(128 times)") != std::string::npos);
  CHECK(origins.find("(128 times)") == origins.rfind("(128 times)"));  // on its device only
  CHECK(test::recording().launches.size() == 257);
}

TEST_CASE("a driver without a call for launches is told by the call's name", "[kernel][launch]") {
  const test::recording_driver driver;
  const recorded_kernel f;
  REQUIRE(gpu::launch(f.stream, {1, 1}, f.kernel).has_value());
  const recorded_kernel new_one;  // whose first launch is off the fast path
  gpu::driver::entry_points without = test::recorded::table();
  without.launch_kernel = nullptr;
  without.launch_kernel_ex = nullptr;
  const gpu::driver::scoped_entry_points in_force(without);
  for (const gpu::kernel<>* kernel : {&f.kernel, &new_one.kernel}) {
    const auto plain = gpu::launch(f.stream, {1, 1}, *kernel);
    REQUIRE_FALSE(plain.has_value());
    CHECK(plain.error() == gpu::errc::not_supported);
    CHECK(std::string(plain.error().call()) == "cuLaunchKernel");
  }
  without.launch_kernel = test::recorded::launch;
  const gpu::driver::scoped_entry_points with_one(without);
  const auto clusters = gpu::launch(f.stream, {.grid = 2, .block = 1, .cluster = 2}, f.kernel);
  REQUIRE_FALSE(clusters.has_value());
  CHECK(clusters.error() == gpu::errc::not_supported);
  CHECK(std::string(clusters.error().call()) == "cuLaunchKernelEx");
  CHECK(test::recording().launches.size() == 1);
}

TEST_CASE("a kernel's limits are asked for at its first launch on a device, and kept",
          "[kernel][launch]") {
  const test::recording_driver driver;
  const recorded_kernel f;
  REQUIRE(gpu::launch(f.stream, {1, 1}, f.kernel).has_value());
  gpu::driver::entry_points silent = test::recorded::table();
  silent.device_get_attribute = [](int*, CUdevice_attribute, CUdevice) {
    return CUDA_ERROR_UNKNOWN;
  };
  silent.kernel_get_attribute = [](int*, CUfunction_attribute, CUkernel, CUdevice) {
    return CUDA_ERROR_UNKNOWN;
  };
  const gpu::driver::scoped_entry_points in_force(silent);
  CHECK(gpu::launch(f.stream, {1, 1024}, f.kernel).has_value());
  CHECK(gpu::launch(f.stream, {1, 1, 227 << 10}, f.kernel).has_value());
  CHECK(gpu::launch(f.stream, {.grid = 8, .block = 1, .cluster = 8}, f.kernel).has_value());
  const auto refused = gpu::launch(f.stream, {1, {32, 33}}, f.kernel);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error() == gpu::errc::invalid_launch);
  CHECK(refused.error().limit() == 1024);  // as of any kernel of the device
  CHECK(refused.error().details().contains("1024. Use smaller blocks and more of them."));
}

TEST_CASE("a block of more threads than a kernel is bound to is refused", "[kernel][launch]") {
  const gpu::stream stream = test::value_of(gpu::stream::create(test::first_device()));
  const gpu::module module =
      test::value_of(gpu::module::load(".version 8.0\n.target sm_80\n.address_size 64\n"
                                       ".visible .entry bounded()\n.maxntid 64, 1, 1\n{ ret; }\n"));
  const auto kernel = test::value_of(module.kernel<>("bounded"));
  const gpu::cuda_error error = test::error_of(gpu::launch(stream, {1, 65}, kernel));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(error.asked() == 65);
  CHECK(error.limit() == 64);
  CHECK(test::says(error, "kernel bounded", "has 65 threads, more than the kernel's limit of 64,",
                   "which its registers or its __launch_bounds__ set.",
                   "or change its __launch_bounds__."));
  CHECK(gpu::launch(stream, {1, 64}, kernel).has_value());
  CHECK(stream.synchronize().has_value());
}

TEST_CASE("a device may allow smaller grids or blocks than others do", "[kernel][launch]") {
  const test::recording_driver driver;
  static CUdevice_attribute smaller;
  gpu::driver::entry_points table = test::recorded::table();
  table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice device) {
    const CUresult code = test::recorded::device_attribute(value, which, device);
    if (which == smaller) *value = 100;
    return code;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const auto refused = [](const recorded_kernel& f, int device, const gpu::launch_config& config) {
    const auto outcome = gpu::launch(stream_of(device), config, f.kernel);
    return !outcome.has_value() && outcome.error() == gpu::errc::invalid_launch &&
           outcome.error().limit() == 100;
  };
  const recorded_kernel grids, blocks;
  for (int round = 0; round < 2; ++round) {
    smaller = CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y;
    CHECK(gpu::launch(stream_of(9), {{1, 100}, 1}, grids.kernel).has_value());
    CHECK(refused(grids, 9, {{1, 101}, 1}));
    smaller = CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y;
    CHECK(gpu::launch(stream_of(10), {1, {1, 100}}, blocks.kernel).has_value());
    CHECK(refused(blocks, 10, {1, {1, 101}}));
  }
}

TEST_CASE("kernels of one name have each the limits of its own", "[kernel][launch]") {
  const test::recording_driver driver;
  for (const int declared : {0, 1024, 0}) {
    test::recording().static_shared = declared;
    const recorded_kernel f;
    const auto most = (227u << 10) - static_cast<unsigned>(declared);
    const auto refused = gpu::launch(f.stream, {1, 1, most + 1}, f.kernel);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().limit() == most);
    CHECK(gpu::launch(f.stream, {1, 1, most}, f.kernel).has_value());
  }
}

TEST_CASE("a kernel runs on devices that it keeps no limits of", "[kernel][launch]") {
  const test::recording_driver driver;
  const recorded_kernel f;
  for (const int device : {40, 41, 40, 41}) {
    const auto stream = stream_of(device);
    REQUIRE(gpu::launch(stream, {1, 1024}, f.kernel).has_value());
    REQUIRE(gpu::launch(stream, {1, 1, 100'000}, f.kernel).has_value());
    const auto refused = gpu::launch(stream, {1, 1025}, f.kernel);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error() == gpu::errc::invalid_launch);
    CHECK(refused.error().asked() == 1025);
    const auto more = gpu::launch(stream, {1, 1, 1'000'000}, f.kernel);
    REQUIRE_FALSE(more.has_value());
    CHECK(more.error().details().contains(("device " + std::to_string(device)).c_str()));
  }
  CHECK(test::recording().launches.size() == 8);
}

TEST_CASE("clusters that no launch has are refused before the driver is asked",
          "[kernel][launch]") {
  const test::recording_driver driver;
  const recorded_kernel f;
  const auto refused = [&](const gpu::launch_config& config, std::uint64_t asked,
                           std::uint64_t limit, const char* words) {
    const auto outcome = gpu::launch(f.stream, config, f.kernel);
    REQUIRE_FALSE(outcome.has_value());
    INFO(outcome.error().message().c_str());
    CHECK(outcome.error() == gpu::errc::invalid_launch);
    CHECK(outcome.error().asked() == asked);
    CHECK(outcome.error().limit() == limit);
    CHECK(outcome.error().details().contains(words));
  };
  refused({.grid = 8, .block = 1, .cluster = {0, 1, 1}}, 0, 1,
          "a cluster of {0, 1, 1} has no blocks; each extent must be at least 1");
  refused({.grid = 8, .block = 1, .cluster = {1, 1, 0}}, 0, 1, "{1, 1, 0} has no blocks");
  refused({.grid = {8, 8, 1}, .block = 1, .cluster = {4, 4}}, 16, 8,
          "has 16 blocks, more than the limit of 8. Use smaller clusters, or set");
  refused({.grid = 9, .block = 1, .cluster = 2}, 2, 9, "Round the grid up");
  refused({.grid = 12, .block = 1, .cluster = 8}, 8, 12, "Round the grid up");
  // Allowed more, it has what the driver tells.
  test::recording().nonportable_clusters = true;
  CHECK(gpu::launch(f.stream, {.grid = 16, .block = 1, .cluster = 16}, f.kernel).has_value());
  refused({.grid = 17, .block = 1, .cluster = 17}, 17, 16,
          "more than the limit of 16 for this kernel on this device");
  CHECK(test::recording().launches.size() == 1);

  test::recording().has_clusters = false;
  const gpu::launch_config pair{.grid = 4, .block = 1, .cluster = 2};
  const recorded_kernel older;
  const auto without = gpu::launch(f.stream, pair, older.kernel);
  REQUIRE_FALSE(without.has_value());
  CHECK(without.error() == gpu::errc::invalid_launch);
  CHECK(without.error().limit() == 1);
  CHECK(without.error().details().contains(
      "the device does not support clusters. Leave the cluster out"));
}

enum extents { of_an_enumeration = 64 };

// Each compiles with -Wconversion and -Wsign-conversion.
TEST_CASE("a shape takes integers of every type, and refuses what does not fit",
          "[kernel][launch]") {
  const test::recording_driver driver;
  const recorded_kernel f;
  const int n = 48;
  const std::size_t m = 16;
  const auto launched = [&](const gpu::launch_config& config) {
    REQUIRE(gpu::launch(f.stream, config, f.kernel).has_value());
    return test::recording().launches.back();
  };
  const auto first = launched({.grid = n, .block = m, .shared_bytes = m * sizeof(float)});
  CHECK(first.grid == std::vector{48u, 1u, 1u});
  CHECK(first.block == std::vector{16u, 1u, 1u});
  CHECK(first.shared_bytes == 64);
  const auto second =
      launched({.grid = {m, n, 'a'}, .block = of_an_enumeration, .shared_bytes = 4 * n});
  CHECK(second.grid == std::vector{16u, 48u, 97u});
  CHECK(second.block == std::vector{64u, 1u, 1u});
  CHECK(second.shared_bytes == 192);
  CHECK(launched({gpu::grid_for(m * 3, n), n, n}).grid == std::vector{1u, 1u, 1u});
  // What a number of 32 bits cannot hold is not cut off.
  const int negative = -n;
  const std::size_t large = (std::size_t{1} << 32) + 1;
  for (const gpu::launch_config& config : {gpu::launch_config{.grid = negative, .block = 1},
                                           gpu::launch_config{.grid = large, .block = 1},
                                           gpu::launch_config{.grid = 1, .block = {1, negative}},
                                           gpu::launch_config{.grid = 1, .block = large}}) {
    const auto refused = gpu::launch(f.stream, config, f.kernel);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error() == gpu::errc::invalid_launch);
    CHECK(refused.error().details().contains(
        "extent of 4294967295 (or more, or negative) is not within the device's limit of "));
  }
  for (const gpu::launch_config& config :
       {gpu::launch_config{.grid = 1, .block = 1, .shared_bytes = negative},
        gpu::launch_config{.grid = 1, .block = 1, .shared_bytes = large}}) {
    const auto refused = gpu::launch(f.stream, config, f.kernel);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().details().contains(
        "4294967295 (or more, or a negative number of) bytes of dynamic shared memory are more"));
  }
  // A cluster that is too large, too.
  CHECK_FALSE(
      gpu::launch(f.stream, {.grid = 1, .block = 1, .cluster = negative}, f.kernel).has_value());
}

TEST_CASE("a cooperative grid is no larger than what the device holds", "[kernel][launch]") {
  const test::recording_driver driver;
  const recorded_kernel f;
  CUlaunchAttribute attributes[2]{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  CUlaunchAttribute& cooperative = attributes[1];
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  const auto together = gpu::launch_attributes_ref::from_native(attributes, 2);
  // The recorded device has 1024 multiprocessors; each holds three blocks, and four clusters fit.
  for (int round = 0; round < 2; ++round) {
    REQUIRE(gpu::launch(f.stream, {.grid = 3072, .block = 32, .attributes = together}, f.kernel)
                .has_value());
    const auto refused =
        gpu::launch(f.stream, {.grid = {1, 3073}, .block = 32, .attributes = together}, f.kernel);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error() == gpu::errc::invalid_launch);
    CHECK(refused.error().asked() == 3073);
    CHECK(refused.error().limit() == 3072);
    CHECK(refused.error().details().contains("cooperative grid of {1, 3073, 1} has 3073 blocks"));
    CHECK(refused.error().details().contains("Launch fewer blocks"));
  }
  REQUIRE(gpu::launch(f.stream, {.grid = 8, .block = 32, .cluster = 2, .attributes = together},
                      f.kernel)
              .has_value());
  const auto refused = gpu::launch(
      f.stream, {.grid = 10, .block = 32, .cluster = 2, .attributes = together}, f.kernel);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().limit() == 8);
  CHECK(test::recording().launches.size() == 3);
  cooperative.value.cooperative = 0;
  CHECK(gpu::launch(f.stream, {.grid = 4000, .block = 32, .attributes = together}, f.kernel)
            .has_value());
}

TEST_CASE("what a cluster or a cooperative launch asks the driver may fail", "[kernel][launch]") {
  const test::recording_driver driver;
  const recorded_kernel f;
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  const gpu::launch_config large{.grid = 16, .block = 1, .cluster = 16};
  gpu::launch_config together{
      .grid = 8,
      .block = 1,
      .attributes = gpu::launch_attributes_ref::from_native(&cooperative, 1)};
  REQUIRE(gpu::launch(f.stream, {1, 1}, f.kernel).has_value());
  const auto fails = [&](const gpu::launch_config& config, const gpu::driver::entry_points& table,
                         const char* call) {
    const gpu::driver::scoped_entry_points in_force(table);
    const auto failed = gpu::launch(f.stream, config, f.kernel);
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().code() == CUDA_ERROR_UNKNOWN);
    CHECK(std::string(failed.error().call()) == call);
  };
  gpu::driver::entry_points attribute = test::recorded::table();
  attribute.kernel_get_attribute = [](int*, CUfunction_attribute, CUkernel, CUdevice) {
    return CUDA_ERROR_UNKNOWN;
  };
  fails(large, attribute, "cuKernelGetAttribute");
  test::recording().nonportable_clusters = true;
  gpu::driver::entry_points size = test::recorded::table();
  size.occupancy_max_potential_cluster_size = [](int*, CUfunction, const CUlaunchConfig*) {
    return CUDA_ERROR_UNKNOWN;
  };
  fails(large, size, "cuOccupancyMaxPotentialClusterSize");
  gpu::driver::entry_points blocks = test::recorded::table();
  blocks.occupancy_max_active_blocks_per_multiprocessor_with_flags =
      [](int*, CUfunction, int, std::size_t, unsigned) { return CUDA_ERROR_UNKNOWN; };
  fails(together, blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
  together.cluster = 2;
  gpu::driver::entry_points clusters = test::recorded::table();
  clusters.occupancy_max_active_clusters = size.occupancy_max_potential_cluster_size;
  fails(together, clusters, "cuOccupancyMaxActiveClusters");
  CHECK(test::recording().launches.size() == 1);
}

TEST_CASE("a driver that cannot tell parameters is believed what is stated", "[kernel][launch]") {
  const test::recording_driver driver({4, 8}, {0, 8});  // whatever is looked up, these are passed
  gpu::driver::entry_points older = test::recorded::table();
  older.kernel_get_param_info = nullptr;  // before CUDA 12.4
  const gpu::driver::scoped_entry_points in_force(older);
  const gpu::module module = gpu::module::load(some_ptx).value();
  const gpu::stream_ref stream = test::recording_driver::stream();
  const auto bytes = [](auto value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto typed = module.kernel<float, double>("recorded");
  REQUIRE(typed.has_value());
  REQUIRE(gpu::launch(stream, {1, 1}, *typed, 2, 3.0f).has_value());
  CHECK(test::recording().launches.back().arguments ==
        std::vector<std::string>{bytes(2.0f), bytes(3.0)});
  // Stated wrongly, it cannot be known.
  CHECK(module.kernel<char>("recorded").has_value());
  const auto untyped = module.kernel("recorded");
  REQUIRE(untyped.has_value());
  REQUIRE(gpu::launch(stream, {1, 1}, *untyped, 7, 8.0).has_value());
  CHECK(test::recording().launches.back().arguments ==
        std::vector<std::string>{bytes(7), bytes(8.0)});
}

}}  // namespace launch_checks_test
