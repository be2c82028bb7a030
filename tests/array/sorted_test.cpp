// Arrays that are sorted along an axis, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/sorted.hpp>
#include <gpu/array/take.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace sorted_test { namespace {

using namespace array_test;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

TEST_CASE("arrays are sorted along an axis as by NumPy", "[array][sorted]") {
  const operands f;
  const auto& e = f.e;
  const auto& v = f.v;
  const auto& w = f.w;
#include "array/sorted_reference.inc"
}

TEST_CASE("the largest elements along an axis come first", "[array][sorted]") {
  const fixture f;
  std::mt19937 random(3);
  std::vector<short> host(2 * 30 * 7);
  for (auto& each : host) each = static_cast<short>(random() % 50);
  const auto a = test::value_of(gpu::array<short, 3>::from(f.stream, host, {2, 30, 7}));
  for (const auto order : {gpu::sort_order::descending, gpu::sort_order::ascending}) {
    for (const std::size_t k : {0u, 1u, 5u, 30u}) {
      const auto found = test::value_of(gpu::top_k(f.stream, a, k, 1, order));
      REQUIRE(found.values.shape() == gpu::shape{2u, k, 7u});
      const auto values = f.download(found.values);
      const auto indices = f.download(found.indices);
      for (std::size_t outer = 0; outer < 2; ++outer) {
        for (std::size_t inner = 0; inner < 7; ++inner) {
          std::vector<std::pair<int, long long>> line;
          for (std::size_t i = 0; i < 30; ++i) {
            const int value = host[(outer * 30 + i) * 7 + inner];
            line.emplace_back(order == gpu::sort_order::descending ? -value : value, i);
          }
          std::sort(line.begin(), line.end());
          for (std::size_t i = 0; i < k; ++i) {
            const std::size_t at = (outer * k + i) * 7 + inner;
            REQUIRE(indices[at] == line[i].second);
            REQUIRE(values[at] == host[(outer * 30 + std::size_t(line[i].second)) * 7 + inner]);
          }
        }
      }
    }
  }
  const auto one = test::value_of(gpu::top_k(f.stream, a(0, gpu::all(), 0), 3));
  auto sorted = f.download(test::value_of(gpu::sorted(f.stream, a(0, gpu::all(), 0))));
  CHECK(f.download(one.values) == std::vector<short>{sorted[29], sorted[28], sorted[27]});
  CHECK(test::value_of(gpu::take(f.stream, a(0, gpu::all(), 0), one.indices, 0)).size() == 3);
  CHECK(test::says(test::error_of(gpu::top_k(f.stream, a, 8)), "gpu::top_k",
                   "axis 2 has 7 elements", "at most 7"));
  CHECK(test::says(test::error_of(gpu::sorted(f.stream, a, 3)), "gpu::sorted", "axis 3"));
  CHECK(test::says(test::error_of(gpu::argsort(f.stream, a(7), 0)), "gpu::argsort", "index 7"));
  CHECK(test::says(test::error_of(gpu::sorted(f.stream, a, 0, gpu::sort_order(9))),
                   "9 is not a valid gpu::sort_order"));
}

}}  // namespace sorted_test
