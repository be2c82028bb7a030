#include <nogpu/ptx/arithmetic/integer.hpp>

#include <cstdint>
#include <limits>

#include "arithmetic_values.hpp"
#include "support/catch.hpp"

namespace arithmetic_integer_test {

namespace ptx = nogpu::ptx;
using namespace arithmetic_test;

namespace {

// The oracles: the one holds every sum exactly, the other every product's low 128 bits.
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

/// Calls f(a, b) for the special pairs and for random ones.
template <class T, class F> void for_pairs(F f) {
  const auto special = special_integers();
  for (const std::uint64_t a : special) {
    for (const std::uint64_t b : special) f(static_cast<T>(a), static_cast<T>(b));
  }
  random_bits random(sizeof(T) * 2 + (T(-1) < T(0)));
  for (int i = 0; i < 20000; ++i) f(static_cast<T>(random()), static_cast<T>(random()));
}

}  // namespace

TEMPLATE_TEST_CASE("integer arithmetic wraps around as exact arithmetic reduced to the width",
                   "[ptx][arithmetic]", std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
                   std::uint64_t, std::int64_t) {
  using T = TestType;
  constexpr int width = sizeof(T) * 8;
  comparison_run run;
  for_pairs<T>([&](T a, T b) {
    const wide x = a, y = b;
    const unsigned_wide product = static_cast<unsigned_wide>(x) * static_cast<unsigned_wide>(y);
    run.expect(ptx::add(a, b), static_cast<T>(x + y), a, b);
    run.expect(ptx::sub(a, b), static_cast<T>(x - y), a, b);
    run.expect(ptx::mul_lo(a, b), static_cast<T>(product), a, b);
    if constexpr (width < 64) {
      run.expect(ptx::mul_hi(a, b), static_cast<T>((x * y) >> width), a, b);
      using W = ptx::wide_t<T>;
      run.expect(ptx::mul_wide(a, b), static_cast<W>(x * y), a, b);
      run.expect(ptx::mad_wide(a, b, static_cast<W>(y)), static_cast<W>(x * y + y), a, b);
    }
    run.expect(ptx::mad_lo(a, b, a), static_cast<T>(product + static_cast<unsigned_wide>(x)), a, b);
    run.expect(ptx::sad(a, b, a), static_cast<T>((x < y ? y - x : x - y) + x), a, b);
    run.expect(ptx::min(a, b), x < y ? a : b, a, b);
    run.expect(ptx::max(a, b), x < y ? b : a, a, b);
    run.expect(ptx::div(a, b), b == 0 ? static_cast<T>(-1) : static_cast<T>(x / (y ? y : 1)), a, b);
    run.expect(ptx::rem(a, b), b == 0 ? static_cast<T>(-1) : static_cast<T>(x % (y ? y : 1)), a, b);
    if constexpr (std::is_signed_v<T>) {
      run.expect(ptx::neg(a), static_cast<T>(-x), a);
      run.expect(ptx::abs(a), static_cast<T>(x < 0 ? -x : x), a);
    }
  });
  run.finish(200000);
}

TEMPLATE_TEST_CASE("mul.hi of 64 bits is what four 32-bit products add up to", "[ptx][arithmetic]",
                   std::uint64_t, std::int64_t) {
  using T = TestType;
  comparison_run run;
  for_pairs<T>([&](T a, T b) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    const std::uint64_t x0 = x & 0xffffffff, x1 = x >> 32, y0 = y & 0xffffffff, y1 = y >> 32;
    const std::uint64_t middle = x1 * y0 + (x0 * y0 >> 32);
    std::uint64_t high = x1 * y1 + (middle >> 32) + (((middle & 0xffffffff) + x0 * y1) >> 32);
    if (a < T(0)) high -= y;
    if (b < T(0)) high -= x;
    run.expect(ptx::mul_hi(a, b), static_cast<T>(high), x, y);
    run.expect(ptx::mad_hi(a, b, b), static_cast<T>(high + y), x, y);
  });
  run.finish(20000);
}

