#pragma once
/// \file
/// Functions that read logs and options: lines, prefixes, digits.

#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/string_ref.hpp>

#include <cstddef>
#include <cstring>

namespace gpu { inline namespace v1 { namespace detail {

/// Removes the first line of `rest` and returns it.
inline string_ref next_line(string_ref& rest) noexcept {
  const void* end = std::memchr(rest.data(), '\n', rest.size());
  const std::size_t size =
      end == nullptr ? rest.size()
                     : static_cast<std::size_t>(static_cast<const char*>(end) - rest.data());
  const string_ref line = rest.substring(0, size);
  const std::size_t used = size < rest.size() ? size + 1 : size;
  rest = rest.substring(used, rest.size() - used);
  return line;
}

/// Returns the position of `part` in `whole`, or `whole.size()`.
inline std::size_t position_of(string_ref part, string_ref whole) noexcept {
  for (std::size_t i = 0; i + part.size() <= whole.size(); ++i) {
    if (whole.substring(i, part.size()) == part) return i;
  }
  return whole.size();
}

inline bool starts_with(string_ref whole, string_ref start) noexcept {
  return whole.size() >= start.size() && whole.substring(0, start.size()) == start;
}

inline string_ref without_front(string_ref whole, std::size_t count) noexcept {
  return whole.substring(count, whole.size() - count);
}

/// Returns a source without the byte order mark that some editors write before it.
inline string_ref without_byte_order_mark(string_ref source) noexcept {
  return starts_with(source, "\xef\xbb\xbf") ? without_front(source, 3) : source;
}

inline string_ref without_blanks(string_ref whole) noexcept {
  while (!whole.empty() && whole[0] == ' ') whole = without_front(whole, 1);
  return whole;
}

constexpr bool is_identifier_start(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_identifier_part(char c) noexcept { return is_identifier_start(c) || is_digit(c); }

/// Returns whether `name` can name a variable (keywords are left to the compiler).
constexpr bool is_identifier(string_ref name) noexcept {
  if (name.empty() || !is_identifier_start(name[0])) return false;
  for (const char c : name) {
    if (!is_identifier_part(c)) return false;
  }
  return true;
}

}}}  // namespace gpu::v1::detail
