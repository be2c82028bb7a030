#include <gpu/texture/array_format.hpp>

#include "support/catch.hpp"

#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/resource_view.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace array_format_test { namespace {

// As in CUDA's vector_types.h.
struct uchar2 {
  unsigned char x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct float3 {
  float x, y, z;
};
struct mixed {
  float x;
  int y;
};
struct named {
  float x;
  float other;
};
struct own_half {
  std::uint16_t bits;
};

}}  // namespace array_format_test

template <>
inline constexpr gpu::texel_format gpu::texel_format_of<array_format_test::own_half> = {
    gpu::array_format::half, 1};

namespace array_format_test {

using gpu::array_flags;
using gpu::array_format;
using gpu::array_shape;
using gpu::box_extent;
using gpu::channels;
using gpu::texel_format;
using gpu::texel_format_of;

static_assert(texel_format_of<unsigned char> == texel_format{array_format::unsigned_int8, 1});
static_assert(texel_format_of<signed char> == texel_format{array_format::signed_int8, 1});
static_assert(texel_format_of<const short> == texel_format{array_format::signed_int16, 1});
static_assert(texel_format_of<unsigned short> == texel_format{array_format::unsigned_int16, 1});
static_assert(texel_format_of<int> == texel_format{array_format::signed_int32, 1});
static_assert(texel_format_of<unsigned> == texel_format{array_format::unsigned_int32, 1});
static_assert(texel_format_of<float> == texel_format{array_format::float_, 1});
static_assert(texel_format_of<gpu::half_bits> == texel_format{array_format::half, 1});
static_assert(texel_format_of<uchar2> == texel_format{array_format::unsigned_int8, 2});
static_assert(texel_format_of<float4> == texel_format{array_format::float_, 4});
static_assert(texel_format_of<channels<gpu::half_bits, 4>> == texel_format{array_format::half, 4});
static_assert(texel_format_of<channels<int, 1>> == texel_format{array_format::signed_int32, 1});
static_assert(gpu::texel<own_half> && gpu::texel<float4>);
static_assert(!gpu::texel<double> && !gpu::texel<long> && !gpu::texel<bool> && !gpu::texel<void>);
static_assert(!gpu::texel<float3> && !gpu::texel<mixed> && !gpu::texel<named>);
static_assert(!gpu::texel<channels<float, 3>> && !gpu::texel<float[2]> && !gpu::texel<float*>);
static_assert(sizeof(channels<float, 4>) == 16 && alignof(channels<float, 4>) == 16);
static_assert(alignof(channels<unsigned char, 2>) == 2);

TEST_CASE("array_format: every value of the headers has a name, and its bytes", "[texture]") {
  struct known {
    CUarray_format native;
    const char* name;
    std::size_t bytes;
    int channels;
  };
  const known formats[] = {
      {CU_AD_FORMAT_UNSIGNED_INT8, "unsigned_int8", 3, 3},
      {CU_AD_FORMAT_UNSIGNED_INT16, "unsigned_int16", 4, 2},
      {CU_AD_FORMAT_UNSIGNED_INT32, "unsigned_int32", 16, 4},
      {CU_AD_FORMAT_SIGNED_INT8, "signed_int8", 1, 1},
      {CU_AD_FORMAT_SIGNED_INT16, "signed_int16", 2, 1},
      {CU_AD_FORMAT_SIGNED_INT32, "signed_int32", 4, 1},
      {CU_AD_FORMAT_HALF, "half", 8, 4},
      {CU_AD_FORMAT_FLOAT, "float_", 8, 2},
      {CU_AD_FORMAT_NV12, "nv12", 0, 3},
      {CU_AD_FORMAT_UNORM_INT8X1, "unorm_int8x1", 1, 1},
      {CU_AD_FORMAT_UNORM_INT8X2, "unorm_int8x2", 2, 2},
      {CU_AD_FORMAT_UNORM_INT8X4, "unorm_int8x4", 4, 4},
      {CU_AD_FORMAT_UNORM_INT16X1, "unorm_int16x1", 2, 1},
      {CU_AD_FORMAT_UNORM_INT16X2, "unorm_int16x2", 4, 2},
      {CU_AD_FORMAT_UNORM_INT16X4, "unorm_int16x4", 8, 4},
      {CU_AD_FORMAT_SNORM_INT8X1, "snorm_int8x1", 1, 1},
      {CU_AD_FORMAT_SNORM_INT8X2, "snorm_int8x2", 2, 2},
      {CU_AD_FORMAT_SNORM_INT8X4, "snorm_int8x4", 4, 4},
      {CU_AD_FORMAT_SNORM_INT16X1, "snorm_int16x1", 2, 1},
      {CU_AD_FORMAT_SNORM_INT16X2, "snorm_int16x2", 4, 2},
      {CU_AD_FORMAT_SNORM_INT16X4, "snorm_int16x4", 8, 4},
      {CU_AD_FORMAT_BC1_UNORM, "bc1_unorm", 0, 4},
      {CU_AD_FORMAT_BC7_UNORM_SRGB, "bc7_unorm_srgb", 0, 4},
      {CU_AD_FORMAT_P010, "p010", 0, 3},
      {CU_AD_FORMAT_Y416, "y416", 0, 4},
      {CU_AD_FORMAT_YUV444_16bit_SemiPlanar, "yuv444_16bit_semiplanar", 0, 3},
      {CU_AD_FORMAT_UNORM_INT_101010_2, "unorm_int_101010_2", 4, 4},
  };
  for (const known& each : formats) {
    const auto format = static_cast<array_format>(each.native);
    INFO(each.name);
    CHECK(gpu::name_of(format) == std::string(each.name));
    CHECK(gpu::detail::texel_bytes({format, each.channels}) == each.bytes);
  }
  int names = 0;
  for (int value = 0; value < 0x200; ++value) {
    names += gpu::name_of(static_cast<array_format>(value)) != nullptr ? 1 : 0;
  }
  CHECK(names == 51);  // enumerators of CUarray_format in the headers of CUDA 13.0
}

TEST_CASE("resource_view_format: every value has a name", "[texture]") {
  using format = gpu::resource_view_format;
  for (int value = 0; value <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7; ++value) {
    CHECK(gpu::name_of(static_cast<format>(value)) != nullptr);
  }
  CHECK(gpu::name_of(format{CU_RES_VIEW_FORMAT_NONE}) == std::string("none"));
  CHECK(gpu::name_of(format{CU_RES_VIEW_FORMAT_SINT_2X16}) == std::string("sint_2x16"));
  CHECK(gpu::name_of(format{CU_RES_VIEW_FORMAT_SIGNED_BC6H}) == std::string("signed_bc6h"));
  CHECK(gpu::name_of(static_cast<format>(CU_RES_VIEW_FORMAT_UNSIGNED_BC7 + 1)) == nullptr);
}

TEST_CASE("resource_view: the formats of arrays and of views stand for each other", "[texture]") {
  struct pair {
    CUarray_format channel;
    CUresourceViewFormat single;
  };
  const pair pairs[] = {{CU_AD_FORMAT_UNSIGNED_INT8, CU_RES_VIEW_FORMAT_UINT_1X8},
                        {CU_AD_FORMAT_SIGNED_INT8, CU_RES_VIEW_FORMAT_SINT_1X8},
                        {CU_AD_FORMAT_UNSIGNED_INT16, CU_RES_VIEW_FORMAT_UINT_1X16},
                        {CU_AD_FORMAT_SIGNED_INT16, CU_RES_VIEW_FORMAT_SINT_1X16},
                        {CU_AD_FORMAT_UNSIGNED_INT32, CU_RES_VIEW_FORMAT_UINT_1X32},
                        {CU_AD_FORMAT_SIGNED_INT32, CU_RES_VIEW_FORMAT_SINT_1X32},
                        {CU_AD_FORMAT_HALF, CU_RES_VIEW_FORMAT_FLOAT_1X16},
                        {CU_AD_FORMAT_FLOAT, CU_RES_VIEW_FORMAT_FLOAT_1X32}};
  for (const pair& each : pairs) {
    for (int step = 0; step < 3; ++step) {  // 1, 2 and 4 channels have neighboring values
      const texel_format own{static_cast<array_format>(each.channel), 1 << step};
      const auto view = static_cast<gpu::resource_view_format>(each.single + step);
      CHECK(gpu::detail::view_format_of(own) == view);
      CHECK(gpu::detail::viewed_format(view, {}) == own);
    }
  }
  CHECK(gpu::detail::view_format_of({array_format::nv12, 3}) == gpu::resource_view_format::none);
}

TEST_CASE("array_shape: extents, planes and levels", "[texture]") {
  CHECK(array_shape{.width = 7}.extent() == box_extent{7, 1, 1});
  CHECK(array_shape{.width = 7, .height = 5}.extent() == box_extent{7, 5, 1});
  CHECK(array_shape{.width = 7, .height = 5, .depth = 3}.extent() == box_extent{7, 5, 3});
  CHECK(array_shape{.width = 7, .layers = 4}.extent() == box_extent{7, 1, 4});
  CHECK(array_shape{.width = 8, .height = 8, .cubemap = true}.extent() == box_extent{8, 8, 6});
  CHECK(array_shape{.width = 8, .height = 8, .layers = 2, .cubemap = true}.planes() == 12);
  const array_shape shape{.width = 100, .height = 30, .depth = 5};
  CHECK(shape.max_levels() == 7);  // 100 50 25 12 6 3 1
  CHECK(shape.level(3) == array_shape{.width = 12, .height = 3, .depth = 1});
  CHECK(shape.level(6) == array_shape{.width = 1, .height = 1, .depth = 1});
  CHECK(array_shape{.width = 16, .layers = 9}.level(2) == array_shape{.width = 4, .layers = 9});
  CHECK(array_shape{.width = 1}.max_levels() == 1);
  CHECK(shape.level(64) == shape.level(6));
  for (const array_shape& other :
       {array_shape{.width = 99, .height = 30, .depth = 5},
        array_shape{.width = 100, .height = 31, .depth = 5},
        array_shape{.width = 100, .height = 30, .depth = 6},
        array_shape{.width = 100, .height = 30, .depth = 5, .layers = 1},
        array_shape{.width = 100, .height = 30, .depth = 5, .cubemap = true},
        array_shape{.width = 100, .height = 30, .depth = 5, .flags = array_flags::sparse}})
    CHECK_FALSE(shape == other);
  using pair = channels<int, 2>;
  CHECK(pair{{1, 2}} == pair{{1, 2}});
  CHECK_FALSE(pair{{1, 2}} == pair{{1, 3}});
  CHECK_FALSE(texel_format{array_format::half, 1} == texel_format{array_format::half, 2});
}

}  // namespace array_format_test
