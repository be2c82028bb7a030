#pragma once
/// \file
/// Writes a value that is a template argument as a C++ expression of its type.

#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/detail/traits.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

template <class T> constexpr void write_type(name_writer& out) noexcept;

constexpr void write_hexadecimal(name_writer& out, std::uint64_t value, int digits) noexcept {
  while (digits-- > 0) out.put("0123456789abcdef"[value >> (4 * digits) & 15]);
}

/// Writes a floating-point value exactly; a value without a literal by its bits.
template <class F> constexpr void write_floating(name_writer& out, F value) noexcept {
  constexpr bool single = sizeof(F) == sizeof(float);
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value));
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0x7ff) {
    using word = std::conditional_t<single, std::uint32_t, std::uint64_t>;
    out.put(single ? "__builtin_bit_cast(float, 0x" : "__builtin_bit_cast(double, 0x");
    write_hexadecimal(out, std::bit_cast<word>(value), single ? 8 : 16);
    return out.put(single ? "u)" : "ull)");
  }
  std::uint64_t mantissa = bits & 0xf'ffff'ffff'ffff;
  const bool subnormal = exponent == 0;
  if (bits >> 63 != 0) out.put('-');
  out.put(subnormal ? "0x0" : "0x1");
  if (mantissa != 0) {
    int digits = 13;
    for (; (mantissa & 15) == 0; mantissa >>= 4) --digits;
    out.put('.');
    write_hexadecimal(out, mantissa, digits);
  }
  const int power = subnormal ? (mantissa == 0 ? 0 : -1022) : exponent - 1023;
  out.put(power < 0 ? "p-" : "p+");
  out.put_decimal(static_cast<std::uint64_t>(power < 0 ? -power : power));
  if (single) out.put('f');
}

/// Returns the suffix of literals of type `T`, or null for other types.
template <class T> constexpr const char* literal_suffix() noexcept {
  if (std::same_as<T, int>) return "";
  if (std::same_as<T, unsigned>) return "u";
  if (std::same_as<T, long>) return "l";
  if (std::same_as<T, unsigned long>) return "ul";
  if (std::same_as<T, long long>) return "ll";
  if (std::same_as<T, unsigned long long>) return "ull";
  return nullptr;
}

/// Writes an integer. The lowest value of a type is written as a difference, because its absolute
/// value does not fit in the type.
template <class T>
constexpr void write_integer(name_writer& out, T value, const char* suffix) noexcept {
  constexpr auto sign_bit = std::uint64_t{1} << (8 * sizeof(T) - 1);
  if (std::is_signed_v<T> && value == static_cast<T>(sign_bit)) {
    out.put("(-");
    out.put_decimal(sign_bit - 1);
    out.put(suffix);
    return out.put("-1)");
  }
  const auto bits = static_cast<std::uint64_t>(value);
  const bool negative = std::is_signed_v<T> && bits >> 63 != 0;
  if (negative) out.put('-');
  out.put_decimal(negative ? ~bits + 1 : bits);
  out.put(suffix);
}

template <class T> constexpr void write_cast(name_writer& out) noexcept {
  out.put('(');
  write_type<T>(out);
  out.put(')');
}

template <auto V> constexpr void write_value(name_writer& out) noexcept {
  using type = std::remove_cv_t<decltype(V)>;
  if constexpr (std::same_as<type, bool>) {
    out.put(V ? "true" : "false");
  } else if constexpr (word_integer<type> && sizeof(type) <= sizeof(std::uint64_t)) {
    if constexpr (literal_suffix<type>() != nullptr) {
      write_integer(out, V, literal_suffix<type>());
    } else {
      write_cast<type>(out);
      write_integer(out, static_cast<std::conditional_t<std::is_signed_v<type>, int, unsigned>>(V),
                    "");
    }
  } else if constexpr (std::is_enum_v<type>) {
    // Without a suffix a number has the narrowest signed type that holds it.
    constexpr bool with_sign = std::is_signed_v<std::underlying_type_t<type>>;
    using wide = std::conditional_t<with_sign, long long, unsigned long long>;
    constexpr auto number = static_cast<wide>(V);
    write_cast<type>(out);
    write_integer(out, number, static_cast<long long>(number) < 0 && !with_sign ? "u" : "");
  } else if constexpr (std::same_as<type, float> || std::same_as<type, double>) {
    write_floating(out, V);
  } else if constexpr (std::is_null_pointer_v<type>) {
    out.put("nullptr");
  } else {
    out.blame(name_fault::value);
  }
}

}}}  // namespace gpu::v1::detail
