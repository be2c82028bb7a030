#pragma once
/// \file
/// MRG32k3a. The numbers are those of cuRAND's device functions for the same seed, sequence and
/// offset.

#include <gpu/device/random_jumps.cuh>

namespace gpu {

/// MRG32k3a of L'Ecuyer: sequences that are 2^76 numbers apart.
class mrg32k3a {
 public:
  /// As `curand_init(seed, sequence, offset, ...)`.
  __device__ explicit mrg32k3a(unsigned long long seed, unsigned long long sequence = 0,
                               unsigned long long offset = 0) {
    unsigned long long low = 1, high = 1;
    if (seed != 0) {
      low = unsigned(seed) ^ 0x55555555u;
      high = unsigned(seed >> 32) ^ 0xAAAAAAAAu;
    }
    a_[0] = a_[2] = 12345u * low % m1;
    a_[1] = 12345u * high % m1;
    b_[0] = b_[2] = 12345u * high % m2;
    b_[1] = 12345u * low % m2;
    skip_sequence(sequence);
    skip(offset);
  }

  /// Returns a number from 1 to 4294967087, all of them equally likely.
  __device__ unsigned next_state() {
    step();
    const unsigned long long difference = a_[2] > b_[2] ? a_[2] - b_[2] : a_[2] + m1 - b_[2];
    return unsigned(difference);
  }
  /// Returns 32 bits: the number scaled to the range of `unsigned`, as by `curand`.
  __device__ unsigned next() { return unsigned(next_state() * 1.000000048662); }

  /// Skips `count` numbers.
  __device__ void skip(unsigned long long count) { jump(0, count); }
  /// Skips `count` times 2^76 numbers, as cuRAND's `skipahead_subsequence`.
  __device__ void skip_sequence(unsigned long long count) { jump(76, count); }
  /// Skips `count` times 2^127 numbers, as cuRAND's `skipahead_sequence`.
  __device__ void skip_stream(unsigned long long count) { jump(127, count); }

 private:
  static constexpr unsigned long long m1 = 4294967087u, m2 = 4294944443u;

  __device__ void step() {
    const unsigned long long a = (1403580u * a_[1] + 810728u * (m1 - a_[0])) % m1;
    const unsigned long long b = (527612u * b_[2] + 1370589u * (m2 - b_[0])) % m2;
    a_[0] = a_[1];
    a_[1] = a_[2];
    a_[2] = a;
    b_[0] = b_[1];
    b_[1] = b_[2];
    b_[2] = b;
  }

  /// Advances by count * 2^first: for each bit by a polynomial of the transition. Not inlined, for
  /// the sake of the time that it takes to compile.
  __device__ __noinline__ void jump(int first, unsigned long long count) {
    for (; count != 0; count &= count - 1) {
      const unsigned* const c = random::mrg32k3a_jumps[first + __ffsll(count) - 1];
      unsigned long long a[3] = {}, b[3] = {};
      for (int power = 0; power < 3; ++power) {
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          a[k] = (a[k] + c[power] * a_[k] % m1) % m1;
          b[k] = (b[k] + c[3 + power] * b_[k] % m2) % m2;
        }
        step();
      }
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        a_[k] = a[k];
        b_[k] = b[k];
      }
    }
  }

  unsigned long long a_[3], b_[3];
};

// In (0, 1], as `curand_uniform` and `curand_uniform_double` have them: from one number.
__device__ inline float unit32(mrg32k3a& engine) {
  return float(engine.next_state() * 2.3283065498378288e-10);
}
__device__ inline double unit53(mrg32k3a& engine) {
  return engine.next_state() * 2.3283065498378288e-10;
}
__device__ inline unsigned long long bits53(mrg32k3a& engine) {
  return (unsigned long long)(unit53(engine) * 9007199254740992.0);
}

}  // namespace gpu
