// Copies, fills and the deferred mode's poison.

#include "driver_fixture.hpp"

#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

namespace copies_test {

using test::all_modes;
using test::driver_fixture;

namespace {

std::vector<int> counting(std::size_t count, int first = 1) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace

TEST_CASE("bytes make the round trip from host to device and back", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    const std::vector<int> sent = counting(1000);
    std::vector<int> received(1000, -1);
    const std::size_t bytes = sent.size() * sizeof(int);
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    REQUIRE(f.cu.mem_alloc(&first, bytes) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc(&second, bytes) == CUDA_SUCCESS);
    CHECK(f.cu.memcpy_htod(first, sent.data(), bytes) == CUDA_SUCCESS);
    CHECK(f.cu.memcpy_dtod(second, first, bytes) == CUDA_SUCCESS);
    CHECK(f.cu.memcpy_dtoh(received.data(), second, bytes) == CUDA_SUCCESS);
    CHECK(received == sent);

    std::vector<int> again(1000, -1);
    CHECK(f.cu.memcpy(reinterpret_cast<CUdeviceptr>(again.data()), second, bytes) == CUDA_SUCCESS);
    CHECK(again == sent);
    CHECK(f.cu.mem_free(first) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free(second) == CUDA_SUCCESS);
    CHECK(f.live().empty());
  }
}

TEST_CASE("an asynchronous copy reads pageable memory before it returns", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    CUstream stream = nullptr;
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CUdeviceptr device = 0;
    std::vector<int> sent = counting(64);
    const std::vector<int> copy = sent;
    REQUIRE(f.cu.mem_alloc(&device, 256) == CUDA_SUCCESS);
    CHECK(f.cu.memcpy_htod_async(device, sent.data(), 256, stream) == CUDA_SUCCESS);
    std::fill(sent.begin(), sent.end(), -7);
    std::vector<int> received(64);
    // To pageable memory: the call returns when the copy is done.
    CHECK(f.cu.memcpy_dtoh_async(received.data(), device, 256, stream) == CUDA_SUCCESS);
    CHECK(received == copy);
    CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free(device) == CUDA_SUCCESS);
  }
}

