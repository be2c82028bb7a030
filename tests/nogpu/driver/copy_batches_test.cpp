// Several copies in one call.

#include "driver_fixture.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace copy_batches_test {

using test::all_modes;
using test::driver_fixture;

namespace {

struct batch_fixture : driver_fixture {
  CUstream stream = nullptr;

  explicit batch_fixture(const gpu::testing::cpu_driver_options& options)
      : driver_fixture(options) {
    REQUIRE(cu.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  }

  CUdeviceptr memory(std::size_t bytes) {
    CUdeviceptr made = 0;
    REQUIRE(cu.mem_alloc(&made, bytes) == CUDA_SUCCESS);
    return made;
  }
  CUarray array(CUarray_format format, unsigned channels, std::size_t width, std::size_t height) {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    description.Width = width;
    description.Height = height;
    description.Format = format;
    description.NumChannels = channels;
    CUarray made = nullptr;
    REQUIRE(cu.array_3d_create(&made, &description) == CUDA_SUCCESS);
    return made;
  }
  template <class... Copies> CUresult queue(Copies... copies) {
    CUDA_MEMCPY3D_BATCH_OP list[] = {copies...};
    return cu.memcpy_3d_batch_async(sizeof...(copies), list, 0, stream);
  }
};

CUmemcpy3DOperand pointer(std::uint64_t address, std::size_t row = 0, std::size_t rows = 0) {
  CUmemcpy3DOperand made{};
  made.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  made.op.ptr.ptr = address;
  made.op.ptr.rowLength = row;
  made.op.ptr.layerHeight = rows;
  return made;
}
CUmemcpy3DOperand part(CUarray array, CUoffset3D offset = {}) {
  CUmemcpy3DOperand made{};
  made.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
  made.op.array.array = array;
  made.op.array.offset = offset;
  return made;
}
CUDA_MEMCPY3D_BATCH_OP box(const CUmemcpy3DOperand& to, const CUmemcpy3DOperand& from,
                           CUextent3D extent,
                           CUmemcpySrcAccessOrder order = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM) {
  CUDA_MEMCPY3D_BATCH_OP made{};
  made.dst = to;
  made.src = from;
  made.extent = extent;
  made.srcAccessOrder = order;
  return made;
}

}  // namespace

TEST_CASE("a batch of boxes counts in the texels of its arrays", "[cpu]") {
  for (const auto& mode : all_modes()) {
    batch_fixture f(mode);
    const CUarray image = f.array(CU_AD_FORMAT_UNSIGNED_INT16, 2, 6, 4);
    const CUarray other = f.array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 6, 4);
    const CUdeviceptr flat = f.memory(256);
    std::vector<std::uint32_t> texels(24), back(8, 0);
    std::iota(texels.begin(), texels.end(), 1u);
    const auto from = reinterpret_cast<std::uint64_t>(texels.data());
    REQUIRE(f.queue(box(part(image), pointer(from), {6, 4, 1},
                        CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)) == CUDA_SUCCESS);
    texels.assign(24, 0);
    // Texels of one size, though not of one format.
    REQUIRE(f.queue(box(part(other, {2, 0, 0}), part(image, {0, 2, 0}), {3, 2, 1})) ==
            CUDA_SUCCESS);
    REQUIRE(f.queue(box(pointer(flat, 4), part(other, {2, 0, 0}), {3, 2, 1})) == CUDA_SUCCESS);
    REQUIRE(f.cu.stream_synchronize(f.stream) == CUDA_SUCCESS);
    REQUIRE(f.cu.memcpy_dtoh(back.data(), flat, 12) == CUDA_SUCCESS);
    REQUIRE(f.cu.memcpy_dtoh(back.data() + 4, flat + 16, 12) == CUDA_SUCCESS);
    CHECK(back == std::vector<std::uint32_t>{13, 14, 15, 0, 19, 20, 21, 0});
    CHECK(f.cu.array_destroy(image) == CUDA_SUCCESS);
    CHECK(f.cu.array_destroy(other) == CUDA_SUCCESS);
    CHECK(f.cu.mem_free(flat) == CUDA_SUCCESS);
    CHECK(f.reports() == "");
  }
}

TEST_CASE("a batch of boxes counts in bytes between pointers", "[cpu]") {
  batch_fixture f(test::without_places());
  const CUdeviceptr from = f.memory(64), to = f.memory(64);
  std::array<unsigned char, 64> bytes{}, back{};
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
  REQUIRE(f.cu.memcpy_htod(from, bytes.data(), 64) == CUDA_SUCCESS);
  REQUIRE(f.cu.memset_d8(to, 0, 64) == CUDA_SUCCESS);
  // Two planes of two rows of three bytes, out of planes of three rows of eight.
  REQUIRE(f.queue(box(pointer(to), pointer(from + 1, 8, 3), {3, 2, 2})) == CUDA_SUCCESS);
  REQUIRE(f.cu.stream_synchronize(f.stream) == CUDA_SUCCESS);
  REQUIRE(f.cu.memcpy_dtoh(back.data(), to, 64) == CUDA_SUCCESS);
  const std::array<unsigned char, 13> expected{2, 3, 4, 10, 11, 12, 26, 27, 28, 34, 35, 36, 0};
  CHECK(std::equal(expected.begin(), expected.end(), back.begin()));
}

