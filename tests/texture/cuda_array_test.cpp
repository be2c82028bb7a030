#include <gpu/texture/cuda_array.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/copy_array.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cuda_array_test {

using gpu::array_flags;
using gpu::array_format;
using gpu::array_shape;
using gpu::cuda_array;
using gpu::cuda_array_ref;
using gpu::texel_format;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<cuda_array<float>>);
static_assert(std::is_nothrow_move_constructible_v<cuda_array<float>>);
static_assert(std::is_trivially_copyable_v<cuda_array_ref<float>>);
static_assert(std::is_convertible_v<cuda_array<float>&, cuda_array_ref<float>>);
static_assert(std::is_convertible_v<cuda_array<float>&, cuda_array_ref<>>);
static_assert(!std::is_convertible_v<cuda_array<float>, cuda_array_ref<float>>);
static_assert(!std::is_convertible_v<cuda_array<float>, cuda_array_ref<>>);
static_assert(!std::is_convertible_v<cuda_array<float>&, cuda_array_ref<int>>);
static_assert(!std::is_convertible_v<cuda_array_ref<>, cuda_array_ref<int>>);

namespace {

template <class T> CUDA_ARRAY3D_DESCRIPTOR raw_descriptor(const cuda_array<T>& array) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  REQUIRE(test::driver().array_3d_get_descriptor(&descriptor, array.native()) == CUDA_SUCCESS);
  return descriptor;
}

}  // namespace

TEST_CASE("cuda_array: every kind is what the driver says it is", "[texture][array]") {
  const gpu::device device = test::first_device();
  struct kind {
    array_shape shape;
    std::size_t depth;
    unsigned flags;
  };
  const kind kinds[] = {
      {{.width = 64}, 0, 0},
      {{.width = 64, .height = 32}, 0, 0},
      {{.width = 64, .height = 32, .depth = 16}, 16, 0},
      {{.width = 64, .layers = 5}, 5, CUDA_ARRAY3D_LAYERED},
      {{.width = 64, .height = 32, .layers = 5}, 5, CUDA_ARRAY3D_LAYERED},
      {{.width = 16, .height = 16, .cubemap = true}, 6, CUDA_ARRAY3D_CUBEMAP},
      {{.width = 16, .height = 16, .layers = 3, .cubemap = true},
       18,
       CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED},
      {{.width = 64, .height = 32, .flags = array_flags::surface_load_store},
       0,
       CUDA_ARRAY3D_SURFACE_LDST},
      {{.width = 64, .height = 32, .flags = array_flags::texture_gather},
       0,
       CUDA_ARRAY3D_TEXTURE_GATHER},
      {{.width = 64, .height = 32, .flags = array_flags::sparse}, 0, CUDA_ARRAY3D_SPARSE},
      {{.width = 64, .height = 32, .flags = array_flags::deferred_mapping},
       0,
       CUDA_ARRAY3D_DEFERRED_MAPPING},
  };
  for (const kind& each : kinds) {
    INFO(each.shape.width << " x " << each.shape.height << " x " << each.depth);
    const auto array = value_of(cuda_array<float>::create(device, each.shape));
    const CUDA_ARRAY3D_DESCRIPTOR raw = raw_descriptor(array);
    CHECK(raw.Width == each.shape.width);
    CHECK(raw.Height == each.shape.height);
    CHECK(raw.Depth == each.depth);
    CHECK(raw.Flags == each.flags);
    CHECK(raw.Format == CU_AD_FORMAT_FLOAT);
    CHECK(raw.NumChannels == 1);
    CHECK(array.shape() == each.shape);
    const auto again = value_of(cuda_array_ref<>::of(array.native(), array.context()));
    CHECK(again.shape() == each.shape);
    CHECK(again.format() == texel_format{array_format::float_, 1});
  }
}

TEST_CASE("cuda_array: the type of the texels is their format", "[texture][array]") {
  const gpu::device device = test::first_device();
  using rgba = gpu::channels<unsigned char, 4>;
  const auto array = value_of(cuda_array<rgba>::create(device, {.width = 8, .height = 8}));
  CHECK(raw_descriptor(array).Format == CU_AD_FORMAT_UNSIGNED_INT8);
  CHECK(raw_descriptor(array).NumChannels == 4);
  CHECK(array.format() == texel_format{array_format::unsigned_int8, 4});
  CHECK(array.device() == device);
  CHECK(value_of(cuda_array_ref<rgba>::of(array.native(), array.context())) ==
        cuda_array_ref<rgba>(array));
  const gpu::cuda_error other =
      error_of(cuda_array_ref<float>::of(array.native(), array.context()));
  CHECK(other == gpu::errc::invalid_argument);
  CHECK(says(other, "4 channels of unsigned_int8", "1 channel of float_"));
  const auto untyped =
      value_of(cuda_array<>::create(device, {array_format::half, 2}, {.width = 8, .height = 4}));
  CHECK(raw_descriptor(untyped).Format == CU_AD_FORMAT_HALF);
  CHECK(raw_descriptor(untyped).NumChannels == 2);
  const auto wide = value_of(
      cuda_array<>::create(device, {array_format::unorm_int8x4, 4}, {.width = 8, .height = 4}));
  CHECK(raw_descriptor(wide).Format == CU_AD_FORMAT_UNORM_INT8X4);
}

