#pragma once
/// \file
/// Scans that move chosen elements to neighboring places.

#include <gpu/device/scan.cuh>

/// The item of a scan over runs: how many have begun, and the combined values of the last one.
template <class Count, class Value> struct gpu_run {
  Count number;
  Value value;
};

// Member by member, because there may be unused bytes between the two.
template <class Count, class Value>
__device__ inline gpu_run<Count, Value> shuffle_up(const gpu_run<Count, Value>& run, int lanes) {
  return {gpu::loops::shuffle_up(run.number, lanes), gpu::loops::shuffle_up(run.value, lanes)};
}
template <class Count, class Value>
__device__ inline gpu_run<Count, Value> shuffle_down(const gpu_run<Count, Value>& run, int lanes) {
  return {gpu::loops::shuffle_down(run.number, lanes), gpu::loops::shuffle_down(run.value, lanes)};
}

namespace gpu { namespace loops {

template <class Count> __device__ inline Count rank_of(const Count& item) { return item; }
template <class Count, class Value>
__device__ inline Count rank_of(const gpu_run<Count, Value>& item) {
  return item.number;
}

/// The number of elements of a group, for its type or a reference to it.
template <class Group> struct width_of;
template <template <int> class Group, int Width> struct width_of<Group<Width>&> {
  static constexpr int value = Width;
};

/// Returns the warp's part of shared memory for a group of each of its threads, or null if groups
/// are too large for that.
template <class T, int Width, int Threads> __device__ inline T* stage_of_warp() {
  if constexpr (sizeof(T) * Width * Threads <= 32768) {
    __shared__ alignas(16) char memory[sizeof(T) * Width * Threads];
    return reinterpret_cast<T*>(memory) + threadIdx.x / 32 * (32 * Width);
  }
  return nullptr;
}

/// The kept elements of a group of each thread of a warp: how many are before them, and their
/// number. `last` is the rank of the thread's last element.
template <class Count> struct kept_of_warp {
  Count before;
  int count;
  Count last;
};

/// Counts the kept elements of a warp's groups, of which the thread's begins at `from`. An item is
/// the rank of its element if that is kept; with `Runs`, also of the elements before it in its run.
template <bool Runs, int Width, class Item, class Index>
__device__ inline auto count_kept(const Item (&items)[Width], unsigned kept, Index from, Index n) {
  using Count = decltype(rank_of(items[0]));
  kept_of_warp<Count> found;
  const int lane = threadIdx.x % 32;
  const Index left = n - 1 - from;  // elements after the thread's first
  found.last = 0;
#pragma unroll
  for (int k = 0; k < Width; ++k) {
    if (k <= left) found.last = rank_of(items[k]) - (Runs && (kept >> k & 1) == 0 ? 1 : 0);
  }
  const Index last_lane = (left + lane * Width) / Width;
  found.before = __shfl_sync(~0u, rank_of(items[0]) - Count(Runs ? 1 : kept & 1), 0);
  found.count =
      int(__shfl_sync(~0u, found.last, last_lane < 31 ? int(last_lane) : 31) - found.before);
  return found;
}

/// Loads a thread's groups. In a tile that is not whole, elements are loaded one by one, and
/// `keep(group, k, one)` puts them into their group.
template <template <int> class Group, int Width, int Groups, class Index, class Load, class Keep>
__device__ inline void load_groups(Group<Width> (&groups)[Groups], Index own, Index stride, Index n,
                                   bool whole, Load load, Keep keep) {
  if (whole) {
#pragma unroll
    for (int g = 0; g < Groups; ++g) load(groups[g], own + g * stride);
    return;
  }
#pragma unroll
  for (int g = 0; g < Groups; ++g) {
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      if (own + g * stride + k >= n) continue;
      Group<1> one;
      load(one, own + g * stride + k);
      keep(groups[g], k, one);
    }
  }
}

/// Scans one tile and calls `store(group, items, from, kept, found)` for the groups of a thread,
/// all threads of a warp together; bit k of `kept` says whether element k is kept. `counts` says
/// whether the rank rises at an element, and `make` its item. With `Runs`, `is_last` says whether
/// an element is kept, else those at which the rank rises are. Stores the rank of the last element
/// in `count`. Only bits are remembered of most elements, to make do with few registers.
template <template <int> class Group, int Width, int Groups, int Threads, bool Runs, class Item,
          class Index, class Number, class Load, class Keep, class Counts, class Make,
          class Combine, class IsLast, class Store>
__device__ inline void compact_tile(Index n, unsigned long long* state, long long tiles,
                                    Number* count, Load load, Keep keep, Counts counts, Make make,
                                    Combine combine, IsLast is_last, Store store) {
  const tile_place<Width, Groups, Threads, Index> place(n);
  Group<Width> groups[Groups];
  load_groups(groups, place.own, place.stride, n, place.whole, load, keep);
  Item sums[Groups];
  static_assert(Width * Groups <= 32, "a thread's elements have a bit each");
  unsigned rises = 0;
#pragma unroll
  for (int g = 0; g < Groups; ++g) {
    sums[g] = Item();
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      const Index at = place.own + g * place.stride + k;
      if (at >= n) continue;
      if (counts(groups[g], k, at)) rises |= 1u << (g * Width + k);
      const Item item = make(groups[g], k, at, rises >> (g * Width + k) & 1);
      sums[g] = k == 0 ? item : combine(sums[g], item);
    }
  }
  prefix<Item> before[Groups];
  scan_sums<Threads>(sums, before, state, tiles, combine);
#pragma unroll
  for (int g = 0; g < Groups; ++g) {
    const Index from = place.own + g * place.stride;
    if (from - Index(threadIdx.x % 32 * Width) >= n) continue;
    Item items[Width];
    unsigned kept = 0;
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      if (from + k >= n) continue;
      const Item item = make(groups[g], k, from + k, rises >> (g * Width + k) & 1);
      items[k] = k == 0 ? join(before[g], item, combine) : combine(items[k - 1], item);
      if (Runs && is_last(groups[g], k, from + k)) kept |= 1u << k;
    }
    if (!Runs) kept = rises >> (g * Width) & ((1u << Width) - 1);
    const auto found = count_kept<Runs>(items, kept, from, n);
    store(groups[g], items, from, kept, found);
    if (from < n && n - from <= Width) *count = Number(found.last);
  }
}

