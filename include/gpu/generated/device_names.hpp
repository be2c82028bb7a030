#pragma once
/// \file
/// Names of CUDA's own that a kernel cannot have, because both would have C linkage.

#include <gpu/core/string_ref.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns whether CUDA declares a function, a variable or a type of this name in device code. The
/// keywords of C++ are not among them.
constexpr bool is_device_name(string_ref name) noexcept {
  // Each of these functions is there for float as well, with an f at the end.
  constexpr string_ref functions[] = {
      "acos",       "acosh",     "asin",          "asinh",        "atan",
      "atan2",      "atanh",     "cbrt",          "ceil",         "copysign",
      "cos",        "cosh",      "cospi",         "erf",          "erfc",
      "erfcinv",    "erfcx",     "erfinv",        "exp",          "exp10",
      "exp2",       "expm1",     "fabs",          "fdim",         "fdivide",
      "floor",      "fma",       "fmax",          "fmin",         "fmod",
      "frexp",      "hypot",     "ilogb",         "j0",           "j1",
      "jn",         "ldexp",     "lgamma",        "llrint",       "llround",
      "log",        "log10",     "log1p",         "log2",         "logb",
      "lrint",      "lround",    "modf",          "nan",          "nearbyint",
      "norm",       "nextafter", "norm3d",        "norm4d",       "normcdf",
      "normcdfinv", "pow",       "rcbrt",         "remquo",       "remainder",
      "rhypot",     "rint",      "rnorm",         "rnorm3d",      "rnorm4d",
      "round",      "rsqrt",     "scalbln",       "scalbn",       "sin",
      "sincos",     "sincospi",  "sinh",          "sinpi",        "sqrt",
      "tan",        "tanh",      "tgamma",        "trunc",        "y0",
      "y1",         "yn",        "cyl_bessel_i0", "cyl_bessel_i1"};
  constexpr string_ref others[] = {
      "NULL",   "abs",     "assert", "blockDim", "blockIdx", "clock64", "dim3",
      "free",   "gridDim", "labs",   "llabs",    "llmax",    "llmin",   "main",
      "malloc", "max",     "min",    "printf",   "size_t",   "std",     "threadIdx",
      "ullmax", "ullmin",  "umax",   "umin",     "warpSize"};
  for (const string_ref each : others) {
    if (name == each) return true;
  }
  const bool has_f = !name.empty() && name[name.size() - 1] == 'f';
  const string_ref stem = has_f ? name.substring(0, name.size() - 1) : name;
  for (const string_ref each : functions) {
    if (name == each || stem == each) return true;
  }
  return false;
}

}}}  // namespace gpu::v1::detail
