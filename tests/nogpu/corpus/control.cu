// Control flow: branches, tables, calls, recursion, pointers to functions.
#include "corpus.cuh"

//! switch_table grid=1 block=64 in=64 out=64 input=small compare=exact
KERNEL(switch_table) {
  u32 x = in[threadIdx.x];
  for (u32 k = 0; k < 6; ++k) {
    switch (x % 12) {
      case 0:
        x = x * 3 + 1;
        break;
      case 1:
        x ^= 0x55;
        [[fallthrough]];
      case 2:
        x = x << 3 | x >> 29;
        break;
      case 3:
        x -= in[k];
        break;
      case 4:
        x = __brev(x);
        break;
      case 5:
        x = x / 3;
        break;
      case 6:
        x += 1000;
        [[fallthrough]];
      case 7:
        x = ~x;
        break;
      case 8:
        x *= x;
        break;
      case 9:
        x = static_cast<u32>(__popc(x)) * 97;
        break;
      case 10:
        x ^= x >> 7;
        break;
      default:
        x += k;
        break;
    }
  }
  out[threadIdx.x] = x;
}

//! branch_table grid=1 block=64 in=64 out=64 input=bits compare=exact
KERNEL(branch_table) {
  u32 result;
  asm volatile(
      "{ .reg .b32 i;\n"
      " and.b32 i, %1, 3;\n"
      " targets: .branchtargets first, second, third, fourth;\n"
      " brx.idx i, targets;\n"
      " first: mov.u32 %0, 11; bra.uni done;\n"
      " second: add.u32 %0, %1, 22; bra done;\n"
      " third: mul.lo.u32 %0, %1, 33; bra done;\n"
      " fourth: not.b32 %0, %1;\n"
      " done: add.u32 %0, %0, 1; }"
      : "=r"(result)
      : "r"(in[threadIdx.x]));
  out[threadIdx.x] = result;
}

//! nested_divergence grid=1 block=64 in=64 out=64 input=small compare=exact
KERNEL(nested_divergence) {
  const u32 x = in[threadIdx.x];
  u32 sum = 0;
  for (u32 i = 0; i < x % 9; ++i) {
    if ((x + i) % 3 == 0) continue;
    for (u32 j = i; j < x % 7 + 3; ++j) {
      if (j == 6) break;
      sum += (i * j) ^ x;
      if (sum % 11 == 5) goto finished;
      while (sum > 5000) sum -= 1777;
    }
    sum = sum * 2 + 1;
  }
finished:
  out[threadIdx.x] = sum;
}

//! collatz grid=2 block=64 in=128 out=128 input=bits compare=exact
KERNEL(collatz) {
  u32 x = in[global_thread()] % 10000 + 1, steps = 0;
  while (x != 1) {
    x = x % 2 ? 3 * x + 1 : x / 2;
    ++steps;
  }
  out[global_thread()] = steps;
}

__device__ __noinline__ u32 two_results(u32 a, u64 b, u16 c, u32* second) {
  *second = a ^ c;
  return static_cast<u32>(b >> (a % 40)) + c;
}
__device__ __noinline__ float many_floats(float a, float b, double c, float d, bool e) {
  return e ? a * b : static_cast<float>(c) - d;
}

//! device_functions grid=1 block=64 in=128 out=192 input=bits compare=exact
KERNEL(device_functions) {
  const u32 t = threadIdx.x, x = in[t];
  u32 second;
  out[t] = two_results(x, u64{in[t + 64]} << 17, static_cast<u16>(x >> 3), &second);
  out[64 + t] = second;
  const float a = static_cast<float>(x % 1000), b = static_cast<float>(in[t + 64] % 1000);
  out[128 + t] = __float_as_uint(many_floats(a, b, static_cast<double>(a) / 8, b, x & 1));
}

struct large {
  u32 words[60];
  double real;
  u8 tail[7];
};
__device__ __noinline__ u32 by_value(large l, u32 k) {
  l.words[k % 60] += l.tail[k % 7];
  u32 h = 0;
  for (u32 w : l.words) fold(h, w);
  fold(h, l.real);
  return h;
}
__device__ __noinline__ large made(u32 seed) {
  large l{};
  for (u32 k = 0; k < 60; ++k) l.words[k] = seed * (k + 1);
  l.real = static_cast<double>(seed) / 4;
  for (u32 k = 0; k < 7; ++k) l.tail[k] = static_cast<u8>(seed >> k);
  return l;
}

//! large_structures grid=1 block=64 in=64 out=128 input=bits compare=exact
KERNEL(large_structures) {
  const u32 t = threadIdx.x;
  large l = made(in[t]);
  out[t] = by_value(l, in[t]);
  l.words[t % 60] ^= 1;
  out[64 + t] = by_value(l, t) + made(t).words[in[t] % 60];
}

__device__ __noinline__ u32 fibonacci(u32 k) {
  return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2);
}
__device__ __noinline__ u32 ackermann(u32 m, u32 k) {
  if (m == 0) return k + 1;
  if (k == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, k - 1));
}
__device__ bool is_odd(u32 k);
__device__ __noinline__ bool is_even(u32 k) { return k == 0 || is_odd(k - 1); }
__device__ __noinline__ bool is_odd(u32 k) { return k != 0 && is_even(k - 1); }

