#pragma once
/// Rows of the instruction table: matrix instructions of a warp group.

#include <nogpu/ptx/instruction_form.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

// The operands of a product: D, which is C as well, A, B, whether C counts, then the signs of A and
// B and which of the matrices in shared memory are transposed. Sparse A: metadata and selector
// before the predicate.
inline constexpr form matrix_group_forms[] = {
    {"wgmma.fence", opcode::wgmma_fence, "sync! aligned!", "", "", 90},
    {"wgmma.commit_group", opcode::wgmma_commit_group, "sync! aligned!", "", "", 90},
    {"wgmma.wait_group", opcode::wgmma_wait_group, "sync! aligned!", "", "I", 90},

    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k16!", "f16 f32|f16|f16", "FGlpIII",
     90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k16!", "f16 f32|f16|f16", "FllpIIII",
     90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k16!", "f32|bf16|bf16", "FGlpIII",
     90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k16!", "f32|bf16|bf16", "FllpIIII",
     90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k8!", "f32|tf32|tf32", "FslpII", 90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k32!", "f16 f32|e4m3 e5m2|e4m3 e5m2",
     "FslpII", 90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k32! satfinite", "s32|s8 u8|s8 u8",
     "Fslp", 90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k256! and! counted!", "s32|b1|b1",
     "Fslp", 90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k32! sparse_group!",
     "f16 f32|f16|f16", "FGleIpIII", 90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k32! sparse_group!",
     "f16 f32|f16|f16", "FlleIpIIII", 90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k32! sparse_group!", "f32|bf16|bf16",
     "FGleIpIII", 90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k32! sparse_group!", "f32|bf16|bf16",
     "FlleIpIIII", 90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k16! sparse_group!", "f32|tf32|tf32",
     "FsleIpII", 90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k64! sparse_group!",
     "f16 f32|e4m3 e5m2|e4m3 e5m2", "FsleIpII", 90},
    {"wgmma.mma_async", opcode::wgmma_mma, "sync! aligned! m64k64! sparse_group! satfinite",
     "s32|s8 u8|s8 u8", "FsleIp", 90},
};

}}}  // namespace nogpu::v1::ptx::detail
