#pragma once
/// \file
/// How far results of the approximate kernels may lie from the recorded ones: the error that the
/// documents allow, and where they do, plus two units of the last place. Two devices that keep to
/// the documents can differ by twice the error; the CPU driver rounds correctly, or nearly so.

#include <cstddef>
#include <string_view>

namespace corpus {

/// What a result is; halves are widened to f32, and of `upper_f64` the low word is zero.
enum class result_format { f16, bf16, f32, upper_f64, f64 };

/// The largest of the three bounds holds.
struct error_bound {
  double ulps = 0;      ///< units of the last place
  double relative = 0;  ///< to the recorded result
  double absolute = 0;
};

struct documented_error {
  std::string_view kernel;
  std::size_t first, step;  ///< of which results: number first, first + step, ...
  result_format format;
  error_bound bound;
  std::string_view source;
};

/// ISA: Parallel Thread Execution ISA 9.0, chapter "Floating-Point Instructions" or "Half Precision
/// Floating-Point Instructions", the notes of the instruction. Guide: CUDA C++ Programming Guide
/// 13.0, appendix "Mathematical Functions", the tables of maximum errors.
inline constexpr documented_error documented_errors[] = {
    {"approximate_reciprocal", 0, 1, result_format::f32, {.ulps = 1}, "ISA, rcp: 1 ulp"},
    {"approximate_reciprocal_flushed", 0, 1, result_format::f32, {.ulps = 1}, "ISA, rcp: 1 ulp"},
    {"approximate_reciprocal_root",
     0,
     1,
     result_format::f32,
     {.relative = 0x1.12p-23},
     "ISA, rsqrt: relative 2^-22.9"},
    {"approximate_reciprocal_root_flushed",
     0,
     1,
     result_format::f32,
     {.relative = 0x1.12p-23},
     "ISA, rsqrt: relative 2^-22.9"},
    {"approximate_root",
     0,
     1,
     result_format::f32,
     {.relative = 0x1p-23},
     "ISA, sqrt: relative 2^-23"},
    {"approximate_root_flushed",
     0,
     1,
     result_format::f32,
     {.relative = 0x1p-23},
     "ISA, sqrt: relative 2^-23"},
    {"approximate_power_of_two", 0, 1, result_format::f32, {.ulps = 2}, "ISA, ex2: 2 ulp"},
    {"approximate_power_of_two_flushed", 0, 1, result_format::f32, {.ulps = 2}, "ISA, ex2: 2 ulp"},
    {"approximate_logarithm",
     0,
     1,
     result_format::f32,
     {.relative = 0x1p-22, .absolute = 0x1p-22},
     "ISA, lg2: absolute 2^-22 of operands in (0.5, 2), relative 2^-22 of others"},
    {"approximate_logarithm_flushed",
     0,
     1,
     result_format::f32,
     {.relative = 0x1p-22, .absolute = 0x1p-22},
     "ISA, lg2: absolute 2^-22 of operands in (0.5, 2), relative 2^-22 of others"},
    {"approximate_sine",
     0,
     1,
     result_format::f32,
     {.absolute = 0x1.6a09p-21},
     "ISA, sin: absolute 2^-20.5 in [-2 pi, 2 pi]"},
    {"approximate_cosine",
     0,
     1,
     result_format::f32,
     {.absolute = 0x1.6a09p-21},
     "ISA, cos: absolute 2^-20.5 in [-2 pi, 2 pi]"},
    {"approximate_tangent_of_hyperbola",
     0,
     1,
     result_format::f32,
     {.relative = 0x1p-11},
     "ISA, tanh: relative 2^-11"},
    {"approximate_division", 0, 2, result_format::f32, {.ulps = 2}, "ISA, div.full: 2 ulp"},
    {"approximate_division",
     1,
     2,
     result_format::f32,
     {.ulps = 2},
     "ISA, div.approx: 2 ulp for divisors in [2^-126, 2^126]"},
    {"approximate_f64",
     0,
     2,
     result_format::upper_f64,
     {},
     "ISA, rcp.approx.ftz.f64: a result in format 1.11.20, no error is stated"},
    {"approximate_f64",
     1,
     2,
     result_format::upper_f64,
     {},
     "ISA, rsqrt.approx.ftz.f64: a result in format 1.11.20, no error is stated"},
    {"approximate_halves",
     0,
     2,
     result_format::f16,
     {.relative = 0x1.125p-10},
     "ISA, ex2 of half precision: relative 2^-9.9"},
    {"approximate_halves",
     1,
     2,
     result_format::f16,
     {.absolute = 0x1.025p-11},
     "ISA, tanh of half precision: absolute 2^-10.987"},
    {"approximate_bf16",
     0,
     2,
     result_format::bf16,
     {.relative = 0x1p-7},
     "ISA, ex2 of half precision: relative 2^-7 for bf16"},
    {"approximate_bf16",
     1,
     2,
     result_format::bf16,
     {.absolute = 0x1p-8},
     "ISA, tanh of half precision: absolute 2^-8 for bf16"},
    {"function_exp", 0, 1, result_format::f32, {.ulps = 2}, "Guide, expf: 2 ulp"},
    {"function_log", 0, 1, result_format::f32, {.ulps = 1}, "Guide, logf: 1 ulp"},
    {"function_sin", 0, 1, result_format::f32, {.ulps = 2}, "Guide, sinf: 2 ulp"},
    {"function_cos", 0, 1, result_format::f32, {.ulps = 2}, "Guide, cosf: 2 ulp"},
    {"function_tanh", 0, 1, result_format::f32, {.ulps = 2}, "Guide, tanhf: 2 ulp"},
    {"function_pow", 0, 1, result_format::f32, {.ulps = 4}, "Guide, powf: 4 ulp"},
    {"function_erf", 0, 1, result_format::f32, {.ulps = 2}, "Guide, erff: 2 ulp"},
    {"function_cbrt", 0, 1, result_format::f32, {.ulps = 1}, "Guide, cbrtf: 1 ulp"},
    {"function_exp_64", 0, 1, result_format::f64, {.ulps = 1}, "Guide, exp: 1 ulp"},
    {"function_log_64", 0, 1, result_format::f64, {.ulps = 1}, "Guide, log: 1 ulp"},
    {"function_sin_64", 0, 1, result_format::f64, {.ulps = 1}, "Guide 11, sin: 1 ulp"},
    {"function_atan_64", 0, 1, result_format::f64, {.ulps = 2}, "Guide, atan: 2 ulp"},
    {"bodies",
     0,
     1,
     result_format::f32,
     {.absolute = 4.2e-6},
     "ISA, rsqrt: relative 2^-22.9, three times in each of 32 terms of at most 0.193, which are "
     "rounded five times each: 32 * 0.193 * (3 * 2^-22.9 + 5 * 2^-24)"},
};

}  // namespace corpus
