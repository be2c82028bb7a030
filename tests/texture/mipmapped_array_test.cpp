#include <gpu/texture/mipmapped_array.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/copy_array.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mipmapped_array_test {

using gpu::array_flags;
using gpu::array_format;
using gpu::array_shape;
using gpu::mipmapped_array;
using gpu::mipmapped_array_ref;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<mipmapped_array<float>>);
static_assert(std::is_nothrow_move_constructible_v<mipmapped_array<float>>);
static_assert(std::is_convertible_v<mipmapped_array<float>&, mipmapped_array_ref<>>);
static_assert(!std::is_convertible_v<mipmapped_array<float>, mipmapped_array_ref<float>>);

TEST_CASE("mipmapped_array: levels are arrays of half the size", "[texture][array]") {
  const gpu::device device = test::first_device();
  struct kind {
    array_shape shape;
    unsigned levels;
  };
  for (const kind& each : {kind{{.width = 100}, 7}, kind{{.width = 100, .height = 37}, 7},
                           kind{{.width = 16, .height = 9, .depth = 33}, 6},
                           kind{{.width = 20, .height = 9, .layers = 3}, 5},
                           kind{{.width = 16, .height = 16, .cubemap = true}, 5}}) {
    const auto array = value_of(mipmapped_array<int>::create(device, each.shape));
    CHECK(array.levels() == each.levels);
    for (unsigned index = 0; index < each.levels; ++index) {
      const auto level = value_of(array.level(index));
      CUDA_ARRAY3D_DESCRIPTOR raw{};
      REQUIRE(test::driver().array_3d_get_descriptor(&raw, level.native()) == CUDA_SUCCESS);
      CHECK(raw.Width == level.shape().width);
      CHECK(raw.Height == level.shape().height);
      CHECK(raw.Depth == level.shape().planes());
      CHECK(raw.Format == CU_AD_FORMAT_SIGNED_INT32);
      CHECK(level.shape().layers == each.shape.layers);
    }
    CUarray none = nullptr;
    CHECK(test::driver().mipmapped_array_get_level(&none, array.native(), each.levels) ==
          CUDA_ERROR_INVALID_VALUE);
    const gpu::cuda_error past = error_of(array.level(each.levels));
    CHECK(past == gpu::errc::index_out_of_range);
    CHECK(says(past, ("the array has " + std::to_string(each.levels)).c_str()));
  }
}

TEST_CASE("mipmapped_array: each level keeps its own texels", "[texture][array]") {
  const gpu::device device = test::first_device();
  const auto array = value_of(
      mipmapped_array<>::create(device, {array_format::float_, 2}, {.width = 8, .height = 8}, 3));
  CHECK(array.levels() == 3);
  using pair = gpu::channels<float, 2>;
  for (unsigned index = 0; index < 3; ++index) {
    const std::size_t count = 64u >> (2 * index);
    const auto value = static_cast<float>(index + 1);
    REQUIRE(copy(std::vector<pair>(count, pair{{value, -value}}), value_of(array.level(index)))
                .has_value());
  }
  for (unsigned index = 0; index < 3; ++index) {
    const std::size_t count = 64u >> (2 * index);
    const auto value = static_cast<float>(index + 1);
    std::vector<pair> back(count);
    REQUIRE(copy(value_of(array.level(index)), back).has_value());
    CHECK(back == std::vector<pair>(count, pair{{value, -value}}));
  }
}

