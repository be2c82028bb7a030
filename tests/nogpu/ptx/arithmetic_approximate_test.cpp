#include <nogpu/ptx/arithmetic/approximate.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "arithmetic_values.hpp"
#include "support/catch.hpp"

namespace arithmetic_approximate_test {

namespace ptx = nogpu::ptx;
using namespace arithmetic_test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float subnormal = 0x1p-140f;

std::uint32_t raw(float a) { return std::bit_cast<std::uint32_t>(a); }

/// The error in units of the last place of the result, as the PTX manual counts it.
double ulps(float got, long double exact) {
  if (std::isinf(got)) return std::fabs(exact) >= 0x1.ffffffp127L ? 0.0 : 1e9;
  int exponent = 0;
  std::frexp(exact, &exponent);
  if (exponent < -125) exponent = -125;
  return static_cast<double>(std::fabs(got - exact) / std::ldexp(1.0L, exponent - 24));
}

/// Calls f with random floats of every size, finite and not zero.
template <class F> void for_floats(F f) {
  random_bits random(90);
  for (int i = 0; i < 100000; ++i) {
    const float a = any_float(random);
    if (std::isfinite(a) && a != 0) f(a);
    f(close_float(random));
  }
}

}  // namespace

TEST_CASE("approximations stay within the documented errors", "[ptx][arithmetic]") {
  double rcp = 0, sqrt = 0, rsqrt = 0, div = 0, full = 0, ex2 = 0, lg2 = 0, sin = 0, cos = 0,
         tanh = 0;
  const auto raise = [](double& worst, double error) { worst = error > worst ? error : worst; };
  float previous = 1.0f;
  for_floats([&](float a) {
    const long double x = a;
    raise(rcp, ulps(ptx::rcp_approx(a), 1 / x));
    if (a > 0) {
      raise(sqrt, std::fabs(static_cast<double>(ptx::sqrt_approx(a) / std::sqrt(x) - 1)));
      raise(rsqrt, std::fabs(static_cast<double>(ptx::rsqrt_approx(a) * std::sqrt(x) - 1)));
      const long double logarithm = std::log2(x);
      const long double error = std::fabs(ptx::lg2_approx(a) - logarithm);
      raise(lg2, static_cast<double>(x > 0.5L && x < 2 ? error : error / std::fabs(logarithm)));
    }
    if (std::fabs(previous) >= 0x1p-126f && std::fabs(previous) <= 0x1p126f) {
      raise(div, ulps(ptx::div_approx(a, previous), x / previous));
    }
    raise(full, ulps(ptx::div_full(a, previous), x / previous));
    if (std::fabs(a) < 126) {
      raise(ex2, std::fabs(static_cast<double>(ptx::ex2_approx(a) / std::exp2(x) - 1)));
    }
    if (std::fabs(a) <= 3.14159f) {
      raise(sin, std::fabs(static_cast<double>(ptx::sin_approx(a) - std::sin(x))));
      raise(cos, std::fabs(static_cast<double>(ptx::cos_approx(a) - std::cos(x))));
    }
    if (std::fabs(a) > 0x1p-126f) {
      raise(tanh, std::fabs(static_cast<double>(ptx::tanh_approx(a) / std::tanh(x) - 1)));
    }
    previous = a;
  });
  CHECK(rcp <= 1.0);          // 1 ulp
  CHECK(sqrt <= 0x1p-23);     // relative error
  CHECK(rsqrt <= 0x1.5p-23);  // 2^-22.9
  CHECK(div <= 2.0);          // 2 ulp
  CHECK(full <= 2.0);         // 2 ulp
  CHECK(ex2 <= 0x1p-22);      // 2^-22.5 to 2^-22
  CHECK(lg2 <= 0x1p-22);      // 2^-22
  CHECK(sin <= 0x1p-20);      // absolute, 2^-20.5
  CHECK(cos <= 0x1p-20);      // absolute, 2^-20.5
  CHECK(tanh <= 0x1.02p-11);  // 2^-10.987
  CHECK(lg2 > 0);
}

