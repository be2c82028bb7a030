#pragma once
/// \file
/// Writes one argument of a driver call as JSON, depending on its type only.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace testing::detail {

inline std::string hexadecimal(std::uint64_t value) {
  char digits[20];
  std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
  return digits;
}

/// Returns `text` as a JSON string; control characters become \u00XX.
inline std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Returns bytes in base64 (RFC 4648).
inline std::string base64(const void* bytes, std::size_t size) {
  static constexpr char alphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* in = static_cast<const unsigned char*>(bytes);
  std::string out;
  out.reserve((size + 2) / 3 * 4);
  for (std::size_t i = 0; i < size; i += 3) {
    const std::size_t left = size - i;
    const std::uint32_t group = std::uint32_t{in[i]} << 16 |
                                (left > 1 ? std::uint32_t{in[i + 1]} << 8 : 0u) |
                                (left > 2 ? std::uint32_t{in[i + 2]} : 0u);
    out += alphabet[group >> 18];
    out += alphabet[group >> 12 & 63];
    out += left > 1 ? alphabet[group >> 6 & 63] : '=';
    out += left > 2 ? alphabet[group & 63] : '=';
  }
  return out;
}

/// Returns an argument as JSON: a number, a handle or an address. Dereferences strings only.
template <class T> std::string written(T value) {
  if constexpr (std::is_same_v<T, const char*>) {
    return value == nullptr ? "null" : in_quotes(value);
  } else if constexpr (std::is_pointer_v<T>) {
    return value == nullptr ? "null"
                            : in_quotes(hexadecimal(reinterpret_cast<std::uintptr_t>(value)));
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_same_v<T, unsigned long long>) {  // CUdeviceptr
    return value < 4096 ? std::to_string(value) : in_quotes(hexadecimal(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else {
    return in_quotes(base64(&value, sizeof value));
  }
}

/// True if a parameter of type `T` points to a number or a handle that the driver writes.
template <class T> inline constexpr bool is_out_parameter = false;
template <class T>
inline constexpr bool is_out_parameter<T*> =
    !std::is_const_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, void*> &&
    (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>);

}}}  // namespace gpu::v1::testing::detail
