#pragma once
/// \file
/// What generated scans share. One pass: a block holds a tile of elements in registers, publishes
/// the tile's total, and combines the totals of the tiles before it. So that this takes few steps
/// and still has the same order in every run, tiles are in groups of 128: a tile combines the
/// totals before it in its group, which are all published early, and the prefix of its group, which
/// the last tile of the group before publishes.

#include <gpu/device/loops.cuh>

namespace gpu { namespace loops {

/// The type of a flag beside an item: as wide as its alignment, so that the two have no padding,
/// which would be copied without having been written.
template <int Alignment> struct flag {
  using type = unsigned long long;
};
template <> struct flag<4> {
  using type = unsigned;
};
template <> struct flag<2> {
  using type = unsigned short;
};
template <> struct flag<1> {
  using type = unsigned char;
};

/// A value that may be missing, as the prefix of the first element is.
template <class Item> struct prefix {
  using flag_type = typename flag<alignof(Item)>::type;
  Item item;
  flag_type exists;
  prefix() = default;
  __device__ prefix(const Item& value, bool is_there) : item(value), exists(is_there) {}
};

/// Combines values in the order of the elements; a missing value changes nothing.
template <class Item, class Combine>
__device__ inline prefix<Item> join(const prefix<Item>& a, const prefix<Item>& b, Combine combine) {
  if (!a.exists) return b;
  if (!b.exists) return a;
  return prefix<Item>(combine(a.item, b.item), true);
}
template <class Item, class Combine>
__device__ inline Item join(const prefix<Item>& a, const Item& b, Combine combine) {
  return a.exists ? combine(a.item, b) : b;
}

template <class T> __device__ inline T shuffle_up(const T& value, int lanes) {
  constexpr int words = (sizeof(T) + 3) / 4;
  unsigned raw[words] = {};
  memcpy(raw, &value, sizeof(T));
#pragma unroll
  for (int w = 0; w < words; ++w) raw[w] = __shfl_up_sync(~0u, raw[w], lanes);
  T result;
  memcpy(&result, raw, sizeof(T));
  return result;
}

// Accesses of all blocks of the device that take no cached copy and no fence. C++ for devices has
// them in libcu++ alone, whose compilation takes longer than the kernel's.
__device__ inline unsigned long long load_relaxed(const unsigned long long* from) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline void store_relaxed(unsigned long long* to, unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(to), "l"(value) : "memory");
}

/// Values that blocks publish to each other. A word is 0 until its part of a value is there.
template <class Item> struct board {
  // Small items are in the words themselves, four bytes in each: a separate item needs a fence
  // before the word that says that it is there, and one after it.
  static constexpr bool in_words = sizeof(Item) <= 16;
  static constexpr int words_of_item = in_words ? (sizeof(Item) + 3) / 4 : 1;

  unsigned long long* words;
  Item* items;  // those that are not in the words

  __device__ void publish(long long at, const Item& item) const {
    if constexpr (in_words) {
      unsigned parts[words_of_item] = {};
      memcpy(parts, &item, sizeof(Item));
#pragma unroll
      for (int w = 0; w < words_of_item; ++w)
        store_relaxed(words + at * words_of_item + w, 1ull << 32 | parts[w]);
    } else {
      items[at] = item;
      __threadfence();
      store_relaxed(words + at, 1);
    }
  }
  /// Returns an item, for which it waits.
  __device__ Item wait_for(long long at) const {
    unsigned parts[words_of_item];
#pragma unroll
    for (int w = 0; w < words_of_item; ++w) {
      unsigned long long word;
      do word = load_relaxed(words + at * words_of_item + w);
      while (word == 0);
      parts[w] = unsigned(word);
    }
    if constexpr (in_words) {
      Item item;
      memcpy(&item, parts, sizeof(Item));
      return item;
    } else {
      __threadfence();
      return items[at];
    }
  }
};

constexpr int tiles_of_group = 128;

/// Publishes a tile's total and returns what comes before the tile, in lane 0. For one warp. Tile t
/// is at t of the board, and the prefix of group g behind all tiles, at tiles + g.
template <class Item, class Combine>
__device__ inline prefix<Item> find_before_tile(const board<Item>& published, long long tiles,
                                                long long tile, const Item& total,
                                                Combine combine) {
  const int lane = threadIdx.x % 32;
  const long long group = tile / tiles_of_group;
  const int position = int(tile % tiles_of_group);
  if (lane == 0) published.publish(tile, total);
  // 32 tiles at a time: the earlier ones are there already, and are combined while the last run.
  prefix<Item> sum(total, false);
#pragma unroll 1
  for (int first = 0; first < position; first += 32) {
    prefix<Item> part(total, false);
    if (first + lane < position)
      part = prefix<Item>(published.wait_for(group * tiles_of_group + first + lane), true);
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2)
      part = join(part, shuffle_down(part, lanes), combine);
    sum = join(sum, part, combine);
  }
  if (group > 0) sum = join(prefix<Item>(published.wait_for(tiles + group), true), sum, combine);
  if (lane == 0 && position == tiles_of_group - 1)
    published.publish(tiles + group + 1, join(sum, total, combine));
  return sum;
}

