#pragma once
/// The state that all parts of the parser share: the tokens, the module being built, the names in
/// scope and the first error.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nogpu/ptx/instruction_form.hpp>
#include <nogpu/ptx/ir.hpp>
#include <nogpu/ptx/lexer.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

/// Sizes beyond which a text is refused. Real modules stay far below; a hostile one meets a
/// sentence instead of exhausting the memory.
struct parse_limits {
  std::uint32_t text_bytes = 1u << 30;
  std::uint32_t nested_blocks = 256;
  std::uint32_t nested_expressions = 64;
  std::uint32_t registers_per_function = 1u << 20;
  std::uint32_t parameter_bytes = 32764;  ///< as the driver: since CUDA 12.1, on sm_70 and later
  std::uint32_t vector_elements = 128;
  std::uint64_t variable_bytes = 1ull << 36;
  std::uint64_t initializer_bytes = 1ull << 28;  ///< of all variables of a module
};

struct parse_options {
  std::uint32_t max_version_major = 9;  ///< newest .version, as the installed CUDA 13 accepts it
  std::uint32_t max_version_minor = 9;
  std::uint32_t max_target = 90;  ///< compute capability of the device, times ten
  parse_limits limits;
};

namespace detail {

enum class name_kind : std::uint8_t {
  reg,              ///< a single register, `index` once it exists
  register_family,  ///< %r<100>: `count`
  global,
  function,
  variable,
  parameter,
  return_parameter,
  label,
  branch_table,
  prototype,
  call_targets,
};

struct name_entry {
  name_kind kind = name_kind::reg;
  type value_type = type::none;
  std::uint8_t components = 1;  ///< of a .v2 or .v4 register
  std::uint32_t depth = 0;
  std::uint32_t index = no_index;
  std::uint32_t count = 0;
  std::uint32_t shadowed = no_index;  ///< entry of an outer block with the same name
  std::string_view name;
};

/// Names by block. Inner blocks shadow outer ones; closing a block brings the outer names back.
class name_table {
 public:
  std::uint32_t depth() const { return depth_; }
  void open() { ++depth_; }

  void close() {
    while (!entries_.empty() && entries_.back().depth == depth_) {
      const name_entry& last = entries_.back();
      if (last.shadowed == no_index) {
        by_name_.erase(last.name);
      } else {
        by_name_[last.name] = last.shadowed;
      }
      entries_.pop_back();
    }
    --depth_;
  }

  name_entry* find(std::string_view name) {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &entries_[found->second];
  }

  /// False if this block already has the name.
  bool declare(name_entry entry) {
    const auto [place, fresh] =
        by_name_.try_emplace(entry.name, static_cast<std::uint32_t>(entries_.size()));
    if (!fresh) {
      if (entries_[place->second].depth == depth_) return false;
      entry.shadowed = place->second;
      place->second = static_cast<std::uint32_t>(entries_.size());
    }
    entry.depth = depth_;
    entries_.push_back(entry);
    return true;
  }

 private:
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
  std::vector<name_entry> entries_;
  std::uint32_t depth_ = 0;
};

/// A label that was named before its block was closed: resolved when the block that declares it is.
struct label_use {
  token where;
  std::uint32_t operand = no_index;  ///< in function::operands
  std::uint32_t table = no_index;    ///< or in function::branch_tables
  std::uint32_t position = 0;        ///< in the table
};

/// The function whose body is being read.
struct function_scope {
  function out;
  std::uint32_t index = no_index;  ///< of `out` in module::functions, once it is complete
  name_table families;             ///< %r of %r<100>
  std::uint32_t family_count = 0;
  /// Registers of families that were named: family and number to register.
  std::unordered_map<std::uint64_t, std::uint32_t> family_registers;
  std::vector<label_use> label_uses;
  std::vector<std::size_t> use_marks;  ///< uses before each open block
  std::vector<std::vector<std::pair<std::string_view, std::uint32_t>>> block_labels;
  std::vector<std::vector<std::uint32_t>> call_targets;
  std::uint32_t location = no_index;
};

/// The name of an inlined function, to be looked up once .debug_str has been read.
struct function_name_use {
  std::uint32_t function = 0;
  std::uint32_t location = 0;
  std::string_view label;
  std::uint64_t offset = 0;
};

/// The state of one parse. Every `parse_*` function returns false after `fail`.
struct parser_context {
  parser_context(std::string_view source, const parse_options& chosen)
      : text(source), options(chosen), tokens(source) {}

