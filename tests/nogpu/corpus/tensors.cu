// Copies of tensors by their maps. Shared memory is shown as a load leaves it, word by word, so
// that swizzles and what is outside of a tensor can be told; a store is told by the tensor itself.
// And bulk reductions without a map.
#include "corpus.cuh"

__device__ inline u32 shared_address(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}

/// Waits for the end of the first phase.
__device__ inline void wait(u32 barrier) {
  u32 ended = 0;
  while (ended == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, "
        "p; }"
        : "=r"(ended)
        : "r"(barrier)
        : "memory");
  }
}

/// Makes the copy engine read the map anew: it keeps maps, and a kernel before had another one here.
__device__ inline void acquire_map(const u32* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" : : "l"(map) : "memory");
}

// Shows `words` words of shared memory after a load of `bytes` that begins `offset` bytes into it.
#define LOAD(bytes, words, offset, instruction)                                                 \
  __shared__ __align__(1024) u32 tile[512];                                                     \
  __shared__ u64 barrier;                                                                       \
  const u32 to = shared_address(tile) + offset, at = shared_address(&barrier);                  \
  for (u32 i = threadIdx.x; i < 512; i += 32) tile[i] = 0xcdcdcdcd;                             \
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(at));     \
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");                                \
  __syncthreads();                                                                              \
  if (threadIdx.x == 0) {                                                                       \
    acquire_map(in);                                                                            \
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"                       \
                 :                                                                              \
                 : "r"(at), "n"(bytes));                                                        \
    asm volatile("cp.async.bulk.tensor." instruction : : "r"(to), "l"(in), "r"(at) : "memory"); \
  }                                                                                             \
  wait(at);                                                                                     \
  for (u32 i = threadIdx.x; i < words; i += 32) out[i] = tile[i];

// Sends words of the input, from `first` on, to the tensor in the output.
#define STORE(first, instruction)                                                           \
  __shared__ __align__(1024) u32 tile[256];                                                 \
  for (u32 i = threadIdx.x; i < 256; i += 32) tile[i] = in[(first) + i];                    \
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");                            \
  __syncthreads();                                                                          \
  if (threadIdx.x == 0) {                                                                   \
    acquire_map(in);                                                                        \
    asm volatile("cp" instruction : : "l"(in), "r"(shared_address(tile)) : "memory");       \
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" : : : "memory"); \
  }                                                                                         \
  __syncthreads();

// The output has words of the input at first; others are combined with them.
#define REDUCE(operation)                                                 \
  for (u32 i = threadIdx.x; i < 128; i += 32) out[i] = in[32 + i];        \
  asm volatile("fence.proxy.async;" : : : "memory");                      \
  __syncthreads();                                                        \
  STORE(160, ".reduce.async.bulk.tensor.1d.global.shared::cta." operation \
             ".tile.bulk_group [%0, {0}], [%1];")

//! tensor_1d grid=1 block=32 in=160 out=96 input=bits compare=exact
//! tensor=u32,extents:128,box:64
KERNEL(tensor_1d){
    LOAD(256, 96, 0,
         "1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {100}], [%2];")}

//! tensor_2d grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x4
KERNEL(tensor_2d){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {12, -2}], [%2];")}

//! tensor_2d_inside grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x4
KERNEL(tensor_2d_inside){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 2}], [%2];")}

//! tensor_3d grid=1 block=32 in=160 out=32 input=bits compare=exact
//! tensor=u32,extents:8x4x4,strides:32x128,box:4x3x2
KERNEL(tensor_3d){LOAD(
    96, 32, 0,
    "3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, -1, 3}], [%2];")}

//! tensor_4d grid=1 block=32 in=160 out=128 input=bits compare=exact
//! tensor=u32,extents:8x2x4x2,strides:32x64x256,box:8x2x3x2
KERNEL(tensor_4d){LOAD(384, 128, 0,
                       "4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
                       "{-4, 1, -1, 1}], [%2];")}

