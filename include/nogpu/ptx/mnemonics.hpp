#pragma once
/// Looks a mnemonic up in the instruction table: which forms it may be, with which modifiers and
/// types. The operands then choose among the forms.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nogpu/ptx/instruction_table.hpp>
#include <nogpu/ptx/parser_context.hpp>
#include <nogpu/ptx/refused_instructions.hpp>
#include <nogpu/ptx/suffixes.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// A row of the table with its strings taken apart.
struct compiled_form {
  struct group {
    std::uint16_t first = 0, last = 0;  ///< rows of `suffixes`
    bool required = false;
    bool hint = false;
  };
  const form* row = nullptr;
  std::vector<std::string_view> name;
  std::vector<group> groups;
  std::uint32_t types[max_types] = {};  ///< one bit for each allowed type
  std::size_t type_count = 0;
};

/// The parts of `text` between `separator`s; none for an empty text.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return parts;
}

inline std::uint32_t bit_of(type t) { return 1u << static_cast<unsigned>(t); }

inline std::uint32_t compile_types(std::string_view names) {
  std::uint32_t mask = 0;
  for (const std::string_view name : split(names, ' ')) {
    const type_set* found = nullptr;
    for (const type_set& set_of_types : type_sets) {
      if (set_of_types.name == name) found = &set_of_types;
    }
    mask |= found != nullptr ? compile_types(found->members)
                             : bit_of(type_of_word("." + std::string(name), type::b1));
  }
  return mask;
}

inline compiled_form compile_form(const form& row) {
  compiled_form compiled;
  compiled.row = &row;
  compiled.name = split(row.name, '.');
  for (std::string_view name : split(row.suffixes, ' ')) {
    compiled_form::group group;
    group.required = name.back() == '!';
    if (group.required) name.remove_suffix(1);
    group.hint = name == "hint";
    while (group.first < suffixes.size() && suffixes[group.first].group != name) ++group.first;
    group.last = group.first;
    while (group.last < suffixes.size() && suffixes[group.last].group == name) ++group.last;
    compiled.groups.push_back(group);
  }
  for (const std::string_view names : split(row.types, '|')) {
    compiled.types[compiled.type_count++] = compile_types(names);
  }
  return compiled;
}

/// All forms by the first word of their names, built on first use.
inline const std::unordered_map<std::string_view, std::vector<compiled_form>>& forms_by_name() {
  static const auto all = [] {
    std::unordered_map<std::string_view, std::vector<compiled_form>> forms;
    for (const form& row : instruction_table) {
      compiled_form compiled = compile_form(row);
      const std::string_view key = compiled.name.front();
      forms[key].push_back(std::move(compiled));
    }
    return forms;
  }();
  return all;
}

/// The reason why a mnemonic does not match a form, and how far it matched. The message is about
/// the form that matched furthest.
struct misfit {
  std::size_t progress = 0;
  std::string why;
};

/// Matches the words of a mnemonic with a form. Types come in order; suffixes in any.
inline bool fits(const compiled_form& candidate, const std::vector<std::string_view>& words,
                 resolved_form& result, misfit& problem) {
  std::size_t i = 0;
  for (; i < candidate.name.size(); ++i) {
    if (i < words.size() && words[i] == candidate.name[i]) continue;
    problem = {i, "no such instruction"};
    return false;
  }
  result.row = candidate.row;
  std::uint32_t used = 0;
  for (; i < words.size(); ++i) {
    bool taken = false;
    for (std::size_t g = 0; g < candidate.groups.size() && !taken; ++g) {
      const compiled_form::group& group = candidate.groups[g];
      if ((used >> g & 1u) != 0) continue;
      for (std::size_t row = group.first; row < group.last && !taken; ++row) {
        if (suffixes[row].word != words[i]) continue;
        suffixes[row].apply(result.with);
        result.hint = result.hint || group.hint;
        used |= 1u << g;
        taken = true;
      }
    }
    if (taken) continue;
    const type t = type_of_word("." + std::string(words[i]), type::b1);
    if (t != type::none && result.type_count < candidate.type_count &&
        (candidate.types[result.type_count] & bit_of(t)) != 0) {
      result.types[result.type_count++] = t;
      continue;
    }
    problem = {i, "'." + std::string(words[i]) +
                      (t != type::none ? "' is not a type of this instruction"
                                       : "' is not a suffix of this instruction")};
    return false;
  }
  if (result.type_count != candidate.type_count) {
    problem = {i, "it needs " + std::to_string(candidate.type_count) +
                      (candidate.type_count == 1 ? " type" : " types")};
    return false;
  }
  for (std::size_t g = 0; g < candidate.groups.size(); ++g) {
    if (!candidate.groups[g].required || (used >> g & 1u) != 0) continue;
    problem = {i, "it needs"};
    for (std::size_t row = candidate.groups[g].first; row < candidate.groups[g].last; ++row) {
      problem.why += (row == candidate.groups[g].first ? " ." : " or .");
      problem.why += suffixes[row].word;
    }
    return false;
  }
  return true;
}

/// Spellings that mean the same: barrier.sync and bar.cta.sync are bar.sync.
inline void normalize(std::vector<std::string_view>& words) {
  if (words[0] == "barrier" && words.size() > 1 && words[1] != "cluster") words[0] = "bar";
  if (words[0] == "bar" && words.size() > 2 && words[1] == "cta") words.erase(words.begin() + 1);
}

/// Returns why legal PTX with this mnemonic is not executed, or an empty string.
inline std::string_view refusal_of(std::string_view mnemonic) {
  for (const refused_instruction& refused : refused_instructions) {
    if (mnemonic.starts_with(refused.name) &&
        (mnemonic.size() == refused.name.size() || mnemonic[refused.name.size()] == '.')) {
      return refused.what;
    }
  }
  return {};
}

/// All forms that `mnemonic` fits. Fails with the most telling reason if there is none.
inline bool resolve_mnemonic(parser_context& context, const token& where, std::string_view mnemonic,
                             std::vector<resolved_form>& forms) {
  const std::string name(mnemonic.substr(0, 120));
  // Some forms of what the list names are executed.
  const std::string_view what = refusal_of(mnemonic);
  const auto refuse = [&] {
    return context.fail(where, name + ": " + std::string(what) + " are not executed on the CPU",
                        refusal::unsupported_instruction);
  };
  std::vector<std::string_view> words = split(mnemonic, '.');
  normalize(words);
  const auto found = forms_by_name().find(words[0]);
  if (found == forms_by_name().end() || words.size() > 24) {
    if (!what.empty()) return refuse();
    return context.fail(where, "'" + name + "' is not a PTX instruction");
  }
  misfit closest{0, "no such instruction"};
  for (const compiled_form& candidate : found->second) {
    resolved_form result;
    misfit problem;
    if (!fits(candidate, words, result, problem)) {
      if (problem.progress > closest.progress) closest = problem;
      continue;
    }
    const std::uint32_t target = context.out.target;
    if (target < candidate.row->least ||
        (candidate.row->most != 0 && target > candidate.row->most)) {
      const bool older = target < candidate.row->least;
      closest = {words.size() + 1,
                 older ? "it needs .target sm_" + std::to_string(candidate.row->least) +
                             " or newer, this module has sm_" + std::to_string(target)
                       : "sm_70 and newer need its .sync form"};
      continue;
    }
    forms.push_back(result);
  }
  if (forms.empty() && !what.empty()) return refuse();
  return !forms.empty() || context.fail(where, "'" + name + "': " + closest.why);
}

}}}  // namespace nogpu::v1::ptx::detail
