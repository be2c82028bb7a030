#pragma once
/// \file
/// The kernels that make the numbers of MT19937.

namespace gpu { namespace mt19937 {

constexpr int words = 624, distance = 397, generators = 8192;
// Polynomials: for each generator of a group, for the bits of a group, and of a range.
constexpr int group = 256, group_bits = 5, range_bits = 42, step_bits = 10;
constexpr int jumps = group + group_bits + range_bits - step_bits;

/// The memory of an engine.
struct parts {
  const unsigned* seeded;       // the state of the first generator
  const unsigned* polynomials;  // 624 words each
  unsigned long long* made;     // states that each generator has made; 0: none
  unsigned* uses;               // how often a few numbers of each were made without a state
  unsigned* numbers;            // of a range
  unsigned* few;                // behind them
  __device__ explicit parts(unsigned* memory)
      : seeded(memory),
        polynomials(memory + words),
        made((unsigned long long*)(memory + (1 + jumps) * words)),
        uses((unsigned*)(made + generators)),
        numbers(uses + generators),
        few(numbers + words * generators) {}
};

/// Where the numbers 0 to 7 of a row are in the output of a generator; those of the rows behind it
/// are 7 apart, from `later[(row - 1) / 7] + (row - 1) % 7` on. This is the order of cuRAND.
__device__ const unsigned short first[8] = {0, 113, 170, 283, 340, 397, 510, 567};
__device__ const unsigned short later[11] = {1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};

__device__ inline int place(int k) {
  const int row = k / 8, column = k % 8;
  return row == 0 ? first[column] : later[(row - 1) / 7] + (row - 1) % 7 + 7 * column;
}

/// Replaces a state by the next one, in three parts whose words do not depend on each other.
__device__ inline void advance(unsigned* x) {
#pragma unroll 1
  for (int part = 0; part < 3; ++part) {
    const int k = part * (words - distance) + threadIdx.x;
    const bool own = threadIdx.x < words - distance && k < words;
    unsigned made = 0;
    if (own) {
      const unsigned y = (x[k] & 0x80000000u) | (x[(k + 1) % words] & 0x7fffffffu);
      made = x[(k + distance) % words] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0u);
    }
    __syncthreads();
    if (own) x[k] = made;
    __syncthreads();
  }
}

/// Puts the words of the output from `begin` on into x, a multiple of 624, and the 624 next ones
/// behind them. Those before have to be there.
__device__ inline void slide(unsigned* x, int begin) {
  for (int k = threadIdx.x; k < words; k += blockDim.x) {
    if (begin != 0)
      x[k] = x[words + k];
    else
      x[words + k] = x[k];
  }
  __syncthreads();
  advance(x + words);
}

/// Moves a state on by a polynomial of the transition.
__device__ inline void jump(unsigned* x, const unsigned* polynomial) {
  // Each of some threads adds up an odd number of words, so that they read from different banks,
  // and loads what 16 coefficients select of at once: a tenth of the instructions that a word for
  // each thread would take.
  constexpr int own = 13, adding = words / own, at_once = 16;
  unsigned sum[own] = {};
#pragma unroll 1
  for (int begin = 0; begin < words * 32; begin += words) {
    slide(x, begin);
    if (threadIdx.x < adding) {
#pragma unroll 1
      for (int step = 0; step < words; step += at_once) {
        const int bit = begin + step;
        const unsigned coefficients = polynomial[bit / 32] >> (bit % 32);
        unsigned from[own + at_once - 1];
#pragma unroll
        for (int k = 0; k < own + at_once - 1; ++k) from[k] = x[threadIdx.x * own + step + k];
#pragma unroll
        for (int power = 0; power < at_once; ++power) {
          if ((coefficients >> power & 1) == 0) continue;
#pragma unroll
          for (int k = 0; k < own; ++k) sum[k] ^= from[power + k];
        }
      }
    }
    __syncthreads();
  }
  if (threadIdx.x < adding) {
#pragma unroll
    for (int k = 0; k < own; ++k) x[threadIdx.x * own + k] = sum[k];
  }
  __syncthreads();
}

/// Moves a state on by a number of states: far by polynomials, and the rest step by step.
__device__ inline void move(unsigned* x, unsigned long long states, const unsigned* polynomials) {
  const unsigned* next = polynomials + (group + group_bits) * words;
#pragma unroll 1
  for (unsigned long long far = states >> step_bits; far != 0; far >>= 1, next += words) {
    if ((far & 1) != 0) jump(x, next);
  }
#pragma unroll 1
  for (int left = (int)(states % (1 << step_bits)); left > 0; --left) advance(x);
}

/// Makes the first state of the first generator of a group.
__device__ inline void start(unsigned* x, unsigned number, const parts& p) {
  for (int k = threadIdx.x; k < words; k += blockDim.x) x[k] = p.seeded[k];
  __syncthreads();
  // Of the seeded state one word has 31 bits that no other depends on, so polynomials would not
  // move it exactly.
  advance(x);
#pragma unroll 1
  for (int bit = 0; bit < group_bits; ++bit) {
    if ((number >> bit & 1) != 0) jump(x, p.polynomials + (group + bit) * words);
  }
}

/// Eight numbers.
struct __align__(16) eight {
  unsigned long long pairs[4];
};

/// For each choice of four words that follow each other, the sum of the chosen ones, for eight
/// numbers at once.
struct choices {
  static constexpr int steps = 208;  // words that have sums at a time: a third of a state
  eight sums[steps / 4][16];

