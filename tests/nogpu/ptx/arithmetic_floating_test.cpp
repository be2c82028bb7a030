#include <nogpu/ptx/arithmetic/floating.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "arithmetic_values.hpp"
#include "support/catch.hpp"

namespace arithmetic_floating_test {

namespace ptx = nogpu::ptx;
using namespace arithmetic_test;

namespace {

constexpr rounding modes[] = {rounding::nearest_even, rounding::toward_zero,
                              rounding::toward_negative, rounding::toward_positive};

enum class op { add, sub, mul, div, fma, sqrt };

/// What the processor computes in the mode that is set; fma comes from the C library.
template <class F>
[[gnu::noinline]] F processor(op o, volatile const F& a, volatile const F& b, volatile const F& c) {
  volatile F result{};
  switch (o) {
    case op::add: result = a + b; break;
    case op::sub: result = a - b; break;
    case op::mul: result = a * b; break;
    case op::div: result = a / b; break;
    case op::fma: result = std::fma(a, b, c); break;
    case op::sqrt: result = std::sqrt(a); break;
  }
  return result;
}

/// With the documented NaN: canonical for float; for double the second, third or first operand, of
/// a quotient the first or second, the first of these that is one, made quiet.
template <class F> F expected(op o, rounding r, F a, F b, F c) {
  volatile F va = a, vb = b, vc = c;
  F result{};
  {
    const processor_rounding mode(r);
    result = processor<F>(o, va, vb, vc);
  }
  if constexpr (sizeof(F) == 8) {
    if (result != result) {
      const auto quiet = [](double v) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(v) | 0x8000000000000ull);
      };
      const bool uses_b = o != op::sqrt, uses_c = o == op::fma;
      if (o == op::div && std::isnan(a)) return quiet(a);
      if (uses_b && std::isnan(b)) return quiet(b);
      if (uses_c && std::isnan(c)) return quiet(c);
      if (std::isnan(a)) return quiet(a);
      return std::bit_cast<double>(0xfff8000000000000ull);
    }
  }
  return result;
}

template <rounding R, class F> void check_all(comparison_run& run, F a, F b, F c) {
  const auto bits = [](F v) {
    return std::bit_cast<std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>>(v);
  };
  const auto one = [&](F got, op o, F x, F y, F z) {
    run.expect(bits(got), static_cast<decltype(bits(got))>(bits_of(expected(o, R, x, y, z))),
               static_cast<int>(o), static_cast<int>(R), bits(x), bits(y), bits(z));
  };
  one(ptx::add<R>(a, b), op::add, a, b, c);
  one(ptx::sub<R>(a, b), op::sub, a, b, c);
  one(ptx::mul<R>(a, b), op::mul, a, b, c);
  one(ptx::div<R>(a, b), op::div, a, b, c);
  one(ptx::fma<R>(a, b, c), op::fma, a, b, c);
  one(ptx::sqrt<R>(a), op::sqrt, a, b, c);
  one(ptx::rcp<R>(a), op::div, F{1}, a, c);
}

template <class F> void check_modes(comparison_run& run, F a, F b, F c) {
  check_all<rounding::nearest_even>(run, a, b, c);
  check_all<rounding::toward_zero>(run, a, b, c);
  check_all<rounding::toward_negative>(run, a, b, c);
  check_all<rounding::toward_positive>(run, a, b, c);
}

float expected_flushed(op o, rounding r, float a, float b, float c) {
  volatile float va = a, vb = b, vc = c;
  const processor_rounding mode(r);
  [[maybe_unused]] const processor_flush flush;
  volatile float result = processor<float>(o, va, vb, vc);
  return result;
}

float flushed(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }
float saturated(float a) { return std::isnan(a) || a <= 0 ? 0.0f : a > 1 ? 1.0f : a; }

}  // namespace

TEST_CASE("the oracle rounds in the mode it is told", "[ptx][arithmetic]") {
  volatile float one = 1.0f, three = 3.0f;
  std::uint32_t results[4]{};
  for (int i = 0; i < 4; ++i) {
    const processor_rounding mode(modes[i]);
    volatile float quotient = one / three;
    results[i] = std::bit_cast<std::uint32_t>(static_cast<float>(quotient));
  }
  CHECK(results[0] == 0x3eaaaaab);
  CHECK(results[1] == 0x3eaaaaaa);
  CHECK(results[2] == 0x3eaaaaaa);
  CHECK(results[3] == 0x3eaaaaab);
}