TEST_CASE("cuda_array: refuses what cannot be", "[texture][array]") {
  const gpu::device device = test::first_device();
  struct refusal {
    array_shape shape;
    const char* words;
  };
  const refusal refusals[] = {
      {{}, "the width is 0"},
      {{.width = 4, .depth = 4}, "the depth is set, but the height is 0"},
      {{.width = 4, .height = 4, .depth = 4, .layers = 4}, "both depth and layers are set"},
      {{.width = 4, .height = 4, .depth = 6, .cubemap = true}, "its six faces are implied"},
      {{.width = 4, .height = 8, .cubemap = true}, "must be square. Set height to the width"},
      {{.width = 4, .flags = array_flags::texture_gather}, "texture_gather requires"},
      {{.width = 4, .height = 4, .layers = 2, .flags = array_flags::texture_gather},
       "texture_gather requires"},
      {{.width = 4, .height = 4, .depth = 2, .flags = array_flags::texture_gather},
       "texture_gather requires"},
      {{.width = 4, .height = 4, .cubemap = true, .flags = array_flags::texture_gather},
       "texture_gather requires"},
      {{.width = 4, .height = 4, .flags = array_flags::sparse | array_flags::deferred_mapping},
       "Remove one of the two flags"},
      {{.width = 4, .flags = array_flags::sparse}, "must be 2D or 3D"},
      {{.width = 4, .height = 4, .cubemap = true, .flags = array_flags::sparse},
       "a cubemap cannot be sparse"},
      {{.width = 4, .height = 4, .flags = array_flags::sparse | array_flags::surface_load_store},
       "surfaces cannot write to a sparse array"},
      {{.width = 4, .height = 4, .flags = array_flags::color_attachment}, "a graphics API"},
      {{.width = 4, .height = 4, .flags = array_flags::depth_texture}, "a graphics API"},
      {{.width = 4, .flags = static_cast<array_flags>(CUDA_ARRAY3D_LAYERED)}, "the member"},
      {{.width = 4, .flags = static_cast<array_flags>(0x200)}, "not in gpu::array_flags"},
  };
  for (const refusal& each : refusals) {
    INFO(each.words);
    const gpu::cuda_error error = error_of(cuda_array<float>::create(device, each.shape));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(says(error, each.words));
    // The driver refuses the same, with a number; but for flags that mean something to it.
    const CUDA_ARRAY3D_DESCRIPTOR raw =
        gpu::detail::native_descriptor(each.shape, {array_format::float_, 1});
    CUarray made = nullptr;
    if (each.shape.layers == 0 && !each.shape.cubemap && raw.Flags != CUDA_ARRAY3D_LAYERED) {
      const auto context = value_of(gpu::context::primary(device));
      const auto scope = value_of(gpu::context_scope::enter(context));
      CHECK(test::driver().array_3d_create(&made, &raw) == CUDA_ERROR_INVALID_VALUE);
    }
  }
  const auto with = [&](texel_format format) {
    return error_of(cuda_array<>::create(device, format, {.width = 4}));
  };
  CHECK(says(with({array_format::float_, 3}), "1, 2 or 4 channels, not 3"));
  CHECK(with({array_format::float_, 3}).limit() == 4);
  CHECK(says(with({array_format::float_, 0}), "1, 2 or 4 channels, not 0"));
  CHECK(says(with({array_format{}, 1}), "0 is not a valid gpu::array_format"));
  const gpu::cuda_error few = with({array_format::unorm_int8x2, 1});
  CHECK(says(few, "unorm_int8x2 have 2 channels, not 1", "Set the number of channels to 2"));
  const gpu::cuda_error packed = error_of(cuda_array<>::create(
      device, {array_format::unorm_int_101010_2, 3}, {.width = 4, .height = 4}));
  CHECK(packed == gpu::errc::invalid_argument);
  CHECK(
      says(packed, "unorm_int_101010_2 have 4 channels, not 3", "Set the number of channels to 4"));
  CHECK(packed.limit() == 4);
  CHECK(few.asked() == 1);
  CHECK(few.limit() == 2);
  CHECK(error_of(cuda_array<float>::create(gpu::context_ref{}, {.width = 4})) ==
        gpu::errc::empty_handle);
  CHECK(says(error_of(cuda_array_ref<>::of(nullptr, gpu::context_ref{})), "gpu::cuda_array_ref::of",
             "context is empty"));
}

