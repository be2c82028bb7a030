#include <gpu/texture/texture.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/mipmapped_array.hpp>
#include <gpu/texture/texture_options.hpp>
#include <gpu/texture/texture_resource.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace texture_texture_test {

using gpu::address_mode;
using gpu::array_format;
using gpu::cuda_array;
using gpu::cuda_array_ref;
using gpu::filter_mode;
using gpu::mipmapped_array;
using gpu::read_mode;
using gpu::resource_type;
using gpu::texture;
using gpu::texture_options;
using gpu::texture_ref;
using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<texture<float>>);
static_assert(std::is_nothrow_move_constructible_v<texture<float>>);
static_assert(std::is_nothrow_move_assignable_v<texture<float>>);
static_assert(std::is_trivially_copyable_v<texture_ref<float>> && sizeof(texture_ref<float>) == 8);
static_assert(!std::is_convertible_v<texture<float>, texture_ref<float>>);
static_assert(gpu::kernel_argument_for<texture<float>&, unsigned long long>);
static_assert(gpu::kernel_argument_for<const texture<float>&, texture_ref<float>>);
static_assert(gpu::kernel_argument_for<texture<float>&, texture_ref<>>);
static_assert(gpu::kernel_argument_for<texture_ref<float>, unsigned long long>);
static_assert(!gpu::kernel_argument_for<texture<float>, texture_ref<float>>);
static_assert(!gpu::kernel_argument_for<texture<float>&, texture_ref<int>>);
static_assert(!gpu::kernel_argument_for<texture<>&, texture_ref<int>>);
static_assert(!gpu::kernel_argument_for<texture<float>&, float>);
static_assert(!gpu::kernel_argument_for<texture<float>&, unsigned long>);

namespace {

template <class T> CUDA_TEXTURE_DESC raw_options(const texture<T>& made) {
  const auto scope = value_of(gpu::context_scope::enter(made.context()));
  CUDA_TEXTURE_DESC raw{};
  REQUIRE(test::driver().tex_object_get_texture_desc(&raw, made.native()) == CUDA_SUCCESS);
  return raw;
}

template <class T> CUDA_RESOURCE_DESC raw_resource(const texture<T>& made) {
  const auto scope = value_of(gpu::context_scope::enter(made.context()));
  CUDA_RESOURCE_DESC raw{};
  REQUIRE(test::driver().tex_object_get_resource_desc(&raw, made.native()) == CUDA_SUCCESS);
  return raw;
}

}  // namespace

