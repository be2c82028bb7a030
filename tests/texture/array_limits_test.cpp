// Which limit of the device holds for which kind of array: each is lowered in turn.

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/texture.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace array_limits_test {

using gpu::array_flags;
using gpu::array_shape;
using gpu::cuda_array;
using gpu::mipmapped_array;
using test::error_of;
using test::says;
using test::value_of;

namespace {

/// The driver in force, on whose devices some attributes are 4, from construction to destruction.
class low_limits {
 public:
  explicit low_limits(std::vector<CUdevice_attribute> low) : in_force_{prepare(std::move(low))} {}

 private:
  inline static std::vector<CUdevice_attribute> low_;
  inline static gpu::driver::entry_points table_;
  inline static decltype(table_.device_get_attribute) real_;

  static const gpu::driver::entry_points& prepare(std::vector<CUdevice_attribute> low) {
    low_ = std::move(low);
    table_ = test::driver();
    real_ = table_.device_get_attribute;
    table_.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice on) {
      const CUresult code = real_(value, which, on);
      for (const CUdevice_attribute each : low_)
        if (each == which) *value = 4;
      return code;
    };
    return table_;
  }

  gpu::driver::scoped_entry_points in_force_;
};

struct limited {
  CUdevice_attribute limit;
  array_shape shape;
};

#define LIMIT(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_##name

constexpr std::size_t cubes = 2;
constexpr array_shape five{.width = 5};
constexpr array_shape cube{.width = 5, .height = 5, .cubemap = true};

constexpr limited texture_limits[] = {
    {LIMIT(TEXTURE1D_WIDTH), five},
    {LIMIT(TEXTURE2D_WIDTH), {.width = 5, .height = 1}},
    {LIMIT(TEXTURE2D_HEIGHT), {.width = 1, .height = 5}},
    {LIMIT(TEXTURE2D_GATHER_WIDTH),
     {.width = 5, .height = 1, .flags = array_flags::texture_gather}},
    {LIMIT(TEXTURE2D_GATHER_HEIGHT),
     {.width = 1, .height = 5, .flags = array_flags::texture_gather}},
    {LIMIT(TEXTURE1D_LAYERED_WIDTH), {.width = 5, .layers = 1}},
    {LIMIT(TEXTURE1D_LAYERED_LAYERS), {.width = 1, .layers = 5}},
    {LIMIT(TEXTURE2D_LAYERED_WIDTH), {.width = 5, .height = 1, .layers = 1}},
    {LIMIT(TEXTURE2D_LAYERED_HEIGHT), {.width = 1, .height = 5, .layers = 1}},
    {LIMIT(TEXTURE2D_LAYERED_LAYERS), {.width = 1, .height = 1, .layers = 5}},
    {LIMIT(TEXTURECUBEMAP_WIDTH), cube},
    {LIMIT(TEXTURECUBEMAP_LAYERED_WIDTH),
     {.width = 5, .height = 5, .layers = cubes, .cubemap = true}},
    {LIMIT(TEXTURECUBEMAP_LAYERED_LAYERS),
     {.width = 1, .height = 1, .layers = cubes, .cubemap = true}},
};

constexpr limited mipmapped_limits[] = {
    {LIMIT(TEXTURE1D_MIPMAPPED_WIDTH), five},
    {LIMIT(TEXTURE2D_MIPMAPPED_WIDTH), {.width = 5, .height = 1}},
    {LIMIT(TEXTURE2D_MIPMAPPED_HEIGHT), {.width = 1, .height = 5}},
};

constexpr limited surface_limits[] = {
    {LIMIT(SURFACE1D_WIDTH), five},
    {LIMIT(SURFACE2D_WIDTH), {.width = 5, .height = 1}},
    {LIMIT(SURFACE2D_HEIGHT), {.width = 1, .height = 5}},
    {LIMIT(SURFACE3D_WIDTH), {.width = 5, .height = 1, .depth = 1}},
    {LIMIT(SURFACE3D_HEIGHT), {.width = 1, .height = 5, .depth = 1}},
    {LIMIT(SURFACE3D_DEPTH), {.width = 1, .height = 1, .depth = 5}},
    {LIMIT(SURFACE1D_LAYERED_WIDTH), {.width = 5, .layers = 1}},
    {LIMIT(SURFACE1D_LAYERED_LAYERS), {.width = 1, .layers = 5}},
    {LIMIT(SURFACE2D_LAYERED_WIDTH), {.width = 5, .height = 1, .layers = 1}},
    {LIMIT(SURFACE2D_LAYERED_HEIGHT), {.width = 1, .height = 5, .layers = 1}},
    {LIMIT(SURFACE2D_LAYERED_LAYERS), {.width = 1, .height = 1, .layers = 5}},
    {LIMIT(SURFACECUBEMAP_WIDTH), cube},
    {LIMIT(SURFACECUBEMAP_LAYERED_WIDTH),
     {.width = 5, .height = 5, .layers = cubes, .cubemap = true}},
    {LIMIT(SURFACECUBEMAP_LAYERED_LAYERS),
     {.width = 1, .height = 1, .layers = cubes, .cubemap = true}},
};

/// Whether an error says that an array is too large for textures, or for surfaces.
bool too_large(const gpu::cuda_error& error, const char* user) {
  return error == gpu::errc::invalid_argument &&
         says(error, "is too large:", user, "have a limit of", "4",
              "for this kind of array. Make the array smaller, or split it.");
}

}  // namespace

