#pragma once
/// Checks the operands of an instruction against its form and gives constants their types.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nogpu/ptx/image_operands.hpp>
#include <nogpu/ptx/matrix_operands.hpp>
#include <nogpu/ptx/mnemonics.hpp>
#include <nogpu/ptx/operands.hpp>
#include <nogpu/ptx/types_match.hpp>
#include <nogpu/ptx/value_types.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// The state space that a symbol lives in.
inline state_space space_of(const parser_context& context, symbol s) {
  switch (s.kind) {
    case symbol_kind::global: return context.out.variables[s.index].space;
    case symbol_kind::variable: return context.scope.out.variables[s.index].space;
    case symbol_kind::parameter:
    case symbol_kind::return_parameter: return state_space::param;
    default: return state_space::generic;
  }
}

/// d, p or d|p; `first` is what d has to be.
inline bool check_pair(parser_context& context, raw_operand& raw, const requirement& first) {
  if (raw.value.kind != operand_kind::pair) return check_value(context, raw, first);
  const requirement second{type::pred, false, false, false};
  for (std::size_t i = 0; i < 2; ++i) {
    if (raw.elements[i].value.kind == operand_kind::sink) continue;
    if (!check_value(context, raw.elements[i], i == 0 ? first : second)) return false;
  }
  return true;
}

inline bool check_address(parser_context& context, raw_operand& raw, state_space space) {
  operand& o = raw.value;
  if (o.kind != operand_kind::address) {
    return context.fail(raw.where, "expected an address in [ ]");
  }
  if (o.value_type != type::none) {
    const bool short_space = space != state_space::generic && space != state_space::global;
    const bool fits =
        accepts(o.value_type, type::u64) || (short_space && accepts(o.value_type, type::u32));
    return fits || context.fail(raw.where, "an address must be in a 64-bit integer register");
  }
  if (o.target.kind == symbol_kind::none) {
    return space == state_space::local ||
           context.fail(raw.where, "an address can be a number only in .local");
  }
  if (o.target.kind == symbol_kind::function) {
    return context.fail(raw.where, "a function has no bytes to access");
  }
  const state_space actual = space_of(context, o.target);
  if (actual == space || (space == state_space::generic && actual == state_space::global)) {
    return true;
  }
  return context.fail(raw.where,
                      "the symbol is in ." + std::string(name_of(actual)) +
                          ", the instruction accesses " +
                          (space == state_space::generic ? "generic addresses: use cvta"
                                                         : "." + std::string(name_of(space))));
}

/// The address of a symbol, or a register that holds one.
inline bool check_address_value(parser_context& context, raw_operand& raw, type wanted) {
  if (raw.value.kind != operand_kind::symbol) {
    return check_value(context, raw, {wanted, false, true, false});
  }
  raw.value.value_type = wanted;
  return true;
}

/// .b0 to .b3, .h0, .h1; of packed instructions .h10 and the like.
inline bool check_video(parser_context& context, raw_operand& raw, type wanted, opcode op,
                        char letter) {
  const std::string_view selector = raw.selector;
  raw.selector = {};
  if (!check_value(context, raw, {wanted, false, letter != 'X', false})) return false;
  const bool halves = op >= opcode::vadd2 && op <= opcode::vset2;
  const bool bytes = op >= opcode::vadd4 && op <= opcode::vset4;
  operand& o = raw.value;
  if (!halves && !bytes) {
    constexpr std::string_view names[] = {"", "h0", "h1", "b0", "b1", "b2", "b3"};
    for (std::uint8_t i = 0; i < 7; ++i) {
      if (names[i] != selector) continue;
      o.selector = static_cast<merge_position>(i);
      return true;
    }
    return context.fail(raw.where, "'." + std::string(selector) + "' selects nothing");
  }
  const std::size_t lanes = halves ? 2 : 4;
  if (selector.empty()) {
    o.lanes = letter == 'X'
                  ? static_cast<std::uint16_t>((1u << lanes) - 1)
                  : static_cast<std::uint16_t>(halves ? (letter == 'y' ? 0x10 : 0x32)
                                                      : (letter == 'y' ? 0x3210 : 0x7654));
    return true;
  }
  const bool right_unit = selector[0] == (halves ? 'h' : 'b');
  const char highest =
      letter == 'X' ? static_cast<char>('0' + lanes - 1) : static_cast<char>('0' + 2 * lanes - 1);
  const bool right_size =
      letter == 'X' ? selector.size() <= lanes + 1 : selector.size() == lanes + 1;
  bool good = right_unit && right_size && selector.size() > 1;
  std::uint16_t value = 0;
  for (const char c : selector.substr(1)) {
    good = good && c >= '0' && c <= highest;
    if (!good) break;
    const auto lane = static_cast<unsigned>(c - '0');
    value = static_cast<std::uint16_t>(letter == 'X' ? value | (1u << lane)
                                                     : (unsigned{value} << 4 | lane));
  }
  o.lanes = value;
  return good || context.fail(raw.where, "'." + std::string(selector) + "' selects nothing");
}