TEST_CASE("a batch of boxes that cannot be is refused as a whole", "[cpu]") {
  batch_fixture f(test::without_places());
  const CUarray image = f.array(CU_AD_FORMAT_FLOAT, 1, 6, 4);
  const CUarray wide = f.array(CU_AD_FORMAT_FLOAT, 2, 6, 4);
  const CUdeviceptr flat = f.memory(96);
  REQUIRE(f.cu.memset_d8(flat, 0, 96) == CUDA_SUCCESS);
  const CUDA_MEMCPY3D_BATCH_OP good = box(part(image), pointer(flat), {6, 4, 1});
  const auto refuses = [&](const CUDA_MEMCPY3D_BATCH_OP& bad) {
    return f.queue(good, bad) == CUDA_ERROR_INVALID_VALUE;
  };
  CHECK(refuses(box(part(wide), part(image), {6, 4, 1})));  // texels of two sizes
  CHECK(refuses(box(part(image, {1, 0, 0}), pointer(flat), {6, 4, 1})));
  CHECK(refuses(box(part(image), pointer(flat), {6, 4, 2})));
  CHECK(refuses(box(part(image), pointer(flat, 5), {6, 4, 1})));  // rows shorter than the box
  CHECK(refuses(box(part(image), pointer(flat), {6, 0, 1})));
  CHECK(refuses(box(part(nullptr), pointer(flat), {6, 4, 1})));
  CHECK(refuses(box(part(image), pointer(0), {6, 4, 1})));
  CHECK(refuses(box(part(image), pointer(flat), {6, 4, 1}, CUmemcpySrcAccessOrder{})));
  CUDA_MEMCPY3D_BATCH_OP wrong = good;
  wrong.flags = 2;
  CHECK(refuses(wrong));
  wrong = good;
  wrong.src.type = static_cast<CUmemcpy3DOperandType>(3);
  CHECK(refuses(wrong));
  wrong = good;
  CHECK(f.cu.memcpy_3d_batch_async(0, &wrong, 0, f.stream) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_3d_batch_async(1, nullptr, 0, f.stream) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_3d_batch_async(1, &wrong, 1, f.stream) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.memcpy_3d_batch_async(1, &wrong, 0, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.queue(good) == CUDA_SUCCESS);
  CHECK(f.cu.stream_synchronize(f.stream) == CUDA_SUCCESS);
}

TEST_CASE("a batch of runs takes attributes for parts of it", "[cpu]") {
  for (const auto& mode : all_modes()) {
    batch_fixture f(mode);
    CUdeviceptr to[3] = {f.memory(16), f.memory(16), f.memory(16)};
    std::array<int, 12> values{}, back{};
    std::iota(values.begin(), values.end(), 1);
    CUdeviceptr from[3];
    for (std::size_t i = 0; i < 3; ++i)
      from[i] = reinterpret_cast<CUdeviceptr>(values.data() + 4 * i);
    std::size_t sizes[3] = {16, 16, 16};
    CUmemcpyAttributes attributes[2]{};
    attributes[0].srcAccessOrder = attributes[1].srcAccessOrder =
        CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    std::size_t firsts[2] = {0, 1};
    const auto queue = [&](std::size_t count, std::size_t attribute_count) {
      return f.cu.memcpy_batch_async(to, from, sizes, count, attributes, firsts, attribute_count,
                                     f.stream);
    };
    REQUIRE(queue(3, 2) == CUDA_SUCCESS);
    const std::array<int, 12> sent = values;
    values.fill(0);
    REQUIRE(f.cu.stream_synchronize(f.stream) == CUDA_SUCCESS);
    for (std::size_t i = 0; i < 3; ++i)
      REQUIRE(f.cu.memcpy_dtoh(back.data() + 4 * i, to[i], 16) == CUDA_SUCCESS);
    CHECK(back == sent);
    CHECK(queue(0, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(queue(3, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(queue(1, 2) == CUDA_ERROR_INVALID_VALUE);  // more attributes than copies
    firsts[0] = 1;
    CHECK(queue(3, 2) == CUDA_ERROR_INVALID_VALUE);  // the first copy has none
    firsts[0] = 0;
    firsts[1] = 3;
    CHECK(queue(3, 2) == CUDA_ERROR_INVALID_VALUE);
    firsts[1] = 0;
    CHECK(queue(3, 2) == CUDA_ERROR_INVALID_VALUE);
    firsts[1] = 1;
    sizes[2] = 0;
    CHECK(queue(3, 2) == CUDA_ERROR_INVALID_VALUE);
    sizes[2] = 16;
    attributes[1].flags = 2;
    CHECK(queue(3, 2) == CUDA_ERROR_INVALID_VALUE);
    attributes[1].flags = 0;
    attributes[1].srcLocHint = {CU_MEM_LOCATION_TYPE_DEVICE, 99};
    CHECK(queue(3, 2) == CUDA_ERROR_INVALID_VALUE);
    attributes[1].srcLocHint = {};
    attributes[1].srcAccessOrder = CUmemcpySrcAccessOrder{};
    CHECK(queue(3, 2) == CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace copy_batches_test
