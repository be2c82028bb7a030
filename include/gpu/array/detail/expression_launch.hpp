#pragma once
/// \file
/// Runs expressions: finds or compiles the kernel, and launches it.

#include <gpu/algorithm/elementwise/elementwise_kernel.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_arguments.hpp>
#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/known_launches.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/detail/shared_kernel.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_patch.hpp>
#include <gpu/generated/loop_plan.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/shape_text.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <gpu/core/detail/size_product.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Whether an expression is run, or only its kernel compiled.
enum class evaluation_step : unsigned char {
  run,      ///< the kernel is compiled if need be, and launched
  prepare,  ///< the kernel is compiled
};

/// The largest number of kernels of one structure before the one that takes every layout.
inline constexpr std::size_t most_forms = 8;

/// Fails with both shapes if an expression cannot be repeated to the shape of `out`.
inline result<> require_target(const evaluation& call, const expression_layout& layout,
                               const loop_operand& out) noexcept {
  if (out.fault) return fail(fault_error(out.fault, call.function, "out", call.where));
  bool fits = layout.rank <= out.rank;
  for (int axis = 0; fits && axis < layout.rank; ++axis) {
    const std::size_t extent = layout.extents[axis];
    fits = extent == 1 || extent == out.extents[axis + out.rank - layout.rank];
  }
  if (fits) return {};
  text_builder text;
  text << "cannot broadcast ";
  write_extents(text, layout.extents, layout.rank);
  text << " to ";
  write_extents(text, out.extents, out.rank);
  text << ". Axes are compared from the last one on, and have the same extent, or 1 in the source.";
  return refuse_evaluation(call, errc::size_mismatch, text);
}

/// Fails if the stream is being captured, since a kernel would have to be compiled.
inline result<> require_prepared(const evaluation& call, const char* what) noexcept {
  bool captured = false;
  GPU_TRY(get_captured(call.stream, captured, call.where));
  if (!captured) return {};
  text_builder out;
  out << "the stream is being captured, and " << what
      << " is not compiled yet. Call gpu::prepare with the same arguments before the capture.";
  return refuse_evaluation(call, errc::capture_prohibited, out);
}

/// Changes a form to the one that takes every layout: all operands are views of 8 axes.
inline loop_form general_form(const loop_call& call, merged_axes& axes) noexcept {
  loop_form form = usual_form(call.state);
  form.wide = true;
  form.width = form.aligned = 1;
  form.groups = 4;
  form.rank = axes.rank = most_axes;
  axes.view_count = 0;
  for (std::size_t p = 0; p < call.count(); ++p) {
    const loop_operand* const own = call.operand(p);
    if (own == nullptr) continue;
    form.views |= 1u << p;
    const int missing = most_axes - own->rank;
    for (int axis = 0; axis < most_axes; ++axis) {
      axes.extents[axis] = axis < missing ? 1 : own->extents[axis - missing];
      axes.strides[axes.view_count][axis] = axis < missing ? 0 : own->strides[axis - missing];
    }
    ++axes.view_count;
  }
  return form;
}

/// Finds the kernel for the layouts of a call's arguments.
inline result<const untyped_kernel*> find_form(const evaluation& call, const loop_call& loop,
                                               const expression_arguments& arguments,
                                               const loop_form& usual, std::size_t count,
                                               loop_form& form, merged_axes& axes) {
  const bool by_element = atomic_load<memory_order::relaxed>(loop.state.by_element);
  if (arguments.are_plain() && by_element && count <= 0x7000'0000) {
    form = usual;
  } else {
    form = choose_form(loop, count, axes);
    choose_patch(loop, form, axes);
    if (form.patch_axis == 0) form = spread_groups(form);
  }
  const kernel_store& kernels = loop.state.kernels;
  const device on = call.stream.device();
  if (const untyped_kernel* const known = kernels.known(on, form.key())) return known;
  if (kernels.size() >= most_forms) {
    form = general_form(loop, axes);
    if (const untyped_kernel* const known = kernels.known(on, form.key())) return known;
  }
  GPU_TRY(require_prepared(call, "the kernel of this expression for these layouts"));
  return find_kernel(loop.state, on, form, call.where);
}

