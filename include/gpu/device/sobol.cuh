#pragma once
/// \file
/// Sobol's sequences, and the distributions that keep their order.

#include <gpu/device/distributions.cuh>

namespace gpu {

/// One dimension of Sobol's sequence, in the order of Gray's code. `vectors` has a direction vector
/// for each bit of a Word.
template <class Word> class sobol {
 public:
  /// As `curand_init(vectors, scramble, offset, ...)`.
  __device__ explicit sobol(const Word* vectors, Word scramble = 0, Word offset = 0)
      : vectors_(vectors), index_(0), value_(scramble) {
    skip(offset);
  }

  /// Returns the next number, with as many bits as a Word.
  __device__ Word next() {
    const Word result = value_;
    value_ ^= vectors_[lowest_zero(index_)];
    ++index_;
    return result;
  }

  /// Skips `count` numbers.
  __device__ void skip(Word count) {
    const Word from = index_ ^ (index_ >> 1);
    index_ += count;
    Word changed = from ^ index_ ^ (index_ >> 1);
    for (int bit = 0; changed != 0; ++bit, changed >>= 1) {
      if (changed & 1) value_ ^= vectors_[bit];
    }
  }

 private:
  __device__ static int lowest_zero(Word index) {
    const int place = __ffsll((long long)~index);  // 0 behind the last number of all
    const int last = int(sizeof(Word)) * 8 - 1;
    return place == 0 || place > last ? last : place - 1;
  }

  const Word* vectors_;
  Word index_, value_;
};

using sobol32 = sobol<unsigned>;
using sobol64 = sobol<unsigned long long>;

// A number of a sequence of low discrepancy takes one element of it, so that distributions keep the
// order: they invert the distribution function.

__device__ inline unsigned bits32(sobol32& engine) { return engine.next(); }
__device__ inline unsigned bits32(sobol64& engine) { return unsigned(engine.next() >> 32); }
__device__ inline unsigned long long bits53(sobol32& engine) {
  return (unsigned long long)engine.next() << 21 | 1u << 20;  // in the middle of its interval
}
__device__ inline unsigned long long bits53(sobol64& engine) { return engine.next() >> 11; }
__device__ inline unsigned long long bits64(sobol64& engine) { return engine.next(); }
__device__ inline double unit53(sobol32& engine) {  // as cuRAND
  return engine.next() * 2.3283064365386963e-10 + 2.3283064365386963e-10;
}

namespace random {

template <int Bytes> struct unsigned_of {
  using type = unsigned;
};
template <> struct unsigned_of<8> {
  using type = unsigned long long;
};
template <class Index> using unsigned_index = typename unsigned_of<sizeof(Index)>::type;

/// Number 4 * high + low of a dimension that is not scrambled, from the tables that the host makes
/// of its direction vectors: for each four bits of the number, what these 16 cases contribute. The
/// four numbers of one `high` share all but one of them.
template <class Word>
__device__ inline Word sobol_number(const Word* tables, Word high, unsigned low) {
  Word value = 0;
#pragma unroll
  for (int bit = 2; bit < int(sizeof(Word)) * 8 - 2; bit += 4)
    value ^= tables[(bit / 4 + 1) * 16 + unsigned(high >> bit & 15)];
  return value ^ tables[unsigned(high & 3) * 4 + low];
}

// From the middle outwards, where floating-point numbers are dense.
template <class T> __device__ T normal_at_bits(unsigned long long bits);
template <> __device__ inline float normal_at_bits<float>(unsigned long long bits) {
  const unsigned x = unsigned(bits >> 21), below = x < 0x80000000u ? x : ~x;
  const float size = normcdfinvf(below * 2.3283064365386963e-10f + 1.1641532182693481e-10f);
  return x < 0x80000000u ? size : -size;
}
template <> __device__ inline double normal_at_bits<double>(unsigned long long bits) {
  const unsigned long long below = bits < 1ull << 52 ? bits : 0x1fffffffffffff - bits;
  const double size = normcdfinv(below * 1.1102230246251565e-16 + 5.5511151231257827e-17);
  return bits < 1ull << 52 ? size : -size;
}
}  // namespace random

template <class T, class Word> __device__ inline T normal(sobol<Word>& engine) {
  return random::normal_at_bits<T>(bits53(engine));
}
template <class T, class Word>
__device__ inline T normal(sobol<Word>& engine, T mean, T deviation) {
  return random::of<T>::multiply_add(deviation, normal<T>(engine), mean);
}
template <class T, class Word>
__device__ inline T log_normal(sobol<Word>& engine, T mean, T deviation) {
  return random::of<T>::exp_of(normal<T>(engine, mean, deviation));
}

/// The smallest k up to which the probabilities of a Poisson distribution add up to a uniform
/// number. Takes time in proportion to the standard deviation: each loop goes on by 1, below 2^53,
/// until the probability of k is too small. NaN for a mean below 0 or above 10^15.
template <class Word> __device__ inline double poisson(sobol<Word>& engine, double mean) {
  const double u = bits53(engine) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
  if (!(mean > 0 && mean <= 1e15)) return mean == 0 ? 0 : nan("");
  // The logarithm of the factorial has no digits left behind the point for large means.
  double k = floor(mean), sum = 0;
  double p = mean < 1e6 ? exp(k * log(mean) - mean - lgamma(k + 1))
                        : exp(-random::half_deviance(k, mean)) / random::factorial_ratio(k);
  for (double below = k, term = p; below >= 0 && term > 1e-20; --below) {
    sum += term;
    term *= below / mean;
  }
  while (sum < u && p > 1e-20) {
    ++k;
    p *= mean / k;
    sum += p;
  }
  while (k > 0 && sum - p >= u) {
    sum -= p;
    p *= k / mean;
    --k;
  }
  return k;
}

}  // namespace gpu
