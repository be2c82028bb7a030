// Numbers by their bits, against the processor's arithmetic and CUDA's conversions.

#include "support/catch.hpp"

#include <gpu/core/detail/ieee_number.hpp>

#include <cuda_fp16.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace ieee_number_test { namespace {

using gpu::detail::ieee_number;

/// Numbers of all sizes, halfway between floats and beside, and the ends of the formats.
std::vector<double> many_numbers() {
  std::vector<double> made;
  for (const double each :
       {0.0, 1.0, 0x1p-1074, 0x1p-1022, 0x1p-149, 0x1p-150, 0x1.8p-149, 0x1p-126, 0x1p-24, 0x1p-25,
        0x1p-14, 65504.0, 65519.0, 65520.0, 0x1.fffffep127, 0x1.fffffefp127, 0x1.ffffffp127,
        std::numeric_limits<double>::max(), HUGE_VAL}) {
    for (const double beside : {each, std::nextafter(each, 0.0), std::nextafter(each, HUGE_VAL)}) {
      made.push_back(beside);
      made.push_back(-beside);
    }
  }
  std::mt19937_64 engine(5);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t word = engine();
    const double any = std::bit_cast<double>(word);
    if (!std::isnan(any)) made.push_back(any);
    const auto exponent = static_cast<int>(word % 60) - 40;
    const auto digits = static_cast<double>(word >> 52 | 1);
    made.push_back(std::ldexp(digits, exponent));  // few digits: often halfway
    made.push_back(-std::ldexp(digits, exponent - 120));
  }
  return made;
}

TEST_CASE("numbers are rounded to formats as the processor and CUDA round them", "[ieee_number]") {
  std::size_t wrong = 0;
  for (const double each : many_numbers()) {
    const ieee_number number = each;
    const auto single = static_cast<float>(each);
    const __half_raw half = __double2half(each);
    const bool right =
        number.to_bits(gpu::detail::float64_format) == std::bit_cast<std::uint64_t>(each) &&
        number.to_bits(gpu::detail::float32_format) == std::bit_cast<std::uint32_t>(single) &&
        number.to_bits(gpu::detail::half_format) == half.x &&
        std::bit_cast<std::uint64_t>(ieee_number(single).value()) ==
            std::bit_cast<std::uint64_t>(static_cast<double>(single)) &&
        number.is_finite() == std::isfinite(each) && !number.is_nan() &&
        number.is_negative() == std::signbit(each);
    CAPTURE(each);
    if (!right && ++wrong < 5) CHECK(right);
  }
  CHECK(wrong == 0);
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const __half half(__half_raw{static_cast<unsigned short>(bits)});
    const ieee_number number = ieee_number::from_bits(bits, gpu::detail::half_format);
    const bool is_nan = (bits & 0x7fff) > 0x7c00;
    if (number.is_nan() != is_nan ||
        (!is_nan && number.value() != static_cast<double>(__half2float(half)))) {
      ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("numbers are compared as the processor compares them", "[ieee_number]") {
  std::vector<double> some = many_numbers();
  some.resize(300);
  some.push_back(std::numeric_limits<double>::quiet_NaN());
  some.push_back(-std::numeric_limits<double>::quiet_NaN());
  std::size_t wrong = 0;
  for (const double a : some) {
    for (const double b : some) {
      const ieee_number x = a, y = b;
      const bool right = (x < y) == (a < b) && (x <= y) == (a <= b) && (x > y) == (a > b) &&
                         (x >= y) == (a >= b) && (x == y) == (a == b) && (x != y) == (a != b);
      if (!right) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("NaN stays NaN, and quiet, in every format", "[ieee_number]") {
  const auto nan = ieee_number::from_bits(0xff800001, gpu::detail::float32_format);
  CHECK((nan.is_nan() && nan.is_negative() && !nan.is_finite()));
  CHECK(nan.to_bits(gpu::detail::float32_format) == 0xffc00001);
  CHECK(nan.to_bits(gpu::detail::half_format) == 0xfe00);
  CHECK(nan.rounded_to(gpu::detail::bfloat16_format).is_nan());
}

}}  // namespace ieee_number_test
