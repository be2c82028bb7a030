#pragma once
/// \file
/// Checks the arguments of `sort`, `sort_pairs` and `argsort`.

#include <gpu/algorithm/sort/run_sort.hpp>
#include <gpu/algorithm/sort/sort_kernel.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/memory/copy.hpp>

#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// Positions of elements in device memory.
struct named_indices {
  named_elements elements;
  std::uint64_t most;  ///< how many positions the type holds
};

template <class Range> named_indices name_indices(const char* name, Range& range) noexcept {
  return {name_elements(name, range), most_indexed<std::remove_cv_t<element_t<Range>>>()};
}

/// Fails with `errc::invalid_argument` if an index type is too small for that many elements.
inline result<> require_indexed(const char* function, const named_indices& indices,
                                std::uint64_t count, source_location where) noexcept {
  if (count <= indices.most) return {};
  text_builder out;
  out << "the indices of " << count << " elements do not fit in " << indices.elements.name
      << ", whose type holds those of " << indices.most
      << " elements. Use an integer of 64 bits for the indices.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, count, indices.most));
}

inline result<> check_keys(const char* function, const stream_ref& stream,
                           const named_elements& keys, sort_order order, source_location where) {
  GPU_TRY(require(stream, function, where));
  GPU_TRY(require_usable(function, stream, keys, where));
  return require_enumerator(order, "sort_order", function, where);
}

/// Returns how values are moved: whole, unless they begin at an address that is aligned less.
inline sort_value value_of_elements(const named_elements& values) noexcept {
  sort_value value{static_cast<std::uint8_t>(values.element_bytes),
                   static_cast<std::uint8_t>(values.element_bytes)};
  while (values.begin() % value.alignment != 0) value.alignment /= 2;
  return value;
}

/// Fails unless `values` can be moved with `keys`.
inline result<> check_moved(const char* function, const stream_ref& stream,
                            const named_elements& keys, const named_elements& values,
                            source_location where) {
  GPU_TRY(require_usable(function, stream, values, where));
  GPU_TRY(require_same_count(function, keys, values, where));
  return require_disjoint(function, keys, values, where);
}

/// Returns the request to write the positions of the sorted keys, and not the keys.
inline sort_request request_positions(const char* function, const stream_ref& stream,
                                      const named_elements& keys, const sort_key& key,
                                      const named_elements& out, sort_order order,
                                      source_location where) noexcept {
  const auto bytes = static_cast<std::uint8_t>(out.element_bytes);
  return {function,
          stream,
          where,
          key,
          order,
          keys.count(),
          keys.memory.device_address(),
          0,
          {bytes, bytes},
          0,
          out.memory.device_address()};
}

inline result<> sort_keys(const stream_ref& stream, const named_elements& keys, const sort_key& key,
                          sort_order order, source_location where) {
  constexpr const char* function = "gpu::sort";
  GPU_TRY(check_keys(function, stream, keys, order, where));
  const CUdeviceptr address = keys.memory.device_address();
  return run_sort({function, stream, where, key, order, keys.count(), address, address});
}

inline result<> sort_keys_with_values(const stream_ref& stream, const named_elements& keys,
                                      const sort_key& key, const named_elements& values,
                                      sort_order order, source_location where) {
  constexpr const char* function = "gpu::sort_pairs";
  GPU_TRY(check_keys(function, stream, keys, order, where));
  GPU_TRY(check_moved(function, stream, keys, values, where));
  const CUdeviceptr address = keys.memory.device_address();
  const CUdeviceptr values_address = values.memory.device_address();
  return run_sort({function, stream, where, key, order, keys.count(), address, address,
                   value_of_elements(values), values_address, values_address});
}

inline result<> sort_positions(const stream_ref& stream, const named_elements& keys,
                               const sort_key& key, const named_indices& indices, sort_order order,
                               source_location where) {
  constexpr const char* function = "gpu::argsort";
  const named_elements& out = indices.elements;
  GPU_TRY(check_keys(function, stream, keys, order, where));
  GPU_TRY(check_moved(function, stream, keys, out, where));
  GPU_TRY(require_indexed(function, indices, keys.count(), where));
  return run_sort(request_positions(function, stream, keys, key, out, order, where));
}

}}}  // namespace gpu::v1::detail
