#pragma once
/// Matrix instructions, bulk copies and copies of tensors that NVIDIA's assembler (ptxas of
/// CUDA 13.0, -arch=sm_90 where nothing else is said) takes and refuses: statements for a function
/// body with the registers of sample.hpp.

namespace ptx_test {

inline constexpr const char* accepted_matrix_statements[] = {
    "mma.aligned.sync.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.m16n8k16.row.col.sync.aligned.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc "
    "{%r0,%r1,%r2,%r3},{%r2,%r3},{%r3},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
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
    "{%f0,%f1,%f2,_},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
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
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {_,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32.satfinite {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.s4.s32 {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r2,%r3},{%r3,%r4},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd0,%rd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {_,%rd1},{%rd0},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn {%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.rn.f64.f64.f64.f64 {%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%fd0,%fd1},{%fd2},{%fd3},{%fd0,%fd1};",
    "mma.sync.aligned.row.m16n8k16.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,7},{%r4},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,7},{%r4},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%tid.x},{%r4},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,7},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,0};",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
    "{%fd0,%fd1,%fd2,%fd3},{%fd0,%fd1},{%fd0},{%fd0,%fd1,%fd2,%fd3};",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r0,%r1},{%r0,%r1},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
    "{%fd0,%fd1,%fd2,%fd3},{%fd0,%fd1,%fd2,%fd3},{%fd0,%fd1},{%fd0,%fd1,%fd2,%fd3};",
    "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
    "{%fd0,%fd1,%fd2,%fd3},{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7},{%fd0,%fd1,%fd2,%fd3},{%fd0,%"
    "fd1,%fd2,%fd3};",
    "mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 {%r0,%r1},{%r0,%r1},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16 {%r0,%r1},{%r0,%r1},{%r0},{%r0,%r1};",
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
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,_}, [%rd1], 16;",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], "
    "%r9;",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], "
    "16;",
    "wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%r0,%r1,%r2,%r3}, [%rd1], %r9;",
    "wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r0}, [%rd1], %r9;",
    "wmma.load.b.sync.aligned.col.m8n8k128.global.b1 {%r0}, [%rd1], %r9;",
    "wmma.load.b.sync.aligned.row.m8n8k4.f64 {%fd0}, [%rd1], %r9;",
    "wmma.load.c.sync.aligned.col.m8n32k16.s32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1], %r9;",
    "wmma.load.c.sync.aligned.col.m8n8k4.f64 {%fd0,%fd1}, [%rd1], %r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3}, [%rd1], %r9;",
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
    "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd1], {%f0,%f1,%f2,%f3,%f4,%f5,%f6,0f00000000}, "
    "%r9;",
    "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r1+16], {%r0,%r1,%r2,%r3};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r2,5},{%r3,%r4},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};",
    "wmma.load.a.sync.aligned.row.m32n8k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m16n16k8.tf32 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n8k32.s4 {%r0},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m16n16k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n32k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m32n8k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m32n8k16.s8 {%r0},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m16n16k8.tf32 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n8k32.s4 {%r0},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.f16 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n32k16.f16 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n32k16.s32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m32n8k16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m16n16k8.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n8k32.s32 {%r0,%r1},[%rd8],%r9;",
    "wmma.store.d.sync.aligned.col.m16n16k16.shared.f16 [%r9],{%r0,%r1,%r2,%r3},32;",
    "wmma.store.d.sync.aligned.col.m16n16k16.shared.s32 "
    "[%r9],{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},32;",
    "wmma.store.d.sync.aligned.col.m8n32k16.shared.f32 [%r9],{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},32;",
    "wmma.store.d.sync.aligned.col.m32n8k16.shared.f16 [%r9],{%r0,%r1,%r2,%r3},32;",
    "wmma.store.d.sync.aligned.col.m32n8k16.shared.s32 [%r9],{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},32;",
    "wmma.store.d.sync.aligned.col.m8n8k4.shared.f64 [%r9],{%fd0,%fd1},32;",
    "wmma.store.d.sync.aligned.col.m8n8k128.shared.s32 [%r9],{%r0,%r1},32;",
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
    "movmatrix.sync.aligned.m8n8.b16 %r1, %r2;",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r1, 5;",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %tid.x;",
    "movmatrix.sync.aligned.m8n8.trans.b16 {%r1}, {%r2};",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [sh], %r1;",
    "stmatrix.sync.aligned.m8n8.x2.trans.shared.b8 [%r5], {%r1,%r2};",
    "mma.sync.aligned.m16n8k16.row.col.rn.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.or.popc {%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k128.row.col.satfinite.s32.b1.b1.s32.and.popc "
    "{%r0,%r1},{%r2},{%r3},{%r0,%r1};",
    "wmma.load.a.sync.aligned.row.m16n16k16.local.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd1];",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared::cluster.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, "
    "[sh];",
    "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.satfinite "
    "{%r0,%r1},{%r2},{%r3},{%r4,%r5};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%"
    "r6,%r7},{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.rn.f32.f32 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%"
    "r6,%r7},{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
    "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {%f0,%f1,%f2,%f3},{%r2,%r3},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%f0,%f1},{%r2},{%r3},{%r0,%r1};",
    "mma.sync.aligned.m8n8k4.col.col.f64.f64.f64.f64 {%fd0,%fd1},{%fd0},{%fd0},{%fd0,%fd1};",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%r0,%r1},{%r0,%r1},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k32.col.col.s32.s4.u4.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r0,%r1},{%r0,%r1},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k8.col.col.f16.f16.f16.f16 {%r0,%r1},{%r0,%r1},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.col.col.f16.f16.f16.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1};",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.col.col.s32.s8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r0},{%r0,%r1};",
    "mma.sync.aligned.m16n8k16.col.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k32.col.col.s32.u8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k32.row.col.s32.s4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k32.col.col.f32.e4m3.e4m3.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1},{%f0,%f1,%f2,%f3};",
    "mma.sync.aligned.m16n8k64.col.col.s32.s4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1,%r2,%r3};",
    "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1},{%r0,%r1,%r2,%r3};",
    "wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r0}, [%rd1], %r9;",
    "wmma.load.b.sync.aligned.row.m8n8k128.b1 {%r0}, [%rd1], %r9;",
    "wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32 {%r0,%r1},{%r2},{%r3},{%r4,%r5};",
    "wmma.load.a.sync.aligned.row.m16n16k16.e4m3 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n32k16.e4m3 {%r0},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m32n8k16.e4m3 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m16n16k8.b1 {%r0},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n8k4.s8 {%r0},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n8k32.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n8k32.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},[%rd8],%r9;",
    "wmma.load.a.sync.aligned.row.m8n8k128.s8 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m16n16k16.f64 "
    "{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n32k16.f64 "
    "{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m32n8k16.f64 {%fd0,%fd1,%fd2,%fd3},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m16n16k8.bf16 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m16n16k8.s32 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n8k4.s4 {%r0},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n8k32.tf32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n8k32.e4m3 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.b.sync.aligned.col.m8n8k128.s4 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m16n16k16.s8 {%r0,%r1},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n32k16.f64 "
    "{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m32n8k16.tf32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m16n16k8.f16 {%r0,%r1,%r2,%r3},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m16n16k8.b1 {%r0},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n8k4.u8 {%r0},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n8k32.bf16 {%r0},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n8k32.e4m3 {%r0},[%rd8],%r9;",
    "wmma.load.c.sync.aligned.row.m8n8k128.s4 {%r0},[%rd8],%r9;",
    "wmma.store.d.sync.aligned.col.m32n8k16.shared.bf16 [%r9],{%r0,%r1,%r2,%r3},32;",
    "wmma.store.d.sync.aligned.col.m8n8k4.shared.bf16 [%r9],{%r0},32;",
    "wmma.store.d.sync.aligned.col.m8n8k128.shared.bf16 [%r9],{%r0},32;",
    "wmma.mma.sync.aligned.row.col.m8n32k16.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%f0,%"
    "f1,%f2,%f3,%f4,%f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m32n8k16.f64.f64.f64.f64 "
    "{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7},{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7},{%fd0,%"
    "fd1,%fd2,%fd3},{%fd0,%fd1,%fd2,%fd3,%fd4,%fd5,%fd6,%fd7};",
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
    "wmma.mma.sync.aligned.row.col.m8n8k4.f16.f32 "
    "{%r0},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%f0,%f1};",
    "wmma.mma.sync.aligned.row.col.m8n8k4.f16.bf16.bf16.f16 {%r0},{%r0},{%r0},{%r0};",
    "wmma.mma.sync.aligned.row.col.m8n8k32.f16.bf16.bf16.f16 "
    "{%r0},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0};",
    "wmma.mma.sync.aligned.row.col.m8n8k128.f16.bf16.bf16.f16 "
    "{%r0},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7},{%r0};",
};

