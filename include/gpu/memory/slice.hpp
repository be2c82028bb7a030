#pragma once
/// \file
/// Selectors of elements of a view besides indices: `slice`, a range with a step as in Python,
/// `all()`, `ellipsis()` and `new_axis()`.

#include <cstddef>
#include <gpu/core/detail/traits.hpp>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// The end of a slice that goes as far as there are elements.
inline constexpr std::ptrdiff_t to_end = static_cast<std::ptrdiff_t>(~std::size_t{0} >> 1);

namespace detail {

/// Returns an index or an axis as a signed number. One of an unsigned type is never negative: what
/// is too large for a signed number stays too large.
template <detail::word_integer I> constexpr std::ptrdiff_t signed_index(I index) noexcept {
  const auto number = static_cast<std::ptrdiff_t>(index);
  return !std::is_signed_v<I> && number < 0 ? to_end : number;
}

}  // namespace detail

/// The indices from `first` on, `step` apart, before `last` is reached: Python's `first:last:step`.
/// Negative indices count from the end. Indices out of range are left out, so a slice may be empty.
/// With a negative step, `slice(to_end, before_start, -1)` is everything in reverse order.
struct slice {
  std::ptrdiff_t first = 0;
  std::ptrdiff_t last = to_end;
  std::ptrdiff_t step = 1;

  constexpr slice() noexcept = default;
  constexpr slice(std::ptrdiff_t from, std::ptrdiff_t to, std::ptrdiff_t by = 1) noexcept
      : first{from}, last{to}, step{by} {}
  template <detail::word_integer From, detail::word_integer To,
            detail::word_integer By = std::ptrdiff_t>
    requires(!std::is_signed_v<From> || !std::is_signed_v<To> || !std::is_signed_v<By>)
  constexpr slice(From from, To to, By by = 1) noexcept
      : first{detail::signed_index(from)},
        last{detail::signed_index(to)},
        step{detail::signed_index(by)} {}
};

/// The end of a slice with a negative step that includes the first element.
inline constexpr std::ptrdiff_t before_start = -to_end;

namespace detail {

/// The indices `start`, `start + step`, ..., of which there are `count`.
struct index_sequence {
  std::ptrdiff_t start = 0;
  std::ptrdiff_t step = 1;
  std::size_t count = 0;
};

/// Returns the indices below `size` that a slice selects. Its step is not 0.
constexpr index_sequence select_indices(const slice& s, std::size_t size) noexcept {
  const auto length = static_cast<std::ptrdiff_t>(size);
  const std::ptrdiff_t lowest = s.step > 0 ? 0 : -1, highest = s.step > 0 ? length : length - 1;
  const auto clamp = [&](std::ptrdiff_t index) {
    if (index < 0 && index != before_start) index += length;
    return index < lowest ? lowest : index > highest ? highest : index;
  };
  const std::ptrdiff_t first = clamp(s.first), last = clamp(s.last);
  const std::ptrdiff_t distance = s.step > 0 ? last - first : first - last;
  const std::size_t stride =
      s.step > 0 ? static_cast<std::size_t>(s.step) : ~static_cast<std::size_t>(s.step) + 1;
  index_sequence found{first, s.step, 0};
  if (distance > 0) found.count = (static_cast<std::size_t>(distance) - 1) / stride + 1;
  return found;
}

}  // namespace detail

namespace detail {

/// All elements of an axis.
struct all_elements {};

}  // namespace detail

/// Selects all elements of an axis of a view: NumPy's `:`.
constexpr detail::all_elements all() noexcept { return {}; }

/// Stands for all axes of a view that the other indices leave over: NumPy's `...`.
struct ellipsis {};

/// Adds an axis of 1 element to a view: NumPy's `newaxis`.
struct new_axis {};

}}  // namespace gpu::v1
