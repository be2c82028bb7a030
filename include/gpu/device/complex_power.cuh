#pragma once
/// \file
/// `pow` of complex numbers for generated kernels that call it. A power is exp(b * log(a)): the
/// logarithm needs more bits than the result, as many as the integer part of the product has. It is
/// a double for powers of float, and a sum of two for those of double.

#include <gpu/device/complex_functions.cuh>

namespace gpu {

/// The sum of two doubles that do not overlap: T. J. Dekker, "A floating-point technique for
/// extending the available precision", 1971.
struct double_sum {
  double high, low;

  double_sum() = default;
  __device__ constexpr double_sum(double number, double rest = 0) : high(number), low(rest) {}

  /// Of numbers of any size, and of numbers of which the first is the larger.
  static __device__ double_sum of(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
  }
  static __device__ double_sum of_ordered(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
  }
  static __device__ double_sum product(double a, double b) {
    const double rounded = __dmul_rn(a, b);
    return {rounded, fma(a, b, -rounded)};
  }
  friend __device__ double_sum operator-(const double_sum& a) { return {-a.high, -a.low}; }
  friend __device__ double_sum operator+(const double_sum& a, const double_sum& b) {
    const double_sum high = of(a.high, b.high), low = of(a.low, b.low);
    const double_sum all = of_ordered(high.high, high.low + low.high);
    return of_ordered(all.high, all.low + low.low);
  }
  friend __device__ double_sum operator-(const double_sum& a, const double_sum& b) {
    return a + -b;
  }
  friend __device__ double_sum operator*(const double_sum& a, const double_sum& b) {
    const double_sum high = product(a.high, b.high);
    return of_ordered(high.high, high.low + (a.high * b.low + a.low * b.high));
  }
  friend __device__ double_sum operator/(const double_sum& a, const double_sum& b) {
    const double first = a.high / b.high;
    const double_sum rest = a - b * double_sum(first);
    return of_ordered(first, rest.high / b.high);
  }
};

/// Returns the logarithm of a number from 1 to 8: of the number divided by a power of 2, from
/// s = (f - 1) / (f + 1) as 2 (s + s^3 / 3 + s^5 / 5 + ...).
__device__ inline double_sum precise_log(double_sum a) {
  const int power = a.high < 1.4142135623730951   ? 0
                    : a.high < 2.8284271247461903 ? 1
                    : a.high < 5.656854249492381  ? 2
                                                  : 3;
  const double factor = 1.0 / (1 << power);
  const double_sum f(a.high * factor, a.low * factor);
  const double_sum s = (f - double_sum(1)) / (f + double_sum(1)), square = s * s;
  const double z = square.high;
  double rest = 1.0 / 33;
#pragma unroll
  for (int n = 31; n >= 11; n -= 2) rest = fma(rest, z, 1.0 / n);
  double_sum sum = square * double_sum(rest);
#pragma unroll
  for (int n = 9; n >= 3; n -= 2) sum = square * (sum + double_sum(1) / double_sum(n));
  sum = s + s * sum;
  return double_sum(2 * sum.high, 2 * sum.low) +
         double_sum(power) * double_sum(0.6931471805599453, 2.3190468138462996e-17);
}

/// The arc tangents of multiples of 1/8.
static __constant__ const double arcs_of_eighths[9][2] = {
    {0, 0},
    {0.12435499454676144, -3.1253241424539383e-18},
    {0.24497866312686414, 1.0698755618734451e-17},
    {0.35877067027057225, -2.4623815582638635e-17},
    {0.4636476090008061, 2.2698777452961687e-17},
    {0.5585993153435624, -5.4556305485916264e-18},
    {0.6435011087932844, 1.5834785051444286e-17},
    {0.7188299996216245, -2.1478388444456983e-17},
    {0.7853981633974483, 3.061616997868383e-17}};

/// Returns the angle of x + i * y. From the multiple c of 1/8 that is next to the quotient of the
/// smaller and the larger part, the arc tangent is that of c and that of the rest.
__device__ inline double_sum precise_angle(double x, double y) {
  const double larger = fmax(fabs(x), fabs(y)), smaller = fmin(fabs(x), fabs(y));
  const int eighths = int(rint(8 * (smaller / larger)));
  const double c = eighths * 0.125;
  const double_sum up = double_sum(smaller) - double_sum::product(c, larger);
  const double_sum down = double_sum(larger) + double_sum::product(c, smaller);
  const double_sum r = up / down, square = r * r;
  const double z = square.high;
  double rest = 1.0 / 21;
#pragma unroll
  for (int n = 19; n >= 9; n -= 2) rest = fma(-rest, z, 1.0 / n);
  double_sum sum = square * double_sum(-rest);
#pragma unroll
  for (int n = 7; n >= 3; n -= 2) sum = -square * (sum + double_sum(1) / double_sum(n));
  const double* const arc = arcs_of_eighths[eighths];
  double_sum angle = double_sum(arc[0], arc[1]) + (r + r * sum);
  const double_sum half_pi(1.5707963267948966, 6.123233995736766e-17);
  if (fabs(y) > fabs(x)) angle = half_pi - angle;
  if (x < 0) angle = half_pi + half_pi - angle;
  return signbit(y) ? -angle : angle;
}

// The differences between the two types in which powers are computed.
__device__ inline double high_of(double a) { return a; }
__device__ inline double high_of(const double_sum& a) { return a.high; }
__device__ inline double low_of(double) { return 0; }
__device__ inline double low_of(const double_sum& a) { return a.low; }

/// Returns the logarithm of (x + i * y) * 2^exponent, where the larger of x and y is from 1 to 2.
__device__ inline void find_log(double x, double y, int exponent, complex<double>& found) {
  if (exponent == -1) {  // nothing is added to a logarithm that is near 0
    x /= 2;
    y /= 2;
    exponent = 0;
  }
  found = {scaled_parts<double>(x, y).log_of_size() + exponent * ln_2<double>(), atan2(y, x)};
}
__device__ inline void find_log(double x, double y, int exponent, complex<double_sum>& found) {
  const double_sum square = double_sum::product(x, x) + double_sum::product(y, y);
  const double_sum twice = precise_log(square), ln_2(0.6931471805599453, 2.3190468138462996e-17);
  found.re = double_sum(twice.high / 2, twice.low / 2) + double_sum(exponent) * ln_2;
  found.im = precise_angle(x, y);
}

/// Returns a to the power of a whole number, which is not 0. Factors have parts below 2, so that
/// nothing overflows before the result does.
template <class W> __device__ complex<double> whole_power(complex<W> factor, int exponent, int n) {
  complex<W> found(W(1), W(0));
  for (int rest = n < 0 ? -n : n;;) {
    if (rest % 2 != 0) found = found * factor;
    rest /= 2;
    if (rest == 0) break;
    factor = factor * factor;
  }
  if (n < 0) {
    const W square = found.re * found.re + found.im * found.im;
    found = complex<W>(found.re / square, (W(0) - found.im) / square);
  }
  return {ldexp(high_of(found.re), n * exponent), ldexp(high_of(found.im), n * exponent)};
}

/// Returns the number with parts of size 1 for infinite ones and, beside these, 0 for others.
__device__ inline complex<double> bounded(const complex<double>& a) {
  if (!isinf(a)) return {isnan(a.re) ? 0 : a.re, isnan(a.im) ? 0 : a.im};
  return {copysign(isinf(a.re) ? 1.0 : 0.0, a.re), copysign(isinf(a.im) ? 1.0 : 0.0, a.im)};
}

/// NumPy's powers of 0, and whole powers up to 99 by multiplication.
template <class W>
__device__ complex<double> power(const complex<double>& a, const complex<double>& b) {
  const double infinity = __longlong_as_double(0x7ff0000000000000ll), nan = infinity - infinity;
  const bool whole = b.im == 0 && fabs(b.re) < 100 && b.re == rint(b.re);
  if (b.re == 0 && b.im == 0) return complex<double>(1);
  if (a.re == 0 && a.im == 0) return b.re > 0 ? complex<double>(0) : complex<double>(nan, nan);
  if (whole && b.re == 1) return a;
  if (whole && (b.re == 2 || b.re == 3)) {
    const complex<double> product = b.re == 2 ? a * a : a * (a * a);
    if (isfinite(product) || !isfinite(a)) return product;
  }
  complex<W> logarithm;
  if (isfinite(a)) {
    const int exponent = ilogb(fmax(fabs(a.re), fabs(a.im)));
    const double x = ldexp(a.re, -exponent), y = ldexp(a.im, -exponent);
    if (whole) return whole_power(complex<W>(W(x), W(y)), exponent, int(b.re));
    find_log(x, y, exponent, logarithm);
  } else {
    if (whole) return {nan, nan};
    logarithm = complex<W>(W(isinf(a) ? infinity : nan), W(atan2(a.im, a.re)));
  }
  const complex<double> about(high_of(logarithm.re), high_of(logarithm.im));
  complex<double> product = b * about;
  if (isnan(product.re) && isnan(product.im) && (isinf(b) || isinf(about))) {  // C's Annex G
    const complex<double> sign = bounded(b) * bounded(about);
    product = {sign.re * infinity, sign.im * infinity};
  }
  complex<double> low(0);
  if (fabs(product.re) < 2000 && fabs(product.im) < 0x1p900) {
    const complex<W> exact = complex<W>(W(b.re), W(b.im)) * logarithm;
    product = {high_of(exact.re), high_of(exact.im) == 0 ? product.im : high_of(exact.im)};
    low = {low_of(exact.re), low_of(exact.im)};
  }
  const complex<double> found = exp(product);
  if (!isfinite(found)) return found;
  const complex<double> near = turned(found, low.im);
  return {near.re * (1 + low.re), near.im * (1 + low.re)};
}

__device__ inline complex<double> complex_pow(const complex<double>& a, const complex<double>& b) {
  return power<double_sum>(a, b);
}
__device__ inline complex<float> complex_pow(const complex<float>& a, const complex<float>& b) {
  return complex<float>(power<double>(complex<double>(a), complex<double>(b)));
}

}  // namespace gpu
