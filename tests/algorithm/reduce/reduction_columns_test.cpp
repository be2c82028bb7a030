// Reductions of segments whose neighbors are contiguous, such as the columns of a matrix, against
// exact integers, sums in double, and the rows of the transpose.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/reduction.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

namespace reduction_columns_test {

struct moment {
  float count, mean, squares;
};

}  // namespace reduction_columns_test

template <> struct gpu::device_name<reduction_columns_test::moment> {
  static constexpr const char* value = "moment";
  static constexpr const char* definition = "struct moment { float count, mean, squares; };";
};

namespace reduction_columns_test {

constexpr const char* combine_moments = R"(
__device__ moment combine_moments(const moment& a, const moment& b) {
  const float count = a.count + b.count, distance = b.mean - a.mean;
  if (count == 0) return a;
  return {count, a.mean + distance * (b.count / count),
          a.squares + b.squares + distance * distance * (a.count * b.count / count)};
})";

using algorithm_test::fixture;
using float_sum = gpu::reduction<float, const float*>;

float_sum make_sum() {
  return test::value_of(
      float_sum::create({.parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = 0.0f}));
}

std::vector<float> random_floats(std::size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> spread(-1, 2);
  std::vector<float> made(count);
  for (float& each : made) each = spread(random);
  return made;
}

