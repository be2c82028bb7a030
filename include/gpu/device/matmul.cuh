#pragma once
/// \file
/// The kernel of matrix products.

namespace gpu { namespace products {

/// Strides of a matrix in elements: of its rows, its columns, and the axes of its batch.
struct matrix {
  long long row, column;
  long long batch[6];
};

/// m x k times k x n for each index of a batch. Axes that a batch does not have have 1 index.
struct shape {
  long long m, n, k;
  long long batch[6];
  matrix a, b, c;
};

/// 16 x 16 threads multiply a tile of Rows x Columns elements each, Depth products at a time.
constexpr int side = 16;
constexpr int threads = side * side;

/// Returns the place of element `each` of a thread along one side of the tile: neighboring threads
/// have neighboring groups of four.
template <int Count> __device__ constexpr int place_of(int thread, int each) {
  constexpr int group = Count < 4 ? Count : 4;
  return each / group * (side * group) + thread * group + each % group;
}

/// A part of a matrix: Length rows or columns, Depth of the products' index. It goes from memory to
/// registers, and from there to shared memory, while the part before it is multiplied.
template <class Value, int Length, int Depth> struct part {
  static constexpr int count = Length * Depth / threads;
  Value held[count];

  /// Returns where element `each` of this thread is. Neighboring threads read along the axis that
  /// is closer in memory.
  static __device__ void locate(int each, bool along_depth, int& at, int& depth) {
    const int element = int(threadIdx.x) + each * threads;
    at = along_depth ? element / Depth : element % Length;
    depth = along_depth ? element % Depth : element / Length;
  }

  template <class Element>
  __device__ void load(const Element* from, long long stride, long long depth_stride,
                       bool along_depth, long long length, long long depth_left) {
#pragma unroll
    for (int each = 0; each < count; ++each) {
      int at, depth;
      locate(each, along_depth, at, depth);
      held[each] = at < length && depth < depth_left
                       ? Value(from[at * stride + depth * depth_stride])
                       : Value(0);
    }
  }
  __device__ void store(Value (&to)[Depth][Length + 4], bool along_depth) const {
#pragma unroll
    for (int each = 0; each < count; ++each) {
      int at, depth;
      locate(each, along_depth, at, depth);
      to[depth][at] = held[each];
    }
  }
};

/// Multiplies a tile. Each element is a sum in the order of the products' index, whatever the tiles
/// are, so that results do not depend on them. `multiply_add(a, b, c)` is a * b + c.
template <class Value, int Rows, int Columns, int Depth, class Element, class MultiplyAdd>
__device__ void multiply(const Element* a, const Element* b, Element* c, const shape& s,
                         MultiplyAdd multiply_add) {
  constexpr int tile_rows = side * Rows, tile_columns = side * Columns;
  __shared__ alignas(16) Value shared_a[Depth][tile_rows + 4];
  __shared__ alignas(16) Value shared_b[Depth][tile_columns + 4];

  const long long tiles_down = (s.m + tile_rows - 1) / tile_rows;
  const long long tiles_right = (s.n + tile_columns - 1) / tile_columns;
  long long tile = blockIdx.x;
  const long long first_column = tile % tiles_right * tile_columns;
  tile /= tiles_right;
  const long long first_row = tile % tiles_down * tile_rows;
  tile /= tiles_down;
#pragma unroll
  for (int axis = 6; axis-- > 0;) {
    const long long index = tile % s.batch[axis];
    tile /= s.batch[axis];
    a += index * s.a.batch[axis];
    b += index * s.b.batch[axis];
    c += index * s.c.batch[axis];
  }
  a += first_row * s.a.row;
  b += first_column * s.b.column;
  const bool a_along_depth = llabs(s.a.column) <= llabs(s.a.row);
  const bool b_along_depth = llabs(s.b.row) < llabs(s.b.column);
  const long long rows = s.m - first_row, columns = s.n - first_column;

  Value sums[Rows][Columns];
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
#pragma unroll
    for (int q = 0; q < Columns; ++q) sums[r][q] = Value(0);
  }
  const int down = int(threadIdx.x) / side, right = int(threadIdx.x) % side;
  part<Value, tile_rows, Depth> next_a;
  part<Value, tile_columns, Depth> next_b;
  next_a.load(a, s.a.row, s.a.column, a_along_depth, rows, s.k);
  next_b.load(b, s.b.column, s.b.row, b_along_depth, columns, s.k);
  for (long long done = 0; done < s.k; done += Depth) {
    next_a.store(shared_a, a_along_depth);
    next_b.store(shared_b, b_along_depth);
    __syncthreads();
    const long long left = s.k - done - Depth;
    if (left > 0) {
      a += Depth * s.a.column;
      b += Depth * s.b.row;
      next_a.load(a, s.a.row, s.a.column, a_along_depth, rows, left);
      next_b.load(b, s.b.column, s.b.row, b_along_depth, columns, left);
    }
#pragma unroll
    for (int depth = 0; depth < Depth; ++depth) {
      Value left_factors[Rows], right_factors[Columns];
#pragma unroll
      for (int r = 0; r < Rows; ++r) left_factors[r] = shared_a[depth][place_of<Rows>(down, r)];
#pragma unroll
      for (int q = 0; q < Columns; ++q)
        right_factors[q] = shared_b[depth][place_of<Columns>(right, q)];
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
#pragma unroll
        for (int q = 0; q < Columns; ++q)
          sums[r][q] = multiply_add(left_factors[r], right_factors[q], sums[r][q]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    const long long row = first_row + place_of<Rows>(down, r);
#pragma unroll
    for (int q = 0; q < Columns; ++q) {
      const long long column = first_column + place_of<Columns>(right, q);
      if (row < s.m && column < s.n) c[row * s.c.row + column * s.c.column] = Element(sums[r][q]);
    }
  }
}

}}  // namespace gpu::products