inline constexpr const char* accepted_bulk_statements[] = {
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [sh], [%rd1], 64, [sh+32];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1], "
    "[%rd1], %r2, [%r3], %rd4;",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r4], %r2, "
    "[%r3];",
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r4], %r2;",
    "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd1], [%r4], %r2, %rd5;",
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r4], 0;",
    "cp.async.bulk.commit_group;",
    "cp.async.bulk.wait_group 0;",
    "cp.async.bulk.wait_group.read 3;",
    "cp.async.bulk.prefetch.L2.global [%rd1], %r2;",
    "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1], %r2, %rd3;",
};

inline constexpr const char* accepted_tensor_statements[] = {
    "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, "
    "{%r2}], [%r3];",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [sh], [%rd1, "
    "{%r2, 5}], [sh+32];",
    "cp.async.bulk.tensor.2d.tile.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1, "
    "{%r2, -5}], [%r3];",
    "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
    "[%r1], [%rd1, {%r2, %r4, %r5, %r6, %r7}], [%r3], %rd4;",
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
    "[%rd1, {%r2, %r4, %r5}], [%r3], {%rs1};",
    "cp.async.bulk.tensor.4d.im2col.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
    "[%rd1, {%r2, %r4, %r5, %r6}], [%r3], {%rs1, 3};",
    "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_"
    "hint [%r1], [%rd1, {%r2, %r4, %r5, %r6, %r7}], [%r3], {%rs1, %rs2, %rs3}, %rd4;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
    "cluster [%r1], [%rd1, {%r2, %r4}], [%r3], %rs1;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
    "cluster [%r1], [%rd1, {%r2, %r4}], [%r3], 3;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
    "cluster.L2::cache_hint [%r1], [%rd1, {%r2, %r4}], [%r3], %rs1, %rd4;",
    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::"
    "cluster [%r1], [%rd1, {%r2, %r4, %r5, %r6}], [%r3], {%rs1, %rs2}, %rs3;",
    "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r2}], [%r1];",
    "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint [%rd1, {%r2, %r3, "
    "%r4}], [sh], %rd4;",
    "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%rd1, {%r2, %r3, %r4, "
    "%r5}], [%r1];",
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd1, {%r2, %r3}], "
    "[%r1];",
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.bulk_group [%rd1, {%r2, %r3}], [%r1];",
    "cp.reduce.async.bulk.tensor.3d.global.shared::cta.xor.im2col_no_offs.bulk_group.L2::cache_"
    "hint [%rd1, {%r2, %r3, %r4}], [%r1], %rd4;",
    "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r2, %r3}];",
    "cp.async.bulk.prefetch.tensor.1d.L2.global.L2::cache_hint [%rd1, {%r2}], %rd4;",
    "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%rd1, {%r2, %r3, %r4}], {%rs1};",
    "prefetch.tensormap [%rd1];",
    "prefetch.param.tensormap [%rd1];",
    "prefetch.const.tensormap [%rd1];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], "
    "[%rd1], %r2, [%r3], %rs1;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::"
    "cache_hint [%r1], [%rd1], %r2, [%r3], %rs1, %rd4;",
    "fence.proxy.tensormap::generic.release.gpu;",
    "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;",
    "fence.proxy.tensormap::generic.acquire.cluster [%rd1], 128;",
};