/// The operands of mov.v4, which reads all of a special register such as %tid.
inline bool check_mov_vector(parser_context& context, std::vector<raw_operand>& raw, type t,
                             std::uint8_t width) {
  const bool whole = raw[1].elements.size() == 4 && !raw[1].where.is("{") &&
                     raw[1].elements[0].value.kind == operand_kind::special;
  if (width != 4 || !whole) {
    return context.fail(raw[1].where, "a mov of a vector is mov.v4 of a special register: %tid");
  }
  return check_vector(context, raw[0], width, {t, false, false, false}) &&
         check_vector(context, raw[1], width, {t, false, true, true});
}

/// The operands of mov: a copy, a pack, an unpack or an address. Decides which.
inline bool check_mov(parser_context& context, std::vector<raw_operand>& raw, type t, opcode& op) {
  const bool unpack = raw[0].value.kind == operand_kind::vector;
  const bool pack = raw[1].value.kind == operand_kind::vector;
  const requirement destination{t, false, false, false};
  if (pack && unpack) return context.fail(raw[0].where, "mov packs or unpacks, not both");
  if (!pack && !unpack) {
    op = raw[1].value.kind == operand_kind::symbol ? opcode::mov_address : opcode::mov;
    if (!check_value(context, raw[0], destination)) return false;
    if (op == opcode::mov) return check_value(context, raw[1], {t, false, true, true});
    raw[1].value.value_type = t;
    const bool holds_address = size_of(t) >= 4 && t != type::b128 && !is_floating(t);
    return holds_address || context.fail(raw[1].where, "an address does not fit in " + describe(t));
  }
  std::vector<raw_operand>& elements = raw[unpack ? 0 : 1].elements;
  const auto count = static_cast<std::uint32_t>(elements.size());
  if (!is_bits(t) || size_of(t) % count != 0 || (count != 2 && count != 4)) {
    return context.fail(raw[0].where, "mov" + describe(t) + " does not take " +
                                          std::to_string(count) + " elements");
  }
  const std::uint32_t size = size_of(t) / count;
  const type part = size == 8   ? type::b64
                    : size == 4 ? type::b32
                    : size == 2 ? type::b16
                    : size == 1 ? type::b8
                                : type::none;
  if (part == type::none) return context.fail(raw[0].where, "the elements would be below a byte");
  for (raw_operand& element : elements) {
    if (unpack && element.value.kind == operand_kind::sink) continue;
    if (!check_value(context, element, {part, false, pack, pack && raw[1].where.is("{")})) {
      return false;
    }
  }
  op = unpack ? opcode::mov_unpack : opcode::mov_pack;
  return check_value(context, raw[unpack ? 1 : 0], {t, false, unpack, false});
}

/// Returns the number of operands that a form takes.
inline std::size_t operand_count_of(const resolved_form& candidate) {
  const std::string_view letters = candidate.row->operands;
  if (letters == "M") return 2;
  return letters.size() - (!letters.empty() && letters.back() == 'h' && !candidate.hint ? 1 : 0);
}

