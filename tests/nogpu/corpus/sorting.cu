// Sorting.
#include "corpus.cuh"

//! bitonic_sort grid=1 block=256 in=256 out=256 input=bits compare=exact
KERNEL(bitonic_sort) {
  __shared__ u32 keys[256];
  const u32 t = threadIdx.x;
  keys[t] = in[t];
  for (u32 size = 2; size <= 256; size *= 2) {
    for (u32 step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      const u32 other = t ^ step;
      if (other > t) {
        const u32 a = keys[t], b = keys[other];
        if ((a > b) == ((t & size) == 0)) {
          keys[t] = b;
          keys[other] = a;
        }
      }
    }
  }
  __syncthreads();
  out[t] = keys[t];
}

//! bitonic_sort_of_a_warp grid=2 block=64 in=128 out=128 input=bits compare=exact
KERNEL(bitonic_sort_of_a_warp) {
  const u32 lane = threadIdx.x % 32;
  s32 x = static_cast<s32>(in[global_thread()]);
  for (u32 size = 2; size <= 32; size *= 2) {
    for (u32 step = size / 2; step > 0; step /= 2) {
      const s32 other = __shfl_xor_sync(0xffffffff, x, static_cast<s32>(step));
      const bool ascending = (lane & size) == 0, lower = (lane & step) == 0;
      x = ascending == lower ? min(x, other) : max(x, other);
    }
  }
  out[global_thread()] = static_cast<u32>(x);
}

//! radix_sort_pass grid=1 block=256 in=256 out=256 input=bits compare=exact
KERNEL(radix_sort_pass) {
  // All eight stable passes of four bits: rank within the warp by match, then over the warps.
  __shared__ u32 keys[256], counts[8][16], starts[16];
  const u32 t = threadIdx.x, lane = t % 32, warp = t / 32;
  keys[t] = in[t];
  for (u32 shift = 0; shift < 32; shift += 4) {
    __syncthreads();
    const u32 key = keys[t], digit = key >> shift & 15;
    if (lane < 16) counts[warp][lane] = 0;
    __syncwarp();
    const u32 peers = __match_any_sync(0xffffffff, digit);
    const u32 rank = static_cast<u32>(__popc(peers & ((1u << lane) - 1)));
    if (rank == 0) counts[warp][digit] = static_cast<u32>(__popc(peers));
    __syncthreads();
    if (t < 16) {
      u32 total = 0;
      for (u32 w = 0; w < 8; ++w) {
        const u32 count = counts[w][t];
        counts[w][t] = total;
        total += count;
      }
      starts[t] = total;
    }
    __syncthreads();
    if (t == 0) {
      u32 total = 0;
      for (u32 d = 0; d < 16; ++d) {
        const u32 count = starts[d];
        starts[d] = total;
        total += count;
      }
    }
    __syncthreads();
    keys[starts[digit] + counts[warp][digit] + rank] = key;
  }
  __syncthreads();
  out[t] = keys[t];
}

//! merge_sort grid=1 block=64 in=128 out=128 input=bits compare=exact
KERNEL(merge_sort) {
  __shared__ u32 cells[2][128];
  const u32 t = threadIdx.x;
  cells[0][2 * t] = in[2 * t];
  cells[0][2 * t + 1] = in[2 * t + 1];
  u32 from = 0;
  for (u32 width = 1; width < 128; width *= 2) {
    __syncthreads();
    for (u32 k = t; k < 128; k += 64) {
      // Each element finds its place by a binary search in the other run.
      const u32 run = k / width, other = (run ^ 1) * width, x = cells[from][k];
      u32 low = 0, high = width;
      while (low < high) {
        const u32 middle = (low + high) / 2, y = cells[from][other + middle];
        if (run % 2 == 0 ? y < x : y <= x) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      cells[from ^ 1][run / 2 * 2 * width + k % width + low] = x;
    }
    from ^= 1;
  }
  __syncthreads();
  out[2 * t] = cells[from][2 * t];
  out[2 * t + 1] = cells[from][2 * t + 1];
}

__device__ __noinline__ void sort_range(u32* values, s32 low, s32 high) {
  if (low >= high) return;
  const u32 pivot = values[(low + high) / 2];
  s32 i = low, j = high;
  while (i <= j) {
    while (values[i] < pivot) ++i;
    while (values[j] > pivot) --j;
    if (i <= j) {
      const u32 kept = values[i];
      values[i++] = values[j];
      values[j--] = kept;
    }
  }
  sort_range(values, low, j);
  sort_range(values, i, high);
}

//! quicksort grid=1 block=16 in=256 out=256 input=bits compare=exact
KERNEL(quicksort) {
  u32 values[16];
  for (u32 k = 0; k < 16; ++k) values[k] = in[threadIdx.x * 16 + k];
  sort_range(values, 0, 15);
  for (u32 k = 0; k < 16; ++k) out[threadIdx.x * 16 + k] = values[k];
}

//! heap_sort grid=1 block=8 in=192 out=192 input=f32near compare=exact
KERNEL(heap_sort) {
  float* const values = reinterpret_cast<float*>(out) + threadIdx.x * 24;
  for (u32 k = 0; k < 24; ++k) {
    const float x = __uint_as_float(in[threadIdx.x * 24 + k]);
    values[k] = x == x ? x : 0;
  }
  const auto sink = [&](u32 root, u32 end) {
    while (2 * root + 1 < end) {
      u32 child = 2 * root + 1;
      if (child + 1 < end && values[child] < values[child + 1]) ++child;
      if (!(values[root] < values[child])) return;
      const float kept = values[root];
      values[root] = values[child];
      values[child] = kept;
      root = child;
    }
  };
  for (u32 k = 12; k-- > 0;) sink(k, 24);
  for (u32 end = 23; end > 0; --end) {
    const float kept = values[0];
    values[0] = values[end];
    values[end] = kept;
    sink(0, end);
  }
}

//! odd_even_sort grid=1 block=128 in=128 out=128 input=bits compare=exact
KERNEL(odd_even_sort) {
  const u32 t = threadIdx.x;
  out[t] = in[t] % 1000;
  for (u32 k = 0; k < 128; ++k) {
    __syncthreads();
    const u32 at = 2 * t + k % 2;
    if (at + 1 < 128 && out[at] > out[at + 1]) {
      const u32 kept = out[at];
      out[at] = out[at + 1];
      out[at + 1] = kept;
    }
  }
}
