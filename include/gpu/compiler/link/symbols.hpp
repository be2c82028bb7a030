#pragma once
/// \file
/// Reads the names that a piece of compiled code shares with others, from PTX and machine code.
/// nvJitLink 13.0 may end the process if two inputs define one name or declare it differently, so
/// the names are compared before it is called.

#include <gpu/core/string_ref.hpp>
#include <gpu/kernel/detail/image.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A name that is visible to other inputs.
struct link_symbol {
  enum class role : unsigned char { declared, defined, replaceable };

  string_ref name;
  role as = role::declared;
  bool is_function = false;
  char space = 0;           ///< of a variable in PTX: 'g', 'c' or 's'; 0 if not known
  std::uint64_t shape = 0;  ///< bytes of a variable, digest of a function's parameters; 0: unknown
};

/// Splits PTX into words: names and directives, numbers, single punctuation characters.
class ptx_words {
 public:
  explicit ptx_words(string_ref ptx) noexcept : rest_{ptx} {}

  /// Returns the next word, or an empty one at the end.
  string_ref next() noexcept {
    skip_blanks();
    std::size_t size = 0;
    if (!rest_.empty() && rest_[0] == '"') {
      size = 1;
      while (size < rest_.size() && rest_[size] != '"') ++size;
      if (size < rest_.size()) ++size;
    } else {
      while (size < rest_.size() && is_part_of_word(rest_[size])) ++size;
      if (size == 0 && !rest_.empty()) size = 1;
    }
    const string_ref word = rest_.substring(0, size);
    skip(size);
    return word;
  }

 private:
  static bool is_part_of_word(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%' || c == '.';
  }
  void skip(std::size_t count) noexcept { rest_ = rest_.substring(count, rest_.size() - count); }
  void skip_blanks() noexcept {
    while (!rest_.empty()) {
      const char c = rest_[0], after = rest_.size() > 1 ? rest_[1] : '\0';
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0') {
        skip(1);
      } else if (c == '/' && after == '/') {
        const void* end = __builtin_memchr(rest_.data(), '\n', rest_.size());
        skip(end == nullptr
                 ? rest_.size()
                 : static_cast<std::size_t>(static_cast<const char*>(end) - rest_.data()));
      } else if (c == '/' && after == '*') {
        std::size_t i = 2;
        while (i + 1 < rest_.size() && !(rest_[i] == '*' && rest_[i + 1] == '/')) ++i;
        skip(i + 2 < rest_.size() ? i + 2 : rest_.size());
      } else {
        return;
      }
    }
  }

  string_ref rest_;
};

/// Returns the size in bytes of a type such as `.u32`, or 0 for any other word.
inline std::uint64_t bytes_of_ptx_type(string_ref word) noexcept {
  if (word.size() < 3 || word[0] != '.') return 0;
  const char kind = word[1];
  if (kind != 'b' && kind != 'u' && kind != 's' && kind != 'f') return 0;
  std::uint64_t bits = 0;
  for (std::size_t i = 2; i < word.size(); ++i) {
    if (word[i] < '0' || word[i] > '9') return 0;
    bits = bits * 10 + static_cast<std::uint64_t>(word[i] - '0');
  }
  return bits / 8;
}

