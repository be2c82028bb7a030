// Views of levels, layers and formats of arrays, as the driver is asked for them.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/resource_view.hpp>
#include <gpu/texture/texture.hpp>
#include <gpu/texture/texture_options.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <string>

namespace resource_view_test {

using gpu::array_format;
using gpu::cuda_array;
using gpu::filter_mode;
using gpu::mipmapped_array;
using gpu::read_mode;
using gpu::resource_view;
using gpu::resource_view_format;
using gpu::texture;
using gpu::texture_options;
using test::error_of;
using test::says;
using test::value_of;

TEST_CASE("texture: views of levels, layers and formats", "[texture][object]") {
  const gpu::device device = test::first_device();
  const auto array = value_of(cuda_array<float>::create(device, {.width = 16, .height = 8}));
  const auto levels =
      value_of(mipmapped_array<float>::create(device, {.width = 16, .height = 8}, 4));
  const texture_options options{.normalized_coordinates = true};
  const auto part =
      value_of(texture<float>::create(levels, options, {.first_level = 1, .last_level = 2}));
  const auto scope = value_of(gpu::context_scope::enter(part.context()));
  CUDA_RESOURCE_VIEW_DESC raw{};
  REQUIRE(test::driver().tex_object_get_resource_view_desc(&raw, part.native()) == CUDA_SUCCESS);
  CHECK(raw.format == CU_RES_VIEW_FORMAT_FLOAT_1X32);
  CHECK(raw.width == 16);
  CHECK(raw.height == 8);
  CHECK(raw.depth == 0);
  CHECK(raw.firstMipmapLevel == 1);
  CHECK(raw.lastMipmapLevel == 2);
  CHECK(raw.lastLayer == 0);
  CHECK(value_of(part.view()) == resource_view{.format = resource_view_format::float_1x32,
                                               .first_level = 1,
                                               .last_level = 2,
                                               .last_layer = 0});
  CHECK(value_of(value_of(texture<float>::create(array)).view()) == resource_view{});
  const auto all = value_of(texture<float>::create(levels, options, {.last_level = 4}));
  CHECK(value_of(all.view()).last_level == 3);
  const auto layered =
      value_of(cuda_array<float>::create(device, {.width = 8, .height = 8, .layers = 5}));
  const auto two_layers =
      value_of(texture<float>::create(layered, {}, {.first_layer = 2, .last_layer = 3}));
  CHECK(value_of(two_layers.view()).first_layer == 2);
  CHECK(value_of(two_layers.view()).last_layer == 3);
  const auto as_bytes = value_of(texture<float>::create(
      array, {.filter = filter_mode::linear, .read = read_mode::normalized_float},
      {.format = resource_view_format::uint_4x8}));
  CHECK(value_of(as_bytes.view()).format == resource_view_format::uint_4x8);

  CHECK(says(error_of(texture<float>::create(levels, options, {.first_level = 4})),
             "levels 4 to 3, but the array has 4. The first must be less"));
  CHECK(says(error_of(texture<float>::create(layered, {}, {.first_layer = 3, .last_layer = 2})),
             "layers 3 to 2, but the array has 5. The first must be less"));
  for (const int format : {99, -1}) {
    const gpu::cuda_error error = error_of(
        texture<float>::create(array, {}, {.format = static_cast<resource_view_format>(format)}));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error,
               (std::to_string(format) + " is not a valid gpu::resource_view_format").c_str(),
               "pass one of its enumerators"));
  }
  const auto packed = value_of(cuda_array<>::create(device, {array_format::unorm_int_101010_2, 4},
                                                    {.width = 4, .height = 4}));
  CHECK(says(error_of(texture<>::create(packed, {}, {.last_layer = 0})),
             "has no matching gpu::resource_view_format. Set the format"));
}

