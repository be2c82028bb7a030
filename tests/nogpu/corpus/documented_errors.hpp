#pragma once
/// \file
/// How far results of functions of the language may lie from the recorded ones: the errors that the
/// documents allow, plus two units of the last place. The toolkit that compiles the corpus brings
/// the code of these functions, and another one may compute them otherwise; with CUDA 13.0, which
/// made the recordings, the results are the same.

#include <string_view>

namespace corpus {

enum class result_format { f32, f64 };

struct documented_error {
  std::string_view kernel;
  result_format format;
  double ulps;  ///< units of the last place
  std::string_view source;
};

/// Guide: CUDA C++ Programming Guide 13.0, appendix "Mathematical Functions", the tables of maximum
/// errors.
inline constexpr documented_error documented_errors[] = {
    {"function_exp", result_format::f32, 2, "Guide, expf: 2 ulp"},
    {"function_log", result_format::f32, 1, "Guide, logf: 1 ulp"},
    {"function_sin", result_format::f32, 2, "Guide, sinf: 2 ulp"},
    {"function_cos", result_format::f32, 2, "Guide, cosf: 2 ulp"},
    {"function_tanh", result_format::f32, 2, "Guide, tanhf: 2 ulp"},
    {"function_pow", result_format::f32, 4, "Guide, powf: 4 ulp"},
    {"function_erf", result_format::f32, 2, "Guide, erff: 2 ulp"},
    {"function_cbrt", result_format::f32, 1, "Guide, cbrtf: 1 ulp"},
    {"function_exp_64", result_format::f64, 1, "Guide, exp: 1 ulp"},
    {"function_log_64", result_format::f64, 1, "Guide, log: 1 ulp"},
    {"function_sin_64", result_format::f64, 1, "Guide 11, sin: 1 ulp"},
    {"function_atan_64", result_format::f64, 2, "Guide, atan: 2 ulp"},
};

}  // namespace corpus
