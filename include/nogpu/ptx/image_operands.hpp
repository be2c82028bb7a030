#pragma once
/// Checks the operands that only texture and surface instructions have.

#include <cstddef>
#include <string>
#include <utility>

#include <nogpu/ptx/operands.hpp>
#include <nogpu/ptx/types_match.hpp>
#include <nogpu/ptx/value_types.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// A vector of 1, 2 or 4 elements of which the instruction looks at the first `needed`.
inline bool check_elements(parser_context& context, const raw_operand& raw, std::size_t count,
                           std::size_t needed) {
  if (count >= needed && (count == 1 || count == 2 || count == 4)) return true;
  return context.fail(
      raw.where, "expected a vector of " + std::to_string(needed == 3 ? 4 : needed) + " elements");
}

/// [object, coordinates]. A layer is an unsigned number whatever the type of the coordinates.
inline bool check_image(parser_context& context, raw_operand& raw, image_geometry geometry,
                        type coordinate) {
  if (raw.value.kind != operand_kind::image) {
    return context.fail(raw.where, "expected [object, coordinates]");
  }
  if (!check_value(context, raw.elements[0], {type::u64, false, false, false}) ||
      !check_elements(context, raw, raw.elements.size() - 1, coordinates_of(geometry))) {
    return false;
  }
  for (std::size_t n = 1; n < raw.elements.size(); ++n) {
    const bool layer = n == 1 && has_layer(geometry);
    if (!check_value(context, raw.elements[n],
                     {layer ? type::u32 : coordinate, false, true, false}))
      return false;
  }
  return true;
}

/// [tensor map, coordinates]: a vector with a number for each dimension.
inline bool check_tensor(parser_context& context, raw_operand& raw, std::size_t dimensions) {
  // A number alone, which is no vector, has no braces.
  if (raw.value.kind != operand_kind::image || raw.value.component == 0 ||
      raw.elements.size() != dimensions + 1) {
    return context.fail(raw.where, "expected [tensor map, {" + std::to_string(dimensions) +
                                       (dimensions == 1 ? " coordinate}]" : " coordinates}]"));
  }
  if (!check_value(context, raw.elements[0], {type::u64, false, false, false})) return false;
  for (std::size_t n = 1; n < raw.elements.size(); ++n) {
    if (!check_value(context, raw.elements[n], {type::s32, false, true, false})) return false;
  }
  return true;
}

/// The offsets of im2col: a vector with a number for each dimension of pixels.
inline bool check_pixel_offsets(parser_context& context, raw_operand& raw, std::size_t dimensions) {
  const bool vector = raw.value.kind == operand_kind::vector;
  if (!vector || raw.elements.size() != dimensions - 2) {
    return context.fail(raw.where,
                        "expected a vector of " + std::to_string(dimensions - 2) + " elements");
  }
  for (raw_operand& element : raw.elements) {
    if (!check_value(context, element, {type::u16, false, true, false})) return false;
  }
  return true;
}

/// [object]
inline bool check_object(parser_context& context, raw_operand& raw) {
  if (raw.value.kind != operand_kind::address || raw.value.index == no_index ||
      raw.value.value != 0) {
    return context.fail(raw.where, "expected an object in [ ]");
  }
  raw.value.kind = operand_kind::reg;
  return check_value(context, raw, {type::u64, false, false, false});
}

/// Gradients or offsets: a vector with an element for each coordinate but the layer.
inline bool check_per_coordinate(parser_context& context, raw_operand& raw, image_geometry geometry,
                                 type element) {
  if (raw.value.kind != operand_kind::vector) {
    if (element == type::f32) return context.fail(raw.where, "expected a vector");
    return context.fail(raw.where, "comparing with a depth is not supported",
                        refusal::unsupported_instruction);
  }
  const std::size_t needed = coordinates_of(geometry) - (has_layer(geometry) ? 1 : 0);
  if (!check_elements(context, raw, raw.elements.size(), needed)) return false;
  for (raw_operand& one : raw.elements) {
    if (!check_value(context, one, {element, false, true, false})) return false;
  }
  return true;
}

/// d or d|p, d a vector of which elements may be left out. With a predicate it becomes the last
/// element of the vector.
inline bool check_texture_result(parser_context& context, raw_operand& raw, std::uint8_t width,
                                 type element) {
  if (raw.value.kind == operand_kind::pair) {
    raw_operand predicate = std::move(raw.elements[1]);
    raw_operand vector = std::move(raw.elements[0]);
    if (predicate.value.kind != operand_kind::sink &&
        !check_value(context, predicate, {type::pred, false, false, false}))
      return false;
    if (!check_vector(context, vector, width, {element, false, false, false})) return false;
    raw = std::move(vector);
    raw.elements.push_back(std::move(predicate));
    return true;
  }
  return check_vector(context, raw, width, {element, false, false, false});
}

}}}  // namespace nogpu::v1::ptx::detail
