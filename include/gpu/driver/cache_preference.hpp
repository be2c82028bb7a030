#pragma once
/// \file
/// `cache_preference`: what a context or a kernel would rather have of the memory that L1 cache and
/// shared memory divide.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/driver/detail/cuda_header.hpp>

namespace gpu { inline namespace v1 {

/// The division of a multiprocessor's memory between L1 cache and shared memory, on devices that
/// let it be chosen. Converts to `CUfunc_cache` by cast.
enum class cache_preference : unsigned char {
  none = CU_FUNC_CACHE_PREFER_NONE,
  shared = CU_FUNC_CACHE_PREFER_SHARED,  ///< more shared memory
  l1 = CU_FUNC_CACHE_PREFER_L1,          ///< more L1 cache
  equal = CU_FUNC_CACHE_PREFER_EQUAL,
};

/// Returns the preference's name, such as "l1"; null for any other value.
constexpr const char* name_of(cache_preference preference) noexcept {
  using enum cache_preference;
  return detail::find_name(preference,
                           {{none, "none"}, {shared, "shared"}, {l1, "l1"}, {equal, "equal"}});
}

}}  // namespace gpu::v1
