#pragma once
/// \file
/// Launches reductions.

#include <gpu/algorithm/reduce/reduction_columns.hpp>
#include <gpu/algorithm/reduce/reduction_text.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_plan.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The operand in which a reduction stores its results: element s for segment s.
struct reduction_output {
  const char* name;
  loop_operand operand;
  std::size_t element_bytes;

  named_elements elements() const noexcept { return {name, operand.memory, element_bytes}; }
};
template <class Elements>
reduction_output make_output(const char* name, Elements& elements) noexcept {
  return {name, make_operand(elements), sizeof(argument_element<Elements>)};
}

/// The same as an argument of the kernel.
struct reduction_target {
  CUdeviceptr address;
  long long step;  ///< from one result to the next, in elements
};

// The order of a reduction depends on the number of elements and on their type alone, because these
// figures do. benchmarks/algorithm/loops.cu shows what they bring.

/// Groups that a thread loads before it combines them.
inline constexpr unsigned reduction_groups = 4;
/// Elements of a segment that one warp reduces.
inline constexpr std::size_t most_of_warp = 4096;
/// Tiles of a segment that one block reduces, so that one launch is enough.
inline constexpr std::size_t most_of_block = 4;
/// Blocks that reduce a segment.
inline constexpr std::size_t most_blocks = 8192;

/// The division of a segment's elements among blocks and their threads.
struct reduction_shares {
  std::size_t share;   ///< elements of a segment that one block, or one warp, reduces
  std::size_t blocks;  ///< blocks of a segment; 1 also if it is a warp's
  unsigned lanes;      ///< of a warp that share a segment, a power of two
};

inline reduction_shares share_segment(const loop_form& form, std::size_t length) noexcept {
  const std::size_t tiles = length == 0 ? 1 : (length - 1) / form.tile() + 1;
  unsigned lanes = 32;
  while (form.in_warps && lanes > 1 && lanes / 2 * form.width >= length) lanes /= 2;
  if (form.in_warps || tiles <= most_of_block) return {tiles * form.tile(), 1, lanes};
  const std::size_t of_block = (tiles - 1) / most_blocks + 1;
  return {of_block * form.tile(), (tiles - 1) / of_block + 1, lanes};
}

/// Returns the form for segments of `length` elements: their beginnings must be aligned, too.
inline loop_form form_of_reduction(loop_form form, std::size_t segments,
                                   std::size_t length) noexcept {
  form.in_warps = segments > 1 && length <= most_of_warp;
  // No more groups than a warp has of the segment: others take registers and time, and change no
  // result.
  form.groups = reduction_groups;
  while (form.in_warps && form.groups > 1 && form.groups / 2 * 32 * form.width >= length)
    form.groups /= 2;
  while (segments > 1 && form.aligned > 1 && length % form.aligned != 0) form.aligned /= 2;
  return form;
}

/// Returns the threads of the block that combines `values` values.
inline unsigned threads_for_partials(std::size_t values) noexcept {
  unsigned threads = 32;
  while (threads < partials_threads && threads * partials_groups < values) threads *= 2;
  return threads;
}

/// Returns how the threads of blocks are divided among segments.
inline column_blocks divide_among_blocks(const reduction_state& state, const loop_form& form,
                                         const reduction_shares& shares,
                                         std::size_t segments) noexcept {
  if (form.segment_axes != 0) {
    return divide_columns(form, segments, shares.blocks, warps_of(form), shares.lanes,
                          16 / state.code.full_width);
  }
  if (!form.in_warps) return {1, loop_threads, segments};
  return {1, loop_threads, (segments * shares.lanes - 1) / loop_threads + 1};
}

/// How a reduction runs for the layouts of its arguments.
struct reduction_plan {
  std::size_t segments, length, count;  ///< elements of each segment, and of all
  loop_form form;
  merged_axes axes;
  reduction_shares shares;
};

/// Plans the reduction of `count` elements, in `segments` segments of equal length.
inline void plan_reduction(const loop_call& call, std::size_t segments, std::size_t count,
                           reduction_plan& plan) noexcept {
  plan.segments = segments;
  plan.count = count;
  plan.length = count / segments;
  plan.form = form_of_reduction(choose_form(call, count, plan.axes), segments, plan.length);
  if (call.code().widest_element == 0) plan.form.groups = 1;  // nothing is loaded
  plan.shares = share_segment(plan.form, plan.length);
  choose_columns(call, plan.form, plan.axes, segments,
                 static_cast<const reduction_state&>(call.state).value.bytes);
}

