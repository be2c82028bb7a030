#pragma once
/// \file
/// `pinned_flags`: how page-locked host memory can be used.

#include <gpu/core/flags.hpp>

#include <gpu/driver/detail/cuda_header.hpp>

namespace gpu { inline namespace v1 {

/// Properties of page-locked memory, for `pinned_vector` and the allocators of pinned memory;
/// combine them with `|`.
enum class pinned_flags : unsigned {
  none = 0,
  portable = CU_MEMHOSTALLOC_PORTABLE,  ///< page-locked for all contexts, not only its own
  mapped = CU_MEMHOSTALLOC_DEVICEMAP,   ///< kernels can access it in host memory: `mapped_span`
  write_combined =
      CU_MEMHOSTALLOC_WRITECOMBINED,  ///< faster to send, but very slow to read on the host
};
template <> inline constexpr bool is_flag_set<pinned_flags> = true;

}}  // namespace gpu::v1
