#pragma once
/// \file
/// Distributions of random numbers.

namespace gpu {
namespace random {

// What an engine gives. Those with numbers of another kind have functions of their own.

template <class Engine> __device__ inline unsigned bits32(Engine& engine) { return engine.next(); }
template <class Engine> __device__ inline unsigned long long bits53(Engine& engine) {
  const unsigned low = engine.next();
  return low ^ (unsigned long long)engine.next() << 21;
}
template <class Engine> __device__ inline unsigned long long bits64(Engine& engine) {
  const unsigned low = engine.next();
  return low | (unsigned long long)engine.next() << 32;
}
/// All bits of an integer.
template <class T, class Engine> __device__ inline T whole(Engine& engine) {
  if constexpr (sizeof(T) == 8)
    return T(bits64(engine));
  else
    return T(bits32(engine));
}
/// (x + 1/2) / 2^32, and (x + 1/2) / 2^53: in (0, 1]. The products are exact.
__device__ inline float unit_of(unsigned x) {
  return fmaf(x, 2.3283064365386963e-10f, 1.1641532182693481e-10f);
}
__device__ inline double unit_of(unsigned long long x) {
  return fma(double(x), 1.1102230246251565e-16, 5.5511151231257827e-17);
}
/// In (0, 1], as `curand_uniform` and `curand_uniform_double` have them.
template <class Engine> __device__ inline float unit32(Engine& engine) {
  return unit_of(bits32(engine));
}
template <class Engine> __device__ inline double unit53(Engine& engine) {
  return unit_of(bits53(engine));
}

template <class T> struct of;
template <> struct of<float> {
  using pair = float2;
  template <class Engine> __device__ static float unit(Engine& engine) { return unit32(engine); }
  /// In [0, 1), in steps of 2^-24.
  template <class Engine> __device__ static float fraction(Engine& engine) {
    return (bits32(engine) >> 8) * 5.9604644775390625e-8f;
  }
  template <class Engine> __device__ static unsigned bits(Engine& engine) { return bits32(engine); }

  /// Returns -2 ln((x + 1/2) / 2^32). Near 1, where the float nearest to that number would tell
  /// little of its distance from 1, of which the logarithm depends, by a polynomial in the
  /// distance. benchmarks/random/random_numbers.cu measures it beside cuRAND.
  __device__ static float minus_two_log(unsigned x) {
    const float near_0 = log2_of(unit_of(x)) * -1.3862943611f;
    const float t = unit_of(~x);
    float p = fmaf(t, 1.08386375f, -1.00214912f);
    p = fmaf(t, p, 0.713592085f);
    p = fmaf(t, p, 0.0170115323f);
    p = fmaf(t, p, 0.220590268f);
    p = fmaf(t, p, 0.248636687f);
    p = fmaf(t, p, 0.333367275f);
    p = fmaf(t, p, 0.499999863f);
    const float near_1 = fmaf(2.f * t * t, p, 2.f * t);
    return x >= 0x80000000u ? near_1 : near_0;
  }
  __device__ static float radius(unsigned x) {
    const float square = minus_two_log(x);
    return square * inverse_root_of(square);
  }
  // __log2f and rsqrtf without their steps for subnormal numbers, which do not occur here: 14 of
  // the 143 instructions for four normal numbers.
  __device__ static float log2_of(float x) {
    float result;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  }
  __device__ static float inverse_root_of(float x) {
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  }
  /// Sine and cosine of x / 2^32 turns, within half a turn of 0, where the approximations are best.
  __device__ static float sine(unsigned x) { return __sinf(int(x) * 1.4629180792671596e-9f); }
  __device__ static float cosine(unsigned x) { return __cosf(int(x) * 1.4629180792671596e-9f); }
  __device__ static float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
  __device__ static float exp_of(float x) { return expf(x); }
  __device__ static float next_to(float x, float y) { return nextafterf(x, y); }
};
template <> struct of<double> {
  using pair = double2;
  template <class Engine> __device__ static double unit(Engine& engine) { return unit53(engine); }
  /// In [0, 1), in steps of 2^-53.
  template <class Engine> __device__ static double fraction(Engine& engine) {
    return bits53(engine) * 1.1102230246251565e-16;
  }
  template <class Engine> __device__ static unsigned long long bits(Engine& engine) {
    return bits53(engine);
  }
  /// Returns -2 ln((x + 1/2) / 2^53).
  __device__ static double minus_two_log(unsigned long long x) {
    if (x < 0x10000000000000) return -2 * log(unit_of(x));
    return -2 * log1p(-unit_of(0x1fffffffffffff - x));
  }
  __device__ static double radius(unsigned long long x) { return sqrt(minus_two_log(x)); }
  __device__ static double sine(unsigned long long x) { return sinpi(x * 2.220446049250313e-16); }
  __device__ static double cosine(unsigned long long x) { return cospi(x * 2.220446049250313e-16); }
  __device__ static double multiply_add(double a, double b, double c) { return fma(a, b, c); }
  __device__ static double exp_of(double x) { return exp(x); }
  __device__ static double next_to(double x, double y) { return nextafter(x, y); }
};

/// One of the two normal numbers that `normal_pair` has: where both are needed, the compiler finds
/// the part that both share.
template <class T, class Engine> __device__ inline T normal_of_pair(Engine engine, bool second) {
  const auto x = of<T>::bits(engine), y = of<T>::bits(engine);
  return of<T>::radius(x) * (second ? of<T>::cosine(y) : of<T>::sine(y));
}

/// Uniform from `low` to `high`, of which one is excluded: the number beside it is the limit.
template <class T, class Engine>
__device__ inline T uniform_above(Engine& engine, T low, T high, T least) {
  const T result = of<T>::multiply_add(high - low, of<T>::unit(engine), low);
  return result < least ? least : result;
}
template <class T, class Engine>
__device__ inline T uniform_below(Engine& engine, T low, T high, T most) {
  const T result = of<T>::multiply_add(high - low, of<T>::fraction(engine), low);
  return result > most ? most : result;
}

/// Returns one coordinate of a point on the sphere in `axes` dimensions, to which as many normal
/// numbers are scaled, an even number of which is drawn.
template <class T, class Engine>
__device__ inline T on_sphere(Engine engine, unsigned long long axis, unsigned long long axes) {
  T sum = 0, own = 0;
  for (unsigned long long k = 0; k < axes; k += 2) {
    const auto x = of<T>::bits(engine), y = of<T>::bits(engine);
    const T radius = of<T>::radius(x), first = radius * of<T>::sine(y);
    const T second = k + 1 < axes ? radius * of<T>::cosine(y) : 0;
    sum += first * first + second * second;
    own = k == axis ? first : k + 1 == axis ? second : own;
  }
  return sum > 0 ? own / sqrt(sum) : T(axis == 0);
}

/// Returns a choice among `count`, all equally likely, by Lemire's method: the high half of a
/// product chooses, and few of the low halves are rejected. At most every other number is: the
/// remainder of 2^32, or of 2^64, by `count` is less than both `count` and what is left of the
/// power above it.
template <class Source>
__device__ inline unsigned bounded32(Source& source, unsigned first, unsigned count) {
  unsigned long long product = (unsigned long long)first * count;
  if (unsigned(product) < count) {
    const unsigned least = (0u - count) % count;
    while (unsigned(product) < least) product = (unsigned long long)source.next() * count;
  }
  return unsigned(product >> 32);
}
template <class Source>
__device__ inline unsigned long long bounded64(Source& source, unsigned long long first,
                                               unsigned long long count) {
  unsigned long long word = first;
  if (word * count < count) {
    const unsigned long long least = (0ull - count) % count;
    while (word * count < least) word = bits64(source);
  }
  return __umul64hi(word, count);
}

/// Returns `first + k` for the choice k of `count`; a count of 0 stands for 2^64. The first bits
/// are from `words`, others, which are seldom needed, from `more`.
template <class Words, class More>
__device__ inline unsigned long long integer_from(Words& words, More& more,
                                                  unsigned long long first,
                                                  unsigned long long count) {
  if (count == 0) return first + bits64(words);
  if (count > 0xffffffffu) return first + bounded64(more, bits64(words), count);
  return first + bounded32(more, bits32(words), unsigned(count));
}

/// The smallest k whose sum of probabilities is greater than u times the last one.
__device__ inline long long search_sums(const double* sums, long long count, double u) {
  const double wanted = u * sums[count - 1];
  long long low = 0, high = count - 1;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (sums[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace random

/// Uniform in (low, high], as `curand_uniform` if these are 0 and 1.
template <class T, class Engine>
__device__ inline T uniform(Engine& engine, T low = 0, T high = 1) {
  return random::uniform_above(engine, low, high, random::of<T>::next_to(low, high));
}
/// Uniform in [low, high).
template <class T, class Engine>
__device__ inline T uniform_from(Engine& engine, T low = 0, T high = 1) {
  return random::uniform_below(engine, low, high, random::of<T>::next_to(high, low));
}
/// An integer from `low` to `high`, both of which occur. All are equally likely.
template <class Engine>
__device__ inline long long uniform_integer(Engine& engine, long long low, long long high) {
  return (long long)random::integer_from(engine, engine, (unsigned long long)low,
                                         (unsigned long long)high - (unsigned long long)low + 1);
}

/// Two independent normal numbers of mean 0 and standard deviation 1, by Box and Muller's
/// transform.
template <class T, class Engine>
__device__ inline typename random::of<T>::pair normal_pair(Engine& engine) {
  const auto x = random::of<T>::bits(engine), y = random::of<T>::bits(engine);
  const T radius = random::of<T>::radius(x);
  return {radius * random::of<T>::sine(y), radius * random::of<T>::cosine(y)};
}
/// One of them.
template <class T, class Engine> __device__ inline T normal(Engine& engine) {
  return normal_pair<T>(engine).x;
}
template <class T, class Engine> __device__ inline T normal(Engine& engine, T mean, T deviation) {
  return random::of<T>::multiply_add(deviation, normal<T>(engine), mean);
}
template <class T, class Engine>
__device__ inline T log_normal(Engine& engine, T mean, T deviation) {
  return random::of<T>::exp_of(normal<T>(engine, mean, deviation));
}
template <class T, class Engine> __device__ inline T exponential(Engine& engine, T scale = 1) {
  return scale * (T(0.5) * random::of<T>::minus_two_log(random::of<T>::bits(engine)));
}
/// True with the probability p, in steps of 2^-32.
template <class Engine> __device__ inline bool bernoulli(Engine& engine, double p) {
  return random::of<float>::bits(engine) * 2.3283064365386963e-10 < p;
}
/// The index of a weight. `sums[k]` is the sum of the weights up to number k.
template <class Engine>
__device__ inline long long discrete(Engine& engine, const double* sums, long long count) {
  return random::search_sums(sums, count, random::of<double>::unit(engine));
}

/// A gamma distributed number, by Marsaglia and Tsang's method; NaN for parameters below 0 and NaN.
template <class T, class Engine>
__device__ inline T gamma(Engine& engine, double shape, double scale = 1) {
  if (!(shape >= 0 && scale >= 0)) return T(nan(""));
  const double d = (shape < 1 ? shape + 1 : shape) - 1. / 3, c = 1 / sqrt(9 * d);
  double v;
  // c is at most 0.41, so that v is positive for |x| < 2.4, and the first test accepts more than
  // 0.9 of these whatever the shape is: a round is the last one with a probability of more than
  // 0.8.
  for (;;) {
    const double x = normal<T>(engine);
    v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = random::unit53(engine);
    if (u < 1 - 0.0331 * x * x * x * x) break;
    if (log(u) < 0.5 * x * x + d * (1 - v + log(v))) break;
  }
  if (shape < 1) v *= pow(random::unit53(engine), 1 / shape);
  // If the first product is infinite or has lost digits, the result need not.
  const double factor = scale * d;
  if (factor >= 2.2250738585072014e-308 && factor <= 1.7976931348623157e308) return T(factor * v);
  return T(scale * (d * v));
}
/// A beta distributed number: by Johnk's method if both are at most 1, else of two gammas; NaN for
/// parameters that are not greater than 0 or not finite.
template <class T, class Engine> __device__ inline T beta(Engine& engine, double a, double b) {
  if (!(a > 0 && b > 0)) return T(nan(""));
  if (a > 1 || b > 1) {
    double parts[2];
#pragma unroll 1  // twice as much code would take twice as long to compile
    for (int k = 0; k < 2; ++k) parts[k] = gamma<double>(engine, k == 0 ? a : b);
    // The sum of two large numbers may be infinite where that of their halves is not.
    const double half = parts[0] + parts[1] > 1.7976931348623157e308 ? 0.5 : 1;
    return T(half * parts[0] / (half * parts[0] + half * parts[1]));
  }
  // A round is the last one if both uniform numbers are below 0.49, since the powers of these are
  // less than 1/2: with a probability of more than 1/5.
  for (;;) {
    const double x = log(random::unit53(engine)), y = log(random::unit53(engine));
    const double u = x / a, v = y / b;
    const double larger = u > v ? u : v;
    // If both are too small for a number, their difference is too large for the result to be
    // anything but 0 or 1. The factor keeps the digits of small parameters.
    if (larger < -1.7976931348623157e308) return T(x * 0x1p600 * b > y * 0x1p600 * a);
    const double sum = larger + log(exp(u - larger) + exp(v - larger));
    if (sum <= 0) return T(exp(u - sum));
  }
}

namespace random {

// Probabilities of counts by Loader's saddle-point expansion (Fast and accurate computation of
// binomial probabilities, 2000): logarithms of factorials would lose all digits in differences of
// counts near 10^15.

/// k! / (k^k exp(-k)), with a relative error below 10^-10: from 10 on by Stirling's series.
__device__ inline double factorial_ratio(double k) {
  static constexpr double small[10] = {1,
                                       2.718281828459045235,
                                       3.694528049465325114,
                                       4.463452649597259498,
                                       5.118576565607272414,
                                       5.699065309538941571,
                                       6.225752985998998806,
                                       6.711284193392975643,
                                       7.164014937729983570,
                                       7.589807919628523696};
  if (k < 10) return small[int(k)];
  const double x = 1 / k;
  double series = 163879. / 209018880;
  series = fma(series, x, -571. / 2488320);
  series = fma(series, x, -139. / 51840);
  series = fma(series, x, 1. / 288);
  series = fma(series, x, 1. / 12);
  return sqrt(6.283185307179586 * k) * fma(series, x, 1.);
}
/// k log(k / mean) + mean - k: how much less probable a count is because it is not the mean.
__device__ inline double half_deviance(double k, double mean) {
  return k == 0 ? mean : mean - k - k * log1p((mean - k) / k);
}

}  // namespace random

/// The number of successes in `trials`, each with the probability p. Exact: by waiting times if few
/// are expected, else by Hormann's transformed rejection. NaN for a probability outside 0 to 1, and
/// for a number of trials below 0 or infinite.
template <class Engine> __device__ inline double binomial(Engine& engine, double trials, double p) {
  if (!(p >= 0 && p <= 1 && trials >= 0 && trials <= 1.7976931348623157e308)) return nan("");
  const double n = trials, q = p > 0.5 ? 1 - p : p;
  if (q == 0) return p == 0 ? 0 : n;
  double k = 0;
  if (n * q < 10) {
    const double log_failure = log1p(-q);
    // Fewer than ten waiting times are expected; each of them is at least 1.
    double place = floor(log(random::unit53(engine)) / log_failure) + 1;
    for (; place <= n; ++k) place += floor(log(random::unit53(engine)) / log_failure) + 1;
    return p > 0.5 ? n - k : k;
  }
  const double mean = n * q, deviation = sqrt(mean * (1 - q));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * q;
  const double alpha = (2.83 + 5.1 / b) * deviation, surely = 0.92 - 4.2 / b;
  // The probability of a count is, but for a factor, exp(-deviance) / ratio.
  const auto ratio = [&](double count) {
    return random::factorial_ratio(count) * random::factorial_ratio(n - count);
  };
  const auto deviance = [&](double count) {
    return random::half_deviance(count, mean) + random::half_deviance(n - count, n - mean);
  };
  const double mode = floor((n + 1) * q), of_mode = deviance(mode), scale = alpha / ratio(mode);
  // The deviation is at least the root of 5, so that `surely` is at least 0.3: by the first test
  // alone a round is the last one with a probability of more than 1/4.
  for (;;) {
    const double u = random::unit53(engine) - 0.5, v = random::unit53(engine);
    const double s = 0.5 - fabs(u);
    k = floor((2 * a / s + b) * u + mean + 0.5);
    if (s >= 0.07 && v <= surely) break;
    if (k < 0 || k > n) continue;
    if (log(v * scale * ratio(k) * s * s / (a + b * s * s)) <= of_mode - deviance(k)) break;
  }
  return p > 0.5 ? n - k : k;
}

}  // namespace gpu
