#pragma once
/// \file
/// The kernels that sort more keys than one block holds.

#include <gpu/device/sort.cuh>

namespace gpu { namespace sorting {

/// Numbers the passes that have to run. A pass for which all keys have the same digit changes
/// nothing. But results must end up in the right memory, so such a pass may have to run.
__device__ inline void plan_steps(const call& c, int passes, unsigned same) {
  int steps = passes - __popc(same);
  while (steps < c.least_steps || (c.even_steps && steps % 2 != 0)) {
    same &= same - 1;
    ++steps;
  }
  int step = 0;
  for (int pass = 0; pass < passes; ++pass) c.shared->step[pass] = same >> pass & 1 ? -1 : step++;
  c.shared->steps = steps;
}

/// Counts all digits of all keys. The last block to finish adds up where each digit begins.
template <class Keys, int Threads, int Items> __device__ inline void count_digits(const call& c) {
  using bits = typename Keys::bits;
  constexpr int passes = Keys::passes;
  constexpr int copies = passes > 4 ? 2 : 4;  // neighboring lanes count apart from each other
  __shared__ unsigned counts[passes][digits][copies];
  __shared__ unsigned sums[Threads / 32];
  for (int i = int(threadIdx.x); i < passes * digits * copies; i += Threads)
    (&counts[0][0][0])[i] = 0;
  __syncthreads();

  const bits* const all = static_cast<const bits*>(c.keys);
  const bits flip = bits(c.flip);
  constexpr unsigned tile = Threads * Items;
  for (unsigned long long begin = (unsigned long long)blockIdx.x * tile; begin < c.n;
       begin += (unsigned long long)gridDim.x * tile) {
    bits keys[Items];
    const unsigned valid = c.n - begin < tile ? unsigned(c.n - begin) : tile;
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      const unsigned i = threadIdx.x + k * Threads;
      if (i < valid) keys[k] = all[begin + i];
    }
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (threadIdx.x + k * Threads >= valid) break;
      const bits ordered = bits(Keys::ordered(keys[k]) ^ flip);
#pragma unroll
      for (int pass = 0; pass < passes; ++pass)
        atomicAdd(&counts[pass][ordered >> (8 * pass) & (digits - 1)][threadIdx.x % copies], 1u);
    }
  }
  __syncthreads();
  for (int i = int(threadIdx.x); i < passes * digits; i += Threads) {
    const unsigned* const own = (&counts[0][0][0]) + i * copies;
    unsigned sum = 0;
#pragma unroll
    for (int copy = 0; copy < copies; ++copy) sum += own[copy];
    if (sum != 0) atomicAdd(&(&c.shared->starts[0][0])[i], (unsigned long long)sum);
  }
  if (!is_last_block(&c.shared->counted)) return;

  unsigned same = 0;
  for (int pass = 0; pass < passes; ++pass) {
    unsigned long long count = 0;
    if (threadIdx.x < digits)
      count = *static_cast<volatile unsigned long long*>(&c.shared->starts[pass][threadIdx.x]);
    if (__syncthreads_or(count == c.n)) same |= 1u << pass;
    const unsigned long long start = wide_sum_before<Threads>(count, sums);
    if (threadIdx.x < digits) c.shared->starts[pass][threadIdx.x] = start;
  }
  if (threadIdx.x == 0) plan_steps(c, passes, same);
}

/// A number that a tile publishes about a digit. Its two highest bits say what it counts.
template <class Size> struct published {
  static constexpr int shift = 8 * int(sizeof(Size)) - 2;
  static constexpr Size of_tile = Size(1) << shift;      ///< the digit's keys in this tile
  static constexpr Size with_before = Size(2) << shift;  ///< and in all tiles before it
  static constexpr Size number = of_tile - 1;
};

/// Adds up how many keys with digit threadIdx.x the tiles before this one have.
template <class Size>
__device__ inline Size count_before(const volatile Size* counts, long long tile) {
  constexpr int window = 4;  // numbers that are on their way at the same time
  Size sum = 0;
  long long next = tile - 1;
  while (true) {
    Size seen[window];
#pragma unroll
    for (int k = 0; k < window; ++k)
      seen[k] = next >= k ? counts[(next - k) * digits + threadIdx.x] : Size(0);
#pragma unroll
    for (int k = 0; k < window; ++k) {
      if (seen[k] == 0) break;  // not yet published
      sum += seen[k] & published<Size>::number;
      if (seen[k] & published<Size>::with_before) return sum;
      --next;
    }
  }
}

/// The shared memory of a block of a sweep, beside the keys and values of a tile.
template <class Size, int Threads> struct sweep_memory {
  unsigned of_warps[Threads / 32][digits];
  unsigned sums[Threads / 32];
  Size place[digits];  ///< where the keys with a digit go, less their position in the tile
};

