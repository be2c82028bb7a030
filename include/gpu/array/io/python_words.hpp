#pragma once
/// \file
/// The words of a literal of Python's, such as the header of a .npy file.

#include <gpu/array/io/byte_source.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The value of a string literal. Of a long one, as much as tells it from NumPy's names.
struct python_string {
  char characters[32];
  std::size_t size = 0;

  void add(unsigned long character) noexcept {
    if (size == sizeof characters) return;
    characters[size++] = character < 0x80 ? static_cast<char>(character) : '?';
  }
  string_ref value() const noexcept { return {characters, size}; }
};

class python_words {
 public:
  /// `begin` is the offset of the words in the file.
  python_words(const named_file& file, string_ref words, std::uint64_t begin) noexcept
      : file_{file}, words_{words}, begin_{begin} {}

  std::size_t at() const noexcept { return at_; }
  std::uint64_t offset(std::size_t at) const noexcept { return begin_ + at; }
  cuda_error wrong(std::size_t at, const char* what) const noexcept {
    return file_.damaged(offset(at), what);
  }

  /// Skips blanks, ends of lines, and comments. Returns where the next word begins.
  std::size_t skip_blanks() noexcept {
    for (;; ++at_) {
      const char c = peek();
      if (c == '#') {
        while (at_ + 1 < words_.size() && !ends_line(peek(1))) ++at_;
      } else if (c == '\\' && ends_line(peek(1))) {
        ++at_;
      } else if (c != ' ' && c != '\t' && c != '\f' && !ends_line(c)) {
        return at_;
      }
    }
  }
  bool at_end() noexcept { return skip_blanks() == words_.size(); }
  char next() noexcept {
    skip_blanks();
    return peek();
  }
  bool take(char c) noexcept {
    if (at_end() || peek() != c) return false;
    ++at_;
    return true;
  }
  result<> expect(char c) noexcept {
    if (take(c)) return {};
    char what[] = "the header has no '?' here";
    what[sizeof "the header has no '" - 1] = c;
    return fail(wrong(at_, what));
  }
  bool take_name(string_ref name) noexcept {
    skip_blanks();
    if (words_.size() - at_ < name.size() || !(words_.substring(at_, name.size()) == name) ||
        is_name(peek(name.size()))) {
      return false;
    }
    at_ += name.size();
    return true;
  }

  /// Reads strings, which are joined if they follow each other.
  result<python_string> read_string() noexcept {
    python_string read;
    GPU_TRY(read_part(read));
    for (char c = next(); c == '\'' || c == '"' || is_prefix(c); c = next())
      GPU_TRY(read_part(read));
    return read;
  }

  /// Reads an integer that is not negative: in any base, with underscores, with a sign, in
  /// parentheses, and with the L of Python 2 if it `may_be_long`.
  result<std::size_t> read_integer(bool may_be_long) noexcept {
    const std::size_t start = skip_blanks();
    const bool minus = take('-');
    if (!minus) take('+');
    int parentheses = 0;
    while (take('(')) ++parentheses;
    skip_blanks();
    const bool has_zero = peek() == '0';
    unsigned base = 10;
    if (has_zero) {
      const char letter = lower(peek(1));
      base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
      if (base != 10) at_ += 2;
    }
    std::size_t value = 0, digits = 0;
    bool fits = true;
    for (;;) {
      // An underscore is between digits, or behind the base.
      const bool separated = peek() == '_' && (digits > 0 || base != 10);
      const unsigned digit = digit_of(peek(separated ? 1 : 0));
      if (digit >= base) break;
      at_ += separated ? 2u : 1u;
      ++digits;
      fits = fits && !__builtin_mul_overflow(value, base, &value) &&
             !__builtin_add_overflow(value, digit, &value);
    }
    const bool octal = has_zero && base == 10;  // as Python 2 wrote it
    const bool ends = !is_name(peek()) && peek() != '.';
    const bool is_long = may_be_long && (ends || peek() == 'L') && take_name("L");
    if (digits == 0 || !(ends || is_long) || (octal && value != 0) || (minus && value != 0))
      return fail(wrong(start, "the shape has no number here, or one that is negative"));
    if (!fits) return fail(wrong(start, "the shape has an extent of more than 64 bits"));
    while (parentheses-- > 0) GPU_TRY(expect(')'));
    return value;
  }