//! recursion grid=1 block=32 in=32 out=96 input=small compare=exact
KERNEL(recursion) {
  const u32 t = threadIdx.x, x = in[t];
  out[t] = fibonacci(x % 12);
  out[32 + t] = ackermann(x % 3, t % 4);
  out[64 + t] = is_even(x % 20);
}

//! towers_of_hanoi grid=1 block=32 in=32 out=32 input=small compare=exact
struct towers {
  u32 pegs[3], moves;
  __device__ __noinline__ void move(u32 disks, u32 from, u32 to) {
    if (disks == 0) return;
    move(disks - 1, from, 3 - from - to);
    pegs[from] ^= 1u << (disks - 1);
    pegs[to] ^= 1u << (disks - 1);
    moves = moves * 3 + from + 5 * to;
    move(disks - 1, 3 - from - to, to);
  }
};
KERNEL(towers_of_hanoi) {
  const u32 disks = in[threadIdx.x] % 6;
  towers state{{(1u << disks) - 1, 0, 0}, 0};
  state.move(disks, 0, 2);
  out[threadIdx.x] = state.moves ^ state.pegs[0] << 8 ^ state.pegs[1] << 16 ^ state.pegs[2] << 24;
}

using unary = u32 (*)(u32);
__device__ __noinline__ u32 doubled(u32 x) { return 2 * x; }
__device__ __noinline__ u32 squared(u32 x) { return x * x; }
__device__ __noinline__ u32 inverted(u32 x) { return ~x; }
__device__ __noinline__ u32 reversed(u32 x) { return __brev(x); }
__device__ unary functions[4] = {doubled, squared, inverted, reversed};

//! function_pointers grid=1 block=64 in=64 out=64 input=bits compare=exact
KERNEL(function_pointers) {
  u32 x = in[threadIdx.x];
  for (u32 k = 0; k < 5; ++k) x = functions[(x + k) % 4](x) + k;
  const unary chosen = threadIdx.x % 2 ? doubled : reversed;
  out[threadIdx.x] = chosen(x);
}

struct shape {
  __device__ virtual u32 area(u32 scale) const = 0;
  __device__ virtual ~shape() {}
};
struct square : shape {
  u32 side;
  __device__ explicit square(u32 s) : side(s) {}
  __device__ u32 area(u32 scale) const override { return side * side * scale; }
};
struct rectangle : shape {
  u32 width, height;
  __device__ rectangle(u32 w, u32 h) : width(w), height(h) {}
  __device__ u32 area(u32 scale) const override { return width * height + scale; }
};
__device__ __noinline__ u32 area_of(const shape& s, u32 scale) { return s.area(scale); }

//! virtual_calls grid=1 block=64 in=64 out=64 input=bits compare=exact
KERNEL(virtual_calls) {
  const u32 x = in[threadIdx.x];
  const square s(x % 100);
  const rectangle r(x % 50, x % 70);
  const shape* const chosen = x & 1 ? static_cast<const shape*>(&s) : &r;
  out[threadIdx.x] = area_of(*chosen, x) + area_of(s, 3);
}

//! lambdas_and_templates grid=1 block=64 in=64 out=64 input=bits compare=exact
template <class F, class... Rest> __device__ u32 composed(u32 x, F f, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return f(x);
  } else {
    return composed(f(x), rest...);
  }
}
KERNEL(lambdas_and_templates) {
  const u32 captured = in[(threadIdx.x + 1) % 64];
  out[threadIdx.x] = composed(
      in[threadIdx.x], [=](u32 v) { return v + captured; }, [](u32 v) { return v >> 3 | v << 29; },
      [&](u32 v) { return v * in[5]; });
}

//! predicated_instructions grid=1 block=64 in=128 out=64 input=bits compare=exact
KERNEL(predicated_instructions) {
  const u32 t = threadIdx.x;
  u32 result;
  asm volatile(
      "{ .reg .pred p, q; .reg .b32 k, s;\n"
      " setp.lt.s32 p|q, %1, %2;\n"
      " mov.u32 s, %1; mov.u32 k, 0;\n"
      " again:\n"
      " @p add.u32 s, s, %2;\n"
      " @q xor.b32 s, s, %2;\n"
      " shf.l.wrap.b32 s, s, s, 7;\n"
      " add.u32 k, k, 1;\n"
      " setp.lt.u32 p, k, 5;\n"
      " @p bra again;\n"
      " @!q bra.uni join;\n"
      " join: mov.u32 %0, s; }"
      : "=r"(result)
      : "r"(in[t]), "r"(in[t + 64]));
  out[t] = result;
}

//! returns_from_everywhere grid=1 block=96 in=96 out=96 input=small compare=exact
KERNEL(returns_from_everywhere) {
  const u32 t = threadIdx.x, x = in[t];
  out[t] = 1;
  if (x % 5 == 0) return;
  out[t] = 2;
  for (u32 k = 0; k < x; ++k) {
    if (k * k > x) return;
    out[t] += k;
    if (k == 9) asm volatile("exit;");
  }
  out[t] = 0xffff;
}
