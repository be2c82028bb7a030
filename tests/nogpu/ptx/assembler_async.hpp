#pragma once
/// \file
/// Bulk reductions, asynchronous stores and reductions that NVIDIA's assembler (ptxas of
/// CUDA 13.0, for sm_90) takes, and such that it refuses; and changes of tensor maps, for sm_90a.

#include <string_view>

namespace ptx_test {

/// An instruction that has an operation and a type: how it begins and goes on behind them, and the
/// pairs of them that the assembler takes, with .noftz where that has to be there.
struct combining_instruction {
  std::string_view name, operands, taken;
};

inline constexpr std::string_view all_operations[] = {"add", "min", "max", "inc",  "dec",
                                                      "and", "or",  "xor", "exch", "cas"};
inline constexpr std::string_view all_types[] = {
    "b8",  "b16", "b32", "b64", "b128",  "u8",   "u16",    "u32", "u64", "s8",
    "s16", "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "f32", "f64"};

inline constexpr combining_instruction combining_instructions[] = {
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.", " [%rd1], [%r1], %r2;",
     "add.u32 add.u64 add.s32 add.f32 add.f64 add.noftz.f16 add.noftz.bf16 min.u32 min.u64 min.s32 "
     "min.s64 min.f16 min.bf16 max.u32 max.u64 max.s32 max.s64 max.f16 max.bf16 inc.u32 dec.u32 "
     "and.b32 and.b64 or.b32 or.b64 xor.b32 xor.b64"},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.",
     " [%r3], [%r1], %r2, [%r4];",
     "add.u32 add.u64 add.s32 min.u32 min.s32 max.u32 max.s32 inc.u32 dec.u32 and.b32 or.b32 "
     "xor.b32"},
    // The value is in %value.
    {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.",
     " [%r1], %value, [%r2];",
     "add.u32 add.u64 add.s32 add.s64 min.u32 min.s32 max.u32 max.s32 inc.u32 dec.u32 and.b32 "
     "or.b32 xor.b32"},
};

inline constexpr const char* accepted_async_statements[] = {
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32 [%rd3], [%r1], %r2, "
    "%rd1;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.f16 [%rd3], "
    "[%r1], %r2, %rd1;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd3], [sh], 16;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b64 [%rd3], [%rd1], 0;",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
    "[sh+16], [sh], 16, [sh+32];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r5, [%r2];",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], 5, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %f1, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%rd1], %r5, [%rd2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [sh], %r5, [sh+16];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%r1], 0f3f800000, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r1], %rd5, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64 [%r1], %rd5, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s64 [%r1], -5, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%r1], %fd1, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1], {%r1, 5}, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [%r1], {%fd1, %fd2}, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%r1], {%rd1, 5}, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%r1], {%f1, %f1, %f2, "
    "%f3}, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%r1], {%r1, %r2, %r3, "
    "-4}, [%r2];",
    "st.async.shared::cta.mbarrier::complete_tx::bytes.b32 [%r1], %r5, [%r2];",
    "st.async.weak.shared.mbarrier::complete_tx::bytes.b32 [%r1], %r5, [%r2];",
    "st.async.weak.mbarrier::complete_tx::bytes.b32 [%rd1], %r5, [%rd2];",
    "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32 [%rd1], %r5, [%rd2];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], 5, "
    "[%r2];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%rd1], 5, "
    "[%rd2];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.and.b32 [sh], %f1, "
    "[sh+8];",
};

inline constexpr const char* refused_async_statements[] = {
    "cp.reduce.async.bulk.shared::cta.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r3], "
    "[%r1], %r2, [%r4];",
    "cp.reduce.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.add.u32 [%r3], "
    "[%rd1], %r2, [%r4];",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.L2::cache_hint."
    "add.u32 [%r3], [%r1], %r2, [%r4], %rd1;",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.multicast::"
    "cluster.add.u32 [%r3], [%r1], 16, [%r4], %rs1;",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r3], "
    "[%r1], 16;",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.bulk_group.add.u32 [%r3], [%r1], 16;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32 [%rd3], [%r1], "
    "%r2;",
    "cp.reduce.async.bulk.global.shared::cta.add.u32 [%rd3], [%r1], %r2;",
    "cp.reduce.async.bulk.global.shared::cluster.bulk_group.add.u32 [%rd3], [%r1], 16;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd3], [%r1], 8;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd3], [%r1], %rd2;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [sh], [sh], 16;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.u32 [%rd3], [%r1], 16;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add [%rd3], [%r1], 16;",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b16 [%r1], %rs1, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u8 [%r1], %r5, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b128 [%r1], %q1, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%r1], {%rd1, %rd2, %rd3, "
    "%rd4}, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v8.b32 [%r1], {%r1, %r1, %r1, %r1, "
    "%r1, %r1, %r1, %r1}, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1], {%r1, _}, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1], {%r1}, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %rd5, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %f1, [%r2];",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [lo], %r5, [%r2];",
    "st.async.weak.shared::cluster.b32 [%r1], %r5, [%r2];",
    "st.async.weak.shared::cluster.b32 [%r1], %r5;",
    "st.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r5, [%r2];",
    "st.async.weak.global.b32 [%rd1], %r5;",
    "st.async.mmio.release.sys.global.b32 [%rd1], %r5;",
    "red.async.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r5, [%r2];",
    "red.async.relaxed.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r5, [%r2];",
    "red.async.relaxed.gpu.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r5, [%r2];",
    "red.async.release.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r5, "
    "[%r2];",
    "red.async.relaxed.cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r1], %r5, "
    "[%r2];",
    "red.async.relaxed.cluster.global.mbarrier::complete_tx::bytes.add.u32 [%rd1], %r5, [%r2];",
    "red.async.relaxed.cluster.shared::cluster.add.u32 [%r1], %r5;",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %rd5, "
    "[%r2];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [sh], %f1, "
    "[sh+8];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.v2.add.u32 [%r1], "
    "{%r5, %r6}, [%r2];",
};

