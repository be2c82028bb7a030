#pragma once
/// \file
/// `known_launches`: the last launches of assignments, so that one with the same operands is not
/// planned again.

#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_plan.hpp>
#include <gpu/kernel/kernel.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A launch of the kernel of an assignment. It holds for the same words, but for the values of
/// numbers, and the same `out`: the kernel, the grid and all checks follow from these and from the
/// device.
struct known_launch {
  static constexpr std::size_t most_words = 64, most_numbers = 12, most_arguments = 16;
  static constexpr std::size_t most_layout = 32;
  static constexpr std::uint16_t own_value = 0xffff, own_layout = 0xfffe;

  std::uint32_t busy = 0;  ///< 1 while a thread uses this
  std::uint32_t hash = 0;
  const untyped_kernel* kernel = nullptr;  ///< null if there is nothing here yet
  std::uint64_t generation = 0;            ///< of the driver table
  context_ref context;
  std::uint32_t blocks = 0;
  element_kind kind = element_kind::none;  ///< of the elements of `out`
  std::uint16_t word_count = 0, number_count = 0, argument_count = 0;
  std::uint16_t number_at[most_numbers] = {};
  std::uint16_t argument_at[most_arguments] = {};  ///< in the words, or where it is here
  expression_word words[most_words] = {};
  std::uint64_t values[most_arguments] = {};
  std::ptrdiff_t layout[most_layout] = {};
  CUdeviceptr out_address = 0;
  context_ref out_context;
  int out_rank = 0;
  std::size_t out_extents[most_axes] = {};
  std::ptrdiff_t out_strides[most_axes] = {};

  /// Returns whether this is the launch of an assignment.
  bool is_of(const evaluation& call, const expression_target& target,
             std::uint32_t wanted) const noexcept {
    const loop_operand& out = *target.out;
    const expression_ref& e = target.expression;
    if (hash != wanted || kernel == nullptr || word_count != e.count || kind != target.kind ||
        out_address != out.memory.address || out_rank != out.rank || out.fault ||
        out_context != out.memory.context || context != call.stream.context() ||
        generation != driver::entry_points_generation())
      return false;
    for (int axis = 0; axis < out.rank; ++axis) {
      if (out_extents[axis] != out.extents[axis] || out_strides[axis] != out.strides[axis])
        return false;
    }
    std::size_t from = 0;
    for (std::size_t n = 0; n <= number_count; ++n) {
      const std::size_t to = n < number_count ? number_at[n] + std::size_t{1} : word_count;
      if (__builtin_memcmp(words + from, e.words + from, (to - from) * sizeof *words) != 0)
        return false;
      from = to + number_words - 1;
    }
    return true;
  }

  /// Launches the kernel with the numbers of an expression.
  result<> run(const evaluation& call, const expression_ref& e) noexcept {
    void* pointers[most_arguments];
    for (std::size_t k = 0; k < argument_count; ++k) {
      const std::uint16_t at = argument_at[k];
      pointers[k] = at == own_value    ? static_cast<void*>(&values[k])
                    : at == own_layout ? static_cast<void*>(layout)
                                       : const_cast<expression_word*>(e.words + at);
    }
    return launch_generated(call.stream, {blocks, loop_threads}, *kernel, pointers, call.where);
  }

  /// Makes room for a launch of that hash.
  void forget(std::uint32_t next) noexcept {
    hash = next;
    kernel = nullptr;
  }

