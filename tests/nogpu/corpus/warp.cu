// What the lanes of a warp do together.
#include "corpus.cuh"

constexpr u32 whole = 0xffffffff;

//! vote grid=2 block=64 in=128 out=256 input=small compare=exact
KERNEL(vote) {
  const u32 t = global_thread(), x = in[t];
  const u32 ballot = __ballot_sync(whole, x & 1);
  const u32 any = static_cast<u32>(__any_sync(whole, x > 250)),
            every = static_cast<u32>(__all_sync(whole, x < 255));
  u32 uniform;
  asm volatile(
      "{ .reg .pred p, q; setp.gt.u32 p, %1, 1000; vote.sync.uni.pred q, p, 0xffffffff;"
      " selp.u32 %0, 1, 0, q; }"
      : "=r"(uniform)
      : "r"(x));
  out[2 * t] = ballot;
  out[2 * t + 1] = any | every << 1 | uniform << 2;
}

//! vote_of_some grid=1 block=64 in=64 out=128 input=small compare=exact
KERNEL(vote_of_some) {
  const u32 t = threadIdx.x, lane = t % 32, x = in[t];
  u32 result;
  if (lane % 3 == 0) {
    result = __ballot_sync(0x49249249, x > 128);
  } else if (lane & 1) {
    result = __ballot_sync(0xaaaaaaaa & ~0x49249249, x > 100);
  } else {
    result = __ballot_sync(0x55555555 & ~0x49249249, x & 2);
  }
  out[2 * t] = result;
  out[2 * t + 1] = __ballot_sync(whole, result & 1u << lane);
}

template <u32 Width> __device__ u32 shuffled(u32 x, u32 lane) {
  u32 h = 0;
  for (u32 k = 0; k < 33; k += 3) {
    fold(h, __shfl_sync(whole, x, static_cast<s32>(lane + k), Width));
    fold(h, __shfl_up_sync(whole, x, k % Width, Width));
    fold(h, __shfl_down_sync(whole, x, k % Width, Width));
    fold(h, __shfl_xor_sync(whole, x, static_cast<s32>(k % Width), Width));
  }
  return h;
}

//! shuffle grid=1 block=32 in=32 out=192 input=bits compare=exact
KERNEL(shuffle) {
  const u32 t = threadIdx.x, x = in[t];
  out[t] = shuffled<32>(x, t);
  out[32 + t] = shuffled<16>(x, t);
  out[64 + t] = shuffled<8>(x, t);
  out[96 + t] = shuffled<4>(x, t);
  out[128 + t] = shuffled<2>(x, t);
  out[160 + t] = shuffled<1>(x, t);
}

//! shuffle_with_predicate grid=1 block=32 in=32 out=256 input=bits compare=exact
KERNEL(shuffle_with_predicate) {
  const u32 t = threadIdx.x, x = in[t];
#define SHUFFLE(k, mode, step, clamp)                 \
  {                                                   \
    u32 d, inside;                                    \
    asm volatile("{ .reg .pred p; shfl.sync." mode    \
                 ".b32 %0|p, %2, %3, %4, 0xffffffff;" \
                 " selp.u32 %1, 1, 0, p; }"           \
                 : "=r"(d), "=r"(inside)              \
                 : "r"(x), "r"(step), "r"(clamp));    \
    out[64 * k + t] = d;                              \
    out[64 * k + 32 + t] = inside;                    \
  }
  SHUFFLE(0, "up", 5u, 0u)
  SHUFFLE(1, "down", 7u, 31u)
  SHUFFLE(2, "bfly", 9u, 0x1807u | 31u)
  SHUFFLE(3, "idx", t * 3, 0x1c1fu)
}

//! shuffle_wide grid=1 block=32 in=64 out=192 input=bits compare=exact
KERNEL(shuffle_wide) {
  const u32 t = threadIdx.x;
  u64 x = reinterpret_cast<const u64*>(in)[t];
  for (s32 k = 16; k > 0; k /= 2) x += __shfl_xor_sync(whole, x, k);
  const double y = __shfl_down_sync(whole, static_cast<double>(in[t]), 3, 16);
  const float z = __shfl_up_sync(whole, __uint_as_float(in[t] >> 9), 2);
  reinterpret_cast<u64*>(out)[t] = x;
  reinterpret_cast<double*>(out)[32 + t] = y;
  out[128 + t] = __float_as_uint(z);
  out[160 + t] =
      static_cast<u32>(__shfl_sync(whole, static_cast<s32>(in[t]), 31 - static_cast<s32>(t)));
}

//! shuffle_of_some grid=1 block=64 in=64 out=64 input=bits compare=exact
KERNEL(shuffle_of_some) {
  const u32 t = threadIdx.x, lane = t % 32;
  u32 x = in[t];
  if (lane < 12) {
    x += __shfl_sync(0xfff, x, static_cast<s32>((lane + 5) % 12));
  } else if (lane < 20) {
    x ^= __shfl_down_sync(0xff000, x, lane < 19 ? 1 : 0);
  } else {
    for (u32 k = 0; k < lane % 4; ++k) x = x * 3 + 1;
    x += __shfl_sync(0xfff00000, x, 20 + static_cast<s32>(lane * 7 % 12));
  }
  out[t] = x;
}

