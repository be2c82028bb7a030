// Arrays: which there are, and what they say of themselves. The codes and sizes are those of an
// H200; the test program asks the driver that it runs on, a device's among them.

#include "image_fixture.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace arrays_test {

using test::array_form;
using test::counting_bytes;
using test::in_context;
using test::make_array;

namespace {

constexpr unsigned layered = CUDA_ARRAY3D_LAYERED;
constexpr unsigned cube = CUDA_ARRAY3D_CUBEMAP;
constexpr unsigned surface = CUDA_ARRAY3D_SURFACE_LDST;
constexpr unsigned gather = CUDA_ARRAY3D_TEXTURE_GATHER;
constexpr unsigned sparse = CUDA_ARRAY3D_SPARSE;
constexpr unsigned deferred = CUDA_ARRAY3D_DEFERRED_MAPPING;
constexpr CUarray_format u8 = CU_AD_FORMAT_UNSIGNED_INT8;

bool same(const CUDA_ARRAY3D_DESCRIPTOR& a, const CUDA_ARRAY3D_DESCRIPTOR& b) {
  return a.Width == b.Width && a.Height == b.Height && a.Depth == b.Depth && a.Format == b.Format &&
         a.NumChannels == b.NumChannels && a.Flags == b.Flags;
}

std::string text(const CUDA_ARRAY3D_DESCRIPTOR& form) {
  return std::to_string(form.Width) + " x " + std::to_string(form.Height) + " x " +
         std::to_string(form.Depth) + ", format " + std::to_string(form.Format) + " x " +
         std::to_string(form.NumChannels) + ", flags " + std::to_string(form.Flags);
}

}  // namespace

