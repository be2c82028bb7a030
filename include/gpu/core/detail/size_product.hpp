#pragma once
/// \file
/// Products of extents, strides and element sizes.

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The most bytes that memory can have, and so the most elements of an array: a difference of two
/// pointers counts them.
inline constexpr std::size_t most_memory_bytes = ~std::size_t{0} >> 1;

/// Returns the product, or the largest `size_t` if that is too small for it. So the result of
/// several calls is right, too: 0 if a factor is 0, and more than `most_memory_bytes` if the
/// product is.
constexpr std::size_t saturated_product(std::size_t a, std::size_t b) noexcept {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~std::size_t{0} : product;
}

/// Returns the product of extents in the same way.
constexpr std::size_t saturated_product(const std::size_t* extents, int count) noexcept {
  std::size_t product = 1;
  for (int k = 0; k < count; ++k) product = saturated_product(product, extents[k]);
  return product;
}

/// Sets strides to those of contiguous elements in C order. A stride that memory cannot have means
/// nothing, since there are no elements then: it becomes 0.
constexpr void set_dense_strides(const std::size_t* extents, std::ptrdiff_t* strides,
                                 int rank) noexcept {
  std::size_t dense = 1;
  for (int axis = rank; axis-- > 0;) {
    strides[axis] = dense > most_memory_bytes ? 0 : static_cast<std::ptrdiff_t>(dense);
    dense = saturated_product(dense, extents[axis]);
  }
}

/// Returns the absolute value.
constexpr std::size_t magnitude(std::ptrdiff_t number) noexcept {
  return number < 0 ? ~static_cast<std::size_t>(number) + 1 : static_cast<std::size_t>(number);
}

}}}  // namespace gpu::v1::detail
