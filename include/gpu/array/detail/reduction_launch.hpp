#pragma once
/// \file
/// Runs the kernels of one reduction, whose map is an expression.

#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_arguments.hpp>
#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_launch.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_text.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/detail/reduction_part.hpp>
#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_plan.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A reduction of an expression that has none in it.
struct reduction_step {
  sequence<expression_word> words;        ///< of the operand
  expression_word part[reduction_words];  ///< of the reduction
  int rank = 0;                           ///< of the operand, as the others
  std::size_t extents[most_axes];
  loop_operand out;                     ///< where the results go
  device_buffer<unsigned char> memory;  ///< of the results

  reduction_part reduction() const noexcept { return {part}; }
  element_kind kind() const noexcept { return header_at(part).kind; }
  expression_ref operand() const noexcept {
    return {words.data(), words.size(), element_kind::none, rank};
  }
  std::size_t count() const noexcept { return saturated_product(extents, rank); }
  const named_reduction& texts() const noexcept { return reduction().texts(count()); }
};

/// The name of the parameter that a variance has beside its elements.
inline constexpr char correction_name[] = "correction";

/// Describes the kernels of a reduction.
inline result<> describe_reduction(const evaluation& call, const expression_layout& layout,
                                   const reduction_step& step, named_kernels& made) {
  const named_reduction& from = step.texts();
  snippet& code = made.code;
  describe_combination(made, from);
  expression_writer writer(layout);
  writer.write_map(step.operand(), from.map, without_front(from.kernel, sizeof "gpu_" - 1));
  text_builder names;
  add_slots(layout, writer, code, names);
  if (from.parameters[1].type.bytes != 0) {
    add_parameter(code, names, parameter_kind::number, false, from.parameters[1].type,
                  required(text(correction_name)));
  }
  GPU_TRY(finish_snippet(call, writer, names, code));
  text_builder preamble;
  preamble << code.preamble << from.preamble;
  code.preamble = required(preamble.finish());
  made.uses = uses_of_slots(layout, writer, code);
  return {};
}

/// Sets `order` to the kept axes of an operand and then the others, and `segments` to how many
/// elements the result has. Returns whether the order is another than that of the operand.
inline bool order_kept_first(const reduction_step& step, int* order,
                             std::size_t& segments) noexcept {
  int used = 0;
  segments = 1;
  for (const bool reduced : {false, true}) {
    for (int axis = 0; axis < step.rank; ++axis) {
      if (step.reduction().has_axis(axis) != reduced) continue;
      order[used++] = axis;
      if (!reduced) segments = saturated_product(segments, step.extents[axis]);
    }
  }
  for (int k = 0; k < used; ++k) {
    if (order[k] != k) return true;
  }
  return false;
}

/// Changes a plan to the kernel that takes every layout. The order of the combination stays.
inline void plan_generally(const loop_call& loop, reduction_plan& plan) noexcept {
  const loop_form before = plan.form;
  plan.form = general_form(loop, plan.axes);
  plan.form.width = before.width;
  plan.form.groups = reduction_groups;
  plan.form.in_warps = before.in_warps;
}

/// Finds the kernels for the layouts of a call's arguments.
inline result<const untyped_kernel*> find_reduction_form(const evaluation& call,
                                                         const loop_call& loop,
                                                         reduction_plan& plan) {
  const kernel_store& kernels = loop.state.kernels;
  const device on = call.stream.device();
  if (const untyped_kernel* const known = kernels.known(on, plan.form.key())) return known;
  if (kernels.size() >= most_forms) {
    plan_generally(loop, plan);
    if (const untyped_kernel* const known = kernels.known(on, plan.form.key())) return known;
  }
  GPU_TRY(require_prepared(call, "the kernel of a reduction for these layouts"));
  return find_kernel(loop.state, on, plan.form, call.where);
}

/// Adds a reduction to the key of a layout.
inline void add_reduction_key(const reduction_step& step, expression_layout& layout) noexcept {
  layout.add_repeats_key();
  layout.add_key_pointer(reinterpret_cast<std::uintptr_t>(&step.texts()));
}

/// Returns whether results are written to elements that the operand has, too.
inline bool overlaps_operand(const expression_layout& layout, const expression_arguments& arguments,
                             const reduction_step& step) noexcept {
  std::size_t view = 0;
  for (std::size_t s = 0; s < layout.slot_count; ++s) {
    const word_header header = layout.slots[s].header();
    if (header.what != opcode::view) continue;
    const loop_operand& read = arguments.view(view++);
    const std::size_t bytes = facts_of(step.kind()).bytes;
    if (layout.slots[s].is_taken() ? may_take_written(layout.slots[s], read, step.out, bytes)
                                   : overlap(step.out, bytes, read, facts_of(header.kind).bytes))
      return true;
  }
  return false;
}

/// Runs a reduction into `step.out`, or compiles its kernels. Returns false, and does nothing, if
/// that overlaps the operand.
inline result<bool> run_reduction_step(const evaluation& call, const reduction_step& step,
                                       evaluation_step what) {
  const evaluation_work work;
  if (!work) return fail(evaluation_work::no_memory(call));
  expression_layout& layout = work.layout();
  expression_arguments& arguments = work.arguments();
  GPU_TRY(add_expression(call, step.operand(), layout));
  loop_operand shape;
  shape.rank = step.rank;
  for (int axis = 0; axis < step.rank; ++axis) shape.extents[axis] = step.extents[axis];
  shape.memory.count = step.count();
  int order[most_axes];
  std::size_t segments = 1;
  const bool turns = order_kept_first(step, order, segments);
  const bool has_correction = step.texts().parameters[1].type.bytes != 0;
  if (!arguments.add_slots(layout, shape, turns ? order : nullptr) ||
      (has_correction && !arguments.add_number(step.reduction().correction())))
    return refuse_operands(call);
  if (overlaps_operand(layout, arguments, step)) return false;
  add_reduction_key(step, layout);
  structure_kernels<named_kernels>& kernels =
      *GPU_TRY(find_structure<named_kernels>(call, layout, [&](named_kernels& made) {
        return describe_reduction(call, layout, step, made);
      }));
  const loop_call loop{kernels.loops, call.stream, call.where, arguments.arguments()};
  std::size_t elements = 0;
  bool any = false;
  GPU_TRY(check_operands(loop, elements, any));
  if (layout.has_index_checks && what == evaluation_step::run)
    GPU_TRY(check_taken_indices(call, step.operand()));
  const reduction_output output{"out", step.out, facts_of(step.kind()).bytes};
  GPU_TRY(require_usable(loop, output));
  reduction_target target;
  GPU_TRY(find_target(loop, output, target));
  if (segments == 0) return true;
  reduction_plan plan;
  plan_reduction(loop, segments, step.count(), plan);
  const untyped_kernel* const found = GPU_TRY(find_reduction_form(call, loop, plan));
  if (what == evaluation_step::run) GPU_TRY(launch_reduction(loop, plan, found, &target));
  return true;
}

/// Returns the text of the kernels of a reduction, for operands that are contiguous and aligned.
inline result<text> write_reduction_source(const evaluation& call, const reduction_step& step) {
  expression_layout layout;
  GPU_TRY(add_expression(call, step.operand(), layout));
  named_kernels made;
  GPU_TRY(describe_reduction(call, layout, step, made));
  loop_form form = form_of_reduction(usual_form(made), 1, 0);
  if (made.code.widest_element == 0) form.groups = 1;
  return source_of(made, form);
}

}}}  // namespace gpu::v1::detail
