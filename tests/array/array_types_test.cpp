// Functions that rearrange arrays, of elements of other types than the tests against NumPy have.

#include "array/array_fixture.hpp"

#include <gpu/array/array.hpp>
#include <gpu/memory/slice.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

namespace array_types_test { namespace {

using namespace array_test;
using complex = std::complex<double>;

template <class T> T make(int value) {
  if constexpr (std::is_same_v<T, complex>) {
    return {static_cast<double>(value), static_cast<double>(-value)};
  } else {
    return static_cast<T>(static_cast<float>(value));
  }
}

template <class T> void check(const std::vector<T>& found, const std::vector<int>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const T wanted = make<T>(expected[i]);
    CAPTURE(i, expected[i]);
    REQUIRE(std::memcmp(&found[i], &wanted, sizeof(T)) == 0);
  }
}

TEMPLATE_TEST_CASE("arrays of all kinds of numbers are rearranged", "[array][thorough]",
                   std::uint64_t, __half, __nv_bfloat16, complex) {
  const fixture f;
  std::vector<TestType> host;
  for (const int value : {5, 0, 3, 9, 7, 1}) host.push_back(make<TestType>(value));
  const auto a = test::value_of(gpu::array<TestType, 2>::from(f.stream, host, {2, 3}));
  const auto download = [&](auto made) { return f.download(test::value_of(std::move(made))); };
  check(download(gpu::tril(f.stream, a)), {5, 0, 0, 9, 7, 0});
  check(download(gpu::diff(f.stream, a(gpu::all(), gpu::slice(0, 2)), 0)), {4, 7});
  check(download(gpu::roll(f.stream, a, 1)), {1, 5, 0, 3, 9, 7});
  check(download(gpu::pad(f.stream, a, {{0, 1}, {1, 0}}, make<TestType>(2))),
        {2, 5, 0, 3, 2, 9, 7, 1, 2, 2, 2, 2});
  const auto indices = test::value_of(gpu::array<int>::from(f.stream, {-1, 0}));
  check(download(gpu::take(f.stream, a, indices, 1)), {3, 5, 1, 9});
  auto written = test::value_of(gpu::evaluate(f.stream, a));
  test::value_of(gpu::put(f.stream, written, indices, a(1, gpu::slice(0, 2))));
  check(f.download(written), {7, 0, 3, 9, 7, 9});
  CHECK(f.download(test::value_of(gpu::flat_nonzero(f.stream, a))) ==
        std::vector<long long>{0, 2, 3, 4, 5});
  CHECK(test::value_of(gpu::array_equal(f.stream, a, a)));
  CHECK(!test::value_of(gpu::array_equal(f.stream, a, written)));
  CHECK(test::value_of(gpu::allclose(f.stream, a, a)));
  CHECK(!test::value_of(gpu::allclose(f.stream, a, written)));
  if constexpr (!std::is_same_v<TestType, complex>) {
    check(download(gpu::extract(f.stream, a, a)), {5, 3, 9, 7, 1});
    check(download(gpu::sorted(f.stream, a)), {0, 3, 5, 1, 7, 9});
    check(download(gpu::cumulative_max(f.stream, a, 1)), {5, 5, 5, 9, 9, 9});
    const auto twice = test::value_of(gpu::concatenate(f.stream, 0, a, a));
    check(download(gpu::unique_values(f.stream, twice)), {0, 1, 3, 5, 7, 9});
    CHECK(static_cast<double>(test::value_of(gpu::median(f.stream, a))) == 4);
  } else {
    check(download(gpu::cumulative_sum(f.stream, a, 1)), {5, 5, 8, 9, 16, 17});
  }
}

}}  // namespace array_types_test
