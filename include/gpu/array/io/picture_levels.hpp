#pragma once
/// \file
/// Numbers as colors.

#include <gpu/array/color_map.hpp>
#include <gpu/array/io/host_numbers.hpp>
#include <gpu/array/io/png_writer.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/generated/number_type.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Numbers as levels: 0 at `low`, `levels - 1` at `high`, and 255 for NaN.
struct picture_levels {
  host_numbers numbers;
  ieee_number low = 0, high = 1;
  int levels = 256;

  /// Sets what is not given, which is NaN, from the finite numbers.
  picture_levels(const host_numbers& of, double given_low, double given_high) noexcept
      : numbers{of} {
    ieee_number smallest, largest;
    bool any = false;
    for (std::size_t i = 0; i < numbers.count; ++i) {
      const ieee_number number = value(i);
      if (number.is_nan()) levels = 255;
      if (!number.is_finite()) continue;
      if (!any || number < smallest) smallest = number;
      if (!any || number > largest) largest = number;
      any = true;
    }
    low = ieee_number(given_low).is_nan() ? smallest : given_low;
    high = ieee_number(given_high).is_nan() ? largest : given_high;
  }
  bool has_nan() const noexcept { return levels == 255; }

  ieee_number value(std::size_t i) const noexcept {
    switch (numbers.format.kind) {
      case number_kind::boolean: return *numbers.at(i) != 0 ? 1 : 0;
      case number_kind::integer: {
        bool negative = false;
        const auto magnitude = static_cast<double>(numbers.integer(i, negative));
        return negative ? -magnitude : magnitude;
      }
      default: return numbers.real(i);
    }
  }
  unsigned char level(std::size_t i) const noexcept {
    const ieee_number number = value(i);
    if (number.is_nan()) return 255;
    if (number <= low || !(high > low)) return 0;
    if (number >= high) return static_cast<unsigned char>(levels - 1);
    // Halves: the difference of two doubles may be infinite.
    const double least = uncombined(low.value() / 2), most = uncombined(high.value() / 2);
    const double part = (uncombined(number.value() / 2) - least) / (most - least);
    const double rounded = part * (levels - 1) + 0.5;
    return static_cast<unsigned char>(rounded);
  }
  /// Sets the colors of all levels. That of NaN is white.
  void get_colors(color_map colors, rgb (&palette)[256]) const noexcept {
    for (int entry = 0; entry < levels; ++entry)
      palette[entry] = color_of(colors, static_cast<double>(entry) / (levels - 1));
    if (has_nan()) palette[255] = {255, 255, 255};
  }
};

}}}  // namespace gpu::v1::detail