TEST_CASE("an array is what its descriptor says") {
  in_context f;
  std::vector<CUDA_ARRAY3D_DESCRIPTOR> forms = {
      array_form(64, 0, 0),
      array_form(64, 32, 0),
      array_form(64, 32, 16),
      array_form(64, 1, 1),
      array_form(64, 0, 4, layered),
      array_form(64, 32, 4, layered),
      array_form(32, 32, 6, cube),
      array_form(32, 32, 12, cube | layered),
      array_form(64, 32, 0, gather | surface),
      array_form(64, 32, 0, sparse),
      array_form(64, 0, 0, deferred),
      array_form(63, 63, 0, 0, CU_AD_FORMAT_BC1_UNORM, 4),
      array_form(64, 64, 0, 0, CU_AD_FORMAT_BC6H_UF16, 3),
      array_form(64, 64, 0, surface, CU_AD_FORMAT_UNORM_INT8X4, 4),
      array_form(64, 64, 0, 0, CU_AD_FORMAT_UNORM_INT_101010_2, 4),
  };
  for (const CUarray_format format :
       {u8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
        CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32, CU_AD_FORMAT_HALF,
        CU_AD_FORMAT_FLOAT})
    for (const unsigned channels : {1u, 2u, 4u})
      forms.push_back(array_form(16, 16, 0, surface, format, channels));
  for (const auto& form : forms) {
    INFO(text(form));
    CUarray array = nullptr;
    REQUIRE(f.cu.array_3d_create(&array, &form) == CUDA_SUCCESS);
    CUDA_ARRAY3D_DESCRIPTOR three{};
    CHECK(f.cu.array_3d_get_descriptor(&three, array) == CUDA_SUCCESS);
    CHECK(same(three, form));
    CUDA_ARRAY_DESCRIPTOR two{};
    CHECK(f.cu.array_get_descriptor(&two, array) == CUDA_SUCCESS);
    CHECK(two.Width == form.Width);
    CHECK(two.Height == form.Height);
    CHECK(two.Format == form.Format);
    CHECK(two.NumChannels == form.NumChannels);
    CUarray plane = nullptr;  // no format here has any
    CHECK(f.cu.array_get_plane(&plane, array, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.array_get_descriptor(nullptr, array) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
  }
  const CUDA_ARRAY_DESCRIPTOR two{8, 4, CU_AD_FORMAT_HALF, 2};
  CUarray array = nullptr;
  REQUIRE(f.cu.array_create(&array, &two) == CUDA_SUCCESS);
  CUDA_ARRAY3D_DESCRIPTOR three{};
  CHECK(f.cu.array_3d_get_descriptor(&three, array) == CUDA_SUCCESS);
  CHECK(same(three, array_form(8, 4, 0, 0, CU_AD_FORMAT_HALF, 2)));
  CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
}

TEST_CASE("arrays that cannot be are refused as a device's driver refuses them") {
  in_context f;
  const CUDA_ARRAY3D_DESCRIPTOR forms[] = {
      array_form(0, 0, 0),
      array_form(0, 4, 4),
      array_form(64, 0, 4),
      array_form(64, 0, 0, layered),
      array_form(64, 32, 0, layered),
      array_form(32, 32, 5, cube),
      array_form(32, 16, 6, cube),
      array_form(32, 32, 12, cube),
      array_form(32, 32, 13, cube | layered),
      array_form(32, 32, 0, cube | layered),
      array_form(32, 0, 6, cube),
      array_form(64, 0, 0, gather),
      array_form(64, 32, 4, gather),
      array_form(64, 32, 4, gather | layered),
      array_form(64, 32, 0, CUDA_ARRAY3D_DEPTH_TEXTURE),
      array_form(64, 32, 0, CUDA_ARRAY3D_COLOR_ATTACHMENT),
      array_form(64, 32, 0, 0x200),
      array_form(64, 32, 0, sparse | surface),
      array_form(64, 32, 0, sparse | deferred),
      array_form(64, 0, 0, sparse),
      array_form(8, 8, 0, 0, CU_AD_FORMAT_FLOAT, 0),
      array_form(8, 8, 0, 0, CU_AD_FORMAT_FLOAT, 3),
      array_form(8, 8, 0, 0, CU_AD_FORMAT_FLOAT, 5),
      array_form(8, 8, 0, 0, static_cast<CUarray_format>(0), 1),
      array_form(8, 8, 0, 0, static_cast<CUarray_format>(0x40), 1),
      array_form(8, 8, 0, 0, CU_AD_FORMAT_NV12, 3),
      array_form(8, 8, 0, 0, CU_AD_FORMAT_UNORM_INT8X4, 1),
      array_form(8, 8, 0, 0, CU_AD_FORMAT_BC1_UNORM, 1),
      // Beyond the limits of their kind.
      array_form(131073, 0, 0, 0, u8),
      array_form(131073, 1, 0, 0, u8),
      array_form(2, 65537, 0, 0, u8),
      array_form(16385, 2, 2, 0, u8),
      array_form(2, 16385, 2, 0, u8),
      array_form(32769, 0, 2, layered, u8),
      array_form(2, 0, 2049, layered, u8),
      array_form(32769, 2, 2, layered, u8),
      array_form(2, 32769, 2, layered, u8),
      array_form(2, 2, 2049, layered, u8),
      array_form(32769, 32769, 6, cube, u8),
      array_form(2, 2, 2052, cube | layered, u8),
      array_form(32769, 2, 0, gather, u8),
      array_form(2, 32769, 0, gather, u8),
      array_form(32769, 0, 0, surface, u8),
  };
  CUarray array = nullptr;
  for (const auto& form : forms) {
    INFO(text(form));
    CHECK(f.cu.array_3d_create(&array, &form) == CUDA_ERROR_INVALID_VALUE);
  }
  // Their neighbors within.
  for (const auto& form :
       {array_form(131072, 0, 0, 0, u8), array_form(2, 65536, 0, 0, u8),
        array_form(2, 2, 32768, 0, u8), array_form(16384, 2, 2, 0, u8),
        array_form(2, 2, 2046, cube | layered, u8), array_form(32768, 0, 0, surface, u8),
        array_form(131072, 2, 0, surface, u8)}) {
    INFO(text(form));
    REQUIRE(f.cu.array_3d_create(&array, &form) == CUDA_SUCCESS);
    CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
  }
  const auto blocks = array_form(64, 64, 0, surface, CU_AD_FORMAT_BC1_UNORM, 4);
  CHECK(f.cu.array_3d_create(&array, &blocks) == CUDA_ERROR_NOT_SUPPORTED);
  const auto huge = array_form(16384, 16384, 16384, 0, CU_AD_FORMAT_FLOAT, 4);
  CHECK(f.cu.array_3d_create(&array, &huge) == CUDA_ERROR_OUT_OF_MEMORY);
  const auto good = array_form(8, 8, 0);
  CHECK(f.cu.array_3d_create(nullptr, &good) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.array_3d_create(&array, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.array_create(&array, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.array_destroy(nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CUDA_ARRAY3D_DESCRIPTOR three{};
  CHECK(f.cu.array_3d_get_descriptor(&three, nullptr) == CUDA_ERROR_INVALID_HANDLE);

  CUcontext popped = nullptr;
  REQUIRE(f.cu.ctx_pop_current(&popped) == CUDA_SUCCESS);
  CUcontext before = nullptr;
  REQUIRE(f.cu.ctx_get_current(&before) == CUDA_SUCCESS);
  REQUIRE(f.cu.ctx_set_current(nullptr) == CUDA_SUCCESS);
  CHECK(f.cu.array_3d_create(&array, &good) == CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(f.cu.ctx_set_current(before) == CUDA_SUCCESS);
  REQUIRE(f.cu.ctx_push_current(popped) == CUDA_SUCCESS);
}

TEST_CASE("each level of a mipmapped array halves the one before, but not its layers") {
  in_context f;
  const CUDA_ARRAY3D_DESCRIPTOR forms[] = {
      array_form(100, 37, 0, 0, u8, 4), array_form(64, 0, 0),
      array_form(64, 32, 16),           array_form(64, 32, 5, layered),
      array_form(32, 32, 6, cube),      array_form(32, 32, 12, cube | layered),
      array_form(64, 32, 0, surface),   array_form(64, 64, 0, 0, CU_AD_FORMAT_BC1_UNORM, 4)};
  for (const auto& form : forms) {
    INFO(text(form));
    const bool layers = (form.Flags & (layered | cube)) != 0;
    CUmipmappedArray array = nullptr;
    REQUIRE(f.cu.mipmapped_array_create(&array, &form, 64) == CUDA_SUCCESS);
    CUDA_ARRAY3D_DESCRIPTOR expected = form;
    unsigned count = 0;
    for (;; ++count) {
      CUarray level = nullptr;
      CUarray again = nullptr;
      REQUIRE(f.cu.mipmapped_array_get_level(&level, array, count) == CUDA_SUCCESS);
      CHECK(f.cu.mipmapped_array_get_level(&again, array, count) == CUDA_SUCCESS);
      CHECK(level == again);
      CUDA_ARRAY3D_DESCRIPTOR got{};
      CHECK(f.cu.array_3d_get_descriptor(&got, level) == CUDA_SUCCESS);
      CHECK(same(got, expected));
      if (expected.Width == 1 && expected.Height <= 1 && (layers || expected.Depth <= 1)) break;
      const auto halve = [](std::size_t n) { return n > 1 ? n / 2 : n; };
      expected.Width = halve(expected.Width);
      expected.Height = halve(expected.Height);
      if (!layers) expected.Depth = halve(expected.Depth);
    }
    CUarray level = nullptr;
    CHECK(f.cu.mipmapped_array_get_level(&level, array, count + 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.mipmapped_array_destroy(array) == CUDA_SUCCESS);
  }
  // No level at all means one.
  CUmipmappedArray array = nullptr;
  CUarray level = nullptr;
  const auto form = array_form(64, 32, 0);
  REQUIRE(f.cu.mipmapped_array_create(&array, &form, 0) == CUDA_SUCCESS);
  CHECK(f.cu.mipmapped_array_get_level(&level, array, 0) == CUDA_SUCCESS);
  CHECK(f.cu.mipmapped_array_get_level(&level, array, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mipmapped_array_destroy(array) == CUDA_SUCCESS);
  for (const auto& bad : {array_form(32769, 2, 0, 0, u8), array_form(2, 32769, 0, 0, u8),
                          array_form(32769, 0, 0, 0, u8), array_form(16385, 2, 2, 0, u8),
                          array_form(64, 64, 0, 0, CU_AD_FORMAT_FLOAT, 3)})
    CHECK(f.cu.mipmapped_array_create(&array, &bad, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mipmapped_array_create(nullptr, &form, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mipmapped_array_create(&array, nullptr, 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.mipmapped_array_destroy(nullptr) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(f.cu.mipmapped_array_get_level(&level, nullptr, 0) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("arrays without memory say what they need of it") {
  in_context f;
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  CUDA_ARRAY_SPARSE_PROPERTIES tiles{};
  const CUarray plain = make_array(f.cu, array_form(64, 32, 0));
  CHECK(f.cu.array_get_memory_requirements(&needs, plain, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.array_get_sparse_properties(&tiles, plain) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.array_get_memory_requirements(&needs, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.array_destroy(plain) == CUDA_SUCCESS);

  const CUarray later = make_array(f.cu, array_form(1024, 1024, 0, deferred));
  CHECK(f.cu.array_get_memory_requirements(&needs, later, 0) == CUDA_SUCCESS);
  CHECK(needs.size == 4u << 20);
  CHECK(needs.alignment == 65536);
  CHECK(f.cu.array_get_memory_requirements(nullptr, later, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(f.cu.array_destroy(later) == CUDA_SUCCESS);

  // Recorded on an H200: alone, and with four levels.
  struct recorded {
    CUDA_ARRAY3D_DESCRIPTOR form;
    std::size_t alone, levels;
  };
  CUmipmappedArray levels = nullptr;
  CUarray level = nullptr;
  for (const recorded& each :
       {recorded{array_form(100, 37, 0, deferred, u8, 4), 65536, 65536},
        recorded{array_form(1000, 1000, 0, deferred), 4128768, 5505024},
        recorded{array_form(257, 300, 7, deferred), 2686976, 3014656},
        recorded{array_form(257, 300, 7, deferred | layered), 2949120, 4128768},
        recorded{array_form(512, 512, 6, deferred | cube, u8), 1572864, 2162688}}) {
    INFO(text(each.form));
    const CUarray alone = make_array(f.cu, each.form);
    CHECK(f.cu.array_get_memory_requirements(&needs, alone, 0) == CUDA_SUCCESS);
    CHECK(needs.size == each.alone);
    CHECK(f.cu.array_destroy(alone) == CUDA_SUCCESS);
    REQUIRE(f.cu.mipmapped_array_create(&levels, &each.form, 4) == CUDA_SUCCESS);
    CHECK(f.cu.mipmapped_array_get_memory_requirements(&needs, levels, 0) == CUDA_SUCCESS);
    CHECK(needs.size == each.levels);
    REQUIRE(f.cu.mipmapped_array_get_level(&level, levels, 1) == CUDA_SUCCESS);
    CHECK(f.cu.array_get_memory_requirements(&needs, level, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.mipmapped_array_get_sparse_properties(&tiles, levels) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.mipmapped_array_destroy(levels) == CUDA_SUCCESS);
  }

  struct recorded_tiles {
    CUDA_ARRAY3D_DESCRIPTOR form;
    unsigned tile[3];
    std::size_t tail;  // of the array without levels
    unsigned flags;
    unsigned first;  // level of the tail of a mipmapped array
    std::size_t levels_tail;
  };
  constexpr unsigned whole = CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL;
  for (const recorded_tiles& each :
       {recorded_tiles{array_form(1024, 1024, 0, sparse), {128, 128, 1}, 0, 0, 4, 65536},
        recorded_tiles{array_form(256, 256, 64, sparse, u8), {64, 32, 32}, 0, 0, 2, 131072},
        recorded_tiles{
            array_form(256, 256, 64, sparse, CU_AD_FORMAT_FLOAT, 4), {16, 16, 16}, 0, 0, 3, 196608},
        recorded_tiles{array_form(256, 256, 4, sparse | layered), {128, 128, 1}, 0, 0, 2, 65536},
        recorded_tiles{array_form(100, 1000, 0, sparse, CU_AD_FORMAT_UNSIGNED_INT16, 4),
                       {128, 64, 1},
                       851968,
                       whole,
                       0,
                       1179648},
        recorded_tiles{
            array_form(100, 1000, 0, sparse, u8), {256, 256, 1}, 131072, whole, 0, 262144},
        recorded_tiles{array_form(100, 1000, 0, sparse, CU_AD_FORMAT_FLOAT, 4),
                       {64, 64, 1},
                       0,
                       0,
                       1,
                       589824}}) {
    INFO(text(each.form));
    const CUarray alone = make_array(f.cu, each.form);
    REQUIRE(f.cu.array_get_sparse_properties(&tiles, alone) == CUDA_SUCCESS);
    CHECK(tiles.tileExtent.width == each.tile[0]);
    CHECK(tiles.tileExtent.height == each.tile[1]);
    CHECK(tiles.tileExtent.depth == each.tile[2]);
    CHECK(tiles.miptailFirstLevel == 0);
    CHECK(tiles.miptailSize == each.tail);
    CHECK(tiles.flags == each.flags);
    CHECK(f.cu.array_destroy(alone) == CUDA_SUCCESS);
    REQUIRE(f.cu.mipmapped_array_create(&levels, &each.form, 20) == CUDA_SUCCESS);
    REQUIRE(f.cu.mipmapped_array_get_sparse_properties(&tiles, levels) == CUDA_SUCCESS);
    CHECK(tiles.tileExtent.width == each.tile[0]);
    CHECK(tiles.miptailFirstLevel == each.first);
    CHECK(tiles.miptailSize == each.levels_tail);
    CHECK(tiles.flags == each.flags);
    CHECK(f.cu.mipmapped_array_destroy(levels) == CUDA_SUCCESS);
  }
}

TEST_CASE("an array of a planar format has planes to copy") {
  in_context f;
  constexpr unsigned video = CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
  constexpr CUarray_format u16 = CU_AD_FORMAT_UNSIGNED_INT16;
  struct planar {
    CUarray_format format;
    std::vector<CUDA_ARRAY3D_DESCRIPTOR> planes;
  };
  const auto plane = [](std::size_t width, std::size_t height, CUarray_format format,
                        unsigned channels) {
    return array_form(width, height, 0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, format, channels);
  };
  for (const planar& each :
       {planar{CU_AD_FORMAT_NV12, {plane(64, 32, u8, 1), plane(32, 16, u8, 2)}},
        planar{CU_AD_FORMAT_P010, {plane(64, 32, u16, 1), plane(32, 16, u16, 2)}},
        planar{CU_AD_FORMAT_NV16, {plane(64, 32, u8, 1), plane(32, 32, u8, 2)}},
        planar{CU_AD_FORMAT_P216, {plane(64, 32, u16, 1), plane(32, 32, u16, 2)}},
        planar{CU_AD_FORMAT_Y444_PLANAR8,
               {plane(64, 32, u8, 1), plane(64, 32, u8, 1), plane(64, 32, u8, 1)}},
        planar{CU_AD_FORMAT_YUV444_16bit_SemiPlanar,
               {plane(64, 32, u16, 1), plane(64, 32, u16, 2)}}}) {
    const CUarray array = make_array(f.cu, array_form(64, 32, 0, video, each.format, 3));
    std::vector<CUarray> planes(each.planes.size());
    for (unsigned i = 0; i < planes.size(); ++i) {
      REQUIRE(f.cu.array_get_plane(&planes[i], array, i) == CUDA_SUCCESS);
      CUDA_ARRAY3D_DESCRIPTOR got{};
      CHECK(f.cu.array_3d_get_descriptor(&got, planes[i]) == CUDA_SUCCESS);
      CHECK(same(got, each.planes[i]));
      const auto sent = counting_bytes(64, 50 * i);
      CHECK(f.cu.memcpy_htoa(planes[i], 0, sent.data(), 64) == CUDA_SUCCESS);
    }
    for (unsigned i = 0; i < planes.size(); ++i) {
      std::vector<unsigned char> got(64);
      CHECK(f.cu.memcpy_atoh(got.data(), planes[i], 0, 64) == CUDA_SUCCESS);
      CHECK(got == counting_bytes(64, 50 * i));
    }
    CUarray none = nullptr;
    const auto count = static_cast<unsigned>(planes.size());
    CHECK(f.cu.array_get_plane(&none, array, count) == CUDA_ERROR_INVALID_VALUE);
    CHECK(f.cu.array_destroy(array) == CUDA_SUCCESS);
  }
  CUarray array = nullptr;
  for (const auto& form : {array_form(63, 32, 0, video, CU_AD_FORMAT_NV12, 3),
                           array_form(64, 31, 0, video, CU_AD_FORMAT_NV12, 3),
                           array_form(64, 32, 0, video, CU_AD_FORMAT_NV12, 1)})
    CHECK(f.cu.array_3d_create(&array, &form) == CUDA_ERROR_INVALID_VALUE);
}

}  // namespace arrays_test
