#pragma once
/// \file
/// Numbers and names as text, the same in every locale.

#include <gpu/core/text.hpp>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns a number with so many significant digits, or with as many as it takes to read it back.
inline std::string number_text(double value, int digits = 0) {
  char out[64];
  const auto end =
      digits > 0 ? std::to_chars(out, out + sizeof out, value, std::chars_format::general, digits)
                 : std::to_chars(out, out + sizeof out, value);
  return std::string(out, end.ptr);
}

/// Returns a number with so many digits behind the point.
inline std::string fixed_text(double value, int digits) {
  char out[400];
  const auto end = std::to_chars(out, out + sizeof out, value, std::chars_format::fixed, digits);
  return std::string(out, end.ptr);
}

/// Returns a time with its unit, such as `12.34 us`.
inline std::string time_text(double seconds) {
  constexpr struct {
    double seconds;
    const char* name;
  } units[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}};
  for (const auto& unit : units) {
    if (seconds < unit.seconds && unit.seconds > 1e-9) continue;
    const double value = seconds / unit.seconds;
    return fixed_text(value, value >= 100 ? 1 : value >= 10 ? 2 : 3) + unit.name;
  }
  return {};
}

/// Returns a string of JSON with its quotes. (Bytes that are not ASCII are passed on.)
inline std::string json_text(std::string_view characters) {
  std::string out = "\"";
  for (const char c : characters) {
    if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

inline std::string_view view_of(const text& characters) {
  return {characters.data(), characters.size()};
}

}}}  // namespace gpu::v1::detail
