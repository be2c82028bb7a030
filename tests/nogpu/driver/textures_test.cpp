// Texture and surface objects: which can be, and what they say of themselves. The codes are those
// of an H200; the test program asks the driver that it runs on, a device's among them.

#include "driver_fixture.hpp"
#include "image_fixture.hpp"
#include "support/drivers.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace textures_test {

using test::array_form;
using test::driver_fixture;
using test::in_context;
using test::linear_resource;
using test::make_array;
using test::pitched_resource;
using test::resource_of;
using test::sampling;

namespace {

constexpr CUresult fine = CUDA_SUCCESS;
constexpr CUresult bad = CUDA_ERROR_INVALID_VALUE;
constexpr CUarray_format u8 = CU_AD_FORMAT_UNSIGNED_INT8;
constexpr unsigned normalized = CU_TRSF_NORMALIZED_COORDINATES;

/// Writes a number that may be no enumerator.
template <class Enumeration> void set_number(Enumeration& field, unsigned number) {
  static_assert(sizeof field == sizeof number);
  std::memcpy(&field, &number, sizeof number);
}

/// Makes a texture object, and ends it.
CUresult try_texture(const gpu::driver::entry_points& cu, const CUDA_RESOURCE_DESC& resource,
                     const CUDA_TEXTURE_DESC& how, const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
  CUtexObject texture = 0;
  const CUresult answer = cu.tex_object_create(&texture, &resource, &how, view);
  if (answer == CUDA_SUCCESS) {
    CHECK(texture != 0);
    CHECK(cu.tex_object_destroy(texture) == CUDA_SUCCESS);
  }
  return answer;
}

CUDA_RESOURCE_VIEW_DESC view_of(CUresourceViewFormat format, std::size_t width, std::size_t height,
                                std::size_t depth, std::pair<unsigned, unsigned> levels = {},
                                std::pair<unsigned, unsigned> layers = {}) {
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = format;
  view.width = width;
  view.height = height;
  view.depth = depth;
  view.firstMipmapLevel = levels.first;
  view.lastMipmapLevel = levels.second;
  view.firstLayer = layers.first;
  view.lastLayer = layers.second;
  return view;
}

}  // namespace

TEST_CASE("a texture object gives back what it was made of, but the border's color") {
  in_context f;
  const CUarray array = make_array(f.cu, array_form(64, 32, 0));
  const auto resource = resource_of(array);
  CUDA_TEXTURE_DESC how = sampling(normalized | CU_TRSF_SRGB);
  how.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
  how.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  how.maxAnisotropy = 17;
  how.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  how.mipmapLevelBias = 100;
  how.minMipmapLevelClamp = 5;
  how.maxMipmapLevelClamp = -2;
  how.borderColor[2] = 2.5f;
  const auto view = view_of(CU_RES_VIEW_FORMAT_UINT_1X32, 64, 32, 0);
  CUtexObject plain = 0;
  CUtexObject viewed = 0;
  REQUIRE(f.cu.tex_object_create(&plain, &resource, &how, nullptr) == fine);
  REQUIRE(f.cu.tex_object_create(&viewed, &resource, &how, &view) == fine);
  CHECK(plain != viewed);

  CUDA_RESOURCE_DESC got_resource{};
  CHECK(f.cu.tex_object_get_resource_desc(&got_resource, plain) == fine);
  CHECK(got_resource.resType == CU_RESOURCE_TYPE_ARRAY);
  CHECK(got_resource.res.array.hArray == array);
  CUDA_TEXTURE_DESC got_how;
  std::memset(&got_how, 0x5a, sizeof got_how);
  CHECK(f.cu.tex_object_get_texture_desc(&got_how, plain) == fine);
  CHECK(std::memcmp(&got_how, &how, offsetof(CUDA_TEXTURE_DESC, borderColor)) == 0);
  std::uint32_t color = 0;
  std::memcpy(&color, &got_how.borderColor[2], sizeof color);
  CHECK(color == 0x5a5a5a5a);
  CUDA_RESOURCE_VIEW_DESC got_view{};
  got_view.width = 77;
  CHECK(f.cu.tex_object_get_resource_view_desc(&got_view, plain) == fine);
  CHECK(got_view.width == 77);  // it has none
  CHECK(f.cu.tex_object_get_resource_view_desc(&got_view, viewed) == fine);
  CHECK(std::memcmp(&got_view, &view, sizeof view) == 0);

  CUsurfObject surface = 0;
  REQUIRE(f.cu.surf_object_create(&surface, &resource) == fine);
  CHECK(f.cu.surf_object_get_resource_desc(&got_resource, surface) == fine);
  CHECK(got_resource.res.array.hArray == array);

  CHECK(f.cu.tex_object_get_resource_desc(nullptr, plain) == bad);
  CHECK(f.cu.tex_object_get_texture_desc(nullptr, plain) == bad);
  CHECK(f.cu.tex_object_get_resource_view_desc(nullptr, plain) == bad);
  CHECK(f.cu.surf_object_get_resource_desc(nullptr, surface) == bad);
  CHECK(f.cu.tex_object_create(nullptr, &resource, &how, nullptr) == bad);
  CHECK(f.cu.tex_object_create(&plain, nullptr, &how, nullptr) == bad);
  CHECK(f.cu.tex_object_create(&plain, &resource, nullptr, nullptr) == bad);
  if (!test::on_hardware()) {  // whose driver crashes
    CHECK(f.cu.surf_object_create(nullptr, &resource) == bad);
    CHECK(f.cu.surf_object_create(&surface, nullptr) == bad);
  }

  // Ending an object that is none, or no more, succeeds; asking it does not.
  for (const CUtexObject each : {plain, viewed, viewed, CUtexObject{0}, CUtexObject{7} << 40})
    CHECK(f.cu.tex_object_destroy(each) == fine);
  for (const CUsurfObject each : {surface, surface, CUsurfObject{0}})
    CHECK(f.cu.surf_object_destroy(each) == fine);
  CHECK(f.cu.tex_object_get_resource_desc(&got_resource, viewed) == bad);
  CHECK(f.cu.tex_object_get_texture_desc(&got_how, viewed) == bad);
  CHECK(f.cu.tex_object_get_resource_view_desc(&got_view, viewed) == bad);
  CHECK(f.cu.surf_object_get_resource_desc(&got_resource, surface) == bad);
  CHECK(f.cu.tex_object_get_resource_desc(&got_resource, 0) == bad);
  CHECK(f.cu.array_destroy(array) == fine);
}

