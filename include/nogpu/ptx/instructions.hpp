#pragma once
/// Reads one instruction of a function body into the module.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nogpu/ptx/calls.hpp>
#include <nogpu/ptx/combinations.hpp>
#include <nogpu/ptx/mnemonics.hpp>
#include <nogpu/ptx/operand_types.hpp>
#include <nogpu/ptx/operands.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// bra label
inline bool parse_branch(parser_context& context, instruction& i) {
  skip_uniform(context);
  token target;
  if (!context.expect_identifier(target)) return false;
  i.op = opcode::bra;
  function& f = context.scope.out;
  operand o;
  o.kind = operand_kind::label;
  i.first_operand = static_cast<std::uint32_t>(f.operands.size());
  i.operand_count = 1;
  context.scope.label_uses.push_back({target, i.first_operand, no_index, 0});
  f.operands.push_back(o);
  return true;
}

/// brx.idx register, table
inline bool parse_indexed_branch(parser_context& context, instruction& i) {
  if (!context.expect(".idx")) return false;
  skip_uniform(context);
  std::vector<raw_operand> raw(2);
  if (!parse_operand(context, raw[0]) ||
      !check_value(context, raw[0], {type::u32, false, false, false}) || !context.expect(",")) {
    return false;
  }
  token table;
  if (!context.expect_identifier(table)) return false;
  const name_entry* entry = context.names.find(table.text);
  if (entry == nullptr || entry->kind != name_kind::branch_table) {
    return context.fail(
        table, context.quote(table) + " is not a .branchtargets list that was declared before");
  }
  raw[1].value.kind = operand_kind::branch_table;
  raw[1].value.index = entry->index;
  i.op = opcode::brx_idx;
  store_operands(context.scope.out, raw, i);
  return true;
}

inline bool parse_general(parser_context& context, const token& where, std::string_view mnemonic,
                          instruction& i) {
  auto [place, fresh] = context.mnemonics.try_emplace(mnemonic);
  if (fresh && !resolve_mnemonic(context, where, mnemonic, place->second)) {
    context.mnemonics.erase(place);
    return false;
  }
  std::vector<raw_operand> raw;
  while (!context.tokens.peek().is(";")) {
    if (!raw.empty() && !context.expect(",")) return false;
    raw.emplace_back();
    if (raw.size() > 10) return context.fail(where, "too many operands");
    const bool may_be_signed = raw.size() > 1 && mnemonic.starts_with("vmad.");
    if (!(may_be_signed ? parse_signed_operand(context, raw.back())
                        : parse_operand(context, raw.back()))) {
      return false;
    }
  }
  const resolved_form* chosen = nullptr;
  for (const resolved_form& candidate : place->second) {
    if (operand_count_of(candidate) != raw.size()) continue;
    // bar.red and cp.async have two forms of one length, which a predicate distinguishes.
    const std::size_t predicate = candidate.row->operands.find('p');
    if (predicate != std::string_view::npos && candidate.row->op == opcode::cp_async &&
        raw[predicate].value.value_type != type::pred) {
      continue;
    }
    if (candidate.row->op == opcode::cp_async && predicate == std::string_view::npos &&
        raw.size() > 3 && raw[3].value.value_type == type::pred) {
      continue;
    }
    chosen = &candidate;
    break;
  }
  if (chosen == nullptr) {
    return context.fail(where, std::string(mnemonic) + " takes " +
                                   std::to_string(operand_count_of(place->second.front())) +
                                   " operands, not " + std::to_string(raw.size()));
  }
  i.op = chosen->row->op;
  i.with = chosen->with;
  for (std::size_t n = 0; n < chosen->type_count; ++n) i.types[n] = chosen->types[n];
  const std::string_view letters = chosen->row->operands;
  if (letters == "M") {
    const bool good = i.with.vector != 1 ? check_mov_vector(context, raw, i.types[0], i.with.vector)
                                         : check_mov(context, raw, i.types[0], i.op);
    if (!good) return false;
  } else {
    const bool bulk = i.op == opcode::cp_async_bulk || i.op == opcode::cp_reduce_async_bulk ||
                      i.op == opcode::tensormap_cp_fenceproxy;
    state_space space = bulk || i.op == opcode::cp_async ? i.with.to_space : i.with.space;
    // What is not a tensor map is in shared memory.
    const bool tensor = i.with.dimensions != 0;
    if (tensor) space = state_space::shared;
    for (std::size_t n = 0; n < raw.size(); ++n) {
      if (!check_operand(context, letters[n], raw[n], *chosen, space)) return false;
      if (letters[n] == 'm' && !tensor) space = bulk && n > 0 ? state_space::shared : i.with.space;
    }
  }
  if (!check_combination(context, where, i) || !check_values(context, where, i, raw)) return false;
  store_operands(context.scope.out, raw, i);
  return true;
}