inline constexpr const char* refused_tensor_statements[] = {
    "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, "
    "{%r2}], [%r3];",
    "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, "
    "%r2], [%r3];",
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], "
    "[%rd1, {%r2, %r4, %r5}], [%r3];",
};

// Products of sparse matrices.
inline constexpr const char* accepted_sparse_statements[] = {
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
    "{%r8,%r9},{%r4,%r5},{%r0,%r1},{%r8,%r9},%r9,3;",
    "mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 "
    "{%r8,%r9},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r8,%r9},%r9,1;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5},{%r0,%r1},{%f0,%f1,%f2,%f3},%r9,3;",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5},{%r0,%r1},{%f0,%f1,%f2,%f3},%r9,3;",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5},{%r0,%r1},{%f0,%f1,%f2,%f3},%r9,3;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.u8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.u8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.f32.e5m2.e4m3.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.f32.e5m2.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
    "{%r8,%r9},{%r4,%r5},{%r0,%r1},{%r8,%r9},%r9,3;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 "
    "{%r8,%r9},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r8,%r9},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5},{%r0,%r1},{%f0,%f1,%f2,%f3},%r9,3;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5},{%r0,%r1},{%f0,%f1,%f2,%f3},%r9,3;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5},{%r0,%r1},{%f0,%f1,%f2,%f3},%r9,3;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5},{%r0,%r1},{%r0,%r1,%r2,%r3},%r9,1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e5m2.e4m3.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e5m2.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r4,%r5,%r6,%r7},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r9,0;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
    "{%r0,%r1},{%r0,%r1},{%r0,%r1},{%r0,%r1},%r5,0;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5,3;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%f5,0;",
    "mma.sync.sp.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r5,1;",
    "mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},%r5,1;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5,0;",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r5,1;",
    "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5,3;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r5,1;",
    "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1},{%r0,%r1,%r2,%r3},%r5,1;",
    "mma.sp.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1},{%r0,%r1,%r2,%r3},%r5,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r5,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1},{%r0,%r1,%r2,%r3},%r5,1;",
    "mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r5,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r5,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,_},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r5,0;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,7},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5,0;",
};
inline constexpr const char* refused_sparse_statements[] = {
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5,4;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},7,3;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5,%r6;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%rd5,0;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5;",
    "mma.sp.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5,0;",
    "mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f32 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r5,1;",
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r5,2;",
    "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1},{%r0,%r1,%r2,%r3},%r5,2;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r5,1;",
    "mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1},{%r0,%r1},{%r0,%r1,%r2,%r3},%r5,2;",
    "mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.s4.s32 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r5,1;",
    "mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e5m2.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},%r5,0;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e4m3.e5m2.f16 "
    "{%r0,%r1},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1},%r5,0;",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1},{%r0,%r1},{%f0,%f1,%f2,%f3},%r5,0;",
    "mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%f0,%f1,%f2,%f3},%r5,1;",
    "mma.sp.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1},{%r0},{%r0},{%r0,%r1},%r5,0;",
    "mma.sp.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%r5,0;",
};

