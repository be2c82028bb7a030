#pragma once
/// \file
/// The kernels that multiply with a sparse matrix.

#include <gpu/device/loops.cuh>
#include <gpu/device/reduction.cuh>

namespace gpu { namespace sparse {

/// The entries that a block multiplies: from `entry` up to that of the next tile. They are whole
/// rows from `row` up to that of the next tile, each summed by so many lanes; or, if `lanes` is 0,
/// one row or a part of one, which the whole block sums. A part is stored in `partials[partial]`.
struct tile {
  int row, entry, lanes, partial;
};

/// A row in several tiles, which leave `count` sums from `partials[first]` on.
struct long_row {
  int row, first, count;
};

/// The result that is stored for the sum of a row.
template <class T> struct result {
  T* y;
  T alpha, beta;
  int scaled, adds;

  __device__ void store(int row, T sum) const {
    if (scaled) sum = alpha * sum;
    if (adds) sum = sum + beta * y[row];
    y[row] = sum;
  }
};

/// Multiplies the entries of a tile, and sums those of each row: in the order of the entries by one
/// lane, or by several that take turns and then combine in pairs.
template <class T, int Threads, int Items>
__device__ inline void multiply_tile(const tile* tiles, const int* offsets, const int* columns,
                                     const T* values, const T* x, T* partials,
                                     const result<T>& out) {
  const tile own = tiles[blockIdx.x], next = tiles[blockIdx.x + 1];
  const int entries = next.entry - own.entry, thread = threadIdx.x;
  // All loads before all stores, so that they are on their way together.
  int column[Items];
  T product[Items];
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int at = k * Threads + thread;
    column[k] = at < entries ? columns[own.entry + at] : 0;
  }
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int at = k * Threads + thread;
    product[k] = at < entries ? values[own.entry + at] : T(0);
  }
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    if (k * Threads + thread < entries) product[k] = product[k] * x[column[k]];
  }
  const auto add = [](const T& a, const T& b) { return T(a + b); };
  if (own.lanes == 0) {
    const T sum =
        loops::reduce_block<Threads>(loops::combine_group(product, add), Threads / 32, add);
    if (thread != 0) return;
    if (own.partial >= 0) {
      partials[own.partial] = sum;
    } else {
      out.store(own.row, sum);
    }
    return;
  }
  __shared__ alignas(16) char memory[sizeof(T) * Threads * Items];
  T* const products = reinterpret_cast<T*>(memory);
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int at = k * Threads + thread;
    if (at < entries) products[at] = product[k];
  }
  __syncthreads();
  const int lanes = own.lanes, lane = thread % lanes, group = thread / lanes;
  for (int first = own.row; first < next.row; first += Threads / lanes) {
    const int row = first + group;
    T sum = T(0);
    if (row < next.row) {
      const int end = offsets[row + 1] - own.entry;
      for (int at = offsets[row] - own.entry + lane; at < end; at += lanes)
        sum = sum + products[at];
    }
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      sum = sum + loops::shuffle_down(sum, distance);
    if (lane == 0 && row < next.row) out.store(row, sum);
  }
}

/// Sums what the tiles of long rows left, a warp for each row.
template <class T>
__device__ inline void finish_long_rows(const long_row* rows, int count, const T* partials,
                                        const result<T>& out) {
  const int index = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (index >= count) return;
  const long_row own = rows[index];
  T sum = T(0);
  for (int at = lane; at < own.count; at += 32) sum = sum + partials[own.first + at];
  sum = loops::reduce_lanes(sum, 32, [](const T& a, const T& b) { return T(a + b); });
  if (lane == 0) out.store(own.row, sum);
}

/// Finds the entry of each row on the diagonal: 0 if the row has no such entry, the sum of several.
template <class T>
__device__ inline void find_diagonal(const int* offsets, const int* columns, const T* values,
                                     T* diagonal, int count) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  T sum = T(0);
  for (int at = offsets[row]; at < offsets[row + 1]; ++at) {
    if (columns[at] == row) sum = sum + values[at];
  }
  diagonal[row] = sum;
}

}}  // namespace gpu::sparse
