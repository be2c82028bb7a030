// Copies of arrays: runs of bytes, boxes, levels, and copies that graphs keep. The codes are those
// of an H200; the test program asks the driver that it runs on, a device's among them.

#include "image_fixture.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace array_copies_test {

using test::array_form;
using test::box;
using test::counting_bytes;
using test::from_array;
using test::from_host;
using test::in_context;
using test::make_array;
using test::to_array;
using test::to_host;

namespace {

constexpr unsigned layered = CUDA_ARRAY3D_LAYERED;
constexpr CUarray_format u8 = CU_AD_FORMAT_UNSIGNED_INT8;

}  // namespace

TEST_CASE("runs of bytes go to and from the first row of an array") {
  in_context f;
  const CUarray array = make_array(f.cu, array_form(128, 0, 0));
  const CUarray other = make_array(f.cu, array_form(512, 0, 0, 0, u8));
  CUdeviceptr memory = 0;
  REQUIRE(f.cu.mem_alloc(&memory, 512) == CUDA_SUCCESS);
  const auto sent = counting_bytes(512);
  std::vector<unsigned char> got(512);
  CHECK(f.cu.memcpy_htoa(array, 0, sent.data(), 512) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_atoh(got.data(), array, 37, 64) == CUDA_SUCCESS);
  CHECK(std::equal(got.begin(), got.begin() + 64, sent.begin() + 37));
  // host -> array -> array -> device -> array -> host, each time a little further along.
  CHECK(f.cu.memcpy_atoa(other, 8, array, 4, 400) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_atod(memory, other, 16, 300) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoa(array, 100, memory + 4, 200) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_atoh(got.data(), array, 0, 512) == CUDA_SUCCESS);
  auto expected = sent;
  std::copy_n(sent.begin() + 16, 200, expected.begin() + 100);
  CHECK(got == expected);

  CUstream stream = nullptr;
  void* pinned = nullptr;
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_host(&pinned, 512) == CUDA_SUCCESS);
  std::memcpy(pinned, sent.data(), 256);
  CHECK(f.cu.memcpy_htoa_async(array, 12, pinned, 256, stream) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_atoh_async(static_cast<char*>(pinned) + 256, array, 12, 256, stream) ==
        CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  CHECK(std::memcmp(static_cast<char*>(pinned) + 256, sent.data(), 256) == 0);

  CHECK(f.cu.memcpy_htoa(array, 4, sent.data(), 509) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_htoa(array, 512, sent.data(), 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_htoa(array, 9999, sent.data(), 0) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_htoa(nullptr, 0, sent.data(), 0) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_htoa(nullptr, 0, sent.data(), 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_htoa(array, 0, nullptr, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_atoh(nullptr, array, 0, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_atod(0, array, 0, 4) == CUDA_ERROR_INVALID_VALUE);
  const CUarray rows = make_array(f.cu, array_form(16, 8, 0));
  CHECK(f.cu.memcpy_htoa(rows, 0, sent.data(), 64) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_htoa(rows, 0, sent.data(), 68) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_htoa(rows, 64, sent.data(), 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_atoa(rows, 0, array, 36, 68) == CUDA_ERROR_INVALID_VALUE);

  for (const CUarray each : {array, other, rows}) CHECK(f.cu.array_destroy(each) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(memory) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free_host(pinned) == CUDA_SUCCESS);
  CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
}

TEST_CASE("boxes of arrays are copied texel by texel") {
  in_context f;
  constexpr std::size_t width = 64;  // bytes
  constexpr std::size_t rows = 8;
  constexpr std::size_t planes = 4;
  const auto sent = counting_bytes(width * rows * planes);
  const auto at = [&](std::size_t x, std::size_t y, std::size_t z) {
    return sent[(z * rows + y) * width + x];
  };
  for (const unsigned flags : {0u, layered}) {
    const CUarray array = make_array(f.cu, array_form(16, rows, planes, flags));
    const CUarray other = make_array(f.cu, array_form(24, 9, 5, flags));
    auto copy = box(width, rows, planes);
    from_host(copy, sent.data(), 0, rows);  // no pitch: rows without gaps
    to_array(copy, array);
    REQUIRE(f.cu.memcpy_3d(&copy) == CUDA_SUCCESS);
    // A part of it, elsewhere in another array, and out with room between rows and planes.
    copy = box(20, 5, 2);
    from_array(copy, array, 12, 2, 1);
    to_array(copy, other, 40, 3, 3);
    REQUIRE(f.cu.memcpy_3d(&copy) == CUDA_SUCCESS);
    std::vector<unsigned char> got(2 * 6 * 32, 0xee);
    copy = box(20, 5, 2);
    from_array(copy, other, 40, 3, 3);
    to_host(copy, got.data(), 32, 6);
    REQUIRE(f.cu.memcpy_3d(&copy) == CUDA_SUCCESS);
    std::vector<unsigned char> expected(got.size(), 0xee);
    for (std::size_t z = 0; z < 2; ++z)
      for (std::size_t y = 0; y < 5; ++y)
        for (std::size_t x = 0; x < 20; ++x)
          expected[(z * 6 + y) * 32 + x] = at(x + 12, y + 2, z + 1);
    CHECK(got == expected);
    CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
    CHECK(f.cu.array_destroy(other) == CUDA_SUCCESS);
  }

  // What does not fit.
  const CUarray small = make_array(f.cu, array_form(16, rows, planes));
  const CUarray line = make_array(f.cu, array_form(32, 0, 4, layered));
  struct place {
    CUarray array;
    std::size_t x, y, z, width, height, depth;
    bool fits;
  };
  for (const place& each : {place{small, 0, 0, 0, 64, 8, 4, true},
                            {small, 2, 0, 0, 6, 8, 4, true},  // ends within texels
                            {small, 4, 0, 0, 64, 8, 4, false},
                            {small, 0, 1, 0, 64, 8, 4, false},
                            {small, 0, 0, 1, 64, 8, 4, false},
                            {small, 999, 0, 0, 64, 8, 0, true},  // nothing to copy
                            {line, 0, 0, 1, 128, 1, 2, true},
                            {line, 0, 1, 0, 128, 1, 1, false},
                            {line, 0, 0, 3, 128, 1, 2, false},
                            {nullptr, 0, 0, 0, 4, 1, 1, false}}) {
    auto copy = box(each.width, each.height, each.depth);
    from_host(copy, sent.data(), 0, 0);  // no pitch, no height: as much as it takes
    to_array(copy, each.array, each.x, each.y, each.z);
    CHECK(f.cu.memcpy_3d(&copy) == (each.fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE));
  }
  // Without a pitch and a height, rows and planes end where what is copied of them ends.
  std::vector<unsigned char> cut(16 * 3 * 2);
  auto tight = box(16, 3, 2);
  from_host(tight, sent.data(), 0, 0);
  tight.srcXInBytes = 4;
  tight.srcY = 1;
  to_array(tight, small);
  CHECK(f.cu.memcpy_3d(&tight) == CUDA_SUCCESS);
  tight = box(16, 3, 2);
  from_array(tight, small);
  to_host(tight, cut.data(), 16, 3);
  CHECK(f.cu.memcpy_3d(&tight) == CUDA_SUCCESS);
  bool tightly = true;
  for (std::size_t z = 0; z < 2; ++z)
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 16; ++x)
        tightly &= cut[(z * 3 + y) * 16 + x] == sent[(z * 4 + y + 1) * 20 + x + 4];
  CHECK(tightly);
  auto levelled = box(4, 1, 1);
  from_host(levelled, sent.data(), 4, 1);
  to_array(levelled, small);
  levelled.dstLOD = 1;
  CHECK(f.cu.memcpy_3d(&levelled) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.array_destroy(small) == CUDA_SUCCESS);
  CHECK(f.cu.array_destroy(line) == CUDA_SUCCESS);

  // Two dimensions, by way of device memory, in a stream.
  const CUarray array = make_array(f.cu, array_form(16, 8, 0, 0, u8, 4));
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  REQUIRE(f.cu.mem_alloc(&memory, 1024) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.memcpy_htod(memory, sent.data(), 1024) == CUDA_SUCCESS);
  CUDA_MEMCPY2D two{};
  two.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  two.srcDevice = memory;
  two.srcPitch = 100;
  two.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  two.dstArray = array;
  two.dstXInBytes = 8;
  two.dstY = 2;
  two.WidthInBytes = 48;
  two.Height = 6;
  CHECK(f.cu.memcpy_2d_async(&two, stream) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
  std::vector<unsigned char> got(48 * 6);
  CUDA_MEMCPY2D back{};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = array;
  back.srcXInBytes = 8;
  back.srcY = 2;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = got.data();
  back.dstPitch = 48;
  back.WidthInBytes = 48;
  back.Height = 6;
  CHECK(f.cu.memcpy_2d_unaligned(&back) == CUDA_SUCCESS);
  bool right = true;
  for (std::size_t y = 0; y < 6; ++y)
    for (std::size_t x = 0; x < 48; ++x) right &= got[y * 48 + x] == sent[y * 100 + x];
  CHECK(right);

  // With contexts, of which an array needs none.
  std::fill(got.begin(), got.end(), static_cast<unsigned char>(0));
  CUDA_MEMCPY3D_PEER peer{};
  peer.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  peer.srcArray = array;
  peer.srcXInBytes = 8;
  peer.srcY = 2;
  peer.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  peer.dstDevice = memory;
  peer.dstContext = f.context;
  peer.WidthInBytes = 48;
  peer.Height = 6;
  peer.Depth = 1;
  CHECK(f.cu.memcpy_3d_peer(&peer) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_dtoh(got.data(), memory, got.size()) == CUDA_SUCCESS);
  for (std::size_t y = 0; y < 6; ++y)
    for (std::size_t x = 0; x < 48; ++x) right &= got[y * 48 + x] == sent[y * 100 + x];
  CHECK(right);

  CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free(memory) == CUDA_SUCCESS);
  CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
}

TEST_CASE("a level is copied like an array, and compressed blocks like texels") {
  in_context f;
  const auto form = array_form(16, 8, 0, 0, u8);
  CUmipmappedArray levels = nullptr;
  REQUIRE(f.cu.mipmapped_array_create(&levels, &form, 3) == CUDA_SUCCESS);
  std::vector<std::vector<unsigned char>> sent;
  for (unsigned i = 0; i < 3; ++i) {
    const std::size_t width = 16u >> i;
    const std::size_t height = 8u >> i;
    sent.push_back(counting_bytes(width * height, 17 * i));
    CUarray level = nullptr;
    REQUIRE(f.cu.mipmapped_array_get_level(&level, levels, i) == CUDA_SUCCESS);
    auto copy = box(width, height, 1);
    from_host(copy, sent.back().data(), width, height);
    to_array(copy, level);
    CHECK(f.cu.memcpy_3d(&copy) == CUDA_SUCCESS);
  }
  for (unsigned i = 0; i < 3; ++i) {
    const std::size_t width = 16u >> i;
    const std::size_t height = 8u >> i;
    CUarray level = nullptr;
    REQUIRE(f.cu.mipmapped_array_get_level(&level, levels, i) == CUDA_SUCCESS);
    std::vector<unsigned char> got(width * height);
    auto copy = box(width, height, 1);
    from_array(copy, level);
    to_host(copy, got.data(), width, height);
    CHECK(f.cu.memcpy_3d(&copy) == CUDA_SUCCESS);
    CHECK(got == sent[i]);
    copy.Height = height + 1;
    CHECK(f.cu.memcpy_3d(&copy) == CUDA_ERROR_INVALID_VALUE);
  }
  // A level ends with its array only.
  CUarray level = nullptr;
  unsigned char first = 99;
  REQUIRE(f.cu.mipmapped_array_get_level(&level, levels, 1) == CUDA_SUCCESS);
  CHECK(f.cu.array_destroy(level) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_atoh(&first, level, 0, 1) == CUDA_SUCCESS);
  CHECK(first == sent[1][0]);
  CHECK(f.cu.mipmapped_array_destroy(levels) == CUDA_SUCCESS);

  // 30 by 18 texels are 8 by 5 blocks of 8 bytes.
  const CUarray blocks = make_array(f.cu, array_form(30, 18, 0, 0, CU_AD_FORMAT_BC1_UNORM, 4));
  const auto bytes = counting_bytes(64 * 5);
  std::vector<unsigned char> got(bytes.size());
  auto copy = box(64, 5, 1);
  from_host(copy, bytes.data(), 64, 5);
  to_array(copy, blocks);
  CHECK(f.cu.memcpy_3d(&copy) == CUDA_SUCCESS);
  copy = box(64, 5, 1);
  from_array(copy, blocks);
  to_host(copy, got.data(), 64, 5);
  CHECK(f.cu.memcpy_3d(&copy) == CUDA_SUCCESS);
  CHECK(got == bytes);
  copy.Height = 6;
  CHECK(f.cu.memcpy_3d(&copy) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.array_destroy(blocks) == CUDA_SUCCESS);
}

TEST_CASE("copies of arrays are recorded in a capture; making and ending arrays spoils one") {
  in_context f;
  const CUarray array = make_array(f.cu, array_form(16, 8, 0));
  CUstream stream = nullptr;
  void* pinned = nullptr;
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc_host(&pinned, 1024) == CUDA_SUCCESS);
  auto* bytes = static_cast<unsigned char*>(pinned);
  std::memset(pinned, 0, 1024);
  auto in = box(64, 8, 1);
  from_host(in, bytes, 64, 8);
  to_array(in, array);
  REQUIRE(f.cu.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_3d_async(&in, stream) == CUDA_SUCCESS);
  CHECK(f.cu.memcpy_atoh_async(bytes + 512, array, 4, 60, stream) == CUDA_SUCCESS);
  CUgraph graph = nullptr;
  REQUIRE(f.cu.stream_end_capture(stream, &graph) == CUDA_SUCCESS);

  // One more node, by its description: another row to another place.
  std::size_t count = 2;
  CUgraphNode nodes[2] = {};
  CHECK(f.cu.graph_get_nodes(graph, nodes, &count) == CUDA_SUCCESS);
  CHECK(count == 2);
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  params.memcpy.copyCtx = f.context;
  params.memcpy.copyParams = box(64, 1, 1);
  from_array(params.memcpy.copyParams, array, 0, 5);
  to_host(params.memcpy.copyParams, bytes + 600, 64, 1);
  CUgraphNode node = nullptr;
  CHECK(f.cu.graph_add_node(&node, graph, nodes, nullptr, 2, &params) == CUDA_SUCCESS);
  params.memcpy.copyParams.Height = 9;
  CHECK(f.cu.graph_add_node(&node, graph, nullptr, nullptr, 0, &params) ==
        CUDA_ERROR_INVALID_VALUE);
  CUgraphExec executable = nullptr;
  REQUIRE(test::instantiate(f.cu, graph, executable) == CUDA_SUCCESS);
  for (const unsigned first : {1u, 7u}) {
    const auto sent = counting_bytes(512, first);
    std::memcpy(pinned, sent.data(), 512);
    CHECK(f.cu.graph_launch(executable, stream) == CUDA_SUCCESS);
    CHECK(f.cu.stream_synchronize(stream) == CUDA_SUCCESS);
    CHECK(std::memcmp(bytes + 512, sent.data() + 4, 60) == 0);
    CHECK(std::memcmp(bytes + 600, sent.data() + 5 * 64, 64) == 0);
  }
  CHECK(f.cu.graph_exec_destroy(executable) == CUDA_SUCCESS);
  CHECK(f.cu.graph_destroy(graph) == CUDA_SUCCESS);

  CUarray made = nullptr;
  CUmipmappedArray levels = nullptr;
  CUtexObject texture = 0;
  const auto form = array_form(8, 8, 0);
  const auto resource = test::resource_of(array);
  const auto how = test::sampling();
  const auto spoils = [&](auto call) {
    REQUIRE(f.cu.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
    CHECK(call() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(f.cu.stream_end_capture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  };
  spoils([&] { return f.cu.array_3d_create(&made, &form); });
  spoils([&] { return f.cu.array_destroy(array); });
  spoils([&] { return f.cu.mipmapped_array_create(&levels, &form, 2); });
  spoils([&] { return f.cu.tex_object_create(&texture, &resource, &how, nullptr); });
  spoils([&] { return f.cu.surf_object_create(&texture, &resource); });
  spoils([&] { return f.cu.tex_object_destroy(0); });
  CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
  CHECK(f.cu.mem_free_host(pinned) == CUDA_SUCCESS);
  CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
}

}  // namespace array_copies_test
