#pragma once
/// Reads function bodies: blocks, labels, directives, instructions.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nogpu/ptx/declarations.hpp>
#include <nogpu/ptx/instructions.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

inline bool open_block(parser_context& context, const token& where) {
  const std::uint32_t deepest = context.options.limits.nested_blocks;
  if (context.names.depth() >= deepest) {
    return context.fail(where, "more than " + std::to_string(deepest) + " nested blocks",
                        refusal::too_large);
  }
  context.names.open();
  context.scope.families.open();
  context.scope.block_labels.emplace_back();
  return true;
}

/// Closes a block: branches inside it, or inside its inner blocks, find the labels it declares.
inline void close_block(parser_context& context) {
  function_scope& scope = context.scope;
  context.names.close();
  scope.families.close();
  const auto declared = std::move(scope.block_labels.back());
  scope.block_labels.pop_back();
  if (declared.empty()) return;
  std::unordered_map<std::string_view, std::uint32_t> labels(declared.begin(), declared.end());
  std::vector<label_use> rest;
  // Uses of this block and its inner ones stand at the end; those of outer blocks come before.
  const std::size_t first = scope.use_marks.back();
  for (std::size_t i = first; i < scope.label_uses.size(); ++i) {
    const label_use& use = scope.label_uses[i];
    const auto found = labels.find(use.where.text);
    if (found == labels.end()) {
      rest.push_back(use);
    } else if (use.operand != no_index) {
      scope.out.operands[use.operand].index = found->second;
    } else {
      scope.out.branch_tables[use.table][use.position] = found->second;
    }
  }
  scope.label_uses.resize(first);
  scope.label_uses.insert(scope.label_uses.end(), rest.begin(), rest.end());
}

/// .loc file line column {, function_name label {+ offset}} {, inlined_at file line column}
inline bool parse_location(parser_context& context) {
  constexpr std::uint64_t limit = UINT32_MAX - 1;
  std::uint64_t values[3] = {};
  const auto read = [&] {
    return context.expect_unsigned(limit, values[0]) && context.expect_unsigned(limit, values[1]) &&
           context.expect_unsigned(limit, values[2]);
  };
  if (!read()) return false;
  location here;
  here.file = static_cast<std::uint32_t>(values[0]);
  here.line = static_cast<std::uint32_t>(values[1]);
  here.column = static_cast<std::uint32_t>(values[2]);
  function_name_use use;
  while (context.accept(",")) {
    token what;
    if (!context.expect_identifier(what)) return false;
    if (what.text == "function_name") {
      token label;
      if (!context.expect_identifier(label)) return false;
      use.label = label.text;
      if (context.accept("+") && !context.expect_unsigned(limit, use.offset)) return false;
    } else if (what.text == "inlined_at") {
      if (!read()) return false;
      here.inlined_file = static_cast<std::uint32_t>(values[0]);
      here.inlined_line = static_cast<std::uint32_t>(values[1]);
      here.inlined_column = static_cast<std::uint32_t>(values[2]);
    } else {
      return context.fail(what, "expected function_name or inlined_at");
    }
  }
  if (context.scope.index == no_index) return true;  // in front of a function
  std::vector<location>& locations = context.scope.out.locations;
  context.scope.location = static_cast<std::uint32_t>(locations.size());
  if (!use.label.empty()) {
    use.function = context.scope.index;
    use.location = context.scope.location;
    context.function_name_uses.push_back(use);
  }
  locations.push_back(std::move(here));
  return true;
}

/// .pragma "text", "text" ;
inline bool parse_pragma(parser_context& context) {
  do {
    if (context.tokens.peek().kind != token_kind::string) return context.fail_expected("a string");
    context.tokens.take();
  } while (context.accept(","));
  return context.expect(";");
}

/// .branchtargets a, b, c ;
inline bool parse_branch_targets(parser_context& context, const token& name) {
  function& f = context.scope.out;
  const auto table = static_cast<std::uint32_t>(f.branch_tables.size());
  name_entry entry;
  entry.kind = name_kind::branch_table;
  entry.index = table;
  if (!context.declare(name, entry)) return false;
  f.branch_tables.emplace_back();
  do {
    token target;
    if (!context.expect_identifier(target)) return false;
    const auto position = static_cast<std::uint32_t>(f.branch_tables[table].size());
    context.scope.label_uses.push_back({target, no_index, table, position});
    f.branch_tables[table].push_back(no_index);
  } while (context.accept(","));
  return context.expect(";");
}

/// .calltargets f, g ;
inline bool parse_call_targets(parser_context& context, const token& name) {
  name_entry entry;
  entry.kind = name_kind::call_targets;
  entry.index = static_cast<std::uint32_t>(context.scope.call_targets.size());
  if (!context.declare(name, entry)) return false;
  std::vector<std::uint32_t> targets;
  do {
    token target;
    if (!context.expect_identifier(target)) return false;
    const name_entry* callee = context.names.find(target.text);
    if (callee == nullptr || callee->kind != name_kind::function) {
      return context.fail(target,
                          context.quote(target) + " is not a function that was declared before");
    }
    targets.push_back(callee->index);
  } while (context.accept(","));
  context.scope.call_targets.push_back(std::move(targets));
  return context.expect(";");
}