//! match grid=1 block=64 in=64 out=256 input=small compare=exact
KERNEL(match) {
  const u32 t = threadIdx.x, x = in[t] % 5;
  s32 same;
  out[4 * t] = __match_any_sync(whole, x);
  out[4 * t + 1] = __match_any_sync(whole, u64{x} << 32 | x % 2);
  out[4 * t + 2] = __match_all_sync(whole, x, &same);
  out[4 * t + 2] += static_cast<u32>(same);
  out[4 * t + 3] = __match_all_sync(whole, u64{7} << 40 | blockIdx.x, &same);
  out[4 * t + 3] += static_cast<u32>(same);
}

//! match_of_some grid=1 block=32 in=32 out=64 input=small compare=exact
KERNEL(match_of_some) {
  const u32 t = threadIdx.x;
  u32 first, second = 0;
  s32 same = 5;
  if (t % 4 < 2) {
    first = __match_any_sync(0x33333333, in[t] % 3);
  } else {
    first = __match_any_sync(0xcccccccc, in[t] % 2);
    second = __match_all_sync(0xcccccccc, in[t] < 256, &same);
  }
  out[2 * t] = first;
  out[2 * t + 1] = second + static_cast<u32>(same);
}

//! reduce_lanes grid=1 block=32 in=32 out=256 input=bits compare=exact
KERNEL(reduce_lanes) {
  const u32 t = threadIdx.x, x = in[t];
  out[t] = __reduce_add_sync(whole, x);
  out[32 + t] = static_cast<u32>(__reduce_add_sync(whole, static_cast<s32>(x)));
  out[64 + t] = __reduce_min_sync(whole, x);
  out[96 + t] = static_cast<u32>(__reduce_min_sync(whole, static_cast<s32>(x)));
  out[128 + t] =
      __reduce_max_sync(whole, x) ^ static_cast<u32>(__reduce_max_sync(whole, static_cast<s32>(x)));
  out[160 + t] = __reduce_and_sync(whole, x | 0xff0);
  out[192 + t] = __reduce_or_sync(whole, x & 0xf0f000);
  out[224 + t] = __reduce_xor_sync(whole, x);
}

//! reduce_under_divergence grid=2 block=64 in=128 out=128 input=small compare=exact
KERNEL(reduce_under_divergence) {
  const u32 t = global_thread(), x = in[t];
  const u32 peers = __match_any_sync(whole, x % 4);
  u32 result = __reduce_add_sync(peers, x);
  switch (x % 4) {
    case 0:
      result += __reduce_max_sync(peers, x);
      break;
    case 1:
      result ^= __reduce_min_sync(peers, x);
      break;
    case 2:
      for (u32 k = 0; k < x % 7; ++k) result = result * 5 + 1;
      result += __reduce_xor_sync(peers, result);
      break;
    default:
      break;
  }
  out[t] = result;
}

//! active_mask grid=1 block=64 in=64 out=64 input=small compare=exact
KERNEL(active_mask) {
  // Which lanes are together is for the hardware to choose; that a lane is in its own mask, and
  // that none is which took another way, holds always.
  const u32 t = threadIdx.x, lane = t % 32, x = in[t];
  const u32 odd = __ballot_sync(whole, x & 1);
  u32 good = 1;
  if (x & 1) {
    const u32 mask = __activemask();
    good = (mask >> lane & 1) && (mask & ~odd) == 0;
  } else {
    const u32 mask = __activemask();
    good = (mask >> lane & 1) && (mask & odd) == 0;
  }
  out[t] = good;
}

//! elect grid=1 block=64 in=64 out=64 input=small compare=exact
KERNEL(elect) {
  const u32 lane = threadIdx.x % 32;
  u32 leader, chosen;
  asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(leader), "=r"(chosen));
  const u32 count = static_cast<u32>(__popc(__ballot_sync(whole, chosen)));
  const u32 same = static_cast<u32>(__all_sync(whole, leader == __shfl_sync(whole, leader, 0)));
  out[threadIdx.x] = count | same << 8 | static_cast<u32>((lane == leader) == (chosen == 1)) << 16;
}

//! exchange_through_shared_memory grid=2 block=64 in=128 out=128 input=bits compare=exact
KERNEL(exchange_through_shared_memory) {
  __shared__ u32 cells[64];
  const u32 t = threadIdx.x, warp = t & ~31u;
  u32 x = in[global_thread()];
  for (u32 k = 0; k < 5; ++k) {
    cells[t] = x;
    __syncwarp();
    x = x * 5 + cells[warp + (t * 7 + k) % 32];
    __syncwarp();
  }
  if (t % 2) {
    cells[t] = x;
    __syncwarp(0xaaaaaaaa);
    x ^= cells[warp + (t + 2) % 32];
  }
  out[global_thread()] = x;
}

//! scan_of_lanes grid=2 block=64 in=128 out=256 input=bits compare=exact
KERNEL(scan_of_lanes) {
  const u32 t = global_thread(), lane = t % 32;
  u32 sum = in[t], high = in[t];
  for (u32 k = 1; k < 32; k *= 2) {
    const u32 below = __shfl_up_sync(whole, sum, k), other = __shfl_up_sync(whole, high, k);
    if (lane >= k) {
      sum += below;
      high = max(high, other);
    }
  }
  out[2 * t] = sum;
  out[2 * t + 1] = high;
}

//! early_exit grid=1 block=64 in=64 out=64 input=small compare=exact
KERNEL(early_exit) {
  const u32 t = threadIdx.x;
  const u32 stays = __ballot_sync(whole, in[t] & 1);
  if (!(in[t] & 1)) {
    out[t] = 1000 + t;
    return;
  }
  const u32 sum = __reduce_add_sync(stays, in[t]);
  __syncwarp(stays);
  out[t] = sum + __popc(__ballot_sync(stays, in[t] & 2));
}
