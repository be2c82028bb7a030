#pragma once
/// \file
/// Finds the kernels that synchronize their grid, in PTX: launched without cooperation, they trap.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/detail/name_writer.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <cstring>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns where a register begins that holds half of the address of the grid's workspace, which
/// the driver passes to cooperative launches alone: %envreg1 or %envreg2. Or returns `ptx.size()`.
inline std::size_t find_workspace_register(string_ref ptx) noexcept {
  constexpr string_ref name = "%envreg";
  const char* at = ptx.begin();
  while (at != nullptr && static_cast<std::size_t>(ptx.end() - at) > name.size()) {
    const string_ref rest(at, static_cast<std::size_t>(ptx.end() - at));
    const char number = rest[name.size()];
    if (starts_with(rest, name) && (number == '1' || number == '2'))
      return static_cast<std::size_t>(at - ptx.begin());
    at = static_cast<const char*>(std::memchr(at + 1, '%', rest.size() - 1));
  }
  return ptx.size();
}

/// A function of PTX: whether it synchronizes the grid, and what it calls.
struct ptx_function {
  string_ref name;
  bool is_kernel = false;
  bool synchronizes_grid = false;
  sequence<string_ref> calls = {};
};

/// Reads PTX statement by statement. `cooperative_groups` tests the address of the workspace and
/// traps if it is null, unless the kernel has tested it itself. So a function synchronizes the grid
/// if a trap follows a branch on such a test, or is the target of one.
class grid_barrier_scan {
 public:
  explicit grid_barrier_scan(string_ref ptx) : rest_{ptx} {
    while (!rest_.empty()) read_statement();
    spread_to_callers();
  }

  const sequence<ptx_function>& functions() const noexcept { return functions_; }

 private:
  void read_statement() {
    skip_blanks();
    if (starts_with(rest_, ".loc") || starts_with(rest_, ".file")) {
      next_line(rest_);
      return;
    }
    std::size_t size = 0;
    while (size < rest_.size() && !is_end(rest_[size])) ++size;
    const string_ref statement = rest_.substring(0, size);
    const char end = size < rest_.size() ? rest_[size] : ';';
    rest_ = without_front(rest_, size < rest_.size() ? size + 1 : size);
    if (depth_ == 0 && end == '{') begin_function(statement);
    if (depth_ != 0 && !functions_.empty()) read_instruction(statement, end == ':');
    if (end == '{') ++depth_;
    if (end == '}' && depth_ != 0) --depth_;
  }

  static bool is_end(char c) noexcept { return c == ';' || c == '{' || c == '}' || c == ':'; }
  static bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  void skip_blanks() noexcept {
    while (!rest_.empty()) {
      if (is_blank(rest_[0])) {
        rest_ = without_front(rest_, 1);
      } else if (starts_with(rest_, "//")) {
        next_line(rest_);
      } else {
        return;
      }
    }
  }

  /// Removes the next word of `statement`, a name or a register with its sign, and returns it;
  /// empty at the end.
  static string_ref next_word(string_ref& statement) noexcept {
    while (!statement.empty() && !is_part(statement[0])) statement = without_front(statement, 1);
    std::size_t size = 0;
    while (size < statement.size() && is_part(statement[size])) ++size;
    const string_ref word = statement.substring(0, size);
    statement = without_front(statement, size);
    return word;
  }
  static bool is_part(char c) noexcept { return is_word_character(c) || c == '.' || c == '%'; }

  /// Removes what is in parentheses at the front, if there is any.
  static void skip_parentheses(string_ref& statement) noexcept {
    while (!statement.empty() && is_blank(statement[0])) statement = without_front(statement, 1);
    if (statement.empty() || statement[0] != '(') return;
    while (!statement.empty() && statement[0] != ')') statement = without_front(statement, 1);
  }

  void begin_function(string_ref header) {
    for (string_ref word = next_word(header); !word.empty(); word = next_word(header)) {
      if (word != ".entry" && word != ".func") continue;
      skip_parentheses(header);
      functions_.push_back({next_word(header), word == ".entry"});
      tested_.clear();
      targets_.clear();
      may_trap_ = false;
    }
  }

  void read_instruction(string_ref statement, bool is_label) {
    if (is_label) {
      may_trap_ = contains(targets_, next_word(statement));
      return;
    }
    ptx_function& function = functions_.back();
    string_ref rest = statement;
    string_ref word = next_word(rest);
    if (word.empty() || word[0] == '.') return;
    bool tests = false;
    if (starts_with(statement, "@")) {  // a predicate
      tests = contains(tested_, word);
      word = next_word(rest);
    }
    if (word == "trap") {
      if (tests || may_trap_) function.synchronizes_grid = true;
    } else if (starts_with(word, "call")) {
      skip_parentheses(rest);
      function.calls.push_back(next_word(rest));
    } else if (starts_with(word, "bra")) {
      if (tests) targets_.push_back(next_word(rest));
      may_trap_ = tests;  // behind the branch
      return;
    } else {
      note_result(rest);
    }
    may_trap_ = false;
  }

  /// Notes the destination of an instruction that computes with the address of the workspace. What
  /// is loaded from there says nothing about the address.
  void note_result(string_ref operands) {
    if (position_of("[", operands) != operands.size()) return;
    const string_ref destination = next_word(operands);
    for (string_ref word = next_word(operands); !word.empty(); word = next_word(operands)) {
      if (word != "%envreg1" && word != "%envreg2" && !contains(tested_, word)) continue;
      if (!contains(tested_, destination)) tested_.push_back(destination);
      return;
    }
  }

  static bool contains(const sequence<string_ref>& list, string_ref word) noexcept {
    for (const string_ref each : list) {
      if (each == word) return true;
    }
    return false;
  }

  void spread_to_callers() noexcept {
    for (bool changed = true; changed;) {
      changed = false;
      for (const ptx_function& called : functions_) {
        if (!called.synchronizes_grid) continue;
        for (ptx_function& caller : functions_) {
          if (caller.synchronizes_grid || !contains(caller.calls, called.name)) continue;
          caller.synchronizes_grid = changed = true;
        }
      }
    }
  }

  string_ref rest_;
  sequence<ptx_function> functions_ = {};
  sequence<string_ref> tested_ = {};   // registers that hold the address, or a test of it
  sequence<string_ref> targets_ = {};  // labels that a test branches to
  std::size_t depth_ = 0;              // of braces
  bool may_trap_ = false;              // the next instruction is what a test leads to
};

/// Returns the kernels of an image that synchronize their grid, by their names in the module; none
/// if the image is not PTX.
inline result<sequence<text>> find_grid_barriers(bytes_ref image, source_location where) {
  return catch_bad_alloc("gpu::module::load", where, [&]() -> result<sequence<text>> {
    sequence<text> found;
    const string_ref ptx(image.characters(), image.size());
    if (find_workspace_register(ptx) == ptx.size()) return found;
    const grid_barrier_scan scan(ptx);
    for (const ptx_function& each : scan.functions()) {
      if (!each.is_kernel || !each.synchronizes_grid) continue;
      found.push_back(each.name.to_text());
      if (found.back().lost())
        return fail(out_of_host_memory_error("gpu::module::load", each.name.size(), where));
    }
    return found;
  });
}

}}}  // namespace gpu::v1::detail
