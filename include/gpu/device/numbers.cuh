#pragma once
/// \file
/// Complex numbers and floating-point numbers of 16 bits for generated kernels. `gpu::complex<T>`
/// has the layout of `std::complex<T>`, `gpu::half` and `gpu::bfloat16` that of `__half` and
/// `__nv_bfloat16`. The headers of those types take longer to compile than a kernel.

namespace gpu {

/// A complex number: two T, the real part first.
template <class T> struct complex {
  using value_type = T;
  T re, im;

  complex() = default;
  __device__ constexpr complex(T real, T imag = T(0)) : re(real), im(imag) {}
  template <class U>
  __device__ constexpr explicit complex(const complex<U>& other)
      : re(T(other.re)), im(T(other.im)) {}

  __device__ constexpr T real() const { return re; }
  __device__ constexpr T imag() const { return im; }

  __device__ complex& operator+=(const complex& b) { return *this = *this + b; }
  __device__ complex& operator-=(const complex& b) { return *this = *this - b; }
  __device__ complex& operator*=(const complex& b) { return *this = *this * b; }
  __device__ complex& operator/=(const complex& b) { return *this = *this / b; }

  friend __device__ constexpr complex operator+(const complex& a) { return a; }
  friend __device__ constexpr complex operator-(const complex& a) { return {-a.re, -a.im}; }
  friend __device__ constexpr complex operator+(const complex& a, const complex& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend __device__ constexpr complex operator-(const complex& a, const complex& b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend __device__ constexpr complex operator*(const complex& a, const complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// R. L. Smith, "Algorithm 116: Complex division", 1962: no square of a part is formed, so only
  /// quotients that are too large themselves overflow.
  friend __device__ complex operator/(const complex& a, const complex& b) {
    if (fabs(b.re) >= fabs(b.im)) {
      if (b.re == 0) return {a.re / fabs(b.re), a.im / fabs(b.re)};
      const T ratio = b.im / b.re;
      const T scale = T(1) / (b.re + b.im * ratio);
      return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const T ratio = b.re / b.im;
    const T scale = T(1) / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  friend __device__ constexpr bool operator==(const complex& a, const complex& b) {
    return a.re == b.re && a.im == b.im;
  }
  friend __device__ constexpr bool operator!=(const complex& a, const complex& b) {
    return !(a == b);
  }

  friend __device__ constexpr T real(const complex& a) { return a.re; }
  friend __device__ constexpr T imag(const complex& a) { return a.im; }
  friend __device__ constexpr complex conj(const complex& a) { return {a.re, -a.im}; }
  friend __device__ constexpr T norm(const complex& a) { return a.re * a.re + a.im * a.im; }
  friend __device__ T abs(const complex& a) { return hypot(a.re, a.im); }
  friend __device__ T arg(const complex& a) { return atan2(a.im, a.re); }
  friend __device__ constexpr bool isnan(const complex& a) { return a.re != a.re || a.im != a.im; }
  friend __device__ constexpr bool isfinite(const complex& a) {
    return a.re - a.re == 0 && a.im - a.im == 0;
  }
  friend __device__ constexpr bool isinf(const complex& a) {
    return (a.re == a.re && a.re - a.re != 0) || (a.im == a.im && a.im - a.im != 0);
  }
  friend __device__ complex rint(const complex& a) { return {rint(a.re), rint(a.im)}; }
  /// NumPy's order: by the real parts, then by the imaginary ones.
  static __device__ constexpr bool is_less(const complex& a, const complex& b) {
    return a.re < b.re || (a.re == b.re && a.im < b.im);
  }
  friend __device__ constexpr complex minimum(const complex& a, const complex& b) {
    return isnan(a) || !(isnan(b) || is_less(b, a)) ? a : b;
  }
  friend __device__ constexpr complex maximum(const complex& a, const complex& b) {
    return isnan(a) || !(isnan(b) || is_less(a, b)) ? a : b;
  }
  friend __device__ constexpr complex fmin(const complex& a, const complex& b) {
    return isnan(b) || !(isnan(a) || is_less(b, a)) ? a : b;
  }
  friend __device__ constexpr complex fmax(const complex& a, const complex& b) {
    return isnan(b) || !(isnan(a) || is_less(a, b)) ? a : b;
  }

  // Of <gpu/device/complex_functions.cuh> and complex_power.cuh, which kernels with such calls
  // have.
  friend __device__ complex exp(const complex& a) { return complex_exp(a); }
  friend __device__ complex exp2(const complex& a) { return complex_exp2(a); }
  friend __device__ complex expm1(const complex& a) { return complex_expm1(a); }
  friend __device__ complex log(const complex& a) { return complex_log(a); }
  friend __device__ complex log2(const complex& a) { return complex_log2(a); }
  friend __device__ complex log10(const complex& a) { return complex_log10(a); }
  friend __device__ complex log1p(const complex& a) { return complex_log1p(a); }
  friend __device__ complex sqrt(const complex& a) { return complex_sqrt(a); }
  friend __device__ complex sin(const complex& a) { return complex_sin(a); }
  friend __device__ complex cos(const complex& a) { return complex_cos(a); }
  friend __device__ complex tan(const complex& a) { return complex_tan(a); }
  friend __device__ complex sinh(const complex& a) { return complex_sinh(a); }
  friend __device__ complex cosh(const complex& a) { return complex_cosh(a); }
  friend __device__ complex tanh(const complex& a) { return complex_tanh(a); }
  friend __device__ complex asin(const complex& a) { return complex_asin(a); }
  friend __device__ complex acos(const complex& a) { return complex_acos(a); }
  friend __device__ complex atan(const complex& a) { return complex_atan(a); }
  friend __device__ complex asinh(const complex& a) { return complex_asinh(a); }
  friend __device__ complex acosh(const complex& a) { return complex_acosh(a); }
  friend __device__ complex atanh(const complex& a) { return complex_atanh(a); }
  friend __device__ complex reciprocal(const complex& a) { return complex_reciprocal(a); }
  friend __device__ complex sign(const complex& a) { return complex_sign(a); }
  friend __device__ complex pow(const complex& a, const complex& b) { return complex_pow(a, b); }
};

/// Returns the complex number with this absolute value and angle.
template <class T> __device__ complex<T> polar(T size, T angle) {
  return {size * cos(angle), size * sin(angle)};
}

/// Returns the float that a number rounds to, by way of which it is rounded to 16 bits as if at
/// once: where the number is between two floats, the one whose last bit is 1 (S. Boldo, G.
/// Melquiond, "Emulation of FMA and correctly rounded sums", 2008). `low` is the number rounded
/// toward 0.
template <class T> __device__ float odd_unless_exact(T number, float low) {
  return T(low) == number ? low : __uint_as_float(__float_as_uint(low) | 1);
}
__device__ inline float round_to_odd(double a) { return odd_unless_exact(a, __double2float_rz(a)); }
__device__ inline float round_to_odd(int a) { return odd_unless_exact(a, __int2float_rz(a)); }
__device__ inline float round_to_odd(unsigned a) { return odd_unless_exact(a, __uint2float_rz(a)); }
__device__ inline float round_to_odd(long long a) { return odd_unless_exact(a, __ll2float_rz(a)); }
__device__ inline float round_to_odd(unsigned long long a) {
  return odd_unless_exact(a, __ull2float_rz(a));
}
/// Of a * b + c, which may lie between two floats.
__device__ inline float fma_to_odd(float a, float b, float c) {
  const float low = __fmaf_rd(a, b, c), high = __fmaf_ru(a, b, c);
  if (low == high || low != low) return __fmaf_rn(a, b, c);
  return (__float_as_uint(low) & 1) != 0 ? low : high;
}

/// A floating-point number of 16 bits. It computes as a float. All conversions round to the
/// nearest, once.
template <class Format> struct short_float {
  unsigned short bits;

  short_float() = default;
  __device__ short_float(float value) : bits(Format::to_bits(value)) {}
  __device__ short_float(double value) : short_float(round_to_odd(value)) {}
  __device__ short_float(int value) : short_float(round_to_odd(value)) {}
  __device__ short_float(unsigned value) : short_float(round_to_odd(value)) {}
  __device__ short_float(long value) : short_float(round_to_odd((long long)value)) {}
  __device__ short_float(unsigned long value)
      : short_float(round_to_odd((unsigned long long)value)) {}
  __device__ short_float(long long value) : short_float(round_to_odd(value)) {}
  __device__ short_float(unsigned long long value) : short_float(round_to_odd(value)) {}
  __device__ operator float() const { return Format::to_float(bits); }

  __device__ short_float& operator+=(float b) { return *this = float(*this) + b; }
  __device__ short_float& operator-=(float b) { return *this = float(*this) - b; }
  __device__ short_float& operator*=(float b) { return *this = float(*this) * b; }
  __device__ short_float& operator/=(float b) { return *this = float(*this) / b; }
};

/// The 16-bit format of IEEE 754. The conversions are those of <cuda_fp16.h>, which takes longer to
/// compile than most kernels.
struct half_format {
  static __device__ float to_float(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
  static __device__ unsigned short to_bits(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
  }
};

/// The upper half of a float.
struct bfloat16_format {
  static __device__ float to_float(unsigned short bits) {
    return __uint_as_float(unsigned(bits) << 16);
  }
  static __device__ unsigned short to_bits(float value) {
    const unsigned bits = __float_as_uint(value);
    if (value != value) return (unsigned short)(bits >> 16 | 0x40);
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

using half = short_float<half_format>;
using bfloat16 = short_float<bfloat16_format>;

}  // namespace gpu