/// Launches the two kernels of a plan, or one of them. Each segment becomes an element of each
/// target.
inline result<> launch_reduction(const loop_call& call, reduction_plan& plan,
                                 const untyped_kernel* kernels, reduction_target* targets) {
  const auto& state = static_cast<const reduction_state&>(call.state);
  const char* const function = call.code().function;
  const reduction_shares& shares = plan.shares;
  const column_blocks held = divide_among_blocks(state, plan.form, shares, plan.segments);
  const std::size_t blocks = held.blocks * shares.blocks;
  GPU_TRY(require_grid(function, blocks, plan.count, call.where));
  const std::size_t bytes =
      shares.blocks > 1 ? plan.segments * shares.blocks * state.value.bytes : 0;
  const device_buffer<unsigned char> memory =
      GPU_TRY(allocate_workspace(call.stream, bytes, call.where));
  CUdeviceptr partials = memory.span().native();
  auto all = static_cast<long long>(plan.segments), each = static_cast<long long>(plan.length);
  auto share = static_cast<long long>(shares.share), n = static_cast<long long>(plan.count);
  auto of_segment = static_cast<int>(shares.blocks), lanes = static_cast<int>(shares.lanes);
  auto columns = static_cast<int>(held.columns);
  loop_arguments arguments(call, plan.axes, plan.form);
  arguments.add(const_cast<void*>(state.neutral));
  arguments.add(&partials);
  for (std::size_t r = 0; r < state.results.size(); ++r) {
    arguments.add(&targets[r].address);
    arguments.add(&targets[r].step);
  }
  arguments.add(&all);
  arguments.add(&each);
  arguments.add(&share);
  arguments.add(&of_segment);
  arguments.add(&lanes);
  arguments.add(&columns);
  arguments.add(&n);
  GPU_TRY(launch_generated(call.stream, {static_cast<std::uint32_t>(blocks), held.threads},
                           kernels[0], arguments.pointers(), call.where));
  if (shares.blocks == 1) return {};
  GPU_TRY(require_grid(function, plan.segments, plan.count, call.where));
  return launch_generated(
      call.stream, {static_cast<std::uint32_t>(plan.segments), threads_for_partials(shares.blocks)},
      kernels[1], arguments.pointers(), call.where);
}

/// Fails because an empty range has no such result. `name` is that of the range.
inline unexpected<cuda_error> refuse_nothing(const char* function, const char* wanted,
                                             const char* name, source_location where) noexcept {
  text_builder out;
  out << wanted << " is asked for, but " << name << " has 0 elements. Pass at least 1.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, 0, 1));
}

/// Reduces `count` elements, in `segments` segments of equal length, to an element of each target.
inline result<> run_reduction(const loop_call& call, reduction_target* targets,
                              std::size_t segments, std::size_t count) {
  const char* const wanted = static_cast<const reduction_state&>(call.state).wanted;
  if (count == 0 && wanted != nullptr)
    return refuse_nothing(call.code().function, wanted, call.name(0), call.where);
  reduction_plan plan;
  plan_reduction(call, segments, count, plan);
  const untyped_kernel* const kernels =
      GPU_TRY(find_kernel(call.state, call.stream.device(), plan.form, call.where));
  return launch_reduction(call, plan, kernels, targets);
}

/// Checks the arguments of a reduction and sets `count` to the number of elements.
inline result<> check_reduction(const loop_call& call, std::size_t& count) {
  GPU_TRY(require(call.stream, call.code().function, call.where));
  bool any = false;
  GPU_TRY(check_operands(call, count, any));
  return any ? result<>{} : refuse_no_elements(call);
}

/// Fails if the elements cannot be used on the stream, or are of a view that was asked for
/// something impossible.
inline result<> require_usable(const loop_call& call, const reduction_output& elements) noexcept {
  if (elements.operand.fault) {
    return fail(
        fault_error(elements.operand.fault, call.code().function, elements.name, call.where));
  }
  return require_usable(call.code().function, call.stream, elements.elements(), call.where);
}

