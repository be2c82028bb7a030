#pragma once
/// \file
/// `read_tokens`: splits a snippet of CUDA C++ into identifiers, literals and symbols.

#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

enum class token_kind : unsigned char { identifier, number, literal, symbol };

/// A token, as a part of the snippet. Each symbol is one character: `+=` is two tokens.
struct token {
  token_kind kind;
  string_ref text;

  bool is(string_ref expected) const noexcept { return text == expected; }
};

struct token_list {
  sequence<token> tokens;
  /// False if the snippet has what these tokens do not describe: directives, raw strings and lines
  /// that are continued.
  bool complete = true;

  /// Returns the text of a token, or an empty text before the first and past the last.
  string_ref at(std::size_t position) const noexcept {
    return position < tokens.size() ? tokens[position].text : string_ref();
  }
};

/// Returns the position behind the comment, string or character literal that begins at `start`, or
/// `start` if none does.
inline std::size_t end_of_literal_or_comment(string_ref code, std::size_t start) noexcept {
  const char first = code[start], second = start + 1 < code.size() ? code[start + 1] : '\0';
  std::size_t at = start;
  if (first == '/' && second == '/') {
    while (at < code.size() && code[at] != '\n') ++at;
  } else if (first == '/' && second == '*') {
    at += 2;
    while (at < code.size() && !(code[at] == '*' && at + 1 < code.size() && code[at + 1] == '/'))
      ++at;
    at = at + 2 < code.size() ? at + 2 : code.size();
  } else if (first == '"' || first == '\'') {
    ++at;
    while (at < code.size() && code[at] != first) at += code[at] == '\\' ? 2u : 1u;
    at = at + 1 < code.size() ? at + 1 : code.size();
  }
  return at;
}

/// Splits a snippet into tokens. Comments and white space are left out.
inline token_list read_tokens(string_ref code) {
  token_list found;
  std::size_t at = 0;
  const auto add = [&](token_kind kind, std::size_t end) {
    found.tokens.push_back(token{kind, code.substring(at, end - at)});
    at = end;
  };
  while (at < code.size()) {
    const char c = code[at];
    const std::size_t skipped = end_of_literal_or_comment(code, at);
    std::size_t end = at + 1;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      at = end;
    } else if (skipped != at) {
      if (c == '/') {
        // A backslash at the end of a line would continue the comment.
        for (; at < skipped; ++at) found.complete = found.complete && code[at] != '\\';
      } else {
        add(token_kind::literal, skipped);
      }
    } else if (is_identifier_start(c)) {
      while (end < code.size() && is_identifier_part(code[end])) ++end;
      if (end < code.size() && code[end] == '"' && code[end - 1] == 'R') found.complete = false;
      add(token_kind::identifier, end);
    } else if (c >= '0' && c <= '9') {
      const auto separates = [&] {  // 1'000
        return code[end] == '\'' && end + 1 < code.size() && is_identifier_part(code[end + 1]);
      };
      while (end < code.size() &&
             (is_identifier_part(code[end]) || code[end] == '.' || separates()))
        ++end;
      add(token_kind::number, end);
    } else {
      if (c == '#' || c == '\\') found.complete = false;
      add(token_kind::symbol, end);
    }
  }
  return found;
}

}}}  // namespace gpu::v1::detail