inline std::uint64_t decimal(string_ref word) noexcept {
  std::uint64_t value = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return 0;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

/// Reads one declaration, from the word after its linkage up to its end.
class ptx_declaration {
 public:
  explicit ptx_declaration(link_symbol::role as) noexcept { symbol.as = as; }

  link_symbol symbol;

  /// Takes a word. Returns false when the declaration is complete; `has_body` is then whether a
  /// body follows.
  bool take(string_ref word) noexcept {
    const char c = word.size() == 1 ? word[0] : '\0';
    if (c == ';' || c == '{' || c == '=') {
      has_body = c == '{';
      finish();
      return false;
    }
    if (c == '(') ++parentheses_;
    if (c == ')') --parentheses_;
    if (c == '[') in_brackets_ = true;
    if (c == ']') {
      in_brackets_ = false;
      open_ = open_ || extent_ == 0;
      element_ *= extent_ == 0 ? 1 : extent_;
    }
    if (c == '(' || c == ',' || c == ')') end_parameter(c);
    if (word[0] == '.') {
      if (word == ".func" || word == ".entry") symbol.is_function = true;
      if (parentheses_ == 0 && (word == ".global" || word == ".const" || word == ".shared")) {
        symbol.space = word[1];
      }
      if (const std::uint64_t bytes = bytes_of_ptx_type(word)) element_ = bytes;
    } else if (word[0] >= '0' && word[0] <= '9') {
      if (in_brackets_) extent_ = decimal(word);
    } else if (c == '\0' || is_name(c)) {
      // The name is the first one outside of parentheses, which enclose those of parameters.
      if (parentheses_ == 0 && symbol.name.empty() && !in_brackets_) symbol.name = word;
    }
    if (c == '[') extent_ = 0;
    return true;
  }

  bool has_body = false;

 private:
  static bool is_name(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
  }
  void mix(std::uint64_t value) noexcept { digest_ = (digest_ ^ value) * 0x100'0000'01b3u + 1; }
  void end_parameter(char c) noexcept {
    if (symbol.is_function && element_ != 0) mix(element_);
    if (c == ')' && symbol.name.empty()) mix(0);  // the end of the results
    if (symbol.is_function) element_ = 0;
  }
  void finish() noexcept {
    if (symbol.is_function) {
      symbol.shape = digest_;
    } else {
      symbol.shape = open_ ? 0 : element_;
    }
  }

  int parentheses_ = 0;
  bool in_brackets_ = false, open_ = false;
  std::uint64_t element_ = 0, extent_ = 0;
  std::uint64_t digest_ = 0xcbf2'9ce4'8422'2325u;
};

/// Calls `visit` with each shared name in PTX.
template <class Visit> void for_each_ptx_symbol(string_ref ptx, Visit visit) {
  ptx_words words(ptx);
  int depth = 0;
  for (string_ref word = words.next(); !word.empty(); word = words.next()) {
    if (word == "{") ++depth;
    if (word == "}") --depth;
    if (depth != 0) continue;
    const bool external = word == ".extern", visible = word == ".visible";
    if (!external && !visible && word != ".weak" && word != ".common") continue;
    using role = link_symbol::role;
    ptx_declaration declaration(external  ? role::declared
                                : visible ? role::defined
                                          : role::replaceable);
    do word = words.next();
    while (!word.empty() && declaration.take(word));
    if (word == "{") depth = declaration.has_body ? 1 : 0;
    link_symbol& symbol = declaration.symbol;
    // A visible function without a body is only declared; its definition follows.
    if (symbol.is_function && !declaration.has_body) symbol.as = role::declared;
    if (symbol.space != 's') visit(symbol);
  }
}

/// Calls `visit` with each shared name in a relocatable cubin.
template <class Visit> void for_each_cubin_symbol(bytes_ref image, Visit visit) {
  constexpr std::uint32_t symbol_table = 2;
  constexpr std::size_t header_size = 64, symbol_size = 24;
  if (bytes_of_cubin(image) == 0 || bytes_of_cubin(image) > image.size()) return;
  const auto sections = read_at<std::uint64_t>(image, 40);
  const std::size_t count = read_at<std::uint16_t>(image, 60);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t header = sections + i * header_size;
    if (read_at<std::uint32_t>(image, header + 4) != symbol_table) continue;
    const auto first = read_at<std::uint64_t>(image, header + 24);
    const auto bytes = read_at<std::uint64_t>(image, header + 32);
    const std::size_t strings = read_at<std::uint32_t>(image, header + 40);
    if (strings >= count) return;
    const std::size_t string_header = sections + strings * header_size;
    const auto names = read_at<std::uint64_t>(image, string_header + 24);
    const auto length = read_at<std::uint64_t>(image, string_header + 32);
    for (std::size_t at = first; at + symbol_size <= first + bytes; at += symbol_size) {
      const auto info = read_at<unsigned char>(image, at + 4);
      const auto section = read_at<std::uint16_t>(image, at + 6);
      const std::size_t offset = read_at<std::uint32_t>(image, at);
      const unsigned binding = info >> 4, type = info & 15;
      if (binding != 1 || offset >= length) continue;  // 1: global
      const char* name = image.characters() + names + offset;
      if (__builtin_memchr(name, 0, length - offset) == nullptr) continue;
      link_symbol symbol;
      symbol.name = name;
      symbol.is_function = type == 2;
      symbol.as = section == 0        ? link_symbol::role::declared
                  : section == 0xfff2 ? link_symbol::role::replaceable
                                      : link_symbol::role::defined;
      visit(symbol);
    }
  }
}

}}}  // namespace gpu::v1::detail
