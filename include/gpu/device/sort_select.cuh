#pragma once
/// \file
/// The kernels that find the first keys of an order without sorting all.

#include <gpu/device/sort.cuh>

namespace gpu { namespace sorting {

/// The memory that the kernels of one selection share. It begins as zeros.
struct selection {
  unsigned long long counts[8][digits];
  unsigned long long prefix;  ///< the digits that the last selected key begins with
  unsigned long long before;  ///< keys that are selected because their digits are less
  int shift;                  ///< the bits after the prefix
  int decided;                ///< keys with this prefix need not be distinguished
  unsigned finished[9];
};

/// The arguments of the kernels, as the host has them.
struct select_call {
  const void* keys;
  void* out_keys;
  void* out_indices;
  selection* shared;
  ulonglong2* of_blocks;  ///< the keys before the prefix, and with it; then of the blocks before
  unsigned long long n;
  unsigned long long wanted;
  unsigned long long flip;
  unsigned long long share;  ///< consecutive keys of a block
};

template <class Keys>
__device__ inline unsigned long long ordered(const void* keys, unsigned long long i,
                                             unsigned long long flip) {
  using bits = typename Keys::bits;
  return bits(Keys::ordered(static_cast<const bits*>(keys)[i]) ^ bits(flip));
}

/// Calls `visit(k, i)` for the keys of the block's share, `Items` of a thread at a time: `i` is the
/// index, which may be beyond `end`. Calls `then()` after each of these groups.
template <int Threads, int Items, class Visit, class Then>
__device__ inline void for_share(const select_call& c, Visit visit, Then then) {
  const unsigned long long begin = blockIdx.x * c.share;
  const unsigned long long end = begin + c.share < c.n ? begin + c.share : c.n;
  for (unsigned long long first = begin; first < end; first += Threads * Items) {
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      const unsigned long long i = first + k * Threads + threadIdx.x;
      visit(k, i, i < end);
    }
    then(first);
  }
}

/// Finds the digit of a pass that the last selected key has.
template <class Keys, int Threads, int Items>
__device__ inline void select_digit(const select_call& c, int pass) {
  constexpr int copies = 16;  // neighboring lanes count apart from each other
  selection& s = *c.shared;
  if (s.decided) return;
  __shared__ unsigned counts[digits][copies];
  __shared__ unsigned sums[Threads / 32];
  for (int i = int(threadIdx.x); i < digits * copies; i += Threads) (&counts[0][0])[i] = 0;
  __syncthreads();
  const unsigned long long prefix = s.prefix;
  unsigned long long keys[Items];
  for_share<Threads, Items>(
      c,
      [&](int k, unsigned long long i, bool valid) {
        keys[k] = 0;
        if (valid) keys[k] = ordered<Keys>(c.keys, i, c.flip);
        // Keys of another prefix do not count. What is beyond the end has none.
        const bool counts_here = valid && keys[k] >> (8 * pass) >> 8 == prefix;
        if (counts_here)
          atomicAdd(&counts[keys[k] >> (8 * pass) & (digits - 1)][threadIdx.x % copies], 1u);
      },
      [](unsigned long long) {});
  __syncthreads();
  if (threadIdx.x < digits) {
    unsigned long long sum = 0;
#pragma unroll
    for (int copy = 0; copy < copies; ++copy)
      sum += counts[threadIdx.x][(copy + threadIdx.x) % copies];
    if (sum != 0) atomicAdd(&s.counts[pass][threadIdx.x], sum);
  }
  if (!is_last_block(&s.finished[pass])) return;
  const unsigned long long before_prefix = s.before;
  unsigned long long count = 0;
  if (threadIdx.x < digits)
    count = *static_cast<volatile unsigned long long*>(&s.counts[pass][threadIdx.x]);
  const unsigned long long before = before_prefix + wide_sum_before<Threads>(count, sums);
  if (before < c.wanted && c.wanted <= before + count) {  // true in one thread
    s.prefix = prefix << 8 | threadIdx.x;
    s.before = before;
    s.shift = 8 * pass;
    s.decided = pass == 0 || c.wanted == before + count;
  }
}

/// Counts the selected keys in the share of each block.
template <class Keys, int Threads, int Items>
__device__ inline void count_selected(const select_call& c) {
  selection& s = *c.shared;
  const unsigned long long prefix = s.prefix;
  const int shift = s.shift;
  __shared__ unsigned long long totals[2];
  __shared__ unsigned sums[Threads / 32];
  if (threadIdx.x < 2) totals[threadIdx.x] = 0;
  __syncthreads();
  unsigned long long less = 0, equal = 0;
  for_share<Threads, Items>(
      c,
      [&](int, unsigned long long i, bool valid) {
        if (!valid) return;
        const unsigned long long key = ordered<Keys>(c.keys, i, c.flip) >> shift;
        less += key < prefix;
        equal += key == prefix;
      },
      [](unsigned long long) {});
  if (less != 0) atomicAdd(&totals[0], less);
  if (equal != 0) atomicAdd(&totals[1], equal);
  __syncthreads();
  volatile unsigned long long* const of_blocks =
      reinterpret_cast<volatile unsigned long long*>(c.of_blocks);
  if (threadIdx.x < 2) of_blocks[2 * blockIdx.x + threadIdx.x] = totals[threadIdx.x];
  if (!is_last_block(&s.finished[8])) return;
  // The grid has at most as many blocks as a block has threads.
  for (int which = 0; which < 2; ++which) {
    unsigned long long own = 0;
    if (threadIdx.x < gridDim.x) own = of_blocks[2 * threadIdx.x + which];
    const unsigned long long before = wide_sum_before<Threads>(own, sums);
    if (threadIdx.x < gridDim.x) of_blocks[2 * threadIdx.x + which] = before;
  }
}

/// Writes the selected keys with their indices: first those before the prefix, then the first ones
/// with it, each in the order of their indices.
template <class Keys, class Index, int Threads, int Items>
__device__ inline void write_selected(const select_call& c) {
  using bits = typename Keys::bits;
  const selection& s = *c.shared;
  const unsigned long long prefix = s.prefix, all_before = s.before;
  const int shift = s.shift;
  const unsigned long long needed = c.wanted - all_before;
  __shared__ unsigned sums[Threads / 32];
  unsigned long long before = c.of_blocks[blockIdx.x].x, equal_before = c.of_blocks[blockIdx.x].y;
  if (before == all_before && equal_before >= needed) return;  // all are in the shares before
  bool less[Items], equal[Items];
  for_share<Threads, Items>(
      c,
      [&](int k, unsigned long long i, bool valid) {
        const unsigned long long key = valid ? ordered<Keys>(c.keys, i, c.flip) >> shift : ~0ull;
        less[k] = valid && key < prefix;
        equal[k] = valid && key == prefix;
      },
      [&](unsigned long long first) {
        bool any = false;
#pragma unroll
        for (int k = 0; k < Items; ++k) any = any || less[k] || equal[k];
        if (!__syncthreads_or(any)) return;
#pragma unroll 1
        for (int k = 0; k < Items; ++k) {
          bool is_less = false, is_equal = false;
#pragma unroll
          for (int j = 0; j < Items; ++j) {  // an index that is known keeps them in registers
            if (j == k) {
              is_less = less[j];
              is_equal = equal[j];
            }
          }
          const unsigned in_block =
              sum_before<Threads>(unsigned(is_less) + (unsigned(is_equal) << 16), sums);
          const unsigned long long to =
              is_less ? before + (in_block & 0xffff) : equal_before + (in_block >> 16);
          if (is_less || (is_equal && to < needed)) {
            const unsigned long long at = is_less ? to : all_before + to;
            const unsigned long long i = first + k * Threads + threadIdx.x;
            static_cast<bits*>(c.out_keys)[at] = static_cast<const bits*>(c.keys)[i];
            static_cast<Index*>(c.out_indices)[at] = Index(i);
          }
          before += __syncthreads_count(is_less);
          equal_before += __syncthreads_count(is_equal);
        }
      });
}

}}  // namespace gpu::sorting
