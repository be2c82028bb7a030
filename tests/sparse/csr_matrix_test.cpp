// Sparse matrices and their products against sums on the host.

#include "sparse/sparse_fixture.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/sparse/csr_matrix.hpp>
#include <gpu/sparse/detail/sparse_tiles.hpp>
#include <gpu/sparse/linear_operator.hpp>

#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

namespace csr_matrix_test {

using sparse_test::exact;
using sparse_test::fixture;
using sparse_test::triplets;

template <class T> gpu::csr_matrix<T> make_matrix(const fixture& f, const triplets<T>& of) {
  return test::value_of(gpu::csr_matrix<T>::from_triplets(f.stream, {of.rows, of.columns}, of.row,
                                                          of.column, of.value));
}

template <class T>
std::size_t count_wrong(const std::vector<T>& found, const std::vector<exact>& expected) {
  std::size_t wrong = found.size() != expected.size();
  for (std::size_t i = 0; i < expected.size() && wrong == 0; ++i)
    wrong += sparse_test::as_exact(found[i]) != expected[i];
  return wrong;
}

template <class T> void check_products(const fixture& f, const triplets<T>& of) {
  const auto matrix = make_matrix(f, of);
  CHECK(matrix.shape() == gpu::operator_shape{of.rows, of.columns});
  CHECK(matrix.entries() == of.sums().size());
  const auto host_x = sparse_test::random_vector<T>(of.columns, 1);
  const auto host_y = sparse_test::random_vector<T>(of.rows, 2);
  const auto x = f.upload(host_x);
  auto y = f.upload(host_y);
  auto expected = of.times(host_x);
  test::value_of(matrix.apply(f.stream, x, y));
  CHECK(count_wrong(f.download(y), expected) == 0);
  y = f.upload(host_y);
  const T alpha = sparse_test::number<T>(3, 1), beta = sparse_test::number<T>(-2, 2);
  test::value_of(matrix.apply(f.stream, alpha, x, beta, y));
  for (std::size_t r = 0; r < of.rows; ++r) {
    expected[r] = sparse_test::as_exact(alpha) * expected[r] +
                  sparse_test::as_exact(beta) * sparse_test::as_exact(host_y[r]);
  }
  CHECK(count_wrong(f.download(y), expected) == 0);
}

/// Lengths of rows that need every kind of tile.
std::vector<std::vector<std::size_t>> all_structures() {
  std::vector<std::vector<std::size_t>> made;
  made.push_back({});                                 // no rows
  made.push_back({0});                                // no entries
  made.push_back({1});                                // 1 x 1
  made.push_back(std::vector<std::size_t>(5000, 0));  // more empty rows than a tile has
  made.push_back(std::vector<std::size_t>(700, 5));
  made.push_back(std::vector<std::size_t>(60, 40));
  made.push_back({511, 512, 513, 514, 0, 2047, 2048, 2049, 1});  // around the limits of a tile
  made.push_back({0, 0, 9000, 0, 3, 0, 5000, 0});                // rows in several tiles
  std::vector<std::size_t> skewed;
  for (std::size_t r = 0; r < 1500; ++r)
    skewed.push_back(r % 97 == 0 ? 3000 / (r + 1) + 60 : r % 4);
  made.push_back(skewed);
  return made;
}

TEMPLATE_TEST_CASE("a product is the sum of each row, whatever their lengths",
                   "[algorithm][csr_matrix]", float, double, std::complex<float>,
                   std::complex<double>) {
  const fixture f;
  unsigned seed = 1;
  for (const auto& lengths : all_structures()) {
    for (const std::size_t columns : {1u, 50u, 20'000u}) {
      if (columns != 50 && lengths.size() > 100) continue;
      CAPTURE(lengths.size(), columns);
      check_products(f, sparse_test::random_matrix<TestType>(lengths, columns, ++seed));
    }
  }
}

TEST_CASE("rows are divided into tiles by their lengths alone", "[algorithm][csr_matrix]") {
  const int lengths[] = {1000, 1000, 400, 100, 2049, 0, 0, 500};
  std::vector<int> offsets{0};
  for (const int each : lengths) offsets.push_back(offsets.back() + each);
  const auto made = gpu::detail::divide_rows(offsets.data(), 8);
  REQUIRE(made.tiles.size() == 7);
  CHECK(made.tiles[0] == gpu::detail::sparse_tile{0, 0, 0, -1});  // longer than 512
  CHECK(made.tiles[1] == gpu::detail::sparse_tile{1, 1000, 0, -1});
  CHECK(made.tiles[2].row == 2);  // 400 and 100 together
  CHECK(made.tiles[2].lanes == 32);
  CHECK(made.tiles[3] == gpu::detail::sparse_tile{4, 2500, 0, 0});  // 2049 in two parts
  CHECK(made.tiles[4] == gpu::detail::sparse_tile{4, 4548, 0, 1});
  CHECK(made.tiles[5].row == 5);
  CHECK(made.tiles[6] == gpu::detail::sparse_tile{8, 5049, 0, -1});  // the end
  REQUIRE(made.long_rows.size() == 1);
  CHECK(made.long_rows[0].count == 2);
  CHECK(made.longest_row == 2049);
  CHECK(gpu::detail::choose_lanes(400, 5) == 1);
  CHECK(gpu::detail::choose_lanes(8, 256) == 32);
}

TEST_CASE("products are close to sums in double, with the same bits in every run",
          "[algorithm][csr_matrix]") {
  const fixture f;
  std::mt19937 random(3);
  auto of = sparse_test::random_matrix<float>({300, 0, 5000, 7, 1, 64, 2500, 600}, 800, 9);
  std::uniform_real_distribution<float> numbers(-1, 1);
  for (float& each : of.value) each = numbers(random);
  std::vector<float> host_x(800);
  for (float& each : host_x) each = numbers(random);
  const auto matrix = make_matrix(f, of), again = make_matrix(f, of);
  const auto x = f.upload(host_x);
  auto y = f.make<float>(8), other = f.make<float>(8);
  test::value_of(matrix.apply(f.stream, x, y));
  const auto first = f.download(y);
  const auto expected = of.times(host_x);
  for (std::size_t r = 0; r < 8; ++r)
    CHECK(std::fabs(double{first[r]} - expected[r].real()) < 1e-3);
  for (const auto* each : {&matrix, &again}) {
    test::value_of(each->apply(f.stream, 1.0f, x, 0.0f, other));
    const auto found = f.download(other);
    CHECK(std::memcmp(found.data(), first.data(), 8 * sizeof(float)) == 0);
  }
  // The vectors may begin anywhere.
  auto shifted = f.make<float>(801);
  test::value_of(gpu::copy(x, shifted.span().subspan(1)));
  test::value_of(matrix.apply(f.stream, shifted.span().subspan(1), other));
  const auto found = f.download(other);
  CHECK(std::memcmp(found.data(), first.data(), 8 * sizeof(float)) == 0);
}

TEST_CASE("a product that adds nothing does not read y", "[algorithm][csr_matrix]") {
  const fixture f;
  const auto matrix = make_matrix(f, triplets<double>{2, 2, {0, 1}, {1, 0}, {2, 3}});
  const auto x = f.upload(std::vector<double>{1, 10});
  auto y = f.upload(std::vector<double>(2, std::nan("")));
  test::value_of(matrix.apply(f.stream, 2.0, x, 0.0, y));
  CHECK(f.download(y) == std::vector<double>{40, 6});
}

TEST_CASE("a matrix is made from arrays in host or device memory, and described",
          "[algorithm][csr_matrix]") {
  const fixture f;
  const std::vector<int> offsets{0, 2, 2, 5}, columns{3, 0, 1, 1, 2};
  const std::vector<double> values{1, 2, 3, 4, 5};
  const auto check = [&](const gpu::csr_matrix<double>& made) {
    CHECK(made.shape() == gpu::operator_shape{3, 4});
    CHECK(made.entries() == 5);
    CHECK(made.longest_row() == 3);
    CHECK(f.download(made.row_offsets()) == offsets);
    CHECK(f.download(made.column_indices()) == columns);
    CHECK(f.download(made.values()) == values);
    const auto x = f.upload(std::vector<double>{1, 10, 100, 1000});
    auto y = f.make<double>(3);
    test::value_of(made.apply(f.stream, x, y));
    CHECK(f.download(y) == std::vector<double>{1002, 0, 570});
  };
  using matrix = gpu::csr_matrix<double>;
  check(test::value_of(matrix::create(f.stream, {3, 4}, offsets, columns, values)));
  const auto device_offsets = f.upload(offsets), device_columns = f.upload(columns);
  const auto device_values = f.upload(values);
  check(test::value_of(
      matrix::create(f.stream, {3, 4}, device_offsets, device_columns, device_values)));
  const auto adopted = test::value_of(
      matrix::adopt(f.stream, {3, 4}, f.upload(offsets), f.upload(columns), f.upload(values)));
  check(adopted);
  const auto diagonal = test::value_of(adopted.diagonal(f.stream));
  CHECK(f.download(diagonal) == std::vector<double>{2, 0, 5});
  auto changed = test::value_of(matrix::create(f.stream, {3, 4}, offsets, columns, values));
  test::value_of(gpu::copy(std::vector<double>(5, 1.0), changed.values()));
  const auto x = f.upload(std::vector<double>(4, 1.0));
  auto y = f.make<double>(3);
  test::value_of(changed.apply(f.stream, x, y));
  CHECK(f.download(y) == std::vector<double>{2, 0, 3});
}

TEST_CASE("a matrix refuses arrays that do not fit", "[algorithm][csr_matrix]") {
  const fixture f;
  using matrix = gpu::csr_matrix<float>;
  const std::vector<float> values(3, 1.0f);
  const auto refuse = [&](gpu::operator_shape shape, std::vector<int> offsets,
                          std::vector<int> columns) {
    return test::error_of(matrix::create(f.stream, shape, offsets, columns, values));
  };
  const auto count = refuse({3, 3}, {0, 1, 3}, {0, 1, 2});
  CHECK(count == gpu::errc::size_mismatch);
  CHECK(test::says(count, "offsets has 3 elements", "3 rows", "Pass 4 offsets"));
  const auto first = refuse({2, 3}, {1, 2, 3}, {0, 1, 2});
  CHECK(test::says(first, "the first row begins at entry 1", "must be 0"));
  const auto falls = refuse({3, 3}, {0, 2, 1, 3}, {0, 1, 2});
  CHECK(falls == gpu::errc::invalid_argument);
  CHECK(test::says(falls, "row 1 begins at entry 2 and ends at 1", "must not decrease"));
  const auto last = refuse({2, 3}, {0, 1, 2}, {0, 1, 2});
  CHECK(last == gpu::errc::size_mismatch);
  CHECK(test::says(last, "ends at entry 2", "3 values"));
  for (const int wrong : {3, -1}) {
    const auto column = refuse({2, 3}, {0, 1, 3}, {0, 1, wrong});
    CHECK(column == gpu::errc::index_out_of_range);
    CHECK(test::says(column, "entry 2 is in column", "3 columns"));
  }
  const auto large = refuse({2, std::size_t{1} << 31}, {0, 1, 3}, {0, 1, 2});
  CHECK(large == gpu::errc::invalid_argument);
  CHECK(test::says(large, "2147483648 columns", "2147483647 are possible", "Divide the matrix"));
  const auto unequal = test::error_of(
      matrix::create(f.stream, {2, 3}, std::vector<int>{0, 1, 2}, std::vector<int>{0, 1}, values));
  CHECK(test::says(unequal, "columns has 2 elements", "values has 3"));
}

TEST_CASE("a product refuses vectors that do not fit", "[algorithm][csr_matrix]") {
  const fixture f;
  const auto owner = make_matrix(f, triplets<float>{2, 3, {0, 1}, {2, 0}, {2, 3}});
  auto three = f.make<float>(3), two = f.make<float>(2), large = f.make<float>(5);
  const auto x = test::error_of(owner.apply(f.stream, two, two));
  CHECK(x == gpu::errc::size_mismatch);
  CHECK(test::says(x, "gpu::csr_matrix::apply", "x has 2 elements", "3 columns", "2 x 3"));
  const auto y = test::error_of(owner.apply(f.stream, three, three));
  CHECK(test::says(y, "y has 3 elements", "2 rows"));
  const auto overlap = test::error_of(
      owner.apply(f.stream, large.span().first(3), large.span().subspan(2).first(2)));
  CHECK(overlap == gpu::errc::invalid_argument);
  CHECK(test::says(overlap, "x and y overlap"));
  auto from = make_matrix(f, triplets<float>{2, 3, {0, 1}, {2, 0}, {2, 3}});
  const auto moved = std::move(from);
  CHECK(test::error_of(from.apply(f.stream, three, two)) == gpu::errc::empty_handle);  // NOLINT
  CHECK(test::error_of(from.diagonal(f.stream)) == gpu::errc::empty_handle);
  test::value_of(gpu::fill(f.stream, three, 1.0f));
  test::value_of(moved.apply(f.stream, three, two));
}

TEST_CASE("a product is captured into a graph", "[algorithm][csr_matrix]") {
  const fixture f;
  const auto of = sparse_test::random_matrix<double>({5, 3000, 0, 600, 9}, 40, 5);
  const auto matrix = make_matrix(f, of);
  const auto host_x = sparse_test::random_vector<double>(40, 6);
  const auto x = f.upload(host_x);
  auto y = f.make<double>(5);
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(matrix.apply(f.stream, x, y));
  const auto refused = test::error_of(gpu::csr_matrix<double>::from_triplets(
      f.stream, {of.rows, of.columns}, of.row, of.column, of.value));
  CHECK(refused == gpu::errc::capture_prohibited);
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(count_wrong(f.download(y), of.times(host_x)) == 0);
}

gpu::result<> make_and_multiply() {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  std::vector<int> rows, columns;
  std::vector<float> values;
  for (int k = 0; k < 3000; ++k) {
    rows.push_back(k % 7 == 0 ? k % 50 : 3);
    columns.push_back(k);
    values.push_back(1);
  }
  const auto matrix =
      GPU_TRY(gpu::csr_matrix<float>::from_triplets(stream, {50, 3000}, rows, columns, values));
  auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, 3000));
  auto y = GPU_TRY(gpu::device_buffer<float>::create(stream, 50));
  GPU_TRY(gpu::fill(stream, x, 1.0f));
  GPU_TRY(matrix.apply(stream, x, y));
  const auto diagonal = GPU_TRY(matrix.diagonal(stream));
  return stream.synchronize();
}

TEST_CASE("each call and allocation of a sparse product may fail", "[algorithm][csr_matrix][cpu]") {
  for (int k = 0; k < 3; ++k) test::value_of(make_and_multiply());
  CHECK(test::sweep_calls(make_and_multiply, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace csr_matrix_test