// Matrix instructions of warp groups, -arch=sm_90a.
inline constexpr const char* accepted_group_statements[] = {
    "wgmma.fence.sync.aligned;",
    "wgmma.fence.aligned.sync;",
    "wgmma.commit_group.sync.aligned;",
    "wgmma.wait_group.sync.aligned 0;",
    "wgmma.wait_group.sync.aligned 7;",
    "wgmma.wait_group.sync.aligned 8;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,-1,1,0,1;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,%rd1,!%p0,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,5,%p0,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},%rd1,%p0,1,1,0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r0,%r1},%rd0,%rd1,%p0,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},%rd1,%p0,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e5m2 {%r0,%r1},%rd0,%rd1,%p0,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%r0,%r1,%r2,%r3},%rd0,%rd1,%p0;",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8.satfinite {%r0,%r1,%r2,%r3},%rd0,%rd1,%p0;",
    "wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.u8.u8 "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%rd1,%p0;",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r0,%r1,%r2,%r3},%rd0,%rd1,%p0;",
    "wgmma.mma_async.sync.aligned.m64n8k256.and.popc.s32.b1.b1 {%r0,%r1,%r2,%r3},%rd0,%rd1,%p0;",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc "
    "{%r0,%r1,%r2,%r3},{%r0,%r1,%r2,%r3},%rd1,%p0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 "
    "{%f0,%f1,%f2,%f3},%rd0,%rd1,%r4,0,%p0,1,1,0,0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 "
    "{%f0,%f1,%f2,%f3},%rd0,%rd1,%r4,1,%p0,1,1,0,0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},%rd1,%r4,1,%p0,1,1,0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},%rd1,%r4,1,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},%rd1,%r4,0,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r0,%r1,%r2,%r3},%rd0,%rd1,%r4,0,%p0;",
    "wgmma.mma_async.sync.sp.aligned.m64n8k64.s32.s8.s8 {%r0,%r1,%r2,%r3},%rd0,%rd1,%r4,0,%p0;",
    "@%p1 wgmma.fence.sync.aligned;",
    "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},%rd1,%p0,1,-1,1;",
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r4,%r5,%r6,%r7},%rd1,%p0,1,-1,1;",
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
    "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7},{%r4,%r5,%r6,%r7},%rd1,%p0,1,-1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {%r0,%r1},%rd0,%rd1,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f16.e4m3.e4m3 {%r0,%r1},%rd0,%rd1,%r5,0,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f16.e4m3.e5m2 {%r0,%r1},%rd0,%rd1,%r5,0,%p0,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.f16.e5m2.e4m3 {%r0,%r1},%rd0,%rd1,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f16.e5m2.e4m3 {%r0,%r1},%rd0,%rd1,%r5,0,%p0,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.f16.e5m2.e5m2 {%r0,%r1},%rd0,%rd1,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f16.e5m2.e5m2 {%r0,%r1},%rd0,%rd1,%r5,0,%p0,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 "
    "{%f0,%f1,%f2,%f3},%rd0,%rd1,%r5,0,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2 "
    "{%f0,%f1,%f2,%f3},%rd0,%rd1,%r5,0,%p0,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e4m3 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e5m2.e4m3 "
    "{%f0,%f1,%f2,%f3},%rd0,%rd1,%r5,0,%p0,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e5m2.e5m2 "
    "{%f0,%f1,%f2,%f3},%rd0,%rd1,%r5,0,%p0,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0,%r1,%r2,%r3},%rd0,%rd1,%p0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.satfinite.s32.s8.s8 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},%rd1,%r9,0,%p0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.satfinite.s32.s8.u8 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},%rd1,%r9,0,%p0;",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {%r0,%r1,%r2,%r3},%rd0,%rd1,%p0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.satfinite.s32.u8.s8 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},%rd1,%r9,0,%p0;",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.u8 {%r0,%r1,%r2,%r3},%rd0,%rd1,%p0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.satfinite.s32.u8.u8 "
    "{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},%rd1,%r9,0,%p0;",
};
inline constexpr const char* refused_group_statements[] = {
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,0,1,0,1;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1,0,2;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,_},%rd0,%rd1,%p0,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},%rd1,%p0,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1,0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%r0,%r1},%rd0,%rd1,%p0,1,1,1,1;",
    "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc {%r0,%r1,%r2,%r3},%rd0,%rd1,%p0;",
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1,0,0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 "
    "{%f0,%f1,%f2,%f3},%rd0,%rd1,%r4,2,%p0,1,1,0,0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2 "
    "{%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},%rd1,%r4,1,%p0,1,1;",
    "wgmma.mma_async.sp::ordered_metadata.sync.aligned.m64n8k64.s32.s8.s8 "
    "{%r0,%r1,%r2,%r3},%rd0,%rd1,%r4,0,%p0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r0,%r1,%r2,%r3},%rd0,%rd1,%r4,1,%p0;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 "
    "{%f0,%f1,%f2,%f3},%rd0,%rd1,%r4,2,%p0,1,1;",
    "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 "
    "{%f0,%f1,%f2,%f3},%rd0,%rd1,%r4,0,%p0,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%r0,%rd1,%p0,1,1,0,0;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3},{%r0,%r1},%rd1,%p0,1,1,0;",
    "wgmma.mma_async.sync.aligned.m64n264k16.f32.f16.f16 {%f0,%f1,%f2,%f3},%rd0,%rd1,%p0,1,1,0,0;",
};

}  // namespace ptx_test
