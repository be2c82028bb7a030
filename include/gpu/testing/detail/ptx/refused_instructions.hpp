#pragma once
/// Legal PTX that is not executed here.

#include <string_view>

namespace gpu::inline v0::testing::ptx::detail {

/// Legal PTX that is refused by name: the words an instruction starts with, and why.
struct refused_instruction {
  std::string_view name;
  std::string_view what;
};
inline constexpr refused_instruction refused_instructions[] = {
    {"wmma", "tensor-core instructions"},
    {"mma", "tensor-core instructions"},
    {"wgmma", "tensor-core instructions"},
    {"tcgen05", "tensor-core instructions"},
    {"ldmatrix", "tensor-core instructions"},
    {"stmatrix", "tensor-core instructions"},
    {"movmatrix", "tensor-core instructions"},
    {"cp.async.bulk", "bulk copies"},
    {"cp.reduce.async.bulk", "bulk copies"},
    {"st.async", "asynchronous stores"},
    {"st.bulk", "bulk stores"},
    {"red.async", "asynchronous reductions"},
    {"tensormap", "tensor maps"},
    {"fence.proxy.tensormap::generic", "tensor maps"},
    {"prefetch.tensormap", "tensor maps"},
    {"prefetch.const.tensormap", "tensor maps"},
    {"prefetch.param.tensormap", "tensor maps"},
    {"multimem", "accesses to multicast memory"},
    {"clusterlaunchcontrol", "cluster launch control instructions"},
    {"tex.2dms", "multisampled textures"},
    {"tex.a2dms", "multisampled textures"},
    {"tex.base.2dms", "multisampled textures"},
    {"tex.base.a2dms", "multisampled textures"},
};

}  // namespace gpu::inline v0::testing::ptx::detail
