// More elements than 32 bits count, and sizes around powers of two, for operations whose results
// can be checked by a formula on the device.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace large_test {

using algorithm_test::fixture;
using bytes = gpu::device_buffer<std::uint8_t>;

constexpr std::size_t sizes[] = {(std::size_t{1} << 20) - 1, (std::size_t{1} << 20) + 1,
                                 (std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3};

/// Returns the number of elements of `x` for which the condition does not hold.
template <class T>
long long count_wrong(const fixture& f, const gpu::device_span<T>& x, const char* condition) {
  const auto count = test::value_of(gpu::reduction<long long, const T*>::create(
      {.parameters = "x", .map = condition, .reduce = "a + b", .neutral = 0, .result = "n - a"}));
  return test::value_of(count(f.stream, x));
}

/// Elements that begin at an odd address: `i * 7 % 251`.
bytes numbered(const fixture& f, std::size_t count) {
  auto made = f.make<std::uint8_t>(count + 1);
  const auto number = test::value_of(
      gpu::elementwise<std::uint8_t*>::create("x", "x[i] = (unsigned char)(i * 7 % 251)"));
  test::value_of(number(f.stream, made.span().subspan(1)));
  return made;
}

TEST_CASE("large elementwise kernels reach every element", "[algorithm][hardware]") {
  const fixture f;
  for (const std::size_t count : sizes) {
    CAPTURE(count);
    const auto x = numbered(f, count);
    CHECK(count_wrong(f, x.span().subspan(1), "x[i] == (unsigned char)(i * 7 % 251)") == 0);
    auto y = f.make<std::uint8_t>(count + 1);
    const auto twice = test::value_of(gpu::elementwise<const std::uint8_t*, std::uint8_t*>::create(
        "x, y", "y[i] = (unsigned char)(2 * x[i])"));
    const auto at = x.span().native() + 1;
    // Backwards, and every other element.
    const auto backwards =
        gpu::array_view<std::uint8_t, 1>::from_native(at + (count - 1), {count}, {-1});
    test::value_of(twice(f.stream, backwards, y.span().subspan(1)));
    CHECK(count_wrong(f, y.span().subspan(1),
                      "x[i] == (unsigned char)(2 * ((n - 1 - i) * 7 % 251))") == 0);
    const auto others = gpu::array_view<std::uint8_t, 1>::from_native(at, {count / 2}, {2});
    test::value_of(twice(f.stream, others, y.span().first(count / 2)));
    CHECK(count_wrong(f, y.span().first(count / 2),
                      "x[i] == (unsigned char)(2 * (2 * i * 7 % 251))") == 0);
    test::value_of(twice.over(f.stream, gpu::slice(-1, gpu::before_start, -3), x.span().subspan(1),
                              y.span().subspan(1)));
  }
}

TEST_CASE("large partitions, runs and running sums are right", "[algorithm][hardware]") {
  const fixture f;
  for (const std::size_t count : sizes) {
    CAPTURE(count);
    auto x = numbered(f, count);
    const auto part = x.span().subspan(1);
    {
      auto out = f.make<std::uint8_t>(count + 1);
      const std::size_t first =
          test::value_of(gpu::partition(f.stream, part, part, out.span().subspan(1)));
      const std::size_t zeros = (count + 250) / 251;
      CHECK(first == count - zeros);
      CHECK(count_wrong(f, out.span().subspan(1).first(first), "x[i] != 0") == 0);
      CHECK(count_wrong(f, out.span().subspan(1 + first), "x[i] == 0") == 0);
    }
    {
      // Modulo 256, so that results take no more room than elements.
      auto sums = f.make<std::uint8_t>(count);
      test::value_of(gpu::fill(f.stream, x, std::uint8_t{3}));
      test::value_of(gpu::inclusive_scan(f.stream, part, sums));
      CHECK(count_wrong(f, sums.span(), "x[i] == (unsigned char)(3 * (i + 1))") == 0);
      test::value_of(gpu::exclusive_scan(f.stream, part, sums, std::uint8_t{5}));
      CHECK(count_wrong(f, sums.span(), "x[i] == (unsigned char)(3 * i + 5)") == 0);
    }
    auto values = f.make<std::uint8_t>(8);
    auto lengths = f.make<std::int64_t>(8);
    test::value_of(gpu::fill(f.stream, part.subspan(count - 2), std::uint8_t{4}));
    CHECK(test::value_of(gpu::run_length(f.stream, part, values, lengths)) == 2);
    CHECK(f.download(lengths.span().first(2)) ==
          std::vector<std::int64_t>{static_cast<std::int64_t>(count) - 2, 2});
    CHECK(test::value_of(gpu::reduce_by_key(f.stream, part, part, values, lengths)) == 2);
    CHECK(f.download(lengths.span().first(2)) ==
          std::vector<std::int64_t>{3 * (static_cast<std::int64_t>(count) - 2), 8});
    auto keys = f.make<std::uint8_t>(3);
    auto indices = f.make<std::int64_t>(3);
    test::value_of(gpu::top_k(f.stream, part, keys, indices));
    CHECK(f.download(keys) == std::vector<std::uint8_t>{4, 4, 3});
    CHECK(f.download(indices) == std::vector<std::int64_t>{static_cast<std::int64_t>(count) - 2,
                                                           static_cast<std::int64_t>(count) - 1,
                                                           0});
  }
}

}  // namespace large_test
