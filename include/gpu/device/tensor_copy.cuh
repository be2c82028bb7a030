#pragma once
/// \file
/// What device code includes as `<gpu/tensor_copy.hpp>`: copies of tiles between arrays, which
/// tensor maps describe, and shared memory. One thread asks for a copy; the copy engine does it
/// while the block goes on. Places are in the order of the axes. C++11 and later, for NVRTC and
/// nvcc. `gpu::tensor_map` has the layout of the type of the same name on the host.

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#  error \
      "gpu/tensor_copy.hpp needs compute capability 9.0: compile for gpu::architecture::compute(90)"
#endif

namespace gpu {

/// A kernel takes it as `const __grid_constant__ gpu::tensor_map<T, Rank>`.
template <class T, int Rank> struct alignas(128) tensor_map {
  unsigned long long opaque[16];
};

namespace detail {

using address = unsigned long long;

__device__ inline unsigned shared_address(const volatile void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(const_cast<const void*>(p)));
}

template <class T> struct without_const {
  using type = T;
};
template <class T> struct without_const<const T> {
  using type = T;
};

__device__ inline void load_tile(const int (&at)[1], unsigned tile, address map, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3}], [%2];"
      :
      : "r"(tile), "l"(map), "r"(barrier), "r"(at[0])
      : "memory");
}
__device__ inline void load_tile(const int (&at)[2], unsigned tile, address map, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3,%4}], [%2];"
      :
      : "r"(tile), "l"(map), "r"(barrier), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void load_tile(const int (&at)[3], unsigned tile, address map, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3,%4,%5}], [%2];"
      :
      : "r"(tile), "l"(map), "r"(barrier), "r"(at[2]), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void load_tile(const int (&at)[4], unsigned tile, address map, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3,%4,%5,%6}], [%2];"
      :
      : "r"(tile), "l"(map), "r"(barrier), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void load_tile(const int (&at)[5], unsigned tile, address map, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3,%4,%5,%6,%7}], [%2];"
      :
      : "r"(tile), "l"(map), "r"(barrier), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]),
        "r"(at[0])
      : "memory");
}
__device__ inline void load_tile_to(const int (&at)[1], unsigned tile, address map,
                                    unsigned barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4}], [%2], %3;"
      :
      : "r"(tile), "l"(map), "r"(barrier), "h"(blocks), "r"(at[0])
      : "memory");
}
__device__ inline void load_tile_to(const int (&at)[2], unsigned tile, address map,
                                    unsigned barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4,%5}], [%2], %3;"
      :
      : "r"(tile), "l"(map), "r"(barrier), "h"(blocks), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void load_tile_to(const int (&at)[3], unsigned tile, address map,
                                    unsigned barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4,%5,%6}], [%2], %3;"
      :
      : "r"(tile), "l"(map), "r"(barrier), "h"(blocks), "r"(at[2]), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void load_tile_to(const int (&at)[4], unsigned tile, address map,
                                    unsigned barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4,%5,%6,%7}], [%2], %3;"
      :
      : "r"(tile), "l"(map), "r"(barrier), "h"(blocks), "r"(at[3]), "r"(at[2]), "r"(at[1]),
        "r"(at[0])
      : "memory");
}
__device__ inline void load_tile_to(const int (&at)[5], unsigned tile, address map,
                                    unsigned barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4,%5,%6,%7,%8}], [%2], %3;"
      :
      : "r"(tile), "l"(map), "r"(barrier), "h"(blocks), "r"(at[4]), "r"(at[3]), "r"(at[2]),
        "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void store_tile(const int (&at)[1], unsigned tile, address map) {
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];"
               :
               : "l"(map), "r"(tile), "r"(at[0])
               : "memory");
}
__device__ inline void store_tile(const int (&at)[2], unsigned tile, address map) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2,%3}], [%1];"
               :
               : "l"(map), "r"(tile), "r"(at[1]), "r"(at[0])
               : "memory");
}
__device__ inline void store_tile(const int (&at)[3], unsigned tile, address map) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2,%3,%4}], [%1];"
               :
               : "l"(map), "r"(tile), "r"(at[2]), "r"(at[1]), "r"(at[0])
               : "memory");
}
__device__ inline void store_tile(const int (&at)[4], unsigned tile, address map) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2,%3,%4,%5}], [%1];"
      :
      : "l"(map), "r"(tile), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void store_tile(const int (&at)[5], unsigned tile, address map) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2,%3,%4,%5,%6}], [%1];"
      :
      : "l"(map), "r"(tile), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void add_tile(const int (&at)[1], unsigned tile, address map) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group "
      "[%0, {%2}], [%1];"
      :
      : "l"(map), "r"(tile), "r"(at[0])
      : "memory");
}
__device__ inline void add_tile(const int (&at)[2], unsigned tile, address map) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
      "[%0, {%2,%3}], [%1];"
      :
      : "l"(map), "r"(tile), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void add_tile(const int (&at)[3], unsigned tile, address map) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group "
      "[%0, {%2,%3,%4}], [%1];"
      :
      : "l"(map), "r"(tile), "r"(at[2]), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void add_tile(const int (&at)[4], unsigned tile, address map) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.tile.bulk_group "
      "[%0, {%2,%3,%4,%5}], [%1];"
      :
      : "l"(map), "r"(tile), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void add_tile(const int (&at)[5], unsigned tile, address map) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.5d.global.shared::cta.add.tile.bulk_group "
      "[%0, {%2,%3,%4,%5,%6}], [%1];"
      :
      : "l"(map), "r"(tile), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
      : "memory");
}
__device__ inline void prefetch_tile(const int (&at)[1], address map) {
  asm volatile("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%0, {%1}];"
               :
               : "l"(map), "r"(at[0])
               : "memory");
}
__device__ inline void prefetch_tile(const int (&at)[2], address map) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1,%2}];"
               :
               : "l"(map), "r"(at[1]), "r"(at[0])
               : "memory");
}
__device__ inline void prefetch_tile(const int (&at)[3], address map) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1,%2,%3}];"
               :
               : "l"(map), "r"(at[2]), "r"(at[1]), "r"(at[0])
               : "memory");
}
__device__ inline void prefetch_tile(const int (&at)[4], address map) {
  asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%0, {%1,%2,%3,%4}];"
               :
               : "l"(map), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
               : "memory");
}
__device__ inline void prefetch_tile(const int (&at)[5], address map) {
  asm volatile("cp.async.bulk.prefetch.tensor.5d.L2.global.tile [%0, {%1,%2,%3,%4,%5}];"
               :
               : "l"(map), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
               : "memory");
}
__device__ inline void load_pixels(const int (&at)[3], const unsigned short (&by)[1],
                                   unsigned pixels, address map, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3,%4,%5}], [%2], {%6};"
      :
      : "r"(pixels), "l"(map), "r"(barrier), "r"(at[2]), "r"(at[1]), "r"(at[0]), "h"(by[0])
      : "memory");
}
__device__ inline void load_pixels(const int (&at)[4], const unsigned short (&by)[2],
                                   unsigned pixels, address map, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3,%4,%5,%6}], [%2], {%7,%8};"
      :
      : "r"(pixels), "l"(map), "r"(barrier), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0]),
        "h"(by[1]), "h"(by[0])
      : "memory");
}
__device__ inline void load_pixels(const int (&at)[5], const unsigned short (&by)[3],
                                   unsigned pixels, address map, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3,%4,%5,%6,%7}], [%2], {%8,%9,%10};"
      :
      : "r"(pixels), "l"(map), "r"(barrier), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]),
        "r"(at[0]), "h"(by[2]), "h"(by[1]), "h"(by[0])
      : "memory");
}

}  // namespace detail

