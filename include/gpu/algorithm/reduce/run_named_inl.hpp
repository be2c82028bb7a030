#pragma once
/// \file
/// The definitions of run_named.hpp.

#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/core/detail/compiled.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/loop_call.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Checks the ranges that the map reads by indices of its own.
inline result<> check_reads(const loop_call& call, const named_call& made) noexcept {
  const char* const function = call.code().function;
  for (std::size_t k = 0; k < made.read_count; ++k) {
    const reduction_output& each = made.reads[k];
    GPU_TRY(require_usable(call, each));
    if (each.operand.memory.count != 0 || call.operand(0)->memory.count == 0) continue;
    text_builder out;
    out << each.name << " has 0 elements, but " << call.name(0) << " has "
        << call.operand(0)->memory.count << ". Pass the elements that the indices choose from.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), call.where));
  }
  return {};
}

/// Fails if positions in a segment, or a number of its elements, may not fit in the results.
inline result<> check_result_count(const loop_call& call, std::uint64_t most, std::size_t length) {
  if (most == 0 || length <= most) return {};
  text_builder out;
  out << "the results are integers of at most " << most << ", but stand for " << length
      << " elements each. Use integers of 64 bits.";
  return fail(refusal(errc::invalid_argument, call.code().function, out.finish(), call.where,
                      length, most));
}

GPU_DETAIL_INLINE stable_result run_named_to_host(shared_reductions& all,
                                                  const named_reduction& from,
                                                  const named_call& made, void* values) {
  named_kernels& kernels = *GPU_TRY(find_named(all, from, made.where));
  const loop_call call{kernels, made.stream, made.where, made.arguments};
  GPU_TRY(check_reads(call, made));
  return reduce_to_host(call, values);
}

GPU_DETAIL_INLINE stable_result run_named_into(shared_reductions& all, const named_reduction& from,
                                               const named_call& made,
                                               const reduction_output* outputs) {
  named_kernels& kernels = *GPU_TRY(find_named(all, from, made.where));
  const loop_call call{kernels, made.stream, made.where, made.arguments};
  GPU_TRY(check_reads(call, made));
  const std::size_t segments = outputs[0].operand.memory.count;
  if (segments != 0) {
    GPU_TRY(check_result_count(call, kernels.most, call.operand(0)->memory.count / segments));
  }
  return reduce_into(call, outputs, made.reads, made.read_count);
}

}}}  // namespace gpu::v1::detail
