#pragma once
/// \file
/// The kernels beside the sorts that sort segments.

#include <gpu/device/sort.cuh>

namespace gpu { namespace sorting {

/// Segment s begins at offsets[s]; the last one ends at offsets[count].
template <class Offset> struct segments {
  const Offset* offsets;
  unsigned long long count;

  __device__ bool is_reached(unsigned long long s, unsigned long long position) const {
    const Offset offset = offsets[s];
    if constexpr (Offset(-1) < Offset(0)) {
      if (offset < 0) return true;
    }
    return (unsigned long long)offset <= position;
  }
  /// Returns how many offsets are not after a position: 0 before the first segment, s + 1 in
  /// segment s. If offsets decrease, any number up to that.
  __device__ unsigned number_of(unsigned long long position) const {
    unsigned long long low = 0, high = count + 1;
    while (low < high) {
      const unsigned long long middle = (low + high) / 2;
      if (is_reached(middle, position)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return unsigned(low);
  }
  __device__ bool contain(unsigned long long position) const {
    return is_reached(0, position) && !is_reached(count, position);
  }
};

/// Writes the segments of the elements at these positions.
template <class Index, class Offset>
__device__ inline void find_segments(const Index* positions, unsigned* numbers,
                                     segments<Offset> all, unsigned long long n) {
  const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] = all.number_of(positions[i]);
}

/// Writes the elements in the order of these positions. Those outside of all segments stay.
template <class Index, class Offset, class Value>
__device__ inline void move_in_segments(const Index* positions, const Value* from, Value* to,
                                        segments<Offset> all, unsigned long long n) {
  const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[all.contain(i) ? (unsigned long long)positions[i] : i];
}

}}  // namespace gpu::sorting
