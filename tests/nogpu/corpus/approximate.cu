// The approximate instructions, bit for bit, and the functions of the language, whose code may
// change with the toolkit: within two units of the last place of the errors in
// documented_errors.hpp.
#include "corpus.cuh"

#define EACH(...)                                       \
  const float x = __uint_as_float(in[global_thread()]); \
  float d;                                              \
  asm(__VA_ARGS__ : "=f"(d) : "f"(x));                  \
  out[global_thread()] = __float_as_uint(d)

//! approximate_reciprocal grid=2 block=64 in=128 out=128 input=f32 compare=exact
KERNEL(approximate_reciprocal) { EACH("rcp.approx.f32 %0, %1;"); }
//! approximate_reciprocal_flushed grid=2 block=64 in=128 out=128 input=f32 compare=exact
KERNEL(approximate_reciprocal_flushed) { EACH("rcp.approx.ftz.f32 %0, %1;"); }
//! approximate_reciprocal_root grid=2 block=64 in=128 out=128 input=f32 compare=exact
KERNEL(approximate_reciprocal_root) { EACH("rsqrt.approx.f32 %0, %1;"); }
//! approximate_reciprocal_root_flushed grid=2 block=64 in=128 out=128 input=f32 compare=exact
KERNEL(approximate_reciprocal_root_flushed) { EACH("rsqrt.approx.ftz.f32 %0, %1;"); }
//! approximate_root grid=2 block=64 in=128 out=128 input=f32 compare=exact
KERNEL(approximate_root) { EACH("sqrt.approx.f32 %0, %1;"); }
//! approximate_root_flushed grid=2 block=64 in=128 out=128 input=f32 compare=exact
KERNEL(approximate_root_flushed) { EACH("sqrt.approx.ftz.f32 %0, %1;"); }
//! approximate_power_of_two grid=2 block=64 in=128 out=128 input=exponent compare=exact
KERNEL(approximate_power_of_two) { EACH("ex2.approx.f32 %0, %1;"); }
//! approximate_power_of_two_flushed grid=2 block=64 in=128 out=128 input=exponent compare=exact
KERNEL(approximate_power_of_two_flushed) { EACH("ex2.approx.ftz.f32 %0, %1;"); }
//! approximate_logarithm grid=2 block=64 in=128 out=128 input=f32 compare=exact
KERNEL(approximate_logarithm) { EACH("lg2.approx.f32 %0, %1;"); }
//! approximate_logarithm_flushed grid=2 block=64 in=128 out=128 input=f32 compare=exact
KERNEL(approximate_logarithm_flushed) { EACH("lg2.approx.ftz.f32 %0, %1;"); }
//! approximate_sine grid=2 block=64 in=128 out=128 input=angle compare=exact
KERNEL(approximate_sine) { EACH("sin.approx.f32 %0, %1;"); }
//! approximate_cosine grid=2 block=64 in=128 out=128 input=angle compare=exact
KERNEL(approximate_cosine) { EACH("cos.approx.f32 %0, %1;"); }
//! approximate_tangent_of_hyperbola grid=2 block=64 in=128 out=128 input=f32near compare=exact
KERNEL(approximate_tangent_of_hyperbola) { EACH("tanh.approx.f32 %0, %1;"); }

//! approximate_division grid=2 block=64 in=256 out=256 input=f32near compare=exact
KERNEL(approximate_division) {
  const u32 t = global_thread();
  const float x = __uint_as_float(in[2 * t]), y = __uint_as_float(in[2 * t + 1]);
  float full, approximate;
  asm("div.full.f32 %0, %1, %2;" : "=f"(full) : "f"(x), "f"(y));
  asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(approximate) : "f"(x), "f"(y));
  out[2 * t] = __float_as_uint(full);
  out[2 * t + 1] = __float_as_uint(approximate);
}

//! approximate_f64 grid=1 block=64 in=128 out=256 input=f64near compare=exact
KERNEL(approximate_f64) {
  const double x = reinterpret_cast<const double*>(in)[threadIdx.x];
  double reciprocal, root;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(reciprocal) : "d"(x));
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(root) : "d"(x < 0 ? -x : x));
  reinterpret_cast<double*>(out)[2 * threadIdx.x] = reciprocal;
  reinterpret_cast<double*>(out)[2 * threadIdx.x + 1] = root;
}