TEST_CASE("texture: the driver gets each option, and tells it again", "[texture][object]") {
  const gpu::device device = test::first_device();
  const auto array =
      value_of(cuda_array<unsigned char>::create(device, {.width = 16, .height = 8}));
  const auto plain = value_of(texture<unsigned char>::create(array));
  const CUDA_TEXTURE_DESC defaults = raw_options(plain);
  for (const CUaddress_mode mode : defaults.addressMode) CHECK(mode == CU_TR_ADDRESS_MODE_CLAMP);
  CHECK(defaults.filterMode == CU_TR_FILTER_MODE_POINT);
  CHECK(defaults.flags == CU_TRSF_READ_AS_INTEGER);
  CHECK(defaults.maxMipmapLevelClamp == 0);
  const texture_options wanted{
      .address = {address_mode::wrap, address_mode::mirror, address_mode::border},
      .filter = filter_mode::linear,
      .read = read_mode::normalized_float,
      .normalized_coordinates = true,
      .srgb = true,
      .trilinear_optimization = false,
      .max_anisotropy = 4,
      .mipmap_filter = filter_mode::linear,
      .mipmap_bias = 0.5f,
      .min_mipmap_level = 0,
      .max_mipmap_level = 0,
      .border_color = {1, 2, 3, 4}};
  const auto made = value_of(texture<unsigned char>::create(array, wanted));
  const CUDA_TEXTURE_DESC raw = raw_options(made);
  CHECK(raw.addressMode[0] == CU_TR_ADDRESS_MODE_WRAP);
  CHECK(raw.addressMode[1] == CU_TR_ADDRESS_MODE_MIRROR);
  CHECK(raw.addressMode[2] == CU_TR_ADDRESS_MODE_BORDER);
  CHECK(raw.filterMode == CU_TR_FILTER_MODE_LINEAR);
  CHECK(raw.flags ==
        (CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION));
  CHECK(raw.maxAnisotropy == 4);
  CHECK(raw.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR);
  CHECK(raw.mipmapLevelBias == 0.5f);
  const texture_options told = value_of(made.options());
  CHECK(told.address == wanted.address);
  CHECK(told.filter == wanted.filter);
  CHECK(told.read == wanted.read);
  CHECK(told.normalized_coordinates);
  CHECK(told.srgb);
  CHECK_FALSE(told.seamless_cubemap);
  CHECK_FALSE(told.trilinear_optimization);
  CHECK(told.max_anisotropy == 4);
  CHECK(told.mipmap_filter == filter_mode::linear);
  CHECK(told.mipmap_bias == 0.5f);
  const auto line = value_of(cuda_array<float>::create(device, {.width = 16}));
  const auto bordered = value_of(texture<float>::create(line, {.address = address_mode::border}));
  CHECK(raw_options(bordered).addressMode[0] == CU_TR_ADDRESS_MODE_BORDER);
  CHECK(raw_options(bordered).addressMode[1] == CU_TR_ADDRESS_MODE_CLAMP);  // a line has no y
  CHECK(gpu::address_modes(address_mode::wrap) ==
        gpu::address_modes(address_mode::wrap, address_mode::wrap, address_mode::wrap));
}

