// Arrays of more than 2^31 elements, against sums on the host; the same with few elements.

#include "array/array_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace large_array_test { namespace {

using array_test::fixture;
using gpu::axis;

/// The element at index i is i % period.
constexpr std::size_t period = 61;

std::int8_t element(std::size_t i) { return static_cast<std::int8_t>(i % period); }

/// Returns the sum of the elements at so many indices.
long long sum_of(std::size_t first, std::size_t step, std::size_t count) {
  long long whole = 0, rest = 0;
  for (std::size_t k = 0; k < period; ++k) {
    whole += element(first + k * step);
    if (k < count % period) rest += element(first + k * step);
  }
  return whole * static_cast<long long>(count / period) + rest;
}

/// Returns an array of three rows, numbered in C order.
gpu::array<std::int8_t, 2> numbered(const fixture& f, std::size_t columns) {
  auto made = test::value_of(gpu::empty<std::int8_t>(f.stream, gpu::shape{3, columns}));
  const auto flat = gpu::ravel(made);
  test::value_of(gpu::assign(
      f.stream, flat,
      gpu::cast<std::int8_t>(gpu::remainder(gpu::index_along(flat.shape(), 0), period))));
  return made;
}

void check_expressions(const fixture& f, std::size_t columns) {
  const auto m = numbered(f, columns);
  const auto x = gpu::ravel(m);
  const std::size_t count = 3 * columns, half = count / 2;
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(x))) == sum_of(0, 1, count));
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(gpu::cast<long long>(x + x) - 1))) ==
        2 * sum_of(0, 1, count) - static_cast<long long>(count));
  const auto rows = test::value_of(gpu::evaluate(f.stream, gpu::sum(m, axis<1>)));
  std::vector<std::int64_t> expected;
  for (const std::size_t row : {0u, 1u, 2u}) expected.push_back(sum_of(row * columns, 1, columns));
  CHECK(f.download(rows) == expected);
  auto odd = test::value_of(gpu::evaluate(f.stream, x(gpu::slice(1, gpu::to_end, 2)) + x(0)));
  CHECK(odd.size() == half);
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(odd))) == sum_of(1, 2, half));
  CHECK(test::value_of(gpu::item(f.stream, odd(-1))) == element(2 * half - 1));
  const auto backwards = gpu::reverse(x);
  test::value_of(
      gpu::assign(f.stream, odd, backwards(gpu::slice(0, static_cast<std::ptrdiff_t>(half)))));
  CHECK(test::value_of(gpu::item(f.stream, odd(-1))) == element(count - half));
}

void check_rearranged(const fixture& f, std::size_t columns) {
  const auto m = numbered(f, columns);
  const std::size_t last = 3 * columns - 1;
  const auto turned = test::value_of(gpu::evaluate(f.stream, gpu::transpose(m)));
  const auto sums = test::value_of(gpu::evaluate(f.stream, gpu::sum(turned, axis<0>)));
  CHECK(f.download(sums)[2] == sum_of(2 * columns, 1, columns));
  const auto end = static_cast<std::int64_t>(last);
  const auto places = test::value_of(
      gpu::array<std::int64_t>::from(f.stream, {0, end, -1, end - 1, end / 2, end / 2 + 1}));
  const std::vector<std::int8_t> expected = {element(0),        element(last),
                                             element(last),     element(last - 1),
                                             element(last / 2), element(last / 2 + 1)};
  CHECK(f.download(test::value_of(gpu::take(f.stream, gpu::ravel(m), places, 0))) == expected);
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, gpu::take(gpu::ravel(m), places, 0)))) ==
        expected);
  const auto at = [&](std::size_t k, std::size_t row) {
    return test::value_of(gpu::item(
        f.stream, turned(static_cast<std::ptrdiff_t>(k), static_cast<std::ptrdiff_t>(row))));
  };
  for (const std::size_t k : {std::size_t{0}, columns / 2, columns - 1})
    CHECK(at(k, 2) == element(2 * columns + k));
  const auto most = test::value_of(gpu::cumulative_max(f.stream, gpu::ravel(m), 0));
  CHECK(test::value_of(gpu::item(f.stream, most(5))) == 5);
  CHECK(test::value_of(gpu::item(f.stream, most(-1))) == element(period - 1));
}

TEST_CASE("arrays are numbered, sliced and turned", "[array][expression]") {
  const fixture f;
  check_expressions(f, 1001);
  check_rearranged(f, 1001);
}

TEST_CASE("arrays of more than 2^31 elements are right", "[array][expression][hardware]") {
  const fixture f;  // up to 10 GB
  constexpr std::size_t columns = (std::size_t{1} << 30) + 1;
  check_expressions(f, columns);
  check_rearranged(f, columns);
}

}}  // namespace large_array_test