TEST_CASE("cuda_array: the device's limits are named", "[texture][array]") {
  const gpu::device device = test::first_device();
  const auto limit = [&](CUdevice_attribute which) {
    int value = 0;
    REQUIRE(test::driver().device_get_attribute(&value, which, device.native()) == CUDA_SUCCESS);
    return static_cast<std::size_t>(value);
  };
  const auto refused = [&](const array_shape& shape, const char* words, std::size_t most) {
    const gpu::cuda_error error = error_of(cuda_array<float>::create(device, shape));
    return error == gpu::errc::invalid_argument &&
           says(error, words, std::to_string(most).c_str(), "too large");
  };
  const std::size_t line = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
  CHECK(refused({.width = line + 1}, "textures", line));
  CHECK(value_of(cuda_array<float>::create(device, {.width = line})).shape().width == line);
  const std::size_t rows = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT);
  CHECK(refused({.width = 1, .height = rows + 1}, "textures", rows));
  const std::size_t deep = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE);
  CHECK(refused({.width = 1, .height = 1, .depth = deep + 1}, "textures", deep));
  const std::size_t normal = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH);
  if (deep > normal) CHECK(cuda_array<float>::create(device, {1, 1, deep}).has_value());
  const std::size_t layers = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS);
  CHECK(refused({.width = 1, .layers = layers + 1}, "textures", layers));
  const std::size_t layers_2d = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS);
  CHECK(refused({.width = 1, .height = 1, .layers = layers_2d + 1}, "textures", layers_2d));
  const std::size_t face = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH);
  CHECK(refused({.width = face + 1, .height = face + 1, .cubemap = true}, "textures", face));
  const std::size_t faces = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS);
  CHECK(refused({.width = 1, .height = 1, .layers = faces / 6 + 1, .cubemap = true}, "textures",
                faces));
  const std::size_t gather = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH);
  CHECK(refused({.width = gather + 1, .height = 1, .flags = array_flags::texture_gather},
                "textures", gather));
  const std::size_t surface = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH);
  if (surface < line) {
    CHECK(refused({.width = surface + 1, .flags = array_flags::surface_load_store}, "surfaces",
                  surface));
  }
}

TEST_CASE("cuda_array: memory that is mapped later", "[texture][array]") {
  const gpu::device device = test::first_device();
  const array_shape shape{.width = 1024, .height = 1024};
  const auto plain = value_of(cuda_array<float>::create(device, shape));
  CHECK(says(error_of(plain.memory_requirements()), "deferred_mapping"));
  CHECK(says(error_of(plain.sparse_properties()), "gpu::array_flags::sparse"));
  array_shape later = shape;
  later.flags = array_flags::deferred_mapping;
  const auto deferred = value_of(cuda_array<float>::create(device, later));
  const auto needed = value_of(deferred.memory_requirements());
  CUDA_ARRAY_MEMORY_REQUIREMENTS raw{};
  REQUIRE(test::driver().array_get_memory_requirements(&raw, deferred.native(), device.native()) ==
          CUDA_SUCCESS);
  CHECK(needed.size == raw.size);
  CHECK(needed.alignment == raw.alignment);
  CHECK(needed.size >= 1024 * 1024 * 4);
  later.flags = array_flags::sparse;
  const auto sparse = value_of(cuda_array<float>::create(device, later));
  const auto tiles = value_of(sparse.sparse_properties());
  CUDA_ARRAY_SPARSE_PROPERTIES raw_tiles{};
  REQUIRE(test::driver().array_get_sparse_properties(&raw_tiles, sparse.native()) == CUDA_SUCCESS);
  CHECK(tiles.tile.width == raw_tiles.tileExtent.width);
  CHECK(tiles.tile.height == raw_tiles.tileExtent.height);
  CHECK(tiles.tile.width * tiles.tile.height * tiles.tile.depth * 4 == 65536);
  CHECK(tiles.mip_tail_level == raw_tiles.miptailFirstLevel);
  CHECK(tiles.mip_tail_size == raw_tiles.miptailSize);
  CHECK(tiles.single_mip_tail == (raw_tiles.flags == CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL));
  CHECK_FALSE(tiles.single_mip_tail);
  const auto narrow = value_of(cuda_array<unsigned char>::create(
      device, {.width = 100, .height = 1000, .flags = array_flags::sparse}));  // less than a tile
  REQUIRE(test::driver().array_get_sparse_properties(&raw_tiles, narrow.native()) == CUDA_SUCCESS);
  CHECK(raw_tiles.flags == CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL);
  CHECK(value_of(narrow.sparse_properties()).single_mip_tail);
  CHECK(value_of(narrow.sparse_properties()).mip_tail_size == raw_tiles.miptailSize);
  CHECK(error_of(cuda_array_ref<float>{}.sparse_properties()) == gpu::errc::empty_handle);
  CHECK(error_of(cuda_array_ref<float>{}.memory_requirements()) == gpu::errc::empty_handle);
}

