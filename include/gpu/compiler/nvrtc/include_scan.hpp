#pragma once
/// \file
/// Finds the directives of a source that depend on files: `#include` and `__has_include`.

#include <gpu/core/string_ref.hpp>

#include <string.h>
#include <cstring>
#include <initializer_list>

namespace gpu { inline namespace v1 { namespace detail {

/// A header that a directive names: `<name>` or `"name"`.
struct include_name {
  string_ref name;
  bool quoted;
  bool all_folders;  ///< folders after the first that has it matter too: `include_next`,
                     ///< `has_include`
};

/// The directives whose headers are known to the preprocessor only.
struct scan_outcome {
  bool includes_by_macro = false;  ///< `#include MACRO`
  bool asks_by_macro = false;      ///< `__has_include(MACRO)`
};

/// Scans a source without evaluating anything. It may find a directive that is in a comment or
/// never reached, for which the cache checks a file in vain, but it misses none.
class include_scan {
 public:
  explicit include_scan(string_ref source) noexcept : begin_{source.begin()}, end_{source.end()} {}

  /// Calls `visit(include_name)` for each name that is spelled out.
  template <class Visit> scan_outcome for_each(Visit visit) const {
    scan_outcome outcome;
    for (const char* hash : {"#", "%:"}) {
      const std::size_t size = __builtin_strlen(hash);
      for (const char* at = begin_; (at = find(at, hash, size)) != nullptr;) {
        at += size;
        if (!directive(at, visit)) outcome.includes_by_macro = true;
      }
    }
    for (const char* word : {"has_include", "HAS_INCLUDE"}) {
      constexpr std::size_t size = sizeof "has_include" - 1;
      for (const char* at = begin_; (at = find(at, word, size)) != nullptr;) {
        at += size;
        if (!question(at, visit)) outcome.asks_by_macro = true;
      }
    }
    return outcome;
  }

  /// Calls `visit(include_name)` for each macro that is defined as the name of a header.
  template <class Visit> void for_each_definition(Visit visit) const {
    constexpr std::size_t size = sizeof "define" - 1;
    for (const char* at = begin_; (at = find(at, "define", size)) != nullptr;) {
      at = after_blanks(at + size);
      while (at < end_ && *at > ' ' && *at != '"' && *at != '<') ++at;
      named(at, false, visit);
    }
  }

  /// Returns whether the source has one of the macros that are different in each compilation.
  bool reads_clock() const noexcept {
    return find(begin_, "__DATE__", 8) != nullptr || find(begin_, "__TIME__", 8) != nullptr ||
           find(begin_, "__TIMESTAMP__", 13) != nullptr;
  }

 private:
  const char* find(const char* from, const char* word, std::size_t size) const noexcept {
    return static_cast<const char*>(
        ::memmem(from, static_cast<std::size_t>(end_ - from), word, size));
  }

  /// Skips line breaks after a backslash.
  const char* after_splice(const char* at) const noexcept {
    while (at < end_ && *at == '\\') {
      const char* next = at + 1;
      while (next < end_ && (*next == ' ' || *next == '\t' || *next == '\r')) ++next;
      if (next == end_ || *next != '\n') break;
      at = next + 1;
    }
    return at;
  }

  /// Skips blanks and comments on the same logical line.
  const char* after_blanks(const char* at) const noexcept {
    for (;;) {
      const char* next = after_splice(at);
      if (next < end_ && (*next == ' ' || (*next >= '\t' && *next <= '\r' && *next != '\n'))) {
        ++next;
      } else if (end_ - next >= 2 && next[0] == '/' && next[1] == '*') {
        next = find(next + 2, "*/", 2);
        next = next == nullptr ? end_ : next + 2;
      }
      if (next == at) return at;
      at = next;
    }
  }

  /// Reads what follows a `#`. Returns false if it includes a header by a macro.
  template <class Visit> bool directive(const char* at, Visit& visit) const {
    char word[16];
    std::size_t size = 0;
    at = after_blanks(at);
    while (at < end_ && size < sizeof word) {
      at = after_splice(at);
      if (at == end_ || !((*at >= 'a' && *at <= 'z') || *at == '_')) break;
      word[size++] = *at++;
    }
    const string_ref name(word, size);
    if (name == "include" || name == "import") return named(at, false, visit);
    return !(name == "include_next") || named(at, true, visit);
  }

  /// Reads `<name>` or `"name"`. Returns false if something else is there.
  template <class Visit> bool named(const char* at, bool all_folders, Visit& visit) const {
    at = after_blanks(at);
    if (at == end_ || (*at != '<' && *at != '"')) return false;
    const char close = *at == '<' ? '>' : '"';
    const char* first = ++at;
    while (at < end_ && *at != close && *at != '\n') ++at;
    if (at == end_ || *at != close || at == first) return false;
    visit(include_name{{first, static_cast<std::size_t>(at - first)}, close == '"', all_folders});
    return true;
  }

  /// Reads what follows a `has_include`. Returns false if it names a header by a macro.
  template <class Visit> bool question(const char* at, Visit& visit) const {
    const char* word = at;
    const auto in_name = [](char c) {
      return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    while (at < end_ && in_name(*at)) ++at;  // `__has_include_next`, `X_HAS_INCLUDE__`
    at = after_blanks(at);
    if (at == end_ || *at != '(') return true;  // `#ifdef __has_include` and the like
    if (named(at + 1, true, visit)) return true;
    // `#define X_HAS_INCLUDE(x) __has_include(x)`: its uses are found by their own name.
    const char* line = word;
    while (line > begin_ && line[-1] != '\n') --line;
    line = after_blanks(line);
    if (line == end_ || *line != '#') return false;
    line = after_blanks(line + 1);
    if (end_ - line < 6 || __builtin_memcmp(line, "define", 6) != 0) return false;
    line = after_blanks(line + 6);
    const char* last = line;
    while (last < end_ && *last != '(' && *last > ' ') ++last;
    constexpr int size = sizeof "has_include" - 1;
    for (; last - line >= size; ++line) {
      if (__builtin_memcmp(line, "has_include", size) == 0 ||
          __builtin_memcmp(line, "HAS_INCLUDE", size) == 0) {
        return true;
      }
    }
    return false;
  }

  const char* begin_;
  const char* end_;
};

}}}  // namespace gpu::v1::detail
