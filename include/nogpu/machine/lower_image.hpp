// Lowers texture and surface instructions.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nogpu/machine/handlers/surface.hpp>
#include <nogpu/machine/handlers/texture.hpp>
#include <nogpu/machine/lower_memory.hpp>
#include <nogpu/machine/lowering_context.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Writes the slots of a vector operand's elements, or of a single operand, into the list.
inline void place_elements(lowering_context& c, std::span<const ptx::operand> elements,
                           std::vector<std::uint32_t>& list, std::size_t first) {
  for (std::size_t n = 0; n < elements.size() && n < 4; ++n)
    list[first + n] = c.operand_slot(elements[n]);
}

/// tex, tex.level, tex.grad, tld4. `image_list` describes the list.
inline bool lower_texture(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  std::vector<std::uint32_t> list(image_list::size, no_slot);
  const auto result = c.source.elements_of(operands[0]);
  const std::size_t width = i.with.vector;
  for (std::size_t n = 0; n < width; ++n)
    if (result[n].kind != ptx::operand_kind::sink) list[n] = c.operand_slot(result[n]);
  const std::uint32_t resident =
      result.size() > width && result[width].kind != ptx::operand_kind::sink
          ? c.operand_slot(result[width])
          : no_slot;
  const auto image = c.source.elements_of(operands[1]);
  place_elements(c, image.subspan(1), list, image_list::coordinates);
  std::size_t next = 2;
  if (i.op == ptx::opcode::tex_level) list[image_list::level] = c.operand_slot(operands[next++]);
  if (i.op == ptx::opcode::tex_grad) {
    place_elements(c, c.source.elements_of(operands[next++]), list, image_list::gradient_x);
    place_elements(c, c.source.elements_of(operands[next++]), list, image_list::gradient_y);
  }
  if (next < operands.size())
    place_elements(c, c.source.elements_of(operands[next]), list, image_list::offsets);
  const std::uint32_t handle = c.operand_slot(image[0]);
  decoded& d = c.emit(i.op == ptx::opcode::tld4 ? &run_gather : &run_texture);
  d.slots[0] = resident;
  d.slots[1] = handle;
  d.list = static_cast<std::uint32_t>(c.out.lists.size());
  c.out.lists.insert(c.out.lists.end(), list.begin(), list.end());
  return true;
}

/// suld, sust, sured.
inline bool lower_surface(lowering_context& c, const ptx::instruction& i) {
  const auto operands = c.source.operands_of(i);
  const bool load = i.op == ptx::opcode::suld;
  const ptx::operand& value = operands[load ? 0 : 1];
  const auto image = c.source.elements_of(operands[load ? 1 : 0]);
  std::vector<std::uint32_t> list(image_list::size, no_slot);
  const std::uint32_t values = list_elements(c, value, load);
  for (std::size_t n = 0; n < i.with.vector; ++n) list[n] = c.out.lists[values + n];
  c.out.lists.resize(values);
  place_elements(c, image.subspan(1), list, image_list::coordinates);
  const std::uint32_t width = ptx::size_of(element_type(c, value));
  const std::uint32_t handle = c.operand_slot(image[0]);
  decoded& d = c.emit(load                        ? &run_surface_load
                      : i.op == ptx::opcode::sust ? &run_surface_store
                                                  : &run_surface_reduction);
  d.slots[1] = handle;
  d.result_size = static_cast<std::uint8_t>(width ? width : ptx::size_of(i.types[0]));
  d.list = static_cast<std::uint32_t>(c.out.lists.size());
  c.out.lists.insert(c.out.lists.end(), list.begin(), list.end());
  return true;
}

}}}  // namespace nogpu::v1::machine::detail
