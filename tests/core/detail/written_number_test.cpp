// Numbers in sentences: against strtod, and against what Python writes.

#include "support/catch.hpp"

#include <gpu/core/detail/written_number.hpp>  // IWYU pragma: keep
#include <gpu/core/text.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

namespace written_number_test { namespace {

template <class Number> std::string written(Number number) {
  gpu::detail::text_builder out;
  out << number;
  return out.finish().c_str();
}

TEST_CASE("numbers in sentences have the fewest digits that round-trip", "[text]") {
  CHECK(written(1.0) == "1");
  CHECK(written(1.0000001) == "1.0000001");
  CHECK(written(1.0000000000000002) == "1.0000000000000002");
  CHECK(written(0.1) == "0.1");
  CHECK(written(0.1 + 0.2) == "0.30000000000000004");
  CHECK(written(-2.5) == "-2.5");
  CHECK(written(100.0) == "100");
  CHECK(written(1234567.0) == "1234567");
  CHECK(written(100000.0) == "100000");
  CHECK(written(1e6) == "1e+06");
  CHECK(written(12345678912345678.0) == "12345678912345678");
  CHECK(written(1.5e15) == "1.5e+15");
  CHECK(written(0.0001) == "0.0001");
  CHECK(written(0.00012) == "0.00012");
  CHECK(written(0.00001) == "1e-05");
  CHECK(written(1.25e-7) == "1.25e-07");
  CHECK(written(5e-324) == "5e-324");
  CHECK(written(1.7976931348623157e308) == "1.7976931348623157e+308");
  CHECK(written(0.0) == "0");
  CHECK(written(-0.0) == "-0");
  CHECK(written(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(written(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(written(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(written(0.1f) == "0.1");
  CHECK(written(1.0000001f) == "1.0000001");
  CHECK(written(16777216.f) == "16777216");
  CHECK(written(1e-45f) == "1e-45");
}

TEST_CASE("numbers in sentences are the numbers", "[text]") {
  std::mt19937_64 random(3);
  for (int k = 0; k < 3000; ++k) {
    const auto number = __builtin_bit_cast(double, random());
    if (std::isnan(number)) continue;
    CAPTURE(number);
    CHECK(std::strtod(written(number).c_str(), nullptr) == number);
    const auto narrow = __builtin_bit_cast(float, static_cast<std::uint32_t>(random()));
    if (!std::isnan(narrow)) CHECK(std::strtof(written(narrow).c_str(), nullptr) == narrow);
  }
}

}}  // namespace written_number_test
