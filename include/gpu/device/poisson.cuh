#pragma once
/// \file
/// Poisson distributed numbers.

#include <gpu/device/distributions.cuh>

namespace gpu {
namespace random {

/// 1 / k for k from 1 on; more of them than a search needs.
struct reciprocals {
  double of[192];
  constexpr __host__ __device__ reciprocals() : of() {
    for (int k = 1; k < 192; ++k) of[k] = 1. / k;
  }
};
static __constant__ const reciprocals reciprocal;

/// The probabilities of 0 to k added up, times 2^32, for a mean below 64 and one k after the other.
/// `poisson_sums` of gpu/random/detail/poisson_table.hpp has the same operations for the host: none
/// of them depends on how a compiler joins products and sums, so that both have the same bits.
class poisson_sums {
 public:
  __device__ explicit poisson_sums(double mean) : mean_(mean) {
    // exp(-mean) = 2^-halvings * exp(-rest), with the series of the latter.
    const int halvings = int(fma(mean, 1.4426950408889634, 0.5));
    const double exponent = -halvings;
    const double rest =
        fma(exponent, 2.3190468138462996e-17, fma(exponent, 0.6931471805599453, mean));
    double series = 1;
#pragma unroll 1
    for (int j = 15; j > 0; --j) series = fma(-rest * reciprocal.of[j], series, 1.);
    term_ = sum_ = ldexp(series, 32 - halvings);
  }
  __device__ unsigned count() const { return count_; }
  __device__ double sum() const { return sum_; }
  /// Goes on to the next k. Returns false behind the last one that the sum shows.
  __device__ bool advance() {
    const double factor = mean_ * reciprocal.of[++count_], before = sum_;
    sum_ = fma(term_, factor, sum_);
    term_ = term_ * factor;
    return sum_ != before || count_ < mean_;
  }

 private:
  double mean_, term_, sum_;
  unsigned count_ = 0;
};

/// The smallest k whose sum of probabilities is greater than a uniform number, of which `first` has
/// the first 32 bits. The next 32, which are seldom needed, are from `more`. The sums of means
/// below 64 come within 2^32 * 10^-14 of 2^32, and so beyond all numbers, before k is 192.
template <class More>
__device__ inline unsigned poisson_by_inversion(unsigned first, More& more, double mean) {
  poisson_sums sums(mean);
  while (sums.sum() <= first) sums.advance();
  if (sums.sum() < first + 1.) {
    const double rest = bits32(more) * 2.3283064365386963e-10;
    while (sums.sum() - first <= rest && sums.advance()) continue;
  }
  return sums.count();
}
template <class More>
__device__ __noinline__ unsigned poisson_between(unsigned first, More more, double mean) {
  return poisson_by_inversion(first, more, mean);
}

/// The table of a mean, which the host makes, as each block of threads has it in shared memory. The
/// first 12 bits of a number as a signed float are the place of its entry: sign, exponent, and
/// which eighth of a power of two. There are places without a number, because leaving them out
/// would take further instructions for each number.
struct alignas(8) poisson_entries {
  unsigned at[0xcf8];

  /// Copies what the host has made, by all threads of a block.
  template <class Table> __device__ void fill(const Table& table) {
    // Two entries at a time: threads read parameters one after the other.
    for (unsigned k = threadIdx.x; k < 128; k += blockDim.x) {
      *(uint2*)&at[0x3f8 + 2 * k] = table.low[k];
      *(uint2*)&at[0xbf8 + 2 * k] = table.high[k];
    }
    if (threadIdx.x == 0) at[0] = table.low[0].x;
    __syncthreads();
  }
  /// Returns the entry for a number: the first 24 bits of the only sum in its part, and the count
  /// of numbers up to there. Numbers with the same 24 bits are not decided.
  __device__ unsigned of(unsigned first) const {
    return at[__float_as_uint(__int2float_rz(int(first))) >> 20];
  }
};
__device__ inline unsigned poisson_by_entry(unsigned entry, unsigned first) {
  if (first > entry) ++entry;
  return entry & 255;
}

/// The same by a table.
template <class More>
__device__ inline unsigned poisson_by_table(const poisson_entries& entries, unsigned first,
                                            const More& more, double mean) {
  const unsigned entry = entries.of(first);
  if ((first ^ entry) < 256) return poisson_between(first, more, mean);
  return poisson_by_entry(entry, first);
}
/// The same, or any number and `undecided`: so a group has one branch, and no number waits for the
/// entry of another. benchmarks/random/random_numbers.cu measures it beside cuRAND.
__device__ inline unsigned poisson_quickly(const poisson_entries& entries, unsigned first,
                                           bool& undecided) {
  const unsigned entry = entries.of(first);
  undecided |= (first ^ entry) < 256;
  return poisson_by_entry(entry, first);
}

/// By Hormann's transformed rejection, for means of 10 or more: `surely` is at least 0.4, so that
/// by the first test alone a round is the last one with a probability of more than 1/3.
template <class Engine> __device__ inline double poisson_by_rejection(Engine& engine, double mean) {
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double alpha = 1.1239 + 1.1328 / (b - 3.4), surely = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = unit53(engine) - 0.5, v = unit53(engine);
    const double s = 0.5 - fabs(u), k = floor((2 * a / s + b) * u + mean + 0.43);
    if (s >= 0.07 && v <= surely) return k;
    if (!(k >= 0) || (s < 0.013 && v > s)) continue;
    if (log(v * alpha * factorial_ratio(k) * s * s / (a + b * s * s)) <= -half_deviance(k, mean))
      return k;
  }
}

/// A number of a mean that may differ between elements. `first` are its first 32 bits, all others
/// are from `more`. NaN for a mean below 0 or not finite.
template <class More>
__device__ inline double poisson_from(unsigned first, More& more, double mean) {
  if (!(mean > 0 && mean <= 1.7976931348623157e308)) return mean == 0 ? 0 : nan("");
  if (mean < 64) return poisson_by_inversion(first, more, mean);
  return poisson_by_rejection(more, mean);
}

/// Returns a count that becomes an integer: 0 for NaN, of which PTX makes the least one.
__device__ inline double whole_count(double count) { return count >= 0 ? count : 0; }

}  // namespace random

/// A Poisson distributed number: by the inverse of the distribution function, whose error is less
/// than 10^-14, for means below 64, else by transformed rejection. NaN for a mean below 0 or not
/// finite.
template <class Engine> __device__ inline double poisson(Engine& engine, double mean) {
  return random::poisson_from(mean < 64 ? random::bits32(engine) : 0, engine, mean);
}

}  // namespace gpu
