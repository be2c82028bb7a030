#pragma once
/// \file
/// Makes the numbers of MT19937 in the memory of an engine, from where fills read them.

#include <gpu/algorithm/detail/kernel_store.hpp>
#include <gpu/random/detail/mt19937_jumps.hpp>
#include <gpu/random/detail/random_request.hpp>

namespace gpu::inline v1::detail {

/// Numbers that all generators make of one state each.
inline constexpr std::uint64_t mt19937_range = mt19937_words * std::uint64_t{mt19937_generators};
/// Words of 32 bits before the numbers: what the host has made, and which range each generator has.
inline constexpr std::size_t mt19937_host_words = (1 + mt19937_jumps) * mt19937_words;
inline constexpr std::size_t mt19937_head_words = mt19937_host_words + 2 * mt19937_generators;

inline constexpr char mt19937_source[] = R"gpu(
namespace gpu {
namespace mt19937 {

constexpr int words = 624, distance = 397, generators = 8192, jumps = 13;

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

/// Moves a state on by a polynomial of the transition. The next state is made behind it.
__device__ inline void jump(unsigned* x, const unsigned* polynomial) {
  // Each of some threads adds up an odd number of words, so that they read from different banks, and
  // loads what 16 coefficients select of at once: a tenth of the instructions that a word for each
  // thread would take.
  constexpr int own = 13, adding = words / own, at_once = 16;
  unsigned sum[own] = {};
#pragma unroll 1
  for (int begin = 0; begin < words * 32; begin += words) {
    for (int k = threadIdx.x; k < words; k += blockDim.x) {
      if (begin != 0) x[k] = x[words + k];
      else x[words + k] = x[k];
    }
    __syncthreads();
    advance(x + words);
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

}  // namespace mt19937
}  // namespace gpu

/// A block makes the numbers of one range of a generator, unless they are there: from those that are
/// there, or, if these are behind, from the state of the first generator.
extern "C" __global__ void __launch_bounds__(256)
    gpu_mt19937(unsigned* memory, const unsigned first, const unsigned long long range) {
  using namespace gpu::mt19937;
  __shared__ unsigned x[2 * words];
  const unsigned* const states = memory;
  auto* const made = (unsigned long long*)(memory + (1 + jumps) * words);  // states of each, or 0
  unsigned* const numbers = (unsigned*)(made + generators);
  const unsigned own = (first + blockIdx.x) % generators;
  unsigned long long have = made[own];
  if (have == range + 1) return;
  const bool anew = have == 0 || have > range + 1;
  for (int k = threadIdx.x; k < words; k += blockDim.x) {
    if (anew) x[k] = states[k];
    else x[place(k)] = numbers[k / 8 * (8 * generators) + own * 8 + k % 8];
  }
  __syncthreads();
  if (anew) {
    have = 0;
#pragma unroll 1
    for (int bit = 0; bit < jumps; ++bit) {
      if ((own >> bit & 1) != 0) jump(x, states + (1 + bit) * words);
    }
  }
#pragma unroll 1
  for (; have <= range; ++have) advance(x);
  for (int k = threadIdx.x; k < words; k += blockDim.x)
    numbers[k / 8 * (8 * generators) + own * 8 + k % 8] = x[place(k)];
  if (threadIdx.x == 0) made[own] = range + 1;
}
)gpu";

struct mt19937_family;

/// Makes numbers `begin` to `begin + count - 1` of a range in the memory of the engine.
inline result<> make_mt19937(const random_request& request, const stream_ref& stream,
                             std::uint64_t range, std::uint64_t begin, std::uint64_t count,
                             source_location where) {
  const char* const function = request.recipe().function;
  kernel_store* const store = shared_store<mt19937_family>();
  if (store == nullptr)
    return fail(out_of_host_memory_error(function, sizeof(kernel_store), where));
  const untyped_kernel* const kernel =
      GPU_TRY(store->find(stream, 0, where, [](generated_program& program) -> result<> {
        program.kernel = required(text("gpu_mt19937"));
        program.source.part("gpu_mt19937.cu", required(text(mt19937_source)));
        program.options.default_device = true;
        program.options.standard = cpp_standard::cpp17;
        return {};
      }));
  // Eight numbers of each generator follow each other.
  auto first = static_cast<std::uint32_t>(begin / 8 % mt19937_generators);
  std::uint64_t blocks = (begin % 8 + count - 1) / 8 + 1;
  if (blocks > mt19937_generators) blocks = mt19937_generators;
  CUdeviceptr memory = request.source.place.device_address();
  void* arguments[] = {&memory, &first, &range};
  return launch_generated(stream, {static_cast<std::uint32_t>(blocks), 256}, *kernel, arguments,
                          where);
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
