#pragma once
/// \file
/// The part of the L2 cache that access policies set aside.

#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>

namespace gpu { inline namespace v1 {

/// Resets all persisting lines of the L2 cache to normal.
/// **Capture**: not captured. **Threads**: any. (cuCtxResetPersistingL2Cache)
inline result<> reset_persisting_l2_cache(
    context_ref of, source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(of, "gpu::reset_persisting_l2_cache", where));
  return driver::call_in<&driver::entry_points::ctx_reset_persisting_l2_cache>(of.native(), where);
}

}}  // namespace gpu::v1
