#pragma once
/// \file
/// What generated reductions share. The elements of a segment, or of a share of it, are dealt to
/// takers: 256 of them, or the lanes of a warp or of a part of it. Each combines what it gets in
/// the order of the elements, and takers are combined in a fixed tree. Where the elements of a
/// segment are neighbors, takers are threads. Where those of neighboring segments are, a thread
/// holds several segments and stands for one taker after the other: the order, and so every bit, is
/// the same.

#include <gpu/device/loops.cuh>

namespace gpu { namespace loops {

/// Combines Count values, a power of two, in pairs: (a + b) + (c + d). Overwrites them.
template <class Value, int Count, class Combine>
__device__ inline Value combine_group(Value (&values)[Count], Combine combine) {
#pragma unroll
  for (int step = 1; step < Count; step *= 2) {
#pragma unroll
    for (int k = 0; k < Count; k += 2 * step) values[k] = combine(values[k], values[k + step]);
  }
  return values[0];
}

/// Returns the combination of one taker's elements from `first` to `last`, which are dealt to
/// `takers` in turns. The order depends on the number of takers alone: elements that are missing in
/// the last group count as `neutral`. `combine` combines two values, `join` those of a group.
template <template <int> class Group, int Width, int Groups, class Value, class Index, class Load,
          class Map, class Combine, class Join>
__device__ inline Value reduce_share(Index first, Index last, int takers, int taker,
                                     const Value& neutral, Load load, Map map, Combine combine,
                                     Join join) {
  Value total = neutral;
  const Index turn = Index(takers) * Width;
  for (Index own = first + Index(taker) * Width; own < last; own += turn * Groups) {
    Group<Width> groups[Groups];
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
      if (own + g * turn + Width <= last) load(groups[g], own + g * turn);
    }
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
      const Index from = own + g * turn;
      if (from >= last) continue;
      Value values[Width];
      if (from + Width <= last) {
#pragma unroll
        for (int k = 0; k < Width; ++k) values[k] = map(groups[g], k, from + k);
      } else {
#pragma unroll
        for (int k = 0; k < Width; ++k) {
          values[k] = neutral;
          if (from + k < last) {
            Group<1> one;
            load(one, from + k);
            values[k] = map(one, 0, from + k);
          }
        }
      }
      total = combine(total, join(values));
    }
  }
  return total;
}

/// Returns the combination of the calling thread's values, of `count` in memory, which are dealt to
/// the block's threads in turns.
template <int Groups, class Value, class Combine>
__device__ inline Value reduce_values(const Value* values, int count, const Value& neutral,
                                      Combine combine) {
  Value total = neutral;
  for (int start = threadIdx.x; start < count; start += blockDim.x * Groups) {
    Value part[Groups];
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
      const int at = start + g * int(blockDim.x);
      part[g] = at < count ? values[at] : neutral;
    }
    total = combine(total, combine_group(part, combine));
  }
  return total;
}

// Loops over single values are unrolled for numbers alone. A structure takes several operations to
// combine, which outweigh the loop's own and take long to compile.

/// Combines the values of `lanes` neighboring lanes, a power of two; the first gets the result.
template <class Value, class Combine>
__device__ inline Value reduce_lanes(Value value, int lanes, Combine combine) {
  if constexpr (__is_class(Value)) {
#pragma unroll 1
    for (int half = lanes / 2; half > 0; half /= 2)
      value = combine(value, shuffle_down(value, half));
  } else {
    for (int half = lanes / 2; half > 0; half /= 2)
      value = combine(value, shuffle_down(value, half));
  }
  return value;
}

/// Combines the values of a block of `warps` warps, at most Threads threads; thread 0 gets the
/// result.
template <int Threads, class Value, class Combine>
__device__ inline Value reduce_block(Value value, int warps, Combine combine) {
  __shared__ alignas(16) char memory[sizeof(Value) * (Threads / 32)];
  Value* const of_warp = reinterpret_cast<Value*>(memory);
  value = reduce_lanes(value, 32, combine);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll(__is_class(Value) ? 1 : 4)
    for (int warp = 1; warp < warps; ++warp) value = combine(value, of_warp[warp]);
  }
  return value;
}

/// Sets `totals` to what one of `takers` gets of each of Columns segments, as `reduce_share` does.
/// `load(group, position)` loads an element of each segment.
template <template <int> class Group, int Columns, int Width, int Groups, class Value, class Index,
          class Load, class Map, class Combine, class Join>