TEST_CASE("texture: every kind of memory, as the driver tells it", "[texture][object]") {
  const gpu::device device = test::first_device();
  using pair = gpu::channels<float, 2>;
  const auto array = value_of(cuda_array<pair>::create(device, {.width = 16, .height = 8}));
  const auto of_array = value_of(texture<pair>::create(array));
  CHECK(raw_resource(of_array).resType == CU_RESOURCE_TYPE_ARRAY);
  CHECK(raw_resource(of_array).res.array.hArray == array.native());
  const gpu::texture_resource told = value_of(of_array.resource());
  CHECK(told.type == resource_type::array);
  const auto found = value_of(cuda_array_ref<pair>::of(told.array, of_array.context()));
  CHECK(found == cuda_array_ref<pair>(array));
  CHECK(found.shape() == array.shape());

  const auto levels =
      value_of(mipmapped_array<float>::create(device, {.width = 16, .height = 8}, 3));
  const auto of_levels = value_of(texture<float>::create(levels, {.normalized_coordinates = true}));
  CHECK(raw_resource(of_levels).res.mipmap.hMipmappedArray == levels.native());
  CHECK(raw_options(of_levels).maxMipmapLevelClamp == 2);  // as many as there are
  const texture_options some{
      .normalized_coordinates = true, .min_mipmap_level = 0.5f, .max_mipmap_level = 1.5f};
  const texture_options told_again =
      value_of(value_of(texture<float>::create(levels, some)).options());
  CHECK(told_again.min_mipmap_level == 0.5f);
  CHECK(told_again.max_mipmap_level == 1.5f);
  CHECK(value_of(of_levels.resource()).mipmapped_array == levels.native());
  CHECK(value_of(of_levels.resource()).type == resource_type::mipmapped_array);
  CHECK(value_of(texture<float>::create(value_of(levels.level(1)))).device() == device);

  auto buffer = value_of(gpu::device_buffer<pair>::create(device, 1000));
  const auto of_span = value_of(texture<pair>::create(buffer));
  const CUDA_RESOURCE_DESC linear = raw_resource(of_span);
  CHECK(linear.resType == CU_RESOURCE_TYPE_LINEAR);
  CHECK(linear.res.linear.devPtr == buffer.native());
  CHECK(linear.res.linear.sizeInBytes == 8000);
  CHECK(linear.res.linear.format == CU_AD_FORMAT_FLOAT);
  CHECK(linear.res.linear.numChannels == 2);
  CHECK(value_of(of_span.resource()).address == buffer.native());
  CHECK(value_of(of_span.resource()).width == 1000);
  CHECK(value_of(of_span.resource()).format == gpu::texel_format_of<pair>);

  auto rows = value_of(gpu::pitched_buffer<pair>::create(device, {20, 6}));
  const auto of_rows = value_of(texture<pair>::create(rows.span()));
  const CUDA_RESOURCE_DESC pitched = raw_resource(of_rows);
  CHECK(pitched.resType == CU_RESOURCE_TYPE_PITCH2D);
  CHECK(pitched.res.pitch2D.devPtr == rows.native());
  CHECK(pitched.res.pitch2D.width == 20);
  CHECK(pitched.res.pitch2D.height == 6);
  CHECK(pitched.res.pitch2D.pitchInBytes == rows.pitch());
  CHECK(value_of(of_rows.resource()).address == rows.native());
  CHECK(value_of(of_rows.resource()).format == gpu::texel_format_of<pair>);
  CHECK(value_of(of_rows.resource()).pitch == rows.pitch());
  CHECK(value_of(of_rows.resource()).height == 6);

  const gpu::texel_format format{array_format::half, 4};
  const auto bytes = value_of(texture<>::create(format, as_bytes(buffer.span())));
  CHECK(raw_resource(bytes).res.linear.format == CU_AD_FORMAT_HALF);
  CHECK(value_of(bytes.resource()).width == 1000);
  const auto byte_rows = value_of(texture<>::create(
      format, gpu::pitched_span<const std::byte>::from_native(
                  reinterpret_cast<const std::byte*>(rows.data()), {160, 6}, rows.pitch())));
  CHECK(value_of(byte_rows.resource()).width == 20);
  CHECK(value_of(texture<>::create(array)).native() != 0);
  const auto* first = reinterpret_cast<const std::byte*>(rows.data());
  gpu::cuda_error rest = error_of(texture<>::create(
      format, gpu::pitched_span<const std::byte>::from_native(first, {162, 6}, rows.pitch())));
  CHECK(rest == gpu::errc::size_mismatch);
  CHECK(says(rest, "gpu::texture::create",
             "the rows have 162 bytes, which is not a multiple of the "
             "texel size of 8 bytes. Pass whole texels."));
  rest = error_of(
      texture<>::create(format, gpu::device_span<const std::byte>::from_native(rows.native(), 10)));
  CHECK(rest == gpu::errc::size_mismatch);
  CHECK(says(rest, "the memory has 10 bytes, which is not a multiple of the texel size of 8"));
  CHECK(
      says(error_of(texture<>::create({array_format::half, 3}, as_bytes(buffer.span()).first(10))),
           "1, 2 or 4 channels, not 3"));
  CHECK(rest.asked() == 10);
  CHECK(rest.limit() == 8);
}

