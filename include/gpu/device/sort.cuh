#pragma once
/// \file
/// Sorting: a radix sort from the least significant digit, in one sweep for each digit of 8 bits.
/// The sweep follows Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort
/// for GPUs", 2022 (arXiv:2206.01784): all digits are counted at once; then, for each digit, a tile
/// publishes how often each value of the digit occurs in it, adds up what the tiles before it
/// published, and so knows where its keys go.

namespace gpu { namespace sorting {

constexpr int digits = 256;
constexpr unsigned all_lanes = 0xffffffff;

/// The memory that the passes of one sort share. It begins as zeros.
struct state {
  unsigned long long starts[8][digits];  ///< how often a digit occurs; then, where its keys begin
  int step[8];       ///< the passes that are run are numbered; -1 for one that changes nothing
  int steps;         ///< how many passes are run
  unsigned counted;  ///< blocks that have counted
  unsigned next_tile[8];
};

/// The arguments of all kernels, as the host has them. Step 0 reads `keys` and writes `keys_a`,
/// step 1 reads `keys_a` and writes `keys_b`, step 2 reads `keys_b`, and so on; values likewise.
struct call {
  const void* keys;
  void* keys_a;
  void* keys_b;
  const void* values;  ///< null if the values are the positions of the keys
  void* values_a;
  void* values_b;
  state* shared;
  void* counts;  ///< of two steps, what the tiles have published
  unsigned long long n;
  unsigned long long wanted;  ///< how many results the kernel of one block writes
  unsigned long long
      flip;  ///< the bits of an integer that are inverted; all bits to sort downwards
  unsigned long long tiles;
  int least_steps;
  int even_steps;  ///< whether an even number of passes has to run
  int keep_keys;   ///< whether the last step writes keys
};

/// Keys as bits: unsigned integers in the order of the keys. `Exponent` is how many bits the
/// exponent of a floating-point number has, 0 for an integer, and 1 for a bool, of which all bytes
/// but 0 are true. NaN comes last, -0 equals 0.
template <class BitsType, int Exponent> struct key_format {
  using bits = BitsType;
  static constexpr int width = 8 * int(sizeof(bits));
  static constexpr int passes = int(sizeof(bits));

  static __device__ bits ordered(bits key) {
    if constexpr (Exponent == 0) {
      return key;
    } else if constexpr (Exponent == 1) {
      return key != 0;
    } else {
      constexpr bits sign = bits(bits(1) << (width - 1));
      constexpr bits infinity = bits(((bits(1) << Exponent) - 1) << (width - 1 - Exponent));
      constexpr bits all = bits(~bits(0));
      const bits size = bits(key & bits(~sign));
      const bits flipped = bits(key ^ (key & sign ? all : sign));
      const bits with_zero = size == 0 ? sign : flipped;
      return size > infinity ? all : with_zero;
    }
  }
  /// Returns the digit from bit `shift` upwards. `flip` inverts bits of a key as it is ordered.
  static __device__ unsigned digit(bits key, bits flip, int shift) {
    return unsigned(bits(ordered(key) ^ flip) >> shift) & (digits - 1);
  }
};

/// A value whose parts are aligned less than the whole.
template <class Part, int Count> struct parts {
  Part part[Count];
};

/// Stands in for the values of a sort without values.
struct no_value {};
template <class Value> constexpr bool is_moved = true;
template <> constexpr bool is_moved<no_value> = false;

/// Sets a value to the position of its key.
template <class Value> __device__ inline void set_position(Value&, unsigned long long) {}
__device__ inline void set_position(unsigned& value, unsigned long long position) {
  value = unsigned(position);
}
__device__ inline void set_position(unsigned long long& value, unsigned long long position) {
  value = position;
}

/// Returns the lanes of the warp that have the same digit.
__device__ inline unsigned lanes_with(unsigned digit) {
  unsigned same = all_lanes;
#pragma unroll
  for (int shift = 24; shift < 32; ++shift) {
    // The sign is what the compiler makes the fewest instructions of: five for a bit.
    const int bit_as_sign = int(digit << shift);
    const unsigned set = __ballot_sync(all_lanes, bit_as_sign < 0);
    same &= ~(set ^ unsigned(bit_as_sign >> 31));
  }
  return same;
}

/// Returns the sum of what the threads before this one have. `sums` has a place for each warp.
template <int Threads> __device__ inline unsigned sum_before(unsigned own, unsigned* sums) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned up_to = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const unsigned before = __shfl_up_sync(all_lanes, up_to, step);
    if (lane >= step) up_to += before;
  }
  if (lane == 31) sums[warp] = up_to;
  __syncthreads();
  unsigned before = up_to - own;
  for (unsigned w = 0; w < warp; ++w) before += sums[w];
  __syncthreads();
  return before;
}

/// The same for numbers of up to 48 bits, in two parts: the sum of 256 numbers of 24 bits fits
/// in 32.
template <int Threads>
__device__ inline unsigned long long wide_sum_before(unsigned long long own, unsigned* sums) {
  const unsigned long long low = sum_before<Threads>(unsigned(own & 0xffffff), sums);
  const unsigned long long high = sum_before<Threads>(unsigned(own >> 24), sums);
  return (high << 24) + low;
}

/// Returns whether this is the last block of the grid to call it. What the others wrote before is
/// then visible. `finished` counts blocks, from 0.
__device__ inline bool is_last_block(unsigned* finished) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(finished, 1u) == gridDim.x - 1;
  __syncthreads();
  __threadfence();
  return is_last;
}