/// One operand against its letter; instruction_table.hpp has the legend.
inline bool check_operand(parser_context& context, char letter, raw_operand& raw,
                          const resolved_form& form_chosen, state_space space) {
  const type* types = form_chosen.types;
  const std::size_t last = form_chosen.type_count == 0 ? 0 : form_chosen.type_count - 1;
  const std::uint8_t width = form_chosen.with.vector;
  const image_geometry geometry = form_chosen.with.geometry;
  switch (letter) {
    case 'D': return check_value(context, raw, {types[0], false, false, false});
    case 'U':
      return raw.value.kind == operand_kind::sink ||
             check_value(context, raw, {types[0], false, false, false});
    case 'E': return check_value(context, raw, {type::u32, false, false, false});
    case 'W': return check_value(context, raw, {twice_as_wide(types[0]), false, false, false});
    case 'K': return check_value(context, raw, {types[0], true, false, false});
    case 'V': return check_vector(context, raw, width, {types[0], true, false, false});
    case 'v': return check_vector(context, raw, width, {types[0], true, true, false});
    case 'u': return check_vector(context, raw, width, {types[0], false, true, false});
    case 'P':
      return raw.value.kind == operand_kind::sink ||
             check_value(context, raw, {type::pred, false, false, false});
    case 'Q': return check_pair(context, raw, {type::pred, false, false, false});
    case 'S': return check_pair(context, raw, {type::b32, false, false, false});
    case 'T':
      return raw.value.kind == operand_kind::pair
                 ? check_pair(context, raw, {type::b32, false, false, false})
                 : context.fail(raw.where, "expected d|p");
    case 'a': return check_value(context, raw, {types[0], false, true, false});
    case 'b': return check_value(context, raw, {types[1], false, true, false});
    case 'c': return check_value(context, raw, {types[2], false, true, false});
    case 'k': return check_value(context, raw, {types[1], true, true, false});
    case 'r': return check_value(context, raw, {types[1], true, true, true});
    case 'w': return check_value(context, raw, {twice_as_wide(types[0]), false, true, false});
    case 'i': return check_value(context, raw, {type::u32, false, true, false});
    case 'l':
    case 'h': return check_value(context, raw, {type::b64, false, true, false});
    case 'f': return check_value(context, raw, {type::f32, false, true, false});
    case 'p': return check_value(context, raw, {type::pred, false, true, false});
    case 'I':
      return (raw.value.is_immediate() &&
              check_value(context, raw, {type::u32, false, true, false})) ||
             context.fail(raw.where, "expected an integer constant");
    case 'A':
      return check_address_value(context, raw, types[0] == type::u32 ? type::u32 : type::u64);
    case 'm': return check_address(context, raw, space);
    case 'F':
    case 'G':
    case 'H':
    case 'J': return check_fragment(context, raw, form_chosen, letter);
    case 'N':
    case 'n': return check_matrices(context, raw, width, letter == 'N');
    case 's':
      return raw.value.kind == operand_kind::vector
                 ? check_fragment(context, raw, form_chosen, 'G')
                 : check_value(context, raw, {type::b64, false, true, false});
    case 'e':
    case 'q': return check_value(context, raw, {type::b32, false, false, false});
    case 'R': return check_texture_result(context, raw, width, types[0]);
    case 't':
      return check_image(context, raw, geometry,
                         form_chosen.type_count == 2 ? types[1] : type::s32);
    case 'j': return check_object(context, raw);
    case 'g': return check_per_coordinate(context, raw, geometry, type::f32);
    case 'o': return check_per_coordinate(context, raw, geometry, type::s32);
    case 'B': return check_tensor(context, raw, form_chosen.with.dimensions);
    case 'C': return check_pixel_offsets(context, raw, form_chosen.with.dimensions);
    case 'd': return check_value(context, raw, {type::u16, false, true, false});
    case 'X': return check_video(context, raw, types[0], form_chosen.row->op, letter);
    case 'y': return check_video(context, raw, types[last - 1], form_chosen.row->op, letter);
    case 'z': return check_video(context, raw, types[last], form_chosen.row->op, letter);
    case 'x': return check_value(context, raw, {types[0], false, true, false});
    default: return context.fail(raw.where, "unexpected operand");
  }
}

}}}  // namespace nogpu::v1::ptx::detail
