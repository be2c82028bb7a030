#pragma once
/// \file
/// Calls of generated kernels that reach elements of a whole range by index.

#include <gpu/algorithm/check_indices.hpp>
#include <gpu/algorithm/elementwise/run_elementwise.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/generated/snippet_options.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Fills in a snippet that runs for each index.
inline result<> describe_indexed(loop_state& state, const char* function, const char* names,
                                 const char* body, const snippet_options& options,
                                 source_location where) {
  state.code.function = function;
  return describe_elementwise(state, names, body, options, where);
}

/// Checks a range that a kernel reaches by index: it may not overlap an operand if either of them
/// is written.
inline result<> require_apart(const loop_call& call, const named_elements& whole,
                              bool whole_is_written) noexcept {
  const char* const function = call.code().function;
  GPU_TRY(require_usable(function, call.stream, whole, call.where));
  for (std::size_t p = 0; p < call.count(); ++p) {
    const loop_operand* const operand = call.operand(p);
    if (operand == nullptr || operand->memory.count == 0) continue;
    if (!whole_is_written && !call.code().parameters[p].writable) continue;
    named_elements other = name_operand(call, p);
    const byte_range bytes = bytes_of(*operand, other.element_bytes);
    if (whole.count() == 0 || bytes.end <= whole.begin() || whole.end() <= bytes.begin) continue;
    other.memory.address = whole.begin();  // a view may begin elsewhere
    return require_disjoint(function, whole, other, call.where);
  }
  return {};
}

/// Checks the arguments of a kernel in which `indices` are those of elements of `whole`. With
/// `check` the indices themselves are checked, too, which waits.
template <class Index>
result<> require_indexed_call(const loop_call& call, const named_elements& whole,
                              bool whole_is_written, bound_argument<const Index*>& indices,
                              bool check) {
  const char* const function = call.code().function;
  GPU_TRY(require(call.stream, function, call.where));
  std::size_t count = 0;
  bool any = false;
  GPU_TRY(check_operands(call, count, any));
  GPU_TRY(require_apart(call, whole, whole_is_written));
  if (count == 0) return {};
  if (whole.count() == 0) {
    text_builder out;
    out << whole.name << " has no elements, so none of the " << count << " indices is valid.";
    return fail(refusal(errc::index_out_of_range, function, out.finish(), call.where, count, 0));
  }
  if (!check) return {};
  return require_indices(function, call.stream, indices, whole.name, whole.count(), call.where);
}

}}}  // namespace gpu::v1::detail
