// Several results from one kernel.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/memory/shape.hpp>

#include <vector>

namespace assign_all_test { namespace {

using algorithm_test::fixture;

TEST_CASE("one kernel has several results", "[array][assign_all]") {
  const fixture f;
  auto x = test::value_of(gpu::array<float, 2>::from(f.stream, {{1, 2}, {3, 4}}));
  auto y = test::value_of(gpu::array<float>::from(f.stream, {10, 20}));
  auto sum = test::value_of(gpu::empty<double>(f.stream, gpu::shape{2, 2}));
  auto row = test::value_of(gpu::empty<int>(f.stream, gpu::shape{2, 2}));
  test::value_of(
      gpu::assign_all(f.stream, gpu::into(sum, x + y), gpu::into(gpu::transpose(row), y * 2)));
  CHECK(f.download(sum) == std::vector<double>{11, 22, 13, 24});
  CHECK(f.download(row) == std::vector<int>{20, 20, 40, 40});
  // A rotation in place: both read what was there before.
  test::value_of(
      gpu::assign_all(f.stream, gpu::into(x(0), x(0) - x(1)), gpu::into(x(1), x(0) + x(1))));
  CHECK(f.download(x) == std::vector<float>{-2, -2, 4, 6});
  // By way of temporary arrays: the first result is an operand of the second at other indices.
  test::value_of(
      gpu::assign_all(f.stream, gpu::into(x(0), x(1)), gpu::into(x(1), gpu::reverse(x(0)))));
  CHECK(f.download(x) == std::vector<float>{4, 6, -2, -2});
}

TEST_CASE("results of one kernel that do not fit are refused", "[array][assign_all]") {
  const fixture f;
  auto x = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2, 3}));
  auto y = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{3}));
  CHECK(test::says(
      test::error_of(gpu::assign_all(f.stream, gpu::into(x, y + 1), gpu::into(y, y * 2))),
      "gpu::assign_all", "(2, 3) and (3,)"));
  CHECK(test::says(
      test::error_of(gpu::assign_all(f.stream, gpu::into(x, x + 1), gpu::into(x(0), y * 2))),
      "gpu::assign_all"));
  CHECK(test::says(test::error_of(gpu::assign_all(f.stream, gpu::into(x(0), y + 1),
                                                  gpu::into(gpu::reverse(x(0)), y * 2))),
                   "out0 is written and overlaps out1", "not element by element"));
}

}}  // namespace assign_all_test
