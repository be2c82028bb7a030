#include <nogpu/ptx/arithmetic/convert.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <nogpu/ptx/arithmetic/convert_packed.hpp>
#include "arithmetic_formats.hpp"
#include "arithmetic_values.hpp"
#include "support/catch.hpp"

namespace arithmetic_convert_test {

namespace ptx = nogpu::ptx;
using namespace arithmetic_test;

namespace {

using ptx::bf16;
using ptx::f16;

constexpr rounding rn = rounding::nearest_even, rz = rounding::toward_zero,
                   rm = rounding::toward_negative, rp = rounding::toward_positive;

__extension__ typedef __int128 wide;

template <class T> std::uint64_t raw(T v) {
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<std::uint32_t>(v);
  if constexpr (std::is_same_v<T, double>) return std::bit_cast<std::uint64_t>(v);
  if constexpr (std::is_integral_v<T>) return static_cast<std::uint64_t>(v);
  return 0;
}

/// The x87 format holds every float, double and 64-bit integer, and rounds as it is told.
long double integral(long double v, rounding mode) {
  switch (mode) {
    case rz: return std::trunc(v);
    case rm: return std::floor(v);
    case rp: return std::ceil(v);
    default: {
      const long double down = std::floor(v), rest = v - down;
      if (rest != 0.5L) return rest < 0.5L ? down : down + 1;
      return std::fmod(down, 2.0L) == 0 ? down : down + 1;
    }
  }
}

template <class To, class From> To expected_integer(From a, rounding mode) {
  constexpr int bits = sizeof(To) * 8;
  if (std::isnan(a)) {
    const bool zero = !std::is_same_v<From, double> && sizeof(To) < 8;
    return zero ? To{0} : static_cast<To>(std::uint64_t{1} << (bits - 1));
  }
  const long double v = integral(a, mode);
  const auto low = static_cast<long double>(std::numeric_limits<To>::min());
  const auto high = static_cast<long double>(std::numeric_limits<To>::max());
  return v <= low    ? std::numeric_limits<To>::min()
         : v >= high ? std::numeric_limits<To>::max()
                     : static_cast<To>(v);
}

template <class To, class From> void check_to_integer(comparison_run& run, From a) {
  run.expect(ptx::cvt<To, rn>(a), expected_integer<To>(a, rn), raw(a), 0);
  run.expect(ptx::cvt<To, rz>(a), expected_integer<To>(a, rz), raw(a), 1);
  run.expect(ptx::cvt<To, rm>(a), expected_integer<To>(a, rm), raw(a), 2);
  run.expect(ptx::cvt<To, rp>(a), expected_integer<To>(a, rp), raw(a), 3);
}

template <class From> void check_to_integers(comparison_run& run, From a) {
  check_to_integer<std::int8_t>(run, a);
  check_to_integer<std::uint8_t>(run, a);
  check_to_integer<std::int16_t>(run, a);
  check_to_integer<std::uint16_t>(run, a);
  check_to_integer<std::int32_t>(run, a);
  check_to_integer<std::uint32_t>(run, a);
  check_to_integer<std::int64_t>(run, a);
  check_to_integer<std::uint64_t>(run, a);
}

/// The processor converts, in its own rounding mode.
template <class To, class From> [[gnu::noinline]] To processor(From a, rounding mode) {
  volatile From from = a;
  volatile To to{};
  const processor_rounding guard(mode);
  to = static_cast<To>(from);
  return to;
}

template <class To, class From> void check_from_integer(comparison_run& run, From a) {
  // By way of the x87 format, exact for each integer: GCC's own conversion of unsigned 64-bit
  // integers is right in one rounding mode only.
  const auto exact = static_cast<long double>(a);
  run.expect(raw(ptx::cvt<To, rn>(a)), raw(processor<To>(exact, rn)), raw(a), 0);
  run.expect(raw(ptx::cvt<To, rz>(a)), raw(processor<To>(exact, rz)), raw(a), 1);
  run.expect(raw(ptx::cvt<To, rm>(a)), raw(processor<To>(exact, rm)), raw(a), 2);
  run.expect(raw(ptx::cvt<To, rp>(a)), raw(processor<To>(exact, rp)), raw(a), 3);
}

const small_format half_format(5, 10, true), bf16_format(8, 7, true), tf32_format(8, 10, true),
    e4m3_format(4, 3, false), e5m2_format(5, 2, true);

template <class H> const small_format& format_of() {
  return std::is_same_v<H, f16> ? half_format : bf16_format;
}

template <class H, rounding R, class From>
void check_half(comparison_run& run, From a, quad exact) {
  run.expect(
      static_cast<std::uint32_t>(ptx::cvt<H, R>(a).bits),
      format_of<H>().nearest(exact, R, exact == 0 && std::signbit(static_cast<double>(exact))),
      raw(a), static_cast<int>(R));
}

template <class H, class From> void check_half_modes(comparison_run& run, From a) {
  if constexpr (std::is_same_v<From, double>) {
    if (std::isnan(a)) {
      // Keeps what fits of its payload, as the processor's conversion to float does.
      const auto single = static_cast<std::uint32_t>(raw(processor<float>(a, rn)));
      const bool is_bf16 = std::is_same_v<H, bf16>;
      const std::uint32_t want =
          is_bf16 ? single >> 16 : (single >> 16 & 0x8000) | 0x7c00 | (single >> 13 & 0x3ff);
      run.expect(std::uint32_t{ptx::cvt<H, rz>(a).bits}, want, raw(a));
      return;
    }
  }
  const auto exact = static_cast<quad>(a);
  check_half<H, rn>(run, a, exact);
  check_half<H, rz>(run, a, exact);
  check_half<H, rm>(run, a, exact);
  check_half<H, rp>(run, a, exact);
}

template <class From, class F> void for_integers(F f) {
  for (const std::uint64_t v : special_integers()) f(static_cast<From>(v));
  random_bits random(77);
  for (int i = 0; i < 5000; ++i) {
    f(static_cast<From>(random() >> random() % 64));
    f(static_cast<From>(0 - (random() >> random() % 64)));
    // Near ties of 24 and of 53 bits.
    const std::uint64_t top = std::uint64_t{1} << 63 | (random() << 40 | std::uint64_t{1} << 39);
    f(static_cast<From>(top + random() % 3 - 1));
    f(static_cast<From>((random() << 11 | 0x400) + random() % 3 - 1));
  }
}

template <class F, class Visit> void for_floats(Visit visit) {
  random_bits random(78);
  if constexpr (sizeof(F) == 4) {
    for (const float a : special_floats()) visit(a);
    for (int i = 0; i < 30000; ++i) {
      visit(any_float(random));
      visit(close_float(random));
      visit(std::ldexp(close_float(random), static_cast<int>(random() % 70)));
    }
  } else {
    for (const double a : special_doubles()) visit(a);
    for (int i = 0; i < 30000; ++i) {
      visit(any_double(random));
      visit(std::ldexp(close_double(random), static_cast<int>(random() % 80)));
      visit(std::ldexp(close_double(random), -120 - static_cast<int>(random() % 30)));
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("integers truncate, extend and saturate", "[ptx][arithmetic]", std::int8_t,
                   std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
  using To = TestType;
  comparison_run run;
  const auto one = [&](auto a) {
    const wide v = a;
    const wide low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
    run.expect(ptx::cvt<To>(a), static_cast<To>(v), raw(a));
    run.expect((ptx::cvt<To, rounding::none, false, true>(a)),
               static_cast<To>(v < low    ? low
                               : v > high ? high
                                          : v),
               raw(a));
  };
  for_integers<std::uint64_t>([&](std::uint64_t v) {
    one(static_cast<std::int8_t>(v));
    one(static_cast<std::uint8_t>(v));
    one(static_cast<std::int16_t>(v));
    one(static_cast<std::uint16_t>(v));
    one(static_cast<std::int32_t>(v));
    one(static_cast<std::uint32_t>(v));
    one(static_cast<std::int64_t>(v));
    one(v);
  });
  run.finish(300000);
}

TEMPLATE_TEST_CASE("floats become integers: rounded, clamped, NaN by type", "[ptx][arithmetic]",
                   float, double) {
  comparison_run run;
  for_floats<TestType>([&](TestType a) { check_to_integers(run, a); });
  run.finish(2000000);
  CHECK(ptx::cvt<std::int32_t, rz>(std::numeric_limits<float>::quiet_NaN()) == 0);
  CHECK(ptx::cvt<std::uint32_t, rz>(std::numeric_limits<double>::quiet_NaN()) == 0x80000000);
  CHECK(ptx::cvt<std::uint8_t, rz>(std::numeric_limits<double>::quiet_NaN()) == 0x80);
  CHECK(ptx::cvt<std::int64_t, rz>(f16{0x7e00}) == std::numeric_limits<std::int64_t>::min());
  CHECK(ptx::cvt<std::int32_t, rp, true>(1e-40f) == 0);
  CHECK(ptx::cvt<std::int32_t, rp>(1e-40f) == 1);
}

TEST_CASE("every half becomes the integers that its value does", "[ptx][arithmetic]") {
  comparison_run run;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const f16 h{static_cast<std::uint16_t>(bits)};
    const bf16 b{static_cast<std::uint16_t>(bits)};
    const auto v = static_cast<float>(half_format.value(bits));
    const auto w = static_cast<float>(bf16_format.value(bits));
    run.expect(ptx::cvt<std::int32_t, rn>(h), expected_integer<std::int32_t>(v, rn), bits);
    run.expect(ptx::cvt<std::uint8_t, rp>(h), expected_integer<std::uint8_t>(v, rp), bits);
    run.expect(ptx::cvt<std::int64_t, rm>(b), expected_integer<std::int64_t>(w, rm), bits);
    run.expect(ptx::cvt<std::uint16_t, rz>(b), expected_integer<std::uint16_t>(w, rz), bits);
    const auto integral_code = [&](const small_format& f, float x, rounding mode) {
      return f.nearest(static_cast<double>(integral(x, mode)), rn, std::signbit(x));
    };
    if (std::isfinite(v)) {
      run.expect(std::uint32_t{ptx::round_to_integer<rn>(h).bits},
                 integral_code(half_format, v, rn), bits);
      run.expect(std::uint32_t{ptx::round_to_integer<rm>(h).bits},
                 integral_code(half_format, v, rm), bits);
    }
    if (std::isfinite(w)) {
      run.expect(std::uint32_t{ptx::round_to_integer<rp>(b).bits},
                 integral_code(bf16_format, w, rp), bits);
    }
    run.expect(raw(ptx::cvt<float>(h)), std::uint64_t{bits_of(v)}, bits);
    run.expect(raw(ptx::cvt<float>(b)), std::uint64_t{bits} << 16, bits);
    run.expect(raw(ptx::cvt<float, rounding::none, false, true>(h)),
               raw(std::isnan(v) || v <= 0 ? 0.0f
                   : v > 1                 ? 1.0f
                                           : v),
               bits);
    if (!std::isnan(v)) run.expect(raw(ptx::cvt<double>(h)), raw(double{v}), bits);
    run.expect(std::uint32_t{ptx::cvt<bf16, rz>(h).bits},
               bf16_format.nearest(double{v}, rz, std::signbit(v)), bits);
    run.expect(std::uint32_t{ptx::cvt<f16, rp>(b).bits},
               half_format.nearest(double{w}, rp, std::signbit(w)), bits);
  }
  run.finish(600000);
}

TEMPLATE_TEST_CASE("integers become floats in every rounding mode", "[ptx][arithmetic]",
                   std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  using From = TestType;
  comparison_run run;
  for_integers<From>([&](From a) {
    check_from_integer<float>(run, a);
    check_from_integer<double>(run, a);
    check_half_modes<f16>(run, a);
    check_half_modes<bf16>(run, a);
  });
  run.finish(300000);
}

TEST_CASE("floats become narrower floats in every rounding mode", "[ptx][arithmetic]") {
  comparison_run run;
  const auto narrow = [&](double a) {
    const auto one = [&](float got, rounding mode) {
      run.expect(raw(got), raw(processor<float>(a, mode)), raw(a), static_cast<int>(mode));
    };
    one(ptx::cvt<float, rn>(a), rn);
    one(ptx::cvt<float, rz>(a), rz);
    one(ptx::cvt<float, rm>(a), rm);
    one(ptx::cvt<float, rp>(a), rp);
    const auto with_flush = [&] {
      [[maybe_unused]] const processor_flush flush;
      return processor<float>(a, rn);
    };
    if constexpr (processor_flush::is_oracle) {
      run.expect(std::uint64_t{bits_of(ptx::cvt<float, rn, true>(a))},
                 std::uint64_t{bits_of(with_flush())}, raw(a));
    }
    check_half_modes<f16>(run, a);
    check_half_modes<bf16>(run, a);
  };
  for_floats<double>(narrow);
  for_floats<float>([&](float a) {
    narrow(a);
    check_half_modes<f16>(run, a);
    check_half_modes<bf16>(run, a);
  });
  run.finish(3000000);
}

TEMPLATE_TEST_CASE("floats are rounded to integers in their own type", "[ptx][arithmetic]", float,
                   double) {
  using F = TestType;
  comparison_run run;
  for_floats<F>([&](F a) {
    if (std::isnan(a)) return;
    const auto one = [&](F got, rounding mode) {
      run.expect(raw(got), raw(std::copysign(static_cast<F>(integral(a, mode)), a)), raw(a),
                 static_cast<int>(mode));
    };
    if (!std::isinf(a)) {
      one(ptx::round_to_integer<rn>(a), rn);
      one(ptx::round_to_integer<rz>(a), rz);
      one(ptx::round_to_integer<rm>(a), rm);
      one(ptx::round_to_integer<rp>(a), rp);
    } else {
      run.expect(raw(ptx::round_to_integer<rn>(a)), raw(a), raw(a));
    }
  });
  run.finish(300000);
  CHECK(raw(ptx::round_to_integer<rn>(std::bit_cast<float>(0xff800001u))) == 0x7fffffff);
  CHECK(raw(ptx::round_to_integer<rp, true>(1e-40f)) == 0);
  CHECK(raw(ptx::round_to_integer<rp, false, true>(7.5f)) == raw(1.0f));
}

TEST_CASE("f32 widens to f64 exactly, and saturates", "[ptx][arithmetic]") {
  comparison_run run;
  for_floats<float>([&](float a) {
    if (std::isnan(a)) return;
    run.expect(raw(ptx::cvt<double>(a)), raw(processor<double>(a, rn)), raw(a));
    run.expect(raw(ptx::cvt<double, rounding::none, false, true>(a)),
               raw(a <= 0  ? 0.0
                   : a > 1 ? 1.0
                           : double{a}),
               raw(a));
    const float zero = std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a;
    run.expect(raw(ptx::cvt<double, rounding::none, true>(a)), raw(double{zero}), raw(a));
  });
  run.finish(200000);
}

TEST_CASE("packed conversions rectify, stay finite and keep their places", "[ptx][arithmetic]") {
  comparison_run run;
  random_bits random(80);
  std::vector<float> operands = special_floats();
  for (int i = 0; i < 30000; ++i) {
    operands.push_back(any_float(random));
    operands.push_back(std::ldexp(close_float(random), static_cast<int>(random() % 20) - 10));
  }
  for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
    const float a = operands[i], b = operands[i + 1];
    const auto code = [](const small_format& f, float v, rounding mode, bool relu, bool finite) {
      if (relu && v <= 0) v = 0.0f;
      return f.nearest(double{v}, mode, std::signbit(v), finite);
    };
    run.expect(
        ptx::cvt_to_half_x2<f16, rn>(a, b),
        code(half_format, a, rn, false, false) << 16 | code(half_format, b, rn, false, false),
        raw(a), raw(b));
    run.expect((ptx::cvt_to_half_x2<bf16, rz, true, true>(a, b)),
               code(bf16_format, a, rz, true, true) << 16 | code(bf16_format, b, rz, true, true),
               raw(a), raw(b));
    run.expect(std::uint32_t{ptx::cvt_to_half<f16, rn, false, true>(a).bits},
               code(half_format, a, rn, false, true), raw(a));
    const auto tf32 = [&](rounding mode, bool relu, bool finite) {
      const bool plain = mode == rounding::nearest_away;
      const auto nan = plain ? static_cast<std::uint32_t>(raw(a) & 0xffffe000) : 0x7fffe000u;
      return std::isnan(a) ? nan : code(tf32_format, a, mode, relu, finite) << 13;
    };
    run.expect(ptx::cvt_to_tf32<rounding::nearest_away>(a),
               tf32(rounding::nearest_away, false, false), raw(a));
    // An H200 takes the infinity that is left for the end of the finite numbers, of NaNs too.
    const std::uint32_t limited = std::isnan(a)
                                      ? tf32(rounding::nearest_away, false, false) - 0x2000
                                      : tf32(rounding::nearest_away, false, true);
    run.expect((ptx::cvt_to_tf32<rounding::nearest_away, false, true>(a)), limited, raw(a));
    run.expect(ptx::cvt_to_tf32<rn, true>(a), tf32(rn, true, false), raw(a));
    run.expect(ptx::cvt_to_tf32<rz, false, true>(a), tf32(rz, false, true), raw(a));
    const auto bytes = [](std::uint32_t high, std::uint32_t low) {
      return static_cast<std::uint16_t>(high << 8 | low);
    };
    run.expect(ptx::cvt_to_f8_x2<ptx::e4m3>(a, b),
               bytes(std::isnan(a) ? 0x7f : code(e4m3_format, a, rn, false, true),
                     std::isnan(b) ? 0x7f : code(e4m3_format, b, rn, false, true)),
               raw(a), raw(b));
    run.expect(ptx::cvt_to_f8_x2<ptx::e5m2, true>(a, b),
               bytes(code(e5m2_format, a, rn, true, true), code(e5m2_format, b, rn, true, true)),
               raw(a), raw(b));
  }
  run.finish(400000);
  CHECK(ptx::cvt_to_f8_x2<ptx::e4m3>(448.0f, -1e9f) == 0x7efe);
  CHECK(ptx::cvt_to_f8_x2<ptx::e5m2>(57344.0f, 1.0f) == 0x7b3c);
  CHECK(ptx::cvt_to_f8_x2<ptx::e4m3>(0x3c00bc00u) == 0x38b8);
}

TEST_CASE("every byte of the 8-bit formats widens to the f16 of its value", "[ptx][arithmetic]") {
  comparison_run run;
  for (std::uint32_t bits = 0; bits < 256; ++bits) {
    const double v = e4m3_format.value(bits), w = e5m2_format.value(bits);
    const auto a = static_cast<std::uint16_t>(bits << 8 | 0x38);  // 1 in e4m3
    run.expect(ptx::cvt_f8_x2_to_f16_x2<ptx::e4m3>(a),
               half_format.nearest(v, rn, std::signbit(v)) << 16 | 0x3c00, bits);
    run.expect(ptx::cvt_f8_x2_to_f16_x2<ptx::e5m2>(static_cast<std::uint16_t>(bits)),
               half_format.nearest(w, rn, std::signbit(w)), bits);
    run.expect(ptx::cvt_f8_x2_to_f16_x2<ptx::e5m2, true>(static_cast<std::uint16_t>(bits)),
               w <= 0 ? 0 : half_format.nearest(w, rn, false), bits);
  }
  run.finish(768);
}

TEST_CASE("cvt.pack saturates and shifts the third operand up", "[ptx][arithmetic]") {
  CHECK(ptx::cvt_pack<std::int16_t>(-40000, 40000) == 0x80007fff);
  CHECK(ptx::cvt_pack<std::uint16_t>(-1, 70000) == 0x0000ffff);
  CHECK(ptx::cvt_pack<8, false>(300, -1, 0xabcd1234) == 0x1234ff00);
  CHECK(ptx::cvt_pack<8, true>(-300, 127, 0xabcd1234) == 0x1234807f);
  CHECK(ptx::cvt_pack<4, false>(20, 3, 0x01020304) == 0x020304f3);
  CHECK(ptx::cvt_pack<4, true>(-9, 8, 0) == 0x87);
  CHECK(ptx::cvt_pack<2, true>(1, -2, 0xff) == 0xff6);
  CHECK(ptx::cvt_pack<2, false>(5, 2, 0) == 0xe);
}

}  // namespace arithmetic_convert_test
