// Reductions, scans, histograms, compaction.
#include "corpus.cuh"

constexpr u32 whole = 0xffffffff;

__device__ inline u32 block_sum(u32 x) {
  __shared__ u32 partial[32];
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (u32 k = 16; k > 0; k /= 2) x += __shfl_down_sync(whole, x, k);
  if (lane == 0) partial[warp] = x;
  __syncthreads();
  if (warp == 0) {
    x = lane < blockDim.x / 32 ? partial[lane] : 0;
    for (u32 k = 16; k > 0; k /= 2) x += __shfl_down_sync(whole, x, k);
    if (lane == 0) partial[0] = x;
  }
  __syncthreads();
  x = partial[0];
  __syncthreads();
  return x;
}

//! block_reduction grid=8 block=256 in=2048 out=16 input=bits compare=exact
KERNEL(block_reduction) {
  const u32 x = in[global_thread()];
  const u32 sum = block_sum(x), squares = block_sum(x * x);
  if (threadIdx.x == 0) {
    out[2 * blockIdx.x] = sum;
    out[2 * blockIdx.x + 1] = squares;
  }
}

//! tree_reduction grid=4 block=128 in=512 out=12 input=f32near compare=exact
KERNEL(tree_reduction) {
  __shared__ float sums[128], lows[128], highs[128];
  const u32 t = threadIdx.x;
  const float x = __uint_as_float(in[global_thread()]);
  const bool number = fabsf(x) < 1e6f;
  sums[t] = lows[t] = highs[t] = number ? x : 0;
  for (u32 k = 64; k > 0; k /= 2) {
    __syncthreads();
    if (t < k) {
      sums[t] += sums[t + k];
      lows[t] = fminf(lows[t], lows[t + k]);
      highs[t] = fmaxf(highs[t], highs[t + k]);
    }
  }
  if (t == 0) {
    out[3 * blockIdx.x] = __float_as_uint(sums[0]);
    out[3 * blockIdx.x + 1] = __float_as_uint(lows[0]);
    out[3 * blockIdx.x + 2] = __float_as_uint(highs[0]);
  }
}

//! argument_of_maximum grid=1 block=256 in=1024 out=2 input=bits compare=exact
KERNEL(argument_of_maximum) {
  __shared__ u64 best;
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  u64 mine = 0;
  for (u32 k = threadIdx.x; k < n; k += blockDim.x) mine = max(mine, u64{in[k]} << 32 | (n - k));
  atomicMax(&best, mine);
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = static_cast<u32>(best >> 32);
    out[1] = n - static_cast<u32>(best);
  }
}

//! block_scan grid=1 block=256 in=256 out=256 input=bits compare=exact
KERNEL(block_scan) {
  // Work-efficient: up and down a tree in shared memory.
  __shared__ u32 tree[256];
  const u32 t = threadIdx.x;
  tree[t] = in[t];
  for (u32 k = 1; k < 256; k *= 2) {
    __syncthreads();
    if ((t + 1) % (2 * k) == 0) tree[t] += tree[t - k];
  }
  __syncthreads();
  if (t == 255) tree[t] = 0;
  for (u32 k = 128; k > 0; k /= 2) {
    __syncthreads();
    if ((t + 1) % (2 * k) == 0) {
      const u32 left = tree[t - k];
      tree[t - k] = tree[t];
      tree[t] += left;
    }
  }
  __syncthreads();
  out[t] = tree[t];
}

__device__ u32 look_back_tickets;
__device__ u64
    look_back_states[16];  // 1: sum of the tile, 2: sum of all up to here; in the high word

