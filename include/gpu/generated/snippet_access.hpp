#pragma once
/// \file
/// Finds out how a snippet uses its parameters: which elements can be loaded before it runs and
/// stored afterwards, several at a time.

#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_macros.hpp>
#include <gpu/generated/snippet_tokens.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The ways in which a snippet uses the elements of a parameter.
enum class element_access : unsigned char {
  memory,  ///< through a pointer or an accessor: the snippet is compiled as it is
  load,    ///< reads `x[i]` alone
  store,   ///< sets `x[i]` in every case, and reads it only afterwards
  update,  ///< sets `x[i]` in every case, and reads it before
};

/// Returns whether the token is the variable `name`, not a member of that name.
inline bool occurs_at(const token_list& code, std::size_t at, string_ref name) noexcept {
  if (code.at(at) != name || code.tokens[at].kind != token_kind::identifier) return false;
  const string_ref before = at >= 1 ? code.at(at - 1) : string_ref();
  const string_ref earlier = at >= 2 ? code.at(at - 2) : string_ref();
  const bool is_member =
      before == "." || (before == ">" && earlier == "-") || (before == ":" && earlier == ":");
  return !is_member;
}

/// Returns whether the address of what begins at the token is taken: `&x[i]`, `&(x[i])`.
inline bool takes_address(const token_list& code, std::size_t at) noexcept {
  while (at >= 1 && code.at(at - 1) == "(") --at;
  if (at < 1 || code.at(at - 1) != "&") return false;
  if (at < 2) return true;
  const token& before = code.tokens[at - 2];
  const bool is_operand = before.kind != token_kind::symbol || before.is(")") || before.is("]");
  return before.is("return") || !(is_operand || before.is("&"));
}

/// Finds out how a snippet uses one parameter, from each occurrence of its name. In doubt the
/// access is `memory`, which is always right.
class access_scan {
 public:
  access_scan(const token_list& code, const snippet_parameter& parameter) noexcept
      : code_{code}, parameter_{parameter} {}

  element_access find() const noexcept {
    bool loads = false, stores = false;
    for (std::size_t at = 0; at < code_.tokens.size(); ++at) {
      if (!names_parameter(at)) continue;
      if (!is_element(at)) return element_access::memory;
      if (!parameter_.writable) {
        if (takes_address(code_, at)) return element_access::memory;
        loads = true;
      } else if (is_unconditional_target(at)) {
        // `y[i] = y[i] + 1` reads first, although the name on the left comes first.
        if (!stores) loads = loads || is_compound(at) || is_read_before_semicolon(at);
        stores = true;
      } else if (is_certain_read(at)) {
        loads = loads || !stores;
      } else {
        return element_access::memory;
      }
    }
    if (stores) return loads ? element_access::update : element_access::store;
    return element_access::load;
  }

 private:
  string_ref previous(std::size_t at, std::size_t count) const noexcept {
    return at >= count ? code_.at(at - count) : string_ref();
  }
  string_ref next(std::size_t at, std::size_t count) const noexcept { return code_.at(at + count); }

  bool names_parameter(std::size_t at) const noexcept {
    return occurs_at(code_, at, parameter_.name);
  }
  bool is_element(std::size_t at) const noexcept {
    return next(at, 1) == "[" && next(at, 2) == "i" && next(at, 3) == "]";
  }

