// Permutations, choices and discrete weights.

#include "algorithm/algorithm_fixture.hpp"
#include "random/statistics.hpp"
#include "support/catch.hpp"

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/array/view_shape.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>
#include <gpu/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>
#include "support/results.hpp"

namespace permutation_test { namespace {

using algorithm_test::fixture;
using random_test::check_frequencies;

TEST_CASE("a permutation has each number once", "[random]") {
  const fixture f;
  gpu::philox engine(31);
  auto found = f.download(test::value_of(gpu::permutation<int>(f.stream, engine, 10'000)));
  CHECK_FALSE(std::is_sorted(found.begin(), found.end()));
  std::sort(found.begin(), found.end());
  for (int k = 0; k < 10'000; ++k) REQUIRE(found[std::size_t(k)] == k);
  CHECK(test::value_of(gpu::permutation<std::int64_t>(f.stream, engine, 0)).size() == 0);
}

TEST_CASE("all orders of a permutation are equally likely", "[random]") {
  // The order of each three neighbors of a long one: six of them, independent of each other.
  const fixture f;
  gpu::philox engine(32);
  const auto x = f.download(test::value_of(gpu::permutation<int>(f.stream, engine, 30'000)));
  std::map<std::vector<bool>, int> orders;
  std::vector<int> found;
  for (std::size_t k = 0; k < x.size(); k += 3) {
    const std::vector<bool> order{x[k] < x[k + 1], x[k] < x[k + 2], x[k + 1] < x[k + 2]};
    found.push_back(orders.try_emplace(order, static_cast<int>(orders.size())).first->second);
  }
  CHECK(orders.size() == 6);
  check_frequencies(found, 0, 5, [](long long) { return 1. / 6; });
}

TEST_CASE("rows are shuffled as a whole", "[random]") {
  const fixture f;
  gpu::xorwow engine(33);
  auto matrix = test::value_of(gpu::from_function<int>(f.stream, gpu::shape{50, 3}, "i"));
  test::value_of(gpu::shuffle(f.stream, engine, matrix));
  const auto found = f.download(matrix);
  std::set<int> rows;
  for (std::size_t row = 0; row < 50; ++row) {
    const int first = found[3 * row];
    CHECK(first % 3 == 0);
    CHECK((found[3 * row + 1] == first + 1 && found[3 * row + 2] == first + 2));
    rows.insert(first);
  }
  CHECK(rows.size() == 50);
  // A view: its columns, so that each row keeps its elements.
  const auto columns = gpu::transpose(matrix);
  test::value_of(gpu::shuffle(f.stream, engine, columns));
  auto sorted = f.download(matrix);
  for (std::size_t row = 0; row < 50; ++row)
    std::sort(sorted.begin() + std::ptrdiff_t(3 * row),
              sorted.begin() + std::ptrdiff_t(3 * row + 3));
  CHECK(sorted == found);
}

TEST_CASE("elements are chosen with and without replacement", "[random]") {
  const fixture f;
  gpu::philox engine(34);
  const auto letters = test::value_of(gpu::array<int>::from(f.stream, {10, 20, 30, 40, 50}));
  auto with = f.download(test::value_of(gpu::choice(f.stream, engine, letters, 10'000)));
  for (int& each : with) {
    REQUIRE(each % 10 == 0);
    each /= 10;
  }
  check_frequencies(with, 1, 5, [](long long) { return 0.2; });
  auto all = f.download(test::value_of(
      gpu::choice(f.stream, engine, letters, 5, gpu::choice_options{.replace = false})));
  std::sort(all.begin(), all.end());
  CHECK(all == std::vector{10, 20, 30, 40, 50});
  const auto matrix = gpu::reshape(letters, gpu::shape{5, 1});
  const auto rows = test::value_of(
      gpu::choice(f.stream, engine, matrix, 2, gpu::choice_options{.replace = false}));
  CHECK(rows.shape() == gpu::shape{2, 1});
  const auto weights =
      test::value_of(gpu::discrete_weights::create(f.stream, std::vector<double>{0, 1, 0, 0, 3}));
  auto weighted =
      f.download(test::value_of(gpu::choice(f.stream, engine, letters, 10'000, weights)));
  check_frequencies(weighted, 20, 50, [](long long k) {
    return k == 20 ? 0.25 : k == 50 ? 0.75 : 0;
  });
}

TEST_CASE("choices that cannot be made are refused", "[random]") {
  const fixture f;
  gpu::philox engine(35);
  const auto letters = test::value_of(gpu::array<int>::from(f.stream, {1, 2, 3}));
  CHECK(test::says(test::error_of(gpu::choice(f.stream, engine, letters, 4,
                                              gpu::choice_options{.replace = false})),
                   "gpu::choice", "4 elements cannot be chosen from 3", "replace"));
  const auto none = test::value_of(gpu::empty<int>(f.stream, gpu::shape{0}));
  CHECK(test::says(test::error_of(gpu::choice(f.stream, engine, none, 1)), "from an empty range",
                   "1"));
  CHECK(test::value_of(gpu::choice(f.stream, engine, none, 0)).size() == 0);
  const auto weights =
      test::value_of(gpu::discrete_weights::create(f.stream, std::vector<float>{1, 2}));
  CHECK(test::says(test::error_of(gpu::choice(f.stream, engine, letters, 4, weights)),
                   "3 elements along its first axis", "2 weights"));
}

TEST_CASE("operands that cannot be permuted are refused before numbers are drawn", "[random]") {
  const fixture f;
  gpu::philox engine(37);
  auto weights =
      test::value_of(gpu::discrete_weights::create(f.stream, std::vector<float>{1, 2, 3}));
  auto letters = test::value_of(gpu::array<int>::from(f.stream, {1, 2, 3}));
  const auto faulty = gpu::reshape(letters, gpu::shape{2, 2});
  CHECK(test::says(test::error_of(gpu::shuffle(f.stream, engine, faulty)), "gpu::reshape"));
  CHECK(test::says(test::error_of(gpu::choice(f.stream, engine, faulty, 1)), "gpu::reshape"));
  CHECK(test::says(test::error_of(gpu::choice(f.stream, engine, faulty, 1, weights)),
                   "gpu::reshape"));
  const auto moved = std::move(letters);
  const auto empty = [](const gpu::cuda_error& error, const char* function) {
    CHECK(error == gpu::errc::empty_handle);
    return test::says(error, function);
  };
  CHECK(empty(test::error_of(gpu::shuffle(f.stream, engine, letters)), "gpu::shuffle"));
  CHECK(empty(test::error_of(gpu::choice(f.stream, engine, letters, 0)), "gpu::choice"));
  CHECK(engine.offset() == 0);
  const auto moved_weights = std::move(weights);
  CHECK(
      test::error_of(gpu::evaluate(f.stream, gpu::discrete<int>(engine, gpu::shape{4}, weights))) ==
      gpu::errc::empty_handle);
}

TEST_CASE("a choice takes the elements of a view by their places", "[random]") {
  // Each element of the view is chosen once: its columns are every second one, in reverse order.
  const fixture f;
  gpu::philox engine(38);
  const auto numbers = test::value_of(gpu::from_function<int>(f.stream, gpu::shape{4, 10}, "i"));
  const auto columns = gpu::transpose(gpu::reverse(numbers, 1)(gpu::all(), gpu::slice(0, 10, 2)));
  const auto found = f.download(test::value_of(
      gpu::choice(f.stream, engine, columns, 5, gpu::choice_options{.replace = false})));
  std::set<int> chosen;
  for (std::size_t k = 0; k < 5; ++k) {
    const int first = found[4 * k];
    chosen.insert(first);
    for (int row = 1; row < 4; ++row) CHECK(found[4 * k + std::size_t(row)] == first + 10 * row);
  }
  CHECK(chosen == std::set{1, 3, 5, 7, 9});
}

TEST_CASE("indices occur by their weights", "[random]") {
  const fixture f;
  gpu::philox engine(36);
  gpu::mrg32k3a other(36);
  std::vector<double> weights;
  double sum = 0;
  for (int k = 0; k < 300; ++k) sum += weights.emplace_back(k % 3 == 0 ? 0 : k);
  const auto table = test::value_of(gpu::discrete_weights::create(f.stream, weights));
  CHECK(table.size() == 300);
  const auto probability = [&](long long k) { return weights[std::size_t(k)] / sum; };
  check_frequencies(f.download(test::value_of(gpu::evaluate(
                        f.stream, gpu::discrete<int>(engine, gpu::shape{60'000}, table)))),
                    0, 299, probability);
  check_frequencies(f.download(test::value_of(gpu::evaluate(
                        f.stream, gpu::discrete<unsigned>(other, gpu::shape{60'000}, table)))),
                    0, 299, probability);
  CHECK(test::says(test::error_of(gpu::evaluate(
                       f.stream, gpu::discrete<signed char>(engine, gpu::shape{6}, table))),
                   "from 0 to 299", "127"));
}

TEST_CASE("weights are checked", "[random]") {
  const fixture f;
  const auto error = [&](const std::vector<double>& weights) {
    return test::error_of(gpu::discrete_weights::create(f.stream, weights));
  };
  CHECK(test::says(error({}), "gpu::discrete_weights::create", "no weights"));
  CHECK(test::says(error({0, 0}), "all weights are 0", "greater than 0"));
  CHECK(test::says(error({1, -2}), "weight 1 is -2", "at least 0"));
  CHECK(test::says(error({1, 2, std::numeric_limits<double>::quiet_NaN()}), "weight 2 is nan"));
  CHECK(test::says(error({1e308, 1e308}), "weight 1 is 1e+308", "finite sum"));
}

TEST_CASE("each call of a shuffle may fail", "[random][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    gpu::philox engine(1);
    auto x = GPU_TRY(gpu::ones<float>(stream, gpu::shape{40}));
    const double both[] = {1, 2};
    const auto weights = GPU_TRY(gpu::discrete_weights::create(stream, both));
    GPU_TRY(gpu::shuffle(stream, engine, x));
    GPU_TRY(gpu::choice(stream, engine, x(gpu::slice(0, 2)), 5, weights));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}}  // namespace permutation_test