TEST_CASE("samplers are refused as a device's driver refuses them") {
  in_context f;
  const CUarray two = make_array(f.cu, array_form(64, 32, 0));
  const CUarray one = make_array(f.cu, array_form(64, 0, 0));
  const CUarray three = make_array(f.cu, array_form(16, 16, 16));
  const CUarray cube = make_array(f.cu, array_form(32, 32, 6, CUDA_ARRAY3D_CUBEMAP));
  const CUarray integers = make_array(f.cu, array_form(64, 32, 0, 0, CU_AD_FORMAT_SIGNED_INT32));
  const auto with = [](auto change) {
    CUDA_TEXTURE_DESC how = sampling(normalized);
    change(how);
    return how;
  };
  const auto wrong_address = [&](int coordinate) {
    return with([&](auto& how) { set_number(how.addressMode[coordinate], 9); });
  };
  const auto linear = with([](auto& how) { how.filterMode = CU_TR_FILTER_MODE_LINEAR; });
  CHECK(try_texture(f.cu, resource_of(two), linear) == fine);
  CHECK(try_texture(f.cu, resource_of(integers), linear) == fine);
  CHECK(try_texture(f.cu, resource_of(two), wrong_address(1)) == bad);
  CHECK(try_texture(f.cu, resource_of(two), wrong_address(2)) == fine);
  CHECK(try_texture(f.cu, resource_of(one), wrong_address(0)) == bad);
  CHECK(try_texture(f.cu, resource_of(one), wrong_address(1)) == fine);
  CHECK(try_texture(f.cu, resource_of(three), wrong_address(2)) == bad);
  CHECK(try_texture(f.cu, resource_of(cube), wrong_address(2)) == fine);
  CHECK(try_texture(f.cu, resource_of(two),
                    with([](auto& how) { set_number(how.filterMode, 2); })) == bad);
  CHECK(try_texture(f.cu, resource_of(two),
                    with([](auto& how) { set_number(how.mipmapFilterMode, 7); })) == bad);
  CHECK(try_texture(f.cu, resource_of(two), with([](auto& how) { how.reserved[0] = 1; })) == bad);
  CHECK(try_texture(f.cu, resource_of(two), with([](auto& how) { how.reserved[11] = 1; })) == bad);
  CHECK(try_texture(f.cu, resource_of(two), with([](auto& how) {
                      how.mipmapLevelBias = std::numeric_limits<float>::quiet_NaN();
                    })) == fine);
  for (const unsigned flags : {0x01u, 0x04u, 0x08u, 0x10u, 0x20u, 0x3fu})
    CHECK(try_texture(f.cu, resource_of(two), sampling(flags)) == fine);
  for (const unsigned flags : {0x40u, 0x80u, 0x100u, 0x80000000u})
    CHECK(try_texture(f.cu, resource_of(two), sampling(flags)) == bad);
  CHECK(try_texture(f.cu, resource_of(cube), sampling(CU_TRSF_SEAMLESS_CUBEMAP)) == fine);
  for (const CUarray each : {one, two, three, cube, integers})
    CHECK(f.cu.array_destroy(each) == fine);
}

