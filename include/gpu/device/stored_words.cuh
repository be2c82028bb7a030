#pragma once
/// \file
/// Numbers in the memory of an engine, for the kernels of fills.

#include <gpu/device/sobol.cuh>

class stored_words {
 public:
  __device__ stored_words(const void* memory, unsigned long long place)
      : next_((const unsigned*)memory + place) {}
  __device__ unsigned next() {
    unsigned y = *next_++;
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

 private:
  const unsigned* next_;
};

// Each number is made of one word, as in cuRAND: real ones in the middle of its interval.
__device__ inline unsigned long long bits53(stored_words& words) {
  return (unsigned long long)words.next() << 21 | 1u << 20;
}
__device__ inline double unit53(stored_words& words) {
  return words.next() * 2.3283064365386963e-10 + 1.1641532182693481e-10;
}
namespace gpu {
template <class T> __device__ inline T normal(stored_words& words) {
  return random::normal_at_bits<T>(bits53(words));
}
}  // namespace gpu
