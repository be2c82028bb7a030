#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/memory/pitched_span.hpp>
#include <gpu/texture/array_format.hpp>
#include <gpu/texture/array_shape.hpp>
#include <gpu/texture/copy_array.hpp>
#include <gpu/texture/matrix_array.hpp>

#include "support/results.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace matrix_array_test {

using gpu::array_from_matrix;
using gpu::matrix_order;
using test::error_of;
using test::says;
using test::value_of;

TEST_CASE("array_from_matrix: x runs along what is contiguous", "[texture][matrix]") {
  const gpu::device device = test::first_device();
  std::vector<float> rows(3 * 5), columns(3 * 5);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      rows[i * 5 + j] = columns[j * 3 + i] = static_cast<float>(10 * i + j);
    }
  }
  const auto in_c = value_of(array_from_matrix<float>(device, rows, {3, 5}));
  CHECK(in_c.shape() == gpu::array_shape{.width = 5, .height = 3});
  std::vector<float> back(15);
  REQUIRE(copy(in_c, back).has_value());
  CHECK(back == rows);
  const auto in_fortran =
      value_of(array_from_matrix<float>(device, columns, {3, 5, matrix_order::column_major}));
  CHECK(in_fortran.shape() == gpu::array_shape{.width = 3, .height = 5});
  float element = 0;  // row 2, column 4 is at x 2, y 4
  gpu::pitched_host_span<float> one =
      gpu::pitched_host_span<float>::from_native(&element, {.width = 1});
  REQUIRE(copy(in_fortran, one, {.source = {2, 4}, .size = {1}}).has_value());
  CHECK(element == 24);
}

TEST_CASE("array_from_matrix: channels, and doubles as pairs of words", "[texture][matrix]") {
  const gpu::device device = test::first_device();
  std::vector<unsigned char> image(4 * 6 * 4);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<unsigned char>(3 * i);
  using rgba = gpu::channels<unsigned char, 4>;
  const auto array = value_of(
      array_from_matrix<rgba>(device, image, {4, 6}, gpu::array_flags::surface_load_store));
  CHECK(array.shape().width == 6);
  CHECK(array.shape().flags == gpu::array_flags::surface_load_store);
  std::vector<rgba> texels(24);
  REQUIRE(copy(array, texels).has_value());
  for (std::size_t i = 0; i < 96; ++i) CHECK(texels[i / 4][static_cast<int>(i % 4)] == image[i]);
  using words = gpu::channels<int, 2>;
  const std::vector<double> doubles = {1.5, -2.5, 1e300, 0, 7, 8};
  const auto halves = value_of(array_from_matrix<words>(
      device, std::span(reinterpret_cast<const std::byte*>(doubles.data()), 48), {2, 3}));
  std::vector<double> back(6);
  REQUIRE(copy(halves, std::as_writable_bytes(std::span(back))).has_value());
  CHECK(back == doubles);
}

TEST_CASE("array_from_matrix: refuses other numbers of elements", "[texture][matrix]") {
  const gpu::device device = test::first_device();
  const std::vector<float> matrix(14);
  const gpu::cuda_error few = error_of(array_from_matrix<float>(device, matrix, {3, 5}));
  CHECK(few == gpu::errc::size_mismatch);
  CHECK(says(few, "14 elements", "5 x 3 x 1", "15"));
  for (const gpu::matrix_shape& none :
       {gpu::matrix_shape{3, 0}, gpu::matrix_shape{0, 14}, gpu::matrix_shape{0, 0},
        gpu::matrix_shape{14, 0, matrix_order::column_major}}) {
    const gpu::cuda_error empty = error_of(array_from_matrix<float>(device, matrix, none));
    CHECK(empty == gpu::errc::size_mismatch);
    CHECK(says(empty, "gpu::array_from_matrix", "columns is empty, but 14 elements were passed",
               "at least one row and one column"));
    CHECK(error_of(array_from_matrix<float>(device, std::vector<float>{}, none)) ==
          gpu::errc::invalid_argument);
  }
  const gpu::cuda_error order =
      error_of(array_from_matrix<float>(device, matrix, {2, 7, static_cast<matrix_order>(7)}));
  CHECK(order == gpu::errc::invalid_argument);
  CHECK(says(order, "7 is not a valid gpu::matrix_order", "pass one of its enumerators"));
  CHECK(std::string(gpu::name_of(matrix_order::row_major)) == "row_major");
  CHECK(std::string(gpu::name_of(matrix_order::column_major)) == "column_major");
  CHECK(test::sweep(
            []() -> gpu::result<> {
              gpu::device on = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(on));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              GPU_TRY(array_from_matrix<float>(on, std::vector<float>(6), {2, 3}));
              return {};
            },
            {"cuCtxGetCurrent", "cuCtxGetDevice"}) == "");
}

}  // namespace matrix_array_test