 private:
  static bool ends_line(char c) noexcept { return c == '\n' || c == '\r'; }
  static char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  /// Returns whether a character may be part of a name or a number.
  static bool is_name(char c) noexcept {
    return c == '_' || (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
           static_cast<unsigned char>(c) >= 0x80;
  }
  static bool is_prefix(char c) noexcept { return lower(c) == 'u' || lower(c) == 'r'; }
  static unsigned digit_of(char c) noexcept {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    return lower(c) >= 'a' && lower(c) <= 'f' ? static_cast<unsigned>(lower(c) - 'a' + 10) : 99;
  }
  /// Returns a character that is still to be read, or 0 behind the last one.
  char peek(std::size_t distance = 0) const noexcept {
    return words_.size() - at_ > distance ? words_.data()[at_ + distance] : '\0';
  }

  /// Appends a string literal.
  result<> read_part(python_string& read) noexcept {
    const std::size_t at = skip_blanks();
    const bool raw = lower(peek()) == 'r';
    if (is_prefix(peek())) ++at_;
    const char quote = peek();
    if (quote != '\'' && quote != '"') return fail(wrong(at, "the header has no string here"));
    const bool tripled = peek(1) == quote && peek(2) == quote;
    at_ += tripled ? 3u : 1u;
    const auto closes = [&] {
      return peek() == quote && (!tripled || (peek(1) == quote && peek(2) == quote));
    };
    while (!closes()) {
      if (at_ >= words_.size() || (ends_line(peek()) && !tripled))
        return fail(wrong(at, "a string of the header does not end"));
      if (peek() == '\\' && !raw) {
        GPU_TRY(read_escape(read));
      } else {
        if (peek() == '\\') read.add(static_cast<unsigned char>(words_.data()[at_++]));
        read.add(static_cast<unsigned char>(peek()));
        ++at_;
      }
    }
    at_ += tripled ? 3u : 1u;
    return {};
  }

  /// Appends the character behind a backslash.
  result<> read_escape(python_string& read) noexcept {
    const std::size_t at = at_++;
    constexpr struct {
      char letter, value;
    } letters[] = {{'\\', '\\'}, {'\'', '\''}, {'"', '"'},  {'a', '\a'}, {'b', '\b'},
                   {'f', '\f'},  {'n', '\n'},  {'r', '\r'}, {'t', '\t'}, {'v', '\v'}};
    const char letter = peek();
    for (const auto& each : letters) {
      if (letter != each.letter) continue;
      ++at_;
      read.add(static_cast<unsigned char>(each.value));
      return {};
    }
    const int least = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    const unsigned base = least > 0 ? 16 : 8;
    unsigned long value = 0;
    int digits = 0;
    if (ends_line(letter)) {  // the string goes on in the next line
      at_ += letter == '\r' && peek(1) == '\n' ? 2u : 1u;
      return {};
    }
    if (least > 0) ++at_;
    for (const int most = least > 0 ? least : 3; digits < most && digit_of(peek()) < base; ++digits)
      value = value * base + digit_of(words_.data()[at_++]);
    if (digits < least || letter == 'N')
      return fail(wrong(at, "a string of the header has an escape that is not read here"));
    read.add(digits > 0 ? value : '\\');  // other backslashes stay
    return {};
  }

  const named_file& file_;
  string_ref words_;
  std::uint64_t begin_;
  std::size_t at_ = 0;
};

}}}  // namespace gpu::v1::detail
