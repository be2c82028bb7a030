#pragma once
/// Splits PTX text into tokens, one at a time, without copying.

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <version>

namespace nogpu { inline namespace v1 { namespace ptx {

enum class token_kind : std::uint8_t {
  end,
  identifier,   ///< foo, %r1, $L__BB0_1, _
  word,         ///< .reg, .f32, .shared::cta: text includes the dot
  integer,      ///< bits in `integer`; `is_unsigned` for a U suffix or a value of 2^63 and more
  floating,     ///< 0f..., 0d..., 1.5: `integer` has the bits of the double
  single,       ///< 0f...: `integer` has the 32 bits
  string,       ///< text without the quotes
  punctuation,  ///< one or two characters: ; , { } [ ] ( ) : | ! @ = + - << >= ...
  bad,          ///< `text` is what could not be read, `problem` says why
};

struct token {
  token_kind kind = token_kind::end;
  bool is_unsigned = false;
  std::uint32_t line = 1;
  std::uint32_t begin = 0;  ///< offset in the text
  std::string_view text;
  std::uint64_t integer = 0;
  const char* problem = nullptr;

  bool is(std::string_view punctuation_or_word) const {
    return (kind == token_kind::punctuation || kind == token_kind::word) &&
           text == punctuation_or_word;
  }
};

/// Reads tokens from a text that outlives it. Never reads past the end, accepts any bytes.
class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) { advance(); }

  const token& peek() const { return current_; }

  /// The token after `peek()`, without consuming either.
  token peek_second() const {
    lexer copy = *this;
    copy.advance();
    return copy.current_;
  }

  /// Consumes and returns the current token.
  token take() {
    const token t = current_;
    advance();
    return t;
  }

  /// Returns the end of the token that was taken last.
  std::uint32_t last_end() const { return last_end_; }

  /// Jumps behind the next '}' and returns false if there is none.
  bool skip_to_brace() {
    // The current token has been read already: start from it.
    position_ = current_.begin;
    line_ = current_.line;
    const std::size_t brace = text_.find('}', position_);
    const std::size_t stop = brace == std::string_view::npos ? text_.size() : brace + 1;
    for (; position_ < stop; ++position_) line_ += text_[position_] == '\n';
    advance();
    return brace != std::string_view::npos;
  }

  std::uint32_t column_of(const token& t) const {
    const std::size_t newline =
        t.begin == 0 ? std::string_view::npos : text_.rfind('\n', t.begin - 1);
    return newline == std::string_view::npos ? t.begin + 1
                                             : t.begin - static_cast<std::uint32_t>(newline);
  }

 private:
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  static constexpr bool is_follower(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
  }
  static constexpr int digit_of(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
  }

  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  const char* skip_blank() {
    for (;;) {
      const char c = at(position_);
      if (c == '\n') {
        ++line_;
        ++position_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
        ++position_;
      } else if (c == '/' && at(position_ + 1) == '/') {
        while (position_ < text_.size() && text_[position_] != '\n') ++position_;
      } else if (c == '/' && at(position_ + 1) == '*') {
        const std::size_t close = text_.find("*/", position_ + 2);
        if (close == std::string_view::npos) {
          position_ = text_.size();
          return "this comment is not closed";
        }
        for (; position_ < close + 2; ++position_) line_ += text_[position_] == '\n';
      } else {
        return nullptr;
      }
    }
  }

  void advance() {
    last_end_ = static_cast<std::uint32_t>(position_);
    const char* problem = skip_blank();
    current_ = token{};
    current_.line = line_;
    current_.begin = static_cast<std::uint32_t>(position_);
    if (problem != nullptr) return set_bad(position_, problem);
    if (position_ >= text_.size()) return;
    const char c = text_[position_];
    if (is_digit(c)) return read_number();
    if (c == '"') return read_string();
    if (is_letter(c) || c == '_' || c == '$' || c == '%') {
      std::size_t end = position_ + 1;
      while (end < text_.size() && is_follower(text_[end])) ++end;
      // A lone % is the operator of constant expressions.
      if (c == '%' && end == position_ + 1) return set(token_kind::punctuation, end);
      return set(token_kind::identifier, end);
    }
    if (c == '.' && is_follower(at(position_ + 1))) {
      std::size_t end = position_ + 2;
      while (end < text_.size() &&
             (is_follower(text_[end]) || (text_[end] == ':' && at(end + 1) == ':' && ++end))) {
        ++end;
      }
      return set(token_kind::word, end);
    }
    read_punctuation(c);
  }

  void set(token_kind kind, std::size_t end) {
    current_.kind = kind;
    current_.text = text_.substr(position_, end - position_);
    position_ = end;
  }

