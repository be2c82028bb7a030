// Running sums and the like along an axis, against NumPy and sums on the host.

#include "array/array_fixture.hpp"

#include "support/noted_calls.hpp"

#include <gpu/array.hpp>
#include <gpu/memory/shape.hpp>

#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace cumulative_test { namespace {

using namespace array_test;

TEST_CASE("running sums along an axis are those of NumPy", "[array][cumulative][thorough]") {
  const operands f;
  const auto &a = f.a, &e = f.e;
  const auto& v = f.v;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  using complex = std::complex<float>;
  const auto x = test::value_of(
      gpu::array<float, 2>::from(f.stream, {{3, 1, 2}, {nan, 5, 0.5f}, {-1, inf, 0.25f}}));
  const auto b = test::value_of(gpu::array<bool>::from(f.stream, {true, false, true}));
  const auto i8 = test::value_of(gpu::array<signed char>::from(f.stream, {100, 100, -7}));
  const auto z = test::value_of(
      gpu::array<complex>::from(f.stream, {complex(0), complex(0, 1), complex(1), complex(2, 1)}));
#include "array/cumulative_reference.inc"
}

TEST_CASE("lines of any number and length are summed", "[array][cumulative][thorough]") {
  const fixture f;
  std::mt19937 random(5);
  for (const auto& [outer, length, inner] :
       {std::array<std::size_t, 3>{3, 700, 5}, {1, 5, 9001}, {2, 3, 4100}, {9000, 2, 1}}) {
    std::vector<std::uint16_t> host(outer * length * inner);
    for (auto& each : host) each = static_cast<std::uint16_t>(random());
    const auto a =
        test::value_of(gpu::array<std::uint16_t, 3>::from(f.stream, host, {outer, length, inner}));
    std::vector<std::uint64_t> sums(host.begin(), host.end());
    std::vector<std::uint16_t> least = host;
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t k = 1; k < length; ++k) {
        for (std::size_t i = 0; i < inner; ++i) {
          const std::size_t at = (o * length + k) * inner + i;
          sums[at] += sums[at - inner];
          least[at] = std::min(least[at], least[at - inner]);
        }
      }
    }
    CHECK(f.download(test::value_of(gpu::cumulative_sum(f.stream, a, 1))) == sums);
    CHECK(f.download(test::value_of(gpu::cumulative_min(f.stream, a, -2))) == least);
  }
}

TEST_CASE("running sums of an expression are those of its elements", "[array][cumulative]") {
  const operands f;
  const auto& a = f.a;
  std::vector<long long> expected(24);
  for (int k = 0; k < 24; ++k)
    expected[static_cast<std::size_t>(k)] = 2 * k + 1 + (k < 12 ? 0 : 2 * k - 23);
  same(gpu::cumulative_sum(f.stream, 2 * a + 1, 0), gpu::shape{2, 3, 4},
       {expected.begin(), expected.end()});
  same(gpu::cumulative_max(f.stream, f.v - gpu::sum(f.v), -1), gpu::shape{5},
       {-14, -13, -12, -11, -10});
  CHECK(test::says(test::error_of(gpu::cumulative_sum(f.stream, a + 1, 3)), "gpu::cumulative_sum",
                   "axis 3 is out of range for 3 axes"));
  CHECK(test::says(test::error_of(gpu::cumulative_sum(f.stream, a + f.v, 0)), "gpu::cumulative_sum",
                   "cannot broadcast (2, 3, 4) with (5,)"));
}

TEST_CASE("what is summed along an axis is computed where it is loaded", "[array][cumulative]") {
  const operands f;
  const auto& a = f.a;
  for (const int axis : {0, 1, -1}) {
    const auto stored = test::value_of(gpu::evaluate(f.stream, a * a - a(0, 0)));
    const auto expected = test::value_of(gpu::cumulative_sum(f.stream, stored, axis));
    const test::noted_calls<&gpu::driver::entry_points::launch_kernel> launches;
    const auto sums = test::value_of(gpu::cumulative_sum(f.stream, a * a - a(0, 0), axis));
    CHECK(launches.count() == 1);
    CHECK(f.download(sums) == f.download(expected));
  }
  const auto real = test::value_of(gpu::evaluate(f.stream, gpu::cast<float>(a) * 0.1f));
  const auto stored = test::value_of(gpu::evaluate(f.stream, real * real));
  CHECK(f.download(test::value_of(gpu::cumulative_sum(f.stream, real * real, -1))) ==
        f.download(test::value_of(gpu::cumulative_sum(f.stream, stored, -1))));
  // An operand that repeats, the index, elements that an index chooses; another type.
  same(gpu::cumulative_sum<double>(
           f.stream, gpu::take(f.v, f.w, 0) + gpu::index_along(gpu::shape{2, 4}, 0), 0),
       gpu::shape{2, 4}, {5, 3, 3, 3, 11, 7, 7, 7});
  same(gpu::cumulative_max(f.stream, -f.e, 0), gpu::shape{2, 0, 3}, {});
  const auto halves = test::value_of(
      gpu::array<__half>::from(f.stream, {__half(1.5f), __half(2048.0f), __half(1.0f)}));
  same(gpu::cumulative_sum(f.stream, halves + halves, 0), gpu::shape{3}, {3, 4099, 4101});
}

TEST_CASE("running sums along no axis are refused", "[array][cumulative]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::cumulative_sum(f.stream, f.a, 3)), "gpu::cumulative_sum",
                   "axis 3 is out of range for 3 axes"));
  CHECK(test::says(test::error_of(gpu::cumulative_max(f.stream, f.p, 0)), "gpu::cumulative_max",
                   "axis 0 is out of range for 0 axes"));
  CHECK(test::says(test::error_of(gpu::cumulative_min(f.stream, f.a(2), 0)), "index 2"));
}

}}  // namespace cumulative_test
