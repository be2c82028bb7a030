#pragma once
/// \file
/// `scatter`: writes elements by index.

#include <gpu/algorithm/elementwise/run_elementwise.hpp>
#include <gpu/algorithm/gather/indexed_call.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/workspace.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>

#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// Options of `scatter`.
struct scatter_options {
  bool check = false;   ///< fails for an index out of range, before anything is written; waits
  bool unique = false;  ///< the caller knows that no index occurs twice: saves two passes
};

namespace detail {

template <class T, class Index> struct scatter_family;
template <class Index> struct scatter_claims_family;
template <class T, class Index> struct scatter_claimed_family;

/// Returns the kernel that writes all elements.
template <class T, class Index> result<loop_state*> find_scatter(source_location where) {
  constexpr const char* function = "gpu::scatter";
  return find_shared<scatter_family<T, Index>, loop_state>(
      function, {}, where, [&](loop_state& made) {
        made.code.parameters = {describe_parameter<const T*>(), describe_parameter<const Index*>(),
                                describe_parameter<raw<T*>>()};
        return describe_indexed(made, function, "values, indices, x", "x[indices[i]] = values[i]",
                                {.name = "gpu_scatter"}, where);
      });
}

/// Returns the kernel that notes, for each element, the last position that names it, plus one.
template <class Index> result<loop_state*> find_scatter_claims(bool wide, source_location where) {
  constexpr const char* function = "gpu::scatter";
  return find_shared<scatter_claims_family<Index>, loop_state>(
      function, {{}, wide}, where, [&](loop_state& made) {
        made.code.parameters = {describe_parameter<const Index*>(),
                                wide ? describe_parameter<raw<unsigned long long*>>()
                                     : describe_parameter<raw<unsigned*>>()};
        return describe_indexed(made, function, "indices, last",
                                wide ? "atomicMax(last + indices[i], (unsigned long long)(i + 1))"
                                     : "atomicMax(last + indices[i], unsigned(i + 1))",
                                {.name = "gpu_scatter_claims"}, where);
      });
}

/// Returns the kernel that writes the elements at the last positions.
template <class T, class Index>
result<loop_state*> find_scatter_claimed(bool wide, source_location where) {
  constexpr const char* function = "gpu::scatter";
  return find_shared<scatter_claimed_family<T, Index>, loop_state>(
      function, {{}, wide}, where, [&](loop_state& made) {
        made.code.parameters = {describe_parameter<const T*>(), describe_parameter<const Index*>(),
                                describe_parameter<raw<T*>>(),
                                wide ? describe_parameter<raw<const unsigned long long*>>()
                                     : describe_parameter<raw<const unsigned*>>()};
        return describe_indexed(made, function, "values, indices, x, last",
                                "if (last[indices[i]] == i + 1) x[indices[i]] = values[i]",
                                {.name = "gpu_scatter_claimed"}, where);
      });
}

/// Writes the values so that of several for one element the last one stays. The arguments are
/// checked.
template <class T, class Index>
result<> scatter_last(const stream_ref& stream, bound_argument<const T*>& values,
                      bound_argument<const Index*>& indices, const named_elements& x,
                      source_location where) {
  const bool wide = indices.operand.memory.count > 0xffff'ffff;
  loop_state& claims = *GPU_TRY(find_scatter_claims<Index>(wide, where));
  loop_state& claimed = *GPU_TRY((find_scatter_claimed<T, Index>(wide, where)));
  const std::size_t bytes = saturated_product(x.count(), wide ? 8u : 4u);
  const device_buffer<unsigned char> memory = GPU_TRY(allocate_workspace(stream, bytes, where));
  GPU_TRY(fill_on(stream, copy_end_of(memory), 0, 1, where));
  CUdeviceptr address = x.memory.device_address(), last = memory.span().native();
  const loop_argument to_claim[] = {indices.get(), {nullptr, &last}};
  GPU_TRY(run_elementwise({claims, stream, where, to_claim}, nullptr));
  const loop_argument to_write[] = {
      values.get(), indices.get(), {nullptr, &address}, {nullptr, &last}};
  return run_elementwise({claimed, stream, where, to_write}, nullptr);
}

}  // namespace detail

/// Writes elements of `x` that `indices` names: `x[indices[i]] = values[i]`. Other elements stay.
/// If an index occurs several times the last value stays, as in NumPy, in every run. `x` is a
/// device range; `values` and `indices`, integers of 32 or 64 bits, are device ranges or views of
/// the same shape. Elements are what `elementwise` takes. Neither may overlap `x`.
/// **Precondition**: each index is at least 0 and less than `x.size()`. With `.check = true` this
/// is verified first (`check_indices`); the CPU driver finds indices outside of the memory in any
/// case. With `.unique = true` no index occurs twice; otherwise the element has any of the values.
/// **Ordering**: after the work queued on the stream; waits only for a check.
/// **Errors**: `errc::size_mismatch`, `errc::invalid_argument` for memory that overlaps,
/// `errc::wrong_context`, `errc::empty_handle`, CUDA_ERROR_OUT_OF_MEMORY, those of `compile` at the
/// first call with these types. With a check also `errc::index_out_of_range` with the first bad
/// position, in which case nothing is written, and `errc::capture_prohibited`.
/// **Cost**: a fill of four bytes for each element of `x`, an integer atomic for each index, and
/// the launch that writes; with `.unique` that launch alone. That of `check_indices` for a check.
/// **Capture**: allowed without a check. **Threads**: any number.
template <class Values, class Indices, class X>
result<> scatter(const stream_ref& stream, Values&& values, Indices&& indices, X&& x,
                 const scatter_options& options = {},
                 source_location where = source_location::current()) {
  static_assert(device_range<X&>, "gpu::scatter: `x` is contiguous device memory");
  using element = detail::element_t<X>;
  using index = detail::argument_element<Indices>;
  static_assert(!std::is_const_v<element>, "gpu::scatter: the elements of `x` are const");
  static_assert(detail::index_type<index>,
                "gpu::scatter: indices are std::uint32_t, std::int32_t, std::uint64_t or "
                "std::int64_t");
  detail::loop_state& state = *GPU_TRY((detail::find_scatter<element, index>(where)));
  const detail::named_elements to = detail::name_elements("x", x);
  CUdeviceptr address = to.memory.device_address();
  detail::bound_argument<const element*> written(values);
  detail::bound_argument<const index*> positions(indices);
  const detail::loop_argument list[] = {written.get(), positions.get(), {nullptr, &address}};
  const detail::loop_call call{state, stream, where, list};
  GPU_TRY(detail::require_indexed_call(call, to, true, positions, options.check));
  if (options.unique) return detail::run_elementwise(call, nullptr);
  if (positions.operand.memory.count == 0) return {};
  return detail::scatter_last(stream, written, positions, to, where);
}

}}  // namespace gpu::v1