/// Stores the kept elements of a warp's groups at their ranks in `out`, but nothing at `capacity`
/// and beyond. They are brought together in shared memory first, so that the stores are to
/// neighboring addresses.
template <int Threads, int Width, class T, class Item, class Count, class Value>
__device__ inline void store_kept(T* out, long long capacity, const Item (&items)[Width],
                                  unsigned kept, const kept_of_warp<Count>& found, Value value) {
  T* const stage = stage_of_warp<T, Width, Threads>();
  if (stage == nullptr) {
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      const Count rank = rank_of(items[k]);
      if ((kept >> k & 1) != 0 && rank <= capacity) out[rank - 1] = value(k);
    }
    return;
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < Width; ++k) {
    if ((kept >> k & 1) != 0) stage[int(rank_of(items[k]) - 1 - found.before)] = value(k);
  }
  __syncwarp();
  const long long room = capacity - found.before;
#pragma unroll
  for (int turn = 0; turn < Width; ++turn) {
    const int k = turn * 32 + threadIdx.x % 32;
    if (k < found.count && k < room) out[found.before + k] = stage[k];
  }
}

/// Stores all elements of a warp's groups: the kept ones at their ranks, and the others, in their
/// order, after all `total` kept ones.
template <int Threads, int Width, class T, class Item, class Count, class Index, class Value>
__device__ inline void store_parted(T* out, long long total, const Item (&items)[Width],
                                    unsigned kept, const kept_of_warp<Count>& found, Index from,
                                    Index n, Value value) {
  const int lane = threadIdx.x % 32;
  T* const stage = stage_of_warp<T, Width, Threads>();
  if (stage == nullptr) {
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      if (from + k >= n) continue;
      const Count rank = rank_of(items[k]);
      out[(kept >> k & 1) != 0 ? rank - 1 : total + (from + k - rank)] = value(k);
    }
    return;
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < Width; ++k) {
    const int ahead = int(rank_of(items[k]) - found.before);
    if (from + k < n)
      stage[(kept >> k & 1) != 0 ? ahead - 1 : found.count + lane * Width + k - ahead] = value(k);
  }
  __syncwarp();
  const Index start = from - lane * Width;
  const long long others = total + (start - found.before) - found.count;
#pragma unroll
  for (int turn = 0; turn < Width; ++turn) {
    const int k = turn * 32 + lane;
    if (start + k < n) out[(k < found.count ? found.before : others) + k] = stage[k];
  }
}

}}  // namespace gpu::loops
