#pragma once
/// \file
/// The kernels that make the structure of a sparse matrix from coordinates.

namespace gpu { namespace sparse {

__device__ inline long long thread_index() {
  return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

/// Finds the first index that is not below `extent`.
__device__ inline void check_indices(const int* indices, long long count, int extent,
                                     unsigned long long* first_wrong) {
  const long long i = thread_index();
  if (i < count && unsigned(indices[i]) >= unsigned(extent))
    atomicMin(first_wrong, (unsigned long long)i);
}

/// Makes keys whose order is that of rows, and of columns within a row.
__device__ inline void make_keys(const int* rows, const int* columns, long long count,
                                 unsigned long long* keys) {
  const long long i = thread_index();
  if (i < count) keys[i] = (unsigned long long)unsigned(rows[i]) << 32 | unsigned(columns[i]);
}

__device__ inline void split_keys(const unsigned long long* keys, long long count, int* rows,
                                  int* columns) {
  const long long i = thread_index();
  if (i >= count) return;
  rows[i] = int(keys[i] >> 32);
  columns[i] = int(keys[i] & 0xffffffffu);
}

/// Finds the first position of each of `row_count` rows in sorted ones, and the end of the last
/// one.
__device__ inline void find_offsets(const int* rows, int count, int* offsets, long long row_count) {
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

}}  // namespace gpu::sparse