/// Fails if `output` may share memory with `other`, which is read or written, too.
inline result<> require_apart(const loop_call& call, const reduction_output& output,
                              const reduction_output& other) noexcept {
  const loop_operand &a = output.operand, &b = other.operand;
  if (!overlap(a, output.element_bytes, b, other.element_bytes)) return {};
  named_elements elements = other.elements();
  elements.memory.address = bytes_of(a, output.element_bytes).begin;  // a view may begin elsewhere
  return require_disjoint(call.code().function, {output.name, elements.memory, 1}, elements,
                          call.where);
}

/// Sets `target` to the elements of an output, which must be evenly spaced.
inline result<> find_target(const loop_call& call, const reduction_output& output,
                            reduction_target& target) noexcept {
  const loop_operand* const view = &output.operand;
  merged_axes axes;
  merge_axes(axes, &view, 1);
  target = {view->memory.device_address(), axes.strides[0][axes.rank - 1]};
  if (view->memory.count < 2 || (axes.rank == 1 && target.step != 0)) return {};
  text_builder out;
  out << output.name << " has the shape ";
  write_shape(out, *view);
  out << " with strides that "
      << (target.step == 0 ? "put several elements at one address. "
                           : "leave gaps of different sizes. ")
      << "Pass contiguous memory, or a view whose elements are evenly spaced, such as a column.";
  return fail(refusal(errc::invalid_argument, call.code().function, out.finish(), call.where));
}

/// Reduces to `outputs`, as many as the reduction has results, with one element for each segment.
/// `reads` are further ranges that the map reads.
inline result<> reduce_into(const loop_call& call, const reduction_output* outputs,
                            const reduction_output* reads = nullptr, std::size_t read_count = 0) {
  std::size_t count = 0;
  GPU_TRY(check_reduction(call, count));
  const char* const function = call.code().function;
  const std::size_t segments = outputs[0].operand.memory.count;
  const std::size_t results = static_cast<const reduction_state&>(call.state).results.size();
  reduction_target targets[2] = {};
  for (std::size_t r = 0; r < results; ++r) {
    GPU_TRY(require_usable(call, outputs[r]));
    GPU_TRY(require_same_count(function, outputs[0].elements(), outputs[r].elements(), call.where));
    GPU_TRY(find_target(call, outputs[r], targets[r]));
  }
  if (segments == 0 && count == 0) return {};
  if (segments == 0 || count % segments != 0) {
    text_builder out;
    out << count << " elements cannot be divided into " << segments
        << " segments of equal length. Pass a result for each segment: 1 for the reduction of all "
           "elements, or a divisor of their number.";
    return fail(refusal(errc::size_mismatch, function, out.finish(), call.where, segments, count));
  }
  for (std::size_t r = 0; r < results; ++r) {
    for (std::size_t p = 0; p < call.count(); ++p) {
      if (call.operand(p) == nullptr) continue;
      GPU_TRY(
          require_apart(call, outputs[r],
                        {call.name(p), *call.operand(p), call.code().parameters[p].type.bytes}));
    }
    for (std::size_t k = 0; k < read_count; ++k) GPU_TRY(require_apart(call, outputs[r], reads[k]));
    if (r != 0) GPU_TRY(require_apart(call, outputs[r], outputs[0]));
  }
  return run_reduction(call, targets, segments, count);
}

/// Reduces all elements to values on the host, one after the other, and waits for them.
inline result<> reduce_to_host(const loop_call& call, void* values) {
  std::size_t count = 0;
  GPU_TRY(check_reduction(call, count));
  const auto& state = static_cast<const reduction_state&>(call.state);
  GPU_TRY(require_no_capture(call.stream, call.code().function, state.to_device, call.where));
  std::size_t bytes = 0;
  for (const reduction_result& each : state.results) bytes += each.type.bytes;
  device_buffer<unsigned char> memory = GPU_TRY(allocate_workspace(call.stream, bytes, call.where));
  const CUdeviceptr first = memory.span().native();
  reduction_target targets[2] = {{first, 1}, {first + state.results[0].type.bytes, 1}};
  GPU_TRY(run_reduction(call, targets, 1, count));
  return copy_to_host(call.stream, first, values, bytes, call.where);
}

}}}  // namespace gpu::v1::detail
