#pragma once
/// Matrix instructions that NVIDIA's assembler (ptxas of CUDA 13.0, -arch=sm_90) takes and refuses:
/// statements for a function body with the registers of sample.hpp.

namespace ptx_test {

inline constexpr const char* accepted_matrix_statements[] = {
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [sh];",
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1,%f2}, [%r5];",
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1,%r2}, [%rd5];",
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {_,%r1}, [%r5];",
    "ldmatrix.sync.aligned.m8n8.x2.shared.trans.b16 {%r1,%r2}, [sh+16];",
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1,%r2}, [sh+16];",
    "ldmatrix.sync.aligned.m8n8.x4.b16 {%r1,%r2,%r3,%r4}, [%rd5];",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%f1,%r2,%r3,%r4}, [%r5];",
    "ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r1,%r2,%r3,%r4}, [%r5];",
    "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];",
    "mma.aligned.sync.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.m16n8k16.row.col.sync.aligned.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc "
    "{%r0,%r1,%r2,%r3},{%r2,%r3},{%r3},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,7},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r4},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{0f00000000,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%tid.x},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,0f00000000},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,0},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,_},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%r0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%r2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.rn.f64.f64.f64.f64 "
    "{%fd0,%fd1,%fd2,%fd3},{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7},{%fd0,%fd1,%fd2,%fd3},{%fd0,%"
    "fd1,%fd2,%fd3};",
    "mma.sync.aligned.m16n8k16.row.col.rz.f64.f64.f64.f64 "
    "{%fd0,%fd1,%fd2,%fd3},{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7},{%fd0,%fd1,%fd2,%fd3},{%fd0,%"
    "fd1,%fd2,%fd3};",
    "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 "
    "{%r6,%r7},{%r0,%r1,%r2,%r3},{%r4,%r5},{%r6,%r7};",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r4},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m8n8k128.row.col.and.popc.s32.b1.b1.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1},{%r2},{%r3},{0,0};",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {_,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32.satfinite {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.s4.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r2,%r3},{%r3,%r4},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
    "{%fd0,%fd1},{0d0000000000000000},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd0,%rd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {_,%rd1},{%rd0},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn {%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.rn.f64.f64.f64.f64 {%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.row.m16n8k16.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "movmatrix.sync.aligned.m8n8.trans.b16 %f1, %r2;",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
    "movmatrix.sync.aligned.trans.m8n8.b16 %r1, %r2;",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [sh], {%r1};",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r5], {%f1,%r2};",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r5], {%r1,0};",
    "stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%r5], {%r1,%r2};",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r5], {%r1,%r2,%r3,%tid.x};",
    "stmatrix.sync.aligned.m8n8.x4.trans.b16 [%rd5], {%r1,%r2,%r3,%r4};",
    "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r5], {%r1,%r2,%r3,%r4};",
    "wmma.load.a.sync.aligned.m16n16k16.row.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], "
    "%r9;",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], 16;",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,_}, [%rd1], 16;",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%r0,%r1,%r2,%r3}, [%rd1], %r9;",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], "
    "%r9;",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1}, [%rd1], %r9;",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], "
    "16;",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [sh];",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared::cta.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, "
    "[sh];",
    "wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%r0,%r1,%r2,%r3}, [%rd1], %r9;",
    "wmma.load.a.sync.aligned.row.m8n32k16.bf16 {%r0,%r1}, [%rd1], %r9;",
    "wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r0}, [%rd1], %r9;",
    "wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%fd0}, [%rd1], %r9;",
    "wmma.load.b.sync.aligned.col.m8n8k128.global.b1 {%r0}, [%rd1], %r9;",
    "wmma.load.b.sync.aligned.row.m8n32k16.bf16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], %r9;",
    "wmma.load.b.sync.aligned.row.m8n8k4.f64 {%fd0}, [%rd1], %r9;",
    "wmma.load.c.sync.aligned.col.m16n16k8.global.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%rd1], "
    "%r9;",
    "wmma.load.c.sync.aligned.col.m8n32k16.s32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], %r9;",
    "wmma.load.c.sync.aligned.col.m8n8k128.s32 {%r0,%r1}, [%rd1], %r9;",
    "wmma.load.c.sync.aligned.col.m8n8k4.f64 {%fd0,%fd1}, [%rd1], %r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%r7}, [%rd1], %r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.f32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], %r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3}, [%rd1], %r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%rd1], "
    "%r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%rd3], "
    "%r9;",
    "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 "
    "{%r0,%r1},{%r2},{%r3},{%r4,%r5};",
    "wmma.mma.sync.aligned.col.row.m16n16k16.s32.u8.u8.s32 "
    "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r2,%r3},{%r3,%r4},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};",
    "wmma.mma.sync.aligned.col.row.m16n16k8.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3,%f4,%"
    "f5,%f6,%f7};",
    "wmma.mma.sync.aligned.col.row.m8n8k4.f64.f64.f64.f64 {%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%f0,%"
    "f1,%f2,%f3,%f4,%f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3,%f4,%"
    "f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%"
    "r6,%r7},{%r0,%r1,%r2,%r3};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%"
    "r6,%r7},{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,_},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%"
    "r6,%r7},{%f0,%f1,%f2,%f3,%f4,%f5,%f6,0f00000000};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite "
    "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r2,%r3},{%r3,%r4},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};",
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3,%f4,%"
    "f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.and.popc "
    "{%r0,%r1},{%r2},{%r3},{%r4,%r5};",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r0,%r1},{%r2},{%r3},{%r4,%r5};",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32.satfinite "
    "{%r0,%r1},{%r2},{%r3},{%r4,%r5};",
    "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn "
    "{%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64 "
    "{%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64 "
    "{%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 "
    "{%r0,%r1},{%r2},{%r3},{%r4,%r5};",
    "wmma.store.d.sync.aligned.col.m16n16k8.f32 [%rd1],{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, %r9;",
    "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd1], {%f0,%f1,%f2,%f3,%f4,%f5,%f6,0f00000000}, "
    "%r9;",
    "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd1], {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, %r9;",
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, "
    "%r9;",
    "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r1+16], {%r0,%r1,%r2,%r3};",
    "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r1+16], {%r0,%r1,%r2,0};",
    "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,7},{%r4},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,7},{%r4},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%tid.x},{%r4},{%r0,%r1,%r2,%r3};",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r0,%r1},{7},{%r3},{%r4,%r5};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r2,5},{%r3,%r4},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,7},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,0};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd0,%fd1},{%fd0},{%fd0},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
    "{%fd0,%fd1,%fd2,%fd3},{%fd0,%fd1},{%fd0},{%fd0,%fd1,%fd2,%fd3};",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0,%r1},{%r0,%r1},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
    "{%fd0,%fd1,%fd2,%fd3},{%fd0,%fd1,%fd2,%fd3},{%fd0,%fd1},{%fd0,%fd1,%fd2,%fd3};",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
    "{%fd0,%fd1,%fd2,%fd3},{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7},{%fd0,%fd1,%fd2,%fd3},{%fd0,%"
    "fd1,%fd2,%fd3};",
    "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 {%r0,%r1},{%r0,%r1},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16 {%r0,%r1},{%r0,%r1},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16 {%r0,%r1},{%r0,%r1},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k32.row.col.s32.s4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k32.row.col.s32.u4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1};",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1};",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1};",
    "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1,%r2,%r3};",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m16n16k16.bf16 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m16n16k16.u8 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n32k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n32k16.bf16 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n32k16.s8 {%r0},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n32k16.u8 {%r0},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m32n8k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m32n8k16.bf16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m32n8k16.s8 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m32n8k16.u8 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m16n16k8.tf32 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n8k4.f64 {%fd0},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n8k32.s4 {%r0},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n8k128.b1 {%r0},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m16n16k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m16n16k16.bf16 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m16n16k16.s8 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m16n16k16.u8 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n32k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n32k16.bf16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n32k16.s8 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n32k16.u8 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m32n8k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m32n8k16.bf16 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m32n8k16.s8 {%r0},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m32n8k16.u8 {%r0},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m16n16k8.tf32 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n8k4.f64 {%fd0},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n8k32.s4 {%r0},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n8k128.b1 {%r0},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.f16 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.s32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n32k16.f16 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n32k16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n32k16.s32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m32n8k16.f16 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m32n8k16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m32n8k16.s32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m16n16k8.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n8k4.f64 {%fd0,%fd1},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n8k32.s32 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n8k128.s32 {%r0,%r1},[%rd8],%r9;",
    "wmma.store.d.sync.aligned.col.m16n16k16.shared.f16 [%r9],{%r0,%r1,%r2,%r3},32;",
    "wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 "
    "[%r9],{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},32;",
    "wmma.store.d.sync.aligned.col.m16n16k16.shared.s32 "
    "[%r9],{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},32;",
    "wmma.store.d.sync.aligned.col.m8n32k16.shared.f16 [%r9],{%r0,%r1,%r2,%r3},32;",
    "wmma.store.d.sync.aligned.col.m8n32k16.shared.f32 [%r9],{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},32;",
    "wmma.store.d.sync.aligned.col.m8n32k16.shared.s32 [%r9],{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},32;",
    "wmma.store.d.sync.aligned.col.m32n8k16.shared.f16 [%r9],{%r0,%r1,%r2,%r3},32;",
    "wmma.store.d.sync.aligned.col.m32n8k16.shared.f32 [%r9],{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},32;",
    "wmma.store.d.sync.aligned.col.m32n8k16.shared.s32 [%r9],{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},32;",
    "wmma.store.d.sync.aligned.col.m16n16k8.shared.f32 [%r9],{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},32;",
    "wmma.store.d.sync.aligned.col.m8n8k4.shared.f64 [%r9],{%fd0,%fd1},32;",
    "wmma.store.d.sync.aligned.col.m8n8k32.shared.s32 [%r9],{%r0,%r1},32;",
    "wmma.store.d.sync.aligned.col.m8n8k128.shared.s32 [%r9],{%r0,%r1},32;",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1},{%r0,%r1},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};",
    "wmma.mma.sync.aligned.row.col.m8n32k16.f32.f16 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%"
    "r6,%r7},{%r0,%r1,%r2,%r3};",
    "wmma.mma.sync.aligned.row.col.m8n32k16.f16.f32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%f0,%"
    "f1,%f2,%f3,%f4,%f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%f0,%f1,%f2,%"
    "f3,%f4,%f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};",
    "wmma.mma.sync.aligned.row.col.m32n8k16.f32.f16 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%"
    "r6,%r7},{%r0,%r1,%r2,%r3};",
    "wmma.mma.sync.aligned.row.col.m32n8k16.f16.f32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%f0,%"
    "f1,%f2,%f3,%f4,%f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1},{%f0,%f1,%f2,%"
    "f3,%f4,%f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};",
    "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%fd0,%fd1},{%fd0},{%fd0},{%fd0,%fd1};",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 "
    "{%r0,%r1},{%r0},{%r0},{%r0,%r1};",
};

inline constexpr const char* refused_matrix_statements[] = {
    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1,%r2}, [%r5];",
    "ldmatrix.sync.aligned.m8n8.shared.b16 {%r1}, [%r5];",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r1, [sh];",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%h1}, [%r5];",
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1,%r2}, [128];",
    "ldmatrix.sync.aligned.m8n8.x4.global.b16 {%r1,%r2,%r3,%r4}, [%rd5];",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b32 {%r1,%r2,%r3,%r4}, [%r5];",
    "ldmatrix.sync.aligned.m8n8.x4.shared::cluster.b16 {%r1,%r2,%r3,%r4}, [%r5];",
    "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3
};

}  // namespace ptx_test