TEST_CASE("what textures and surfaces can be made of") {
  in_context f;
  const CUarray array = make_array(f.cu, array_form(64, 32, 0));
  const CUarray video = make_array(
      f.cu, array_form(64, 32, 0, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE, CU_AD_FORMAT_NV12, 3));
  CUmipmappedArray levels = nullptr;
  CUarray level = nullptr;
  CUarray plane = nullptr;
  const auto form = array_form(64, 32, 0);
  REQUIRE(f.cu.mipmapped_array_create(&levels, &form, 4) == fine);
  REQUIRE(f.cu.mipmapped_array_get_level(&level, levels, 1) == fine);
  REQUIRE(f.cu.array_get_plane(&plane, video, 1) == fine);
  CHECK(try_texture(f.cu, resource_of(levels), sampling()) == fine);
  CHECK(try_texture(f.cu, resource_of(level), sampling()) == fine);
  CHECK(try_texture(f.cu, resource_of(plane), sampling()) == fine);
  CHECK(try_texture(f.cu, resource_of(video), sampling()) == bad);
  CHECK(try_texture(f.cu, resource_of(CUarray{}), sampling()) == bad);
  CHECK(try_texture(f.cu, resource_of(CUmipmappedArray{}), sampling()) == bad);
  auto odd = resource_of(array);
  odd.flags = 1;
  CHECK(try_texture(f.cu, odd, sampling()) == bad);
  odd = resource_of(array);
  set_number(odd.resType, 7);
  CHECK(try_texture(f.cu, odd, sampling()) == bad);

  CUdeviceptr memory = 0;
  REQUIRE(f.cu.mem_alloc(&memory, 1 << 16) == fine);
  const auto linear = [&](std::size_t offset, std::size_t bytes,
                          CUarray_format format = CU_AD_FORMAT_FLOAT, unsigned channels = 1) {
    return try_texture(f.cu, linear_resource(memory + offset, bytes, format, channels), sampling());
  };
  CHECK(linear(0, 4096) == fine);
  CHECK(linear(512, 4096) == fine);
  for (const std::size_t offset : {4u, 16u, 32u, 128u, 256u}) CHECK(linear(offset, 4096) == bad);
  CHECK(linear(0, 0) == fine);
  CHECK(linear(0, 4095) == fine);
  CHECK(linear(0, std::size_t{1} << 30, u8) == fine);
  CHECK(linear(0, (std::size_t{1} << 30) + 1, u8) == bad);
  CHECK(linear(0, (std::size_t{1} << 32) + 1, CU_AD_FORMAT_FLOAT, 4) == fine);
  CHECK(linear(0, (std::size_t{1} << 32) + 16, CU_AD_FORMAT_FLOAT, 4) == bad);
  CHECK(linear(0, 4096, CU_AD_FORMAT_FLOAT, 3) == bad);
  CHECK(linear(0, 4096, static_cast<CUarray_format>(0)) == bad);
  CHECK(linear(0, 4096, CU_AD_FORMAT_UNORM_INT8X4, 4) == bad);
  CHECK(linear(0, 4096, CU_AD_FORMAT_BC1_UNORM, 4) == bad);
  CHECK(try_texture(f.cu, linear_resource(0, 4096), sampling()) == bad);
  const auto view = view_of(CU_RES_VIEW_FORMAT_NONE, 1, 2, 3);  // which counts for arrays only
  CHECK(try_texture(f.cu, linear_resource(memory, 4096), sampling(), &view) == fine);

  const auto pitched = [&](std::size_t offset, std::size_t width, std::size_t height,
                           std::size_t pitch) {
    return try_texture(f.cu, pitched_resource(memory + offset, width, height, pitch), sampling());
  };
  CHECK(pitched(0, 64, 64, 256) == fine);
  CHECK(pitched(512, 64, 64, 288) == fine);
  CHECK(pitched(0, 300, 64, 256) == fine);
  CHECK(pitched(0, 64, 64, 264) == bad);
  CHECK(pitched(0, 64, 64, 272) == bad);
  CHECK(pitched(32, 64, 64, 256) == bad);
  CHECK(pitched(256, 64, 64, 256) == bad);
  CHECK(pitched(0, 1, 65000, 32) == fine);
  CHECK(pitched(0, 1, 65001, 32) == bad);
  CHECK(pitched(0, 131072, 2, 131072) == fine);
  CHECK(pitched(0, 131073, 2, 131104) == bad);
  CHECK(pitched(0, 64, 1, 2097120) == fine);
  CHECK(pitched(0, 64, 1, 2097152) == bad);
  CHECK(try_texture(f.cu, pitched_resource(0, 64, 64, 256), sampling()) == bad);

  CUsurfObject surface = 0;
  for (const auto& resource :
       {resource_of(levels), linear_resource(memory, 4096), pitched_resource(memory, 64, 64, 256),
        resource_of(CUarray{}), resource_of(video)})
    CHECK(f.cu.surf_object_create(&surface, &resource) == bad);
  for (const CUarray each : {array, level, plane}) {
    const auto resource = resource_of(each);
    CHECK(f.cu.surf_object_create(&surface, &resource) == fine);
    CHECK(f.cu.surf_object_destroy(surface) == fine);
  }
  CHECK(f.cu.mem_free(memory) == fine);
  CHECK(f.cu.array_destroy(array) == fine);
  CHECK(f.cu.array_destroy(video) == fine);
  CHECK(f.cu.mipmapped_array_destroy(levels) == fine);
}