/// Loads a thread's groups and maps their elements to items. Behind the last element any item will
/// do, for nothing comes after it. `stride` is the distance of two groups.
template <bool Whole, class Group, int Width, int Groups, class Item, class Index, class Load,
          class Map>
__device__ inline void load_items(Group (&groups)[Groups], Item (&items)[Groups][Width], Index own,
                                  Index stride, Index n, Load load, Map map) {
  if (Whole) {
#pragma unroll
    for (int g = 0; g < Groups; ++g) load(groups[g], own + g * stride);
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
#pragma unroll
      for (int k = 0; k < Width; ++k) items[g][k] = map(groups[g], k, own + g * stride + k);
    }
    return;
  }
#pragma unroll
  for (int g = 0; g < Groups; ++g) {
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      const Index index = own + g * stride + k;
      const Index at = index < n ? index : n - 1;
      typename Group::gpu_one one;
      load(one, at);
      items[g][k] = map(one, 0, at);
    }
  }
}

/// Calls `put` for each element of a thread with its item, and stores what it leaves.
template <template <int> class Group, int Width, int Groups, class Item, class Index, class Load,
          class Put, class Store>
__device__ inline void put_items(Group<Width> (&groups)[Groups], const Item (&items)[Groups][Width],
                                 Index own, Index stride, Index n, bool whole, Load load, Put put,
                                 Store store) {
  if (whole) {
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
#pragma unroll
      for (int k = 0; k < Width; ++k) put(groups[g], k, own + g * stride + k, items[g][k]);
      store(groups[g], own + g * stride);
    }
    return;
  }
#pragma unroll
  for (int g = 0; g < Groups; ++g) {
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      const Index at = own + g * stride + k;
      if (at >= n) continue;
      Group<1> one;
      load(one, at);
      put(one, 0, at, items[g][k]);
      store(one, at);
    }
  }
}

