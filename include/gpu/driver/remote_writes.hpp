#pragma once
/// \file
/// Order between this process and devices that write to its memory by the bus (GPUDirect RDMA).

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/refusals.hpp>

namespace gpu { inline namespace v1 {

/// The devices to which a flush makes arrived writes visible.
enum class remote_writes_scope : int {
  /// the device whose memory it is
  owner = CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER,
  /// every CUDA device of the process
  all_devices = CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES,
};

/// Returns the scope's name, such as "all_devices"; null for any other value.
constexpr const char* name_of(remote_writes_scope scope) noexcept {
  using enum remote_writes_scope;
  return detail::find_name(scope, {{owner, "owner"}, {all_devices, "all_devices"}});
}

/// Blocks until writes that other devices of the PCI bus made to the context's memory are visible
/// in that scope. Needed only if the attribute `gpu_direct_rdma_writes_ordering` is a smaller
/// scope.
/// **Errors**: `errc::invalid_argument` for a value that is not a valid scope;
/// CUDA_ERROR_NOT_SUPPORTED if `gpu_direct_rdma_flush_writes_options` lacks `host`.
/// **Capture**: not captured. **Threads**: any. (cuFlushGPUDirectRDMAWrites)
inline result<> flush_remote_writes(context_ref of,
                                    remote_writes_scope scope = remote_writes_scope::all_devices,
                                    source_location where = source_location::current()) noexcept {
  constexpr const char* function = "gpu::flush_remote_writes";
  GPU_TRY(detail::require(of, function, where));
  GPU_TRY(detail::require_enumerator(scope, "remote_writes_scope", function, where));
  return driver::call_in<&driver::entry_points::flush_gpu_direct_rdma_writes>(
      of.native(), where, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
      static_cast<CUflushGPUDirectRDMAWritesScope>(scope));
}

}}  // namespace gpu::v1