TEST_CASE("texture: refuses options that would sample wrongly", "[texture][object]") {
  const gpu::device device = test::first_device();
  const auto floats = value_of(cuda_array<float>::create(device, {.width = 8, .height = 8}));
  const auto bytes = value_of(cuda_array<unsigned char>::create(device, {.width = 8, .height = 8}));
  const auto words = value_of(cuda_array<int>::create(device, {.width = 8, .height = 8}));
  const auto levels = value_of(mipmapped_array<short>::create(device, {.width = 8, .height = 8}));
  const auto of = [](const auto& array, const texture_options& options) {
    using texel = typename std::decay_t<decltype(array)>::value_type;
    const gpu::cuda_error error = error_of(texture<texel>::create(array, options));
    CHECK(error == gpu::errc::invalid_argument);
    return error;
  };
  const auto linear = filter_mode::linear;
  const auto normalized = read_mode::normalized_float;
  const float nan = __builtin_nanf("");
  CHECK(says(of(floats, {.address = address_mode::wrap}), "normalized_coordinates"));
  CHECK(says(of(floats, {.address = {address_mode::clamp, address_mode::mirror}}),
             "wrap and mirror"));
  CHECK(says(of(floats, {.address = address_mode{9}}), "9 is not a valid gpu::address_mode"));
  CHECK(says(of(floats, {.filter = filter_mode{2}}), "2 is not a valid gpu::filter_mode"));
  CHECK(says(of(floats, {.mipmap_filter = filter_mode{3}}), "3 is not a valid gpu::filter_mode"));
  CHECK(says(of(floats, {.read = read_mode{2}}), "2 is not a valid gpu::read_mode",
             "its enumerators"));
  CHECK(says(of(bytes, {.filter = linear}), "integers cannot be filtered"));
  CHECK(says(of(levels, {.normalized_coordinates = true, .mipmap_filter = linear}),
             "integers cannot be filtered"));
  CHECK(says(of(words, {.read = normalized}), "32-bit integers cannot"));
  CHECK(says(of(levels, {}), "a texture of a mipmapped array requires normalized"));
  CHECK(says(of(floats, {.read = normalized, .srgb = true}), "srgb requires unsigned 8-bit"));
  CHECK(says(of(bytes, {.srgb = true}), "srgb requires unsigned 8-bit"));
  CHECK(says(of(floats, {.seamless_cubemap = true}), "a cubemap"));
  const gpu::cuda_error anisotropic = of(floats, {.max_anisotropy = 17});
  CHECK(says(anisotropic, "max_anisotropy is 17; it must be at most 16."));
  CHECK(anisotropic.asked() == 17);
  CHECK(anisotropic.limit() == 16);
  CHECK(says(of(floats, {.min_mipmap_level = 3, .max_mipmap_level = 2}),
             "must be at most max_mipmap_level"));
  CHECK(says(of(floats, {.max_mipmap_level = nan}), "may be NaN"));
  CHECK(says(of(floats, {.mipmap_bias = nan}), "may be NaN"));
  CHECK(error_of(texture<float>::create(cuda_array_ref<float>{})) == gpu::errc::empty_handle);
  CHECK(error_of(texture<float>::create(gpu::mipmapped_array_ref<float>{}, {})) ==
        gpu::errc::empty_handle);
  // What looks like it and is fine.
  CHECK(texture<float>::create(floats, {.address = address_mode::border}).has_value());
  CHECK(texture<float>::create(floats, {.max_anisotropy = 16}).has_value());
  CHECK(texture<unsigned char>::create(bytes, {.filter = linear, .read = normalized}).has_value());
  CHECK(texture<unsigned char>::create(bytes, {.mipmap_filter = linear}).has_value());
  auto line = value_of(gpu::device_buffer<float>::create(device, 64));
  CHECK(texture<float>::create(line, {.address = address_mode::wrap}).has_value());
  const auto cube =
      value_of(cuda_array<float>::create(device, {.width = 8, .height = 8, .cubemap = true}));
  const auto seamless = value_of(
      texture<float>::create(cube, {.normalized_coordinates = true, .seamless_cubemap = true}));
  CHECK(value_of(seamless.options()).seamless_cubemap);
}

