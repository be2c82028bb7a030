#pragma once
/// \file
/// Functions of complex numbers for generated kernels that call some. `exp(z)` of
/// `<gpu/device/numbers.cuh>` calls `complex_exp(z)` of this header, and so on.

#include <gpu/device/numbers.cuh>

namespace gpu {

/// Returns the constant for float, or that for double.
template <class T> __device__ constexpr T constant(double of_float, double of_double) {
  return sizeof(T) == sizeof(float) ? T(of_float) : T(of_double);
}
template <class T> __device__ constexpr T half_pi() { return T(1.5707963267948966); }
template <class T> __device__ constexpr T ln_2() { return T(0.6931471805599453); }

/// Returns c + x * x + y * y with the error of about one rounding, also if the terms cancel: SumK
/// of T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product", 2005, of the exact products.
__device__ inline double add_squares(double c, double x, double y) {
  const double p = __dmul_rn(x, x), q = __dmul_rn(y, y);
  double terms[5] = {c, p, q, fma(x, x, -p), fma(y, y, -q)};
#pragma unroll
  for (int pass = 0; pass < 2; ++pass) {
#pragma unroll
    for (int k = 1; k < 5; ++k) {
      const double a = terms[k], b = terms[k - 1], sum = a + b, part = sum - a;
      terms[k] = sum;
      terms[k - 1] = (a - (sum - part)) + (b - part);
    }
  }
  return terms[0] + terms[1] + terms[2] + terms[3] + terms[4];
}

/// x * 2^-exponent, y * 2^-exponent and their distance from 0, which neither overflows nor loses
/// digits. The exponent is 0 unless x and y are at the ends of the range.
template <class T> struct scaled_parts {
  T x, y, size;
  int exponent = 0;

  __device__ scaled_parts(T real, T imag) : x(real), y(imag) {
    constexpr T large = constant<T>(0x1p125, 0x1p1021), small = constant<T>(0x1p-90, 0x1p-960);
    const T largest = fmax(fabs(x), fabs(y));
    if (largest > large) {
      exponent = 8;
      x *= T(0x1p-8);
      y *= T(0x1p-8);
    } else if (largest < small) {
      exponent = sizeof(T) == sizeof(float) ? -64 : -128;
      x *= constant<T>(0x1p64, 0x1p128);
      y *= constant<T>(0x1p64, 0x1p128);
    }
    size = hypot(x, y);
  }
  __device__ bool is_near_one() const { return exponent == 0 && size > T(0.5) && size < T(2); }
  /// The logarithm of the distance. Near 1 it is taken of the square less 1.
  __device__ T log_of_size() const {
    if (is_near_one()) return log1p(T(add_squares(-1, x, y))) / 2;
    return log(size) + T(exponent) * ln_2<T>();
  }
};

/// Returns whether exp(x) overflows or nearly overflows.
template <class T> __device__ bool is_large_for_exp(T x) {
  return x > constant<T>(88.7228, 709.7827);
}

/// Returns exp(x) * factor * scale for such an x.
template <class T> __device__ T large_exp(T x, T factor, T scale = T(1)) {
  constexpr T step = constant<T>(64, 512);
  constexpr T power = constant<T>(6.2351490808116169e27, 2.2844135865397566e222);  // exp(step)
  factor *= scale * power;
  x -= step;
  if (is_large_for_exp(x)) {
    factor *= power;
    x -= step;
  }
  return factor * exp(x);
}
/// Returns exp(x) * (cos(y) + i * sin(y)) if y is not finite.
template <class T> __device__ complex<T> exp_without_angle(T x, T y) {
  if (x < 0 && isinf(x)) return {T(0), copysign(T(0), y)};
  return {isinf(x) ? x : y - y, y - y};
}

template <class T> __device__ complex<T> complex_exp(const complex<T>& a) {
  if (a.im == 0) return {exp(a.re), a.im};
  if (!isfinite(a.im)) return exp_without_angle(a.re, a.im);
  const T c = cos(a.im), s = sin(a.im);
  if (is_large_for_exp(a.re)) return {large_exp(a.re, c), large_exp(a.re, s)};
  const T size = exp(a.re);
  return {size * c, size * s};
}

/// Returns a * exp(i * low), where `low` is the rounding error of the angle of a. One that is not
/// small is left out.
template <class T> __device__ complex<T> turned(const complex<T>& a, T low) {
  if (low == 0 || !(fabs(low) < constant<T>(5e-3, 8e-6))) return a;
  const T c = -low * low / 2;
  return {a.re + (a.re * c - a.im * low), a.im + (a.im * c + a.re * low)};
}

template <class T> __device__ complex<T> complex_exp2(const complex<T>& a) {
  if (a.im == 0) return {exp2(a.re), a.im};
  if (!isfinite(a.im)) return exp_without_angle(a.re, a.im);
  constexpr T rest = constant<T>(-1.9046542121259336e-09, 2.3190468138462996e-17);
  const T angle = a.im * ln_2<T>();
  const T low = fma(a.im, ln_2<T>(), -angle) + a.im * rest;
  const complex<T> unit = turned(complex<T>(cos(angle), sin(angle)), low);
  const T whole = rint(fmin(fmax(a.re, T(-4000)), T(4000)));
  const T size = exp2(a.re - whole);
  return {ldexp(size * unit.re, int(whole)), ldexp(size * unit.im, int(whole))};
}

template <class T> __device__ complex<T> complex_expm1(const complex<T>& a) {
  const T c = cos(a.im), s = sin(a.im), half = sin(a.im / 2);
  if (is_large_for_exp(a.re) && isfinite(a.re))
    return {large_exp(a.re, c), a.im == 0 ? a.im : large_exp(a.re, s)};
  return {expm1(a.re) * c - 2 * (half * half), exp(a.re) * s};
}

template <class T> __device__ complex<T> complex_log(const complex<T>& a) {
  return {scaled_parts<T>(a.re, a.im).log_of_size(), arg(a)};
}

template <class T> __device__ complex<T> complex_log2(const complex<T>& a) {
  constexpr T log2_e = T(1.4426950408889634);
  const scaled_parts<T> s(a.re, a.im);
  return {s.is_near_one() ? s.log_of_size() * log2_e : log2(s.size) + T(s.exponent),
          arg(a) * log2_e};
}

template <class T> __device__ complex<T> complex_log10(const complex<T>& a) {
  constexpr T log10_e = T(0.4342944819032518), log10_2 = T(0.3010299956639812);
  const scaled_parts<T> s(a.re, a.im);
  return {s.is_near_one() ? s.log_of_size() * log10_e : log10(s.size) + T(s.exponent) * log10_2,
          arg(a) * log10_e};
}

template <class T> __device__ complex<T> complex_log1p(const complex<T>& a) {
  const T angle = atan2(a.im, 1 + a.re);
  if (fabs(a.re) <= 3 && fabs(a.im) <= 2) {
    const T square = T(add_squares(2 * double(a.re), a.re, a.im));  // of 1 + a, less 1
    if (square > T(-0.75) && square < T(3)) return {log1p(square) / 2, angle};
  }
  return {scaled_parts<T>(1 + a.re, a.im).log_of_size(), angle};
}

/// The root with a real part that is not negative.
template <class T> __device__ complex<T> complex_sqrt(const complex<T>& a) {
  if (a.re == 0 && a.im == 0) return {T(0), a.im};
  if (isinf(a.im)) return {fabs(a.im), a.im};
  const scaled_parts<T> s(a.re, a.im);
  // Halved first, so that the sum does not overflow.
  T root = sqrt(fabs(s.x) / 2 + hypot(s.x / 2, s.y / 2));
  T other = fabs(s.y) / (2 * root);
  if (s.exponent != 0) {
    const T factor = s.exponent > 0 ? T(16) : constant<T>(0x1p-32, 0x1p-64);
    root *= factor;
    other *= factor;
  }
  if (a.re >= 0) return {root, copysign(other, a.im)};
  return {other, copysign(root, a.im)};
}

template <class T> __device__ complex<T> complex_sinh(const complex<T>& a) {
  if (a.im == 0) return {sinh(a.re), a.im};
  const T c = cos(a.im), s = sin(a.im);
  if (a.re == 0) return {isfinite(a.im) ? a.re * c : a.re, s};
  const T size = fabs(a.re);
  if (is_large_for_exp(size)) {
    if (isinf(size) && !isfinite(a.im)) return {a.re, s};
    const T real = large_exp(size, c, T(0.5));
    return {a.re < 0 ? -real : real, large_exp(size, s, T(0.5))};
  }
  return {sinh(a.re) * c, cosh(a.re) * s};
}

template <class T> __device__ complex<T> complex_cosh(const complex<T>& a) {
  if (a.im == 0) return {cosh(a.re), a.im * copysign(T(1), a.re)};
  const T c = cos(a.im), s = sin(a.im);
  if (a.re == 0) return {c, isfinite(a.im) ? a.re * s : a.re};
  const T size = fabs(a.re);
  if (is_large_for_exp(size)) {
    if (isinf(size) && !isfinite(a.im)) return {size, s};
    const T imag = large_exp(size, s, T(0.5));
    return {large_exp(size, c, T(0.5)), a.re < 0 ? -imag : imag};
  }
  return {cosh(a.re) * c, sinh(a.re) * s};
}

/// W. Kahan, "Branch cuts for complex elementary functions", 1987. If exp(-2 |x|) is below the last
/// place, only its part of the imaginary part counts.
template <class T> __device__ complex<T> complex_tanh(const complex<T>& a) {
  const T size = fabs(a.re);
  if (!isfinite(a.im)) {
    if (isinf(size)) return {copysign(T(1), a.re), copysign(T(0), a.im)};
    return {a.re == 0 ? a.re : a.im - a.im, a.im - a.im};
  }
  if (a.im == 0) return {tanh(a.re), a.im};
  if (size > constant<T>(10, 20))
    return {copysign(T(1), a.re), 4 * sin(a.im) * cos(a.im) * exp(-2 * size)};
  const T t = tan(a.im), slope = 1 + t * t, s = sinh(a.re);
  const T whole = 1 + slope * s * s;
  return {slope * sqrt(1 + s * s) * s / whole, t / whole};
}

/// sin(a) = -i sinh(i a) and cos(a) = cosh(i a), as C defines them.
template <class T> __device__ complex<T> complex_sin(const complex<T>& a) {
  const complex<T> found = complex_sinh(complex<T>(-a.im, a.re));
  return {found.im, -found.re};
}
template <class T> __device__ complex<T> complex_cos(const complex<T>& a) {
  return complex_cosh(complex<T>(-a.im, a.re));
}
template <class T> __device__ complex<T> complex_tan(const complex<T>& a) {
  const complex<T> found = complex_tanh(complex<T>(-a.im, a.re));
  return {found.im, -found.re};
}

/// Returns asin(x + i * y), or acos(x - i * y), for x and y that are not negative: T. E. Hull,
/// T. F. Fairgrieve, P. T. P. Tang, "Implementing the complex arcsine and arccosine functions using
/// exception handling", 1997. Here y is taken out of the root, so that no square underflows.
template <bool Cosine, class T> __device__ complex<T> arc_of_quadrant(T x, T y) {
  constexpr T far = constant<T>(0x1p13, 0x1p30);
  if (x > far || y > far) {  // the logarithm of 2 i a
    const scaled_parts<T> s(x, y);
    return {Cosine ? atan2(y, x) : atan2(x, y), log(s.size) + T(s.exponent + 1) * ln_2<T>()};
  }
  const T r = hypot(x + 1, y), s = hypot(x - 1, y), a = (r + s) / 2, ratio = x / a;
  T real = Cosine ? half_pi<T>() : T(0);
  if (x != 0 && ratio <= T(0.6417)) {
    real = Cosine ? acos(ratio) : asin(ratio);
  } else if (x != 0) {
    const T half = (a + x) / 2;
    const T root = x <= 1 ? sqrt(half * (y * y / (r + x + 1) + (s + (1 - x))))
                          : y * sqrt(half * (1 / (r + x + 1) + 1 / (s + (x - 1))));
    real = Cosine ? atan(root / x) : atan(x / root);
  }
  T imag;
  if (a > T(1.5)) {
    imag = log(a + sqrt((a - 1) * (a + 1)));
  } else if (x < 1) {  // 2 (a - 1) = y * y * q
    const T q = 1 / (r + x + 1) + 1 / (s + (1 - x));
    imag = log1p(y * (y * q / 2 + sqrt(q * ((a + 1) / 2))));
  } else {
    const T twice = y * y / (r + x + 1) + (s + (x - 1));
    imag = log1p(twice / 2 + sqrt(twice * ((a + 1) / 2)));
  }
  return {real, imag};
}

template <class T> __device__ complex<T> complex_asin(const complex<T>& a) {
  const complex<T> arc = arc_of_quadrant<false>(fabs(a.re), fabs(a.im));
  return {copysign(arc.re, a.re), copysign(arc.im, a.im)};
}
template <class T> __device__ complex<T> complex_acos(const complex<T>& a) {
  const complex<T> arc = arc_of_quadrant<true>(fabs(a.re), fabs(a.im));
  return {a.re < 0 ? 2 * half_pi<T>() - arc.re : arc.re, -copysign(arc.im, a.im)};
}
template <class T> __device__ complex<T> complex_asinh(const complex<T>& a) {
  const complex<T> found = complex_asin(complex<T>(-a.im, a.re));
  return {found.im, -found.re};
}
template <class T> __device__ complex<T> complex_acosh(const complex<T>& a) {
  const complex<T> found = complex_acos(a);
  return {fabs(found.im), copysign(found.re, a.im)};
}

/// Kahan's formulas. Far from 0, atanh(a) is i * pi / 2 + 1 / a.
template <class T> __device__ complex<T> complex_atanh(const complex<T>& a) {
  constexpr T far = constant<T>(0x1p30, 0x1p60), small = constant<T>(1e-15, 1e-100);
  const T x = fabs(a.re), y = fabs(a.im);
  T real, imag = half_pi<T>();
  if (isnan(x) || isnan(y)) {
    real = x == 0 || isinf(x) || isinf(y) ? T(0) : x + y;
    if (!isinf(y)) imag = x + y;
  } else if (isinf(x) || isinf(y)) {
    real = 0;
  } else if (x > far || y > far) {
    const bool wide = x >= y;
    const T large = wide ? x : y, small_part = wide ? y : x, ratio = small_part / large;
    const T inverse = T(0.5) / (large / 2 + small_part / 2 * ratio);
    real = wide ? inverse : ratio * inverse;
  } else {
    real = x == 1 && y < small ? (ln_2<T>() - log(y)) / 2
                               : log1p(4 * x / ((1 - x) * (1 - x) + y * y)) / 4;
    imag = atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2;
  }
  return {copysign(real, a.re), copysign(imag, a.im)};
}
template <class T> __device__ complex<T> complex_atan(const complex<T>& a) {
  const complex<T> found = complex_atanh(complex<T>(-a.im, a.re));
  return {found.im, -found.re};
}

/// Returns small / large / divisor, where the divisor is about as large as `large`.
template <class T> __device__ T smaller_part(T small, T large, T divisor) {
  const T ratio = small / large;
  const bool loses_digits = small != 0 && fabs(ratio) < constant<T>(0x1p-126, 0x1p-1022);
  return loses_digits ? small / (large * divisor) : ratio / divisor;
}
/// R. L. Smith's division of 1, as NumPy does it; scaled at the ends of the range.
template <class T> __device__ complex<T> complex_reciprocal(const complex<T>& a) {
  const scaled_parts<T> s(a.re, a.im);
  const T factor = s.exponent == 0  ? T(1)
                   : s.exponent > 0 ? T(0x1p-8)
                                    : constant<T>(0x1p64, 0x1p128);
  if (fabs(s.y) <= fabs(s.x)) {
    const T divisor = s.x + s.y * (s.y / s.x);
    return {1 / divisor * factor, -smaller_part(s.y, s.x, divisor) * factor};
  }
  const T divisor = s.x * (s.x / s.y) + s.y;
  return {smaller_part(s.x, s.y, divisor) * factor, T(-1) / divisor * factor};
}

/// The number divided by its distance from 0. Beside an infinite part, the other does not count.
template <class T> __device__ complex<T> complex_sign(const complex<T>& a) {
  const scaled_parts<T> s(a.re, a.im);
  if (isinf(s.size)) {
    const bool real = isinf(a.re), imag = isinf(a.im);
    if (real && imag) return {a.re - a.re, a.im - a.im};
    return {real ? copysign(T(1), a.re) : T(0), imag ? copysign(T(1), a.im) : T(0)};
  }
  if (s.size == 0) return {T(0), T(0)};
  if (isnan(s.size)) return {s.size, s.size};
  return {s.x / s.size, s.y / s.size};
}

}  // namespace gpu