  /// Takes a launch of the same hash down, unless it has a leaf or is too large.
  void set(const evaluation& call, const expression_target& target, const untyped_kernel& launched,
           std::uint32_t grid, loop_arguments& packed) noexcept {
    const expression_ref& e = target.expression;
    const loop_operand& out = *target.out;
    kernel = nullptr;
    number_count = 0;
    if (packed.size() > most_arguments || packed.layout().bytes() > sizeof layout) return;
    for (std::size_t at = 0; at < e.count; at += header_at(e.words + at).words) {
      const opcode what = header_at(e.words + at).what;
      if (what == opcode::leaf || (what == opcode::number && number_count == most_numbers)) return;
      if (what == opcode::number) number_at[number_count++] = static_cast<std::uint16_t>(at);
    }
    for (std::size_t k = 0; k < packed.size(); ++k) {
      const void* const value = packed.pointers()[k];
      const auto* const word = static_cast<const expression_word*>(value);
      const bool is_word = word >= e.words && word < e.words + e.count;
      argument_at[k] = is_word ? static_cast<std::uint16_t>(word - e.words)
                       : value == packed.layout().address() ? own_layout
                                                            : own_value;
      if (argument_at[k] == own_value) __builtin_memcpy(&values[k], value, sizeof values[k]);
    }
    __builtin_memcpy(layout, packed.layout().address(), packed.layout().bytes());
    __builtin_memcpy(words, e.words, e.count * sizeof *words);
    argument_count = static_cast<std::uint16_t>(packed.size());
    word_count = static_cast<std::uint16_t>(e.count);
    generation = driver::entry_points_generation();
    context = call.stream.context();
    kind = target.kind;
    blocks = grid;
    out_address = out.memory.device_address();
    out_context = out.memory.context;
    out_rank = out.rank;
    for (int axis = 0; axis < out.rank; ++axis) {
      out_extents[axis] = out.extents[axis];
      out_strides[axis] = out.strides[axis];
    }
    kernel = &launched;
  }
};

/// The last launches of assignments, found by their operands. Nothing waits here: what another
/// thread is using is planned again. This saves two thirds of a repeated assignment
/// (benchmarks/array/evaluate_overhead).
class known_launches {
 public:
  /// Repeats the launch that was kept for these operands. Returns false if none was kept.
  static result<bool> run(const evaluation& call, const expression_target& target) noexcept {
    if (!is_kept(target)) return false;
    const std::uint32_t hash = hash_of(target);
    known_launch& own = launches[hash % count];
    if (atomic_exchange<memory_order::acquire>(own.busy, 1) != 0) return false;
    const bool found = own.is_of(call, target, hash);
    const result<> done = found ? own.run(call, target.expression) : result<>();
    atomic_store<memory_order::release>(own.busy, 0);
    if (!done.has_value()) return fail(done.error());
    return found;
  }

  /// Keeps a launch that has been planned, from the second time on: what never comes again is not
  /// written down.
  static void keep(const evaluation& call, const expression_target& target,
                   const untyped_kernel& kernel, std::uint32_t blocks,
                   loop_arguments& arguments) noexcept {
    if (!is_kept(target)) return;
    const std::uint32_t hash = hash_of(target);
    known_launch& own = launches[hash % count];
    if (atomic_exchange<memory_order::acquire>(own.busy, 1) != 0) return;
    if (own.hash == hash) {
      own.set(call, target, kernel, blocks, arguments);
    } else {
      own.forget(hash);
    }
    atomic_store<memory_order::release>(own.busy, 0);
  }

 private:
  static constexpr std::size_t count = 64;
  static known_launch launches[count];

  /// Not where memory is new, or the words are many.
  static bool is_kept(const expression_target& target) noexcept {
    return target.maker == nullptr && target.expression.count <= known_launch::most_words;
  }

  /// Of the operations, the addresses, and the number of elements.
  static std::uint32_t hash_of(const expression_target& target) noexcept {
    const expression_ref& e = target.expression;
    std::uint64_t hash = target.out->memory.address + (target.out->memory.count << 40);
    for (std::size_t at = 0; at < e.count;) {
      const word_header header = header_at(e.words + at);
      hash = (hash ^ e.words[at]) * 0x9e3779b97f4a7c15u;
      if (header.what == opcode::view) hash += e.words[at + 1];
      at += header.words;
    }
    return static_cast<std::uint32_t>(hash * 0x9e3779b97f4a7c15u >> 32);
  }
};
inline constinit known_launch known_launches::launches[count] = {};

}}}  // namespace gpu::v1::detail
