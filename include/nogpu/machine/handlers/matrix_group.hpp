// Handlers of wgmma.mma_async: products that the four warps of a warp group share. Each warp has 16
// rows of A and D; it multiplies them with 8 columns of B at a time, at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <nogpu/machine/access_checks.hpp>
#include <nogpu/machine/handlers/matrix_multiply.hpp>
#include <nogpu/machine/matrix_descriptor.hpp>
#include <nogpu/machine/memory_access.hpp>

namespace nogpu { inline namespace v1 { namespace machine::detail {

// Bits of `decoded::offset`.
inline constexpr std::int64_t group_negated = 1;  // A or B, not both
inline constexpr std::int64_t group_a_transposed = 2;
inline constexpr std::int64_t group_b_transposed = 4;

/// Notes that the warp executes a product of its group: all four warps have to execute the same
/// ones, in the same order. False: a fault.
inline bool join_warp_group(warp& w, const decoded& d) {
  block_state& block = *w.block;
  const std::uint32_t number = w.index / warp_group::size, mine = w.index % warp_group::size;
  const std::uint32_t first = number * warp_group::size;
  const auto wrong = [&](const std::string& text) {
    (void)fail(w, fault_kind::illegal_instruction, 0, text);
    return false;
  };
  if (block.warps.size() < first + warp_group::size)
    return wrong("a warp group has four warps: of those from " + std::to_string(first) +
                 " on, the block has " + std::to_string(block.warps.size() - first));
  if (block.warp_groups.size() <= number) block.warp_groups.resize(number + 1);
  warp_group& group = block.warp_groups[number];
  const std::uint32_t at = group.done[mine];
  if (at == group.begun.size()) {
    for (std::uint32_t n = first; n < first + warp_group::size; ++n)
      if (block.warps[n]->live == 0)
        return wrong("warp " + std::to_string(n) +
                     " of the warp group has ended: all four warps execute a product together");
    group.begun.push_back(&d);
  } else if (group.begun[at] != &d) {
    return wrong("another warp of the warp group executes the product of PTX line " +
                 std::to_string(group.begun[at]->source->line) +
                 " instead: all four warps execute the same");
  }
  ++group.done[mine];
  if (std::find(group.done.begin(), group.done.end(), 0u) == group.done.end()) {
    group.begun.pop_front();
    for (std::uint32_t& count : group.done) --count;
  }
  return true;
}

/// Reads `size` lines along k, rows of A or columns of B, from `first` on; two bytes of a line are
/// side by side. False: a fault, noted in the warp.
inline bool read_group_lines(warp& w, const decoded& d, std::uint64_t bits, bool transposed,
                             std::uint32_t first, std::uint32_t size, std::uint32_t pieces,
                             std::byte (*lines)[64]) {
  const matrix_descriptor where{bits};
  const auto read = [&](unsigned lane, std::uint32_t a, std::byte* to) {
    const located at = locate_shared(w, d, lane, a, 16, access_kind::read);
    if (at.bytes == nullptr || !note_read(w, d, lane, at, a, 16, access_class::plain)) return false;
    std::memcpy(to, at.bytes, 16);
    return true;
  };
  for (std::uint32_t n = 0; n < size && !transposed; ++n)
    for (std::uint32_t piece = 0; piece < pieces; ++piece)
      if (!read(n, where.along_k(first + n, piece), lines[n] + 16 * piece)) return false;
  for (std::uint32_t n = 0; n < size && transposed; n += 8)
    for (std::uint32_t k = 0; k < 8 * pieces; ++k) {
      std::byte both[16];
      if (!read(k, where.across_k((first + n) / 8, k), both)) return false;
      for (std::uint32_t i = 0; i < 8; ++i) std::memcpy(lines[n + i] + 2 * k, both + 2 * i, 2);
    }
  return true;
}

/// Reads the descriptor in a slot, which is the same in all lanes. False: a fault.
inline bool read_descriptor(warp& w, const party& p, unsigned slot, bool transposed,
                            std::uint64_t& bits) {
  const decoded& d = *p.instruction;
  const char* const name = slot == 0 ? "A" : "B";
  const auto wrong = [&](unsigned lane, const std::string& text) {
    (void)fail(w, fault_kind::illegal_instruction, lane,
               std::string("the matrix descriptor of ") + name + text);
    return false;
  };
  bits = read_lane<std::uint64_t>(p.registers, d.slots[slot], 0);
  for (unsigned lane = 1; lane < warp_size; ++lane)
    if (read_lane<std::uint64_t>(p.registers, d.slots[slot], lane) != bits)
      return wrong(lane, " is not the same in all lanes");
  if ((bits & matrix_descriptor::reserved) != 0)
    return wrong(0, ", " + hexadecimal(bits) + ", has bits outside of its fields, " +
                        hexadecimal(bits & matrix_descriptor::reserved) +
                        ": it is made from an address in shared memory, and offsets, in 16 bytes");
  if (slot == 1 && d.source->with.sparse && !transposed &&
      matrix_descriptor{bits}.row_pieces() == 2)
    return wrong(0, " has a swizzle of 32 bytes, but B has 64 bytes along k for a sparse A");
  return true;
}

/// Words of lanes, as registers have them.
struct group_words {
  static constexpr std::uint32_t slots[4] = {0, 128, 256, 384};
  std::byte bytes[512] = {};