TEST_CASE("approximations have the documented results for special operands", "[ptx][arithmetic]") {
  // rcp
  CHECK(raw(ptx::rcp_approx(0.0f)) == raw(infinity));
  CHECK(raw(ptx::rcp_approx(-0.0f)) == raw(-infinity));
  CHECK(raw(ptx::rcp_approx(-infinity)) == raw(-0.0f));
  CHECK(raw(ptx::rcp_approx<true>(-subnormal)) == raw(-infinity));
  CHECK(raw(ptx::rcp_approx<true>(-0x1p127f)) == raw(-0.0f));
  CHECK(ptx::rcp_approx(0x1p127f) == 0x1p-127f);
  CHECK(raw(ptx::rcp_approx(-quiet_nan)) == 0x7fffffff);
  // sqrt
  CHECK(raw(ptx::sqrt_approx(-0.0f)) == raw(-0.0f));
  CHECK(raw(ptx::sqrt_approx<true>(-subnormal)) == raw(-0.0f));
  CHECK(raw(ptx::sqrt_approx(-1.0f)) == 0x7fffffff);
  CHECK(ptx::sqrt_approx(infinity) == infinity);
  // rsqrt
  CHECK(raw(ptx::rsqrt_approx(-0.0f)) == raw(-infinity));
  CHECK(raw(ptx::rsqrt_approx(0.0f)) == raw(infinity));
  CHECK(raw(ptx::rsqrt_approx<true>(-subnormal)) == raw(-infinity));
  CHECK(raw(ptx::rsqrt_approx(infinity)) == raw(0.0f));
  CHECK(raw(ptx::rsqrt_approx(-1.0f)) == 0x7fffffff);
  // div: a huge divisor has the reciprocal 0
  CHECK(raw(ptx::div_approx(1.0f, -0x1p127f)) == raw(-0.0f));
  CHECK(raw(ptx::div_approx(infinity, 0x1p127f)) == 0x7fffffff);
  CHECK(ptx::div_approx(0x1p126f, 0x1p126f) == 1.0f);
  CHECK(raw(ptx::div_approx<true>(1.0f, -subnormal)) == raw(-infinity));
  CHECK(ptx::div_full(0x1p127f, 0x1p127f) == 1.0f);
  CHECK(raw(ptx::div_full<true>(subnormal, 1.0f)) == raw(0.0f));
  // ex2
  CHECK(raw(ptx::ex2_approx(-infinity)) == raw(0.0f));
  CHECK(ptx::ex2_approx(infinity) == infinity);
  CHECK(ptx::ex2_approx<true>(-subnormal) == 1.0f);
  CHECK(ptx::ex2_approx(-140.0f) == subnormal);
  CHECK(raw(ptx::ex2_approx<true>(-140.0f)) == raw(0.0f));
  // lg2
  CHECK(ptx::lg2_approx(-0.0f) == -infinity);
  CHECK(ptx::lg2_approx(subnormal) == -140.0f);
  CHECK(ptx::lg2_approx<true>(subnormal) == -infinity);
  CHECK(raw(ptx::lg2_approx(-1.0f)) == 0x7fffffff);
  // sin, cos
  CHECK(raw(ptx::sin_approx(-0.0f)) == raw(-0.0f));
  CHECK(raw(ptx::sin_approx(-subnormal)) == raw(-0.0f));
  CHECK(ptx::cos_approx(subnormal) == 1.0f);
  CHECK(raw(ptx::sin_approx(infinity)) == 0x7fffffff);
  CHECK(raw(ptx::cos_approx(-infinity)) == 0x7fffffff);
  // tanh
  CHECK(ptx::tanh_approx(-infinity) == -1.0f);
  CHECK(raw(ptx::tanh_approx(-0.0f)) == raw(-0.0f));
  CHECK(raw(ptx::tanh_approx(quiet_nan)) == 0x7fffffff);
}

TEST_CASE("the gross f64 approximations use and fill the upper word", "[ptx][arithmetic]") {
  const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v); };
  random_bits random(91);
  comparison_run run;
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const double a = any_double(random);
    if (!std::isfinite(a) || std::fabs(a) < 0x1p-1000 || std::fabs(a) > 0x1p1000) continue;
    const double upper = std::bit_cast<double>(bits(a) >> 32 << 32);
    const double reciprocal = ptx::rcp_approx_ftz(a);
    run.expect(bits(reciprocal) & 0xffffffff, std::uint64_t{0}, bits(a));
    run.expect(bits(reciprocal), bits(ptx::rcp_approx_ftz(upper)), bits(a));
    worst = std::fmax(worst, std::fabs(reciprocal * upper - 1));
    const double root = ptx::rsqrt_approx_ftz(std::fabs(a));
    run.expect(bits(root) & 0xffffffff, std::uint64_t{0}, bits(a));
    worst = std::fmax(worst, std::fabs(root * root * std::fabs(upper) - 1) / 2);
    CHECK(std::fabs(ptx::rsqrt_approx(std::fabs(a)) * std::sqrt(std::fabs(a)) - 1) < 0x1p-50);
  }
  run.finish(100000);
  CHECK(worst < 0x1p-19);  // 20 bits of mantissa
  CHECK(bits(ptx::rcp_approx_ftz(-0x1p-1060)) == bits(-std::numeric_limits<double>::infinity()));
  CHECK(bits(ptx::rcp_approx_ftz(0x1p1023)) == 0);
  // The upper word is that of an infinity; an H200 looks no further.
  CHECK(bits(ptx::rcp_approx_ftz(std::bit_cast<double>(0x7ff0000000000001ull))) == 0);
  CHECK(bits(ptx::rcp_approx_ftz(std::bit_cast<double>(0x7ff8000000000000ull))) ==
        0x7fffffff00000000);
  CHECK(bits(ptx::rsqrt_approx_ftz(-0.0)) == bits(-std::numeric_limits<double>::infinity()));
  CHECK(bits(ptx::rsqrt_approx_ftz(-1.0)) == 0x7fffffff00000000);
}

}  // namespace arithmetic_approximate_test
