// Mapping physical memory to arrays: what the CPU driver lets through, where texels lie in tiles,
// and what becomes of copies that meet nothing.

#include "image_fixture.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

namespace array_mappings_test {

using test::array_form;
using test::in_context;
using test::make_array;

namespace {

constexpr unsigned layered = CUDA_ARRAY3D_LAYERED;
constexpr unsigned sparse = CUDA_ARRAY3D_SPARSE;
constexpr unsigned deferred = CUDA_ARRAY3D_DEFERRED_MAPPING;

CUarrayMapInfo mapping(CUmemGenericAllocationHandle memory, std::size_t offset = 0) {
  CUarrayMapInfo info;
  std::memset(&info, 0, sizeof info);
  info.memOperationType = memory == 0 ? CU_MEM_OPERATION_TYPE_UNMAP : CU_MEM_OPERATION_TYPE_MAP;
  info.memHandle.memHandle = memory;
  info.offset = offset;
  info.deviceBitMask = 1;
  return info;
}

/// The box of a level from the origin on.
CUarrayMapInfo tiles(CUarray array, unsigned width, unsigned height,
                     CUmemGenericAllocationHandle memory, std::size_t offset = 0) {
  CUarrayMapInfo info = mapping(memory, offset);
  info.resourceType = CU_RESOURCE_TYPE_ARRAY;
  info.resource.array = array;
  info.subresource.sparseLevel.extentWidth = width;
  info.subresource.sparseLevel.extentHeight = height;
  info.subresource.sparseLevel.extentDepth = 1;
  return info;
}

CUarrayMapInfo tail(CUmipmappedArray array, std::size_t offset, std::size_t size,
                    CUmemGenericAllocationHandle memory) {
  CUarrayMapInfo info = mapping(memory);
  info.resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  info.resource.mipmap = array;
  info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL;
  info.subresource.miptail.offset = offset;
  info.subresource.miptail.size = size;
  return info;
}

struct tile_pool : in_context {
  CUmemGenericAllocationHandle pool = make(CU_MEM_CREATE_USAGE_TILE_POOL);

  tile_pool() = default;
  ~tile_pool() { (void)cu.mem_release(pool); }