/// ( .param .b32 _, ... )
inline bool parse_prototype_list(parser_context& context, std::vector<parameter>& list) {
  if (!context.expect("(")) return false;
  std::uint32_t offset = 0;
  if (context.accept(")")) return true;
  do {
    token name;
    list.emplace_back();
    if (!parse_parameter(context, list.back(), name, offset)) return false;
  } while (context.accept(","));
  return context.expect(")");
}

/// .callprototype {(results)} _ {(parameters)} {.noreturn} ;
inline bool parse_call_prototype(parser_context& context, const token& name) {
  prototype p;
  token placeholder;
  if (context.tokens.peek().is("(") && !parse_prototype_list(context, p.returns)) return false;
  if (!context.expect_identifier(placeholder)) return false;
  if (context.tokens.peek().is("(") && !parse_prototype_list(context, p.parameters)) return false;
  while (context.tokens.peek().kind == token_kind::word) {
    const token t = context.tokens.take();
    std::uint64_t count = 0;
    const bool counted = t.text == ".abi_preserve" || t.text == ".abi_preserve_control";
    if (t.text != ".noreturn" && !counted) {
      return context.fail(t, context.quote(t) + " is not allowed in a prototype");
    }
    if (counted && !context.expect_unsigned(UINT32_MAX, count)) return false;
  }
  name_entry entry;
  entry.kind = name_kind::prototype;
  entry.index = static_cast<std::uint32_t>(context.scope.out.prototypes.size());
  context.scope.out.prototypes.push_back(std::move(p));
  return context.declare(name, entry) && context.expect(";");
}

/// name: an instruction's label, or the name of the list or prototype that follows.
inline bool parse_label(parser_context& context) {
  const token name = context.tokens.take();
  context.tokens.take();
  const token& next = context.tokens.peek();
  if (next.is(".branchtargets")) return context.tokens.take(), parse_branch_targets(context, name);
  if (next.is(".calltargets")) return context.tokens.take(), parse_call_targets(context, name);
  if (next.is(".callprototype")) return context.tokens.take(), parse_call_prototype(context, name);
  function& f = context.scope.out;
  name_entry entry;
  entry.kind = name_kind::label;
  entry.index = static_cast<std::uint32_t>(f.labels.size());
  if (!context.declare(name, entry)) return false;
  context.scope.block_labels.back().emplace_back(name.text, entry.index);
  f.labels.push_back({std::string(name.text), static_cast<std::uint32_t>(f.instructions.size())});
  return true;
}

/// .reg, .local, .shared, .param of a function.
inline bool parse_local_declaration(parser_context& context) {
  declaration_head head;
  const token start = context.tokens.peek();
  if (!parse_head(context, head)) return false;
  if (head.space == state_space::reg) return parse_registers(context, head);
  if (head.space != state_space::local && head.space != state_space::shared &&
      head.space != state_space::param) {
    return context.fail(start, "only .reg, .local, .shared and .param are declared in a function");
  }
  do {
    variable v;
    token name;
    if (!parse_variable(context, head, v, name)) return false;
    name_entry entry;
    entry.kind = name_kind::variable;
    entry.index = static_cast<std::uint32_t>(context.scope.out.variables.size());
    if (!context.declare(name, entry)) return false;
    context.scope.out.variables.push_back(std::move(v));
  } while (context.accept(","));
  return context.expect(";");
}

/// { ... } of a function, without recursion: nesting costs no stack.
inline bool parse_body(parser_context& context) {
  std::uint32_t open = 0;
  do {
    const token& t = context.tokens.peek();
    if (t.is("{")) {
      context.scope.use_marks.push_back(context.scope.label_uses.size());
      if (!open_block(context, t)) return false;
      context.tokens.take();
      ++open;
    } else if (t.is("}")) {
      context.tokens.take();
      close_block(context);
      context.scope.use_marks.pop_back();
      --open;
    } else if (t.is(".loc")) {
      context.tokens.take();
      if (!parse_location(context)) return false;
    } else if (t.is(".pragma")) {
      context.tokens.take();
      if (!parse_pragma(context)) return false;
    } else if (t.kind == token_kind::word) {
      if (!parse_local_declaration(context)) return false;
    } else if (t.kind == token_kind::identifier && context.tokens.peek_second().is(":")) {
      if (!parse_label(context)) return false;
    } else if (t.kind == token_kind::identifier || t.is("@")) {
      if (!parse_instruction(context)) return false;
    } else {
      return context.fail_expected("an instruction, a declaration or }");
    }
  } while (open != 0);
  if (!context.scope.label_uses.empty()) {
    const token& use = context.scope.label_uses.front().where;
    return context.fail(use, "the label " + context.quote(use) + " is not declared");
  }
  return true;
}

}}}  // namespace nogpu::v1::ptx::detail