TEST_CASE("f32 arithmetic of special operands is the processor's, in every rounding mode",
          "[ptx][arithmetic]") {
  comparison_run run;
  const auto special = special_floats();
  for (const float a : special) {
    for (const float b : special) {
      for (const float c :
           {0.0f, -0.0f, a, -a, b, 1.0f, std::bit_cast<float>(1u), -0x1p127f,
            std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        check_modes(run, a, b, c);
      }
    }
  }
  run.finish(2000000);
}

TEST_CASE("f32 arithmetic of random operands is the processor's, in every rounding mode",
          "[ptx][arithmetic]") {
  comparison_run run;
  random_bits random(32);
  for (int i = 0; i < 60000; ++i) {
    check_modes(run, any_float(random), any_float(random), any_float(random));
    const float a = close_float(random), b = close_float(random);
    check_modes(run, a, b, close_float(random));
    // Near cancellation, and near the middle of two floats: where double rounding goes wrong.
    check_modes(run, a, b, -(a * b));
    check_modes(run, a, b, a * b * 0x1p24f);
    check_modes(run, std::ldexp(a, -130), b, std::ldexp(close_float(random), -130));
  }
  run.finish(8000000);
}

TEST_CASE("f64 arithmetic of special operands is the processor's, in every rounding mode",
          "[ptx][arithmetic]") {
  comparison_run run;
  const auto special = special_doubles();
  for (const double a : special) {
    for (const double b : special) {
      for (const double c : {0.0, -0.0, a, -b, 1.0, std::bit_cast<double>(1ull), -0x1p1023,
                             std::numeric_limits<double>::infinity(),
                             std::bit_cast<double>(0xfff0000000000123ull)}) {
        check_modes(run, a, b, c);
      }
    }
  }
  run.finish(2000000);
}

TEST_CASE("f64 arithmetic of random operands is the processor's, in every rounding mode",
          "[ptx][arithmetic]") {
  comparison_run run;
  random_bits random(64);
  for (int i = 0; i < 20000; ++i) {
    check_modes(run, any_double(random), any_double(random), any_double(random));
    const double a = close_double(random), b = close_double(random);
    check_modes(run, a, b, close_double(random));
    check_modes(run, a, b, -(a * b));
    check_modes(run, a, b, a * b * 0x1p53);
    check_modes(run, std::ldexp(a, -1030), b, std::ldexp(close_double(random), -1030));
    check_modes(run, a, std::ldexp(b, -1060), std::ldexp(close_double(random), -1060));
  }
  run.finish(3000000);
}

TEST_CASE("ftz makes subnormal operands and results zeros, sat limits to [0, 1]",
          "[ptx][arithmetic]") {
  if constexpr (!processor_flush::is_oracle) return;
  comparison_run run;
  constexpr auto rn = rounding::nearest_even, rz = rounding::toward_zero;
  const auto check = [&](float a, float b, float c) {
    const float x = flushed(a), y = flushed(b), z = flushed(c);
    const auto one = [&](float got, float want) {
      run.expect(std::bit_cast<std::uint32_t>(got), bits_of(want), std::bit_cast<std::uint32_t>(a),
                 std::bit_cast<std::uint32_t>(b), std::bit_cast<std::uint32_t>(c));
    };
    one(ptx::add<rn, true>(a, b), expected_flushed(op::add, rn, x, y, z));
    one(ptx::sub<rz, true>(a, b), expected_flushed(op::sub, rz, x, y, z));
    one(ptx::mul<rn, true>(a, b), expected_flushed(op::mul, rn, x, y, z));
    one(ptx::mul<rz, true>(a, b), expected_flushed(op::mul, rz, x, y, z));
    one(ptx::div<rn, true>(a, b), expected_flushed(op::div, rn, x, y, z));
    one(ptx::rcp<rz, true>(a), expected_flushed(op::div, rz, 1.0f, x, z));
    one(ptx::sqrt<rn, true>(a), expected_flushed(op::sqrt, rn, x, y, z));
    one(ptx::fma<rn, true>(a, b, c), expected_flushed(op::fma, rn, x, y, z));
    one(ptx::fma<rn, false, true>(a, b, c), saturated(expected(op::fma, rn, a, b, c)));
    one(ptx::add<rz, false, true>(a, b), saturated(expected(op::add, rz, a, b, c)));
    one(ptx::sub<rn, true, true>(a, b), saturated(expected_flushed(op::sub, rn, x, y, z)));
    one(ptx::mul<rn, false, true>(a, b), saturated(expected(op::mul, rn, a, b, c)));
  };
  // Exactly 2^-126 (1 - 2^-24) is flushed, 2^-126 (1 - 2^-26) rounds up to 2^-126.
  check(std::bit_cast<float>(0x00ffffffu), 0.5f, -0.0f);
  check(std::bit_cast<float>(0x20000400u), std::bit_cast<float>(0x1ffff800u), 0.0f);
  const auto special = special_floats();
  for (const float a : special) {
    for (const float b : special) {
      for (const float c : special) check(a, b, c);
    }
  }
  random_bits random(7);
  for (int i = 0; i < 50000; ++i) {
    const float a = any_float(random), b = any_float(random);
    check(a, b, any_float(random));
    check(std::ldexp(close_float(random), -126), close_float(random), a);
  }
  run.finish(8000000);
}

TEMPLATE_TEST_CASE("min and max prefer numbers to NaN and know the sign of zero",
                   "[ptx][arithmetic]", float, double) {
  using F = TestType;
  comparison_run run;
  const F canonical = sizeof(F) == 4 ? static_cast<F>(std::bit_cast<float>(0x7fffffffu))
                                     : static_cast<F>(std::bit_cast<double>(0xfff8000000000000ull));
  const auto less = [](F a, F b) {
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  };
  const auto want = [&](F a, F b, bool max, bool nan_wins) {
    if (std::isnan(a) && std::isnan(b)) return canonical;
    if (std::isnan(a)) return nan_wins ? canonical : b;
    if (std::isnan(b)) return nan_wins ? canonical : a;
    return less(a, b) != max ? a : b;
  };
  const auto want_xor = [&](F a, F b, bool max, bool nan_wins) {
    const F result = want(std::fabs(a), std::fabs(b), max, nan_wins);
    if (std::isnan(result)) return result;
    return std::copysign(result, std::signbit(a) != std::signbit(b) ? F{-1} : F{1});
  };
  std::vector<F> special;
  if constexpr (sizeof(F) == 4) {
    special = special_floats();
  } else {
    special = special_doubles();
  }
  for (const F a : special) {
    for (const F b : special) {
      const auto one = [&](F got, F wanted) {
        if constexpr (sizeof(F) == 8) {
          if (std::isnan(wanted)) {
            run.expect(std::isnan(got), true, bits_of(a), bits_of(b));
            return;
          }
        }
        if (std::isnan(wanted)) wanted = canonical;
        run.expect(bits_of(got), bits_of(wanted), bits_of(a), bits_of(b));
        if (std::isnan(got)) run.expect(std::signbit(got), false, bits_of(a), bits_of(b));
      };
      one(ptx::min(a, b), want(a, b, false, false));
      one(ptx::max(a, b), want(a, b, true, false));
      one(ptx::min<false, true>(a, b), want(a, b, false, true));
      one(ptx::max<false, true>(a, b), want(a, b, true, true));
      one(ptx::min<false, false, true>(a, b), want_xor(a, b, false, false));
      one(ptx::max<false, false, true>(a, b), want_xor(a, b, true, false));
      one(ptx::max<false, true, true>(a, b), want_xor(a, b, true, true));
      if constexpr (sizeof(F) == 8) {
        if (std::isnan(a) && std::isnan(b)) {
          const std::uint64_t quiet = bits_of(b) | 0x8000000000000;
          run.expect(bits_of(ptx::min(a, b)), quiet, bits_of(a), bits_of(b));
          run.expect(bits_of(ptx::max(a, b)), quiet, bits_of(a), bits_of(b));
        }
      }
      if constexpr (sizeof(F) == 4) {
        one(ptx::min<true>(a, b), want(flushed(a), flushed(b), false, false));
        one(ptx::max<true, true>(a, b), want(flushed(a), flushed(b), true, true));
      }
    }
  }
  run.finish(40000);
}

TEMPLATE_TEST_CASE("comparisons are those of IEEE, ordered and unordered", "[ptx][arithmetic]",
                   float, double) {
  using F = TestType;
  using enum ptx::comparison;
  comparison_run run;
  std::vector<F> special;
  if constexpr (sizeof(F) == 4) {
    special = special_floats();
  } else {
    special = special_doubles();
  }
  for (const F a : special) {
    for (const F b : special) {
      const bool unordered = std::isunordered(a, b);
      const bool equal = !std::islessgreater(a, b) && !unordered;
      const bool less = std::isless(a, b), greater = std::isgreater(a, b);
      const auto one = [&](bool got, bool want) { run.expect(got, want, bits_of(a), bits_of(b)); };
      one(ptx::compare<eq>(a, b), equal);
      one(ptx::compare<ne>(a, b), less || greater);
      one(ptx::compare<lt>(a, b), less);
      one(ptx::compare<le>(a, b), less || equal);
      one(ptx::compare<gt>(a, b), greater);
      one(ptx::compare<ge>(a, b), greater || equal);
      one(ptx::compare<equ>(a, b), equal || unordered);
      one(ptx::compare<neu>(a, b), !equal);
      one(ptx::compare<ltu>(a, b), less || unordered);
      one(ptx::compare<leu>(a, b), !greater);
      one(ptx::compare<gtu>(a, b), greater || unordered);
      one(ptx::compare<geu>(a, b), !less);
      one(ptx::compare<num>(a, b), !unordered);
      one(ptx::compare<nan>(a, b), unordered);
      if constexpr (sizeof(F) == 4) {
        one(ptx::compare<eq, true>(a, b), flushed(a) == flushed(b));
        one(ptx::compare<ltu, true>(a, b), !(flushed(a) >= flushed(b)));
      }
    }
  }
  run.finish(100000);
}

TEST_CASE("integer comparisons obey the signedness of type and operator", "[ptx][arithmetic]") {
  using enum ptx::comparison;
  comparison_run run;
  for (const std::uint64_t x : special_integers()) {
    for (const std::uint64_t y : special_integers()) {
      const auto a = static_cast<std::int32_t>(x), b = static_cast<std::int32_t>(y);
      const auto ua = static_cast<std::uint32_t>(x), ub = static_cast<std::uint32_t>(y);
      run.expect(ptx::compare<lt>(a, b), std::int64_t{a} < b, a, b);
      run.expect(ptx::compare<lt>(ua, ub), std::int64_t{ua} < std::int64_t{ub}, a, b);
      run.expect(ptx::compare<lo>(a, b), ua < ub, a, b);
      run.expect(ptx::compare<ls>(a, b), ua <= ub, a, b);
      run.expect(ptx::compare<hi>(ua, ub), ua > ub, a, b);
      run.expect(ptx::compare<hs>(a, b), ua >= ub, a, b);
      run.expect(ptx::compare<eq>(a, b), ua == ub, a, b);
      run.expect(ptx::compare<ne>(a, b), ua != ub, a, b);
      run.expect(ptx::compare<ge>(x, y), x >= y, x, y);
    }
  }
  run.finish(50000);
}

TEMPLATE_TEST_CASE("signs and classes of floating numbers", "[ptx][arithmetic]", float, double) {
  using F = TestType;
  using enum ptx::float_class;
  comparison_run run;
  std::vector<F> special;
  if constexpr (sizeof(F) == 4) {
    special = special_floats();
  } else {
    special = special_doubles();
  }
  for (const F a : special) {
    const auto raw = [](F v) {
      return std::bit_cast<std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>>(v);
    };
    using bits = decltype(raw(a));
    // Of a NaN: the canonical one of f32, in f64 the same, quiet.
    const bits nan = sizeof(F) == 4 ? static_cast<bits>(0x7fffffff)
                                    : static_cast<bits>(raw(a) | bits{1} << (sizeof(F) * 8 - 13));
    run.expect(raw(ptx::neg(a)), a != a ? nan : static_cast<bits>(raw(a) ^ raw(F(-0.0))), raw(a));
    run.expect(raw(ptx::abs(a)), a != a ? nan : static_cast<bits>(raw(a) & ~raw(F(-0.0))), raw(a));
    for (const F b : special) {
      run.expect(raw(ptx::copysign(a, b)), raw(std::copysign(b, a)), raw(a), raw(b));
    }
    const int kind = std::fpclassify(a);
    run.expect(ptx::testp<finite>(a), bool(std::isfinite(a)), raw(a));
    run.expect(ptx::testp<infinite>(a), kind == FP_INFINITE, raw(a));
    run.expect(ptx::testp<number>(a), kind != FP_NAN, raw(a));
    run.expect(ptx::testp<not_a_number>(a), kind == FP_NAN, raw(a));
    run.expect(ptx::testp<normal>(a), kind == FP_NORMAL || kind == FP_ZERO, raw(a));
    run.expect(ptx::testp<subnormal>(a), kind == FP_SUBNORMAL, raw(a));
  }
  run.finish(8000);
  CHECK(ptx::slct(1, 2, -0.0f) == 1);
  CHECK(ptx::slct(1, 2, std::numeric_limits<float>::quiet_NaN()) == 2);
  CHECK(ptx::slct(1, 2, -1e-40f) == 2);
  CHECK(ptx::slct<true>(1, 2, -1e-40f) == 1);
  CHECK(std::bit_cast<std::uint32_t>(ptx::abs<true>(-1e-40f)) == 0);
  CHECK(std::bit_cast<std::uint32_t>(ptx::neg<true>(1e-40f)) == 0x80000000);
}

TEST_CASE("a product followed by a sum is rounded twice", "[ptx][arithmetic]") {
  // (1 + 2^-23)(1 - 2^-23) = 1 - 2^-46 rounds to 1; fused, the difference to 1 would survive.
  volatile float a = 1.0f + 0x1p-23f, b = 1.0f - 0x1p-23f;
  CHECK(ptx::add(ptx::mul(a, b), -1.0f) == 0.0f);
  CHECK(ptx::fma(a, b, -1.0f) == -0x1p-46f);
  volatile double c = 1.0 + 0x1p-52, d = 1.0 - 0x1p-52;
  CHECK(ptx::add(ptx::mul(c, d), -1.0) == 0.0);
  CHECK(ptx::fma(c, d, -1.0) == -0x1p-104);
}

}  // namespace arithmetic_floating_test