TEST_CASE("texture: refuses views of texels of another size", "[texture][object]") {
  const gpu::device device = test::first_device();
  const auto bytes = value_of(cuda_array<unsigned char>::create(device, {.width = 8, .height = 8}));
  const auto words = value_of(cuda_array<unsigned>::create(device, {.width = 8, .height = 8}));
  gpu::cuda_error error = error_of(
      texture<unsigned char>::create(bytes, {}, {.format = resource_view_format::float_4x32}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::texture::create", "a view of float_4x32 has texels of 16 bytes",
             "1 channel of unsigned_int8, have 1", "Use a format of the same size"));
  CHECK(error.asked() == 16);
  CHECK(error.limit() == 1);
  for (const resource_view_format format :
       {resource_view_format::unsigned_bc1, resource_view_format::unsigned_bc4}) {
    error = error_of(texture<unsigned char>::create(bytes, {}, {.format = format}));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, "needs an array with 2 channels of unsigned_int32",
               "this one has 1 channel of unsigned_int8", "one texel for each block"));
  }
  CHECK(says(
      error_of(texture<unsigned>::create(words, {}, {.format = resource_view_format::signed_bc6h})),
      "4 channels of unsigned_int32", "has 1 channel of unsigned_int32"));
}

TEST_CASE("texture: a view of blocks is four times as wide", "[texture][object][hardware]") {
  const gpu::device device = test::first_device();
  using block = gpu::channels<unsigned, 2>;
  const auto blocks = value_of(cuda_array<block>::create(device, {.width = 4, .height = 2}));
  const auto made = value_of(texture<block>::create(
      blocks, {.filter = filter_mode::linear}, {.format = resource_view_format::unsigned_bc1}));
  const auto scope = value_of(gpu::context_scope::enter(made.context()));
  CUDA_RESOURCE_VIEW_DESC raw{};
  REQUIRE(test::driver().tex_object_get_resource_view_desc(&raw, made.native()) == CUDA_SUCCESS);
  CHECK(raw.format == CU_RES_VIEW_FORMAT_UNSIGNED_BC1);
  CHECK(raw.width == 16);
  CHECK(raw.height == 8);
}

TEST_CASE("texture: the driver is asked for a view of blocks that is four times as wide",
          "[texture][object]") {
  const gpu::device device = test::first_device();
  const auto array =
      value_of(cuda_array<gpu::channels<unsigned, 4>>::create(device, {.width = 4, .height = 2}));
  const auto halves =
      value_of(cuda_array<gpu::channels<unsigned, 2>>::create(device, {.width = 4, .height = 2}));
  static CUDA_RESOURCE_VIEW_DESC asked;
  gpu::driver::entry_points noting = test::driver();
  noting.tex_object_create = [](CUtexObject*, const CUDA_RESOURCE_DESC*, const CUDA_TEXTURE_DESC*,
                                const CUDA_RESOURCE_VIEW_DESC* view) {
    asked = *view;
    return CUDA_ERROR_UNKNOWN;
  };
  const gpu::driver::scoped_entry_points in_force(noting);
  const auto width_of = [&](resource_view_format format, const texture_options& options = {},
                            bool half = false) {
    const gpu::cuda_error error =
        half ? error_of(texture<>::create(halves, options, {.format = format}))
             : error_of(texture<>::create(array, options, {.format = format}));
    CHECK(error.code() == CUDA_ERROR_UNKNOWN);
    CHECK(static_cast<int>(asked.format) == static_cast<int>(format));
    return asked.width;
  };
  const texture_options filtered{.filter = filter_mode::linear};
  CHECK(width_of(resource_view_format::float_4x32) == 4);
  CHECK(width_of(resource_view_format::unsigned_bc1, filtered, true) == 16);
  CHECK(width_of(resource_view_format::signed_bc4, filtered, true) == 16);
  CHECK(width_of(resource_view_format::signed_bc5, filtered) == 16);
  CHECK(width_of(resource_view_format::unsigned_bc7, filtered) == 16);
  CHECK(asked.height == 8);
}

}  // namespace resource_view_test