//! approximate_halves grid=1 block=64 in=64 out=256 input=f16unit compare=exact
KERNEL(approximate_halves) {
  const u32 x = in[threadIdx.x];
  float* const results = reinterpret_cast<float*>(out) + threadIdx.x * 4;
#define WIDENED(instruction, type, k)               \
  asm("{ .reg .b16 l, h; .reg .b32 y; " instruction \
      " y, %1; mov.b32 {l, h}, y;"                  \
      " cvt.f32." type " %0, h; }"                  \
      : "=f"(results[k])                            \
      : "r"(x))
  WIDENED("ex2.approx.f16x2", "f16", 0);
  WIDENED("tanh.approx.f16x2", "f16", 1);
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; ex2.approx.f16 l, l; cvt.f32.f16 %0, l; }"
      : "=f"(results[2])
      : "r"(x));
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; tanh.approx.f16 l, l; cvt.f32.f16 %0, l; }"
      : "=f"(results[3])
      : "r"(x));
}

//! approximate_bf16 grid=1 block=64 in=64 out=256 input=bf16near compare=exact
KERNEL(approximate_bf16) {
  const u32 x = in[threadIdx.x];
  float* const results = reinterpret_cast<float*>(out) + threadIdx.x * 4;
  WIDENED("ex2.approx.ftz.bf16x2", "bf16", 0);
  WIDENED("tanh.approx.bf16x2", "bf16", 1);
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; ex2.approx.ftz.bf16 l, l; cvt.f32.bf16 %0, l; }"
      : "=f"(results[2])
      : "r"(x));
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; tanh.approx.bf16 l, l; cvt.f32.bf16 %0, l; }"
      : "=f"(results[3])
      : "r"(x));
}

#define EACH_CALL(call)                                 \
  const float x = __uint_as_float(in[global_thread()]); \
  out[global_thread()] = __float_as_uint(call)

//! function_exp grid=2 block=64 in=128 out=128 input=f32near compare=documented
KERNEL(function_exp) { EACH_CALL(expf(x)); }
//! function_log grid=2 block=64 in=128 out=128 input=f32 compare=documented
KERNEL(function_log) { EACH_CALL(logf(x)); }
//! function_sin grid=2 block=64 in=128 out=128 input=f32near compare=documented
KERNEL(function_sin) { EACH_CALL(sinf(x)); }
//! function_cos grid=2 block=64 in=128 out=128 input=f32 compare=documented
KERNEL(function_cos) { EACH_CALL(cosf(x)); }
//! function_tanh grid=2 block=64 in=128 out=128 input=f32near compare=documented
KERNEL(function_tanh) { EACH_CALL(tanhf(x)); }
//! function_pow grid=2 block=64 in=128 out=128 input=f32near compare=documented
KERNEL(function_pow) { EACH_CALL(powf(fabsf(x), 1.7f)); }
//! function_erf grid=2 block=64 in=128 out=128 input=f32near compare=documented
KERNEL(function_erf) { EACH_CALL(erff(x)); }
//! function_cbrt grid=2 block=64 in=128 out=128 input=f32 compare=documented
KERNEL(function_cbrt) { EACH_CALL(cbrtf(x)); }
//! function_remainder grid=2 block=64 in=128 out=128 input=f32near compare=exact
KERNEL(function_remainder) { EACH_CALL(canonical(fmodf(x, 0.37f))); }
//! function_rounding grid=2 block=64 in=128 out=128 input=f32near compare=exact
KERNEL(function_rounding) {
  EACH_CALL(floorf(x) + 3 * ceilf(x) - 7 * roundf(x) + 0.5f * truncf(x) + rintf(x));
}

#define EACH_CALL_64(call)                                               \
  const double x = reinterpret_cast<const double*>(in)[global_thread()]; \
  reinterpret_cast<double*>(out)[global_thread()] = call

//! function_exp_64 grid=2 block=64 in=256 out=256 input=f64near compare=documented
KERNEL(function_exp_64) { EACH_CALL_64(exp(x)); }
//! function_log_64 grid=2 block=64 in=256 out=256 input=f64 compare=documented
KERNEL(function_log_64) { EACH_CALL_64(log(x)); }
//! function_sin_64 grid=2 block=64 in=256 out=256 input=f64near compare=documented
KERNEL(function_sin_64) { EACH_CALL_64(sin(x)); }
//! function_atan_64 grid=2 block=64 in=256 out=256 input=f64 compare=documented
KERNEL(function_atan_64) { EACH_CALL_64(atan(x)); }
