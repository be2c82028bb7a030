#pragma once
/// \file
/// XORWOW. The numbers are those of cuRAND's device functions for the same seed, sequence and
/// offset.

#include <gpu/device/random_jumps.cuh>

namespace gpu {

/// XORWOW of Marsaglia: sequences that are 2^67 numbers apart.
class xorwow {
 public:
  /// As `curand_init(seed, sequence, offset, ...)`.
  __device__ explicit xorwow(unsigned long long seed, unsigned long long sequence = 0,
                             unsigned long long offset = 0) {
    const unsigned low = (unsigned(seed) ^ 0xaad26b49u) * 1099087573u;
    const unsigned high = (unsigned(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    v_[0] = 123456789u + low;
    v_[1] = 362436069u ^ low;
    v_[2] = 521288629u + high;
    v_[3] = 88675123u ^ high;
    v_[4] = 5783321u + low;
    weyl_ = 6615241u + low + high;
    skip_sequence(sequence);
    skip(offset);
  }

  /// Returns 32 random bits.
  __device__ unsigned next() {
    step();
    return v_[4] + weyl_;
  }

  /// Skips `count` numbers.
  __device__ void skip(unsigned long long count) {
    jump(0, count);
    weyl_ += 362437u * unsigned(count);
  }
  /// Skips `count` times 2^67 numbers.
  __device__ void skip_sequence(unsigned long long count) { jump(67, count); }

 private:
  __device__ void step() {
    const unsigned t = v_[0] ^ (v_[0] >> 2);
    v_[0] = v_[1];
    v_[1] = v_[2];
    v_[2] = v_[3];
    v_[3] = v_[4];
    v_[4] = (v_[4] ^ (v_[4] << 4)) ^ (t ^ (t << 1));
    weyl_ += 362437u;
  }

  /// Advances by count * 2^first: for each bit by a polynomial of the transition. Not inlined, for
  /// the sake of the time that it takes to compile.
  __device__ __noinline__ void jump(int first, unsigned long long count) {
    const unsigned weyl = weyl_;
    for (; count != 0; count &= count - 1) {
      const unsigned* const polynomial = random::xorwow_jumps[first + __ffsll(count) - 1];
      unsigned sum[5] = {};
      for (int word = 0; word < 5; ++word) {
        unsigned bits = polynomial[word];
        for (int bit = 0; bit < 32; ++bit, bits >>= 1) {
          const unsigned mask = 0u - (bits & 1u);
#pragma unroll
          for (int k = 0; k < 5; ++k) sum[k] ^= v_[k] & mask;
          step();
        }
      }
#pragma unroll
      for (int k = 0; k < 5; ++k) v_[k] = sum[k];
    }
    weyl_ = weyl;
  }

  unsigned v_[5];
  unsigned weyl_;
};

}  // namespace gpu