  void set(std::uint32_t reg, unsigned lane, const std::byte* from, std::uint32_t flipped) {
    std::uint32_t word;
    std::memcpy(&word, from, 4);
    write_lane(bytes, slots[reg], lane, word ^ flipped);
  }
};

/// The sign bits of the elements in a word.
constexpr std::uint32_t signs_of(ptx::type element) {
  switch (ptx::element_bits(element)) {
    case 8: return 0x8080'8080u;
    case 16: return 0x8000'8000u;
    default: return 0x8000'0000u;
  }
}

/// Reads the warp's rows of A. False: a fault.
inline bool read_group_rows(warp& w, const party& p, const matrix_plan& plan, group_words& out) {
  const decoded& d = *p.instruction;
  const std::uint32_t flipped = (d.offset & group_negated) != 0 ? signs_of(plan.types[1]) : 0;
  if (d.slots[0] == no_slot) {
    const std::uint32_t* const slots = slots_of(p) + d.source->with.shape.n / 8u * plan.d.registers;
    for (std::uint32_t reg = 0; reg < 4; ++reg)
      for (unsigned lane = 0; lane < warp_size; ++lane)
        out.set(reg, lane, p.registers + slots[reg] + 4 * lane, flipped);
    return true;
  }
  const bool transposed = (d.offset & group_a_transposed) != 0;
  std::uint64_t bits = 0;
  std::byte lines[16][64];
  if (!read_descriptor(w, p, 0, transposed, bits) ||
      !read_group_lines(w, d, bits, transposed, w.index % warp_group::size * 16, 16, 2, lines))
    return false;
  for (std::uint32_t reg = 0; reg < 4; ++reg)
    for (unsigned lane = 0; lane < warp_size; ++lane)
      out.set(reg, lane, lines[lane / 4 + reg % 2 * 8] + reg / 2 * 16 + lane % 4 * 4, flipped);
  return true;
}

/// Multiplies the warp's rows of A with all columns of B. False: a fault.
inline bool multiply_group_rows(warp& w, const party& p) {
  const decoded& d = *p.instruction;
  const matrix_plan& plan = plan_of(p);
  if (!join_warp_group(w, d)) return false;
  const lane_mask adds = read_predicate(p.registers, d, 2);
  if (adds != 0 && adds != all_lanes) {
    (void)fail(w, fault_kind::illegal_instruction, 0,
               "lanes " + hexadecimal(adds) +
                   " add to D, the others do not: the predicate is the same in all lanes");
    return false;
  }
  const bool transposed = (d.offset & group_b_transposed) != 0;
  const std::uint32_t pieces = plan.sparse ? 4 : 2;
  group_words a, b;
  const group_words zeros;
  sparse_rows chosen;
  std::uint64_t bits = 0;
  if (!read_group_rows(w, p, plan, a) || !read_descriptor(w, p, 1, transposed, bits)) return false;
  if (plan.sparse && !read_sparse_rows(w, p, plan, chosen)) return false;
  for (std::uint32_t n = 0; n < d.source->with.shape.n; n += 8) {
    std::byte lines[8][64];
    if (!read_group_lines(w, d, bits, transposed, n, 8, pieces, lines)) return false;
    for (std::uint32_t reg = 0; reg < pieces; ++reg)
      for (unsigned lane = 0; lane < warp_size; ++lane)
        b.set(reg, lane, lines[lane / 4] + reg * 16 + lane % 4 * 4, 0);
    const std::uint32_t* const slots = slots_of(p) + n / 8 * plan.d.registers;
    matrix_operands o{plan,
                      *d.source,
                      {p.registers, slots},
                      {a.bytes, group_words::slots},
                      {b.bytes, group_words::slots},
                      {p.registers, slots}};
    if (adds == 0) o.c = {zeros.bytes, group_words::slots};
    if (plan.sparse) o.chosen = &chosen;
    multiply(o);
  }
  return true;
}

/// wgmma.mma_async: slots descriptors of A, or none, and of B, and the predicate that tells whether
/// D is added to; then the metadata of a sparse A. The list has the registers of D, and of A.
inline bool multiply_for_group(warp& w, std::span<const party> parties, lane_mask present) {
  if (!is_whole(w, parties, present)) return false;
  const lowered_function* const running = std::exchange(w.function, parties[0].in->function);
  if (!multiply_group_rows(w, parties[0])) return fail_together(w, parties[0]);
  w.function = running;
  return true;
}

/// Returns false if a warp that ends has not executed a product that others of its group have.
inline bool leave_warp_group(warp& w, const group& g) {
  const std::uint32_t number = w.index / warp_group::size, mine = w.index % warp_group::size;
  if (w.block->warp_groups.size() <= number) return true;
  const warp_group& group = w.block->warp_groups[number];
  if (group.done[mine] == group.begun.size()) return true;
  (void)fail(w, fault_kind::illegal_instruction, static_cast<unsigned>(std::countr_zero(g.lanes)),
             "warp " + std::to_string(w.index) + " ends without the product of PTX line " +
                 std::to_string(group.begun[group.done[mine]]->source->line) +
                 ": all four warps of a warp group execute it together");
  return false;
}

}}}  // namespace nogpu::v1::machine::detail