  /// Adds up words of x, each thread for one of the eight numbers, which begins at x.
  __device__ void make(const unsigned* x) {
    constexpr int numbers = 8;
    for (int fours = threadIdx.x / numbers; fours < steps / 4; fours += blockDim.x / numbers) {
      unsigned* const to = (unsigned*)sums[fours] + threadIdx.x % numbers;
      unsigned sum[16] = {};
#pragma unroll
      for (int bit = 0; bit < 4; ++bit) {
        const unsigned word = x[4 * fours + bit];
#pragma unroll
        for (int chosen = 0; chosen < 1 << bit; ++chosen)
          sum[chosen + (1 << bit)] = sum[chosen] ^ word;
      }
#pragma unroll
      for (int chosen = 0; chosen < 16; ++chosen) to[chosen * numbers] = sum[chosen];
    }
  }
  /// Adds the words that the coefficients of a polynomial choose.
  __device__ void add(eight& to, const unsigned short* coefficients) const {
#pragma unroll 1
    for (int step = 0; step < steps; step += 16) {
      const unsigned bits = coefficients[step / 16];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const eight more = sums[step / 4 + k][bits >> 4 * k & 15];
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) to.pairs[pair] ^= more.pairs[pair];
      }
    }
  }
};

}}  // namespace gpu::mt19937

/// A block makes the numbers of one range of a generator, unless they are there: from those that
/// are there, or, if these are behind, from the state of the first generator. What takes long waits
/// until a few numbers of the generator were made `patience` times.
// With registers for seven blocks at a time a range takes a seventh less time on an H200
// (benchmarks/random/random_numbers.cu).
extern "C" __global__ void __launch_bounds__(256, 7)
    gpu_mt19937(unsigned* memory, const unsigned first, const unsigned long long range,
                const unsigned patience) {
  using namespace gpu::mt19937;
  __shared__ unsigned x[2 * words];
  const parts p(memory);
  const unsigned own = (first + blockIdx.x) % generators;
  unsigned long long have = p.made[own];
  if (have == range + 1) return;
  const bool anew = have == 0 || have > range + 1;
  if ((anew || range + 1 - have > 8) && p.uses[own] < patience) return;
  unsigned* const numbers = p.numbers + own * 8;
  if (anew) {
    start(x, own / group, p);
    if (own % group != 0) jump(x, p.polynomials + own % group * words);
    have = 1;
  } else {
    for (int k = threadIdx.x; k < words; k += blockDim.x)
      x[place(k)] = numbers[k / 8 * (8 * generators) + k % 8];
    __syncthreads();
  }
  move(x, range + 1 - have, p.polynomials);
  for (int k = threadIdx.x; k < words; k += blockDim.x)
    numbers[k / 8 * (8 * generators) + k % 8] = x[place(k)];
  if (threadIdx.x == 0) p.made[own] = range + 1;
}

/// A block makes eight numbers of each generator of a group, of those eights from `begin` to `end`
/// in a range. It copies what is there. The others of a generator are sums of words of the group's
/// first one, which takes a hundredth of the work for a state.
extern "C" __global__ void __launch_bounds__(256)
    gpu_mt19937_few(unsigned* memory, const unsigned begin, const unsigned end,
                    const unsigned long long range) {
  using namespace gpu::mt19937;
  __shared__ unsigned x[2 * words];
  __shared__ choices chosen;
  const parts p(memory);
  const unsigned at = (begin / group + blockIdx.x) * group + threadIdx.x;
  const unsigned row = at / generators, own = at % generators;
  eight* const few = (eight*)p.few + blockIdx.x * group + threadIdx.x;
  const bool wanted = at >= begin && at < end, there = wanted && p.made[own] == range + 1;
  if (there) *few = ((const eight*)p.numbers)[at];
  const bool missing = wanted && !there;
  if (!__syncthreads_or(missing)) return;
  start(x, own / group, p);
  move(x, range, p.polynomials);
  const int from = place(row * 8 + threadIdx.x % 8);
  const auto* const coefficients = (const unsigned short*)(p.polynomials + threadIdx.x * words);
  eight sum = {};
#pragma unroll 1
  for (int window = 0; window < words * 32; window += words) {
    slide(x, window);
#pragma unroll 1
    for (int step = 0; step < words; step += choices::steps) {
      chosen.make(x + from + step);
      __syncthreads();
      if (missing) chosen.add(sum, coefficients + (window + step) / 16);
      __syncthreads();
    }
  }
  if (!missing) return;
  *few = sum;
  atomicAdd(p.uses + own, 1u);
}