/// Combines the sums of a tile's groups, of which a warp has 32 side by side, then 32 more: sets
/// `before` to the combination of everything before each of the thread's groups, in this tile and
/// all before it.
template <int Threads, int Groups, class Item, class Combine>
__device__ inline void scan_sums(Item (&sums)[Groups], prefix<Item> (&before)[Groups],
                                 unsigned long long* state, long long tiles, Combine combine) {
  constexpr int warps = Threads / 32;
  __shared__ alignas(16) char memory[sizeof(prefix<Item>) * (warps + 1)];
  prefix<Item>* const before_warp = reinterpret_cast<prefix<Item>*>(memory);
  prefix<Item>& before_tile = before_warp[warps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

#pragma unroll
  for (int lanes = 1; lanes < 32; lanes *= 2) {
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
      const Item left = shuffle_up(sums[g], lanes);
      if (lane >= lanes) sums[g] = combine(left, sums[g]);
    }
  }
  prefix<Item> share(sums[0], false);
#pragma unroll
  for (int g = 0; g < Groups; ++g) {
    const Item left = shuffle_up(sums[g], 1);
    before[g] = join(share, prefix<Item>(left, lane > 0), combine);
    share = join(share, prefix<Item>(shuffle_down(sums[g], 31 - lane), true), combine);
  }
  if (lane == 31) before_warp[warp] = share;
  __syncthreads();

  if (warp == 0) {
    Item sum = before_warp[lane < warps ? lane : warps - 1].item;
#pragma unroll
    for (int lanes = 1; lanes < warps; lanes *= 2) {
      const Item left = shuffle_up(sum, lanes);
      if (lane >= lanes && lane < warps) sum = combine(left, sum);
    }
    const Item total = shuffle_down(sum, lane < warps ? warps - 1 - lane : 0);
    const Item left = shuffle_up(sum, 1);
    __syncwarp();
    if (lane < warps) before_warp[lane] = prefix<Item>(left, lane > 0);
    prefix<Item> found(total, false);
    if (tiles > 1) {
      const long long all_groups = (tiles + tiles_of_group - 1) / tiles_of_group + 1;
      static_assert(alignof(Item) <= 16, "items of a scan are aligned to at most 16 bytes");
      const board<Item> published{
          state, reinterpret_cast<Item*>(state + (tiles + all_groups + 1) / 2 * 2)};
      // A tile waits for those before it only, whose blocks have started: a grid starts its blocks
      // in the order of their indices.
      found = find_before_tile(published, tiles, blockIdx.x, total, combine);
    }
    if (lane == 0) before_tile = found;
  }
  __syncthreads();

  const prefix<Item> before_share = join(before_tile, before_warp[warp], combine);
#pragma unroll
  for (int g = 0; g < Groups; ++g) before[g] = join(before_share, before[g], combine);
}

/// The positions of a thread's groups: the first begins at `own`, and `stride` is the distance of
/// two.
template <int Width, int Groups, int Threads, class Index> struct tile_place {
  static constexpr Index stride = 32 * Width;
  Index own;
  bool whole;

  __device__ explicit tile_place(Index n) {
    const Index first = Index(blockIdx.x) * (Threads * Width * Groups);
    own = first + Index(threadIdx.x / 32) * (stride * Groups) + threadIdx.x % 32 * Width;
    whole = n - first >= Threads * Width * Groups;
  }
};

/// Scans one tile: `map` gives the item of an element, `put` gets the combination of all items up
/// to an element, or before it. Warps take turns of 32 * Width neighboring elements.
template <template <int> class Group, int Width, int Groups, int Threads, bool Exclusive,
          class Item, class Index, class Load, class Map, class Combine, class Put, class Store>
__device__ inline void scan_tile(Index n, unsigned long long* state, long long tiles,
                                 const Item& neutral, Load load, Map map, Combine combine, Put put,
                                 Store store) {
  const tile_place<Width, Groups, Threads, Index> place(n);
  const Index own = place.own, stride = place.stride;
  Group<Width> groups[Groups];
  Item items[Groups][Width];
  if (place.whole) {
    load_items<true>(groups, items, own, stride, n, load, map);
  } else {
    load_items<false>(groups, items, own, stride, n, load, map);
  }
  Item sums[Groups];
#pragma unroll
  for (int g = 0; g < Groups; ++g) {
#pragma unroll
    for (int k = 1; k < Width; ++k) items[g][k] = combine(items[g][k - 1], items[g][k]);
    sums[g] = items[g][Width - 1];
  }
  prefix<Item> before[Groups];
  scan_sums<Threads>(sums, before, state, tiles, combine);
#pragma unroll
  for (int g = 0; g < Groups; ++g) {
    if (!Exclusive) {
#pragma unroll
      for (int k = 0; k < Width; ++k) items[g][k] = join(before[g], items[g][k], combine);
    } else {
#pragma unroll
      for (int k = Width - 1; k > 0; --k) items[g][k] = join(before[g], items[g][k - 1], combine);
      items[g][0] = before[g].exists ? before[g].item : neutral;
    }
  }
  put_items(groups, items, own, stride, n, place.whole, load, put, store);
}

}}  // namespace gpu::loops
