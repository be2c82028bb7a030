#pragma once
/// \file
/// Makes the numbers of MT19937 in the memory of an engine, from where fills read them.

#include <gpu/algorithm/detail/kernel_store.hpp>
#include <gpu/random/detail/mt19937_jumps.hpp>
#include <gpu/random/detail/random_request.hpp>

namespace gpu::inline v1::detail {

/// Numbers that all generators make of one state each.
inline constexpr std::uint64_t mt19937_range = mt19937_words * std::uint64_t{mt19937_generators};
/// Words of 32 bits before the numbers: what the host has made, which range each generator has, and
/// how often a few numbers of it were made.
inline constexpr std::size_t mt19937_head_words =
    (1 + mt19937_jumps) * mt19937_words + 3 * mt19937_generators;
/// The most numbers of a range that are made alone, without a state for each generator.
inline constexpr std::uint64_t mt19937_few = 32 * std::uint64_t{mt19937_generators};
/// Words behind the numbers of a range: a few numbers, for whole groups of generators.
inline constexpr std::uint64_t mt19937_few_words = mt19937_few + 2 * 8 * mt19937_group;

inline constexpr char mt19937_source[] = R"gpu(
namespace gpu {
namespace mt19937 {

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
    if (begin != 0) x[k] = x[words + k];
    else x[words + k] = x[k];
  }
  __syncthreads();
  advance(x + words);
}

/// Moves a state on by a polynomial of the transition.
__device__ inline void jump(unsigned* x, const unsigned* polynomial) {
  // Each of some threads adds up an odd number of words, so that they read from different banks, and
  // loads what 16 coefficients select of at once: a tenth of the instructions that a word for each
  // thread would take.
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
#pragma unroll 1
  for (int bit = step_bits; bit < range_bits; ++bit) {
    if ((states >> bit & 1) != 0)
      jump(x, polynomials + (group + group_bits + bit - step_bits) * words);
  }
#pragma unroll 1
  for (int left = (int)(states % (1 << step_bits)); left > 0; --left) advance(x);
}

/// Makes the first state of the first generator of a group.
__device__ inline void start(unsigned* x, unsigned number, const parts& p) {
  for (int k = threadIdx.x; k < words; k += blockDim.x) x[k] = p.seeded[k];
  __syncthreads();
  // Of the seeded state one word has 31 bits that no other depends on, so polynomials would not move
  // it exactly.
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

}  // namespace mt19937
}  // namespace gpu

/// A block makes the numbers of one range of a generator, unless they are there: from those that are
/// there, or, if these are behind, from the state of the first generator. What takes long waits
/// until a few numbers of the generator were made `patience` times.
extern "C" __global__ void __launch_bounds__(256)
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
/// first one, a number of which is a hundredth of the work for a state.
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
)gpu";

struct mt19937_family;

/// Makes numbers `begin` to `begin + count - 1` of a range in the memory of the engine, and returns
/// where the first one is.
inline result<std::uint64_t> make_mt19937(const random_request& request, const stream_ref& stream,
                                          std::uint64_t range, std::uint64_t begin,
                                          std::uint64_t count, source_location where) {
  const char* const function = request.recipe().function;
  kernel_store* const store = shared_store<mt19937_family>();
  if (store == nullptr)
    return fail(out_of_host_memory_error(function, sizeof(kernel_store), where));
  const untyped_kernel* const kernels =
      GPU_TRY(store->find(stream, 0, where, [](generated_program& program) -> result<> {
        program.kernel = required(text("gpu_mt19937"));
        program.more_kernels.push_back(required(text("gpu_mt19937_few")));
        program.source.part("gpu_mt19937.cu", required(text(mt19937_source)));
        program.options.default_device = true;
        program.options.standard = cpp_standard::cpp17;
        return {};
      }));
  // Eight numbers of each generator follow each other.
  auto first = static_cast<std::uint32_t>(begin / 8);
  auto end = static_cast<std::uint32_t>((begin + count - 1) / 8 + 1);
  const std::uint32_t blocks = end - first < mt19937_generators ? end - first : mt19937_generators;
  const bool few = count <= mt19937_few;
  std::uint32_t patience = few ? 8 : 0;
  CUdeviceptr memory = request.source.place.device_address();
  void* arguments[] = {&memory, &first, &range, &patience};
  GPU_TRY(launch_generated(stream, {blocks, 256}, kernels[0], arguments, where));
  if (!few) return mt19937_head_words + begin;
  const std::uint32_t group = first / mt19937_group, groups = (end - 1) / mt19937_group + 1 - group;
  void* of_few[] = {&memory, &first, &end, &range};
  GPU_TRY(launch_generated(stream, {groups, mt19937_group}, kernels[1], of_few, where));
  return mt19937_head_words + mt19937_range + begin - std::uint64_t{group} * mt19937_group * 8;
}

/// Numbers in the memory of an engine, for the kernels of fills.
inline constexpr char mt19937_preamble[] = R"gpu(
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
)gpu";

}  // namespace gpu::inline v1::detail