TEST_CASE("a resource view has the extents of its array and texels of the same size") {
  in_context f;
  const CUarray two = make_array(f.cu, array_form(64, 32, 0));
  const CUarray bytes = make_array(f.cu, array_form(64, 32, 0, 0, u8, 4));
  const CUarray layers = make_array(f.cu, array_form(32, 32, 6, CUDA_ARRAY3D_LAYERED));
  CUmipmappedArray levels = nullptr;
  const auto form = array_form(64, 32, 0);
  REQUIRE(f.cu.mipmapped_array_create(&levels, &form, 4) == fine);
  constexpr auto real = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  struct attempt {
    CUDA_RESOURCE_DESC resource;
    CUDA_RESOURCE_VIEW_DESC view;
    CUresult answer;
  };
  std::vector<attempt> attempts = {
      {resource_of(two), view_of(real, 64, 32, 0), fine},
      {resource_of(two), view_of(CU_RES_VIEW_FORMAT_UINT_1X32, 64, 32, 0), fine},
      {resource_of(two), view_of(CU_RES_VIEW_FORMAT_UINT_4X8, 64, 32, 0), fine},
      {resource_of(bytes), view_of(CU_RES_VIEW_FORMAT_SINT_1X32, 64, 32, 0), fine},
      {resource_of(two), view_of(CU_RES_VIEW_FORMAT_NONE, 64, 32, 0), bad},
      {resource_of(two), view_of(static_cast<CUresourceViewFormat>(0x23), 64, 32, 0), bad},
      {resource_of(bytes), view_of(CU_RES_VIEW_FORMAT_UINT_2X8, 64, 32, 0), bad},
      {resource_of(two), view_of(CU_RES_VIEW_FORMAT_UINT_4X16, 64, 32, 0), bad},
      {resource_of(two), view_of(CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 64, 32, 0), bad},
      {resource_of(two), view_of(real, 32, 32, 0), bad},
      {resource_of(two), view_of(real, 64, 16, 0), bad},
      {resource_of(two), view_of(real, 64, 32, 1), bad},
      {resource_of(two), view_of(real, 64, 32, 0, {0, 1}), bad},
      {resource_of(two), view_of(real, 64, 32, 0, {}, {0, 1}), bad},
      {resource_of(layers), view_of(real, 32, 32, 6, {}, {0, 5}), fine},
      {resource_of(layers), view_of(real, 32, 32, 6, {}, {2, 3}), fine},
      {resource_of(layers), view_of(real, 32, 32, 2, {}, {2, 3}), bad},
      {resource_of(layers), view_of(real, 32, 32, 6, {}, {5, 6}), fine},
      {resource_of(layers), view_of(real, 32, 32, 6, {}, {3, 2}), bad},
      {resource_of(levels), view_of(real, 64, 32, 0, {0, 3}), fine},
      {resource_of(levels), view_of(real, 64, 32, 0, {1, 2}), fine},
      {resource_of(levels), view_of(real, 64, 32, 0, {0, 4}), fine},
      {resource_of(levels), view_of(real, 32, 16, 0, {1, 2}), bad},
      {resource_of(levels), view_of(real, 64, 32, 0, {2, 1}), bad},
  };
  attempts.push_back(attempts.front());
  attempts.back().view.reserved[0] = 1;
  attempts.back().answer = bad;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    INFO("attempt " << i);
    CHECK(try_texture(f.cu, attempts[i].resource, sampling(normalized), &attempts[i].view) ==
          attempts[i].answer);
  }
  for (const CUarray each : {two, bytes, layers}) CHECK(f.cu.array_destroy(each) == fine);
  CHECK(f.cu.mipmapped_array_destroy(levels) == fine);
}

