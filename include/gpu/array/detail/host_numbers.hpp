#pragma once
/// \file
/// Numbers in host memory whose type is known at run time only, for what prints and draws them.

#include <gpu/algorithm/detail/number_type.hpp>
#include <gpu/core/detail/decimal_digits.hpp>

#include <cstddef>

namespace gpu::inline v1::detail {

/// A type of numbers.
struct number_format {
  number_kind kind;
  bool is_signed;          ///< of an integer
  std::uint32_t bytes;     ///< of an element
  float_format real_part;  ///< of a real or complex number
};

template <class T> constexpr number_format number_format_of() noexcept {
  constexpr number_kind kind = number_kind_of<T>();
  float_format real_part{};
  if constexpr (kind == number_kind::complex) {
    real_part = number_format_of<typename T::value_type>().real_part;
  } else if constexpr (same<T, double>) {
    real_part = {53, -1074};
  } else if constexpr (same<T, float>) {
    real_part = {24, -149};
  } else if constexpr (kind == number_kind::short_real) {
    real_part =
        element_type_of<T>().name == "gpu::half" ? float_format{11, -24} : float_format{8, -133};
  }
  return {kind, is_signed<T>, sizeof(T), real_part};
}

template <class T> T load_number(const unsigned char* from) noexcept {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

/// Converts a number of 16 bits, exactly.
inline double widen_short(std::uint16_t bits, const float_format& format) noexcept {
  const int stored = format.bits - 1, biased = (bits & 0x7fff) >> stored;
  const int most = 0x7fff >> stored;
  const int mantissa = bits & ((1 << stored) - 1);
  double value = 0;
  if (biased == most) {
    value = mantissa != 0 ? __builtin_nan("") : __builtin_inf();
  } else {
    const int shift = (biased == 0 ? 0 : biased - 1) + format.lowest_exponent;
    value = biased == 0 ? mantissa : mantissa + (1 << stored);
    value *= __builtin_bit_cast(double, static_cast<std::uint64_t>(shift + 1023) << 52);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

/// Numbers of one type in host memory, one after the other.
struct host_numbers {
  const unsigned char* data;
  std::size_t count;
  number_format format;

  const unsigned char* at(std::size_t i) const noexcept { return data + i * format.bytes; }

  /// Returns a real number, or part 0 (real) or 1 (imaginary) of a complex one.
  double real(std::size_t i, int part = 0) const noexcept {
    const std::uint32_t bytes =
        format.kind == number_kind::complex ? format.bytes / 2 : format.bytes;
    const unsigned char* const from = at(i) + static_cast<std::size_t>(part) * bytes;
    if (bytes == 8) return load_number<double>(from);
    if (bytes == 4) return static_cast<double>(load_number<float>(from));
    return widen_short(load_number<std::uint16_t>(from), format.real_part);
  }
  /// Returns the magnitude of an integer or a bool, and sets `negative`.
  std::uint64_t integer(std::size_t i, bool& negative) const noexcept {
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, at(i), format.bytes);  // devices and their hosts are little-endian
    const std::uint32_t unused = 64 - 8 * format.bytes;
    negative = format.is_signed && (bits << unused >> 63) != 0;
    if (!negative) return bits;
    return ~static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused) + 1;
  }
};

inline bool is_negative(double number) noexcept {
  return __builtin_bit_cast(std::uint64_t, number) >> 63 != 0;
}

}  // namespace gpu::inline v1::detail