/// A barrier in shared memory (an mbarrier) that tells when copies have arrived. Its phases count
/// from 0; `wait(phase % 2)` waits for the end of one. A phase ends when as many threads have
/// arrived as `init` says, and all bytes that they expect.
class tile_barrier {
 public:
  /// By one thread, before all others use it: __syncthreads() comes after it, or the barrier of the
  /// cluster if other blocks use it.
  __device__ void init(unsigned arrivals = 1) {
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], %1;\n\tfence.mbarrier_init.release.cluster;\n\t"
        "fence.proxy.async.shared::cta;"
        :
        : "r"(detail::shared_address(&state_)), "r"(arrivals)
        : "memory");
  }
  /// Arrives, and lets the phase wait for so many bytes of copies.
  __device__ void expect(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(detail::shared_address(&state_)), "r"(bytes)
                 : "memory");
  }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :
                 : "r"(detail::shared_address(&state_))
                 : "memory");
  }
  /// Returns whether the phase of that parity has ended; may sleep for a while before.
  __device__ bool has_ended(unsigned parity) const {
    unsigned ended;
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(ended)
        : "r"(detail::shared_address(&state_)), "r"(parity)
        : "memory");
    return ended != 0;
  }
  __device__ void wait(unsigned parity) const {
    while (!has_ended(parity)) {
    }
  }

 private:
  unsigned long long state_;
};