/// Sorts a tile by the digit of a pass. `moved` holds the tile's keys, and then its values. The
/// last tile may have fewer than the others.
template <class Keys, class Value, class Size, int Threads, int Items>
__device__ inline void sort_tile(const call& c, int pass, int step, unsigned tile,
                                 sweep_memory<Size, Threads>& memory, void* moved) {
  using bits = typename Keys::bits;
  using flags = published<Size>;
  constexpr unsigned size = Threads * Items;
  const bool is_odd = step % 2 != 0, is_last = step + 1 == c.shared->steps;
  const Size begin = Size(tile) * size;
  const unsigned valid = Size(c.n) - begin < size ? unsigned(Size(c.n) - begin) : size;
  const unsigned first = threadIdx.x / 32 * 32 * Items + threadIdx.x % 32;
  const bits* const from = static_cast<const bits*>(step == 0 ? c.keys
                                                    : is_odd  ? c.keys_a
                                                              : c.keys_b) +
                           begin;
  bits keys[Items];
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    keys[k] = 0;
    if (first + 32 * k < valid) keys[k] = from[first + 32 * k];
  }

  const bits flip = bits(c.flip);
  const ranking<Keys, Threads, Items> ranks{memory.of_warps, memory.sums, flip, 8 * pass,
                                            first,           valid,       Items};
  ranks.count(keys);
  Size* const counts = static_cast<Size*>(c.counts) + (is_odd ? c.tiles * digits : 0);
  const Size own = Size(tile) * digits + threadIdx.x;
  unsigned total = 0;
  if (threadIdx.x < digits) {
    total = ranks.count_of_block();
    static_cast<volatile Size*>(counts)[own] =
        total | (tile == 0 ? flags::with_before : flags::of_tile);
    if (!is_last) {  // the next step begins with zeros
      Size* const others = static_cast<Size*>(c.counts) + (is_odd ? 0 : c.tiles * digits);
      others[own] = 0;
    }
  }
  const unsigned start = ranks.start(total);
  unsigned position[Items];
  ranks.rank(keys, position);
  bits* const moved_keys = static_cast<bits*>(moved);
#pragma unroll
  for (int k = 0; k < Items; ++k) moved_keys[position[k]] = keys[k];

  Value values[Items];
  if constexpr (is_moved<Value>) {
    const Value* const values_from = static_cast<const Value*>(step == 0 ? c.values
                                                               : is_odd  ? c.values_a
                                                                         : c.values_b);
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (values_from == nullptr) {
        set_position(values[k], begin + first + 32 * k);
      } else if (first + 32 * k < valid) {
        values[k] = values_from[begin + first + 32 * k];
      }
    }
  }

  if (threadIdx.x < digits) {
    Size before = 0;
    if (tile != 0) {
      before = count_before<Size>(counts, tile);
      static_cast<volatile Size*>(counts)[own] = (before + total) | flags::with_before;
    }
    memory.place[threadIdx.x] = Size(c.shared->starts[pass][threadIdx.x]) + before - start;
  }
  __syncthreads();

  // Neighboring threads have neighboring keys of the sorted tile, most of them of the same digit.
  bits* const keys_to = static_cast<bits*>(is_odd ? c.keys_b : c.keys_a);
  const bool writes_keys = c.keep_keys || !is_last;
  unsigned char digit[Items];
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const unsigned i = threadIdx.x + k * Threads;
    if (i < valid) {
      const bits key = moved_keys[i];
      digit[k] = (unsigned char)Keys::digit(key, flip, 8 * pass);
      if (writes_keys) keys_to[memory.place[digit[k]] + i] = key;
    }
  }
  if constexpr (is_moved<Value>) {
    Value* const moved_values = static_cast<Value*>(moved);
    Value* const values_to = static_cast<Value*>(is_odd ? c.values_b : c.values_a);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (first + 32 * k < valid) moved_values[position[k]] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      const unsigned i = threadIdx.x + k * Threads;
      if (i < valid) values_to[memory.place[digit[k]] + i] = moved_values[i];
    }
  }
}

/// Sorts by the digit of a pass. Size counts keys.
template <class Keys, class Value, class Size, int Threads, int Items>
__device__ inline void sort_digit(const call& c, int pass) {
  __shared__ sweep_memory<Size, Threads> memory;
  __shared__ unsigned taken_tile;
  extern __shared__ ulonglong2 gpu_sort_moved[];
  const int step = c.shared->step[pass];
  // Numbers are given in the order in which blocks start, so those that a tile waits for run.
  if (threadIdx.x == 0) taken_tile = atomicAdd(&c.shared->next_tile[pass], 1u);
  __syncthreads();
  if (step < 0) return;
  sort_tile<Keys, Value, Size, Threads, Items>(c, pass, step, taken_tile, memory, gpu_sort_moved);
}

}}  // namespace gpu::sorting
