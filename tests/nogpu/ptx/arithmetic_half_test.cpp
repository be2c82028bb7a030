#include <nogpu/ptx/arithmetic/half.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

#include "arithmetic_formats.hpp"
#include "arithmetic_values.hpp"
#include "support/catch.hpp"

namespace arithmetic_half_test {

namespace ptx = nogpu::ptx;
using namespace arithmetic_test;

namespace {

using ptx::bf16;
using ptx::f16;

template <class H> const small_format& format_of() {
  static const small_format f =
      std::is_same_v<H, f16> ? small_format{5, 10, true} : small_format{8, 7, true};
  return f;
}

template <class H> double value(H a) { return format_of<H>().value(a.bits); }

template <class H> std::uint16_t rounded(quad exact, bool negative_zero) {
  return static_cast<std::uint16_t>(
      format_of<H>().nearest(exact, rounding::nearest_even, negative_zero));
}

template <class H> std::vector<H> special_halves() {
  std::vector<H> values;
  const unsigned infinity = std::is_same_v<H, f16> ? 0x7c00u : 0x7f80u;
  const unsigned one = std::is_same_v<H, f16> ? 0x3c00u : 0x3f80u;
  const unsigned normal = std::is_same_v<H, f16> ? 0x0400u : 0x0080u;
  for (const unsigned bits :
       {0u, 1u, 2u, normal - 1, normal, normal + 1, one - 1, one, one + 1, one + normal,
        infinity - 1, infinity - 2, infinity, infinity + 1, 0x7fffu}) {
    values.push_back(H{static_cast<std::uint16_t>(bits)});
    values.push_back(H{static_cast<std::uint16_t>(bits | 0x8000)});
  }
  return values;
}

/// f(a, b, c) for special and random operands.
template <class H, class F> void for_triples(F f) {
  const auto special = special_halves<H>();
  for (const H a : special) {
    for (const H b : special) {
      for (const H c : special) f(a, b, c);
    }
  }
  random_bits random(16);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t r = random();
    const H a{static_cast<std::uint16_t>(r)}, b{static_cast<std::uint16_t>(r >> 16)};
    f(a, b, H{static_cast<std::uint16_t>(r >> 32)});
    // A sum whose middle bits decide: c near the product.
    f(a, b, ptx::mul(ptx::neg(a), b));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("half arithmetic rounds the exact result once", "[ptx][arithmetic]", f16, bf16) {
  using H = TestType;
  comparison_run run;
  for_triples<H>([&](H a, H b, H c) {
    const double x = value(a), y = value(b), z = value(c);
    // 113 bits hold each sum and product of f16; where bf16 exponents differ too much for that,
    // `inexact_sum` keeps the side of the middle that the exact sum is on.
    const auto one = [&](H got, quad exact, bool negative_zero) {
      run.expect(got.bits, rounded<H>(exact, negative_zero), a.bits, b.bits, c.bits);
    };
    const bool sx = std::signbit(x), sy = std::signbit(y), sz = std::signbit(z);
    one(ptx::add(a, b), inexact_sum(x, y), sx && sy);
    one(ptx::sub(a, b), inexact_sum(x, -y), sx && !sy);
    one(ptx::mul(a, b), static_cast<quad>(x) * y, sx != sy);
    one(ptx::fma(a, b, c), inexact_sum(static_cast<quad>(x) * y, z), (sx != sy) && sz);
  });
  run.finish(800000);
}

TEMPLATE_TEST_CASE("half arithmetic flushes, saturates and rectifies", "[ptx][arithmetic]", f16,
                   bf16) {
  using H = TestType;
  comparison_run run;
  const unsigned infinity = std::is_same_v<H, f16> ? 0x7c00u : 0x7f80u;
  const H one_half{static_cast<std::uint16_t>(std::is_same_v<H, f16> ? 0x3c00 : 0x3f80)};
  const auto flushed = [&](H h) {
    return (h.bits & infinity) == 0 ? H{static_cast<std::uint16_t>(h.bits & 0x8000)} : h;
  };
  const double least = std::is_same_v<H, f16> ? 0x1p-14 - 0x1p-26 : 0x1p-126 - 0x1p-135;
  const auto kept = [&](H rounded, quad exact) {
    const bool tiny = exact < least && exact > -least;
    return tiny ? H{static_cast<std::uint16_t>(rounded.bits & 0x8000)} : rounded;
  };
  const auto saturated = [&](H h) {
    const double v = value(h);
    return std::isnan(v) || v <= 0 ? H{0} : v > 1 ? one_half : h;
  };
  const auto rectified = [&](H h) { return value(h) <= 0 ? H{0} : h; };
  for_triples<H>([&](H a, H b, H c) {
    const auto one = [&](H got, H want) {
      run.expect(got.bits, want.bits, a.bits, b.bits, c.bits);
    };
    const H x = flushed(a), y = flushed(b), z = flushed(c);
    one(ptx::add<true>(a, b), kept(ptx::add(x, y), inexact_sum(value(x), value(y))));
    one(ptx::mul<true>(a, b), kept(ptx::mul(x, y), static_cast<quad>(value(x)) * value(y)));
    one(ptx::fma<true>(a, b, c),
        kept(ptx::fma(x, y, z), inexact_sum(static_cast<quad>(value(x)) * value(y), value(z))));
    one(ptx::sub<false, true>(a, b), saturated(ptx::sub(a, b)));
    one(ptx::fma<false, true>(a, b, c), saturated(ptx::fma(a, b, c)));
    one(ptx::fma<false, false, true>(a, b, c), rectified(ptx::fma(a, b, c)));
  });
  run.finish(1000000);
}

TEMPLATE_TEST_CASE("half min, max, comparison, sign", "[ptx][arithmetic]", f16, bf16) {
  using H = TestType;
  comparison_run run;
  for_triples<H>([&](H a, H b, H) {
    const double x = value(a), y = value(b);
    const H nan{0x7fff};
    const auto want = [&](bool max, bool nan_wins) {
      if (std::isnan(x) || std::isnan(y)) {
        if (nan_wins || (std::isnan(x) && std::isnan(y))) return nan;
        return std::isnan(x) ? b : a;
      }
      const bool a_less = x < y || (x == y && std::signbit(x));
      return a_less != max ? a : b;
    };
    const auto one = [&](H got, H wanted) { run.expect(got.bits, wanted.bits, a.bits, b.bits); };
    one(ptx::min(a, b), want(false, false));
    one(ptx::max(a, b), want(true, false));
    one(ptx::min<false, true>(a, b), want(false, true));
    one(ptx::max<false, true>(a, b), want(true, true));
    if (!std::isnan(x) && !std::isnan(y)) {
      const H smaller = std::fabs(x) < std::fabs(y) ? a : b;
      const auto sign = static_cast<std::uint16_t>((a.bits ^ b.bits) & 0x8000);
      one(ptx::min<false, false, true>(a, b),
          H{static_cast<std::uint16_t>((smaller.bits & 0x7fff) | sign)});
    }
    run.expect(ptx::compare<ptx::comparison::lt>(a, b), x < y, a.bits, b.bits);
    run.expect(ptx::compare<ptx::comparison::geu>(a, b), !(x < y), a.bits, b.bits);
    run.expect(ptx::compare<ptx::comparison::nan>(a, b), std::isnan(x) || std::isnan(y), a.bits);
    one(ptx::neg(a), std::isnan(x) ? nan : H{static_cast<std::uint16_t>(a.bits ^ 0x8000)});
    one(ptx::abs(a), std::isnan(x) ? nan : H{static_cast<std::uint16_t>(a.bits & 0x7fff)});
  });
  run.finish(1000000);
}

TEMPLATE_TEST_CASE("every half means the number that its bits spell", "[ptx][arithmetic]", f16,
                   bf16) {
  using H = TestType;
  comparison_run run;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const H h{static_cast<std::uint16_t>(bits)};
    run.expect(bits_of(ptx::to_float(h)), bits_of(static_cast<float>(value(h))), bits);
  }
  run.finish(65536);
}

TEST_CASE("packed halves do not touch each other", "[ptx][arithmetic]") {
  const auto sum = [](f16 x, f16 y) { return ptx::add(x, y); };
  CHECK(ptx::apply_x2<f16>(sum, 0x3c00bc00u, 0x40003c00u) == 0x42000000u);
  const auto fused = [](bf16 x, bf16 y, bf16 z) { return ptx::fma(x, y, z); };
  CHECK(ptx::apply_x2<bf16>(fused, 0x40003f80u, 0x40003f80u, 0x3f80ffffu) == 0x40a07fffu);
}

}  // namespace arithmetic_half_test