/// Ranks the keys of a block. Each warp has consecutive keys, and key k of a thread is 32 k after
/// the first. Keys past the valid ones count as the last digit, so they stay at the end.
template <class Keys, int Threads, int Items> struct ranking {
  using bits = typename Keys::bits;
  static constexpr int warps = Threads / 32;
  static_assert(Threads >= digits && Threads % 32 == 0, "a thread for each digit");

  unsigned (*of_warps)[digits];  ///< in shared memory: first counts, then positions
  unsigned* sums;                ///< in shared memory, one for each warp
  bits flip;
  int shift;
  unsigned first;  ///< the thread's first key in the block
  unsigned valid;  ///< keys of the block
  int rounds;      ///< keys of a thread, at most Items

  __device__ unsigned digit(const bits (&keys)[Items], int k) const {
    return first + 32 * k < valid ? Keys::digit(keys[k], flip, shift) : digits - 1;
  }

  /// Counts the digits of each warp.
  __device__ void count(const bits (&keys)[Items]) const {
    unsigned* const own = of_warps[threadIdx.x / 32];
    for (int d = int(threadIdx.x % 32); d < digits; d += 32) own[d] = 0;
    __syncwarp();
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (k < rounds) atomicAdd(&own[digit(keys, k)], 1u);
    }
    __syncthreads();
  }

  /// Returns how often digit threadIdx.x occurs in the block.
  __device__ unsigned count_of_block() const {
    unsigned total = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w) total += of_warps[w][threadIdx.x];
    return total;
  }

  /// Makes positions in the block of the counts, and returns where digit threadIdx.x begins.
  __device__ unsigned start(unsigned total) const {
    unsigned position = sum_before<Threads>(total, sums);
    const unsigned begin = position;
    if (threadIdx.x < digits) {
#pragma unroll
      for (int w = 0; w < warps; ++w) {
        const unsigned own = of_warps[w][threadIdx.x];
        of_warps[w][threadIdx.x] = position;
        position += own;
      }
    }
    __syncthreads();
    return begin;
  }

  /// Sets the position of each key among those of the block.
  __device__ void rank(const bits (&keys)[Items], unsigned (&position)[Items]) const {
    unsigned* const own = of_warps[threadIdx.x / 32];
    const unsigned lanes_before = (1u << threadIdx.x % 32) - 1;
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (k < rounds) {
        const unsigned d = digit(keys, k);
        const unsigned same = lanes_with(d);
        unsigned begin = 0;
        if ((same & lanes_before) == 0) begin = atomicAdd(&own[d], unsigned(__popc(same)));
        begin = __shfl_sync(all_lanes, begin, __ffs(int(same)) - 1);
        position[k] = begin + unsigned(__popc(same & lanes_before));
      }
    }
  }
};

/// Sorts up to Threads * Items keys with one block. Values are moved once, at the end.
template <class Keys, class Value, int Threads, int Items>
__device__ inline void sort_block(const call& c) {
  using bits = typename Keys::bits;
  constexpr int tile = Threads * Items;
  __shared__ unsigned of_warps[Threads / 32][digits];
  __shared__ unsigned sums[Threads / 32];
  extern __shared__ unsigned long long gpu_sort_memory[];
  bits* const moved_keys = reinterpret_cast<bits*>(gpu_sort_memory);
  unsigned short* const moved_origins = reinterpret_cast<unsigned short*>(moved_keys + tile);

  const unsigned n = unsigned(c.n);
  const int rounds = int((n + Threads - 1) / Threads);
  const unsigned first = threadIdx.x / 32 * 32 * rounds + threadIdx.x % 32;
  bits keys[Items];
  unsigned origin[Items], position[Items];
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    origin[k] = first + 32 * k;
    keys[k] = 0;
    if (k < rounds && origin[k] < n) keys[k] = static_cast<const bits*>(c.keys)[origin[k]];
  }
#pragma unroll 1
  for (int shift = 0; shift < Keys::width; shift += 8) {
    const ranking<Keys, Threads, Items> ranks{of_warps, sums, bits(c.flip), shift,
                                              first,    n,    rounds};
    ranks.count(keys);
    const unsigned total = threadIdx.x < digits ? ranks.count_of_block() : 0;
    const unsigned padding = threadIdx.x == digits - 1 ? rounds * Threads - n : 0;
    if (__syncthreads_or(total - padding == n)) continue;  // all have the same digit
    ranks.start(total);
    ranks.rank(keys, position);
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (k < rounds) {
        moved_keys[position[k]] = keys[k];
        moved_origins[position[k]] = (unsigned short)origin[k];
      }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (k < rounds) {
        keys[k] = moved_keys[first + 32 * k];
        origin[k] = moved_origins[first + 32 * k];
      }
    }
    __syncthreads();
  }
  const unsigned wanted = unsigned(c.wanted);
  if (c.keep_keys) {
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (first + 32 * k < wanted && k < rounds)
        static_cast<bits*>(c.keys_a)[first + 32 * k] = keys[k];
    }
  }
  if constexpr (is_moved<Value>) {
    Value values[Items];
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (k < rounds && first + 32 * k < wanted) {
        if (c.values == nullptr) {
          set_position(values[k], origin[k]);
        } else {
          values[k] = static_cast<const Value*>(c.values)[origin[k]];
        }
      }
    }
    __syncthreads();  // sorted in place: all are read before the first is written
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (k < rounds && first + 32 * k < wanted)
        static_cast<Value*>(c.values_a)[first + 32 * k] = values[k];
    }
  }
}

}}  // namespace gpu::sorting
