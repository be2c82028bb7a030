#pragma once
/// \file
/// `pitched_span<T>` and its counterparts for host memory: views of rows and planes of elements,
/// with a pitch between the rows.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/kernel_argument.hpp>  // IWYU pragma: keep

#include <gpu/driver/detail/cuda_header.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// The number of elements in each direction; the counterpart of `cudaExtent`.
struct box_extent {
  std::size_t width = 0;  ///< elements, not bytes
  std::size_t height = 1;
  std::size_t depth = 1;

  constexpr bool empty() const noexcept { return width == 0 || height == 0 || depth == 0; }
  friend constexpr bool operator==(const box_extent& a, const box_extent& b) noexcept {
    return a.width == b.width && a.height == b.height && a.depth == b.depth;
  }
};

/// As a length of a region: everything from the position of the region to the edge.
inline constexpr std::size_t to_the_edge = ~std::size_t{0};

/// A position in a 2D or 3D region, in elements; the counterpart of `cudaPos`.
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

/// Returns `size` with `to_the_edge` replaced by lengths, which are 0 if the position is past the
/// edge.
constexpr box_extent part_of(const box_extent& whole, const box_position& at,
                             const box_extent& size) noexcept {
  return {length_of_part(whole.width, at.x, size.width),
          length_of_part(whole.height, at.y, size.height),
          length_of_part(whole.depth, at.z, size.depth)};
}

}  // namespace detail

/// The kind of memory of a pitched view.
enum class memory_side : unsigned char {
  device,
  pinned,  ///< page-locked host memory, or managed memory
  host,
};

/// A view of a 2D or 3D region that something else keeps alive: `depth` planes of `height` rows of
/// `width` elements. Copy it freely. As a kernel argument it passes by value, 56 bytes.
template <class T, memory_side Side> class pitched_view {
 public:
  using element_type = T;
  static constexpr memory_side side = Side;

  static_assert(std::is_trivially_copyable_v<T>,
                "a copy moves bytes, which only trivially copyable elements allow");

  constexpr pitched_view() noexcept = default;
  template <class U>
    requires std::is_convertible_v<U (*)[], T (*)[]>
  constexpr pitched_view(pitched_view<U, Side> other) noexcept
      : data_{other.data()},
        pitch_{other.pitch()},
        size_{other.size()},
        rows_{other.plane_rows()} {}

  /// Makes a view that begins at `data`. `pitch` is the number of bytes from one row to the next; 0
  /// means rows without gaps. `plane_rows` is the number of rows from one plane to the next; 0
  /// means the height. Functions that use the view check these values.
  static constexpr pitched_view from_native(T* data, box_extent size, std::size_t pitch = 0,
                                            std::size_t plane_rows = 0) noexcept {
    pitched_view view;
    view.data_ = data;
    view.size_ = size;
    view.pitch_ = pitch != 0 ? pitch : detail::saturated_product(size.width, sizeof(T));
    view.rows_ = plane_rows != 0 ? plane_rows : size.height;
    return view;
  }

  /// Returns the address of the first element. The host may pass on a pointer to device memory, but
  /// not dereference it.
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

/// A 2D or 3D region of device memory.
template <class T> using pitched_span = pitched_view<T, memory_side::device>;
/// A 2D or 3D region of page-locked host memory, which asynchronous copies need.
template <class T> using pitched_pinned_span = pitched_view<T, memory_side::pinned>;
/// A 2D or 3D region of any host memory.
template <class T> using pitched_host_span = pitched_view<T, memory_side::host>;

}}  // namespace gpu::v1