__device__ inline void reduce_columns_of_taker(Value (&totals)[Columns], Index first, Index last,
                                               int takers, int taker, const Value& neutral,
                                               Load load, Map map, Combine combine, Join join) {
#pragma unroll
  for (int c = 0; c < Columns; ++c) totals[c] = neutral;
  const Index turn = Index(takers) * Width;
  const auto take = [&](auto& rows, int g, Index from, Index end) {
#pragma unroll
    for (int c = 0; c < Columns; ++c) {
      Value values[Width];
#pragma unroll
      for (int k = 0; k < Width; ++k) {
        values[k] = neutral;
        if (from + k < end) values[k] = map(rows[g * Width + k], c, from + k);
      }
      totals[c] = combine(totals[c], join(values));
    }
  };
  Index own = first + Index(taker) * Width;
  for (; own + (Groups - 1) * turn + Width <= last; own += turn * Groups) {
    Group<Columns> rows[Groups * Width];
#pragma unroll
    for (int r = 0; r < Groups * Width; ++r) load(rows[r], own + r / Width * turn + r % Width);
#pragma unroll
    for (int g = 0; g < Groups; ++g) take(rows, g, own + g * turn, own + g * turn + Width);
  }
  for (; own < last; own += turn) {
    Group<Columns> rows[Width];
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      if (own + k < last) load(rows[k], own + k);
    }
    take(rows, 0, own, last);
  }
}

/// Reduces neighboring segments in a thread of a block: `columns` threads side by side hold Columns
/// segments each, and the block's other threads stand for other takers of the same segments. There
/// are Warps * lanes takers.
template <template <int> class Group, int Columns, int Width, int Groups, int Warps, int Threads,
          class Value, class Index, class Load, class Map, class Combine, class Join, class Put>
__device__ inline void reduce_columns(Index first, Index last, int lanes, int columns,
                                      const Value& neutral, Load load, Map map, Combine combine,
                                      Join join, Put put) {
  __shared__ alignas(16) char memory[sizeof(Value) * Columns * Threads];
  Value* const totals_of = reinterpret_cast<Value*>(memory);
  const int of_warp = int(blockDim.x) / columns / Warps;  // threads that stand for a warp's lanes
  const int count = lanes / of_warp;                      // lanes that a thread stands for
  const int place = threadIdx.x / columns, part = place % of_warp;
  // A subtree of the tree in which lanes are combined, from left to right. `parts` holds the left
  // halves whose right halves are not computed yet.
  Value total[Columns], parts[5][Columns];
  for (int turn = 0; turn < count; ++turn) {
    const int lane =
        part + of_warp * int((unsigned long long)(__brev(turn)) * unsigned(count) >> 32);
    reduce_columns_of_taker<Group, Columns, Width, Groups>(total, first, last, Warps * lanes,
                                                           place / of_warp * lanes + lane, neutral,
                                                           load, map, combine, join);
    bool is_right = true;
#pragma unroll
    for (int level = 0; level < 5; ++level) {
      const bool is_left = is_right && (turn >> level & 1) == 0;
      is_right = is_right && !is_left;
#pragma unroll
      for (int c = 0; c < Columns; ++c) {
        if (is_left) parts[level][c] = total[c];
        if (is_right) total[c] = combine(parts[level][c], total[c]);
      }
    }
  }
  // The rest of the tree, and then the warps one after the other.
  const auto slot = [&](int at) { return at * columns + int(threadIdx.x) % columns; };
  const auto publish = [&] {
#pragma unroll
    for (int c = 0; c < Columns; ++c) totals_of[c * int(blockDim.x) + slot(place)] = total[c];
    __syncthreads();
  };
  const auto add_slot = [&](int other) {
#pragma unroll
    for (int c = 0; c < Columns; ++c)
      total[c] = combine(total[c], totals_of[c * int(blockDim.x) + slot(other)]);
  };
  for (int half = of_warp / 2; half > 0; half /= 2) {
    publish();
    if (part < half) add_slot(place + half);
    __syncthreads();
  }
  if (Warps > 1) {
    publish();
    if (place == 0) {
#pragma unroll(__is_class(Value) ? 1 : Warps)
      for (int warp = 1; warp < Warps; ++warp) add_slot(warp * of_warp);
    }
  }
  if (place == 0) put(total);
}

}}  // namespace gpu::loops
