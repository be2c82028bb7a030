#pragma once
/// Reads operands without yet knowing what the instruction wants of them.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nogpu/ptx/constant_expression.hpp>
#include <nogpu/ptx/ir.hpp>
#include <nogpu/ptx/parser_context.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// An operand as written. A number keeps its form until the instruction gives it a type.
struct raw_operand {
  operand value;
  constant number;
  token where;
  std::string_view selector;          ///< of a video operand: "b0", "h10"
  std::vector<raw_operand> elements;  ///< of a vector or pair
};

/// Makes the register exist; `index` receives its number in the function.
inline bool create_register(parser_context& context, const token& where, std::string_view name,
                            type value_type, std::uint32_t& index) {
  function& f = context.scope.out;
  if (f.registers.size() >= context.options.limits.registers_per_function) {
    return context.fail(where,
                        "more than " +
                            std::to_string(context.options.limits.registers_per_function) +
                            " registers in one function",
                        refusal::too_large);
  }
  index = static_cast<std::uint32_t>(f.registers.size());
  f.registers.push_back(value_type);
  f.register_names.emplace_back(name);
  return true;
}

/// Looks for the family (%r<100>) that `name` (%r12) belongs to. Null if there is none.
inline name_entry* find_family(parser_context& context, std::string_view name,
                               std::uint32_t& number) {
  std::uint64_t value = 0, weight = 1;
  for (std::size_t i = name.size(); i > 1 && name[i - 1] >= '0' && name[i - 1] <= '9'; --i) {
    if (weight > 1'000'000'000) break;
    value += weight * static_cast<std::uint64_t>(name[i - 1] - '0');
    weight *= 10;
    if (name[i - 1] == '0' && name.size() != i) continue;  // %r01 is not in %r<10>
    name_entry* family = context.scope.families.find(name.substr(0, i - 1));
    if (family == nullptr || value >= family->count) continue;
    number = static_cast<std::uint32_t>(value);
    return family;
  }
  return nullptr;
}

/// Fills `out` with the register called `t.text`. `found` is false if there is none of that name.
inline bool find_register(parser_context& context, const token& t, name_entry& out, bool& found) {
  name_entry* single = context.names.find(t.text);
  std::uint32_t number = 0;
  const bool maybe_family = !t.text.empty() && t.text.back() >= '0' && t.text.back() <= '9';
  name_entry* family = maybe_family ? find_family(context, t.text, number) : nullptr;
  found = true;
  if (family == nullptr || (single != nullptr && single->depth >= family->depth)) {
    found = single != nullptr && single->kind == name_kind::reg;
    if (!found) return true;
    if (single->index == no_index) {
      std::uint32_t first = no_index;
      for (std::uint32_t i = 0; i < single->components; ++i) {
        std::uint32_t index = no_index;
        if (!create_register(context, t, t.text, single->value_type, index)) return false;
        if (i == 0) first = index;
      }
      single->index = first;
    }
    out = *single;
    return true;
  }
  out = *family;
  const auto [place, fresh] = context.scope.family_registers.try_emplace(
      static_cast<std::uint64_t>(family->index) << 32 | number, no_index);
  if (fresh && !create_register(context, t, t.text, family->value_type, place->second)) {
    return false;
  }
  out.index = place->second;
  out.components = 1;
  return true;
}

inline operand register_operand(type value_type, std::uint32_t index) {
  operand o;
  o.kind = operand_kind::reg;
  o.value_type = value_type;
  o.index = index;
  return o;
}

/// x, y, z, w or r, g, b, a of a vector; 4 for anything else.
inline std::uint8_t component_of(std::string_view word) {
  if (word.size() != 2) return 4;
  const std::size_t i = std::string_view("xyzwrgba").find(word[1]);
  return i == std::string_view::npos ? std::uint8_t{4} : static_cast<std::uint8_t>(i & 3);
}

/// Returns the symbol that a name refers to; `symbol_kind::none` if it is neither a variable nor a
/// function.
inline symbol symbol_of(const name_entry& entry) {
  switch (entry.kind) {
    case name_kind::global: return {symbol_kind::global, entry.index};
    case name_kind::function: return {symbol_kind::function, entry.index};
    case name_kind::variable: return {symbol_kind::variable, entry.index};
    case name_kind::parameter: return {symbol_kind::parameter, entry.index};
    case name_kind::return_parameter: return {symbol_kind::return_parameter, entry.index};
    default: return {};
  }
}

/// `+ 8`, `+ -8` or nothing after a symbol or a base register.
inline bool parse_offset(parser_context& context, std::uint64_t& offset) {
  const token sign = context.tokens.peek();
  if (!sign.is("+")) return true;
  context.tokens.take();
  const token where = context.tokens.peek();
  constant value;
  if (!parse_constant(context, value)) return false;
  if (!value.is_integer()) return context.fail(where, "an address offset is an integer");
  offset = value.bits;
  return true;
}

inline bool parse_special(parser_context& context, const token& t, raw_operand& out, bool& found) {
  std::uint8_t number = 0;
  found = find_special_register(t.text, out.value.special, out.value.value_type, number);
  if (!found) return true;
  out.value.kind = operand_kind::special;
  out.value.component = number;
  if (!is_vector(out.value.special)) return true;
  const std::uint8_t component = context.tokens.peek().kind == token_kind::word
                                     ? component_of(context.tokens.peek().text)
                                     : std::uint8_t{4};
  if (component < 4) {
    context.tokens.take();
    out.value.component = component;
    return true;
  }
  const operand one = out.value;
  out.value = operand{};
  out.value.kind = operand_kind::vector;
  for (std::uint8_t i = 0; i < 4; ++i) {
    raw_operand element;
    element.where = t;
    element.value = one;
    element.value.component = i;
    out.elements.push_back(element);
  }
  return true;
}

/// A register with its component or selector, a special register, or the address of a symbol.
inline bool parse_named(parser_context& context, raw_operand& out) {
  const token t = context.tokens.take();
  out.where = t;
  if (t.text == "_") {
    out.value.kind = operand_kind::sink;
    return true;
  }
  name_entry entry;
  bool found = false;
  if (!find_register(context, t, entry, found)) return false;
  if (found) {
    out.value = register_operand(entry.value_type, entry.index);
    const token& next = context.tokens.peek();
    if (next.kind == token_kind::word) {
      const std::uint8_t component = component_of(next.text);
      if (entry.components > 1 && component < entry.components) {
        out.value.index += component;
      } else {
        out.selector = next.text.substr(1);
      }
      context.tokens.take();
    } else if (entry.components > 1) {
      out.value = operand{};
      out.value.kind = operand_kind::vector;
      for (std::uint32_t i = 0; i < entry.components; ++i) {
        raw_operand element;
        element.where = t;
        element.value = register_operand(entry.value_type, entry.index + i);
        out.elements.push_back(element);
      }
    }
    return true;
  }
  if (!parse_special(context, t, out, found)) return false;
  if (found) return true;
  const name_entry* name = context.names.find(t.text);
  const symbol target = name != nullptr ? symbol_of(*name) : symbol{};
  if (target.kind == symbol_kind::none) {
    return context.fail(
        t, context.quote(t) + (name == nullptr ? " is not declared" : " is not an operand"));
  }
  out.value.kind = operand_kind::symbol;
  out.value.target = target;
  return parse_offset(context, out.value.value);
}

inline bool parse_operand(parser_context& context, raw_operand& out);

/// The coordinates of [object, coordinates], from the comma on. The object becomes element 0.
inline bool parse_coordinates(parser_context& context, raw_operand& out) {
  context.tokens.take();
  raw_operand object, coordinates;
  object.where = out.where;
  object.value = out.value;
  if (!parse_operand(context, coordinates)) return false;
  if (context.tokens.peek().is(",")) {
    return context.fail(context.tokens.peek(),
                        "a sampler of its own (independent texture mode) is not supported",
                        refusal::unsupported_instruction);
  }
  out.elements.push_back(std::move(object));
  const bool braces = coordinates.value.kind == operand_kind::vector;
  if (braces) {
    for (raw_operand& one : coordinates.elements) out.elements.push_back(std::move(one));
  } else {
    out.elements.push_back(std::move(coordinates));
  }
  out.value = operand{};
  out.value.kind = operand_kind::image;
  out.value.component = braces ? 1 : 0;
  return context.expect("]");
}

/// [register + offset], [symbol + offset], [constant], [object, coordinates]
inline bool parse_address(parser_context& context, raw_operand& out) {
  out.where = context.tokens.take();
  const token& base = context.tokens.peek();
  if (base.kind == token_kind::identifier && base.text != "WARP_SZ") {
    raw_operand named;
    if (!parse_named(context, named)) return false;
    if (named.value.is_register() && named.selector.empty()) {
      out.value = named.value;
      if (context.tokens.peek().is(",")) return parse_coordinates(context, out);
      if (!parse_offset(context, out.value.value)) return false;
    } else if (named.value.kind == operand_kind::symbol) {
      out.value = named.value;
    } else {
      return context.fail(named.where, "an address starts with a register, a symbol or a number");
    }
  } else {
    const token where = base;
    if (!parse_constant(context, out.number)) return false;
    if (!out.number.is_integer()) return context.fail(where, "an address is an integer");
    out.value.value = out.number.bits;
  }
  out.value.kind = operand_kind::address;
  return context.expect("]");
}

inline bool parse_number(parser_context& context, raw_operand& out) {
  out.where = context.tokens.peek();
  out.value.kind = operand_kind::immediate;
  return parse_constant(context, out.number);
}

/// Parses an operand that may also be an element of a vector.
inline bool parse_simple(parser_context& context, raw_operand& out) {
  const token& t = context.tokens.peek();
  if (t.kind == token_kind::identifier && t.text != "WARP_SZ") return parse_named(context, out);
  if (t.kind == token_kind::integer || t.kind == token_kind::single ||
      t.kind == token_kind::floating || t.kind == token_kind::identifier || t.is("-") ||
      t.is("+") || t.is("(") || t.is("~")) {
    return parse_number(context, out);
  }
  return context.fail_expected("an operand");
}

/// `|p` behind an operand makes a pair of both.
inline bool parse_second(parser_context& context, raw_operand& out) {
  if (!context.tokens.peek().is("|")) return true;
  context.tokens.take();
  raw_operand second;
  if (context.tokens.peek().kind != token_kind::identifier) {
    return context.fail_expected("a predicate");
  }
  if (!parse_named(context, second)) return false;
  raw_operand pair;
  pair.where = out.where;
  pair.value.kind = operand_kind::pair;
  pair.elements.push_back(std::move(out));
  pair.elements.push_back(std::move(second));
  out = std::move(pair);
  return true;
}

inline bool parse_operand(parser_context& context, raw_operand& out) {
  const token t = context.tokens.peek();
  if (t.is("[")) return parse_address(context, out);
  if (t.is("{")) {
    out.where = context.tokens.take();
    out.value.kind = operand_kind::vector;
    do {
      out.elements.emplace_back();
      if (out.elements.size() > context.options.limits.vector_elements) {
        return context.fail(t,
                            "a vector has at most " +
                                std::to_string(context.options.limits.vector_elements) +
                                " elements",
                            refusal::too_large);
      }
      if (!parse_simple(context, out.elements.back())) return false;
    } while (context.accept(","));
    return context.expect("}") && parse_second(context, out);
  }
  if (t.is("!")) {
    context.tokens.take();
    const token& next = context.tokens.peek();
    if (next.kind == token_kind::integer) {  // !0 is a number
      constant inner;
      if (!parse_constant(context, inner)) return false;
      out.where = t;
      out.value.kind = operand_kind::immediate;
      out.number = {constant::form::signed_integer, inner.bits == 0 ? 1u : 0u};
      return true;
    }
    if (next.kind != token_kind::identifier) return context.fail_expected("a predicate");
    if (!parse_named(context, out)) return false;
    if (!out.value.is_register() || out.value.value_type != type::pred) {
      return context.fail(t, "only a predicate can be negated");
    }
    out.value.negated = true;
    return true;
  }
  return parse_simple(context, out) && parse_second(context, out);
}

/// An operand of vmad: a register may have a minus sign.
inline bool parse_signed_operand(parser_context& context, raw_operand& out) {
  const token sign = context.tokens.peek();
  if (!sign.is("-") || context.tokens.peek_second().kind != token_kind::identifier) {
    return parse_operand(context, out);
  }
  context.tokens.take();
  if (!parse_named(context, out)) return false;
  if (!out.value.is_register()) {
    return context.fail(sign, "only a register can have a minus sign");
  }
  out.value.negated = true;
  return true;
}

}}}  // namespace nogpu::v1::ptx::detail
