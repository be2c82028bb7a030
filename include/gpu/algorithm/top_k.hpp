#pragma once
/// \file
/// `top_k`: the largest or smallest keys, sorted, with their indices.

#include <gpu/algorithm/sort/sort_select_kernel.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>

#include <concepts>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// Writes the first k keys that `sort` would give, and where they are: `out_keys[0]` is the largest
/// one, `keys[out_indices[0]]`. k is the length of both results. The keys stay as they are.
///
/// Keys are what `sort` sorts, indices what `argsort` writes. The order is that of `sort`: by
/// default descending, so NaN comes first; ascending gives the smallest keys. Of equal keys the one
/// with the lower index comes first.
/// **Ordering**: after the work queued on the stream; does not wait.
/// **Errors**: `errc::size_mismatch` if the results have different lengths;
/// `errc::invalid_argument` if they are longer than the keys, for ranges that overlap and for an
/// index type that is too small. Otherwise as for `sort`.
/// **Cost**: one launch for at most 4096 keys. For more, the keys are read once for each of their
/// bytes at most and once or twice more, and the results are sorted. **Capture**: allowed.
template <device_range Keys, device_range OutKeys, device_range OutIndices>
result<> top_k(stream_ref stream, Keys&& keys, OutKeys&& out_keys, OutIndices&& out_indices,
               sort_order order = sort_order::descending,
               source_location where = source_location::current()) {
  using key = std::remove_const_t<detail::element_t<Keys>>;
  detail::check_sort_keys<key>();
  static_assert(std::same_as<detail::element_t<OutKeys>, key>,
                "gpu::top_k: out_keys are written and have the type of the keys");
  detail::check_indices<detail::element_t<OutIndices>>();
  return detail::find_top(stream, detail::name_elements("keys", keys), detail::sort_key_of<key>(),
                          detail::name_elements("out_keys", out_keys),
                          detail::name_indices("out_indices", out_indices), order, where);
}

}}  // namespace gpu::v1