TEST_CASE("how wide a texture of linear memory can be") {
  in_context f;
  std::size_t width = 0;
  const auto widest = [&](CUarray_format format, unsigned channels) {
    width = 0;
    return f.cu.device_get_texture_1d_linear_max_width(&width, format, channels, 0) == fine ? width
                                                                                            : 0;
  };
  CHECK(widest(u8, 1) == std::size_t{1} << 30);
  CHECK(widest(u8, 4) == std::size_t{1} << 30);
  CHECK(widest(CU_AD_FORMAT_HALF, 4) == std::size_t{1} << 29);
  CHECK(widest(CU_AD_FORMAT_FLOAT, 1) == std::size_t{1} << 30);
  CHECK(widest(CU_AD_FORMAT_FLOAT, 2) == std::size_t{1} << 29);
  CHECK(widest(CU_AD_FORMAT_SIGNED_INT32, 4) == std::size_t{1} << 28);
  CHECK(widest(CU_AD_FORMAT_UNORM_INT8X4, 4) == std::size_t{1} << 30);
  CHECK(widest(CU_AD_FORMAT_BC1_UNORM, 4) == std::size_t{1} << 29);
  CHECK(widest(CU_AD_FORMAT_FLOAT, 3) == 0);
  CHECK(widest(CU_AD_FORMAT_NV12, 1) == 0);
  CHECK(f.cu.device_get_texture_1d_linear_max_width(nullptr, u8, 1, 0) == bad);
  CHECK(f.cu.device_get_texture_1d_linear_max_width(&width, u8, 1, 99) ==
        CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("texture and surface objects end with their context, and are found when left", "[cpu]") {
  driver_fixture f(test::with_places());
  CUcontext own = nullptr;
  REQUIRE(f.cu.ctx_create(&own, nullptr, 0, 0) == fine);
  const CUarray array = make_array(f.cu, array_form(16, 8, 0));
  const auto resource = resource_of(array);
  const auto how = sampling();
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  REQUIRE(f.cu.tex_object_create(&texture, &resource, &how, nullptr) == fine);
  REQUIRE(f.cu.surf_object_create(&surface, &resource) == fine);
  const std::vector<std::string> live = f.live();
  REQUIRE(live.size() == 4);  // with the context and the array
  CHECK(live[2].find("texture object") == 0);
  CHECK(live[3].find("surface object") == 0);
  CHECK(test::names_place(live[3], "created at"));
  // An object outlives its array: what it reads is gone.
  CHECK(f.cu.array_destroy(array) == fine);
  CUDA_RESOURCE_DESC got{};
  CHECK(f.cu.tex_object_get_resource_desc(&got, texture) == fine);
  CHECK(f.cu.tex_object_create(&texture, &resource, &how, nullptr) == bad);
  CHECK(f.cu.ctx_destroy(own) == fine);
  REQUIRE(f.cu.ctx_set_current(f.context) == fine);
  CHECK(f.live().empty());
  CHECK(f.cu.tex_object_get_resource_desc(&got, texture) == bad);

  REQUIRE(f.cu.ctx_set_current(nullptr) == fine);
  CHECK(f.cu.tex_object_create(&texture, &resource, &how, nullptr) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(f.cu.tex_object_destroy(0) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(f.cu.surf_object_destroy(0) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(f.cu.tex_object_get_resource_desc(&got, 0) == CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(f.cu.ctx_set_current(f.context) == fine);
}

TEST_CASE("a texture of a format that is copied only is refused by name", "[cpu]") {
  driver_fixture f;
  const CUarray array = make_array(f.cu, array_form(64, 64, 0, 0, CU_AD_FORMAT_BC1_UNORM, 4));
  CHECK(try_texture(f.cu, resource_of(array), sampling()) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(f.reports().find("format 0x91") != std::string::npos);
  CHECK(f.cu.array_destroy(array) == fine);
}

}  // namespace textures_test
