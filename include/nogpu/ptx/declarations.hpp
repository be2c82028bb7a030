#pragma once
/// Reads declarations: registers, variables and parameters.

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nogpu/ptx/initializers.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// The meaning of the words before the name.
struct declaration_head {
  state_space space = state_space::generic;
  type element = type::none;
  std::uint32_t alignment = 0;  ///< 0: that of the type
  std::uint8_t vector = 1;
  bool managed = false;
  bool pointer = false;
  linkage link = linkage::internal;
};

inline state_space space_of_word(std::string_view word) {
  if (word == ".reg") return state_space::reg;
  if (word == ".global") return state_space::global;
  if (word == ".const") return state_space::constant;
  if (word == ".local") return state_space::local;
  if (word == ".shared" || word == ".shared::cta") return state_space::shared;
  if (word == ".param") return state_space::param;
  return state_space::generic;
}

inline bool parse_alignment(parser_context& context, std::uint32_t& alignment) {
  const token where = context.tokens.peek();
  std::uint64_t value = 0;
  if (!context.expect_unsigned(1u << 16, value)) return false;
  if (!std::has_single_bit(value))
    return context.fail(where, "an alignment must be a power of two");
  alignment = static_cast<std::uint32_t>(value);
  return true;
}

/// .ptr {.space} {.align n} of an entry's parameter: says what the pointer points to.
inline bool parse_pointer_attribute(parser_context& context) {
  if (space_of_word(context.tokens.peek().text) != state_space::generic) context.tokens.take();
  std::uint32_t alignment = 0;
  return !context.accept(".align") || parse_alignment(context, alignment);
}

/// .attribute(.managed, .unified(a, b))
inline bool parse_attributes(parser_context& context, declaration_head& head) {
  if (!context.expect("(")) return false;
  do {
    if (context.accept(".managed")) {
      head.managed = true;
    } else if (context.accept(".unified")) {
      std::uint64_t low = 0, high = 0;
      if (!context.expect("(") || !context.expect_unsigned(UINT64_MAX, low) ||
          !context.expect(",") || !context.expect_unsigned(UINT64_MAX, high) ||
          !context.expect(")")) {
        return false;
      }
    } else {
      return context.fail_expected("an attribute such as .managed");
    }
  } while (context.accept(","));
  return context.expect(")");
}

/// The words up to the name. A space that is set already is not read again.
inline bool parse_head(parser_context& context, declaration_head& head) {
  while (context.tokens.peek().kind == token_kind::word) {
    const token t = context.tokens.take();
    const type element = type_of_word(t.text);
    const state_space space = space_of_word(t.text);
    if (element != type::none) {
      const bool in_register = head.space == state_space::reg;
      const bool good = element <= (in_register ? type::bf16x2 : type::f64) &&
                        (element != type::pred || in_register);
      if (!good) {
        return context.fail(t, "nothing can be declared as " + std::string(t.text) + " here");
      }
      if (head.element != type::none)
        return context.fail(t, "a declaration needs exactly one type");
      head.element = element;
    } else if (space != state_space::generic && head.space == state_space::generic) {
      head.space = space;
    } else if (t.text == ".align") {
      if (!parse_alignment(context, head.alignment)) return false;
    } else if (t.text == ".v2" || t.text == ".v4") {
      head.vector = t.text == ".v2" ? 2 : 4;
    } else if (t.text == ".attribute") {
      if (!parse_attributes(context, head)) return false;
    } else if (t.text == ".ptr" && head.space == state_space::param) {
      head.pointer = true;
      if (!parse_pointer_attribute(context)) return false;
    } else if (t.text == ".texref" || t.text == ".samplerref" || t.text == ".surfref") {
      return context.fail(
          t,
          std::string(t.text) +
              ": references to textures and surfaces are not supported, objects are",
          refusal::unsupported_instruction);
    } else {
      return context.fail(t, context.quote(t) + " is not allowed in a declaration");
    }
  }
  if (head.element == type::none) return context.fail_expected("a type");
  const std::uint32_t natural = size_of(head.element) * head.vector;
  if (head.alignment == 0) head.alignment = natural;
  return true;
}

/// [a][b]... Fills the strides and the size; an empty first [ ] leaves the size open.
inline bool parse_dimensions(parser_context& context, const declaration_head& head,
                             initializer_shape& shape, bool& open) {
  std::vector<std::uint64_t> extents;
  open = false;
  const token where = context.tokens.peek();
  while (context.accept("[")) {
    std::uint64_t extent = 0;
    if (context.tokens.peek().is("]")) {
      if (!extents.empty()) return context.fail_expected("a size: only the first may be open");
      open = true;
    } else if (!parse_size(context, context.options.limits.variable_bytes, extent)) {
      return false;
    }
    if (extents.size() >= 32) return context.fail(where, "too many dimensions", refusal::too_large);
    extents.push_back(extent);
    if (!context.expect("]")) return false;
  }
  if (head.vector > 1) extents.push_back(head.vector);
  shape.scalar = extents.empty();
  std::uint64_t bytes = size_of(head.element);
  shape.strides.assign(extents.empty() ? 1 : extents.size(), bytes);
  for (std::size_t i = extents.size(); i-- > 0;) {
    shape.strides[i] = bytes;
    if (i == 0 && open) break;
    if (extents[i] != 0 && bytes > context.options.limits.variable_bytes / extents[i]) {
      return context.fail(where, "this variable is too large", refusal::too_large);
    }
    bytes *= extents[i];
    if (bytes == 0) return context.fail(where, "an array must have at least one element");
  }
  shape.bytes = open ? 0 : bytes;
  return true;
}

