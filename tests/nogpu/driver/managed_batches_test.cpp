// Many ranges of managed memory in one call.

#include "driver_fixture.hpp"

#include <cstddef>

namespace managed_batches_test {

using test::all_modes;
using test::driver_fixture;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0}, host{CU_MEM_LOCATION_TYPE_HOST, 0};

/// Two ranges of managed memory, and the calls of a batch about them.
struct batch_fixture : driver_fixture {
  CUstream stream = nullptr;
  CUdeviceptr ranges[2]{};
  std::size_t sizes[2] = {mebibyte, mebibyte};
  CUmemLocation locations[2] = {device, host};
  std::size_t firsts[2] = {0, 1};

  explicit batch_fixture(const gpu::testing::cpu_driver_options& options = test::without_places())
      : driver_fixture(options) {
    REQUIRE(cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    for (CUdeviceptr& each : ranges)
      REQUIRE(cu.mem_alloc_managed(&each, mebibyte, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
  }

  CUresult prefetch(CUstream on, std::size_t count = 2, std::size_t places = 1,
                    unsigned long long flags = 0) {
    const CUresult code =
        cu.mem_prefetch_batch_async(ranges, sizes, count, locations, firsts, places, flags, on);
    // The three agree on what they take.
    CHECK(cu.mem_discard_and_prefetch_batch_async(ranges, sizes, count, locations, firsts, places,
                                                  flags, on) == code);
    return code;
  }
  CUresult discard(CUstream on, std::size_t count = 2, unsigned long long flags = 0) {
    return cu.mem_discard_batch_async(ranges, sizes, count, flags, on);
  }
  int sent(std::size_t range) {
    int place = -77;
    CHECK(cu.mem_range_get_attribute(&place, sizeof place,
                                     CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, ranges[range],
                                     mebibyte) == CUDA_SUCCESS);
    return place;
  }
};

}  // namespace

TEST_CASE("batches for managed memory take what an H200's driver takes", "[cpu]") {
  for (const auto& mode : all_modes()) {
    batch_fixture f(mode);
    CHECK(f.prefetch(f.stream) == CUDA_SUCCESS);
    CHECK(f.sent(0) == 0);
    CHECK(f.sent(1) == 0);
    CHECK(f.prefetch(f.stream, 2, 2) == CUDA_SUCCESS);
    CHECK(f.sent(0) == 0);
    CHECK(f.sent(1) == CU_DEVICE_CPU);
    f.firsts[1] = 0;
    CHECK(f.prefetch(f.stream, 2, 2) == CUDA_SUCCESS);
    // Streams that discard the same bytes have to wait for each other.
    CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    CHECK(f.prefetch(CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
    CHECK(f.discard(CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    for (const CUmemLocationType type :
         {CU_MEM_LOCATION_TYPE_HOST_NUMA, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT}) {
      f.locations[0] = {type, 0};
      CHECK(f.prefetch(f.stream) == CUDA_SUCCESS);
    }
    f.ranges[0] += 3;
    f.ranges[1] += 5;
    f.sizes[0] = 100;
    f.sizes[1] = 5000;
    CHECK(f.prefetch(f.stream) == CUDA_SUCCESS);
    CHECK(f.discard(f.stream) == CUDA_SUCCESS);
    CHECK(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    CHECK(f.reports() == "");
  }
}

TEST_CASE("batches for managed memory refuse what an H200's driver refuses", "[cpu]") {
  batch_fixture f;
  constexpr CUresult refused = CUDA_ERROR_INVALID_VALUE;
  CHECK(f.prefetch(f.stream, 0) == refused);
  CHECK(f.prefetch(f.stream, 2, 0) == refused);
  CHECK(f.prefetch(f.stream, 1, 2) == refused);
  CHECK(f.prefetch(f.stream, 2, 1, 1) == refused);
  CHECK(f.prefetch(nullptr) == refused);
  CHECK(f.prefetch(CU_STREAM_LEGACY) == refused);
  f.firsts[0] = 1;
  f.firsts[1] = 0;
  CHECK(f.prefetch(f.stream, 2, 2) == refused);
  f.firsts[0] = 0;
  f.firsts[1] = 2;  // of no range
  CHECK(f.prefetch(f.stream, 2, 2) == refused);
  for (const CUmemLocation bad :
       {CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, 99}, CUmemLocation{}}) {
    f.locations[0] = bad;
    CHECK(f.prefetch(f.stream) == refused);
  }
  f.locations[0] = device;
  CHECK(f.discard(f.stream, 0) == refused);
  CHECK(f.discard(f.stream, 2, 1) == refused);
  CHECK(f.discard(nullptr) == refused);
  CHECK(f.discard(CU_STREAM_LEGACY) == refused);
  for (const std::size_t bad : {std::size_t{0}, 3 * mebibyte}) {
    f.sizes[1] = bad;
    CHECK(f.prefetch(f.stream) == refused);
    CHECK(f.discard(f.stream) == refused);
  }
  f.sizes[1] = 100;
  REQUIRE(f.cu.mem_alloc(&f.ranges[1], 100) == CUDA_SUCCESS);
  CHECK(f.prefetch(f.stream) == refused);
  CHECK(f.discard(f.stream) == refused);
  CHECK(f.sent(0) == CU_DEVICE_INVALID);
}

TEST_CASE("a batch for managed memory spoils the capture of its stream alone", "[cpu]") {
  batch_fixture f;
  CUstream other = nullptr;
  CUgraph graph = nullptr;
  REQUIRE(f.cu.stream_create(&other, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CU_STREAM_CAPTURE_MODE_RELAXED}) {
    for (const bool discards : {false, true}) {
      REQUIRE(f.cu.stream_begin_capture(f.stream, mode) == CUDA_SUCCESS);
      CHECK((discards ? f.discard(f.stream) : f.prefetch(f.stream)) ==
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
      CHECK(f.cu.stream_end_capture(f.stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    CHECK(f.sent(0) == CU_DEVICE_INVALID);
    REQUIRE(f.cu.stream_begin_capture(f.stream, mode) == CUDA_SUCCESS);
    CHECK(f.discard(other) == CUDA_SUCCESS);
    CHECK(f.cu.stream_end_capture(f.stream, &graph) == CUDA_SUCCESS);
    CHECK(f.cu.graph_destroy(graph) == CUDA_SUCCESS);
  }
  REQUIRE(f.cu.stream_begin_capture(f.stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  CHECK(f.prefetch(other) == CUDA_SUCCESS);
  CHECK(f.cu.stream_end_capture(f.stream, &graph) == CUDA_SUCCESS);
  CHECK(f.sent(0) == 0);
}

}  // namespace managed_batches_test
