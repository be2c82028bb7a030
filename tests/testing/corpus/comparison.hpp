#pragma once
/// \file
/// How close results have to be: `exact`, or for approximate functions `ulp32:K` and `ulp64:K` (at
/// most K units of the last place), `abs32:X`, `rel32:X` and `rel64:X` (absolute and relative
/// error), and `close32:X` (either of them, whichever is larger).

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace corpus {
namespace detail {

/// A number whose order is that of the floats with these bits, both zeros alike.
template <class Bits> std::int64_t ordered(Bits bits) {
  constexpr Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & static_cast<Bits>(~sign));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

template <class Bits, class Float>
bool agree(Bits actual, Bits expected, const std::string& measure, double tolerance) {
  const auto a = static_cast<double>(std::bit_cast<Float>(actual));
  const auto e = static_cast<double>(std::bit_cast<Float>(expected));
  if (std::isnan(a) || std::isnan(e)) return std::isnan(a) && std::isnan(e);
  if (actual == expected) return true;
  if (measure == "ulp") {
    const double distance =
        std::abs(static_cast<double>(ordered(actual)) - static_cast<double>(ordered(expected)));
    return distance <= tolerance;
  }
  const double error = std::abs(a - e);
  if (measure == "abs") return error <= tolerance;
  if (measure == "rel") return error <= tolerance * std::abs(e);
  return measure == "close" && error <= tolerance * std::fmax(1, std::abs(e));
}

}  // namespace detail

/// The words that differ, described in a line each (the first few), or an empty string.
inline std::string differences(const std::vector<std::uint32_t>& actual,
                               const std::vector<std::uint32_t>& expected,
                               const std::string& compare) {
  if (actual.size() != expected.size()) {
    return std::to_string(actual.size()) + " words instead of " + std::to_string(expected.size());
  }
  const std::size_t colon = compare.find(':');
  const std::string kind = compare.substr(0, colon);
  const bool exact = kind == "exact", wide = kind.size() > 2 && kind.ends_with("64");
  const std::string measure = exact ? kind : kind.substr(0, kind.size() - 2);
  const double tolerance = exact ? 0 : std::stod(compare.substr(colon + 1));

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
    if (wide && k + 1 < actual.size()) {
      const std::uint64_t a = actual[k] | std::uint64_t{actual[k + 1]} << 32;
      const std::uint64_t e = expected[k] | std::uint64_t{expected[k + 1]} << 32;
      if (!detail::agree<std::uint64_t, double>(a, e, measure, tolerance)) note(k, a, e, 16);
    } else if (exact ? actual[k] != expected[k]
                     : !detail::agree<std::uint32_t, float>(actual[k], expected[k], measure,
                                                            tolerance)) {
      note(k, actual[k], expected[k], 8);
    }
  }
  if (count > 6) description += "and " + std::to_string(count - 6) + " more\n";
  return description;
}

}  // namespace corpus
