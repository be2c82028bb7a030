#pragma once
/// Checks single operands and vectors of them against a type, and gives constants that type.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <nogpu/ptx/operands.hpp>
#include <nogpu/ptx/types_match.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// The requirements on an operand.
struct requirement {
  type wanted = type::none;
  bool wider = false;     ///< a wider register will do
  bool immediate = true;  ///< a number will do
  bool special = false;   ///< a special register will do
};

inline std::string describe(type t) { return "." + std::string(name_of(t)); }

/// Returns whether a special register can be read as the type. Registers that once had 16 bits, and
/// %gridid, which once had 32, may still be read so.
inline bool reads_as(const operand& o, const requirement& need) {
  if (need.wider) return accepts_wider(o.value_type, need.wanted);
  const std::uint32_t size = size_of(need.wanted);
  const bool grid = o.special == special_register::gridid;
  const bool narrow =
      (size == 2 && (grid || o.special <= special_register::nctaid)) || (size == 4 && grid);
  return accepts(o.value_type, need.wanted) ||
         (narrow && (is_bits(need.wanted) || is_integer(need.wanted)));
}

/// A register or number as a value of one type.
inline bool check_value(parser_context& context, raw_operand& raw, const requirement& need) {
  operand& o = raw.value;
  if (!raw.selector.empty()) {
    return context.fail(
        raw.where, "this instruction takes no '." + std::string(raw.selector) + "' on its operand");
  }
  if (o.is_register()) {
    if (need.wider ? accepts_wider(o.value_type, need.wanted)
                   : accepts(o.value_type, need.wanted)) {
      return true;
    }
    return context.fail(raw.where, context.quote(raw.where) + " is " + describe(o.value_type) +
                                       ", the instruction works on " + describe(need.wanted));
  }
  if (o.is_immediate() && need.immediate) {
    if (need.wanted >= type::f16 && is_floating(need.wanted) && need.wanted != type::f32 &&
        need.wanted != type::f64) {
      return context.fail(raw.where, "a half-precision operand is a register, not a number");
    }
    o.value_type = need.wanted;
    if (bits_as(raw.number, need.wanted, o.value)) return true;
    return context.fail(raw.where, "this number cannot be a " + describe(need.wanted));
  }
  if (o.kind == operand_kind::special && need.special) {
    if (reads_as(o, need)) return true;
    return context.fail(raw.where, context.quote(raw.where) + " is " + describe(o.value_type) +
                                       ", the instruction works on " + describe(need.wanted));
  }
  if (!raw.elements.empty() && raw.elements[0].value.kind == operand_kind::special &&
      !raw.where.is("{")) {
    return context.fail(raw.where,
                        std::string(raw.where.text) + " is a vector: name one of .x .y .z .w");
  }
  return context.fail(raw.where,
                      need.immediate ? "expected a register or a number" : "expected a register");
}

/// A vector as wide as .v2 or .v4 says, of values of one type; a single value without.
inline bool check_vector(parser_context& context, raw_operand& raw, std::uint8_t width,
                         const requirement& need) {
  if (width == 1) {
    // A vector of one element is a plain operand.
    if (raw.value.kind == operand_kind::vector && raw.elements.size() == 1) {
      raw_operand only = raw.elements[0];
      raw = std::move(only);
    }
    return check_value(context, raw, need);
  }
  if (raw.value.kind != operand_kind::vector || raw.elements.size() != width) {
    return context.fail(raw.where, "expected a vector of " + std::to_string(width) + " elements");
  }
  for (raw_operand& element : raw.elements) {
    if (element.value.kind == operand_kind::sink && !need.immediate) continue;
    if (!check_value(context, element, need)) return false;
  }
  return true;
}

}}}  // namespace nogpu::v1::ptx::detail