TEST_CASE("a pinned destination is poison until somebody waits, in deferred mode", "[cpu]") {
  driver_fixture f(test::deferred());
  CUstream stream = nullptr;
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  CUdeviceptr device = 0;
  void* pinned = nullptr;
  REQUIRE(f.cu.mem_alloc(&device, 64) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_host(&pinned, 64) == CUDA_SUCCESS);
  auto* bytes = static_cast<unsigned char*>(pinned);
  std::memset(pinned, 0x11, 64);
  // There and back through the same buffer: the way there has to see what was in it.
  CHECK(f.cu.memcpy_htod_async(device, pinned, 64, stream) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh_async(pinned, device, 32, stream) == CUDA_SUCCESS);
  CHECK(bytes[0] == gpu::testing::poison);
  CHECK(bytes[31] == gpu::testing::poison);
  CHECK(bytes[32] == 0x11);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(bytes[0] == 0x11);
  CHECK(bytes[31] == 0x11);

  // A loop that asks gets there too.
  CHECK(f.cu.memcpy_dtoh_async(pinned, device, 64, stream) == CUDA_SUCCESS);
  CHECK(f.cu.stream_query(stream) == CUDA_ERROR_NOT_READY);
  CUresult answer = CUDA_ERROR_NOT_READY;
  for (int i = 0; i < 100 && answer == CUDA_ERROR_NOT_READY; ++i)
    answer = f.cu.stream_query(stream);
  CHECK(answer == CUDA_SUCCESS);
  CHECK(bytes[63] == 0x11);

  // What fills it is as late as a copy, also as a node of a graph.
  const auto there = reinterpret_cast<CUdeviceptr>(pinned);
  CHECK(f.cu.memset_d16_async(there, 0x2222, 16, stream) == CUDA_SUCCESS);
  CHECK(bytes[0] == gpu::testing::poison);
  CHECK(bytes[32] == 0x11);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(bytes[31] == 0x22);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CHECK(f.cu.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  CHECK(f.cu.memset_2d_d8_async(there, 16, 0x33, 8, 4, stream) == CUDA_SUCCESS);
  CHECK(f.cu.stream_end_capture(stream, &graph) == CUDA_SUCCESS);
  CHECK(bytes[0] == 0x22);
  CUDA_GRAPH_INSTANTIATE_PARAMS plain{};
  CHECK(f.cu.graph_instantiate_with_params(&exec, graph, &plain) == CUDA_SUCCESS);
  CHECK(f.cu.graph_launch(exec, stream) == CUDA_SUCCESS);
  CHECK(bytes[7] == gpu::testing::poison);
  CHECK(bytes[8] == 0x22);
  CHECK(bytes[55] == gpu::testing::poison);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(bytes[7] == 0x33);
  CHECK(bytes[8] == 0x22);
  CHECK(f.cu.graph_exec_destroy(exec) == CUDA_SUCCESS);
  CHECK(f.cu.graph_destroy(graph) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free_host(pinned) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(device) == CUDA_SUCCESS);
}

TEST_CASE("a copy out of a pinned buffer happens when its turn comes", "[cpu]") {
  driver_fixture f(test::deferred());
  CUstream stream = nullptr;
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  CUdeviceptr device = 0;
  void* pinned = nullptr;
  REQUIRE(f.cu.mem_alloc(&device, 4) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_host(&pinned, 4) == CUDA_SUCCESS);
  *static_cast<int*>(pinned) = 1;
  CHECK(f.cu.memcpy_htod_async(device, pinned, 4, stream) == CUDA_SUCCESS);
  *static_cast<int*>(pinned) = 2;  // too early: the mistake that the mode is for
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  int received = 0;
  CHECK(f.cu.memcpy_dtoh(&received, device, 4) == CUDA_SUCCESS);
  CHECK(received == 2);
}

TEST_CASE("wrong addresses and lengths are refused when a copy is enqueued", "[cpu]") {
  driver_fixture f;
  CUdeviceptr device = 0;
  void* pinned = nullptr;
  std::vector<std::byte> host(256);
  REQUIRE(f.cu.mem_alloc(&device, 100) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_host(&pinned, 100) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_htod(device, host.data(), 101) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_htod(device + 50, host.data(), 51) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_htod(device + 50, host.data(), 50) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_htod(0x1234, host.data(), 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_htod(device, nullptr, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_htod(device, pinned, 101) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_dtoh(host.data(), device, 101) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_dtoh(host.data(), device, ~std::size_t{0}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_dtod(device, device + 1, 100) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_htod(0x1234, nullptr, 0) == CUDA_SUCCESS);  // nothing to copy
  CHECK(f.cu.mem_free(device) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_htod(device, host.data(), 4) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("fills of every width and in two dimensions", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    CUdeviceptr device = 0;
    std::size_t pitch = 0;
    REQUIRE(f.cu.mem_alloc_pitch(&device, &pitch, 40, 3, 4) == CUDA_SUCCESS);
    CHECK(pitch >= 40);
    CHECK(pitch % 512 == 0);
    CHECK(f.cu.memset_d8(device, 0x01, pitch * 3) == CUDA_SUCCESS);
    CHECK(f.cu.memset_2d_d32(device, pitch, 0x04030201u, 2, 3) == CUDA_SUCCESS);
    CHECK(f.cu.memset_2d_d16(device + 8, pitch, 0xbbaau, 2, 2) == CUDA_SUCCESS);
    CHECK(f.cu.memset_d16(device + 2, 0x5566u, 1) == CUDA_SUCCESS);
    std::vector<unsigned char> rows(pitch * 3);
    CHECK(f.cu.memcpy_dtoh(rows.data(), device, rows.size()) == CUDA_SUCCESS);
    const std::vector<unsigned char> first(rows.begin(), rows.begin() + 13);
    CHECK(first ==
          std::vector<unsigned char>{1, 2, 0x66, 0x55, 1, 2, 3, 4, 0xaa, 0xbb, 0xaa, 0xbb, 1});
    CHECK(rows[2 * pitch + 7] == 4);
    CHECK(rows[2 * pitch + 8] == 1);
    CHECK(f.cu.memset_d32(device + 2, 0, 1) == CUDA_ERROR_INVALID_VALUE);  // misaligned
    CHECK(f.cu.memset_d8(device, 0, pitch * 3 + 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.memset_2d_d8(device, 30, 0, 31, 2) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.mem_free(device) == CUDA_SUCCESS);
  }
}

TEST_CASE("a stream fills memory of another device where it has access to it", "[cpu]") {
  for (auto mode : all_modes()) {
    mode.devices = 2;
    driver_fixture f(mode);
    CUcontext second = nullptr;
    CUstream stream = nullptr;
    CUdeviceptr there = 0;
    REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(f.cu.device_primary_ctx_retain(&second, 1) == CUDA_SUCCESS);
    REQUIRE(f.cu.ctx_push_current(second) == CUDA_SUCCESS);
    REQUIRE(f.cu.mem_alloc(&there, 16) == CUDA_SUCCESS);
    REQUIRE(f.cu.memset_d32(there, 3, 4) == CUDA_SUCCESS);
    REQUIRE(f.cu.ctx_synchronize() == CUDA_SUCCESS);
    CUcontext popped = nullptr;
    REQUIRE(f.cu.ctx_pop_current(&popped) == CUDA_SUCCESS);
    CHECK(f.cu.memset_d32_async(there, 9, 4, stream) == CUDA_ERROR_INVALID_VALUE);
    int value = 0;
    REQUIRE(f.cu.memcpy_dtoh(&value, there, sizeof value) == CUDA_SUCCESS);
    CHECK(value == 3);
    REQUIRE(f.cu.ctx_enable_peer_access(second, 0) == CUDA_SUCCESS);
    CHECK(f.cu.memset_d32_async(there, 9, 4, stream) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    REQUIRE(f.cu.memcpy_dtoh(&value, there, sizeof value) == CUDA_SUCCESS);
    CHECK(value == 9);
    REQUIRE(f.cu.ctx_disable_peer_access(second) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free(there) == CUDA_SUCCESS);
    CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
    CHECK(f.cu.device_primary_ctx_release(1) == CUDA_SUCCESS);
  }
}

TEST_CASE("rectangles and boxes are copied row by row", "[cpu]") {
  for (const auto& mode : all_modes()) {
    driver_fixture f(mode);
    // A host image of 4 rows of 8 bytes; its 3 x 2 inside goes to (1, 1) of a device image.
    std::vector<unsigned char> image(32);
    std::iota(image.begin(), image.end(), static_cast<unsigned char>(0));
    CUdeviceptr device = 0;
    REQUIRE(f.cu.mem_alloc(&device, 64) == CUDA_SUCCESS);
    REQUIRE(f.cu.memset_d8(device, 0xff, 64) == CUDA_SUCCESS);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = image.data();
    copy.srcPitch = 8;
    copy.srcXInBytes = 2;
    copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = device;
    copy.dstPitch = 16;
    copy.dstXInBytes = 1;
    copy.dstY = 1;
    copy.WidthInBytes = 3;
    copy.Height = 2;
    CHECK(f.cu.memcpy_2d(&copy) == CUDA_SUCCESS);
    std::vector<unsigned char> result(64);
    CHECK(f.cu.memcpy_dtoh(result.data(), device, 64) == CUDA_SUCCESS);
    std::vector<unsigned char> expected(64, 0xff);
    for (std::size_t y = 0; y < 2; ++y)
      for (std::size_t x = 0; x < 3; ++x)
        expected[(y + 1) * 16 + x + 1] = static_cast<unsigned char>((y + 1) * 8 + x + 2);
    CHECK(result == expected);
    copy.srcPitch = 4;  // the row needs 5
    CHECK(f.cu.memcpy_2d(&copy) == CUDA_ERROR_INVALID_VALUE);

    CUDA_MEMCPY3D box{};
    box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = device;
    box.srcPitch = 16;
    box.srcHeight = 2;
    box.srcY = 1;
    box.dstMemoryType = CU_MEMORYTYPE_HOST;
    std::vector<unsigned char> planes(2 * 2 * 4);
    box.dstHost = planes.data();
    box.dstPitch = 4;
    box.dstHeight = 2;
    box.WidthInBytes = 4;
    box.Height = 1;
    box.Depth = 2;
    CHECK(f.cu.memcpy_3d(&box) == CUDA_SUCCESS);
    CHECK(planes == std::vector<unsigned char>{0xff, 10, 11, 12, 0, 0, 0, 0,  //
                                               0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0});
    CHECK(f.cu.mem_free(device) == CUDA_SUCCESS);
  }
}

}  // namespace copies_test