/// @p or @!p
inline bool parse_guard(parser_context& context, guard& when) {
  if (!context.accept("@")) return true;
  when.negated = context.accept("!");
  token name;
  if (!context.expect_identifier(name)) return false;
  name_entry entry;
  bool found = false;
  if (!find_register(context, name, entry, found)) return false;
  if (!found || entry.value_type != type::pred) {
    return context.fail(name, context.quote(name) + " is not a predicate register");
  }
  when.reg = entry.index;
  return true;
}

/// Goes on behind an instruction that this machine does not execute: the kernels that may reach it
/// cannot be launched, the others of the module can. False after any other failure.
inline bool skip_refused(parser_context& context, std::string_view mnemonic) {
  if (!context.error || context.error->reason != refusal::unsupported_instruction) return false;
  if (!context.error->text.starts_with(mnemonic))
    context.error->text.insert(0, std::string(mnemonic) + ": ");
  std::optional<diagnostic>& refused = context.scope.out.refused;
  if (!refused) refused = std::move(context.error);
  context.error.reset();
  for (int braces = 0; !context.tokens.peek().is(";"); context.tokens.take()) {
    const token& t = context.tokens.peek();
    braces += t.is("{") ? 1 : t.is("}") ? -1 : 0;
    if (t.kind == token_kind::end || t.kind == token_kind::bad || braces < 0)
      return context.fail_expected("';'");
  }
  return context.expect(";");
}

/// {@p} mnemonic operands ;
inline bool parse_instruction(parser_context& context) {
  const token start = context.tokens.peek();
  instruction i;
  i.line = start.line;
  i.location = context.scope.location;
  i.text_begin = start.begin;
  if (!parse_guard(context, i.when)) return false;
  token where;
  if (!context.expect_identifier(where)) return false;
  std::string_view mnemonic = where.text;
  bool good = false;
  if (where.text == "bra") {
    good = parse_branch(context, i);
  } else if (where.text == "brx") {
    good = parse_indexed_branch(context, i);
  } else if (where.text == "call") {
    good = parse_call(context, where, i);
  } else {
    // The mnemonic with its suffixes, as it stands in the text when nothing is between them.
    std::uint32_t end = where.begin + static_cast<std::uint32_t>(where.text.size());
    while (context.tokens.peek().kind == token_kind::word) {
      const token suffix_word = context.tokens.take();
      if (suffix_word.begin != end) {
        return context.fail(suffix_word, "a suffix follows its instruction without a space");
      }
      end += static_cast<std::uint32_t>(suffix_word.text.size());
    }
    mnemonic = context.text.substr(where.begin, end - where.begin);
    good = parse_general(context, where, mnemonic, i);
  }
  if (!good) return skip_refused(context, mnemonic);
  if (!context.expect(";")) return false;
  i.text_length = context.tokens.last_end() - start.begin;
  context.scope.out.instructions.push_back(i);
  return true;
}

}}}  // namespace nogpu::v1::ptx::detail
