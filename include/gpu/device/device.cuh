#pragma once
/// \file
/// What device code includes as `<gpu/device.hpp>`: views of device memory that kernels take as
/// parameters, and indices. C++11 and later, for NVRTC and nvcc; includes nothing under NVRTC. The
/// views have the layout of the types of the same names in `gpu/memory`.

#if !defined(__CUDACC_RTC__)
#  include <cstdio>
#endif

namespace gpu {

using size_type = decltype(sizeof(0));
using difference_type = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));

namespace detail {

// Debug builds (-G, --device-debug) check each index.
#if defined(__CUDACC_DEBUG__)
constexpr bool checks_indices = true;
#else
constexpr bool checks_indices = false;
#endif

/// Prints which index was out of range in which thread, and ends the kernel.
__device__ inline void fail_range(const char* what, unsigned long long index,
                                  unsigned long long size) {
  printf("%s: index %llu is out of range for size %llu, in block (%u,%u,%u), thread (%u,%u,%u)\n",
         what, index, size, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y,
         threadIdx.z);
  __trap();
}

__device__ inline void check_index(const char* what, size_type index, size_type size) {
  if (checks_indices && index >= size) fail_range(what, index, size);
}

/// Checks that `count` elements from `offset` on are within `size`.
__device__ inline void check_part(const char* what, size_type offset, size_type count,
                                  size_type size) {
  if (!checks_indices) return;
  if (offset > size) fail_range(what, offset, size);
  if (count > size - offset) fail_range(what, offset + count, size);
}

template <class T> struct same_without_const {};
template <class T> struct same_without_const<const T> {
  using type = T;
};

}  // namespace detail

/// `size()` elements of type `T`, one after the other. The first elements are at `data()`.
template <class T> class device_span {
 public:
  using element_type = T;

  device_span() = default;
  __device__ device_span(T* data, size_type size) : data_(data), size_(size) {}
  /// Converts a span of T to a span of const T.
  template <class U = T>
  __device__ device_span(device_span<typename detail::same_without_const<U>::type> other)
      : data_(other.data()), size_(other.size()) {}

  __device__ T* data() const { return data_; }
  __device__ size_type size() const { return size_; }
  __device__ size_type size_bytes() const { return size_ * sizeof(T); }
  __device__ bool empty() const { return size_ == 0; }
  __device__ T* begin() const { return data_; }
  __device__ T* end() const { return data_ + size_; }

  __device__ T& operator[](size_type index) const {
    detail::check_index("gpu::device_span", index, size_);
    return data_[index];
  }

  __device__ device_span first(size_type count) const {
    detail::check_part("gpu::device_span::first", 0, count, size_);
    return device_span(data_, count);
  }
  __device__ device_span last(size_type count) const {
    detail::check_part("gpu::device_span::last", 0, count, size_);
    return device_span(data_ + (size_ - count), count);
  }
  __device__ device_span subspan(size_type offset) const {
    detail::check_part("gpu::device_span::subspan", offset, 0, size_);
    return device_span(data_ + offset, size_ - offset);
  }
  __device__ device_span subspan(size_type offset, size_type count) const {
    detail::check_part("gpu::device_span::subspan", offset, count, size_);
    return device_span(data_ + offset, count);
  }

 private:
  T* data_;
  size_type size_;
};

/// Elements of type `T` in `Rank` dimensions. `view(i, j)` is `stride(0) * i + stride(1) * j`
/// elements behind `data()`; strides may be negative, or 0 to repeat one element. A view of rank 0
/// has one element, `view()`.
template <class T, int Rank = 1> class array_view {
  static_assert(Rank >= 0, "the rank of an array_view is the number of its dimensions, 0 or more");

 public:
  using element_type = T;
  static constexpr int rank = Rank;

  array_view() = default;
  template <class U = T>
  __device__ array_view(const array_view<typename detail::same_without_const<U>::type, Rank>& other)
      : data_(other.data()) {
    for (int axis = 0; axis < Rank; ++axis) {
      extents_[axis] = other.extent(axis);
      strides_[axis] = other.stride(axis);
    }
  }

  __device__ T* data() const { return data_; }
  __device__ size_type extent(int axis) const { return extents_[axis]; }
  __device__ difference_type stride(int axis) const { return strides_[axis]; }
  /// Returns the number of elements in all dimensions together.
  __device__ size_type size() const {
    size_type product = 1;
    for (int axis = 0; axis < Rank; ++axis) product *= extents_[axis];
    return product;
  }

  template <class... Index> __device__ T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "an array_view takes one index for each dimension");
    return data_[offset(0, static_cast<size_type>(index)...)];
  }

 private:
  __device__ difference_type offset(int) const { return 0; }
  template <class... Rest>
  __device__ difference_type offset(int axis, size_type index, Rest... rest) const {
    detail::check_index("gpu::array_view", index, extents_[axis]);
    return static_cast<difference_type>(index) * strides_[axis] + offset(axis + 1, rest...);
  }

  T* data_;
  // Rank 0 has an unused extent and stride: C++ has no arrays of length 0.
  size_type extents_[Rank == 0 ? 1 : Rank];
  difference_type strides_[Rank == 0 ? 1 : Rank];
};

// The same layout as on the host.
static_assert(sizeof(device_span<char>) == 16 && alignof(device_span<char>) == 8,
              "a device_span is a pointer and a length of 64 bits each");
static_assert(sizeof(array_view<char, 3>) == 56 && sizeof(array_view<char, 0>) == 24 &&
                  alignof(array_view<char, 3>) == 8,
              "an array_view is a pointer, the extents and the strides, of 64 bits each");

/// A position in the grid, or its size, in threads. 64 bits: a grid may have more than 2^32
/// threads.
struct grid_place {
  size_type x, y, z;
};

/// Returns the position of the calling thread in the grid.
__device__ inline grid_place thread_in_grid() {
  return grid_place{size_type(blockIdx.x) * blockDim.x + threadIdx.x,
                    size_type(blockIdx.y) * blockDim.y + threadIdx.y,
                    size_type(blockIdx.z) * blockDim.z + threadIdx.z};
}

/// Returns the size of the grid in threads.
__device__ inline grid_place threads_in_grid() {
  return grid_place{size_type(gridDim.x) * blockDim.x, size_type(gridDim.y) * blockDim.y,
                    size_type(gridDim.z) * blockDim.z};
}

/// The indices from `first` to `last`, `step` apart.
class index_range {
 public:
  class iterator {
   public:
    __device__ iterator(size_type index, size_type step) : index_(index), step_(step) {}
    __device__ size_type operator*() const { return index_; }
    __device__ iterator& operator++() {
      index_ += step_;
      return *this;
    }
    /// Returns whether there are more: the last step may go past the end.
    __device__ bool operator!=(const iterator& end) const { return index_ < end.index_; }

   private:
    size_type index_, step_;
  };

  __device__ index_range(size_type first, size_type last, size_type step)
      : first_(first), last_(last), step_(step) {}
  __device__ iterator begin() const { return iterator(first_, step_); }
  __device__ iterator end() const { return iterator(last_, step_); }

 private:
  size_type first_, last_, step_;
};

/// Returns the calling thread's share of the indices below `count`, so that a grid of any size
/// along x covers all of them:
///
///     for (auto i : gpu::grid_stride(y.size())) y[i] += a * x[i];
__device__ inline index_range grid_stride(size_type count) {
  return index_range(thread_in_grid().x, count, threads_in_grid().x);
}

}  // namespace gpu