  /// Returns whether a statement begins here, outside of conditions and loops.
  bool begins_statement(std::size_t at) const noexcept {
    const string_ref before = previous(at, 1);
    if (at != 0 && before != ";" && before != "}") return false;
    std::size_t depth = 0;
    for (std::size_t each = 0; each < at; ++each) {
      const string_ref t = code_.at(each);
      if (t == "{" || t == "(") ++depth;
      if ((t == "}" || t == ")") && depth-- == 0) return false;
    }
    return depth == 0;
  }
  bool is_compound(std::size_t at) const noexcept { return next(at, 4) != "="; }
  bool is_unconditional_target(std::size_t at) const noexcept {
    if (!begins_statement(at)) return false;
    const string_ref sign = next(at, 4);
    if (sign == "=") return next(at, 5) != "=";
    const bool arithmetic = sign == "+" || sign == "-" || sign == "*" || sign == "/" ||
                            sign == "%" || sign == "^" || sign == "|" || sign == "&";
    return arithmetic && next(at, 5) == "=";
  }
  bool is_read_before_semicolon(std::size_t at) const noexcept {
    for (std::size_t each = at + 4; each < code_.tokens.size() && code_.at(each) != ";"; ++each) {
      if (names_parameter(each)) return true;
    }
    return false;
  }
  /// Returns whether the element is an operand of arithmetic, so that nothing can refer to it or
  /// write it.
  bool is_certain_read(std::size_t at) const noexcept {
    const string_ref behind = next(at, 4), beyond = next(at, 5);
    const auto is_operator = [](string_ref t) {
      return t == "+" || t == "-" || t == "*" || t == "/" || t == "%";
    };
    if (previous(at, 1) == "&" || previous(at, 1) == previous(at, 2)) return false;
    if (is_operator(behind)) return beyond != "=" && beyond != behind;
    const bool ends = behind == ";" || behind == ")" || behind == "," || behind.empty();
    return ends && is_operator(previous(at, 1));
  }

  const token_list& code_;
  const snippet_parameter& parameter_;
};

/// The use of a parameter by a snippet.
struct parameter_use {
  element_access access = element_access::memory;
  /// True if the snippet may use elements at other indices than `i`. Then no other argument that is
  /// written may be the same memory.
  bool reaches_others = false;
};

/// Returns whether each occurrence of `name` is followed by `[i]`, and the address of a constant
/// element is never taken, since elements after it could be read.
inline bool uses_own_element_only(const token_list& code,
                                  const snippet_parameter& parameter) noexcept {
  for (std::size_t at = 0; at < code.tokens.size(); ++at) {
    if (!occurs_at(code, at, parameter.name)) continue;
    if (!parameter.writable && takes_address(code, at)) return false;
    if (code.at(at + 1) != "[" || code.at(at + 2) != "i" || code.at(at + 3) != "]") return false;
  }
  return true;
}

/// Returns how the snippet uses each parameter.
inline sequence<parameter_use> find_uses(const snippet& s) {
  sequence<parameter_use> found;
  const token_list body = read_tokens(s.body);
  const snippet_macros macros(s);
  const bool own_index = !body.complete || changes_index(body) || macros.mention("i");
  const bool whole = own_index || disturbs_elements(body) || macros.disturb(body);
  const token_list before = read_tokens(s.before), after = read_tokens(s.after);
  for (const snippet_parameter& parameter : s.parameters) {
    parameter_use use;
    const string_ref name = parameter.name;
    const bool is_hidden = macros.mention(name);
    const bool elsewhere = mentions(before, name) || mentions(after, name);
    if (parameter.kind == parameter_kind::elements) {
      use.reaches_others =
          own_index || is_hidden || elsewhere || !uses_own_element_only(body, parameter);
      if (!whole && !is_hidden && !elsewhere) use.access = access_scan(body, parameter).find();
    }
    found.push_back(use);
  }
  return found;
}

/// Writes a text of the snippet with `gpu_x` in place of `x[i]` for each parameter that is not
/// `memory`.
inline void write_with_elements(text_builder& out, string_ref body, const snippet& s,
                                const sequence<parameter_use>& uses) {
  const token_list code = read_tokens(body);
  const char* copied = body.data();
  for (std::size_t at = 0; at + 3 < code.tokens.size(); ++at) {
    if (code.at(at + 1) != "[" || code.at(at + 2) != "i" || code.at(at + 3) != "]") continue;
    for (std::size_t p = 0; p < s.parameters.size(); ++p) {
      if (uses[p].access == element_access::memory) continue;
      if (!occurs_at(code, at, s.parameters[p].name)) continue;
      out.append(copied, static_cast<std::size_t>(code.at(at).data() - copied));
      out << "gpu_" << s.parameters[p].name;
      copied = code.at(at + 3).data() + 1;
    }
  }
  out.append(copied, static_cast<std::size_t>(body.data() + body.size() - copied));
}

}}}  // namespace gpu::v1::detail