//! tensor_5d grid=1 block=32 in=160 out=96 input=bits compare=exact
//! tensor=u32,extents:8x2x2x2x2,strides:32x64x128x256,box:4x2x2x2x2
KERNEL(tensor_5d){LOAD(256, 96, 0,
                       "5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, "
                       "-1, 1, 0, 1}], [%2];")}

//! tensor_of_bytes grid=1 block=32 in=128 out=32 input=bits compare=exact
//! tensor=u8,extents:45x8,strides:48,box:16x4
KERNEL(tensor_of_bytes){
    LOAD(64, 32, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {32, -1}], [%2];")}

//! tensor_of_u16 grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=u16,extents:30x8,strides:64,box:16x4
KERNEL(tensor_of_u16){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {16, 5}], [%2];")}

//! tensor_of_u64 grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=u64,extents:7x8,strides:64,box:4x4
KERNEL(tensor_of_u64){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, -1}], [%2];")}

//! tensor_steps grid=1 block=32 in=288 out=64 input=bits compare=exact
//! tensor=u32,extents:16x16,strides:64,box:8x9,steps:1x3
KERNEL(tensor_steps){
    LOAD(96, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, -1}], [%2];")}

//! tensor_steps_odd grid=1 block=32 in=288 out=64 input=bits compare=exact
//! tensor=u32,extents:16x16,strides:64,box:8x7,steps:1x3
KERNEL(tensor_steps_odd){
    LOAD(96, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 5}], [%2];")}

//! tensor_step_of_the_first grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x4,steps:2x1
KERNEL(tensor_step_of_the_first){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 1}], [%2];")}

//! tensor_swizzle_32 grid=1 block=32 in=544 out=160 input=bits compare=exact
//! tensor=u32,extents:32x16,strides:128,box:8x16,swizzle:1
KERNEL(tensor_swizzle_32){
    LOAD(512, 160, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 2}], [%2];")}

//! tensor_swizzle_64 grid=1 block=32 in=544 out=256 input=bits compare=exact
//! tensor=u32,extents:32x16,strides:128,box:16x15,swizzle:2
KERNEL(tensor_swizzle_64){
    LOAD(960, 256, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 2}], [%2];")}

//! tensor_swizzle_128 grid=1 block=32 in=544 out=256 input=bits compare=exact
//! tensor=u32,extents:32x16,strides:128,box:32x8,swizzle:3
KERNEL(tensor_swizzle_128){
    LOAD(1024, 256, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 2}], [%2];")}

//! tensor_swizzle_32_from_384 grid=1 block=32 in=544 out=256 input=bits compare=exact
//! tensor=u32,extents:32x16,strides:128,box:8x8,swizzle:1
KERNEL(tensor_swizzle_32_from_384){
    LOAD(256, 256, 384,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 2}], [%2];")}

//! tensor_swizzle_64_from_384 grid=1 block=32 in=544 out=256 input=bits compare=exact
//! tensor=u32,extents:32x16,strides:128,box:16x8,swizzle:2
KERNEL(tensor_swizzle_64_from_384){
    LOAD(512, 256, 384,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 2}], [%2];")}

//! tensor_swizzle_128_from_384 grid=1 block=32 in=544 out=256 input=bits compare=exact
//! tensor=u32,extents:32x16,strides:128,box:32x4,swizzle:3
KERNEL(tensor_swizzle_128_from_384){
    LOAD(512, 256, 384,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 2}], [%2];")}

//! tensor_swizzle_64_narrow grid=1 block=32 in=544 out=256 input=bits compare=exact
//! tensor=u32,extents:32x16,strides:128,box:8x8,swizzle:2
KERNEL(tensor_swizzle_64_narrow){
    LOAD(256, 256, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 2}], [%2];")}

//! tensor_swizzle_128_narrow grid=1 block=32 in=544 out=256 input=bits compare=exact
//! tensor=u32,extents:32x16,strides:128,box:4x12,swizzle:3
KERNEL(tensor_swizzle_128_narrow){
    LOAD(192, 256, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 2}], [%2];")}

