#pragma once
/// \file
/// Numbers in host memory whose type is known at run time only, for what prints and draws them.

#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/generated/number_type.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

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
  } else if constexpr (std::same_as<T, double>) {
    real_part = float64_format;
  } else if constexpr (std::same_as<T, float>) {
    real_part = float32_format;
  } else if constexpr (kind == number_kind::short_real) {
    real_part = element_type_of<T>().name == "gpu::half" ? half_format : bfloat16_format;
  }
  return {kind, std::is_signed_v<T>, sizeof(T), real_part};
}

/// Numbers of one type in host memory, one after the other.
struct host_numbers {
  const unsigned char* data;
  std::size_t count;
  number_format format;

  const unsigned char* at(std::size_t i) const noexcept { return data + i * format.bytes; }

  /// Returns a real number, or part 0 (real) or 1 (imaginary) of a complex one.
  ieee_number real(std::size_t i, int part = 0) const noexcept {
    const std::uint32_t bytes =
        format.kind == number_kind::complex ? format.bytes / 2 : format.bytes;
    std::uint64_t bits = 0;  // devices and their hosts are little-endian
    __builtin_memcpy(&bits, at(i) + static_cast<std::size_t>(part) * bytes, bytes);
    return ieee_number::from_bits(bits, format.real_part);
  }
  /// Returns the magnitude of an integer or a bool, and sets `negative`.
  std::uint64_t integer(std::size_t i, bool& negative) const noexcept {
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, at(i), format.bytes);
    const std::uint32_t unused = 64 - 8 * format.bytes;
    negative = format.is_signed && (bits << unused >> 63) != 0;
    if (!negative) return bits;
    return ~static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused) + 1;
  }
};

}}}  // namespace gpu::v1::detail