  std::string_view text;
  const parse_options& options;
  lexer tokens;
  std::uint32_t version = 0;  ///< 83 for .version 8.3
  ptx::module out;  // qualified: a line that starts with `module` is a directive to some compilers
  name_table names;
  function_scope scope;
  std::uint64_t initializer_bytes = 0;  ///< of all variables so far
  std::vector<function_name_use> function_name_uses;
  std::string debug_strings;  ///< the bytes of .debug_str
  std::unordered_map<std::string_view, std::size_t> debug_labels;
  std::optional<diagnostic> error;
  /// Mnemonics repeat: what each was resolved to.
  std::unordered_map<std::string_view, std::vector<resolved_form>> mnemonics;

  bool fail(const token& where, std::string message, refusal reason = refusal::malformed) {
    if (error.has_value()) return false;
    error = diagnostic{where.line, tokens.column_of(where), std::move(message), reason};
    return false;
  }

  /// Returns a token, quoted for a message.
  static std::string quote(const token& t) {
    if (t.kind == token_kind::end) return "the end of the text";
    constexpr std::size_t longest = 60;
    std::string quoted = "'";
    for (const char c : t.text.substr(0, longest)) quoted += c >= ' ' && c <= '~' ? c : '?';
    return quoted + (t.text.size() > longest ? "...'" : "'");
  }

  /// Fails with "expected X, found Y", or with what is wrong with the token itself.
  bool fail_expected(std::string_view expected) {
    const token& t = tokens.peek();
    if (t.kind == token_kind::bad) return fail(t, quote(t) + ": " + t.problem);
    return fail(t, "expected " + std::string(expected) + ", found " + quote(t));
  }

  bool accept(std::string_view text_of_token) {
    if (!tokens.peek().is(text_of_token)) return false;
    tokens.take();
    return true;
  }

  bool expect(std::string_view punctuation) {
    return accept(punctuation) || fail_expected("'" + std::string(punctuation) + "'");
  }

  bool expect_identifier(token& out_token) {
    if (tokens.peek().kind != token_kind::identifier) return fail_expected("a name");
    out_token = tokens.take();
    return true;
  }

  bool expect_unsigned(std::uint64_t limit, std::uint64_t& value) {
    if (tokens.peek().kind != token_kind::integer) return fail_expected("an integer");
    const token t = tokens.take();
    if (t.integer > limit) {
      return fail(t, std::string(t.text) + " is too large: at most " + std::to_string(limit));
    }
    value = t.integer;
    return true;
  }

  bool declare(const token& where, name_entry entry) {
    entry.name = where.text;
    return names.declare(entry) || fail(where, quote(where) + " is declared twice in this block");
  }
};

/// The type that a word such as ".f32" names, up to `last` in the order of the enumerators, or
/// `none`.
inline type type_of_word(std::string_view word, type last = type::e5m2x2) {
  if (word.size() < 3 || word[0] != '.') return type::none;
  const std::string_view name = word.substr(1);
  for (auto t = static_cast<std::uint8_t>(type::pred); t <= static_cast<std::uint8_t>(last); ++t) {
    if (name_of(static_cast<type>(t)) == name) return static_cast<type>(t);
  }
  return type::none;
}

}  // namespace detail
}}}  // namespace nogpu::v1::ptx
