// Handlers that move matrices between memory and registers: wmma.load, wmma.store, ldmatrix,
// stmatrix, and movmatrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <nogpu/machine/access_checks.hpp>
#include <nogpu/machine/handlers/matrix_lanes.hpp>
#include <nogpu/machine/memory_access.hpp>
#include <nogpu/ptx/ir.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

/// Finds bytes of a matrix, which are in shared memory, or in global memory for wmma. Null: a
/// fault, noted in the warp.
inline located locate_matrix(warp& w, const decoded& d, unsigned lane, address a,
                             std::uint32_t size, access_kind kind) {
  const auto where = static_cast<space>(d.option);
  const located at = where == space::shared   ? locate<space::shared>(w, d, lane, a, size, kind)
                     : where == space::global ? locate<space::global>(w, d, lane, a, size, kind)
                                              : locate<space::generic>(w, d, lane, a, size, kind);
  const bool wmma = ptx::is_wmma(d.source->op);
  if (at.bytes == nullptr || at.shared || (wmma && at.global)) return at;
  return refuse(w, fault_kind::wrong_space, lane, a, size, kind,
                wmma ? "the matrix must be in global or shared memory"
                     : "the matrix must be in shared memory");
}

/// Copies `size` bytes, 8 or 16, from memory.
inline bool read_piece(warp& w, const decoded& d, unsigned lane, address a, std::uint32_t size,
                       std::byte* to) {
  const located at = locate_matrix(w, d, lane, a, size, access_kind::read);
  if (at.bytes == nullptr || !note_read(w, d, lane, at, a, size, access_class::plain)) return false;
  for (std::uint32_t i = 0; i < size; i += 8) {
    const auto word = fetch<std::uint64_t>(at, i);
    std::memcpy(to + i, &word, 8);
  }
  return true;
}

inline bool write_piece(warp& w, const decoded& d, unsigned lane, address a, std::uint32_t size,
                        const std::byte* from) {
  const located at = locate_matrix(w, d, lane, a, size, access_kind::write);
  if (at.bytes == nullptr || !note_write(w, d, lane, at, from, size, access_class::plain))
    return false;
  for (std::uint32_t i = 0; i < size; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, from + i, 8);
    put(at, i, word);
  }
  return true;
}

/// A matrix in memory: lines of consecutive elements, rows or columns.
struct matrix_lines {
  const fragment_plan& fragment;
  bool along;  // a line is a row of the plan's order
  std::uint32_t bits;
  std::uint32_t count, line_bytes;
  std::byte bytes[1024];

  matrix_lines(const fragment_plan& f, bool is_along)
      : fragment{f},
        along{is_along},
        bits{f.element == ptx::type::b1 ? 32 : ptx::element_bits(f.element)},
        count{along ? f.rows : f.length},
        line_bytes{(along ? f.length : f.rows) * bits / 8} {}

  std::uint32_t bit_of(std::uint32_t position) const {
    const std::uint32_t row = position / fragment.length, at = position % fragment.length;
    return along ? row * line_bytes * 8 + at * bits : at * line_bytes * 8 + row * bits;
  }
  template <class T> T get(std::uint32_t position) const {
    const std::uint32_t bit = bit_of(position);
    T value{};
    std::memcpy(&value, bytes + bit / 8, bits < 8 ? 1 : bits / 8);
    return static_cast<T>(value >> bit % 8);
  }
  template <class T> void set(std::uint32_t position, T value) {
    std::memcpy(bytes + bit_of(position) / 8, &value, bits / 8);
  }
};

/// Reads or writes the lines piece by piece, each by a lane of its own. The address and the stride
/// are those of the first lane; all lanes have the same.
template <class Access>
inline bool access_lines(warp& w, const party& p, matrix_lines& lines, Access access) {
  const decoded& d = *p.instruction;
  const address base = address_of(p.registers, d, 0, 0);
  const bool strided = d.slots[1] != no_slot;
  const std::uint64_t stride = strided ? read_lane<std::uint32_t>(p.registers, d.slots[1], 0) : 0;
  for (unsigned lane = 1; lane < warp_size; ++lane)
    if (address_of(p.registers, d, 0, lane) != base ||
        (strided && read_lane<std::uint32_t>(p.registers, d.slots[1], lane) != stride))
      return fail_together(w, p, fault_kind::illegal_instruction, lane,
                           "the address or the stride is not the same in all lanes");
  const std::uint32_t element =
      lines.fragment.element == ptx::type::b1 ? 1 : lines.bits;  // in which the stride counts
  const std::uint64_t step = strided ? stride * element / 8 : lines.line_bytes;
  const std::uint32_t size = lines.line_bytes < 16 ? lines.line_bytes : 16;
  unsigned lane = 0;
  for (std::uint32_t line = 0; line < lines.count; ++line)
    for (std::uint32_t at = 0; at < lines.line_bytes; at += size, lane = (lane + 1) % warp_size)
      if (!access(d, lane, base + line * step + at, size,
                  lines.bytes + line * lines.line_bytes + at))
        return fail_together(w, p);
  return true;
}

/// The fragment that a load or store is about, and whether its lines are rows of the plan's order.
inline const fragment_plan& moved_fragment(const matrix_plan& plan, ptx::opcode op) {
  return op == ptx::opcode::wmma_load_a ? plan.a : op == ptx::opcode::wmma_load_b ? plan.b : plan.c;
}
inline bool lies_along(const ptx::instruction& i) {
  return i.with.a_columns == (i.op == ptx::opcode::wmma_load_b);
}

