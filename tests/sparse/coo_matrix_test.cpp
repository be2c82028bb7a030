// Triplets against a map on the host.

#include "sparse/sparse_fixture.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/sparse/coo_matrix.hpp>
#include <gpu/sparse/linear_operator.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

namespace coo_matrix_test {

using sparse_test::exact;
using sparse_test::fixture;
using sparse_test::triplets;

template <class T> void check_entries(const fixture& f, const triplets<T>& of) {
  const auto made = test::value_of(
      gpu::coo_matrix<T>::create(f.stream, {of.rows, of.columns}, of.row, of.column, of.value));
  const auto rows = f.download(made.row_indices()), columns = f.download(made.column_indices());
  const auto values = f.download(made.values());
  const auto expected = of.sums();
  REQUIRE(made.entries() == expected.size());
  CHECK(made.shape() == gpu::operator_shape{of.rows, of.columns});
  std::size_t k = 0, wrong = 0;
  for (const auto& [place, sum] : expected) {
    wrong += rows[k] != place.first || columns[k] != place.second ||
             sparse_test::as_exact(values[k]) != sum;
    ++k;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("triplets in any order become sorted entries, and duplicates are summed",
                   "[algorithm][coo_matrix]", float, double, std::complex<float>,
                   std::complex<double>) {
  const fixture f;
  check_entries(f, triplets<TestType>{0, 0, {}, {}, {}});
  check_entries(f, triplets<TestType>{4, 7, {}, {}, {}});
  check_entries(f, triplets<TestType>{1, 1, {0, 0}, {0, 0}, {TestType(2), TestType(3)}});
  // Many duplicates; more than a block sorts.
  check_entries(f, sparse_test::random_matrix<TestType>({0, 3000, 40, 0, 2500}, 60, 1));
  check_entries(f, sparse_test::random_matrix<TestType>({500, 1, 0, 700}, 1'000'000'000, 2));
}

TEST_CASE("triplets in device memory are checked there", "[algorithm][coo_matrix]") {
  const fixture f;
  const auto of = sparse_test::random_matrix<double>({5, 0, 90, 3}, 30, 4);
  const auto rows = f.upload(of.row), columns = f.upload(of.column);
  const auto values = f.upload(of.value);
  using matrix = gpu::coo_matrix<double>;
  const auto made =
      test::value_of(matrix::create(f.stream, {of.rows, of.columns}, rows, columns, values));
  const auto same =
      test::value_of(matrix::create(f.stream, {of.rows, of.columns}, of.row, of.column, of.value));
  CHECK(f.download(made.row_indices()) == f.download(same.row_indices()));
  CHECK(f.download(made.column_indices()) == f.download(same.column_indices()));
  CHECK(f.download(made.values()) == f.download(same.values()));
  CHECK(f.download(values) == of.value);
  auto wrong = of.column;
  wrong[70] = -1;
  wrong[40] = 30;
  const auto bad = f.upload(wrong);
  const auto error =
      test::error_of(matrix::create(f.stream, {of.rows, of.columns}, rows, bad, values));
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(test::says(error, "triplet 40", "column 30", "4 rows and 30 columns"));
}

TEST_CASE("sums of duplicates have the same bits in every run", "[algorithm][coo_matrix]") {
  const fixture f;
  std::mt19937 random(8);
  auto of = sparse_test::random_matrix<float>({4000, 10, 900}, 7, 3);
  for (float& each : of.value) each = std::uniform_real_distribution<float>(-1, 1)(random);
  const auto make = [&] {
    const auto made = test::value_of(gpu::coo_matrix<float>::create(f.stream, {of.rows, of.columns},
                                                                    of.row, of.column, of.value));
    return f.download(made.values());
  };
  const auto first = make(), again = make();
  REQUIRE(first.size() == again.size());
  CHECK(std::memcmp(first.data(), again.data(), first.size() * sizeof(float)) == 0);
  std::size_t k = 0;
  double worst = 0;
  for (const auto& [place, sum] : of.sums())
    worst = std::max(worst, std::fabs(double{first[k++]} - sum.real()));
  CHECK(worst < 1e-4);
}

TEST_CASE("triplets outside of the matrix are refused", "[algorithm][coo_matrix]") {
  const fixture f;
  using matrix = gpu::coo_matrix<float>;
  const std::vector<float> values(3, 1.0f);
  const auto refuse = [&](std::vector<int> rows, std::vector<int> columns) {
    return test::error_of(matrix::create(f.stream, {2, 3}, rows, columns, values));
  };
  const auto row = refuse({0, 2, 9}, {0, 1, 2});
  CHECK(row == gpu::errc::index_out_of_range);
  CHECK(test::says(row, "gpu::coo_matrix::create", "triplet 1 is at row 2, column 1",
                   "2 rows and 3 columns", "begin at 0"));
  CHECK(test::says(refuse({0, 1, 1}, {0, 1, -5}), "triplet 2 is at row 1, column -5"));
  const auto sizes = refuse({0, 1}, {0, 1, 2});
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "rows has 2 elements", "columns has 3"));
  const auto large =
      test::error_of(matrix::create(f.stream, {std::size_t{1} << 32, 3}, std::vector<int>{},
                                    std::vector<int>{}, std::vector<float>{}));
  CHECK(test::says(large, "4294967296 rows", "2147483647 are possible"));
}

}  // namespace coo_matrix_test