  void set_bad(std::size_t end, const char* problem) {
    set(token_kind::bad, end);
    current_.problem = problem;
  }

  void read_punctuation(char c) {
    constexpr std::string_view pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    for (const std::string_view pair : pairs) {
      if (c == pair[0] && at(position_ + 1) == pair[1]) {
        return set(token_kind::punctuation, position_ + 2);
      }
    }
    constexpr std::string_view singles = ";,{}[]()<>:|!@=+-*/&^~?";
    if (singles.find(c) != std::string_view::npos) {
      return set(token_kind::punctuation, position_ + 1);
    }
    set_bad(position_ + 1, "this character is not allowed in PTX");
  }

  void read_string() {
    std::size_t end = position_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2u : 1u;
    }
    if (end >= text_.size() || text_[end] != '"') {
      return set_bad(end < text_.size() ? end : text_.size(), "this string is not closed");
    }
    current_.kind = token_kind::string;
    current_.text = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
  }

  void read_number() {
    const char second = at(position_ + 1);
    if (text_[position_] == '0' && (second == 'f' || second == 'F')) return read_bits(8);
    if (text_[position_] == '0' && (second == 'd' || second == 'D')) return read_bits(16);
    int base = 10;
    std::size_t i = position_;
    if (text_[i] == '0' && (second == 'x' || second == 'X')) {
      base = 16, i += 2;
    } else if (text_[i] == '0' && (second == 'b' || second == 'B')) {
      base = 2, i += 2;
    } else if (looks_decimal_floating()) {
      return read_decimal_floating();
    } else if (text_[i] == '0' && is_digit(second)) {
      base = 8, i += 1;
    }
    const std::size_t first = i;
    std::uint64_t value = 0;
    bool overflow = false;
    for (; digit_of(at(i)) < base; ++i) {
      const auto digit = static_cast<std::uint64_t>(digit_of(text_[i]));
      const auto wide_base = static_cast<std::uint64_t>(base);
      overflow = overflow || value > (UINT64_MAX - digit) / wide_base;
      value = overflow ? value : value * wide_base + digit;
    }
    const bool suffix = at(i) == 'U' || at(i) == 'u';
    std::size_t end = i + (suffix ? 1 : 0);
    if (i == first || is_follower(at(end))) {
      while (end < text_.size() && is_follower(text_[end])) ++end;
      return set_bad(end, "this is not a number");
    }
    if (overflow) return set_bad(end, "this number does not fit in 64 bits");
    set(token_kind::integer, end);
    current_.integer = value;
    current_.is_unsigned = suffix || (value >> 63) != 0;
  }

  /// 0f and 8 digits, 0d and 16: the bits of an IEEE number.
  void read_bits(std::size_t digits) {
    std::uint64_t value = 0;
    std::size_t i = position_ + 2;
    for (; i < position_ + 2 + digits && digit_of(at(i)) < 16; ++i) {
      value = value << 4 | static_cast<std::uint64_t>(digit_of(text_[i]));
    }
    if (i != position_ + 2 + digits || is_follower(at(i))) {
      while (i < text_.size() && is_follower(text_[i])) ++i;
      return set_bad(i, digits == 8 ? "0f takes exactly 8 hexadecimal digits"
                                    : "0d takes exactly 16 hexadecimal digits");
    }
    set(digits == 8 ? token_kind::single : token_kind::floating, i);
    current_.integer = value;
  }

  bool looks_decimal_floating() const {
    std::size_t i = position_;
    while (is_digit(at(i))) ++i;
    return at(i) == '.' || at(i) == 'e' || at(i) == 'E';
  }

  void read_decimal_floating() {
    std::size_t i = position_;
    while (is_digit(at(i))) ++i;
    if (at(i) == '.') ++i;
    while (is_digit(at(i))) ++i;
    if (at(i) == 'e' || at(i) == 'E') {
      ++i;
      if (at(i) == '+' || at(i) == '-') ++i;
      const std::size_t exponent = i;
      while (is_digit(at(i))) ++i;
      if (i == exponent) return set_bad(i, "this number has no exponent after the e");
    }
    if (is_follower(at(i))) {
      while (i < text_.size() && is_follower(text_[i])) ++i;
      return set_bad(i, "this is not a number");
    }
    double value = 0;
#if defined(__cpp_lib_to_chars)
    const auto read = std::from_chars(text_.data() + position_, text_.data() + i, value);
    if (read.ec != std::errc{}) return set_bad(i, "this number is out of the range of a double");
#else
    value = std::strtod(std::string(text_.substr(position_, i - position_)).c_str(), nullptr);
#endif
    set(token_kind::floating, i);
    std::memcpy(&current_.integer, &value, sizeof value);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t last_end_ = 0;
  token current_;
};

}}}  // namespace nogpu::v1::ptx