TEST_CASE("mipmapped_array: memory that is mapped later", "[texture][array]") {
  const gpu::device device = test::first_device();
  array_shape shape{.width = 1024, .height = 1024};
  const auto plain = value_of(mipmapped_array<float>::create(device, shape, 5));
  CHECK(says(error_of(plain.memory_requirements()), "deferred_mapping"));
  CHECK(says(error_of(plain.sparse_properties()), "gpu::array_flags::sparse"));
  shape.flags = array_flags::deferred_mapping;
  const auto deferred = value_of(mipmapped_array<float>::create(device, shape, 5));
  CUDA_ARRAY_MEMORY_REQUIREMENTS raw{};
  REQUIRE(test::driver().mipmapped_array_get_memory_requirements(&raw, deferred.native(),
                                                                 device.native()) == CUDA_SUCCESS);
  CHECK(value_of(deferred.memory_requirements()).size == raw.size);
  CHECK(value_of(deferred.memory_requirements()).alignment == raw.alignment);
  shape.flags = array_flags::sparse;
  const auto sparse = value_of(mipmapped_array<float>::create(device, shape, 5));
  CUDA_ARRAY_SPARSE_PROPERTIES tiles{};
  REQUIRE(test::driver().mipmapped_array_get_sparse_properties(&tiles, sparse.native()) ==
          CUDA_SUCCESS);
  const auto found = value_of(sparse.sparse_properties());
  CHECK(found.tile ==
        gpu::box_extent{tiles.tileExtent.width, tiles.tileExtent.height, tiles.tileExtent.depth});
  CHECK(found.mip_tail_level == tiles.miptailFirstLevel);
  CHECK(found.mip_tail_size == tiles.miptailSize);
}

TEST_CASE("mipmapped_array: refuses what cannot be", "[texture][array]") {
  const gpu::device device = test::first_device();
  const gpu::cuda_error many =
      error_of(mipmapped_array<float>::create(device, {.width = 64, .height = 32}, 8));
  CHECK(many == gpu::errc::invalid_argument);
  CHECK(says(many, "the number of levels is 8", "has at most 7", "or 0 for all levels"));
  CHECK(value_of(mipmapped_array<float>::create(device, {.width = 64, .height = 32}, 7)).levels() ==
        7);
  CHECK(says(error_of(mipmapped_array<float>::create(device, {})), "the width is 0"));
  int widest = 0;
  REQUIRE(test::driver().device_get_attribute(&widest,
                                              CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH,
                                              device.native()) == CUDA_SUCCESS);
  const auto width = static_cast<std::size_t>(widest);
  CHECK(says(error_of(mipmapped_array<float>::create(device, {.width = width + 1})), "too large",
             std::to_string(width).c_str()));
  CHECK(error_of(mipmapped_array_ref<float>{}.level(0)) == gpu::errc::empty_handle);
  CHECK(error_of(mipmapped_array_ref<float>{}.sparse_properties()) == gpu::errc::empty_handle);
  CHECK(error_of(mipmapped_array_ref<float>{}.memory_requirements()) == gpu::errc::empty_handle);
  CHECK(error_of(mipmapped_array<float>::create(gpu::context_ref{}, {.width = 4})) ==
        gpu::errc::empty_handle);
}

TEST_CASE("mipmapped_array: is destroyed once, and survives failing calls",
          "[texture][array][cpu]") {
  {
    test::own_cpu_driver driver;
    const gpu::device device = test::first_device();
    value_of(gpu::context::primary(device));
    const std::size_t before = driver.live_objects();
    {
      auto a = value_of(mipmapped_array<float>::create(device, {.width = 8, .height = 8}));
      CHECK(value_of(a.level(1)).shape().width == 4);  // belongs to the whole
      auto b = std::move(a);
      CHECK(a.native() == nullptr);
      CHECK(a.levels() == 0);
      CHECK(b.levels() == 4);
      const auto again = mipmapped_array<float>::adopt(b.release());
    }
    INFO(driver.live_list());
    CHECK(driver.live_objects() == before);
    const gpu::cuda_error much =
        error_of(mipmapped_array<float>::create(device, {.width = 16384, .height = 16384}, 1));
    CHECK(says(much, "CUDA_ERROR_OUT_OF_MEMORY", "asked for 1073741824 bytes",
               "are free on device 0"));
  }
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              auto a = GPU_TRY(mipmapped_array<float>::create(device, {.width = 8}));
              auto deferred = GPU_TRY(mipmapped_array<float>::create(
                  device, {.width = 8, .height = 8, .flags = array_flags::deferred_mapping}));
              auto sparse = GPU_TRY(mipmapped_array<float>::create(
                  device, {.width = 8, .height = 8, .flags = array_flags::sparse}));
              GPU_TRY(a.level(2));
              GPU_TRY(deferred.memory_requirements());
              GPU_TRY(sparse.sparse_properties());
              return {};
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace mipmapped_array_test