TEST_CASE("saturating 32-bit arithmetic stops at the limits", "[ptx][arithmetic]") {
  constexpr wide low = std::numeric_limits<std::int32_t>::min();
  constexpr wide high = std::numeric_limits<std::int32_t>::max();
  const auto clamped = [](wide v) {
    return static_cast<std::int32_t>(v < low ? low : v > high ? high : v);
  };
  comparison_run run;
  for_pairs<std::int32_t>([&](std::int32_t a, std::int32_t b) {
    const wide x = a, y = b;
    run.expect(ptx::add_sat(a, b), clamped(x + y), a, b);
    run.expect(ptx::sub_sat(a, b), clamped(x - y), a, b);
    run.expect(ptx::mad_hi_sat(a, b, a), clamped((x * y >> 32) + x), a, b);
    run.expect(ptx::min_relu(a, b),
               static_cast<std::int32_t>(x < 0 || y < 0 ? 0
                                         : x < y        ? x
                                                        : y),
               a, b);
    run.expect(ptx::max_relu(a, b),
               static_cast<std::int32_t>(x < 0 && y < 0 ? 0
                                         : x < y        ? y
                                                        : x),
               a, b);
  });
  run.finish(100000);
  CHECK(ptx::slct(1, 2, 0) == 1);
  CHECK(ptx::slct(1, 2, -1) == 2);
}

TEST_CASE("24-bit multiplication ignores the upper byte", "[ptx][arithmetic]") {
  comparison_run run;
  for_pairs<std::uint32_t>([&](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t product = std::uint64_t{a % 0x1000000} * (b % 0x1000000);
    run.expect(ptx::mul24_lo(a, b), static_cast<std::uint32_t>(product), a, b);
    run.expect(ptx::mul24_hi(a, b), static_cast<std::uint32_t>(product / 0x10000), a, b);
    run.expect(ptx::mad24_lo(a, b, b), static_cast<std::uint32_t>(product + b), a, b);
    run.expect(ptx::mad24_hi(a, b, b), static_cast<std::uint32_t>(product / 0x10000 + b), a, b);
    const auto extended = [](std::uint32_t v) {
      const std::int64_t low = v % 0x1000000;
      return low >= 0x800000 ? low - 0x1000000 : low;
    };
    const std::int64_t signed_product = extended(a) * extended(b);
    const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
    const auto high = static_cast<std::int32_t>(signed_product >> 16);
    run.expect(ptx::mul24_lo(sa, sb), static_cast<std::int32_t>(signed_product), a, b);
    run.expect(ptx::mul24_hi(sa, sb), high, a, b);
    const wide sum = wide{high} + sb;
    run.expect(ptx::mad24_hi_sat(sa, sb, sb),
               static_cast<std::int32_t>(sum > 0x7fffffff        ? 0x7fffffff
                                         : sum < -0x7fffffff - 1 ? -0x7fffffff - 1
                                                                 : sum),
               a, b);
  });
  run.finish(100000);
}

TEMPLATE_TEST_CASE("a carry chain adds and subtracts numbers of two words", "[ptx][arithmetic]",
                   std::uint32_t, std::uint64_t) {
  using T = TestType;
  constexpr int width = sizeof(T) * 8;
  using exact = unsigned_wide;
  comparison_run run;
  random_bits random(5);
  const auto special = special_integers();
  const auto pick = [&] {
    const std::uint64_t r = random();
    return static_cast<T>(r % 3 == 0 ? random() : special[r / 3 % special.size()]);
  };
  for (int i = 0; i < 50000; ++i) {
    const T a0 = pick(), a1 = pick(), b0 = pick(), b1 = pick();
    const exact a = exact{a1} << (width - 1) << 1 | a0, b = exact{b1} << (width - 1) << 1 | b0;
    std::uint32_t carry = 1;  // a chain's first instruction ignores it
    run.expect(ptx::add_cc(a0, b0, carry), static_cast<T>(a + b), a0, b0);
    run.expect(ptx::addc(a1, b1, carry), static_cast<T>((a + b) >> (width - 1) >> 1), a1, b1);
    run.expect(ptx::addc_cc(a1, b1, carry), static_cast<T>((a + b) >> (width - 1) >> 1), a1, b1);
    const exact top = exact{a1} + b1 + (((exact{a0} + b0) >> (width - 1) >> 1) & 1);
    run.expect(carry, static_cast<std::uint32_t>(top >> (width - 1) >> 1), a0, a1, b0, b1);
    carry = 1;
    run.expect(ptx::sub_cc(a0, b0, carry), static_cast<T>(a - b), a0, b0);
    run.expect(ptx::subc(a1, b1, carry), static_cast<T>((a - b) >> (width - 1) >> 1), a1, b1);
    run.expect(ptx::subc_cc(a1, b1, carry), static_cast<T>((a - b) >> (width - 1) >> 1), a1, b1);
    run.expect(carry, static_cast<std::uint32_t>(a < b), a0, a1, b0, b1);
  }
  run.finish(300000);
}

}  // namespace arithmetic_integer_test