/// Asks for a tile at a place, also outside of the array, whose last index is a multiple of 16
/// bytes. It arrives at `tile` in shared memory, aligned to 128 bytes, and counts at the barrier.
template <class T, int Rank, class... Index>
__device__ inline void load_tile(typename detail::without_const<T>::type* tile,
                                 const tensor_map<T, Rank>& map, tile_barrier& barrier,
                                 Index... place) {
  static_assert(sizeof...(Index) == Rank, "a place has one index for each axis");
  const int at[Rank] = {static_cast<int>(place)...};
  detail::load_tile(at, detail::shared_address(tile), reinterpret_cast<detail::address>(&map),
                    detail::shared_address(&barrier));
}

/// Does the same for each block of the cluster whose bit is set in `blocks`: at the same place of
/// its shared memory, counted at the same place by its own barrier.
template <class T, int Rank, class... Index>
__device__ inline void load_tile_to(unsigned short blocks,
                                    typename detail::without_const<T>::type* tile,
                                    const tensor_map<T, Rank>& map, tile_barrier& barrier,
                                    Index... place) {
  static_assert(sizeof...(Index) == Rank, "a place has one index for each axis");
  const int at[Rank] = {static_cast<int>(place)...};
  detail::load_tile_to(at, detail::shared_address(tile), reinterpret_cast<detail::address>(&map),
                       detail::shared_address(&barrier), blocks);
}

/// Asks for a column of pixels of an im2col map: from the pixel at `place` on, whose channel is a
/// multiple of 16 bytes, each moved by `offsets`, which are those of the axes of pixels.
template <class T, int Rank>
__device__ inline void load_pixels(typename detail::without_const<T>::type* pixels,
                                   const tensor_map<T, Rank>& map, tile_barrier& barrier,
                                   const int (&place)[Rank],
                                   const unsigned short (&offsets)[Rank - 2]) {
  detail::load_pixels(place, offsets, detail::shared_address(pixels),
                      reinterpret_cast<detail::address>(&map), detail::shared_address(&barrier));
}

/// Makes what this thread wrote to shared memory visible to copies, and what copies wrote to it.
/// Before store_tile(): each thread that wrote calls it, and then the threads synchronize.
__device__ inline void fence_tiles() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

/// Asks to write a tile, but for what is outside of the array. No index of the place is negative;
/// the last is a multiple of 16 bytes. Pieces of 16 bytes are written whole, also behind the end of
/// a row.
template <class T, int Rank, class... Index>
__device__ inline void store_tile(const tensor_map<T, Rank>& map, const T* tile, Index... place) {
  static_assert(sizeof...(Index) == Rank, "a place has one index for each axis");
  const int at[Rank] = {static_cast<int>(place)...};
  detail::store_tile(at, detail::shared_address(tile), reinterpret_cast<detail::address>(&map));
}
template <class T, int Rank, class... Index>
__device__ void store_tile(const tensor_map<const T, Rank>&, const T*, Index...) = delete;

/// Asks to add a tile to the elements of the array, at a place as of store_tile().
template <class T, int Rank, class... Index>
__device__ inline void add_tile(const tensor_map<T, Rank>& map, const T* tile, Index... place) {
  static_assert(sizeof...(Index) == Rank, "a place has one index for each axis");
  const int at[Rank] = {static_cast<int>(place)...};
  detail::add_tile(at, detail::shared_address(tile), reinterpret_cast<detail::address>(&map));
}
template <class T, int Rank, class... Index>
__device__ void add_tile(const tensor_map<const T, Rank>&, const T*, Index...) = delete;

/// Makes a group of the tiles that this thread asked to write since the last one.
__device__ inline void commit_tiles() {
  asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}
/// Waits until all groups of this thread are written but for the last `But`.
template <int But = 0> __device__ inline void wait_tiles() {
  asm volatile("cp.async.bulk.wait_group %0;" : : "n"(But) : "memory");
}
/// Waits until they are read: their shared memory may be used again.
template <int But = 0> __device__ inline void wait_tile_reads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(But) : "memory");
}

/// Brings a tile to the L2 cache.
template <class T, int Rank, class... Index>
__device__ inline void prefetch_tile(const tensor_map<T, Rank>& map, Index... place) {
  static_assert(sizeof...(Index) == Rank, "a place has one index for each axis");
  const int at[Rank] = {static_cast<int>(place)...};
  detail::prefetch_tile(at, reinterpret_cast<detail::address>(&map));
}
/// Brings the map itself to the cache in which the copy engine looks for it.
template <class T, int Rank> __device__ inline void prefetch_map(const tensor_map<T, Rank>& map) {
  asm volatile("prefetch.tensormap [%0];"
               :
               : "l"(reinterpret_cast<detail::address>(&map))
               : "memory");
}

}  // namespace gpu
