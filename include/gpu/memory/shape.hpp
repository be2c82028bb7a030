#pragma once
/// \file
/// `shape<Rank>`: the extents of an array; `axis_order`: which of its axes is contiguous in memory.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/detail/traits.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The number of elements of an array along each axis: `gpu::shape{3, 4}`. Rank 0 is the shape of
/// one element.
template <int Rank> class shape {
  static_assert(Rank >= 0, "the rank of a shape is the number of its axes, 0 or more");

 public:
  static constexpr int rank = Rank;

  /// Makes a shape of extents 0; of rank 0, the shape of one element.
  constexpr shape() noexcept = default;
  template <class... Extents>
    requires(sizeof...(Extents) == Rank && Rank > 0 && (detail::word_integer<Extents> && ...))
  constexpr shape(Extents... extents) noexcept : extents_{static_cast<std::size_t>(extents)...} {}
  template <class Extent>
    requires(Rank > 0 && detail::word_integer<Extent>)
  constexpr shape(const Extent (&extents)[std::size_t{Rank}]) noexcept {
    for (int axis = 0; axis < Rank; ++axis)
      extents_[axis] = static_cast<std::size_t>(extents[axis]);
  }

  constexpr std::size_t operator[](int axis) const noexcept { return extents_[axis]; }
  constexpr std::size_t& operator[](int axis) noexcept { return extents_[axis]; }
  constexpr const std::size_t* begin() const noexcept { return extents_; }
  constexpr const std::size_t* end() const noexcept { return extents_ + Rank; }

  /// Returns the number of elements: the product of the extents. Saturates at the largest `size_t`.
  constexpr std::size_t size() const noexcept { return detail::saturated_product(extents_, Rank); }

  friend constexpr bool operator==(const shape& a, const shape& b) noexcept {
    for (int axis = 0; axis < Rank; ++axis) {
      if (a[axis] != b[axis]) return false;
    }
    return true;
  }

 private:
  std::size_t extents_[Rank == 0 ? 1 : std::size_t{Rank}] = {};  // C++ has no arrays of length 0
};

template <class... Extents> shape(Extents...) -> shape<int{sizeof...(Extents)}>;

/// The order of the elements of an array in memory.
enum class axis_order : unsigned char {
  c,        ///< the last index is contiguous, as in C
  fortran,  ///< the first index is contiguous, as in Fortran
  keep,     ///< of functions that take a model: the axes are in the model's order
};

}}  // namespace gpu::v1
