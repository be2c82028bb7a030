#pragma once
/// \file
/// Finds the parts of a snippet that text alone misjudges: macros, jumps out of it, and variables
/// called `i`.

#include <gpu/compiler/compile_options.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_tokens.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns whether `name` occurs in any role.
inline bool mentions(const token_list& code, string_ref name) noexcept {
  for (const token& t : code.tokens) {
    if (t.text == name) return true;
  }
  return false;
}

/// Returns whether the snippet may leave an element early: then elements must not be stored after
/// it.
inline bool disturbs_elements(const token_list& code) noexcept {
  for (const token& t : code.tokens) {
    if (t.is("continue") || t.is("return") || t.is("break") || t.is("goto") || t.is("asm"))
      return true;
  }
  return false;
}

/// The macros that a snippet can use: those of its preamble and of its options. Macros of included
/// headers are not seen.
class snippet_macros {
 public:
  explicit snippet_macros(const snippet& s) {
    string_ref rest = s.preamble;
    while (!rest.empty()) {
      const string_ref begin = rest;
      string_ref line = next_line(rest);
      while (!line.empty() && line[line.size() - 1] == '\\' && !rest.empty())
        line = next_line(rest);
      const std::size_t used = static_cast<std::size_t>(line.data() - begin.data()) + line.size();
      const token_list code = read_tokens(begin.substring(0, used));
      if (code.at(0) == "#" && code.at(1) == "define") macros_.push_back({code.at(2), code});
    }
    for (const macro_definition& each : s.options.defines) {
      const token_list name = read_tokens(each.name);
      macros_.push_back({name.at(0), read_tokens(each.value)});
    }
  }

  /// Returns whether a macro mentions `name`.
  bool mention(string_ref name) const noexcept {
    for (const macro& each : macros_) {
      if (mentions(each.code, name)) return true;
    }
    return false;
  }

  /// Returns whether the snippet uses a macro after which a statement may not be run.
  bool disturb(const token_list& code) const noexcept {
    for (const macro& each : macros_) {
      if (!has_control_flow(each.code)) continue;
      if (mentions(code, each.name)) return true;
      for (const macro& other : macros_) {
        if (&other != &each && mentions(other.code, each.name)) return true;
      }
    }
    return false;
  }

 private:
  struct macro {
    string_ref name;
    token_list code;
  };

  static bool has_control_flow(const token_list& code) noexcept {
    constexpr string_ref words[] = {"if", "else", "for", "while", "do", "switch", "case", "{", "}"};
    for (const string_ref word : words) {
      if (mentions(code, word)) return true;
    }
    return disturbs_elements(code);
  }

  sequence<macro> macros_;
};

/// Returns whether the token is an `i` that the snippet declares or assigns. In doubt it is.
inline bool changes_index(const token_list& code, std::size_t at) noexcept {
  if (!code.tokens[at].is("i")) return false;
  const string_ref before = at >= 1 ? code.at(at - 1) : string_ref();
  const string_ref earlier = at >= 2 ? code.at(at - 2) : string_ref();
  const string_ref after = code.at(at + 1);
  const bool after_name = at >= 1 && code.tokens[at - 1].kind == token_kind::identifier;
  const bool is_set = after == "=" && code.at(at + 2) != "=";
  const bool is_initialized = after == "{" || after == "(";
  // `for (auto& i : all)`, and the parameters `T& i` and `T&& i`. `a & i` looks like one.
  const bool is_reference = before == "&" || before == "*";
  const bool of_type = at >= 2 && (code.tokens[at - 2].kind == token_kind::identifier ||
                                   earlier == ">" || earlier == "&");
  const bool ends = after == ":" || after == "," || after == ")";
  return after_name || is_set || is_initialized ||
         (is_reference && (after == ":" || (before == "&" && of_type && ends)));
}

/// Returns whether the snippet has an `i` of its own.
inline bool changes_index(const token_list& code) noexcept {
  for (std::size_t at = 0; at < code.tokens.size(); ++at) {
    const token& t = code.tokens[at];
    std::size_t bound = at + 1;
    while (t.is("auto") && code.at(bound) == "&") ++bound;
    const bool declares_several = t.is("enum") || (t.is("auto") && code.at(bound) == "[");
    if (declares_several || changes_index(code, at)) return true;
  }
  return false;
}

}}}  // namespace gpu::v1::detail
