#pragma once
/// \file
/// Writes the text of an elementwise kernel, and chooses its blocks.

#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_patch.hpp>
#include <gpu/generated/loop_text.hpp>
#include <gpu/generated/snippet.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns whether the blocks of a form take tiles in turns, and try the quick way first.
inline bool takes_turns(const snippet& s, const loop_form& form) noexcept {
  return !s.quick.empty() && form.patch_axis == 0 && !form.sliced;
}

/// Writes what a thread does with its element of a slice.
inline void write_slice(loop_writer& out, const snippet& s) {
  out.write_element_function("gpu_run", "operation", s.body, nullptr);
  out.code() << "  const long long gpu_at = blockIdx.x * " << loop_threads
             << "ll + threadIdx.x;\n"
                "  if (gpu_at < gpu_count) gpu_run(gpu_start + gpu_at * gpu_step);\n";
}

/// Writes the functions of groups that patches and tiles in turns are made of.
inline void write_group_functions(loop_writer& out, const snippet& s) {
  out.write_function("gpu_run", "operation", s.body, nullptr);
  out.write_moves(true);
  out.write_moves(false);
}

/// Writes what a thread does with its patch.
inline void write_patches(loop_writer& out, const snippet& s, const loop_form& form) {
  write_group_functions(out, s);
  out.write_patch_moves(true);
  out.write_patch_moves(false);
  out.code() << "  gpu::loops::run_patch<gpu_group, " << form.width << ", " << form.patch_axis - 1
             << ">(gpu_views, gpu_load_patch, gpu_store_patch, gpu_load, gpu_run, gpu_store);\n";
}

/// Writes the loop of blocks that take tiles in turns.
inline void write_turns(loop_writer& out, const snippet& s, const loop_form& form) {
  write_group_functions(out, s);
  out.code() << "  bool undecided = false;\n";
  out.write_function("gpu_quick", "quick", s.quick, nullptr);
  out.code() << "  gpu::loops::run_tiles<gpu_group, " << form.width << ", " << form.groups
             << ">(gpu_index(n), gpu_load, gpu_quick, undecided, gpu_run, gpu_store);\n";
}

/// Writes the blocks of whole tiles, and those behind them, whose threads have one element each.
/// Most kernels are of this form; without functions of groups they compile a sixth faster
/// (benchmarks/array/first_run.cpp).
inline void write_tiles(loop_writer& out, const snippet& s, const loop_form& form) {
  const std::size_t tile = form.tile();
  out.write_element_function("gpu_run", "operation", s.body, nullptr);
  out.code() << "  const gpu_index gpu_tiles = gpu_index(n) / " << tile
             << ";\n  const gpu_index gpu_single = gpu_tiles * " << tile - loop_threads
             << " + gpu_index(blockIdx.x) * " << loop_threads << " + threadIdx.x;\n  ";
  if (tile > loop_threads) {
    out.code() << "if (blockIdx.x < gpu_tiles) {\n"
                  "    const gpu_index gpu_first = gpu_index(blockIdx.x) * "
               << tile << " + threadIdx.x * " << form.width << ";\n";
    out.write_groups("gpu_run", "gpu_first", form.groups, form.width);
    out.code() << "  } else ";
  }
  out.code() << "if (gpu_single < gpu_index(n)) {\n";
  out.write_groups("gpu_run", "gpu_single", 1, 1);
  out.code() << "  }\n";
}

/// Writes the program of a form of the kernel.
inline void write_elementwise(const loop_state& state, const loop_form& form,
                              generated_program& program) {
  const snippet& s = state.code;
  loop_writer out(s, state.uses, form, program);
  out.write_head();
  if (takes_turns(s, form) || form.patch_axis != 0) out.write_group_type();
  out.write_signature(s.name, form.sliced ? "const long long gpu_start, const long long gpu_step, "
                                            "const long long gpu_count, "
                                          : "");
  out.add_users("before", s.before);
  if (form.sliced) {
    write_slice(out, s);
  } else if (form.patch_axis != 0) {
    write_patches(out, s, form);
  } else if (takes_turns(s, form)) {
    write_turns(out, s, form);
  } else {
    write_tiles(out, s, form);
  }
  out.add_users("after", s.after);
  out.code() << "}\n";
  out.finish();
}

/// The most blocks of a kernel that takes its tiles in turns: several times as many as a GPU runs
/// at once, so that all of it is busy to the end. Poisson numbers, of which each block prepares a
/// table, take as long with half or twice as many (benchmarks/random/random_numbers.cu).
inline constexpr std::size_t most_blocks_in_turns = 8192;

/// Returns the number of blocks for that many elements.
inline std::size_t count_blocks(const snippet& s, const loop_form& form, const merged_axes& axes,
                                std::size_t work) noexcept {
  if (form.patch_axis != 0) return patch_blocks(form, axes);
  const std::size_t tile = form.tile(), whole = work / tile, rest = work % tile;
  if (!takes_turns(s, form)) return whole + (rest + loop_threads - 1) / loop_threads;
  const std::size_t tiles = whole + (rest != 0);
  return tiles < most_blocks_in_turns ? tiles : most_blocks_in_turns;
}

/// Gives each thread as many elements as fill the full width: in one group, or in several that are
/// loaded one element at a time, so that neighboring threads load neighboring elements.
inline loop_form spread_groups(loop_form form, unsigned groups = 1) noexcept {
  form.groups = groups * form.width / form.aligned;
  form.width = form.aligned;
  if (!form.by_element) {
    form.groups = 4;
    form.width = form.aligned = 1;
  }
  return form;
}

}}}  // namespace gpu::v1::detail
