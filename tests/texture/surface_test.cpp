#include <gpu/texture/surface.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/mipmapped_array.hpp>
#include <gpu/texture/texture.hpp>
#include <gpu/texture/texture_resource.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace texture_surface_test {

using gpu::array_flags;
using gpu::cuda_array;
using gpu::cuda_array_ref;
using gpu::mipmapped_array;
using gpu::surface;
using gpu::surface_ref;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<surface<float>>);
static_assert(std::is_nothrow_move_assignable_v<surface<float>>);
static_assert(std::is_trivially_copyable_v<surface_ref<float>> && sizeof(surface_ref<float>) == 8);
static_assert(gpu::kernel_argument_for<surface<float>&, unsigned long long>);
static_assert(gpu::kernel_argument_for<surface<float>&, surface_ref<float>>);
static_assert(gpu::kernel_argument_for<surface<float>&, surface_ref<>>);
static_assert(!gpu::kernel_argument_for<surface<float>, surface_ref<>>);
static_assert(!gpu::kernel_argument_for<surface<float>&, surface_ref<int>>);
static_assert(!gpu::kernel_argument_for<surface<float>&, gpu::texture_ref<float>>);
static_assert(!gpu::kernel_argument_for<gpu::texture<float>&, surface_ref<float>>);
static_assert(!gpu::kernel_argument_for<surface<float>&, double>);

TEST_CASE("surface: of an array, or of a level, as the driver tells it", "[texture][object]") {
  const gpu::device device = test::first_device();
  const auto flags = array_flags::surface_load_store;
  const auto array =
      value_of(cuda_array<int>::create(device, {.width = 8, .height = 4, .flags = flags}));
  const auto made = value_of(surface<int>::create(array));
  const auto scope = value_of(gpu::context_scope::enter(made.context()));
  CUDA_RESOURCE_DESC raw{};
  REQUIRE(test::driver().surf_object_get_resource_desc(&raw, made.native()) == CUDA_SUCCESS);
  CHECK(raw.resType == CU_RESOURCE_TYPE_ARRAY);
  CHECK(raw.res.array.hArray == array.native());
  const gpu::texture_resource told = value_of(made.resource());
  CHECK(told.type == gpu::resource_type::array);
  CHECK(value_of(cuda_array_ref<int>::of(told.array, made.context())) ==
        cuda_array_ref<int>(array));
  const auto levels =
      value_of(mipmapped_array<int>::create(device, {.width = 8, .height = 4, .flags = flags}));
  const auto level = value_of(levels.level(1));
  CHECK(value_of(value_of(surface<int>::create(level)).resource()).array == level.native());
  CHECK(value_of(surface<>::create(array)).device() == device);
}

TEST_CASE("surface: refuses arrays that are not made for it", "[texture][object]") {
  const gpu::device device = test::first_device();
  const auto array = value_of(cuda_array<int>::create(device, {.width = 8, .height = 4}));
  const gpu::cuda_error plain = error_of(surface<int>::create(array));
  CHECK(plain == gpu::errc::invalid_argument);
  CHECK(says(plain, "gpu::array_flags::surface_load_store", "Add it to its flags"));
  CHECK(error_of(surface<int>::create(cuda_array_ref<int>{})) == gpu::errc::empty_handle);
}

TEST_CASE("surface: cannot be made in a capture", "[texture][object]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto array = value_of(
      cuda_array<float>::create(device, {.width = 8, .flags = array_flags::surface_load_store}));
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  CHECK(error_of(surface<float>::create(array)).code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  CHECK(test::driver().stream_end_capture(stream.native(), &graph) ==
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_CASE("surface: keeps its array, goes once, and survives failing calls",
          "[texture][object][cpu]") {
  const auto flags = array_flags::surface_load_store;
  {
    test::own_cpu_driver driver;
    const test::reported_errors reports;
    const gpu::device device = test::first_device();
    value_of(gpu::context::primary(device));
    const std::size_t before = driver.live_objects();
    {
      auto a = value_of(surface<float>::create(
          value_of(cuda_array<float>::create(device, {.width = 8, .flags = flags}))));
      auto b = value_of(surface<float>::create(
          value_of(cuda_array<float>::create(device, {.width = 9, .flags = flags}))));
      CHECK(driver.live_objects() == before + 4);
      a = std::move(b);
      CHECK(driver.live_objects() == before + 2);
      CHECK(error_of(b.resource()) == gpu::errc::empty_handle);
      const surface_ref<float> raw = a.release();
      const auto again = surface<float>::adopt(raw, value_of(gpu::context::primary(device)));
      CHECK(again.native() == raw.native());
    }
    INFO(driver.live_list());
    CHECK(driver.live_objects() == before);
    CHECK(reports.count() == 0);
  }
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              auto made = GPU_TRY(surface<float>::create(GPU_TRY(cuda_array<float>::create(
                  device, {.width = 8, .flags = array_flags::surface_load_store}))));
              GPU_TRY(made.resource());
              return {};
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace texture_surface_test
