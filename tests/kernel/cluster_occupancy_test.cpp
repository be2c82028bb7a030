#include <gpu/kernel/occupancy.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/kernel_attribute.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/kernel/module.hpp>

#include <vector>

namespace cluster_occupancy_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

constexpr const char* source = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry light() { ret; }
)";

struct fixture {
  gpu::device device = test::first_device();
  gpu::module module = value_of(gpu::module::load(source));
  gpu::kernel<> light = value_of(module.kernel<>("light"));

  int attribute(CUdevice_attribute which) const {
    int value = 0;
    REQUIRE(test::driver().device_get_attribute(&value, which, device.native()) == CUDA_SUCCESS);
    return value;
  }
  bool has_clusters() const { return attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0; }
};

}  // namespace

TEST_CASE("occupancy: the largest cluster is the device's and the kernel's",
          "[kernel][occupancy]") {
  fixture f;
  const gpu::launch_config config{.grid = 64, .block = 128};
  const int largest = value_of(gpu::max_cluster_size(f.light, f.device, config));
  CHECK(largest == (f.has_clusters() ? 8 : 1));
  if (f.has_clusters()) {
    using attribute = gpu::kernel_attribute;
    value_of(gpu::set_attribute<attribute::allows_nonportable_cluster>(f.light, true, f.device));
    CHECK(value_of(gpu::max_cluster_size(f.light, f.device, config)) >= 8);
  }
}

TEST_CASE("occupancy: a device holds so many clusters", "[kernel][occupancy]") {
  fixture f;
  const int processors = f.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const auto clusters = [&](unsigned blocks, unsigned threads, unsigned shared = 0) {
    return value_of(gpu::max_active_clusters(
        f.light, f.device,
        {.grid = 64 * blocks, .block = threads, .shared_bytes = shared, .cluster = blocks}));
  };
  const auto blocks = [&](unsigned threads, unsigned shared = 0) {
    return value_of(gpu::max_active_blocks(f.light, f.device, static_cast<int>(threads), shared));
  };
  // Of one block each, they are blocks.
  CHECK(clusters(1, 1024) == blocks(1024) * processors);
  // More than the usual shared memory is made available, for blocks too from then on.
  const int large = clusters(1, 1024, 100'000);
  CHECK(large > 0);
  CHECK(large == blocks(1024, 100'000) * processors);
  if (f.has_clusters()) {
    CHECK(clusters(2, 1024) <= clusters(1, 1024) / 2);
    CHECK(clusters(8, 1024) > 0);
  } else {
    const gpu::cuda_error error = error_of(
        gpu::max_active_clusters(f.light, f.device, {.grid = 64, .block = 32, .cluster = 2}));
    CHECK(error == gpu::errc::invalid_launch);
    CHECK(error.limit() == 1);
    CHECK(says(error, "gpu::max_active_clusters", "the device does not support clusters"));
  }
}

TEST_CASE("occupancy: shapes that no launch has are refused for clusters, too",
          "[kernel][occupancy]") {
  fixture f;
  gpu::cuda_error error = error_of(
      gpu::max_active_clusters(f.light, f.device, {.grid = 64, .block = 32, .cluster = {0, 1, 1}}));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(says(error, "gpu::max_active_clusters", "light", "cluster of {0, 1, 1} has no blocks"));
  CHECK(value_of(gpu::max_cluster_size(f.light, f.device,
                                       {.grid = 63, .block = 32, .cluster = {0, 2, 99}})) >= 1);
  if (f.has_clusters()) {
    error = error_of(
        gpu::max_active_clusters(f.light, f.device, {.grid = 63, .block = 32, .cluster = 2}));
    CHECK(says(error, "gpu::max_active_clusters", "light", "cluster of {2, 1, 1}", "{63, 1, 1}"));
  }
  error = error_of(gpu::max_cluster_size(f.light, f.device, {.grid = 1, .block = 2048}));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(says(error, "gpu::max_cluster_size", "2048", "1024", "cluster_occupancy_test.cpp"));
  error = error_of(gpu::max_active_clusters(f.light, f.device,
                                            {.grid = 1, .block = 32, .shared_bytes = 1'000'000}));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(says(error, "gpu::max_active_clusters", "1000000 bytes"));
  CHECK(error_of(gpu::max_cluster_size(gpu::kernel<>{}, f.device, {.grid = 1, .block = 1})) ==
        gpu::errc::empty_handle);
}

TEST_CASE("occupancy: the driver is told the attributes of the clusters' launch",
          "[kernel][occupancy]") {
  fixture f;
  static std::vector<CUlaunchAttribute> told;
  gpu::driver::entry_points table = test::driver();
  table.occupancy_max_active_clusters = [](int* clusters, CUfunction, const CUlaunchConfig* of) {
    told.assign(of->attrs, of->attrs + of->numAttrs);
    *clusters = 5;
    return CUDA_SUCCESS;
  };
  table.occupancy_max_potential_cluster_size = table.occupancy_max_active_clusters;
  const gpu::driver::scoped_entry_points in_force(table);
  CUlaunchAttribute carveout{};
  carveout.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
  carveout.value.sharedMemCarveout = 30;
  gpu::launch_config config{
      .grid = 4, .block = 32, .attributes = gpu::launch_attributes_ref::from_native(&carveout, 1)};
  const auto both = [&] {
    REQUIRE(told.size() == 2);
    CHECK(told[0].id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    CHECK(told[0].value.sharedMemCarveout == 30);
    CHECK(told[1].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    told.clear();
  };
  CHECK(value_of(gpu::max_active_clusters(f.light, f.device, config)) == 5);
  both();
  CHECK(value_of(gpu::max_cluster_size(f.light, f.device, config)) == 5);
  both();
  config.attributes = gpu::launch_attributes_ref::from_native(nullptr, 3);
  const gpu::cuda_error error = error_of(gpu::max_active_clusters(f.light, f.device, config));
  CHECK(error == gpu::errc::invalid_launch);
  CHECK(says(error, "gpu::max_active_clusters", "config.attributes has size 3 but a null pointer"));
}

TEST_CASE("occupancy: a capture goes on while clusters are asked about",
          "[kernel][occupancy][capture]") {
  fixture f;
  const gpu::stream stream = value_of(gpu::stream::create(f.device));
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  const gpu::launch_config config{.grid = 4, .block = 32, .shared_bytes = 60'000};
  const auto size = gpu::max_cluster_size(f.light, f.device, config);
  const auto clusters = gpu::max_active_clusters(f.light, f.device, config);
  CUgraph graph = nullptr;
  const CUresult ended = test::driver().stream_end_capture(stream.native(), &graph);
  if (ended == CUDA_SUCCESS) CHECK(test::driver().graph_destroy(graph) == CUDA_SUCCESS);
  CHECK(ended == CUDA_SUCCESS);
  CHECK(value_of(size) > 0);
  CHECK(value_of(clusters) > 0);
}

TEST_CASE("occupancy: each driver call about clusters may fail", "[kernel][occupancy][faults]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::module module = GPU_TRY(gpu::module::load(source));
              const auto light = GPU_TRY(module.kernel<>("light"));
              const gpu::launch_config config{.grid = 4, .block = 32, .shared_bytes = 60'000};
              GPU_TRY(gpu::max_cluster_size(light, device, config));
              GPU_TRY(gpu::max_active_clusters(light, device, config));
              return {};
            },
            {"cuCtxGetDevice"}) == "");
}

}  // namespace cluster_occupancy_test
