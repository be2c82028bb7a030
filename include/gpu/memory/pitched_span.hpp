#pragma once
/// \file
/// `pitched_span<T>` and its counterparts on the host: rows and planes of elements, with a pitch
/// between the rows.

#include <gpu/core/kernel_argument.hpp>
#include <gpu/driver/error_reporter.hpp>

#include <cuda.h>

#include <cstddef>

namespace gpu::inline v0 {

/// How many elements there are in each direction; the counterpart of `cudaExtent`.
struct box_extent {
  std::size_t width = 0;  ///< elements, not bytes
  std::size_t height = 1;
  std::size_t depth = 1;

  constexpr bool empty() const noexcept { return width == 0 || height == 0 || depth == 0; }
  friend constexpr bool operator==(const box_extent& a, const box_extent& b) noexcept {
    return a.width == b.width && a.height == b.height && a.depth == b.depth;
  }
};

/// As a length of a part of a box: all that is left from where the part begins.
inline constexpr std::size_t to_the_edge = ~std::size_t{0};

/// Where in a box something begins, in elements; the counterpart of `cudaPos`.
struct box_position {
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t z = 0;
};

namespace detail {

constexpr std::size_t length_of_part(std::size_t all, std::size_t begin,
                                     std::size_t asked) noexcept {
  if (asked != to_the_edge) return asked;
  return begin < all ? all - begin : 0;
}

/// `size` with lengths in place of `to_the_edge`; 0 where a part begins past the edge.
constexpr box_extent part_of(const box_extent& whole, const box_position& at,
                             const box_extent& size) noexcept {
  return {length_of_part(whole.width, at.x, size.width),
          length_of_part(whole.height, at.y, size.height),
          length_of_part(whole.depth, at.z, size.depth)};
}

}  // namespace detail

/// Where the memory of a pitched view is.
enum class memory_side : unsigned char {
  device,
  pinned,  ///< page-locked host memory, or managed memory
  host,
};

/// Names a box of elements that something else keeps alive: `depth` planes of `height` rows of
/// `width` elements. Copy it freely; it passes to kernels as it stands, 56 bytes.
template <class T, memory_side Side> class pitched_view {
 public:
  using element_type = T;
  static constexpr memory_side side = Side;

  static_assert(detail::trivially_copyable<T>,
                "copies move bytes: the elements have to be "
                "trivially copyable");

  constexpr pitched_view() noexcept = default;
  template <class U>
    requires detail::convertible<U (*)[], T (*)[]>
  constexpr pitched_view(pitched_view<U, Side> other) noexcept
      : data_{other.data()},
        pitch_{other.pitch()},
        size_{other.size()},
        rows_{other.plane_rows()} {}

  /// A box that begins at `data`. `pitch` is the bytes from one row to the next, 0 where rows
  /// follow each other at once; `plane_rows` the rows from one plane to the next, 0 where it is the
  /// height. What does not fit is refused when the view is used.
  static constexpr pitched_view from_native(T* data, box_extent size, std::size_t pitch = 0,
                                            std::size_t plane_rows = 0) noexcept {
    pitched_view view;
    view.data_ = data;
    view.size_ = size;
    view.pitch_ = pitch != 0 ? pitch : size.width * sizeof(T);
    view.rows_ = plane_rows != 0 ? plane_rows : size.height;
    return view;
  }

  /// The address of the first element; on a device it is good for passing on, not for following.
  constexpr T* data() const noexcept { return data_; }
  CUdeviceptr native() const noexcept {
    return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(data_));
  }
  constexpr box_extent size() const noexcept { return size_; }
  constexpr std::size_t pitch() const noexcept { return pitch_; }
  constexpr std::size_t plane_rows() const noexcept { return rows_; }
  constexpr bool empty() const noexcept { return size_.empty(); }

 private:
  T* data_ = nullptr;
  std::size_t pitch_ = 0;  // bytes
  box_extent size_;
  std::size_t rows_ = 0;
};

/// A box in device memory.
template <class T> using pitched_span = pitched_view<T, memory_side::device>;
/// A box in page-locked host memory, which asynchronous copies need.
template <class T> using pitched_pinned_span = pitched_view<T, memory_side::pinned>;
/// A box in any host memory.
template <class T> using pitched_host_span = pitched_view<T, memory_side::host>;

}  // namespace gpu::inline v0
