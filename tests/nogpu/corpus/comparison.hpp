#pragma once
/// \file
/// How close results have to be to the recorded ones: `exact`, or `documented`, which is what
/// documented_errors.hpp says about the kernel.

#include "documented_errors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace corpus {
namespace detail {

/// The distance of `value` from its neighbours in a format.
inline double ulp(double value, result_format format) {
  struct parameters {
    int precision, least_exponent;
  };
  const parameters p = format == result_format::f32 ? parameters{24, -126} : parameters{53, -1022};
  const int exponent = value == 0 ? p.least_exponent : std::ilogb(value);
  return std::ldexp(1, std::max(exponent, p.least_exponent) - (p.precision - 1));
}

inline bool agree(double actual, double expected, const documented_error& about) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) == std::isnan(expected);
  if (actual == expected) return true;
  if (about.format == result_format::f32) {  // infinity follows the largest number
    if (std::isinf(actual)) actual = std::copysign(0x1p128, actual);
    if (std::isinf(expected)) expected = std::copysign(0x1p128, expected);
  }
  const double unit = std::fmax(ulp(actual, about.format), ulp(expected, about.format));
  return std::fabs(actual - expected) <= (about.ulps + 2) * unit;
}

/// What the documents say about the results of a kernel, or null.
inline const documented_error* find_documented(std::string_view kernel) {
  for (const documented_error& about : documented_errors) {
    if (about.kernel == kernel) return &about;
  }
  return nullptr;
}

}  // namespace detail

/// The words that differ, described in a line each (the first few), or an empty string. `compare`
/// is that of the kernel.
inline std::string differences(const std::vector<std::uint32_t>& actual,
                               const std::vector<std::uint32_t>& expected,
                               const std::string& compare, std::string_view kernel = {}) {
  if (actual.size() != expected.size()) {
    return std::to_string(actual.size()) + " words instead of " + std::to_string(expected.size());
  }
  const bool exact = compare == "exact";
  const documented_error* const about = exact ? nullptr : detail::find_documented(kernel);
  if (!exact && about == nullptr) return "no documented error";
  const bool wide = about != nullptr && about->format == result_format::f64;

  std::string description;
  std::size_t count = 0;
  const auto note = [&](std::size_t at, unsigned long long a, unsigned long long e, int digits) {
    if (++count > 6) return;
    char line[96];
    std::snprintf(line, sizeof line, "word %zu: %0*llx instead of %0*llx\n", at, digits, a, digits,
                  e);
    description += line;
  };
  for (std::size_t k = 0; k < actual.size(); k += wide ? 2 : 1) {
    if (about == nullptr) {
      if (actual[k] != expected[k]) note(k, actual[k], expected[k], 8);
    } else if (!wide) {
      const auto a = static_cast<double>(std::bit_cast<float>(actual[k]));
      const auto e = static_cast<double>(std::bit_cast<float>(expected[k]));
      if (!detail::agree(a, e, *about)) note(k, actual[k], expected[k], 8);
    } else if (k + 1 < actual.size()) {
      const std::uint64_t a = actual[k] | std::uint64_t{actual[k + 1]} << 32;
      const std::uint64_t e = expected[k] | std::uint64_t{expected[k + 1]} << 32;
      if (!detail::agree(std::bit_cast<double>(a), std::bit_cast<double>(e), *about)) {
        note(k, a, e, 16);
      }
    }
  }
  if (count > 6) description += "and " + std::to_string(count - 6) + " more\n";
  return description;
}

}  // namespace corpus