TEST_CASE("cuda_array: planes are arrays", "[texture][array]") {
  const gpu::device device = test::first_device();
  const auto plain = value_of(cuda_array<float>::create(device, {.width = 8, .height = 8}));
  CHECK(error_of(plain.plane(0)).code() == CUDA_ERROR_INVALID_VALUE);
  CHECK(error_of(cuda_array_ref<>{}.plane(0)) == gpu::errc::empty_handle);
  const auto frame = value_of(cuda_array<>::create(
      device, {array_format::nv12, 3}, {.width = 64, .height = 32, .flags = array_flags::video}));
  const auto luma = value_of(frame.plane(0)), chroma = value_of(frame.plane(1));
  CHECK(luma.shape() == array_shape{.width = 64, .height = 32, .flags = array_flags::video});
  CHECK(luma.format() == texel_format{array_format::unsigned_int8, 1});
  CHECK(chroma.shape() == array_shape{.width = 32, .height = 16, .flags = array_flags::video});
  CHECK(chroma.format() == texel_format{array_format::unsigned_int8, 2});
  CHECK(error_of(frame.plane(2)).code() == CUDA_ERROR_INVALID_VALUE);
  std::vector<unsigned char> brightness(64 * 32, 100), colors(2 * 32 * 16, 200);
  REQUIRE(copy(brightness, luma).has_value());
  REQUIRE(copy(colors, chroma).has_value());
  std::vector<unsigned char> back(64 * 32);
  REQUIRE(copy(luma, back).has_value());
  CHECK(back == brightness);
}

TEST_CASE("cuda_array: is destroyed once, and says how much there is not",
          "[texture][array][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  value_of(gpu::context::primary(device));
  const std::size_t before = driver.live_objects();
  {
    auto a = value_of(cuda_array<float>::create(device, {.width = 8, .height = 8}));
    auto b = value_of(cuda_array<float>::create(device, {.width = 4}));
    a = std::move(b);
    CHECK(driver.live_objects() == before + 1);
    CHECK(a.shape().width == 4);
    CHECK(b.native() == nullptr);
    CHECK(!b.context());
    const cuda_array_ref<float> raw = a.release();
    CHECK(driver.live_objects() == before + 1);
    const auto again = cuda_array<float>::adopt(raw);
  }
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
  const gpu::cuda_error much =
      error_of(cuda_array<float>::create(device, {.width = 16384, .height = 16384}));
  CHECK(much.code() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(says(much, "asked for 1073741824 bytes", "are free on device 0"));
}

TEST_CASE("cuda_array: cannot be made in a capture", "[texture][array]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto array = value_of(cuda_array<float>::create(device, {.width = 8}));
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  CHECK(cuda_array_ref<>::of(array.native(), array.context()).has_value());
  CHECK(error_of(cuda_array<float>::create(device, {.width = 8})).code() ==
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  CHECK(test::driver().stream_end_capture(stream.native(), &graph) ==
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_CASE("cuda_array: survives every failing call", "[texture][array][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              auto a = GPU_TRY(cuda_array<float>::create(
                  device, {.width = 8, .height = 8, .flags = array_flags::surface_load_store}));
              auto deferred = GPU_TRY(cuda_array<float>::create(
                  device, {.width = 8, .height = 8, .flags = array_flags::deferred_mapping}));
              auto sparse = GPU_TRY(cuda_array<float>::create(
                  device, {.width = 8, .height = 8, .flags = array_flags::sparse}));
              auto frame = GPU_TRY(
                  cuda_array<>::create(device, {array_format::nv12, 3},
                                       {.width = 64, .height = 32, .flags = array_flags::video}));
              GPU_TRY(cuda_array_ref<>::of(a.native(), a.context()));
              GPU_TRY(frame.plane(1));
              GPU_TRY(deferred.memory_requirements());
              GPU_TRY(sparse.sparse_properties());
              return {};
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace cuda_array_test
