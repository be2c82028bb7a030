#pragma once
/// \file
/// Runs a scan along an axis of an expression, whose elements are computed where they are loaded.

#include <gpu/algorithm/scan.hpp>
#include <gpu/algorithm/scan/scan_kernel.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_arguments.hpp>
#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_text.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/generated/snippet_options.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A scan of an expression that has no reduction in it.
struct cumulative_step {
  const char* combine;  ///< a constant: its address is a part of the key
  expression_ref operand;
  element_kind kind;  ///< of the results
  int axis;
  const loop_operand* out;  ///< of the shape of the operand
};

/// Describes the kernel.
inline result<> describe_cumulative(const evaluation& call, const expression_layout& layout,
                                    const cumulative_step& step, bool segmented, scan_state& made) {
  snippet& code = made.code;
  code.function = call.function;
  expression_writer writer(layout);
  writer.write_map(step.operand, "static_cast<gpu_value>(x[i])", "cumulative");
  text_builder names;
  add_parameter(code, names, parameter_kind::elements, true, type_of_kind(step.kind),
                required(text("out")));
  add_slots(layout, writer, code, names);
  if (segmented) {
    add_parameter(code, names, parameter_kind::number, false, element_type_of<long long>(),
                  required(text("length")));
    made.segment_start = required(text("i % length == 0"));
  }
  writer.finish();
  made.value = type_of_kind(computed_kind(step.kind));
  made.neutral = zero_value<long long>::bytes;
  made.map = writer.body;
  made.combine = required(text(step.combine));
  made.store = required(text("out[i] = item"));
  made.write = &write_scan;
  snippet_options options = options_of(writer);
  GPU_TRY(describe_scan(made, required(names.finish()), options, call.where));
  made.uses = uses_of_slots(layout, writer, code);
  made.uses[0].access = element_access::store;
  return {};
}

/// Scans along the last axis of the loop: the others are lines, each of which is a segment of the
/// elements in C order.
inline result<> run_cumulative(const evaluation& call, const cumulative_step& step) {
  const evaluation_work work;
  if (!work) return fail(evaluation_work::no_memory(call));
  expression_layout& layout = work.layout();
  expression_arguments& arguments = work.arguments();
  GPU_TRY(add_expression(call, step.operand, layout));
  loop_operand out = *step.out;
  if (layout.has_index_checks) GPU_TRY(check_taken_indices(call, step.operand));
  if (out.memory.count == 0) return {};
  int order[most_axes];
  int used = 0;
  for (int axis = 0; axis < out.rank; ++axis) {
    if (axis != step.axis) order[used++] = axis;
  }
  order[used] = step.axis;
  const bool turns = step.axis != out.rank - 1;
  auto length = static_cast<long long>(out.extents[step.axis]);
  const bool segmented = static_cast<std::size_t>(length) != out.memory.count;
  if (turns) order_axes(out, order);
  arguments.add_result(&out);
  if (!arguments.add_slots(layout, *step.out, turns ? order : nullptr) ||
      (segmented && !arguments.add_number(&length)))
    return refuse_operands(call);
  layout.add_repeats_key();
  layout.add_key_pointer(reinterpret_cast<std::uintptr_t>(step.combine));
  layout.add_key(static_cast<std::uint32_t>(step.kind) | (segmented ? 1u << 8 : 0u));
  structure_kernels<scan_state>& kernels =
      *GPU_TRY(find_structure<scan_state>(call, layout, [&](scan_state& made) {
        return describe_cumulative(call, layout, step, segmented, made);
      }));
  return run_scan({kernels.loops, call.stream, call.where, arguments.arguments()});
}

}}}  // namespace gpu::v1::detail
