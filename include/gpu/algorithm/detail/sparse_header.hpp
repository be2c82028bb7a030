#pragma once
/// \file
/// The texts of `<gpu/sparse_product.hpp>` and `<gpu/sparse_structure.hpp>`: the kernels of sparse
/// matrices.

namespace gpu { inline namespace v1 { namespace detail {

inline constexpr char sparse_product_header_name[] = "gpu/sparse_product.hpp";

inline constexpr char sparse_product_header[] = R"gpu(#ifndef GPU_SPARSE_PRODUCT_HPP
#define GPU_SPARSE_PRODUCT_HPP
// After gpu/loops.hpp.

namespace gpu {
namespace sparse {

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

  void store(int row, T sum) const {
    if (scaled) sum = alpha * sum;
    if (adds) sum = sum + beta * y[row];
    y[row] = sum;
  }
};

/// Multiplies the entries of a tile, and sums those of each row: in the order of the entries by one
/// lane, or by several that take turns and then combine in pairs.
template <class T, int Threads, int Items>
inline void multiply_tile(const tile* tiles, const int* offsets, const int* columns,
                          const T* values, const T* x, T* partials, const result<T>& out) {
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
    const T sum = loops::reduce_block<Threads>(loops::combine_group(product, add), Threads / 32, add);
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
inline void finish_long_rows(const long_row* rows, int count, const T* partials,
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
inline void find_diagonal(const int* offsets, const int* columns, const T* values, T* diagonal,
                          int count) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= count) return;
  T sum = T(0);
  for (int at = offsets[row]; at < offsets[row + 1]; ++at) {
    if (columns[at] == row) sum = sum + values[at];
  }
  diagonal[row] = sum;
}

}  // namespace sparse
}  // namespace gpu
#endif
)gpu";

inline constexpr char sparse_structure_header_name[] = "gpu/sparse_structure.hpp";

inline constexpr char sparse_structure_header[] = R"gpu(#ifndef GPU_SPARSE_STRUCTURE_HPP
#define GPU_SPARSE_STRUCTURE_HPP

namespace gpu {
namespace sparse {

inline long long thread_index() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }

/// Finds the first index that is not below `extent`.
inline void check_indices(const int* indices, long long count, int extent,
                          unsigned long long* first_wrong) {
  const long long i = thread_index();
  if (i < count && unsigned(indices[i]) >= unsigned(extent))
    atomicMin(first_wrong, (unsigned long long)i);
}

/// Makes keys whose order is that of rows, and of columns within a row.
inline void make_keys(const int* rows, const int* columns, long long count,
                      unsigned long long* keys) {
  const long long i = thread_index();
  if (i < count) keys[i] = (unsigned long long)unsigned(rows[i]) << 32 | unsigned(columns[i]);
}

inline void split_keys(const unsigned long long* keys, long long count, int* rows, int* columns) {
  const long long i = thread_index();
  if (i >= count) return;
  rows[i] = int(keys[i] >> 32);
  columns[i] = int(keys[i] & 0xffffffffu);
}

/// Finds the first position of each of `row_count` rows in sorted ones, and the end of the last
/// one.
inline void find_offsets(const int* rows, int count, int* offsets, long long row_count) {
  const long long row = thread_index();
  if (row > row_count) return;
  int low = 0, high = count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (rows[middle] < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  offsets[row] = low;
}

}  // namespace sparse
}  // namespace gpu
#endif
)gpu";

}}}  // namespace gpu::v1::detail
