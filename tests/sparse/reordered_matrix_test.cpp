// Matrices in another order against products on the host.

#include "sparse/sparse_fixture.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/sparse/conjugate_gradient.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/sparse/linear_operator.hpp>
#include <gpu/sparse/reordered_matrix.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace reordered_matrix_test {

using sparse_test::fixture;
using sparse_test::triplets;

static_assert(gpu::linear_operator<gpu::reordered_matrix<float>>);

/// A grid whose points are numbered at random, and a point by itself.
triplets<double> shuffled_grid(int side) {
  const int points = side * side;
  std::vector<int> numbers(static_cast<std::size_t>(points) + 1);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(3));
  triplets<double> made{numbers.size(), numbers.size(), {}, {}, {}};
  const auto number = [&](int point) { return numbers[static_cast<std::size_t>(point)]; };
  made.add(number(points), number(points), 2);
  for (int p = 0; p < points; ++p) {
    made.add(number(p), number(p), 5);
    const auto couple = [&](int other) {
      made.add(number(p), number(other), -1);
      made.add(number(other), number(p), -1);
    };
    if (p % side + 1 < side) couple(p + 1);
    if (p + side < points) couple(p + side);
  }
  return made;
}

int bandwidth(const std::vector<int>& offsets, const std::vector<int>& columns) {
  int widest = 0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    for (int at = offsets[row]; at < offsets[row + 1]; ++at)
      widest =
          std::max(widest, std::abs(columns[static_cast<std::size_t>(at)] - static_cast<int>(row)));
  }
  return widest;
}

TEST_CASE("a reordered matrix has its entries close to the diagonal",
          "[algorithm][reordered_matrix]") {
  const fixture f;
  const auto of = shuffled_grid(20);
  const auto matrix = test::value_of(gpu::csr_matrix<double>::from_triplets(
      f.stream, {of.rows, of.columns}, of.row, of.column, of.value));
  const auto ordered = test::value_of(gpu::reordered_matrix<double>::create(f.stream, matrix));
  CHECK(bandwidth(f.download(matrix.row_offsets()), f.download(matrix.column_indices())) > 200);
  CHECK(bandwidth(f.download(ordered.matrix().row_offsets()),
                  f.download(ordered.matrix().column_indices())) <= 40);
  auto order = f.download(ordered.order());
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < order.size(); ++k) CHECK(order[k] == static_cast<int>(k));
}

TEST_CASE("vectors go into the order of a matrix and back", "[algorithm][reordered_matrix]") {
  const fixture f;
  const auto of = shuffled_grid(12);
  const auto matrix = test::value_of(gpu::csr_matrix<double>::from_triplets(
      f.stream, {of.rows, of.columns}, of.row, of.column, of.value));
  const auto ordered = test::value_of(gpu::reordered_matrix<double>::create(f.stream, matrix));
  const auto host_x = sparse_test::random_vector<double>(of.rows, 1);
  const auto x = f.upload(host_x);
  auto permuted = f.make<double>(of.rows), product = f.make<double>(of.rows);
  auto back = f.make<double>(of.rows);
  test::value_of(ordered.permute(f.stream, x, permuted));
  const auto order = f.download(ordered.order());
  const auto found = f.download(permuted);
  for (std::size_t k = 0; k < order.size(); ++k)
    CHECK(found[k] == host_x[static_cast<std::size_t>(order[k])]);
  test::value_of(ordered.unpermute(f.stream, permuted, back));
  CHECK(f.download(back) == host_x);
  test::value_of(ordered.apply(f.stream, permuted, product));
  test::value_of(ordered.unpermute(f.stream, product, back));
  const auto expected = of.times(host_x);
  const auto y = f.download(back);
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == expected[i].real());

  // The solution of A x = b in the new order.
  test::value_of(gpu::fill(f.stream, gpu::as_writable_bytes(permuted.span()), std::byte{0}));
  const auto done = test::value_of(
      gpu::solve(f.stream, ordered, product, permuted, {.relative_tolerance = 1e-12}));
  CHECK(done.converged);
  test::value_of(ordered.unpermute(f.stream, permuted, back));
  const auto solved = f.download(back);
  for (std::size_t i = 0; i < solved.size(); ++i) CHECK(std::abs(solved[i] - host_x[i]) < 1e-9);
}

TEST_CASE("a reordered matrix refuses what does not fit", "[algorithm][reordered_matrix]") {
  const fixture f;
  const auto make = [&](const triplets<float>& of) {
    return test::value_of(gpu::csr_matrix<float>::from_triplets(f.stream, {of.rows, of.columns},
                                                                of.row, of.column, of.value));
  };
  const auto wide = make({2, 3, {0}, {2}, {1}});
  const auto shape = test::error_of(gpu::reordered_matrix<float>::create(f.stream, wide));
  CHECK(shape == gpu::errc::invalid_argument);
  CHECK(test::says(shape, "2 x 3", "square matrix"));
  // Not symmetric: every row is still there once.
  const auto chain = make({4, 4, {0, 1, 3, 3}, {3, 0, 1, 2}, {1, 1, 1, 1}});
  const auto ordered = test::value_of(gpu::reordered_matrix<float>::create(f.stream, chain));
  auto order = f.download(ordered.order());
  std::sort(order.begin(), order.end());
  CHECK(order == std::vector<int>{0, 1, 2, 3});
  auto four = f.make<float>(4), three = f.make<float>(3);
  CHECK(test::says(test::error_of(ordered.permute(f.stream, four, three)),
                   "gpu::reordered_matrix::permute", "y has 3 elements"));
  CHECK(test::says(test::error_of(ordered.unpermute(f.stream, four, four)), "x and y overlap"));
  const auto none = make({0, 0, {}, {}, {}});
  CHECK(test::value_of(gpu::reordered_matrix<float>::create(f.stream, none)).shape().rows == 0);
}

TEST_CASE("each call of a reordered matrix may fail", "[algorithm][reordered_matrix][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    const std::vector<int> offsets{0, 2, 4}, columns{0, 1, 1, 0};
    const auto matrix = GPU_TRY(gpu::csr_matrix<float>::create(stream, {2, 2}, offsets, columns,
                                                               std::vector<float>{1, 2, 3, 4}));
    const auto ordered = GPU_TRY(gpu::reordered_matrix<float>::create(stream, matrix));
    auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, 2));
    auto y = GPU_TRY(gpu::device_buffer<float>::create(stream, 2));
    GPU_TRY(gpu::fill(stream, x, 1.0f));
    GPU_TRY(ordered.permute(stream, x, y));
    GPU_TRY(ordered.unpermute(stream, y, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 2; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace reordered_matrix_test
