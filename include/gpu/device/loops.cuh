#pragma once
/// \file
/// What generated kernels share: groups of elements that are loaded and stored together, and views
/// with strides.

#include <gpu/device/boolean.cuh>

namespace gpu { namespace loops {

/// The type that an element has in memory, and whether that is another one. (An enumerator, because
/// a constexpr variable would become one of the module.)
template <class T> struct in_memory {
  using type = T;
  enum { differs = false };
};
template <> struct in_memory<bool> {
  using type = boolean;
  enum { differs = true };
};
template <> struct in_memory<const bool> {
  using type = const boolean;
  enum { differs = true };
};

/// Returns the element in memory.
template <class T> __device__ inline typename in_memory<T>::type& element_at(T* where) {
  return *reinterpret_cast<typename in_memory<T>::type*>(where);
}

/// The type that moves so many bytes with one instruction.
template <int Bytes> struct chunk;
template <> struct chunk<16> {
  using type = uint4;
};
template <> struct chunk<8> {
  using type = uint2;
};
template <> struct chunk<4> {
  using type = unsigned int;
};
template <> struct chunk<2> {
  using type = unsigned short;
};
template <> struct chunk<1> {
  using type = unsigned char;
};

/// The bytes of one instruction for Count elements, or 0 if their size is not a power of two.
template <class T, int Count> __device__ constexpr int chunk_bytes() {
  const int bytes = int(sizeof(T)) * Count;
  return (bytes & (bytes - 1)) != 0 ? 0 : bytes < 16 ? bytes : 16;
}

/// Loads a group of elements. Each Aligned of them begin at a multiple of their size together.
template <int Aligned, class T, int Count>
__device__ inline void load(T (&to)[Count], const T* from) {
  constexpr int bytes = chunk_bytes<T, (Aligned < Count ? Aligned : Count)>();
  if constexpr (bytes <= int(sizeof(T))) {
#pragma unroll
    for (int k = 0; k < Count; ++k) to[k] = element_at(from + k);
  } else {
    using type = typename chunk<bytes>::type;
#pragma unroll
    for (int c = 0; c < int(sizeof(T)) * Count / bytes; ++c) {
      const type raw = reinterpret_cast<const type*>(from)[c];
      memcpy(reinterpret_cast<char*>(to) + c * bytes, &raw, bytes);
    }
    if constexpr (in_memory<T>::differs) {
#pragma unroll
      for (int k = 0; k < Count; ++k) to[k] = element_at(to + k);
    }
  }
}

/// Stores a group of elements, as `load` loads it.
template <int Aligned, class T, int Count>
__device__ inline void store(T* to, const T (&from)[Count]) {
  constexpr int bytes = chunk_bytes<T, (Aligned < Count ? Aligned : Count)>();
  if constexpr (bytes <= int(sizeof(T))) {
#pragma unroll
    for (int k = 0; k < Count; ++k) to[k] = from[k];
  } else {
    using type = typename chunk<bytes>::type;
#pragma unroll
    for (int c = 0; c < int(sizeof(T)) * Count / bytes; ++c) {
      type raw;
      memcpy(&raw, reinterpret_cast<const char*>(from) + c * bytes, bytes);
      reinterpret_cast<type*>(to)[c] = raw;
    }
  }
}

/// The extents and strides of views, outermost axis first. Strides count elements.
template <class Index, int Rank, int Views> struct layout {
  Index extent[Rank];
  Index stride[Views][Rank];

  /// Returns how far the element with this index in C order is from the first one of a view.
  __device__ Index offset(Index index, int view) const {
    return offset_along<0, Rank>(index, view);
  }

  /// Returns the same for an index that runs over the axes from First to Last alone.
  template <int First, int Last> __device__ Index offset_along(Index index, int view) const {
    Index result = 0;
#pragma unroll
    for (int axis = Last - 1; axis > First; --axis) {
      const Index quotient = divide(index, extent[axis]);
      result += (index - quotient * extent[axis]) * stride[view][axis];
      index = quotient;
    }
    return result + index * stride[view][First];
  }

  /// Loads a group of elements from `index` on. Each Aligned of them are in one row.
  template <int Aligned, class T, int Count>
  __device__ void load(T (&to)[Count], const T* from, Index index, int view) const {
    constexpr int step = Aligned < Count ? Aligned : Count;
#pragma unroll
    for (int first = 0; first < Count; first += step) {
      T part[step];
      const T* const source = from + offset(index + first, view);
      if (step > 1 && stride[view][Rank - 1] == 0) {
#pragma unroll
        for (int k = 0; k < step; ++k) part[k] = element_at(source);
      } else {
        loops::load<step>(part, source);
      }
#pragma unroll
      for (int k = 0; k < step; ++k) to[first + k] = part[k];
    }
  }
  template <int Aligned, class T, int Count>
  __device__ void store(T* to, const T (&from)[Count], Index index, int view) const {
    static_assert(Count <= Aligned, "a group that is stored is in one row");
    loops::store<Count>(to + offset(index, view), from);
  }

  /// Loads and stores elements along one axis, from the element at `from` on.
  template <int Aligned, int Axis, class T, int Count>
  __device__ void load_along(T (&to)[Count], const T* from, int view) const {
    const Index step = stride[view][Axis];
    if (step == 1) return loops::load<Aligned>(to, from);
#pragma unroll
    for (int k = 0; k < Count; ++k) to[k] = element_at(from + k * step);
  }
  template <int Aligned, int Axis, class T, int Count>
  __device__ void store_along(T* to, const T (&from)[Count], int view) const {
    const Index step = stride[view][Axis];
    if (step == 1) return loops::store<Aligned>(to, from);
#pragma unroll
    for (int k = 0; k < Count; ++k) to[k * step] = from[k];
  }

  /// Returns how far the element with these indices is from the first one of a view.
  __device__ Index offset_of(const Index (&at)[Rank], int view) const {
    Index result = 0;
#pragma unroll
    for (int axis = 0; axis < Rank; ++axis) result += at[axis] * stride[view][axis];
    return result;
  }
  /// Returns the index in C order.
  __device__ Index index_of(const Index (&at)[Rank]) const {
    Index result = 0;
#pragma unroll
    for (int axis = 0; axis < Rank; ++axis) result = result * extent[axis] + at[axis];
    return result;
  }
  /// Returns the distance of two neighbors along an axis in C order.
  __device__ Index step_of(int axis) const {
    Index result = 1;
    for (int inner = axis + 1; inner < Rank; ++inner) result *= extent[inner];
    return result;
  }

  /// Sets `at` to the first element of the calling thread's patch: Width elements along `Axis` by
  /// Width along the last axis. A block has 16 x 16 patches; 8 threads of a warp are neighbors
  /// along the last axis and 4 along the other, so that both ways memory is read in whole sectors.
  template <int Axis, int Width> __device__ void find_patch(Index (&at)[Rank]) const {
    constexpr int side = 16 * Width;
    Index block = blockIdx.x;
    const auto take = [&](Index count) {
      const Index quotient = divide(block, count);
      const Index rest = block - quotient * count;
      block = quotient;
      return rest;
    };
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    at[Rank - 1] =
        take((extent[Rank - 1] + side - 1) / side) * side + (warp % 2 * 8 + lane % 8) * Width;
    at[Axis] = take((extent[Axis] + side - 1) / side) * side + (warp / 2 * 4 + lane / 8) * Width;
#pragma unroll
    for (int axis = Rank - 2; axis >= 0; --axis) {
      if (axis != Axis) at[axis] = take(extent[axis]);
    }
  }

 private:
  // Unsigned division of 32 bits is the fastest; no index is negative.
  static __device__ int divide(int a, int b) { return int(unsigned(a) / unsigned(b)); }
  static __device__ long long divide(long long a, long long b) {
    return (long long)((unsigned long long)a / (unsigned long long)b);
  }
};

/// An array parameter whose elements are not contiguous: `x[i]` is the element with index `i` in C
/// order.
template <class T, class Layout> struct strided {
  T* first;
  const Layout& shape;
  int view;
  __device__ typename in_memory<T>::type& operator[](long long index) const {
    return element_at(first + shape.offset(index, view));
  }
};

/// An array parameter of bools whose elements are contiguous. It also passes for a pointer.
template <class T> struct booleans {
  T* first;
  template <class Index> __device__ typename in_memory<T>::type& operator[](Index index) const {
    return element_at(first + index);
  }
  __device__ typename in_memory<T>::type& operator*() const { return element_at(first); }
  template <class Index> __device__ booleans operator+(Index count) const {
    return {first + count};
  }
  __device__ operator T*() const { return first; }
};

/// Runs over the elements from `start` on in a tile that is not whole: over groups as long as all
/// threads have one, and then over elements.
template <template <int> class Group, int Width, int Groups, class Index, class Load, class Run,
          class Store>
__device__ inline void run_rest(Index n, Index start, Load load, Run run, Store store) {
  const Index threads = blockDim.x, thread = threadIdx.x;
  if constexpr (Groups > 1 && Width > 1) {
#pragma unroll 1
    for (; n - start >= threads * Width; start += threads * Width) {
      const Index own = start + thread * Width;
      Group<Width> group;
      load(group, own);
#pragma unroll
      for (int k = 0; k < Width; ++k) run(group, k, own | k);
      store(group, own);
    }
  }
  // Few elements come this way: unrolled code would take longer to compile than it saves.
#pragma unroll 1
  for (Index at = start + thread; at < n; at += threads) {
    Group<1> group;
    load(group, at);
    run(group, 0, at);
    store(group, at);
  }
}

/// Runs over the elements of tiles, of which a block takes every gridDim.x-th one. `quick` is tried
/// for all elements of a group; if it sets `undecided`, `run` is run for them. Each group is stored
/// before the next one, so that few registers are needed.
template <template <int> class Group, int Width, int Groups, class Index, class Load, class Quick,
          class Run, class Store>
__device__ inline void run_tiles(Index n, Load load, Quick quick, bool& undecided, Run run,
                                 Store store) {
  const Index threads = blockDim.x, thread = threadIdx.x, tile = threads * Width * Groups;
#pragma unroll 1
  for (Index turn = blockIdx.x; turn * tile < n; turn += gridDim.x) {
    const Index first = turn * tile;  // a product shows that it is a multiple of Width
    if (n - first < tile) {
      run_rest<Group, Width, Groups>(n, first, load, run, store);
      return;
    }
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
      const Index own = first + (g * threads + thread) * Width;
      Group<Width> group;
      load(group, own);
      undecided = false;
#pragma unroll
      for (int k = 0; k < Width; ++k) quick(group, k, own | k);
      if (undecided) {
#pragma unroll
        for (int k = 0; k < Width; ++k) run(group, k, own | k);
      }
      store(group, own);
    }
  }
}

/// Returns the value of another lane of the warp.
template <class T> __device__ inline T shuffle_down(const T& value, int lanes) {
  constexpr int words = (sizeof(T) + 3) / 4;
  unsigned raw[words] = {};
  memcpy(raw, &value, sizeof(T));
#pragma unroll
  for (int w = 0; w < words; ++w) raw[w] = __shfl_down_sync(~0u, raw[w], lanes);
  T result;
  memcpy(&result, raw, sizeof(T));
  return result;
}

/// Runs over a patch of a thread, for views of which some are contiguous along `Axis` and not along
/// the last axis: the patch is turned in registers.
template <template <int> class Group, int Width, int Axis, class Index, int Rank, int Views,
          class LoadPatch, class StorePatch, class Load, class Run, class Store>
__device__ inline void run_patch(const layout<Index, Rank, Views>& shape, LoadPatch load_patch,
                                 StorePatch store_patch, Load load, Run run, Store store) {
  Index at[Rank];
  shape.template find_patch<Axis, Width>(at);
  const Index rows = shape.extent[Axis] - at[Axis];
  const Index columns = shape.extent[Rank - 1] - at[Rank - 1];
  if (rows <= 0 || columns <= 0) return;  // also because the index might not fit
  const Index index = shape.index_of(at), step = shape.step_of(Axis);
  if (rows >= Width && columns >= Width) {
    Group<Width> groups[Width];
    load_patch(groups, at);
#pragma unroll
    for (int r = 0; r < Width; ++r) {
#pragma unroll
      for (int k = 0; k < Width; ++k) run(groups[r], k, index + r * step + k);
    }
    store_patch(groups, at);
    return;
  }
#pragma unroll 1
  for (int r = 0; r < Width && r < rows; ++r) {
#pragma unroll 1
    for (int k = 0; k < Width && k < columns; ++k) {
      Group<1> one;
      load(one, index + r * step + k);
      run(one, 0, index + r * step + k);
      store(one, index + r * step + k);
    }
  }
}

/// Hides the name of a parameter of which the snippet may only use its own element.
struct hidden {};

/// The return type of a snippet that has to run to its end.
struct finished {};

}}  // namespace gpu::loops
