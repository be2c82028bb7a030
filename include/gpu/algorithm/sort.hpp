#pragma once
/// \file
/// `sort`, `sort_pairs`, `argsort`, `sort_segments`, `sort_segments_pairs`: stable sorting of
/// device memory.

#include <gpu/algorithm/sort/sort_call.hpp>
#include <gpu/algorithm/sort/sort_segments_kernel.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_span.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

/// Sorts the keys, in place: `gpu::sort(stream, keys)`. To keep the original, copy it first.
///
/// Keys are a device range of numbers: `bool`, integers of 8 to 64 bits, `float`, `double`,
/// `__half` or `__nv_bfloat16`. The order is NumPy's: NaN comes last, -0.0 equals 0.0. Descending
/// is the reverse of that order, so NaN comes first. Equal keys keep their order in both, and every
/// key keeps its bits: the sort is stable.
/// **Ordering**: after the work queued on the stream; does not wait. The memory must live until the
/// sort has run.
/// **Errors**: `errc::empty_handle` for a buffer that was moved from; `errc::wrong_context`;
/// CUDA_ERROR_OUT_OF_MEMORY; those of `compile` at the first call with keys of this type.
/// **Cost**: one launch for at most 4096 keys. For more, a fill and a launch more than keys have
/// bytes; temporary memory is a little more than the keys take. Digits that all keys share cost
/// nothing. **Capture**: allowed. **Threads**: any number may call.
template <device_range Keys>
result<> sort(stream_ref stream, Keys&& keys, sort_order order = sort_order::ascending,
              source_location where = source_location::current()) {
  using key = detail::element_t<Keys>;
  detail::check_sort_keys<key>();
  return detail::sort_keys(stream, detail::name_elements("keys", keys),
                           detail::sort_key_of<std::remove_const_t<key>>(), order, where);
}

/// Sorts the keys as `sort` does, and moves `values[i]` to where `keys[i]` goes.
///
/// Values are trivially copyable objects of 1, 2, 4, 8 or 16 bytes. For others, and for several
/// ranges of values, sort indices by `argsort` and gather.
/// **Errors**: also `errc::size_mismatch` if the two have different lengths, and
/// `errc::invalid_argument` if they overlap. Otherwise as for `sort`.
template <device_range Keys, device_range Values>
result<> sort_pairs(stream_ref stream, Keys&& keys, Values&& values,
                    sort_order order = sort_order::ascending,
                    source_location where = source_location::current()) {
  using key = detail::element_t<Keys>;
  detail::check_sort_keys<key>();
  detail::check_sort_values<detail::element_t<Values>>();
  return detail::sort_keys_with_values(stream, detail::name_elements("keys", keys),
                                       detail::sort_key_of<std::remove_const_t<key>>(),
                                       detail::name_elements("values", values), order, where);
}

/// Writes the order that `sort` would bring the keys into: `keys[indices[0]]` is the first of the
/// sorted keys. The keys stay as they are.
///
/// Indices are a device range of `uint32_t`, `int32_t`, `uint64_t` or `int64_t`, as many as keys.
/// **Errors**: also `errc::size_mismatch` for different lengths, and `errc::invalid_argument` if
/// the two overlap or the index type is too small for that many keys. Otherwise as for `sort`.
template <device_range Keys, device_range Indices>
result<> argsort(stream_ref stream, Keys&& keys, Indices&& indices,
                 sort_order order = sort_order::ascending,
                 source_location where = source_location::current()) {
  using key = std::remove_const_t<detail::element_t<Keys>>;
  detail::check_sort_keys<key>();
  detail::check_indices<detail::element_t<Indices>>();
  return detail::sort_positions(stream, detail::name_elements("keys", keys),
                                detail::sort_key_of<key>(),
                                detail::name_indices("indices", indices), order, where);
}

/// Sorts each segment of the keys as `sort` does. Segment s is `keys[offsets[s]]` up to, without,
/// `keys[offsets[s + 1]]`. Keys before the first and after the last segment stay where they are.
///
/// Offsets are a device range of `uint32_t`, `int32_t`, `uint64_t` or `int64_t`, one more than
/// there are segments, that do not decrease. Segments may be empty. If offsets decrease, the keys
/// are unspecified afterwards, but nothing else is written.
/// **Errors**: also `errc::invalid_argument` for no offsets and if the two overlap. Otherwise as
/// for `sort`.
/// **Cost**: that of `argsort` and of a sort of positions by segment, whatever the lengths of the
/// segments are. **Capture**: allowed.
template <device_range Keys, device_range Offsets>
result<> sort_segments(stream_ref stream, Keys&& keys, Offsets&& offsets,
                       sort_order order = sort_order::ascending,
                       source_location where = source_location::current()) {
  using key = detail::element_t<Keys>;
  detail::check_sort_keys<key>();
  detail::check_offsets<std::remove_const_t<detail::element_t<Offsets>>>();
  return detail::sort_segments_of("gpu::sort_segments", stream, detail::name_elements("keys", keys),
                                  detail::sort_key_of<std::remove_const_t<key>>(), nullptr,
                                  detail::name_offsets("offsets", offsets), order, where);
}

/// Sorts each segment as `sort_segments` does, and moves values as `sort_pairs` does.
template <device_range Keys, device_range Values, device_range Offsets>
result<> sort_segments_pairs(stream_ref stream, Keys&& keys, Values&& values, Offsets&& offsets,
                             sort_order order = sort_order::ascending,
                             source_location where = source_location::current()) {
  using key = detail::element_t<Keys>;
  detail::check_sort_keys<key>();
  detail::check_sort_values<detail::element_t<Values>>();
  detail::check_offsets<std::remove_const_t<detail::element_t<Offsets>>>();
  const detail::named_elements named_values = detail::name_elements("values", values);
  return detail::sort_segments_of("gpu::sort_segments_pairs", stream,
                                  detail::name_elements("keys", keys),
                                  detail::sort_key_of<std::remove_const_t<key>>(), &named_values,
                                  detail::name_offsets("offsets", offsets), order, where);
}

}}  // namespace gpu::v1