//! tensor_swizzle_128_half grid=1 block=32 in=544 out=256 input=bits compare=exact
//! tensor=u32,extents:32x16,strides:128,box:16x8,swizzle:3
KERNEL(tensor_swizzle_128_half){
    LOAD(512, 256, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 2}], [%2];")}

//! tensor_swizzle_of_bytes grid=1 block=32 in=544 out=256 input=bits compare=exact
//! tensor=u8,extents:120x16,strides:128,box:64x8,swizzle:3
KERNEL(tensor_swizzle_of_bytes){
    LOAD(512, 256, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {80, 2}], [%2];")}

//! tensor_nan_f16 grid=1 block=32 in=160 out=64 input=f16 compare=exact
//! tensor=f16,extents:30x8,strides:64,box:16x4,nan
KERNEL(tensor_nan_f16){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {24, 6}], [%2];")}

//! tensor_nan_bf16 grid=1 block=32 in=160 out=64 input=f32 compare=exact
//! tensor=bf16,extents:30x8,strides:64,box:16x4,nan
KERNEL(tensor_nan_bf16){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {24, 6}], [%2];")}

//! tensor_nan_f32 grid=1 block=32 in=160 out=64 input=f32 compare=exact
//! tensor=f32,extents:15x8,strides:64,box:8x4,nan
KERNEL(tensor_nan_f32){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {12, 6}], [%2];")}

//! tensor_nan_f32ftz grid=1 block=32 in=160 out=64 input=f32 compare=exact
//! tensor=f32ftz,extents:15x8,strides:64,box:8x4,nan
KERNEL(tensor_nan_f32ftz){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {12, 6}], [%2];")}

//! tensor_nan_tf32 grid=1 block=32 in=160 out=64 input=f32 compare=exact
//! tensor=tf32,extents:15x8,strides:64,box:8x4,nan
KERNEL(tensor_nan_tf32){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {12, 6}], [%2];")}

//! tensor_nan_tf32ftz grid=1 block=32 in=160 out=64 input=f32 compare=exact
//! tensor=tf32ftz,extents:15x8,strides:64,box:8x4,nan
KERNEL(tensor_nan_tf32ftz){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {12, 6}], [%2];")}

//! tensor_nan_f64 grid=1 block=32 in=160 out=64 input=f32 compare=exact
//! tensor=f64,extents:7x8,strides:64,box:4x4,nan
KERNEL(tensor_nan_f64){
    LOAD(128, 64, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {4, 6}], [%2];")}

//! tensor_changes_f32 grid=1 block=32 in=160 out=128 input=f32 compare=exact
//! tensor=f32,extents:128x1,strides:512,box:128x1
KERNEL(tensor_changes_f32){
    LOAD(512, 128, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];")}

//! tensor_changes_f32ftz grid=1 block=32 in=160 out=128 input=f32 compare=exact
//! tensor=f32ftz,extents:128x1,strides:512,box:128x1
KERNEL(tensor_changes_f32ftz){
    LOAD(512, 128, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];")}

//! tensor_changes_tf32 grid=1 block=32 in=160 out=128 input=f32 compare=exact
//! tensor=tf32,extents:128x1,strides:512,box:128x1
KERNEL(tensor_changes_tf32){
    LOAD(512, 128, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];")}

//! tensor_changes_tf32ftz grid=1 block=32 in=160 out=128 input=f32 compare=exact
//! tensor=tf32ftz,extents:128x1,strides:512,box:128x1
KERNEL(tensor_changes_tf32ftz){
    LOAD(512, 128, 0,
         "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];")}

//! tensor_store_1d grid=1 block=32 in=288 out=128 input=bits compare=exact
//! tensor=u32,extents:100,box:64,out
KERNEL(tensor_store_1d){
    STORE(32, ".async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {60}], [%1];")}

//! tensor_store_2d grid=1 block=32 in=288 out=128 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x4,out
KERNEL(tensor_store_2d){
    STORE(32, ".async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {12, 6}], [%1];")}

//! tensor_store_3d grid=1 block=32 in=288 out=128 input=bits compare=exact
//! tensor=u32,extents:8x4x4,strides:32x128,box:4x3x2,out
KERNEL(tensor_store_3d){
    STORE(32, ".async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {4, 2, 3}], [%1];")}

//! tensor_store_4d grid=1 block=32 in=288 out=128 input=bits compare=exact
//! tensor=u32,extents:8x2x4x2,strides:32x64x256,box:4x2x3x2,out
KERNEL(tensor_store_4d){
    STORE(32,
          ".async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {4, 1, 2, 1}], [%1];")}

//! tensor_store_5d grid=1 block=32 in=288 out=128 input=bits compare=exact
//! tensor=u32,extents:8x2x2x2x2,strides:32x64x128x256,box:4x2x2x2x2,out
KERNEL(tensor_store_5d){
    STORE(32,
          ".async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {4, 1, 1, 0, 1}], [%1];")}

//! tensor_store_of_bytes grid=1 block=32 in=288 out=96 input=bits compare=exact
//! tensor=u8,extents:45x8,strides:48,box:16x4,out
KERNEL(tensor_store_of_bytes){
    STORE(32, ".async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {32, 5}], [%1];")}

//! tensor_store_swizzled grid=1 block=32 in=288 out=256 input=bits compare=exact
//! tensor=u32,extents:32x8,strides:128,box:32x8,swizzle:3,out
KERNEL(tensor_store_swizzled){
    STORE(32, ".async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {4, 1}], [%1];")}

//! tensor_store_swizzled_64 grid=1 block=32 in=288 out=256 input=bits compare=exact
//! tensor=u32,extents:32x8,strides:128,box:16x6,swizzle:2,out
KERNEL(tensor_store_swizzled_64){
    STORE(32, ".async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {4, 1}], [%1];")}

//! tensor_store_steps grid=1 block=32 in=288 out=256 input=bits compare=exact
//! tensor=u32,extents:16x16,strides:64,box:8x9,steps:1x3,out
KERNEL(tensor_store_steps){
    STORE(32, ".async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {4, 10}], [%1];")}

//! tensor_store_tf32 grid=1 block=32 in=288 out=128 input=bits compare=exact
//! tensor=tf32,extents:128,box:128,out
KERNEL(tensor_store_tf32){
    STORE(32, ".async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {0}], [%1];")}

//! tensor_add_u32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u32,extents:128,box:128,out
KERNEL(tensor_add_u32){REDUCE("add")}

//! tensor_min_u32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u32,extents:128,box:128,out
KERNEL(tensor_min_u32){REDUCE("min")}

//! tensor_max_u32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u32,extents:128,box:128,out
KERNEL(tensor_max_u32){REDUCE("max")}

//! tensor_inc_u32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u32,extents:128,box:128,out
KERNEL(tensor_inc_u32){REDUCE("inc")}

//! tensor_dec_u32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u32,extents:128,box:128,out
KERNEL(tensor_dec_u32){REDUCE("dec")}

//! tensor_and_u32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u32,extents:128,box:128,out
KERNEL(tensor_and_u32){REDUCE("and")}

//! tensor_or_u32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u32,extents:128,box:128,out
KERNEL(tensor_or_u32){REDUCE("or")}

//! tensor_xor_u32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u32,extents:128,box:128,out
KERNEL(tensor_xor_u32){REDUCE("xor")}

//! tensor_add_s32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=s32,extents:128,box:128,out
KERNEL(tensor_add_s32){REDUCE("add")}

//! tensor_min_s32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=s32,extents:128,box:128,out
KERNEL(tensor_min_s32){REDUCE("min")}

//! tensor_max_s32 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=s32,extents:128,box:128,out
KERNEL(tensor_max_s32){REDUCE("max")}

//! tensor_add_u64 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u64,extents:64,box:64,out
KERNEL(tensor_add_u64){REDUCE("add")}

//! tensor_min_u64 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u64,extents:64,box:64,out
KERNEL(tensor_min_u64){REDUCE("min")}

//! tensor_max_u64 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u64,extents:64,box:64,out
KERNEL(tensor_max_u64){REDUCE("max")}

//! tensor_and_u64 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u64,extents:64,box:64,out
KERNEL(tensor_and_u64){REDUCE("and")}

//! tensor_or_u64 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u64,extents:64,box:64,out
KERNEL(tensor_or_u64){REDUCE("or")}

//! tensor_xor_u64 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=u64,extents:64,box:64,out
KERNEL(tensor_xor_u64){REDUCE("xor")}

//! tensor_min_s64 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=s64,extents:64,box:64,out
KERNEL(tensor_min_s64){REDUCE("min")}

//! tensor_max_s64 grid=1 block=32 in=416 out=128 input=bits compare=exact
//! tensor=s64,extents:64,box:64,out
KERNEL(tensor_max_s64){REDUCE("max")}

//! tensor_add_f16 grid=1 block=32 in=416 out=128 input=f16 compare=exact
//! tensor=f16,extents:256,box:256,out
KERNEL(tensor_add_f16){REDUCE("add")}

//! tensor_add_bf16 grid=1 block=32 in=416 out=128 input=bf16 compare=exact
//! tensor=bf16,extents:256,box:256,out
KERNEL(tensor_add_bf16){REDUCE("add")}

//! tensor_min_f16 grid=1 block=32 in=416 out=128 input=f16 compare=exact
//! tensor=f16,extents:256,box:256,out
KERNEL(tensor_min_f16){REDUCE("min")}

//! tensor_min_bf16 grid=1 block=32 in=416 out=128 input=bf16 compare=exact
//! tensor=bf16,extents:256,box:256,out
KERNEL(tensor_min_bf16){REDUCE("min")}

//! tensor_max_f16 grid=1 block=32 in=416 out=128 input=f16 compare=exact
//! tensor=f16,extents:256,box:256,out
KERNEL(tensor_max_f16){REDUCE("max")}

//! tensor_max_bf16 grid=1 block=32 in=416 out=128 input=bf16 compare=exact
//! tensor=bf16,extents:256,box:256,out
KERNEL(tensor_max_bf16){REDUCE("max")}

//! tensor_add_f32 grid=1 block=32 in=416 out=128 input=f32 compare=exact
//! tensor=f32,extents:128,box:128,out
KERNEL(tensor_add_f32){REDUCE("add")}

//! tensor_add_f32ftz grid=1 block=32 in=416 out=128 input=f32 compare=exact
//! tensor=f32ftz,extents:128,box:128,out
KERNEL(tensor_add_f32ftz){REDUCE("add")}

//! tensor_add_tf32 grid=1 block=32 in=416 out=128 input=f32 compare=exact
//! tensor=tf32,extents:128,box:128,out
KERNEL(tensor_add_tf32){REDUCE("add")}

//! tensor_im2col_3d grid=1 block=32 in=248 out=64 input=bits compare=exact
//! tensor=u32,extents:8x9x3,strides:32x288,box:4x14,lower:-1,upper:-1
KERNEL(tensor_im2col_3d){LOAD(224, 64, 0,
                              "3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
                              "[%1, {4, 5, 0}], [%2], {1};")}

//! tensor_im2col_3d_strided grid=1 block=32 in=248 out=64 input=bits compare=exact
//! tensor=u32,extents:8x9x3,strides:32x288,box:4x14,steps:1x2x1,lower:-1,upper:0
KERNEL(tensor_im2col_3d_strided){LOAD(224, 64, 0,
                                      "3d.shared::cluster.global.im2col.mbarrier::complete_tx::"
                                      "bytes [%0], [%1, {0, -1, 1}], [%2], {2};")}

//! tensor_im2col_4d grid=1 block=32 in=192 out=192 input=bits compare=exact
//! tensor=u32,extents:4x5x4x2,strides:16x80x320,box:4x40,lower:-1x-1,upper:-1x-1
KERNEL(tensor_im2col_4d){LOAD(640, 192, 0,
                              "4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
                              "[%1, {0, 1, -1, 0}], [%2], {0, 2};")}

//! tensor_im2col_4d_strided grid=1 block=32 in=192 out=96 input=bits compare=exact
//! tensor=u32,extents:4x5x4x2,strides:16x80x320,box:4x20,steps:1x2x3x1,lower:-1x-2,upper:1x0
KERNEL(tensor_im2col_4d_strided){LOAD(320, 96, 0,
                                      "4d.shared::cluster.global.im2col.mbarrier::complete_tx::"
                                      "bytes [%0], [%1, {0, 0, -2, 0}], [%2], {1, 1};")}

//! tensor_im2col_5d grid=1 block=32 in=176 out=192 input=bits compare=exact
//! tensor=u32,extents:4x3x3x2x2,strides:16x48x144x288,box:4x40,lower:-1x0x-1,upper:0x-1x0
KERNEL(tensor_im2col_5d){LOAD(640, 192, 0,
                              "5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
                              "[%1, {0, 2, 1, 0, 0}], [%2], {1, 1, 0};")}

//! tensor_im2col_swizzled grid=1 block=32 in=248 out=128 input=bits compare=exact
//! tensor=u32,extents:8x9x3,strides:32x288,box:8x14,lower:-1,upper:-1,swizzle:1
KERNEL(tensor_im2col_swizzled){LOAD(448, 128, 0,
                                    "3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                                    "[%0], [%1, {0, 5, 0}], [%2], {1};")}

//! tensor_im2col_few_channels grid=1 block=32 in=248 out=64 input=f16 compare=exact
//! tensor=f16,extents:12x9x3,strides:32x288,box:8x14,lower:-1,upper:-1,nan
KERNEL(tensor_im2col_few_channels){LOAD(224, 64, 0,
                                        "3d.shared::cluster.global.im2col.mbarrier::complete_tx::"
                                        "bytes [%0], [%1, {8, 5, 0}], [%2], {1};")}

//! tensor_im2col_store grid=1 block=32 in=288 out=160 input=bits compare=exact
//! tensor=u32,extents:4x5x4x2,strides:16x80x320,box:4x20,lower:0x0,upper:-1x-1,out
KERNEL(tensor_im2col_store){STORE(32,
                                  ".async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_"
                                  "group [%0, {0, 1, 1, 0}], [%1];")}

//! tensor_im2col_add grid=1 block=32 in=288 out=160 input=bits compare=exact
//! tensor=s32,extents:4x5x4x2,strides:16x80x320,box:4x30,lower:0x0,upper:0x0,out
KERNEL(tensor_im2col_add){STORE(
    32,
    ".reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group [%0, {0, 1, "
    "1, 0}], [%1];")}
// Combines 32 words with the first, second, ... 32 words of the output.
#define BULK_REDUCE(k, operation)                                                                  \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation " [%0], [%1], 128;" \
               :                                                                                   \
               : "l"(out + 32 * (k)), "r"(shared_address(tile + 32 * (k)))                         \
               : "memory")

// The output has words of the input at first, and the tile those behind them.
#define BULK_REDUCTIONS(count, ...)                                                         \
  __shared__ __align__(128) u32 tile[32 * count];                                           \
  for (u32 i = threadIdx.x; i < 32 * count; i += 32) {                                      \
    out[i] = in[i];                                                                         \
    tile[i] = in[32 * count + i];                                                           \
  }                                                                                         \
  asm volatile("fence.proxy.async;" : : : "memory");                                        \
  __syncthreads();                                                                          \
  if (threadIdx.x == 0) {                                                                   \
    __VA_ARGS__;                                                                            \
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" : : : "memory"); \
  }                                                                                         \
  __syncthreads();

//! bulk_reductions_u32 grid=1 block=32 in=512 out=256 input=bits compare=exact
KERNEL(bulk_reductions_u32) {
  BULK_REDUCTIONS(8, BULK_REDUCE(0, "add.u32"); BULK_REDUCE(1, "min.u32");
                  BULK_REDUCE(2, "max.u32"); BULK_REDUCE(3, "inc.u32"); BULK_REDUCE(4, "dec.u32");
                  BULK_REDUCE(5, "and.b32"); BULK_REDUCE(6, "or.b32"); BULK_REDUCE(7, "xor.b32"))
}

//! bulk_reductions_s32 grid=1 block=32 in=192 out=96 input=bits compare=exact
KERNEL(bulk_reductions_s32) {
  BULK_REDUCTIONS(3, BULK_REDUCE(0, "add.s32"); BULK_REDUCE(1, "min.s32");
                  BULK_REDUCE(2, "max.s32"))
}

//! bulk_reductions_u64 grid=1 block=32 in=384 out=192 input=bits compare=exact
KERNEL(bulk_reductions_u64) {
  BULK_REDUCTIONS(6, BULK_REDUCE(0, "add.u64"); BULK_REDUCE(1, "min.u64");
                  BULK_REDUCE(2, "max.u64"); BULK_REDUCE(3, "and.b64"); BULK_REDUCE(4, "or.b64");
                  BULK_REDUCE(5, "xor.b64"))
}

//! bulk_reductions_s64 grid=1 block=32 in=128 out=64 input=bits compare=exact
KERNEL(bulk_reductions_s64) {
  BULK_REDUCTIONS(2, BULK_REDUCE(0, "min.s64"); BULK_REDUCE(1, "max.s64"))
}

//! bulk_reductions_f16 grid=1 block=32 in=192 out=96 input=f16 compare=exact
KERNEL(bulk_reductions_f16) {
  BULK_REDUCTIONS(3, BULK_REDUCE(0, "add.noftz.f16"); BULK_REDUCE(1, "min.f16");
                  BULK_REDUCE(2, "max.f16"))
}

//! bulk_reductions_bf16 grid=1 block=32 in=192 out=96 input=bf16 compare=exact
KERNEL(bulk_reductions_bf16) {
  BULK_REDUCTIONS(3, BULK_REDUCE(0, "add.noftz.bf16"); BULK_REDUCE(1, "min.bf16");
                  BULK_REDUCE(2, "max.bf16"))
}

//! bulk_reductions_f32 grid=1 block=32 in=256 out=128 input=f32 compare=exact
KERNEL(bulk_reductions_f32) {
  BULK_REDUCTIONS(4, BULK_REDUCE(0, "add.f32"); BULK_REDUCE(1, "add.f32");
                  BULK_REDUCE(2, "add.f32"); BULK_REDUCE(3, "add.f32"))
}

//! bulk_reductions_f64 grid=1 block=32 in=256 out=128 input=f64 compare=exact
KERNEL(bulk_reductions_f64) {
  BULK_REDUCTIONS(4, BULK_REDUCE(0, "add.f64"); BULK_REDUCE(1, "add.f64");
                  BULK_REDUCE(2, "add.f64"); BULK_REDUCE(3, "add.f64"))
}

//! bulk_reductions_meet grid=8 block=32 in=1024 out=32 input=bits compare=exact
KERNEL(bulk_reductions_meet) {
  // All threads of all blocks add to the same words, which are zeros at first.
  __shared__ __align__(128) u32 tile[128];
  const u32 t = threadIdx.x;
  for (u32 i = 0; i < 4; ++i) tile[4 * t + i] = in[128 * blockIdx.x + 4 * t + i];
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 16;"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
      :
      : "l"(out + t % 8 * 4), "r"(shared_address(tile + 4 * t))
      : "memory");
}
