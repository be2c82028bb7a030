#pragma once
/// \file
/// Writes the text of an elementwise kernel, and launches it.

#include <gpu/algorithm/detail/kernel_store.hpp>
#include <gpu/algorithm/detail/loop_call.hpp>
#include <gpu/algorithm/detail/loop_form.hpp>
#include <gpu/algorithm/detail/loop_operands.hpp>
#include <gpu/algorithm/detail/loop_patch.hpp>
#include <gpu/algorithm/detail/loop_plan.hpp>
#include <gpu/algorithm/detail/loop_text.hpp>
#include <gpu/algorithm/detail/snippet.hpp>
#include <gpu/algorithm/detail/snippet_access.hpp>
#include <gpu/algorithm/snippet_options.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/slice.hpp>

#include <cstddef>
#include <cstdint>

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

/// Returns the indices below `size` that a slice selects.
/// **Errors**: `errc::invalid_argument` for a step of 0.
inline result<index_sequence> resolve_slice(const char* function, const slice& s, std::size_t size,
                                            source_location where) noexcept {
  if (s.step != 0) return select_indices(s, size);
  return fail(refusal(errc::invalid_argument, function,
                      text("the step of a slice is 0, so it would never end. Pass a step of 1 or "
                           "more, or a negative one to go backwards."),
                      where));
}

/// Does what `run_elementwise` does.
inline result<> run_elementwise_here(const loop_call& call, const slice* range) {
  const snippet& code = call.code();
  GPU_TRY(require(call.stream, code.function, call.where));
  std::size_t count = 0;
  bool any = false;
  GPU_TRY(check_operands(call, count, any));
  index_sequence indices;
  if (range != nullptr) {
    const std::size_t size = any ? count : static_cast<std::size_t>(to_end);
    indices = GPU_TRY(resolve_slice(code.function, *range, size, call.where));
  } else if (!any) {
    return fail(refusal(errc::invalid_argument, code.function,
                        text("no parameter says how many elements there are. Call over(stream, "
                             "gpu::slice(0, count), ...)."),
                        call.where));
  }
  const std::size_t work = range != nullptr ? indices.count : count;
  if (work == 0) return {};
  merged_axes axes;
  loop_form form = choose_form(call, count, axes);
  if (range != nullptr) {
    form.sliced = true;
    form.by_element = false;
    form.width = form.aligned = form.groups = 1;
  } else {
    if (form.views != 0) choose_patch(call, form, axes);
    if (form.patch_axis == 0) form = spread_groups(form, call.state.groups);
  }
  const untyped_kernel* const kernel =
      GPU_TRY(find_kernel(call.state, call.stream.device(), form, call.where));
  const std::size_t blocks = count_blocks(code, form, axes, work);
  GPU_TRY(require_grid(code.function, blocks, work, call.where));
  long long start = indices.start, step = indices.step, steps = static_cast<long long>(work);
  long long n = static_cast<long long>(any ? count : work);
  loop_arguments arguments(call, axes, form);
  if (form.sliced) {
    arguments.add(&start);
    arguments.add(&step);
    arguments.add(&steps);
  }
  arguments.add(&n);
  return launch_generated(call.stream, {static_cast<std::uint32_t>(blocks), loop_threads}, *kernel,
                          arguments.pointers(), call.where);
}

/// Does what `describe_elementwise` does.
inline result<> describe_elementwise_here(loop_state& state, string_ref names, string_ref body,
                                          const snippet_options& options, source_location where) {
  GPU_TRY(describe_snippet(state.code, names, body, options, where));
  state.uses = find_uses(state.code);
  state.write = &write_elementwise;
  return {};
}

#if defined(GPU_ARRAY_COMPILED)
cuda_error describe_elementwise_compiled(loop_state& state, string_ref names, string_ref body,
                                         const snippet_options& options, source_location where);
cuda_error run_elementwise_compiled(const loop_call& call, const slice* range);
#endif

/// Fills in the snippet of an elementwise kernel, whose function and types of parameters are set.
inline result<> describe_elementwise(loop_state& state, string_ref names, string_ref body,
                                     const snippet_options& options, source_location where) {
#if defined(GPU_ARRAY_COMPILED)
  return result_of_error(describe_elementwise_compiled(state, names, body, options, where));
#else
  return describe_elementwise_here(state, names, body, options, where);
#endif
}

/// Launches the kernel over all elements, or over a slice of the indices.
inline result<> run_elementwise(const loop_call& call, const slice* range) {
#if defined(GPU_ARRAY_COMPILED)
  return result_of_error(run_elementwise_compiled(call, range));
#else
  return run_elementwise_here(call, range);
#endif
}

}}}  // namespace gpu::v1::detail
