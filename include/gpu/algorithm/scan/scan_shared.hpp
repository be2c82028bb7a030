#pragma once
/// \file
/// `zero_value` and `sum_type_of`, for the descriptions of scans.

#include <gpu/core/string_ref.hpp>
#include <gpu/generated/element_type.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Zeros for a scan of items that are not larger than `T`, or than 16 bytes, and whose neutral
/// value is never used.
template <class T> struct zero_value {
  alignas(16) static constexpr unsigned char bytes[sizeof(T) < 16 ? 16 : sizeof(T)] = {};
};

/// The type in which sums of `T` are computed: float if `T` has 16 bits.
template <class T> constexpr element_type sum_type_of() noexcept {
  constexpr element_type own = element_type_of<T>();
  if (own.name == string_ref("gpu::half") || own.name == string_ref("gpu::bfloat16"))
    return element_type_of<float>();
  return own;
}

}}}  // namespace gpu::v1::detail