/// wmma.load: slots address, stride.
inline bool load_fragment(warp& w, std::span<const party> parties, lane_mask present) {
  if (!is_whole(w, parties, present)) return false;
  const party& p = parties[0];
  const ptx::instruction& i = *p.instruction->source;
  const fragment_plan& f = moved_fragment(plan_of(p), i.op);
  matrix_lines lines(f, lies_along(i));
  const lowered_function* const running = std::exchange(w.function, p.in->function);
  if (!access_lines(w, p, lines,
                    [&](const decoded& d, unsigned lane, address a, std::uint32_t size,
                        std::byte* bytes) { return read_piece(w, d, lane, a, size, bytes); }))
    return false;
  w.function = running;
  const std::uint32_t* const slots = slots_of(p);
  if (f.element != ptx::type::f64) {
    set_elements(p.registers, slots, f,
                 [&](std::uint32_t at) { return lines.get<std::uint32_t>(at); });
    return true;
  }
  for (std::uint32_t reg = 0; reg < f.registers; ++reg)
    for (unsigned lane = 0; lane < warp_size && slots[reg] != no_slot; ++lane)
      write_lane(p.registers, slots[reg], lane, lines.get<std::uint64_t>(f.of(reg, lane)[0]));
  return true;
}

/// wmma.store: slots address, stride.
inline bool store_fragment(warp& w, std::span<const party> parties, lane_mask present) {
  if (!is_whole(w, parties, present)) return false;
  const party& p = parties[0];
  const ptx::instruction& i = *p.instruction->source;
  const fragment_plan& f = plan_of(p).c;
  matrix_lines lines(f, lies_along(i));
  const std::uint32_t* const slots = slots_of(p);
  if (f.element != ptx::type::f64) {
    each_element(p.registers, slots, f,
                 [&](std::uint32_t at, std::uint32_t bits) { lines.set(at, bits); });
  } else {
    for (std::uint32_t reg = 0; reg < f.registers; ++reg)
      for (unsigned lane = 0; lane < warp_size; ++lane)
        lines.set(f.of(reg, lane)[0], read_lane<std::uint64_t>(p.registers, slots[reg], lane));
  }
  const lowered_function* const running = std::exchange(w.function, p.in->function);
  if (!access_lines(
          w, p, lines,
          [&](const decoded& d, unsigned lane, address a, std::uint32_t size,
              const std::byte* bytes) { return write_piece(w, d, lane, a, size, bytes); }))
    return false;
  w.function = running;
  return true;
}

/// 8 x 8 matrices of 16-bit elements. A lane has two of row lane / 4, or of that column.
struct small_matrix {
  std::uint16_t elements[8][8];

  std::uint32_t pair(unsigned lane, bool transposed) const {
    const unsigned line = lane / 4, at = lane % 4 * 2;
    return transposed ? elements[at][line] | std::uint32_t{elements[at + 1][line]} << 16
                      : elements[line][at] | std::uint32_t{elements[line][at + 1]} << 16;
  }
  void set_pair(unsigned lane, bool transposed, std::uint32_t bits) {
    const unsigned line = lane / 4, at = lane % 4 * 2;
    (transposed ? elements[at][line] : elements[line][at]) = static_cast<std::uint16_t>(bits);
    (transposed ? elements[at + 1][line] : elements[line][at + 1]) =
        static_cast<std::uint16_t>(bits >> 16);
  }
};

/// ldmatrix and stmatrix: slot address; the list has the registers. Lane 8 * i + r has the address
/// of row r of matrix i.
template <bool Load>
inline bool move_small_matrices(warp& w, std::span<const party> parties, lane_mask present) {
  if (!is_whole(w, parties, present)) return false;
  const party& p = parties[0];
  const decoded& d = *p.instruction;
  const bool transposed = d.source->with.transposed;
  const std::uint32_t* const slots = p.in->function->lists.data() + d.list;
  const lowered_function* const running = std::exchange(w.function, p.in->function);
  small_matrix all[4];
  for (std::uint32_t i = 0; i < d.count && !Load; ++i)
    for (unsigned lane = 0; lane < warp_size; ++lane)
      all[i].set_pair(lane, transposed, read_lane<std::uint32_t>(p.registers, slots[i], lane));
  for (unsigned lane = 0; lane < 8u * d.count; ++lane) {
    const address a = address_of(p.registers, d, 0, lane);
    auto* const row = reinterpret_cast<std::byte*>(all[lane / 8].elements[lane % 8]);
    if (!(Load ? read_piece(w, d, lane, a, 16, row) : write_piece(w, d, lane, a, 16, row)))
      return fail_together(w, p);
  }
  w.function = running;
  for (std::uint32_t i = 0; i < d.count && Load; ++i)
    for (unsigned lane = 0; lane < warp_size && slots[i] != no_slot; ++lane)
      write_lane(p.registers, slots[i], lane, all[i].pair(lane, transposed));
  return true;
}

/// movmatrix: slots d, a.
inline bool transpose_small_matrix(warp& w, std::span<const party> parties, lane_mask present) {
  if (!is_whole(w, parties, present)) return false;
  const party& p = parties[0];
  small_matrix m;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    m.set_pair(lane, false, read_lane<std::uint32_t>(p.registers, p.instruction->slots[1], lane));
  for (unsigned lane = 0; lane < warp_size; ++lane)
    write_lane(p.registers, p.instruction->slots[0], lane, m.pair(lane, true));
  return true;
}

}}}  // namespace nogpu::v1::machine::detail
