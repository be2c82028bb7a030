// What the documentation of cuTensorMapEncodeTiled asks of alignment, and no more.

#include "driver_fixture.hpp"

#include <cstdint>

namespace tensor_maps_test { namespace {

TEST_CASE("a tensor map and what it describes are aligned as documented", "[cpu]") {
  test::driver_fixture f;
  alignas(128) unsigned char room[4 * sizeof(CUtensorMap)];
  CUdeviceptr tensor = 0;
  REQUIRE(f.cu.mem_alloc(&tensor, 4096) == CUDA_SUCCESS);
  const auto encode = [&](std::size_t map_at, std::size_t first, cuuint64_t stride,
                          cuuint32_t inner) {
    const cuuint64_t extents[] = {16, 8}, strides[] = {stride};
    const cuuint32_t box[] = {inner, 4}, steps[] = {1, 1};
    return f.cu.tensor_map_encode_tiled(
        reinterpret_cast<CUtensorMap*>(room + map_at), CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
        reinterpret_cast<void*>(tensor + first), extents, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  for (const std::size_t at : {0u, 64u, 128u, 192u}) CHECK(encode(at, 0, 64, 4) == CUDA_SUCCESS);
  for (const std::size_t at : {8u, 16u, 32u, 96u})
    CHECK(encode(at, 0, 64, 4) == CUDA_ERROR_INVALID_VALUE);
  for (const std::size_t first : {16u, 32u, 48u}) CHECK(encode(0, first, 64, 4) == CUDA_SUCCESS);
  for (const std::size_t first : {4u, 8u, 24u})
    CHECK(encode(0, first, 64, 4) == CUDA_ERROR_INVALID_VALUE);
  for (const cuuint64_t stride : {64u, 80u}) CHECK(encode(0, 0, stride, 4) == CUDA_SUCCESS);
  for (const cuuint64_t stride : {68u, 72u})
    CHECK(encode(0, 0, stride, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(encode(0, 0, 64, 8) == CUDA_SUCCESS);
  CHECK(encode(0, 0, 64, 6) == CUDA_ERROR_INVALID_VALUE);  // 24 bytes side by side
}

}}  // namespace tensor_maps_test
