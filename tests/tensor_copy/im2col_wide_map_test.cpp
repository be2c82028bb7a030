#include <gpu/core/error_code.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/tensor_copy/im2col_wide_map.hpp>
#include <gpu/tensor_copy/tensor_map_options.hpp>

#include "support/results.hpp"

#include <cstddef>
#include <string>

// What reaches the driver, and what is refused before: no test has a device of compute capability
// 10.0.

namespace im2col_wide_map_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

std::string last;
bool fails = false;

/// The driver in force, as with a device of compute capability 10.0.
class newer {
 public:
  newer() : table_{prepare()}, in_force_{table_} {}

 private:
  static gpu::driver::entry_points prepare() {
    last.clear();
    fails = false;
    gpu::driver::entry_points table = gpu::driver::current_entry_points();
    static decltype(table.device_get_attribute) attribute;
    attribute = table.device_get_attribute;
    table.device_get_attribute = [](int* value, CUdevice_attribute which, CUdevice on) {
      const CUresult code = attribute(value, which, on);
      if (which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *value = 10;
      return code;
    };
    table.tensor_map_encode_im2col_wide =
        [](CUtensorMap*, CUtensorMapDataType type, cuuint32_t rank, void*,
           const cuuint64_t* extents, const cuuint64_t* strides, int lower, int upper,
           cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps, CUtensorMapInterleave,
           CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
           CUtensorMapFloatOOBfill) {
          last = std::to_string(type);
          for (const auto number :
               {static_cast<long>(rank), static_cast<long>(extents[1]),
                static_cast<long>(strides[0]), static_cast<long>(lower), static_cast<long>(upper),
                static_cast<long>(channels), static_cast<long>(pixels), static_cast<long>(steps[1]),
                static_cast<long>(mode), static_cast<long>(swizzle)})
            last += ' ' + std::to_string(number);
          return fails ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
        };
    return table;
  }
  gpu::driver::entry_points table_;
  gpu::driver::scoped_entry_points in_force_;
};

gpu::array_view<float, 4> images() {
  const std::size_t extents[] = {2, 10, 20, 32};
  const std::ptrdiff_t strides[] = {6400, 640, 32, 1};
  return gpu::array_view<float, 4>::from_native(4096, extents, strides);
}
const gpu::tensor_map_options swizzled{.swizzle = gpu::tensor_swizzle::bytes_128,
                                       .steps = {1, 1, 2, 1}};

}  // namespace

TEST_CASE("the wide form of im2col reaches the driver", "[tensor]") {
  const newer device_10;
  const gpu::device device = test::first_device();
  const gpu::im2col_row row{.lower = -1, .upper = 2, .channels = 32, .pixels = 64};
  value_of(gpu::make_im2col_wide_map(device, images(), row, swizzled));
  CHECK(last == "7 4 20 128 -1 2 32 64 2 0 3");
  gpu::im2col_row wide = row;
  wide.width = gpu::im2col_width::pixels_128;
  value_of(gpu::make_im2col_wide_map(device, images(), wide, swizzled));
  CHECK(last == "7 4 20 128 -1 2 32 128 2 1 3");
  fails = true;
  CHECK(error_of(gpu::make_im2col_wide_map(device, images(), row, swizzled)).code() ==
        CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("what the wide form of im2col does not take is rejected", "[tensor]") {
  const newer device_10;
  const gpu::device device = test::first_device();
  const auto refused = [&](const gpu::im2col_row& row, const gpu::tensor_map_options& options) {
    return error_of(gpu::make_im2col_wide_map(device, images(), row, options));
  };
  CHECK(says(refused({.channels = 8}, {}), "bytes_64 or bytes_128", "not none"));
  CHECK(says(refused({.lower = -40000, .channels = 8}, swizzled), "-40000", "axis 2"));
  CHECK(says(refused({.upper = -20, .channels = 8}, swizzled), "0 pixels"));
  CHECK(says(refused({.channels = 6}, swizzled), "24 bytes"));
  CHECK(says(refused({.channels = 8, .pixels = 2000}, swizzled), "2000", "1 to 1024"));
  CHECK(says(refused({.channels = 8, .width = static_cast<gpu::im2col_width>(7)}, swizzled),
             "7 is not a valid gpu::im2col_width"));
}

TEST_CASE("the wide form of im2col needs compute capability 10.0", "[tensor][cpu]") {
  const auto error = error_of(
      gpu::make_im2col_wide_map(test::first_device(), images(), {.channels = 8}, swizzled));
  CHECK(error == gpu::errc::not_supported);
  CHECK(says(error, "compute capability 9.x", "needs 10.0", "gpu::make_im2col_map"));
}

}  // namespace im2col_wide_map_test
