// The memory without an array that a texture can read, up to the device's limits.

#include <gpu/texture/texture.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/texture_options.hpp>
#include <gpu/texture/texture_resource.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace texture_resource_test {

using gpu::array_format;
using gpu::filter_mode;
using gpu::texture;
using gpu::texture_options;
using test::error_of;
using test::says;
using test::value_of;

TEST_CASE("texture: linear memory has a longest width for each format", "[texture][object]") {
  const gpu::device device = test::first_device();
  std::size_t raw = 0;
  REQUIRE(test::driver().device_get_texture_1d_linear_max_width(&raw, CU_AD_FORMAT_FLOAT, 4,
                                                                device.native()) == CUDA_SUCCESS);
  using quad = gpu::channels<float, 4>;
  CHECK(value_of(gpu::max_linear_texture_width<quad>(device)) == raw);
  auto buffer = value_of(gpu::device_buffer<quad>::create(device, 4));
  const auto wide = gpu::device_span<const quad>::from_native(buffer.native(), raw + 1);
  const gpu::cuda_error error = error_of(texture<quad>::create(wide));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, (std::to_string(raw + 1) + " texels").c_str(),
             ("at most " + std::to_string(raw)).c_str()));
}

TEST_CASE("texture: refuses memory that the device cannot read", "[texture][object]") {
  const gpu::device device = test::first_device();
  auto buffer = value_of(gpu::device_buffer<float>::create(device, 4096));
  const auto of = [](auto view, const texture_options& options = {}) {
    const gpu::cuda_error error = error_of(texture<float>::create(view, options));
    CHECK(error == gpu::errc::invalid_argument);
    return error;
  };
  const gpu::cuda_error shifted = of(buffer.span().subspan(1));
  CHECK(says(shifted, "the address is 4 bytes past a multiple of", "Pass the whole buffer"));
  CHECK(says(of(gpu::device_span<float>::from_native(std::uintptr_t{1} << 50, 4)),
             "gpu::texture::create", "does not name memory that the driver knows"));
  CHECK(says(of(buffer.span().first(0)), "the memory has no texels"));
  CHECK(says(of(buffer.span(), {.filter = filter_mode::linear}), "Copy the data to a cuda_array"));
  CHECK(says(of(buffer.span(), {.normalized_coordinates = true}), "Copy the data to a cuda_array"));
  using span = gpu::pitched_span<float>;
  CHECK(says(of(span::from_native(buffer.data(), {10, 4}, 44)), "the pitch is 12 bytes past",
             "pitched_buffer"));
  CHECK(says(of(span::from_native(buffer.data() + 1, {8, 4}, 32)), "the address is 4 bytes past"));
  CHECK(says(of(span::from_native(buffer.data(), {16, 4}, 32)), "the pitch is 32 bytes"));
  CHECK(says(of(span::from_native(buffer.data(), {8, 0}, 32)), "the memory has no texels"));
  CHECK(says(of(span::from_native(buffer.data(), {8, 2, 2}, 32, 3)), "unused rows between them"));
  CHECK(texture<float>::create(span::from_native(buffer.data(), {8, 2, 1}, 32, 3)).has_value());
  CHECK(value_of(value_of(texture<float>::create(span::from_native(buffer.data(), {8, 2, 3}, 32)))
                     .resource())
            .height == 6);
  int limit = 0;
  const auto most = [&](CUdevice_attribute which) {
    REQUIRE(test::driver().device_get_attribute(&limit, which, device.native()) == CUDA_SUCCESS);
    return static_cast<std::size_t>(limit);
  };
  const std::size_t rows = most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT);
  CHECK(says(of(span::from_native(buffer.data(), {8, rows + 1}, 32)),
             (std::to_string(rows + 1) + " rows").c_str()));
  const std::size_t columns = most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH);
  CHECK(
      says(of(span::from_native(buffer.data(), {columns + 8, 1}, (columns + 8) * 4)), " columns"));
  const std::size_t pitch = most(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH);
  CHECK(says(of(span::from_native(buffer.data(), {8, 2}, pitch + 32)), "bytes of pitch"));
  CHECK(says(error_of(texture<>::create({array_format::nv12, 3}, as_bytes(buffer.span()))),
             "3 channels of nv12", "Use a cuda_array"));
  CHECK(says(error_of(texture<>::create({array_format::float_, 3}, as_bytes(buffer.span()))),
             "1, 2 or 4 channels"));
  const auto byte_rows = gpu::pitched_span<const std::byte>::from_native(
      reinterpret_cast<const std::byte*>(buffer.data()), {32, 4}, 32);
  CHECK(
      says(error_of(texture<>::create({array_format::nv12, 3}, byte_rows)), "3 channels of nv12"));
}

TEST_CASE("texture: rows are as many, as wide and as far apart as the device can read",
          "[texture][object]") {
  const gpu::device device = test::first_device();
  const auto limit = [&](CUdevice_attribute which) {
    int value = 0;
    REQUIRE(test::driver().device_get_attribute(&value, which, device.native()) == CUDA_SUCCESS);
    return static_cast<std::size_t>(value);
  };
  const std::size_t rows = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT);
  const std::size_t columns = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH);
  const std::size_t pitch = limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH);
  const std::size_t step = limit(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
  const auto up = [step](std::size_t bytes) { return (bytes + step - 1) / step * step; };
  const std::size_t sizes[] = {rows * step, up(columns), 2 * pitch};
  auto buffer = value_of(
      gpu::device_buffer<unsigned char>::create(device, std::max({sizes[0], sizes[1], sizes[2]})));
  const auto reads = [&](gpu::box_extent size, std::size_t from_row_to_row) {
    const auto view =
        gpu::pitched_span<unsigned char>::from_native(buffer.data(), size, from_row_to_row);
    const auto told = value_of(value_of(texture<unsigned char>::create(view)).resource());
    return told.width == size.width && told.height == size.height &&
           told.pitch == (size.height == 1 ? 0 : from_row_to_row);
  };
  CHECK(reads({1, rows}, step));
  CHECK(reads({columns, 1}, up(columns)));
  CHECK(reads({1, 2}, pitch / step * step));
}

}  // namespace texture_resource_test
