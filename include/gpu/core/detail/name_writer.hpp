#pragma once
/// \file
/// `name_writer`: builds the names of types and values at compile time, and normalizes the names
/// that compilers print.

#include <gpu/core/string_ref.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The reasons why device code cannot use a type or a value by name.
enum class name_fault : unsigned char {
  none,
  lambda,
  unnamed,
  anonymous_namespace,
  local,
  long_double,
  value,
};

/// Counts characters, or writes them if it has a buffer: each name is written twice, first to find
/// its length.
struct name_writer {
  char* out = nullptr;
  std::size_t size = 0;
  bool for_device = false;  ///< true for device code, false for messages
  name_fault fault = name_fault::none;

  constexpr void put(char c) noexcept {
    if (out != nullptr) out[size] = c;
    ++size;
  }
  constexpr void put(string_ref characters) noexcept {
    for (const char c : characters) put(c);
  }
  constexpr void put_decimal(std::uint64_t value) noexcept {
    std::uint64_t power = 1;
    while (value / power >= 10) power *= 10;
    for (; power != 0; power /= 10) put(static_cast<char>('0' + value / power % 10));
  }
  constexpr void blame(name_fault why) noexcept {
    if (fault == name_fault::none) fault = why;
  }
};

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_word_character(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

constexpr bool occurs_at(string_ref text, std::size_t at, string_ref part) noexcept {
  return at <= text.size() && part.size() <= text.size() - at &&
         text.substring(at, part.size()) == part;
}

/// Returns the position after the word, number or quoted character that begins at `first`.
constexpr std::size_t end_of_word(string_ref text, std::size_t first) noexcept {
  std::size_t last = first;
  if (text[first] == '\'' || text[first] == '"') {
    for (++last; last < text.size() && text[last] != text[first]; ++last) {
      if (text[last] == '\\') ++last;
    }
    return last < text.size() ? last + 1 : text.size();
  }
  const bool number = is_digit(text[first]);
  for (; last < text.size(); ++last) {
    const char c = text[last];
    if (is_word_character(c)) continue;
    const char before = last == first ? '\0' : text[last - 1];
    const bool exponent = before == 'e' || before == 'E' || before == 'p' || before == 'P';
    if (!number || !(c == '.' || (exponent && (c == '+' || c == '-')))) break;
  }
  return last;
}

/// The words of an integer type, which can come in any order.
struct integer_words {
  bool is_unsigned = false, is_signed = false, is_char = false, is_short = false;
  int longs = 0, count = 0;

  constexpr bool take(string_ref word) noexcept {
    if (word == "unsigned") {
      is_unsigned = true;
    } else if (word == "signed") {
      is_signed = true;
    } else if (word == "char") {
      is_char = true;
    } else if (word == "short") {
      is_short = true;
    } else if (word == "long") {
      ++longs;
    } else if (word != "int") {
      return false;
    }
    ++count;
    return true;
  }
  template <class Writer> constexpr void write(Writer& out) const noexcept {
    if (is_unsigned) out.put("unsigned ");
    if (is_char && is_signed) out.put("signed ");
    out.put(is_char ? "char" : is_short ? "short" : longs == 0 ? "int" : "long");
    if (longs > 1) out.put(" long");
  }
};

/// Writes a compiler's name in normalized form: without GCC's `long unsigned int` and `a<b> >`,
/// Clang's `const float *`, and the inline namespaces of standard libraries and of this library.
template <class Writer> constexpr void write_canonical(Writer& out, string_ref printed) noexcept {
  char last = '\0';
  bool in_std = false, in_gpu = false;
  for (std::size_t i = 0; i < printed.size();) {
    const char c = printed[i];
    if (c == ' ') {
      ++i;
      continue;
    }
    if (!is_word_character(c) && c != '\'' && c != '"') {
      out.put(c);
      if (c == ',') out.put(' ');
      last = c;
      ++i;
      continue;
    }
    const std::size_t end = end_of_word(printed, i);
    const string_ref word = printed.substring(i, end - i);
    const bool is_inline_namespace =
        (in_std && (word == "__cxx11" || word == "__1")) || (in_gpu && word == "v1");
    if (is_inline_namespace && last == ':' && occurs_at(printed, end, "::")) {
      i = end + 2;
      continue;
    }
    const bool touches = is_word_character(last) || last == '*' || last == '&' || last == ')';
    if (touches && !is_digit(c) && c != '\'') out.put(' ');
    in_std = word == "std";
    in_gpu = word == "gpu";
    last = printed[end - 1];
    i = end;
    integer_words words;
    if (!words.take(word)) {
      out.put(word);
      continue;
    }
    for (std::size_t next = end; next < printed.size() && printed[next] == ' ';) {
      const std::size_t after = end_of_word(printed, ++next);
      if (!words.take(printed.substring(next, after - next))) break;
      i = next = after;
    }
    words.write(out);
    last = 't';
  }
}

/// Returns the position of the template arguments in a compiler's type name: its last `<` at the
/// outermost level, or the length if not found.
template <class Printed> constexpr std::size_t start_of_arguments(const Printed& printed) noexcept {
  std::size_t found = printed.size();
  int depth = 0;
  for (std::size_t i = 0; i < printed.size(); ++i) {
    const char c = printed[i];
    if (c == '\'' || c == '"') {
      i = end_of_word(printed, i) - 1;
    } else if (c == '<' || c == '(') {
      if (c == '<' && depth == 0) found = i;
      ++depth;
    } else if (c == '>' || c == ')') {
      --depth;
    }
  }
  return found;
}

/// Returns why other code cannot use a type by this name of the compiler.
template <class Printed> constexpr name_fault fault_in(const Printed& printed) noexcept {
  name_fault found = name_fault::none;  // a later reason may be better
  for (std::size_t i = 0; i < printed.size(); ++i) {
    const char c = printed[i];
    if (c == '\'' || c == '"') {
      i = end_of_word(printed, i) - 1;
    } else if (c == '(' || c == '<' || c == '{') {
      if (occurs_at(printed, i + 1, "lambda")) return name_fault::lambda;
      if (occurs_at(printed, i + 1, "anonymous namespace)::") ||
          occurs_at(printed, i + 1, "anonymous}::") || occurs_at(printed, i + 1, "unnamed>::")) {
        return name_fault::anonymous_namespace;
      }
      if (occurs_at(printed, i + 1, "unnamed") || occurs_at(printed, i + 1, "anonymous")) {
        return name_fault::unnamed;
      }
    } else if (occurs_at(printed, i, "::") && i != 0) {
      // A scope is a namespace or a class; anything else, such as `f() const`, is a function.
      std::size_t first = i;
      while (first != 0 && is_word_character(printed[first - 1])) --first;
      const string_ref scope = printed.substring(first, i - first);
      const bool is_name =
          !scope.empty() && scope != "const" && scope != "volatile" && scope != "noexcept";
      if (!is_name && printed[i - 1] != '>') found = name_fault::local;
    }
  }
  return found;
}

}}}  // namespace gpu::v1::detail
