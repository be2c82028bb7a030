#pragma once
/// \file
/// `gather`: reads elements by index.

#include <gpu/algorithm/elementwise/run_elementwise.hpp>
#include <gpu/algorithm/gather/indexed_call.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
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
#include <gpu/memory/device_span.hpp>

namespace gpu { inline namespace v1 {

/// Options of `gather`.
struct gather_options {
  bool check = false;  ///< fails for an index out of range, before anything is written; waits
};

namespace detail {

template <class T, class Index> struct gather_family;

template <class T, class Index> result<loop_state*> find_gather(source_location where) {
  constexpr const char* function = "gpu::gather";
  return find_shared<gather_family<T, Index>, loop_state>(
      function, {}, where, [&](loop_state& made) {
        made.code.parameters = {describe_parameter<raw<const T*>>(),
                                describe_parameter<const Index*>(), describe_parameter<T*>()};
        return describe_indexed(made, function, "x, indices, out", "out[i] = x[indices[i]]",
                                {.name = "gpu_gather"}, where);
      });
}

}  // namespace detail

/// Reads the elements of `x` that `indices` names: `out[i] = x[indices[i]]`. As NumPy's `take` and
/// `thrust::gather`. `x` is a device range; `indices`, integers of 32 or 64 bits, and `out` are
/// device ranges or views of the same shape. Elements are what `elementwise` takes. `out` may not
/// overlap `x`.
/// **Precondition**: each index is at least 0 and less than `x.size()`. With `.check = true` this
/// is verified first (`check_indices`); the CPU driver finds indices outside of the memory in any
/// case.
/// **Ordering**: after the work queued on the stream; waits only for a check.
/// **Errors**: `errc::size_mismatch`, `errc::invalid_argument` for memory that overlaps,
/// `errc::wrong_context`, `errc::empty_handle`, those of `compile` at the first call with these
/// types. With a check also `errc::index_out_of_range` with the first bad position, in which case
/// nothing is written, and `errc::capture_prohibited`.
/// **Cost**: one launch; that of `check_indices` for a check. **Capture**: allowed without a check.
/// **Threads**: any number.
template <class X, class Indices, class Out>
result<> gather(const stream_ref& stream, X&& x, Indices&& indices, Out&& out,
                const gather_options& options = {},
                source_location where = source_location::current()) {
  static_assert(device_range<X&>, "gpu::gather: `x` is contiguous device memory");
  using element = detail::argument_element<X>;
  using index = detail::argument_element<Indices>;
  static_assert(detail::index_type<index>,
                "gpu::gather: indices are std::uint32_t, std::int32_t, std::uint64_t or "
                "std::int64_t");
  detail::loop_state& state = *GPU_TRY((detail::find_gather<element, index>(where)));
  const detail::named_elements from = detail::name_elements("x", x);
  CUdeviceptr address = from.memory.device_address();
  detail::bound_argument<const index*> positions(indices);
  detail::bound_argument<element*> results(out);
  const detail::loop_argument list[] = {{nullptr, &address}, positions.get(), results.get()};
  const detail::loop_call call{state, stream, where, list};
  GPU_TRY(detail::require_indexed_call(call, from, false, positions, options.check));
  return detail::run_elementwise(call, nullptr);
}

}}  // namespace gpu::v1
