// Positions of the smallest and the largest element, against std::min_element and NumPy's rules for
// NaN.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/argmin.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace argmin_test {

using algorithm_test::fixture;

std::vector<double> scattered(std::size_t count) {
  std::vector<double> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<double>(i * 7919 % 1009) - 300;
  return made;
}

TEST_CASE("the first of equal extremes is found in every size and layout", "[algorithm][argmin]") {
  const fixture f;
  const auto host = scattered(100'000);  // each value comes about 100 times
  auto x = f.upload(host);
  for (const std::size_t count : {1u, 2u, 33u, 1009u, 5000u, 99'999u}) {
    CAPTURE(count);
    for (const std::size_t skipped : {0u, 1u}) {
      const auto begin = host.begin() + static_cast<std::ptrdiff_t>(skipped);
      const auto end = begin + static_cast<std::ptrdiff_t>(count);
      const auto part = x.span().subspan(skipped, count);
      CHECK(test::value_of(gpu::argmin(f.stream, part)) ==
            static_cast<std::size_t>(std::min_element(begin, end) - begin));
      CHECK(test::value_of(gpu::argmax(f.stream, part)) ==
            static_cast<std::size_t>(std::max_element(begin, end) - begin));
    }
  }
  // All elements equal: several blocks find the same.
  auto equal = f.make<std::int32_t>(100'000);
  test::value_of(gpu::fill(f.stream, equal, 5));
  CHECK(test::value_of(gpu::argmin(f.stream, equal)) == 0);
  CHECK(test::value_of(gpu::argmax(f.stream, equal.span().subspan(77))) == 0);
}

TEST_CASE("positions in a view count in C order", "[algorithm][argmin]") {
  const fixture f;
  const std::size_t rows = 30, columns = 40;
  auto host = scattered(rows * columns);
  host[7 * columns + 31] = -1000;
  auto x = f.upload(host);
  const auto turned = gpu::array_view<const double, 2>::from_native(x.span().native(),
                                                                    {columns, rows}, {1, columns});
  CHECK(test::value_of(gpu::argmin(f.stream, turned)) == 31 * rows + 7);
  auto at = f.make<std::int64_t>(columns);
  test::value_of(gpu::argmin(f.stream, turned, at));
  const auto found = f.download(at);
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t first = 0;
    for (std::size_t r = 1; r < rows; ++r) {
      if (host[r * columns + c] < host[first * columns + c]) first = r;
    }
    CHECK(found[c] == static_cast<std::int64_t>(first));
  }
}

TEST_CASE("positions refuse what does not fit", "[algorithm][argmin]") {
  const fixture f;
  auto x = f.upload(scattered(10));
  auto results = f.make<std::int32_t>(3);
  CHECK(test::says(test::error_of(gpu::argmin(f.stream, x, results)), "gpu::argmin",
                   "10 elements cannot be divided into 3 segments"));
  // The length is checked before the elements are touched.
  const auto repeated = gpu::array_view<const double, 1>::from_native(
      x.span().native(), {(std::size_t{1} << 31) + 8}, {0});
  const auto narrow = test::error_of(gpu::argmax(f.stream, repeated, results.span().first(1)));
  CHECK(narrow == gpu::errc::invalid_argument);
  CHECK(test::says(narrow, "integers of at most 2147483647", "2147483656", "64 bits"));
  const auto moved = std::move(x);
  CHECK(test::error_of(gpu::argmax(f.stream, x)) == gpu::errc::empty_handle);
}

TEST_CASE("each call of a search for an extreme may fail", "[algorithm][argmin][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    auto at = GPU_TRY(gpu::device_buffer<int>::create(stream, 1));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::argmax(stream, x, at));
    GPU_TRY(gpu::argmin(stream, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace argmin_test
