#pragma once
/// \file
/// The definitions of run_elementwise.hpp.

#include <gpu/algorithm/elementwise/elementwise_kernel.hpp>
#include <gpu/core/detail/compiled.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_patch.hpp>
#include <gpu/generated/loop_plan.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/generated/snippet_options.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/slice.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

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

GPU_DETAIL_INLINE stable_result run_elementwise(const loop_call& call, const slice* range) {
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

GPU_DETAIL_INLINE stable_result describe_elementwise(loop_state& state, string_ref names,
                                                     string_ref body,
                                                     const snippet_options& options,
                                                     source_location where) {
  GPU_TRY(describe_snippet(state.code, names, body, options, where));
  state.uses = find_uses(state.code);
  state.write = &write_elementwise;
  return {};
}

}}}  // namespace gpu::v1::detail