  CUmemGenericAllocationHandle make(unsigned short usage, std::size_t bytes = 4 << 20) const {
    CUmemAllocationProp wanted{};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.allocFlags.usage = usage;
    CUmemGenericAllocationHandle made = 0;
    REQUIRE(cu.mem_create(&made, bytes, &wanted, 0) == CUDA_SUCCESS);
    return made;
  }
  CUresult map(CUarrayMapInfo info) const { return cu.mem_map_array_async(&info, 1, nullptr); }
};

/// Copies floats to or from a box of an array.
CUresult copy_box(const in_context& f, CUarray array, std::vector<float>& texels, std::size_t width,
                  std::size_t height, bool to) {
  texels.resize(width * height);
  CUDA_MEMCPY3D copy = test::box(width * sizeof(float), height, 1);
  if (to) {
    test::to_array(copy, array);
    test::from_host(copy, texels.data(), width * sizeof(float), height);
  } else {
    test::from_array(copy, array);
    test::to_host(copy, texels.data(), width * sizeof(float), height);
  }
  return f.cu.memcpy_3d(&copy);
}

}  // namespace

TEST_CASE("tiles hold their texels wherever they are mapped", "[cpu]") {
  tile_pool f;
  const CUarray wide = make_array(f.cu, array_form(256, 128, 0, sparse));
  const CUarray narrow = make_array(f.cu, array_form(128, 128, 0, sparse));
  // The second tile of one array is the only one of the other.
  REQUIRE(f.map(tiles(wide, 256, 128, f.pool)) == CUDA_SUCCESS);
  REQUIRE(f.map(tiles(narrow, 128, 128, f.pool, 65536)) == CUDA_SUCCESS);
  std::vector<float> in(256 * 128), out;
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  REQUIRE(copy_box(f, wide, in, 256, 128, true) == CUDA_SUCCESS);
  REQUIRE(copy_box(f, narrow, out, 128, 128, false) == CUDA_SUCCESS);
  for (std::size_t y = 0; y < 128; ++y)
    for (std::size_t x = 0; x < 128; ++x)
      REQUIRE(out[y * 128 + x] == static_cast<float>(y * 256 + 128 + x));
  // What is in the memory stays there, and comes with it to the first tile.
  REQUIRE(f.map(tiles(wide, 256, 128, 0)) == CUDA_SUCCESS);
  REQUIRE(f.map(tiles(wide, 128, 128, f.pool, 65536)) == CUDA_SUCCESS);
  std::vector<float> moved;
  REQUIRE(copy_box(f, wide, moved, 128, 128, false) == CUDA_SUCCESS);
  CHECK(moved == out);
  CHECK(f.cu.array_destroy(wide) == CUDA_SUCCESS);
  CHECK(f.cu.array_destroy(narrow) == CUDA_SUCCESS);
}

TEST_CASE("requests to map that cannot be are refused", "[cpu]") {
  tile_pool f;
  constexpr CUresult invalid = CUDA_ERROR_INVALID_VALUE;
  const CUarray array = make_array(f.cu, array_form(512, 256, 0, sparse));
  const auto refused = [&](auto change) {
    CUarrayMapInfo info = tiles(array, 128, 128, f.pool);
    REQUIRE(f.map(info) == CUDA_SUCCESS);
    change(info);
    return f.map(info) == invalid;
  };
  using info = CUarrayMapInfo;
  CHECK(refused([](info& i) { i.flags = 1; }));
  CHECK(refused([](info& i) { i.reserved[1] = 1; }));
  CHECK(refused([](info& i) { i.deviceBitMask = 0; }));
  CHECK(refused([](info& i) { i.deviceBitMask = 3; }));
  CHECK(refused([](info& i) { i.resourceType = CU_RESOURCE_TYPE_LINEAR; }));
  CHECK(refused([](info& i) { i.resource.array = nullptr; }));
  CHECK(refused([](info& i) { i.offset = 100; }));
  CHECK(refused([](info& i) { i.offset = 4 << 20; }));
  CHECK(refused([](info& i) { i.memHandle.memHandle = 0; }));
  CHECK(refused([](info& i) { i.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP; }));
  CHECK(refused([](info& i) { i.memOperationType = CUmemOperationType{}; }));
  CHECK(refused([](info& i) { i.subresource.sparseLevel.level = 1; }));
  CHECK(refused([](info& i) { i.subresource.sparseLevel.layer = 1; }));
  CHECK(refused([](info& i) { i.subresource.sparseLevel.offsetX = 64; }));
  CHECK(refused([](info& i) { i.subresource.sparseLevel.offsetY = 256; }));
  CHECK(refused([](info& i) { i.subresource.sparseLevel.extentWidth = 100; }));
  CHECK(refused([](info& i) { i.subresource.sparseLevel.extentWidth = 0; }));
  CHECK(refused([](info& i) { i.subresource.sparseLevel.extentHeight = 384; }));
  CHECK(refused([](info& i) { i.subresource.sparseLevel.extentDepth = 2; }));
  CHECK(refused([](info& i) { i.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL; }));
  CHECK(f.cu.mem_map_array_async(nullptr, 1, nullptr) == invalid);
  CUarrayMapInfo one = tiles(array, 128, 128, f.pool);
  CHECK(f.cu.mem_map_array_async(&one, 0, nullptr) == invalid);

  // At an edge that cuts through tiles, extents end with the array.
  const CUarray odd = make_array(f.cu, array_form(200, 130, 0, sparse));
  CHECK(f.map(tiles(odd, 200, 130, f.pool)) == CUDA_SUCCESS);
  CHECK(f.map(tiles(odd, 256, 256, f.pool)) == invalid);
  CHECK(f.map(tiles(odd, 128, 130, f.pool)) == CUDA_SUCCESS);
  CHECK(f.map(tiles(odd, 128, 129, f.pool)) == invalid);
  CHECK(f.cu.array_destroy(odd) == CUDA_SUCCESS);

  const CUmemGenericAllocationHandle plain = f.make(0);
  CHECK(f.map(tiles(array, 128, 128, plain)) == invalid);
  CHECK(f.cu.mem_release(plain) == CUDA_SUCCESS);
  CHECK(f.map(tiles(array, 128, 128, plain)) == invalid);  // it is gone
  const CUarray whole = make_array(f.cu, array_form(512, 256, 0));
  CHECK(f.map(tiles(whole, 128, 128, f.pool)) == invalid);
  const CUarray blocks =
      make_array(f.cu, array_form(512, 512, 0, sparse, CU_AD_FORMAT_BC1_UNORM, 4));
  CHECK(f.map(tiles(blocks, 128, 128, f.pool)) == CUDA_ERROR_NOT_SUPPORTED);
  for (const CUarray each : {array, whole, blocks}) CHECK(f.cu.array_destroy(each) == CUDA_SUCCESS);

  CUmipmappedArray levels = nullptr;
  const auto form = array_form(256, 256, 2, sparse | layered);
  REQUIRE(f.cu.mipmapped_array_create(&levels, &form, 9) == CUDA_SUCCESS);
  CUDA_ARRAY_SPARSE_PROPERTIES tail_of{};
  REQUIRE(f.cu.mipmapped_array_get_sparse_properties(&tail_of, levels) == CUDA_SUCCESS);
  CHECK(f.map(tail(levels, 0, tail_of.miptailSize, f.pool)) == CUDA_SUCCESS);
  CHECK(f.map(tail(levels, 1, tail_of.miptailSize, f.pool)) == invalid);
  CHECK(f.map(tail(levels, 0, 1, f.pool)) == invalid);
  CHECK(f.map(tail(levels, 0, tail_of.miptailSize + 65536, f.pool)) == invalid);
  CHECK(f.map(tail(levels, tail_of.miptailSize + 65536, 65536, f.pool)) == invalid);
  CUarrayMapInfo other = tail(levels, 0, 65536, f.pool);
  other.subresource.miptail.layer = 2;
  CHECK(f.map(other) == invalid);
  CUarray level = nullptr;
  REQUIRE(f.cu.mipmapped_array_get_level(&level, levels, 0) == CUDA_SUCCESS);
  CHECK(f.map(tiles(level, 128, 128, f.pool)) == invalid);
  CHECK(f.cu.mipmapped_array_destroy(levels) == CUDA_SUCCESS);
  CUarrayMapInfo gone = tail(levels, 0, 65536, f.pool);
  CHECK(f.map(gone) == invalid);
}

TEST_CASE("a list of requests is done as a whole, in turn", "[cpu]") {
  tile_pool f;
  const CUarray array = make_array(f.cu, array_form(256, 128, 0, sparse));
  CUarrayMapInfo list[] = {tiles(array, 128, 128, f.pool), tiles(array, 128, 128, f.pool)};
  list[1].subresource.sparseLevel.offsetX = 128;
  list[1].offset = 65536;
  REQUIRE(f.cu.mem_map_array_async(list, 2, nullptr) == CUDA_SUCCESS);
  std::vector<float> texels(256 * 128, 3);
  CHECK(copy_box(f, array, texels, 256, 128, true) == CUDA_SUCCESS);
  list[1].flags = 1;
  list[0].memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
  list[0].memHandle.memHandle = 0;
  CHECK(f.cu.mem_map_array_async(list, 2, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(copy_box(f, array, texels, 256, 128, true) == CUDA_SUCCESS);
  CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);

  const CUarray later = make_array(f.cu, array_form(64, 64, 0, deferred));
  CUstream stream = nullptr;
  REQUIRE(f.cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  CUarrayMapInfo whole = mapping(f.pool);
  whole.resourceType = CU_RESOURCE_TYPE_ARRAY;
  whole.resource.array = later;
  std::memset(&whole.subresource, 0xff, sizeof whole.subresource);  // nobody looks at it
  CHECK(f.cu.mem_map_array_async(&whole, 1, stream) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  CHECK(f.cu.stream_end_capture(stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK(f.cu.mem_map_array_async(&whole, 1, stream) == CUDA_SUCCESS);
  CHECK(copy_box(f, later, texels, 64, 64, true) == CUDA_SUCCESS);
  CHECK(f.cu.stream_destroy(stream) == CUDA_SUCCESS);
  CHECK(f.cu.array_destroy(later) == CUDA_SUCCESS);
}

TEST_CASE("a copy of tiles without memory is a fault", "[cpu]") {
  const test::own_cpu_driver driver;
  const gpu::driver::entry_points& cu = driver.table();
  CUcontext context = nullptr;
  REQUIRE(cu.init(0) == CUDA_SUCCESS);
  REQUIRE(cu.device_primary_ctx_retain(&context, 0) == CUDA_SUCCESS);
  REQUIRE(cu.ctx_push_current(context) == CUDA_SUCCESS);
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
  CUmemGenericAllocationHandle pool = 0;
  REQUIRE(cu.mem_create(&pool, 2 << 20, &wanted, 0) == CUDA_SUCCESS);
  const CUarray array = make_array(cu, array_form(256, 128, 0, sparse));
  CUarrayMapInfo first = tiles(array, 128, 128, pool);
  REQUIRE(cu.mem_map_array_async(&first, 1, nullptr) == CUDA_SUCCESS);
  std::vector<float> texels(256 * 128, 1);
  CUDA_MEMCPY3D copy = test::box(256 * sizeof(float), 128, 1);
  test::to_array(copy, array);
  test::from_host(copy, texels.data(), 256 * sizeof(float), 128);
  (void)cu.memcpy_3d(&copy);
  CHECK(cu.ctx_synchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace array_mappings_test