/// .reg: names and families of names.
inline bool parse_registers(parser_context& context, const declaration_head& head) {
  do {
    token name;
    if (!context.expect_identifier(name)) return false;
    name_entry entry;
    entry.kind = name_kind::reg;
    entry.value_type = head.element;
    entry.components = head.vector;
    entry.name = name.text;
    if (!context.accept("<")) {
      std::uint32_t number = 0;
      const name_entry* family = find_family(context, name.text, number);
      if (family != nullptr && family->depth == context.names.depth()) {
        return context.fail(name, context.quote(name) + " is declared twice in this block");
      }
      if (!context.declare(name, entry)) return false;
      continue;
    }
    std::uint64_t count = 0;
    if (!context.expect_unsigned(UINT32_MAX, count) || !context.expect(">")) return false;
    if (head.vector > 1) return context.fail(name, "vector registers have no numbered families");
    entry.kind = name_kind::register_family;
    entry.count = static_cast<std::uint32_t>(count);
    entry.index = context.scope.family_count++;
    if (!context.scope.families.declare(entry)) {
      return context.fail(name, context.quote(name) + "<> is declared twice in this block");
    }
  } while (context.accept(","));
  return context.expect(";");
}

/// Reads one declarator of a variable: name, dimensions, initializer.
inline bool parse_variable(parser_context& context, const declaration_head& head, variable& v,
                           token& name) {
  if (!context.expect_identifier(name)) return false;
  initializer_shape shape;
  if (!parse_dimensions(context, head, shape, v.unsized)) return false;
  v.name = name.text;
  v.space = head.space;
  v.link = head.link;
  v.element = head.element;
  v.alignment = head.alignment;
  v.managed = head.managed;
  v.size = shape.bytes;
  if (head.managed && head.space != state_space::global) {
    return context.fail(name, "only .global variables are .managed");
  }
  v.line = name.line;
  if (context.tokens.peek().is("=")) {
    const token sign = context.tokens.take();
    if (head.space != state_space::global && head.space != state_space::constant) {
      return context.fail(sign, "only .global and .const variables can be initialized");
    }
    if (head.link == linkage::external) {
      return context.fail(sign, "an .extern variable is initialized where it is defined");
    }
    if (!parse_initializer(context, v, shape)) return false;
  }
  const bool dynamic = v.unsized && head.link == linkage::external;
  return !v.unsized || dynamic ||
         context.fail(name, "an array without a size is .extern or has an initializer");
}

/// .param of a function, entry or prototype, or .reg of a function. `offset` moves past it. The
/// block of parameters begins `base` bytes behind an address that every alignment divides.
inline bool parse_parameter(parser_context& context, parameter& p, token& name,
                            std::uint32_t& offset, std::uint32_t base = 0) {
  const token start = context.tokens.peek();
  declaration_head head;
  if (!start.is(".param") && !start.is(".reg")) return context.fail_expected(".param or .reg");
  if (!parse_head(context, head) || !context.expect_identifier(name)) return false;
  initializer_shape shape;
  bool open = false;
  if (!parse_dimensions(context, head, shape, open)) return false;
  const bool single = shape.bytes == size_of(head.element) && head.element != type::pred;
  if (head.space == state_space::reg && !single) {
    return context.fail(name,
                        "a parameter in a register must be a single value that is not a predicate");
  }
  const std::uint64_t largest = context.options.limits.parameter_bytes;
  const std::uint64_t begin = std::uint64_t{base} + offset;
  const std::uint64_t aligned =
      (begin + head.alignment - 1) / head.alignment * head.alignment - base;
  if (shape.bytes > largest || aligned + shape.bytes > largest) {
    return context.fail(name, "more than " + std::to_string(largest) + " bytes of parameters",
                        refusal::too_large);
  }
  p.name = name.text;
  p.element = head.element;
  p.alignment = head.alignment;
  p.size = static_cast<std::uint32_t>(shape.bytes);
  p.offset = static_cast<std::uint32_t>(aligned);
  if (head.space == state_space::reg) p.reg = 0;  // the function that owns it makes the register
  offset = p.offset + p.size;
  return true;
}

}}}  // namespace nogpu::v1::ptx::detail
