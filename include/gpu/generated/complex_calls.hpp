#pragma once
/// \file
/// `complex_calls`: finds out which headers with functions of complex numbers a program needs.

#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/string_ref.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The functions of `<gpu/device/complex_functions.cuh>`.
inline constexpr const char* functions_of_complex[] = {
    "exp",        "exp2", "expm1", "log",   "log2",  "log10", "log1p", "sqrt",
    "reciprocal", "sign", "sin",   "cos",   "tan",   "sinh",  "cosh",  "tanh",
    "asin",       "acos", "atan",  "asinh", "acosh", "atanh"};

/// Looks for identifiers in the texts of a program. In doubt it needs the headers, which costs the
/// compiler little.
class complex_calls {
 public:
  void note(string_ref code) noexcept {
    for (std::size_t at = 0; at < code.size();) {
      std::size_t end = at;
      while (end < code.size() && is_identifier_part(code[end])) ++end;
      if (end != at) note_identifier(code.substring(at, end - at), without_front(code, end));
      at = end + 1;
    }
  }
  /// Notes texts that are not known, such as macros: they may call anything.
  void note_unknown() noexcept { calls_functions_ = calls_power_ = true; }

  /// True if `<gpu/device/complex_functions.cuh>` is needed, and if
  /// `<gpu/device/complex_power.cuh>` is.
  bool functions() const noexcept { return has_complex_ && calls_functions_; }
  bool power() const noexcept { return has_complex_ && calls_power_; }

 private:
  void note_identifier(string_ref name, string_ref rest) noexcept {
    const bool includes = name == "include" && !starts_with(rest, " <gpu/");
    if (name == "complex" || (includes && !starts_with(rest, " <"))) has_complex_ = true;
    if (includes) note_unknown();
    if (name == "pow") note_unknown();
    for (const string_ref each : functions_of_complex) {
      if (name == each) calls_functions_ = true;
    }
  }

  bool has_complex_ = false, calls_functions_ = false, calls_power_ = false;
};

}}}  // namespace gpu::v1::detail