//! look_back_scan grid=16 block=64 in=2048 out=256 input=bits compare=exact
KERNEL(look_back_scan) {
  // Decoupled look-back: one pass, tiles of 128 in the order in which blocks start.
  __shared__ u32 tile, before, totals[2];
  const u32 t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t == 0) tile = atomicAdd(&look_back_tickets, 1);
  __syncthreads();
  const u32 first = in[tile * 128 + 2 * t], pair = first + in[tile * 128 + 2 * t + 1];
  u32 sum = pair;
  for (u32 k = 1; k < 32; k *= 2) {
    const u32 below = __shfl_up_sync(whole, sum, k);
    if (lane >= k) sum += below;
  }
  if (lane == 31) totals[warp] = sum;
  __syncthreads();
  if (warp == 1) sum += totals[0];
  if (t == 0) {
    const u32 total = totals[0] + totals[1];
    volatile u64* const states = look_back_states;
    if (tile != 0) {
      states[tile] = u64{1} << 32 | total;
      __threadfence();
    }
    u32 exclusive = 0;
    for (u32 k = tile; k > 0; --k) {
      u64 state;
      do {
        state = states[k - 1];
      } while (state >> 32 == 0);
      __threadfence();
      exclusive += static_cast<u32>(state);
      if (state >> 32 == 2) break;
    }
    states[tile] = u64{2} << 32 | (exclusive + total);
    __threadfence();
    before = exclusive;
  }
  __syncthreads();
  const u32 exclusive = before + sum - pair;
  // 2048 sums in 256 words.
  atomicXor(out + (tile * 128 + 2 * t) / 8, exclusive * (2 * t + 1) + first);
  atomicXor(out + (tile * 128 + 2 * t) / 8, (exclusive + first) * (2 * t + 3));
}

//! histogram grid=4 block=128 in=2048 out=256 input=bits compare=exact
KERNEL(histogram) {
  __shared__ u32 bins[256];
  for (u32 k = threadIdx.x; k < 256; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  for (u32 k = global_thread(); k < n; k += gridDim.x * blockDim.x) {
    for (u32 byte = 0; byte < 4; ++byte) atomicAdd(bins + (in[k] >> 8 * byte & 255), 1);
  }
  __syncthreads();
  for (u32 k = threadIdx.x; k < 256; k += blockDim.x) {
    if (bins[k] != 0) atomicAdd(out + k, bins[k]);
  }
}

//! compaction grid=1 block=256 in=256 out=256 input=small compare=exact
KERNEL(compaction) {
  __shared__ u32 counts[8];
  const u32 t = threadIdx.x, lane = t % 32, warp = t / 32, x = in[t];
  const bool kept = x % 3 != 0;
  const u32 ballot = __ballot_sync(whole, kept);
  if (lane == 0) counts[warp] = static_cast<u32>(__popc(ballot));
  __syncthreads();
  u32 at = static_cast<u32>(__popc(ballot & ((1u << lane) - 1)));
  for (u32 k = 0; k < warp; ++k) at += counts[k];
  if (kept) out[at] = x << 8 | t;
}

//! segmented_sum grid=1 block=128 in=128 out=128 input=small compare=exact
KERNEL(segmented_sum) {
  __shared__ u32 values[128], heads[128];
  const u32 t = threadIdx.x;
  values[t] = in[t];
  heads[t] = in[t] % 7 == 0;
  for (u32 k = 1; k < 128; k *= 2) {
    __syncthreads();
    const u32 value = t >= k && !heads[t] ? values[t - k] : 0;
    const u32 head = t >= k ? heads[t - k] : 1;
    __syncthreads();
    values[t] += value;
    heads[t] |= head;
  }
  out[t] = values[t];
}

//! moments grid=1 block=64 in=512 out=8 input=f64unit compare=exact
KERNEL(moments) {
  // Mean and variance of 256 doubles, joined pairwise in a fixed order.
  __shared__ double mean[64], squares[64];
  const double* x = reinterpret_cast<const double*>(in);
  const u32 t = threadIdx.x;
  double m = 0, s = 0;
  for (u32 k = 0; k < 4; ++k) {
    const double delta = x[t * 4 + k] - m;
    m += delta / (k + 1);
    s += delta * (x[t * 4 + k] - m);
  }
  mean[t] = m;
  squares[t] = s;
  double count = 4;
  for (u32 k = 32; k > 0; k /= 2, count *= 2) {
    __syncthreads();
    if (t < k) {
      const double delta = mean[t + k] - mean[t];
      mean[t] = (mean[t] + mean[t + k]) * 0.5;
      squares[t] += squares[t + k] + delta * delta * count * 0.5;
    }
  }
  if (t == 0) {
    double* const results = reinterpret_cast<double*>(out);
    results[0] = mean[0];
    results[1] = squares[0] / 255;
    results[2] = sqrt(results[1]);
  }
}
