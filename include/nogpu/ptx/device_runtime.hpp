#pragma once
/// The functions that NVIDIA's library of the CUDA runtime for device code has, libcudadevrt.a.

#include <algorithm>
#include <iterator>
#include <string_view>

namespace nogpu { inline namespace v1 { namespace ptx {

/// The file of that library, whose code is machine code.
inline constexpr std::string_view device_runtime_member = "cuda_device_runtime.o";

/// Its functions for cooperative groups, which compilers other than NVIDIA's call. A handle is the
/// address of the workspace of the launch, whose second word counts arrivals: the first block adds
/// what its top bit lacks, so that the last block to arrive turns that bit.
inline constexpr std::string_view device_runtime_text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u32 %r1, [scope];
  setp.eq.u32 %p1, %r1, 1;
  mov.u32 %r2, %envreg1;
  mov.u32 %r3, %envreg2;
  mov.b64 %rd1, {%r3, %r2};
  selp.b64 %rd2, %rd1, 0, %p1;
  st.param.b64 [handle], %rd2;
  ret;
}
.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags) {
  .reg .pred %p<5>; .reg .b32 %r<16>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  setp.eq.u64 %p1, %rd1, 0;
  @%p1 bra INVALID;
  bar.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra TOGETHER;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y;
  mov.u32 %r6, %ctaid.z;
  or.b32 %r4, %r4, %r5;
  or.b32 %r4, %r4, %r6;
  setp.eq.u32 %p3, %r4, 0;
  mov.u32 %r7, %nctaid.x;
  mov.u32 %r8, %nctaid.y;
  mov.u32 %r9, %nctaid.z;
  mul.lo.u32 %r7, %r7, %r8;
  mul.lo.u32 %r7, %r7, %r9;
  sub.u32 %r10, 0x80000001, %r7;
  selp.b32 %r11, %r10, 1, %p3;
  atom.acq_rel.gpu.add.u32 %r12, [%rd1+4], %r11;
WAITING:
  ld.acquire.gpu.u32 %r13, [%rd1+4];
  xor.b32 %r14, %r12, %r13;
  setp.ge.s32 %p4, %r14, 0;
  @%p4 bra WAITING;
TOGETHER:
  bar.sync 0;
  st.param.b32 [error], 0;
  ret;
INVALID:
  st.param.b32 [error], 1;
  ret;
}
.visible .func (.param .b32 error) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags) {
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [flags];
  { .param .b64 h; .param .b32 f; .param .b32 e;
    st.param.b64 [h], %rd1;
    st.param.b32 [f], %r1;
    call.uni (e), cudaCGSynchronize, (h, f);
    ld.param.b32 %r2, [e]; }
  st.param.b32 [error], %r2;
  ret;
}
.visible .func (.param .b32 error)
cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle) {
  .reg .pred %p<4>; .reg .b32 %r<7>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [threads];
  ld.param.u64 %rd2, [grids];
  ld.param.u64 %rd3, [handle];
  setp.eq.u64 %p1, %rd3, 0;
  @%p1 bra INVALID;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %ntid.y;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %ntid.z;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %nctaid.x;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %nctaid.y;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %nctaid.z;
  mul.lo.u32 %r1, %r1, %r2;
  setp.ne.u64 %p2, %rd1, 0;
  @%p2 st.u32 [%rd1], %r1;
  setp.ne.u64 %p3, %rd2, 0;
  @%p3 st.u32 [%rd2], 1;
  st.param.b32 [error], 0;
  ret;
INVALID:
  st.param.b32 [error], 1;
  ret;
}
.visible .func (.param .b32 error)
cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle) {
  .reg .pred %p<4>; .reg .b32 %r<13>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [thread];
  ld.param.u64 %rd2, [grid];
  ld.param.u64 %rd3, [handle];
  setp.eq.u64 %p1, %rd3, 0;
  @%p1 bra INVALID;
  mov.u32 %r1, %ctaid.z;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %ctaid.y;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.z;
  mov.u32 %r3, %tid.z;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.y;
  mov.u32 %r3, %tid.y;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ne.u64 %p2, %rd1, 0;
  @%p2 st.u32 [%rd1], %r1;
  setp.ne.u64 %p3, %rd2, 0;
  @%p3 st.u32 [%rd2], 0;
  st.param.b32 [error], 0;
  ret;
INVALID:
  st.param.b32 [error], 1;
  ret;
}
)";

/// Returns whether a function is one of those with which kernels launch kernels, and what belongs
/// to them: cudaLaunchDeviceV2, and __cudaCDP2LaunchDeviceV2 as nvcc calls it.
inline bool is_dynamic_parallelism(std::string_view name) {
  constexpr std::string_view known[] = {
      "DeviceGetAttribute",
      "DeviceGetCacheConfig",
      "DeviceGetLimit",
      "DeviceGetSharedMemConfig",
      "DeviceSynchronize",
      "DeviceSynchronizeDeprecationAvoidance",
      "EventCreateWithFlags",
      "EventDestroy",
      "EventRecord",
      "EventRecordWithFlags",
      "Free",
      "FuncGetAttributes",
      "GetDevice",
      "GetDeviceCount",
      "GetErrorName",
      "GetErrorString",
      "GetLastError",
      "GetParameterBuffer",
      "GetParameterBufferV2",
      "GraphLaunch",
      "LaunchDevice",
      "LaunchDeviceV2",
      "Malloc",
      "Memcpy2DAsync",
      "Memcpy3DAsync",
      "MemcpyAsync",
      "Memset2DAsync",
      "Memset3DAsync",
      "MemsetAsync",
      "OccupancyMaxActiveBlocksPerMultiprocessor",
      "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
      "PeekAtLastError",
      "RuntimeGetVersion",
      "StreamCreateWithFlags",
      "StreamDestroy",
      "StreamWaitEvent",
  };
  for (const std::string_view prefix : {"__cudaCDP2", "__cuda", "cuda"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (name.ends_with("_ptsz")) name.remove_suffix(5);
    return std::find(std::begin(known), std::end(known), name) != std::end(known);
  }
  return false;
}

}}}  // namespace nogpu::v1::ptx