/// Fails if the memory of an argument cannot be used on the stream.
inline result<> require_memory(const loop_call& call) noexcept {
  const context_ref context = call.stream.context();
  for (std::size_t p = 0; p < call.count(); ++p) {
    const loop_operand* const operand = call.operand(p);
    if (operand == nullptr || is_usable(operand->memory, call.code().parameters[p].type, context))
      continue;
    GPU_TRY(require_usable(call, p));
  }
  return {};
}

/// Launches the kernel of expressions that have been taken apart.
inline result<> launch_expression(const evaluation& call, expression_layout& layout,
                                  const expression_target* targets, std::size_t count,
                                  const expression_arguments& arguments, evaluation_step step) {
  layout.add_repeats_key();
  for (std::size_t t = 0; t < count; ++t)
    layout.add_key(static_cast<std::uint32_t>(targets[t].kind));
  expression_kernels& kernels = *GPU_TRY(find_expression(call, layout, targets, count));
  const loop_call loop{kernels.loops, call.stream, call.where, arguments.arguments()};
  const loop_operand& out = *targets[0].out;
  GPU_TRY(require_memory(loop));
  if (layout.has_index_checks && step == evaluation_step::run) {
    for (std::size_t t = 0; t < count; ++t)
      GPU_TRY(check_taken_indices(call, targets[t].expression));
  }
  const std::size_t elements = out.memory.count;
  if (elements == 0) return {};
  // Operands have been compared with the results, but not these with each other.
  const bool one_by_one = out.contiguous || !shares_within(out, facts_of(targets[0].kind).bytes);
  if (count > 1 || !one_by_one) GPU_TRY(require_no_overlap(loop));
  merged_axes axes;
  loop_form form;
  const untyped_kernel* const kernel =
      GPU_TRY(find_form(call, loop, arguments, kernels.usual, elements, form, axes));
  if (step == evaluation_step::prepare) return {};
  const std::size_t blocks = count_blocks(loop.code(), form, axes, elements);
  GPU_TRY(require_grid(call.function, blocks, elements, call.where));
  auto n = static_cast<long long>(elements);
  loop_arguments packed(loop, axes, form);
  packed.add(&n);
  if (count == 1 && !layout.has_index_checks)
    known_launches::keep(call, targets[0], *kernel, static_cast<std::uint32_t>(blocks), packed);
  return launch_generated(call.stream, {static_cast<std::uint32_t>(blocks), loop_threads}, *kernel,
                          packed.pointers(), call.where);
}

/// Returns whether a kernel would read an element that another of its threads has written.
inline bool overlaps_operands(const expression_layout& layout,
                              const expression_arguments& arguments,
                              const expression_target& target) noexcept {
  std::size_t view = 0;
  for (std::size_t s = 0; s < layout.slot_count; ++s) {
    const word_header header = layout.slots[s].header();
    if (header.what != opcode::view) continue;
    const loop_operand& read = arguments.view(view++);
    const std::size_t bytes = facts_of(target.kind).bytes;
    if ((header.flags & taken_flag) != 0
            ? may_take_written(layout.slots[s], read, *target.out, bytes)
            : overlap_in_disorder(*target.out, bytes, read, facts_of(header.kind).bytes))
      return true;
  }
  return false;
}

/// Fails unless each of the results has the shape of the first.
inline result<> require_one_shape(const evaluation& call, const expression_target* targets,
                                  std::size_t count) noexcept {
  for (std::size_t t = 1; t < count; ++t) {
    if (same_shape(*targets[0].out, *targets[t].out)) continue;
    text_builder out;
    out << "the results have the shapes ";
    write_shape(out, *targets[0].out);
    out << " and ";
    write_shape(out, *targets[t].out);
    out << ". One kernel computes results of one shape; assign the others by themselves.";
    return refuse_evaluation(call, errc::size_mismatch, out);
  }
  return {};
}