TEST_CASE("texture: keeps the array that is moved into it", "[texture][object][cpu]") {
  test::own_cpu_driver driver;
  const test::reported_errors reports;
  const gpu::device device = test::first_device();
  value_of(gpu::context::primary(device));
  const std::size_t before = driver.live_objects();
  {
    auto array = value_of(cuda_array<float>::create(device, {.width = 8}));
    const CUarray native = array.native();
    auto a = value_of(texture<float>::create(std::move(array)));
    CHECK(array.native() == nullptr);
    CHECK(raw_resource(a).res.array.hArray == native);
    auto levels = value_of(mipmapped_array<float>::create(device, {.width = 8}));
    auto b = value_of(texture<float>::create(std::move(levels), {.normalized_coordinates = true}));
    CHECK(driver.live_objects() == before + 4);
    a = std::move(b);
    CHECK(driver.live_objects() == before + 2);
    CHECK(b.native() == 0);
    CHECK(error_of(b.options()) == gpu::errc::empty_handle);
    CHECK(error_of(b.resource()) == gpu::errc::empty_handle);
    CHECK(error_of(b.view()) == gpu::errc::empty_handle);
    const texture_ref<float> raw = a.release();
    const auto again = texture<float>::adopt(raw, value_of(gpu::context::primary(device)));
    CHECK(again.native() == raw.native());
  }
  {
    auto array = value_of(cuda_array<float>::create(device, {.width = 8}));
    CHECK(texture<float>::create(std::move(array), {.max_anisotropy = 17}).has_value() == false);
    CHECK(array.native() != nullptr);  // a refusal leaves it where it was
  }
  INFO(driver.live_list());
  CHECK(driver.live_objects() == before);
  CHECK(reports.count() == 0);
}

TEST_CASE("texture: cannot be made in a capture", "[texture][object]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto array = value_of(cuda_array<float>::create(device, {.width = 8}));
  const auto made = value_of(texture<float>::create(array));
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  CHECK(made.resource().has_value());
  CHECK(error_of(texture<float>::create(array)).code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  CHECK(test::driver().stream_end_capture(stream.native(), &graph) ==
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_CASE("texture: survives every failing call", "[texture][object][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              auto array = GPU_TRY(cuda_array<float>::create(device, {.width = 8}));
              auto levels = GPU_TRY(mipmapped_array<float>::create(device, {.width = 8}));
              auto buffer = GPU_TRY(gpu::device_buffer<float>::create(device, 64));
              auto rows = GPU_TRY(gpu::pitched_buffer<float>::create(device, {8, 8}));
              auto a = GPU_TRY(texture<float>::create(std::move(array)));
              auto b = GPU_TRY(texture<float>::create(levels, {.normalized_coordinates = true},
                                                      {.first_level = 1}));
              auto c = GPU_TRY(texture<float>::create(buffer));
              auto d = GPU_TRY(texture<float>::create(rows.span()));
              GPU_TRY(a.options());
              GPU_TRY(b.view());
              GPU_TRY(c.resource());
              GPU_TRY(gpu::max_linear_texture_width<float>(device));
              return {};
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

TEST_CASE("texture: the enumerators have the names of their values", "[texture][object]") {
  using std::string;
  CHECK(gpu::name_of(address_mode{CU_TR_ADDRESS_MODE_WRAP}) == string("wrap"));
  CHECK(gpu::name_of(address_mode{CU_TR_ADDRESS_MODE_CLAMP}) == string("clamp"));
  CHECK(gpu::name_of(address_mode{CU_TR_ADDRESS_MODE_MIRROR}) == string("mirror"));
  CHECK(gpu::name_of(address_mode{CU_TR_ADDRESS_MODE_BORDER}) == string("border"));
  CHECK(gpu::name_of(filter_mode{CU_TR_FILTER_MODE_POINT}) == string("point"));
  CHECK(gpu::name_of(filter_mode{CU_TR_FILTER_MODE_LINEAR}) == string("linear"));
  CHECK(gpu::name_of(read_mode::element) == string("element"));
  CHECK(gpu::name_of(read_mode::normalized_float) == string("normalized_float"));
  CHECK(gpu::name_of(resource_type{CU_RESOURCE_TYPE_ARRAY}) == string("array"));
  CHECK(gpu::name_of(resource_type{CU_RESOURCE_TYPE_MIPMAPPED_ARRAY}) == string("mipmapped_array"));
  CHECK(gpu::name_of(resource_type{CU_RESOURCE_TYPE_LINEAR}) == string("linear"));
  CHECK(gpu::name_of(resource_type{CU_RESOURCE_TYPE_PITCH2D}) == string("pitched"));
  CHECK(gpu::name_of(resource_type{4}) == nullptr);
}

}  // namespace texture_texture_test