TEST_CASE("array limits: of textures, for each kind", "[texture][array]") {
  const gpu::device device = test::first_device();
  for (const limited& each : texture_limits) {
    INFO("attribute " << each.limit);
    CHECK(cuda_array<float>::create(device, each.shape).has_value());
    const low_limits low({each.limit});
    CHECK(too_large(error_of(cuda_array<float>::create(device, each.shape)), "textures"));
  }
  for (const limited& each : mipmapped_limits) {
    INFO("attribute " << each.limit);
    CHECK(mipmapped_array<float>::create(device, each.shape).has_value());
    const low_limits low({each.limit});
    CHECK(too_large(error_of(mipmapped_array<float>::create(device, each.shape)), "textures"));
  }
}

TEST_CASE("array limits: of cubes, also where nobody can count their faces", "[texture][array]") {
  const gpu::device device = test::first_device();
  constexpr std::size_t half = std::size_t{1} << 63;
  static_assert(array_shape{.layers = 2, .cubemap = true}.planes() == 12);
  static_assert(array_shape{.layers = half + 1, .cubemap = true}.planes() == ~std::size_t{0});
  for (const std::size_t layers : {half + 1, half / 3 + 1, ~std::size_t{0} / 6 + 1}) {
    const array_shape shape{.width = 4, .height = 4, .layers = layers, .cubemap = true};
    const gpu::cuda_error many = error_of(cuda_array<float>::create(device, shape));
    CHECK(many == gpu::errc::invalid_argument);
    CHECK(says(many, "an array of 4 x 4 x 6 x", std::to_string(layers).c_str(), "too large",
               "Make the array smaller"));
    CHECK(error_of(mipmapped_array<float>::create(device, shape)) == gpu::errc::invalid_argument);
  }
}

TEST_CASE("array limits: a volume may have either of two sets of extents", "[texture][array]") {
  const gpu::device device = test::first_device();
  struct pair {
    CUdevice_attribute one, other;
    array_shape shape;
  };
  for (const pair& each :
       {pair{LIMIT(TEXTURE3D_WIDTH), LIMIT(TEXTURE3D_WIDTH_ALTERNATE), {5, 1, 1}},
        {LIMIT(TEXTURE3D_HEIGHT), LIMIT(TEXTURE3D_HEIGHT_ALTERNATE), {1, 5, 1}},
        {LIMIT(TEXTURE3D_DEPTH), LIMIT(TEXTURE3D_DEPTH_ALTERNATE), {1, 1, 5}}}) {
    {
      const low_limits low({each.one});
      CHECK(cuda_array<float>::create(device, each.shape).has_value());
    }
    const low_limits low({each.one, each.other});
    CHECK(too_large(error_of(cuda_array<float>::create(device, each.shape)), "textures"));
  }
}

TEST_CASE("array limits: of surfaces, for each kind", "[texture][array]") {
  const gpu::device device = test::first_device();
  for (limited each : surface_limits) {
    INFO("attribute " << each.limit);
    const low_limits low({each.limit});
    CHECK(cuda_array<float>::create(device, each.shape).has_value());  // without the flag
    each.shape.flags = array_flags::surface_load_store;
    CHECK(too_large(error_of(cuda_array<float>::create(device, each.shape)), "surfaces"));
  }
}

}  // namespace array_limits_test