/// Evaluates expressions into temporary arrays, and copies from there. What is assigned is
/// converted as if it had been evaluated before.
inline result<> run_by_copy(const evaluation& call, const expression_target* targets,
                            std::size_t count, evaluation_step step);

/// Evaluates expressions without reductions, each into its target, in one kernel. All targets have
/// the same shape. If elements that are written are read at other indices, by way of temporary
/// memory.
inline result<> run_in_one_kernel(const evaluation& call, const expression_target* targets,
                                  std::size_t count, evaluation_step step) {
  GPU_TRY(require(call.stream, call.function, call.where));
  const evaluation_work work;
  if (!work) return fail(evaluation_work::no_memory(call));
  expression_layout& layout = work.layout();
  expression_arguments& arguments = work.arguments();
  for (std::size_t t = 0; t < count; ++t)
    GPU_TRY(add_expression(call, targets[t].expression, layout));
  GPU_TRY(make_result(targets[0], layout));
  for (std::size_t t = 0; t < count; ++t) GPU_TRY(require_target(call, layout, *targets[t].out));
  GPU_TRY(require_one_shape(call, targets, count));
  if (!arguments.add(targets, count, layout)) return refuse_operands(call);
  bool overlaps = false;
  for (std::size_t t = 0; t < count; ++t)
    overlaps = overlaps || overlaps_operands(layout, arguments, targets[t]);
  if (!overlaps) return launch_expression(call, layout, targets, count, arguments, step);
  return run_by_copy(call, targets, count, step);
}

inline result<> run_by_copy(const evaluation& call, const expression_target* targets,
                            std::size_t count, evaluation_step step) {
  return catch_bad_alloc(call.function, call.where, [&]() -> result<> {
    sequence<device_buffer<unsigned char>> memory;
    sequence<loop_operand> copies;
    sequence<expression_target> first;
    copies.reserve(count);
    for (std::size_t t = 0; t < count; ++t) {
      const element_kind kind = targets[t].expression.kind;
      loop_operand copy = *targets[t].out;
      memory.push_back(GPU_TRY(
          allocate_workspace(call.stream, copy.memory.count * facts_of(kind).bytes, call.where)));
      const std::size_t elements = copy.memory.count;
      copy.memory = copy_end_of(memory.back());
      copy.memory.count = elements;
      copy.contiguous = true;
      set_dense_strides(copy.extents, copy.strides, copy.rank);
      copies.push_back(copy);
      first.push_back({targets[t].expression, &copies.back(), kind});
    }
    GPU_TRY(run_in_one_kernel(call, first.data(), count, step));
    for (std::size_t t = 0; t < count; ++t) {
      expression_word words[view_words + 2 * most_axes];
      put_view(words, first[t].kind, copies[t]);
      const expression_ref copy{words, view_words + 2 * static_cast<std::size_t>(copies[t].rank),
                                first[t].kind, copies[t].rank};
      const expression_target second{copy, targets[t].out, targets[t].kind};
      GPU_TRY(run_in_one_kernel(call, &second, 1, step));
    }
    return {};
  });
}

/// Returns the text of the kernel of an expression without reductions, for operands that are
/// contiguous and aligned.
inline result<text> write_kernel_source(const evaluation& call, const expression_ref& expression) {
  expression_layout layout;
  GPU_TRY(add_expression(call, expression, layout));
  return catch_bad_alloc(call.function, call.where, [&]() -> result<text> {
    expression_kernels made;
    const expression_target target{expression, nullptr, expression.kind};
    GPU_TRY(describe_expression(call, layout, &target, 1, made.loops));
    return source_of(made.loops, spread_groups(usual_form(made.loops)));
  });
}

}}}  // namespace gpu::v1::detail