inline constexpr const char* accepted_map_statements[] = {
    "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;",
    "tensormap.replace.tile.global_address.b1024.b64 [%rd1], 16;",
    "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %rd2;",
    "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [sh], %rd2;",
    "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], %r2;",
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd1], 3;",
    "tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 0, %r2;",
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 4, 64;",
    "tensormap.replace.tile.global_dim.global.b1024.b32 [%rd1], 4, %r2;",
    "tensormap.replace.tile.global_stride.global.b1024.b64 [%rd1], 4, %rd2;",
    "tensormap.replace.tile.element_stride.b1024.b32 [%rd1], 4, %r2;",
    "tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], 12;",
    "tensormap.replace.tile.interleave_layout.global.b1024.b32 [%rd1], 0;",
    "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r1], 3;",
    "tensormap.replace.tile.fill_mode.global.b1024.b32 [%rd1], 1;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[%rd1], [%r1], 128;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.cta.sync.aligned "
    "[%rd1], [sh], 128;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.cluster.sync.aligned "
    "[%rd1], [%rd2], 128;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.sys.sync.aligned "
    "[%rd1], [%r1], 128;",
};

inline constexpr const char* refused_map_statements[] = {
    "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 64;",
    "tensormap.replace.global_address.global.b1024.b64 [%rd1], %rd2;",
    "tensormap.replace.im2col.global_address.global.b1024.b64 [%rd1], %rd2;",
    "tensormap.replace.tile.global_address.shared.b1024.b64 [%rd1], %rd2;",
    "tensormap.replace.tile.global_address.shared::cluster.b1024.b64 [%rd1], %rd2;",
    "tensormap.replace.tile.global_address.global.b1024.b32 [%rd1], %r2;",
    "tensormap.replace.tile.global_address.global.b64 [%rd1], %rd2;",
    "tensormap.replace.tile.rank.global.b1024.b64 [%rd1], %rd3;",
    "tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 5, %r2;",
    "tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], %r3, %r2;",
    "tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], %r2;",
    "tensormap.replace.tile.global_dim.global.b1024.b64 [%rd1], 4, %rd2;",
    "tensormap.replace.tile.global_stride.global.b1024.b64 [%rd1], 5, %rd2;",
    "tensormap.replace.tile.global_stride.global.b1024.b32 [%rd1], 3, %r2;",
    "tensormap.replace.tile.element_size.global.b1024.b32 [%rd1], 4, %r2;",
    "tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], 13;",
    "tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], %r2;",
    "tensormap.replace.tile.interleave_layout.global.b1024.b32 [%rd1], 3;",
    "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], 4;",
    "tensormap.replace.tile.fill_mode.global.b1024.b32 [%rd1], 2;",
    "tensormap.replace.tile.fill_mode.global.b1024.b32 [%rd1], %r1;",
    "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%rd1], 0;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[%rd1], [%r1], 64;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[%rd1], [%r1], %r2;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.acquire.gpu.sync.aligned "
    "[%rd1], [%r1], 128;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync [%rd1], [%r1], "
    "128;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu [%rd1], [%r1], 128;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.sync.aligned [%rd1], "
    "[%r1], 128;",
    "tensormap.cp_fenceproxy.global.shared.tensormap::generic.release.gpu.sync.aligned [%rd1], "
    "[%r1], 128;",
    "tensormap.cp_fenceproxy.shared::cta.global.tensormap::generic.release.gpu.sync.aligned [%r1], "
    "[%rd1], 128;",
    "tensormap.cp_fenceproxy.global.shared::cta.release.gpu.sync.aligned [%rd1], [%r1], 128;",
};

}  // namespace ptx_test
