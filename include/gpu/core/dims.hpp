#pragma once
/// \file
/// `dims`: the dimensions of a grid or a block.

#include <gpu/core/count.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 {

/// The number of blocks or threads in x, y and z. An integer `n` converts to `{n, 1, 1}`. An extent
/// that is negative or does not fit becomes the largest, which every launch refuses.
struct dims {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  constexpr dims() noexcept = default;
  constexpr dims(std::uint32_t x_, std::uint32_t y_ = 1, std::uint32_t z_ = 1) noexcept
      : x{x_}, y{y_}, z{z_} {}
  template <detail::counts X, detail::counts Y = std::uint32_t, detail::counts Z = std::uint32_t>
  constexpr dims(X x_, Y y_ = 1, Z z_ = 1) noexcept
      : x{detail::saturated<std::uint32_t>(x_)},
        y{detail::saturated<std::uint32_t>(y_)},
        z{detail::saturated<std::uint32_t>(z_)} {}

  /// Returns the total number of blocks or threads; saturates at the largest `uint64_t`.
  constexpr std::uint64_t volume() const noexcept {
    const std::uint64_t plane = std::uint64_t{x} * y;
    return z != 0 && plane > ~std::uint64_t{0} / z ? ~std::uint64_t{0} : plane * z;
  }
  friend constexpr bool operator==(const dims&, const dims&) noexcept = default;
};

}}  // namespace gpu::v1