TEST_CASE("columns are the segments of a transposed view", "[algorithm][reduction]") {
  const fixture f;
  const auto sum = test::value_of(gpu::reduction<int, const int*>::create(
      {.parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = 0}));
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{30, 50},
                                      {1, 50},
                                      {50, 1},
                                      {2, 8},
                                      {3, 1000},
                                      {16, 4099},
                                      {129, 64},
                                      {5000, 9},
                                      {20'000, 12},
                                      {20'000, 16},
                                      {20'000, 33},
                                      {20'000, 36}}) {
    CAPTURE(rows, columns);
    std::vector<int> host(rows * columns), expected(columns);
    for (std::size_t i = 0; i < host.size(); ++i) {
      host[i] = static_cast<int>(i % 1019) - 500;
      expected[i % columns] += host[i];
    }
    auto x = f.upload(host), results = f.make<int>(columns);
    const auto turned = gpu::array_view<int, 2>::from_native(
        x.span().native(), {columns, rows}, {1, static_cast<std::ptrdiff_t>(columns)});
    test::value_of(sum.into(f.stream, results, turned));
    CHECK(f.download(results) == expected);
  }
}

/// Reduces the columns of a matrix of `rows` rows with `gap` elements behind each and `skipped` in
/// front of the first, and the rows of its transpose. Returns in how many bits the results differ.
template <class T, class R>
std::size_t differing_columns(const fixture& f, const gpu::reduction<R, const T*>& reduce,
                              const std::vector<T>& values, std::size_t rows, std::size_t gap,
                              std::size_t skipped) {
  const std::size_t columns = values.size() / rows, pitch = columns + gap;
  std::vector<T> matrix(skipped + rows * pitch), transposed(values.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      matrix[skipped + r * pitch + c] = values[r * columns + c];
      transposed[c * rows + r] = values[r * columns + c];
    }
  }
  auto x = f.upload(matrix), t = f.upload(transposed);
  auto of_columns = f.make<R>(columns), of_rows = f.make<R>(columns);
  test::value_of(reduce.into(
      f.stream, of_columns,
      gpu::array_view<T, 2>::from_native(x.span().native() + skipped * sizeof(T), {columns, rows},
                                         {1, static_cast<std::ptrdiff_t>(pitch)})));
  test::value_of(reduce.into(f.stream, of_rows, t));
  const auto found = f.download(of_columns), expected = f.download(of_rows);
  std::size_t wrong = 0;
  for (std::size_t c = 0; c < columns; ++c)
    wrong += std::memcmp(&found[c], &expected[c], sizeof(R)) != 0;
  return wrong;
}

TEST_CASE("columns have the same bits as the rows of the transpose", "[algorithm][reduction]") {
  const fixture f;
  const float_sum sum = make_sum();
  const auto sum_double = test::value_of(gpu::reduction<double, const double*>::create(
      {.parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = 0}));
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{2, 4096},
                                      {5, 333},
                                      {17, 64},
                                      {70, 100},
                                      {130, 12},
                                      {1000, 40},
                                      {4096, 16},
                                      {4100, 8},
                                      {16'390, 24}}) {
    CAPTURE(rows, columns);
    const auto host = random_floats(rows * columns);
    const std::vector<double> doubles(host.begin(), host.end());
    CHECK(differing_columns(f, sum, host, rows, 0, 0) == 0);
    CHECK(differing_columns(f, sum, host, rows, 4, 8) == 0);
    CHECK(differing_columns(f, sum, host, rows, 2, 0) == 0);
    CHECK(differing_columns(f, sum, host, rows, 3, 1) == 0);
    CHECK(differing_columns(f, sum_double, doubles, rows, 0, 1) == 0);
  }
}

TEST_CASE("columns of many blocks have the same bits as rows", "[algorithm][reduction]") {
  const fixture f;
  const float_sum sum = make_sum();
  const auto host = random_floats(70'000 * 9);
  CHECK(differing_columns(f, sum, host, 70'000, 0, 0) == 0);
  CHECK(differing_columns(f, sum, host, 70'000, 3, 0) == 0);
  // Columns for a part of a block's width: 4, 8, 9 and 33 threads hold them.
  CHECK(differing_columns(f, sum, random_floats(30'000 * 16), 30'000, 0, 0) == 0);
  CHECK(differing_columns(f, sum, random_floats(30'000 * 8), 30'000, 1, 4) == 0);
  CHECK(differing_columns(f, sum, random_floats(30'000 * 36), 30'000, 0, 0) == 0);
  CHECK(differing_columns(f, sum, random_floats(30'000 * 33), 30'000, 0, 0) == 0);
}

TEST_CASE("columns are reduced to structures and from narrow types",
          "[algorithm][reduction][thorough]") {
  const fixture f;
  // The mean and the squared distances from it, combined pair by pair.
  const auto moments = test::value_of(
      gpu::reduction<moment, const float*>::create({.parameters = "x",
                                                    .map = "moment{1, x[i], 0}",
                                                    .reduce = "combine_moments(a, b)",
                                                    .neutral = {0, 0, 0},
                                                    .options = {.preamble = combine_moments}}));
  const auto bytes = test::value_of(gpu::reduction<float, const std::uint8_t*>::create(
      {.parameters = "x", .map = "1.0f / (1 + x[i])", .reduce = "a + b", .neutral = 0.0f}));
  const auto host = random_floats(700 * 48);
  std::vector<std::uint8_t> narrow(host.size());
  for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = static_cast<std::uint8_t>(i * 37);
  for (const std::size_t rows : {7u, 96u, 700u, 5600u}) {
    CAPTURE(rows);
    CHECK(differing_columns(f, moments, host, rows, 0, 0) == 0);
    CHECK(differing_columns(f, bytes, narrow, rows, 0, 0) == 0);
    CHECK(differing_columns(f, bytes, narrow, rows, 7, 3) == 0);
  }
  const std::size_t columns = 48, rows = 700;
  auto x = f.upload(host);
  auto results = f.make<moment>(columns);
  test::value_of(moments.into(
      f.stream, results,
      gpu::array_view<float, 2>::from_native(x.span().native(), {columns, rows}, {1, columns})));
  const auto found = f.download(results);
  for (std::size_t c = 0; c < columns; ++c) {
    double mean = 0, squares = 0;
    for (std::size_t r = 0; r < rows; ++r) mean += host[r * columns + c] / double{rows};
    for (std::size_t r = 0; r < rows; ++r) squares += std::pow(host[r * columns + c] - mean, 2);
    CHECK(found[c].count == float{rows});
    CHECK(std::fabs(found[c].mean - mean) < 1e-5);
    CHECK(std::fabs(found[c].squares - squares) < 1e-4 * squares);
  }
}

TEST_CASE("operands of different layouts are reduced by columns", "[algorithm][reduction]") {
  const fixture f;
  // Of a (2, 40, 16) array, reduced over the middle axis: a value for each row of it, one for each
  // column, the index, and elements that the snippet reaches itself.
  const auto reduce = test::value_of(
      gpu::reduction<double, const double*, const double*, const double*, const int*>::create(
          {.parameters = "x, of_row, of_column, direct",
           .map = "x[i] * of_row[i] - of_column[i] + i + *(direct + i) * (direct[i] + 1)",
           .reduce = "a + b",
           .neutral = 0}));
  constexpr std::size_t outer = 2, rows = 40, columns = 16, all = outer * rows * columns;
  std::vector<double> x(all), of_row(rows), of_column(columns);
  std::vector<int> direct(all);
  for (std::size_t i = 0; i < all; ++i) x[i] = static_cast<double>(i * 31 % 101);
  for (std::size_t i = 0; i < all; ++i) direct[i] = static_cast<int>(i * 17 % 29);
  for (std::size_t r = 0; r < rows; ++r) of_row[r] = static_cast<double>(r + 1);
  for (std::size_t c = 0; c < columns; ++c) of_column[c] = static_cast<double>(3 * c);
  auto device_x = f.upload(x), device_row = f.upload(of_row), device_column = f.upload(of_column);
  auto device_direct = f.upload(direct);
  const auto view = [&](auto& memory, std::ptrdiff_t a, std::ptrdiff_t c, std::ptrdiff_t r) {
    return gpu::array_view<double, 3>::from_native(memory.span().native(), {outer, columns, rows},
                                                   {a, c, r});
  };
  auto results = f.make<double>(outer * columns);
  test::value_of(reduce.into(f.stream, results, view(device_x, rows * columns, 1, columns),
                             view(device_row, 0, 0, 1), view(device_column, 0, 1, 0),
                             device_direct));
  const auto found = f.download(results);
  for (std::size_t s = 0; s < outer * columns; ++s) {
    const std::size_t a = s / columns, c = s % columns;
    double expected = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t i = s * rows + r;
      expected += x[(a * rows + r) * columns + c] * of_row[r] - of_column[c] +
                  static_cast<double>(i) + direct[i] * (direct[i] + 1);
    }
    CHECK(found[s] == expected);
  }
}

TEST_CASE("columns are captured into a graph", "[algorithm][reduction]") {
  const fixture f;
  const auto count = test::value_of(gpu::reduction<int, const float*>::create(
      {.parameters = "x", .map = "x[i] > 0", .reduce = "a + b", .neutral = 0}));
  constexpr std::size_t rows = 40'000, columns = 8;  // two kernels
  const auto host = random_floats(rows * columns);
  std::vector<int> expected(columns);
  for (std::size_t i = 0; i < host.size(); ++i) expected[i % columns] += host[i] > 0;
  auto x = f.upload(host);
  auto results = f.make<int>(columns);
  const auto turned =
      gpu::array_view<float, 2>::from_native(x.span().native(), {columns, rows}, {1, columns});
  test::value_of(count.into(f.stream, results, turned));
  test::value_of(gpu::fill(f.stream, results, 0));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(count.into(f.stream, results, turned));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(results) == expected);
}

TEST_CASE("each call of a reduction of columns may fail", "[algorithm][reduction][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 8 * 20'000));
    auto y = GPU_TRY(gpu::device_buffer<int>::create(stream, 8));
    GPU_TRY(gpu::fill(stream, x, 1));
    const auto sum = GPU_TRY((gpu::reduction<int, const int*>::create(
        {.parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = 0})));
    GPU_TRY(sum.into(stream, y,
                     gpu::array_view<int, 2>::from_native(x.span().native(), {8, 20'000}, {1, 8})));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large reductions of columns", "[algorithm][reduction][hardware]") {
  const fixture f;
  const auto sum = test::value_of(gpu::reduction<int, const std::uint8_t*>::create(
      {.parameters = "x", .map = "x[i] & 1", .reduce = "a + b", .neutral = 0}));
  for (const auto& [rows, columns] :
       {std::pair<std::size_t, std::size_t>{(1 << 16) + 3, 1 << 16}, {1 << 24, 17}, {3, 1 << 26}}) {
    CAPTURE(rows, columns);
    auto x = f.make<std::uint8_t>(rows * columns);
    auto results = f.make<int>(columns);
    test::value_of(gpu::fill(f.stream, x, std::uint8_t{3}));
    test::value_of(sum.into(
        f.stream, results,
        gpu::array_view<std::uint8_t, 2>::from_native(x.span().native(), {columns, rows},
                                                      {1, static_cast<std::ptrdiff_t>(columns)})));
    const auto found = f.download(results);
    CHECK(std::count(found.begin(), found.end(), static_cast<int>(rows)) ==
          static_cast<std::ptrdiff_t>(columns));
  }
}

}  // namespace reduction_columns_test
