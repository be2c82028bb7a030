#pragma once
/// \file
/// `check_indices`: finds the first index that is out of range.

#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/algorithm/reduce/reduction_text.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/generated/snippet_options.hpp>
#include <gpu/memory/detail/capture_check.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

template <class Index> struct index_check_family;

/// The result of a check that finds nothing.
inline constexpr unsigned long long no_position = ~0ull;

/// Describes a reduction of integers to one number of 64 bits. `reduce_to_host` runs it.
inline result<> describe_index_reduction(reduction_state& made, const char* parameters,
                                         const char* map, const char* combine,
                                         const unsigned long long& neutral, const char* kernel,
                                         source_location where) {
  made.value = element_type_of<unsigned long long>();
  made.combine = required(text(combine));
  made.results.push_back({made.value, {}});
  made.neutral = &neutral;
  made.write = &write_reduction;
  GPU_TRY(describe_snippet(made.code, parameters, map, {.name = kernel}, where));
  made.uses = find_uses(made.code);
  return {};
}

/// The rule by which an index is in range.
enum class index_rule : unsigned char {
  from_start,   ///< from 0 on
  from_either,  ///< negative ones, too, which count from the end
};

/// Returns the reduction that finds the first position of an index out of range.
template <class Index>
result<reduction_state*> find_index_check(index_rule rule, source_location where) {
  constexpr const char* function = "gpu::check_indices";
  const bool either = rule == index_rule::from_either && std::is_signed_v<Index>;
  return find_shared<index_check_family<Index>, reduction_state>(
      function, {either ? "from either end" : ""}, where, [&](reduction_state& made) {
        made.code.function = function;
        made.code.parameters = {describe_parameter<const Index*>(),
                                describe_parameter<unsigned long long>()};
        // A negative index is a very large number without sign.
        return describe_index_reduction(
            made, "indices, size",
            either ? "(unsigned long long)(indices[i]) + size < 2 * size ? ~0ull : "
                     "(unsigned long long)(i)"
                   : "(unsigned long long)(indices[i]) < size ? ~0ull : (unsigned long long)(i)",
            "min(a, b)", no_position, "gpu_check_indices", where);
      });
}

/// Returns the address of element `position`, in C order.
inline CUdeviceptr address_of_element(const loop_operand& operand, unsigned long long position,
                                      std::size_t element_bytes) noexcept {
  std::ptrdiff_t offset = 0;
  for (int axis = operand.rank; axis-- > 0;) {
    offset += static_cast<std::ptrdiff_t>(position % operand.extents[axis]) * operand.strides[axis];
    position /= operand.extents[axis];
  }
  return operand.memory.device_address() +
         static_cast<CUdeviceptr>(offset * static_cast<std::ptrdiff_t>(element_bytes));
}

/// Returns the error for an index out of range. `what` has `size` elements.
template <class Index>
unexpected<cuda_error> refuse_index(const char* function, Index index, unsigned long long position,
                                    const char* what, std::size_t size, index_rule rule,
                                    source_location where) noexcept {
  text_builder out;
  out << "index " << index << " at position " << position << " is out of range: " << what << " has "
      << size << " elements. ";
  if (size == 0) {
    out << "No index is valid.";
  } else {
    out << "Pass indices from ";
    if (rule == index_rule::from_either && std::is_signed_v<Index>) {
      out << '-' << size;
    } else {
      out << '0';
    }
    out << " to " << size - 1 << '.';
  }
  return fail(refusal(errc::index_out_of_range, function, out.finish(), where,
                      static_cast<std::uint64_t>(index), size));
}

/// Finds the first index that is out of range of `size` elements, and stores its position and its
/// value. If all indices are valid, the position is `no_position`. Waits.
template <class Index>
result<> find_bad_index(const stream_ref& stream, bound_argument<const Index*>& indices,
                        std::size_t size, index_rule rule, unsigned long long& position,
                        Index& index, source_location where) {
  reduction_state& state = *GPU_TRY(find_index_check<Index>(rule, where));
  unsigned long long limit = size;
  const loop_argument list[] = {indices.get(), {nullptr, &limit}};
  position = no_position;
  GPU_TRY(reduce_to_host({state, stream, where, list}, &position));
  if (position == no_position) return {};
  return copy_to_host(stream, address_of_element(indices.operand, position, sizeof(Index)), &index,
                      sizeof(Index), where);
}

/// Fails with `errc::index_out_of_range` if an index is not below `size`, the number of elements of
/// `what`. The error names `function` and the first such index. Waits.
template <class Index>
result<> require_indices(const char* function, const stream_ref& stream,
                         bound_argument<const Index*>& indices, const char* what, std::size_t size,
                         source_location where, index_rule rule = index_rule::from_start) {
  static_assert(index_type<Index>,
                "gpu::check_indices: indices are std::uint32_t, std::int32_t, std::uint64_t or "
                "std::int64_t");
  GPU_TRY(require(stream, function, where));
  GPU_TRY(require_no_capture(
      stream, function,
      "A check of indices waits for its result: check before the capture (gpu::check_indices).",
      where));
  unsigned long long position = no_position;
  Index index = 0;
  GPU_TRY(find_bad_index(stream, indices, size, rule, position, index, where));
  if (position == no_position) return {};
  return refuse_index(function, index, position, what, size, rule, where);
}

}  // namespace detail

/// Fails unless all of `indices` are indices of a range of `size` elements: not negative, and less
/// than `size`. They are integers of 32 or 64 bits in device memory or in a view of it; the
/// position that the error names counts in C order. This is what `gather` and `scatter` do with
/// `.check = true`; call it for indices that a kernel of your own uses.
/// **Ordering**: after the work queued on the stream; waits for the result.
/// **Errors**: `errc::index_out_of_range` with the first bad position, its index and the number of
/// elements; `errc::capture_prohibited` during capture; `errc::wrong_context`;
/// `errc::empty_handle`; those of `compile` at the first call with this type.
/// **Cost**: the indices are read once more; one or two launches and one copy to the host.
/// **Threads**: any number may call.
template <class Indices>
result<> check_indices(const stream_ref& stream, Indices&& indices, std::size_t size,
                       source_location where = source_location::current()) {
  using index = detail::argument_element<Indices>;
  detail::bound_argument<const index*> checked(indices);
  return detail::require_indices("gpu::check_indices", stream, checked, "the range", size, where);
}

}}  // namespace gpu::v1
