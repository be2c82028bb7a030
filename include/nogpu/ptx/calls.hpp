#pragma once
/// Reads call instructions and checks what they pass against what the callee declares.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nogpu/ptx/operand_types.hpp>
#include <nogpu/ptx/operands.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// Appends the operands to the function, the elements of vectors and pairs before them.
inline void store_operands(function& f, std::vector<raw_operand>& raw, instruction& i) {
  for (raw_operand& o : raw) {
    if (o.elements.empty()) continue;
    o.value.index = static_cast<std::uint32_t>(f.operands.size());
    o.value.count = static_cast<std::uint8_t>(o.elements.size());
    for (const raw_operand& element : o.elements) f.operands.push_back(element.value);
  }
  i.first_operand = static_cast<std::uint32_t>(f.operands.size());
  i.operand_count = static_cast<std::uint8_t>(raw.size());
  for (const raw_operand& o : raw) f.operands.push_back(o.value);
}

/// `.uni` of bra and call, which changes nothing.
inline void skip_uniform(parser_context& context) { context.accept(".uni"); }

/// The size of what a call passes or receives.
inline std::uint64_t size_of_argument(const parser_context& context, const operand& o) {
  return o.kind == operand_kind::symbol ? context.scope.out.variables[o.target.index].size
                                        : size_of(o.value_type);
}

inline bool check_call_list(parser_context& context, const token& where, const char* what,
                            std::vector<operand>& passed, const std::vector<parameter>& declared) {
  const bool variadic = !declared.empty() && declared.back().size == 0;
  const std::size_t fixed = declared.size() - (variadic ? 1 : 0);
  if (variadic ? passed.size() < fixed : passed.size() != fixed) {
    return context.fail(where, "the call has " + std::to_string(passed.size()) + " " + what +
                                   ", the function declares " + std::to_string(declared.size()));
  }
  for (std::size_t n = 0; n < fixed; ++n) {
    operand& o = passed[n];
    const std::uint64_t size = size_of_argument(context, o);
    if (o.kind == operand_kind::sink || size == declared[n].size) continue;
    return context.fail(where, "number " + std::to_string(n + 1) + " of the " + what + " has " +
                                   std::to_string(size) + " bytes, the function declares " +
                                   std::to_string(declared[n].size));
  }
  return true;
}

/// Returns whether a call may pass or receive an operand: registers except predicates, a whole
/// .param variable that the caller declares, numbers as arguments, a sink as a result.
inline bool travels(const parser_context& context, const operand& o, bool result) {
  if (o.kind == operand_kind::reg) return o.value_type != type::pred;
  if (o.kind != operand_kind::symbol) {
    return o.kind == (result ? operand_kind::sink : operand_kind::immediate);
  }
  return o.target.kind == symbol_kind::variable && o.value == 0 &&
         context.scope.out.variables[o.target.index].space == state_space::param;
}

/// ( a, b, ... ) of a call. Numbers are typed when the callee is known.
inline bool parse_call_list(parser_context& context, bool results, std::vector<raw_operand>& list) {
  if (!context.expect("(")) return false;
  if (context.accept(")")) return true;
  do {
    list.emplace_back();
    if (!parse_simple(context, list.back())) return false;
    if (!travels(context, list.back().value, results)) {
      return context.fail(list.back().where,
                          results ? "a call gives its results to registers and .param variables"
                                  : "a call passes registers, numbers and .param variables");
    }
  } while (context.accept(","));
  return context.expect(")");
}

inline bool type_call_list(parser_context& context, std::vector<raw_operand>& list,
                           const std::vector<parameter>* declared, std::vector<operand>& out) {
  for (std::size_t n = 0; n < list.size(); ++n) {
    if (list[n].value.is_immediate()) {
      const type t =
          declared != nullptr && n < declared->size() ? (*declared)[n].element : type::b64;
      if (!check_value(context, list[n], {t, false, true, false})) return false;
    }
    out.push_back(list[n].value);
  }
  return true;
}

/// Parses the last operand of an indirect call: a prototype or a list of functions.
inline bool parse_call_shape(parser_context& context, call_site& site) {
  token shape;
  if (!context.expect_identifier(shape)) return false;
  const name_entry* entry = context.names.find(shape.text);
  if (entry != nullptr && entry->kind == name_kind::prototype) {
    site.prototype = entry->index;
    return true;
  }
  if (entry != nullptr && entry->kind == name_kind::call_targets) {
    site.candidates = context.scope.call_targets[entry->index];
    return true;
  }
  return context.fail(shape, context.quote(shape) + " is not a .callprototype or .calltargets");
}

/// call (results), target, (arguments), shape
inline bool parse_call(parser_context& context, const token& where, instruction& i) {
  skip_uniform(context);
  call_site site;
  std::vector<raw_operand> results, arguments;
  if (context.tokens.peek().is("(")) {
    if (!parse_call_list(context, true, results) || !context.expect(",")) return false;
  }
  token target;
  if (!context.expect_identifier(target)) return false;
  name_entry entry;
  bool indirect = false;
  if (!find_register(context, target, entry, indirect)) return false;
  if (indirect) {
    site.target_register = entry.index;
    if (!accepts(entry.value_type, type::u64)) {
      return context.fail(target, "a function's address must be in a 64-bit integer register");
    }
  } else {
    const name_entry* name = context.names.find(target.text);
    if (name == nullptr || name->kind != name_kind::function) {
      return context.fail(target,
                          context.quote(target) + " is not a function that was declared before");
    }
    site.function = name->index;
  }
  bool has_shape = false;
  if (context.accept(",")) {
    if (context.tokens.peek().is("(")) {
      if (!parse_call_list(context, false, arguments)) return false;
      has_shape = context.accept(",");
    } else {
      has_shape = true;
    }
    if (has_shape && !parse_call_shape(context, site)) return false;
  }
  if (indirect && !has_shape) {
    return context.fail(target, "an indirect call names a .callprototype or .calltargets");
  }
  function& f = context.scope.out;
  const std::vector<parameter>* declared_results = nullptr;
  const std::vector<parameter>* declared_arguments = nullptr;
  const std::uint32_t callee = !indirect                 ? site.function
                               : site.candidates.empty() ? no_index
                                                         : site.candidates[0];
  if (callee == context.scope.index) {
    declared_results = &f.returns, declared_arguments = &f.parameters;  // recursion
  } else if (callee != no_index) {
    declared_results = &context.out.functions[callee].returns;
    declared_arguments = &context.out.functions[callee].parameters;
  } else if (site.prototype != no_index) {
    declared_results = &f.prototypes[site.prototype].returns;
    declared_arguments = &f.prototypes[site.prototype].parameters;
  }
  if (callee != no_index && context.out.functions[callee].entry) {
    return context.fail(target, "an entry cannot be called");
  }
  if (!type_call_list(context, results, declared_results, site.results) ||
      !type_call_list(context, arguments, declared_arguments, site.arguments)) {
    return false;
  }
  if (declared_arguments != nullptr &&
      (!check_call_list(context, where, "results", site.results, *declared_results) ||
       !check_call_list(context, where, "arguments", site.arguments, *declared_arguments))) {
    return false;
  }
  operand o;
  o.kind = operand_kind::call;
  o.index = static_cast<std::uint32_t>(f.calls.size());
  f.calls.push_back(std::move(site));
  i.op = opcode::call;
  i.first_operand = static_cast<std::uint32_t>(f.operands.size());
  i.operand_count = 1;
  f.operands.push_back(o);
  return true;
}

}}}  // namespace nogpu::v1::ptx::detail
