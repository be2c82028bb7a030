// Tensor maps that kernels change: fields are replaced in shared memory or global memory, and a
// load shows what the map means then.
#include "corpus.cuh"

__device__ inline u32 shared_address(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}

__device__ __align__(128) u32 changed[32];

#define REPLACE(field, letter, value)                       \
  asm volatile("tensormap.replace.tile." field " [%0], %1;" \
               :                                            \
               : "r"(shared_address(map)), letter(value)    \
               : "memory")
#define REPLACE_OF(field, dimension, letter, value)                        \
  asm volatile("tensormap.replace.tile." field " [%0], " dimension ", %1;" \
               :                                                           \
               : "r"(shared_address(map)), letter(value)                   \
               : "memory")

// Shows what a load of `bytes` by the map in `changed` leaves of a tile of 64 words. The wait is
// bounded, since a map that means another number of bytes never ends the phase.
#define SHOW(bytes, instruction)                                                                   \
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;"                             \
               :                                                                                   \
               : "l"(changed)                                                                      \
               : "memory");                                                                        \
  for (u32 i = threadIdx.x; i < 64; i += 32) tile[i] = 0xcdcdcdcd;                                 \
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(at));        \
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");                                   \
  __syncthreads();                                                                                 \
  if (threadIdx.x == 0) {                                                                          \
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"                          \
                 :                                                                                 \
                 : "r"(at), "n"(bytes));                                                           \
    asm volatile("cp.async.bulk.tensor." instruction                                               \
                 :                                                                                 \
                 : "r"(shared_address(tile)), "l"(changed), "r"(at)                                \
                 : "memory");                                                                      \
  }                                                                                                \
  u32 ended = 0;                                                                                   \
  for (u32 tries = 0; ended == 0 && tries < 1000; ++tries) {                                       \
    asm volatile(                                                                                  \
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, " \
        "p; }"                                                                                     \
        : "=r"(ended)                                                                              \
        : "r"(at)                                                                                  \
        : "memory");                                                                               \
  }                                                                                                \
  for (u32 i = threadIdx.x; i < 64; i += 32) out[i] = ended != 0 ? tile[i] : i;

// Changes a copy of the map, and shows what it is then.
#define CHANGE(bytes, changes, instruction)                                                     \
  __shared__ __align__(1024) u32 tile[64];                                                      \
  __shared__ __align__(128) u32 map[32];                                                        \
  __shared__ u64 barrier;                                                                       \
  const u32 at = shared_address(&barrier);                                                      \
  map[threadIdx.x] = in[threadIdx.x];                                                           \
  __syncwarp();                                                                                 \
  if (threadIdx.x == 0) {                                                                       \
    changes;                                                                                    \
  }                                                                                             \
  __syncwarp();                                                                                 \
  asm volatile(                                                                                 \
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned " \
      "[%0], [%1], 128;"                                                                        \
      :                                                                                         \
      : "l"(changed), "r"(shared_address(map))                                                  \
      : "memory");                                                                              \
  SHOW(bytes, instruction)

#define TILE_2D(place) \
  "2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " place "], [%2];"

//! tensormap_as_it_is grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x4
KERNEL(tensormap_as_it_is){CHANGE(128, , TILE_2D("{12, -2}"))}

//! tensormap_address grid=1 block=32 in=176 out=64 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x4
KERNEL(tensormap_address){CHANGE(128,
                                 REPLACE("global_address.shared::cta.b1024.b64", "l", in + 32 + 16),
                                 TILE_2D("{4, 5}"))}

//! tensormap_shape grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x4
KERNEL(tensormap_shape) {
  CHANGE(128, REPLACE_OF("global_dim.shared::cta.b1024.b32", "0", "r", 12);
         REPLACE_OF("global_dim.shared::cta.b1024.b32", "1", "r", 6);
         REPLACE_OF("global_stride.shared::cta.b1024.b64", "0", "l", 80ull), TILE_2D("{8, 3}"))
}

//! tensormap_box grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x4
KERNEL(tensormap_box) {
  CHANGE(48, REPLACE_OF("box_dim.shared::cta.b1024.b32", "0", "r", 4);
         REPLACE_OF("box_dim.shared::cta.b1024.b32", "1", "r", 6);
         REPLACE_OF("element_stride.shared::cta.b1024.b32", "1", "r", 2), TILE_2D("{4, -1}"))
}

//! tensormap_swizzle grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x8
KERNEL(tensormap_swizzle){
    CHANGE(256, REPLACE("swizzle_mode.shared::cta.b1024.b32", "n", 1), TILE_2D("{4, 1}"))}

//! tensormap_fill grid=1 block=32 in=160 out=64 input=f32 compare=exact
//! tensor=f32,extents:16x8,strides:64,box:8x4
KERNEL(tensormap_fill){
    CHANGE(128, REPLACE("fill_mode.shared::cta.b1024.b32", "n", 1), TILE_2D("{12, 6}"))}

//! tensormap_type_f32ftz grid=1 block=32 in=160 out=64 input=denormal compare=exact
//! tensor=f32,extents:16x8,strides:64,box:8x8
KERNEL(tensormap_type_f32ftz){
    CHANGE(256, REPLACE("elemtype.shared::cta.b1024.b32", "n", 8), TILE_2D("{0, 0}"))}

//! tensormap_type_tf32 grid=1 block=32 in=160 out=64 input=f32 compare=exact
//! tensor=f32,extents:16x8,strides:64,box:8x8
KERNEL(tensormap_type_tf32){
    CHANGE(256, REPLACE("elemtype.shared::cta.b1024.b32", "n", 11), TILE_2D("{0, 0}"))}

//! tensormap_type_tf32ftz grid=1 block=32 in=160 out=64 input=denormal compare=exact
//! tensor=f32,extents:16x8,strides:64,box:8x8
KERNEL(tensormap_type_tf32ftz){
    CHANGE(256, REPLACE("elemtype.shared::cta.b1024.b32", "n", 12), TILE_2D("{0, 0}"))}

//! tensormap_type_u16 grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=bf16,extents:32x8,strides:64,box:16x4
KERNEL(tensormap_type_u16){
    CHANGE(128, REPLACE("elemtype.shared::cta.b1024.b32", "n", 1), TILE_2D("{24, 1}"))}

//! tensormap_in_global_memory grid=1 block=32 in=160 out=64 input=bits compare=exact
//! tensor=u32,extents:16x8,strides:64,box:8x4
KERNEL(tensormap_in_global_memory) {
  __shared__ __align__(1024) u32 tile[64];
  __shared__ u64 barrier;
  const u32 at = shared_address(&barrier);
  changed[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  if (threadIdx.x == 0) {
    asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 0, 13;"
                 :
                 : "l"(changed)
                 : "memory");
    asm volatile("tensormap.replace.tile.box_dim.b1024.b32 [%0], 1, 2;"
                 :
                 : "l"(changed)
                 : "memory");
    asm volatile("fence.proxy.tensormap::generic.release.gpu;" : : : "memory");
  }
  __syncwarp();
  SHOW(64, TILE_2D("{8, 2}"))
}
