#pragma once
/// \file
/// `macro_value`: the replacement of a macro in device code, made from a value of the host.

#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

/// Returns an integer literal, with the suffix that its width needs.
inline text integer_literal(bool negative, std::uint64_t magnitude, bool is_signed) noexcept {
  text_builder out;
  if (magnitude <= 0x7fffffffu) {
    if (negative) out << '-';
    out << magnitude;
  } else if (!is_signed) {
    out << magnitude << (magnitude <= 0xffffffffu ? "u" : "ull");
  } else if (negative && magnitude == 0x80000000u) {
    out << "(-2147483647-1)";  // 2147483648 alone would be wider
  } else if (negative && magnitude == std::uint64_t{1} << 63) {
    out << "(-9223372036854775807ll-1)";
  } else {
    out << (negative ? "-" : "") << magnitude << "ll";
  }
  return out.finish();
}

/// Returns a floating-point literal with enough digits to keep the value bit by bit.
template <class Float> text float_literal(Float value) noexcept {
  constexpr bool is_float = sizeof(Float) == sizeof(float);
  const ieee_number number = value;
  const double least = is_float ? 0x1p-126 : 0x1p-1022;
  // An infinity, a NaN or a subnormal number.
  if (!number.is_finite() || (number.magnitude() < least && !(number == 0))) {
    char bits[64];
    if constexpr (is_float) {
      __builtin_snprintf(bits, sizeof bits, "__builtin_bit_cast(float,0x%xu)",
                         __builtin_bit_cast(unsigned, value));
    } else {
      __builtin_snprintf(bits, sizeof bits, "__builtin_bit_cast(double,0x%llxull)",
                         __builtin_bit_cast(unsigned long long, value));
    }
    return text(bits);
  }
  char digits[48];
  __builtin_snprintf(digits, sizeof digits, "%.*g", is_float ? 9 : 17, double{value});
  text_builder out;
  bool is_integer = true;
  for (char* c = digits; *c != '\0'; ++c) {
    if (*c == ',') *c = '.';  // some locales
    is_integer = is_integer && *c != '.' && *c != 'e';
  }
  out << digits << (is_integer ? ".0" : "") << (is_float ? "f" : "");
  return out.finish();
}

}  // namespace detail

/// Returns a string literal of C++: in quotation marks, with escapes.
inline text quoted(string_ref characters) {
  detail::text_builder out;
  out << '"';
  for (const char c : characters) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out << '\\' << c;
    } else if (code < 32 || code == 127 || c == '?') {  // "??" may begin a trigraph
      const char octal[] = {'\\', static_cast<char>('0' + code / 64),
                            static_cast<char>('0' + code / 8 % 8),
                            static_cast<char>('0' + code % 8)};
      out.append(octal, sizeof octal);
    } else {
      out << c;
    }
  }
  out << '"';
  return detail::required(out.finish());
}

/// The replacement of a macro. A string is used as it is, such as `"float"` or `"a + b"`; `quoted`
/// makes a string literal. Numbers keep their value exactly, floating-point numbers bit by bit;
/// `bool` is `true` or `false`; an enumerator is its number.
struct macro_value : text {
  macro_value() : text(detail::required(text("1", 1))) {}
  template <class String>
    requires std::is_convertible_v<const String&, string_ref>
  macro_value(const String& tokens) : text(detail::required(string_ref(tokens).to_text())) {}
  template <class Value>
    requires(detail::plain_number<Value> || std::is_enum_v<Value>)
  macro_value(Value value) : text(detail::required(of(value))) {}

 private:
  template <class Value> static text of(Value value) noexcept {
    if constexpr (std::same_as<Value, bool>) {
      return value ? text("true") : text("false");
    } else if constexpr (std::is_enum_v<Value>) {
      return of(static_cast<std::underlying_type_t<Value>>(value));
    } else if constexpr (detail::standard_float<Value>) {
      static_assert(sizeof(Value) <= sizeof(double), "device code does not support long double");
      return detail::float_literal(value);
    } else {
      static_assert(sizeof(Value) <= 8, "integers in macros have at most 64 bits");
      const bool negative = std::is_signed_v<Value> && value < Value{};
      const auto bits = static_cast<std::uint64_t>(value);
      return detail::integer_literal(negative, negative ? ~bits + 1 : bits,
                                     std::is_signed_v<Value>);
    }
  }
};

}}  // namespace gpu::v1
