// Memory of every space: vectors, shared, local, constant, global with initial values.
#include "corpus.cuh"

//! vector_loads grid=1 block=32 in=256 out=256 input=bits compare=exact
KERNEL(vector_loads) {
  const u32 t = threadIdx.x;
  const uint4 a = reinterpret_cast<const uint4*>(in)[t];
  const uint2 b = reinterpret_cast<const uint2*>(in)[t + 64];
  const ushort4 c = reinterpret_cast<const ushort4*>(in)[t + 7];
  const uchar4 d = reinterpret_cast<const uchar4*>(in)[t + 9];
  const ulonglong2 e = reinterpret_cast<const ulonglong2*>(in)[t + 3];
  uint4 first{a.w + c.x, a.z ^ c.y, a.y - c.z, a.x + c.w};
  first.x += static_cast<u32>(e.x);
  first.y += static_cast<u32>(e.y >> 32);
  reinterpret_cast<uint4*>(out)[t] = first;
  reinterpret_cast<uint2*>(out + 128)[t] = uint2{b.y + d.x * d.y, b.x ^ d.z << d.w % 8};
  reinterpret_cast<ushort2*>(out + 192)[t] = ushort2{c.x, c.w};
  reinterpret_cast<uchar4*>(out + 224)[t] = uchar4{d.w, d.x, d.z, d.y};
}

//! kinds_of_loads grid=1 block=32 in=64 out=256 input=bits compare=exact
KERNEL(kinds_of_loads) {
  const u32 t = threadIdx.x;
  const u32* p = in + t;
  u32 x, h = 0;
#define LOADED(text)                                \
  asm volatile(text : "=r"(x) : "l"(p) : "memory"); \
  fold(h, x)
  LOADED("ld.global.u32 %0, [%1];");
  LOADED("ld.global.u32 %0, [%1 + 64];");
  LOADED("ld.global.nc.u32 %0, [%1 + 4];");
  LOADED("ld.global.ca.u32 %0, [%1];");
  LOADED("ld.global.cg.u32 %0, [%1];");
  LOADED("ld.global.cs.u32 %0, [%1];");
  LOADED("ld.global.lu.u32 %0, [%1];");
  LOADED("ld.volatile.global.u32 %0, [%1];");
  LOADED("ld.relaxed.sys.global.u32 %0, [%1];");
  LOADED("ld.acquire.cta.u32 %0, [%1];");
  LOADED("ld.u8 %0, [%1 + 3];");
  LOADED("ld.s8 %0, [%1 + 2];");
  LOADED("ld.u16 %0, [%1 + 2];");
  LOADED("ld.s16 %0, [%1];");
  LOADED("ldu.global.u32 %0, [%1];");
  LOADED("ld.global.L1::no_allocate.u32 %0, [%1];");
  LOADED("ld.global.L2::128B.u32 %0, [%1];");
  out[t] = h;
  u32* q = out + 32 + t * 7;
  asm volatile(
      "st.global.u8 [%0], %1; st.global.u8 [%0 + 1], %2; st.global.u16 [%0 + 2], %1;" ::"l"(q),
      "r"(h), "r"(x)
      : "memory");
  asm volatile("st.relaxed.gpu.global.u32 [%0 + 4], %1; st.release.sys.u32 [%0 + 8], %2;" ::"l"(q),
               "r"(h), "r"(x)
               : "memory");
  asm volatile(
      "st.volatile.global.u32 [%0 + 12], %1; st.cs.u32 [%0 + 16], %2; st.wt.global.u32 [%0 + 20], "
      "%2;" ::"l"(q),
      "r"(x), "r"(h)
      : "memory");
  asm volatile("prefetch.global.L2 [%0]; st.wb.global.b32 [%0 + 24], %1;" ::"l"(q), "r"(x * 3)
               : "memory");
}

struct mixed_record {
  u8 tag;
  double value;
  u16 short_one;
  u32 words[3];
  s8 signed_byte;
};

//! structures grid=1 block=32 in=256 out=256 input=bits compare=exact
KERNEL(structures) {
  const u32 t = threadIdx.x;
  __shared__ mixed_record records[32];
  mixed_record r{};
  r.tag = static_cast<u8>(in[t]);
  r.value = static_cast<double>(in[t + 32]);
  r.short_one = static_cast<u16>(in[t] >> 9);
  for (u32 k = 0; k < 3; ++k) r.words[k] = in[t + 64 + 32 * k];
  r.signed_byte = static_cast<s8>(in[t] >> 24);
  records[t] = r;
  __syncthreads();
  const mixed_record other = records[(t * 13 + 5) % 32];
  u32 h = 0;
  fold(h, static_cast<u32>(other.tag));
  fold(h, other.value);
  fold(h, other.short_one);
  fold(h, other.words[1] ^ other.words[2]);
  fold(h, static_cast<s32>(other.signed_byte));
  out[t * 8] = h;
  out[t * 8 + 1] = static_cast<u32>(sizeof(mixed_record)) + static_cast<u32>(alignof(mixed_record));
  for (u32 k = 2; k < 8; ++k) out[t * 8 + k] = records[(t + k) % 32].words[k % 3];
}

//! static_and_dynamic_shared grid=2 block=64 shared=512 in=128 out=128 input=bits compare=exact
KERNEL(static_and_dynamic_shared) {
  __shared__ u16 small[64];
  __shared__ u64 wide[64];
  extern __shared__ u32 dynamic[];
  const u32 t = threadIdx.x, x = in[global_thread()];
  small[t] = static_cast<u16>(x);
  wide[63 - t] = u64{x} << 11;
  dynamic[t] = x * 3;
  dynamic[64 + t] = x * 5;
  __syncthreads();
  out[global_thread()] =
      small[(t + 9) % 64] + static_cast<u32>(wide[t] >> 8) + dynamic[(t * 5) % 128];
}

//! local_arrays grid=1 block=64 in=256 out=64 input=bits compare=exact
KERNEL(local_arrays) {
  u32 cells[40];
  u8 bytes[64];
  for (u32 k = 0; k < 40; ++k) cells[k] = in[(threadIdx.x + k) % 256];
  for (u32 k = 0; k < 64; ++k) bytes[k] = static_cast<u8>(k * 7);
  u32 at = threadIdx.x % 40;
  for (u32 k = 0; k < 100; ++k) {
    const u32 next = (cells[at] >> 5) % 40;
    cells[at] += bytes[cells[next] % 64] + k;
    bytes[(at + k) % 64] ^= static_cast<u8>(cells[next]);
    at = next;
  }
  u32 h = 0;
  for (u32 k = 0; k < 40; ++k) fold(h, cells[k]);
  for (u32 k = 0; k < 64; ++k) fold(h, static_cast<u32>(bytes[k]));
  out[threadIdx.x] = h;
}

__constant__ u32 primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
__constant__ double reals[4] = {0.5, -1.25, 3.0e10, 1.0 / 3.0};
__constant__ char sentence[] = "a constant sentence";
__constant__ struct {
  u16 first;
  u64 second;
  float third[3];
} compound = {7, 0x123456789abcdef0, {1.5f, -2.25f, 1e-40f}};

//! constants grid=1 block=64 in=64 out=64 input=bits compare=exact
KERNEL(constants) {
  const u32 x = in[threadIdx.x];
  u32 h = 0;
  fold(h, primes[x % 16]);
  fold(h, reals[x / 16 % 4]);
  fold(h, static_cast<u32>(sentence[x % sizeof sentence]));
  fold(h, compound.second + compound.first);
  fold(h, compound.third[x % 3]);
  out[threadIdx.x] = h;
}

__device__ u32 table[32] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
__device__ u8 unaligned_bytes[5] = {1, 2, 3, 4, 5};
__device__ u32 zeros[64];
__device__ u32* into_table = table + 4;
__device__ const u32* const from_constant = primes + 3;
struct node {
  u32 value;
  const node* next;
};
__device__ node third = {30, nullptr};
__device__ node second = {20, &third};
__device__ node first = {10, &second};
__device__ const node* starts[4] = {&first, &second, &third, nullptr};

//! globals grid=1 block=32 in=32 out=96 input=bits compare=exact
KERNEL(globals) {
  const u32 t = threadIdx.x, x = in[t];
  u32 h = 0;
  fold(h, table[x % 32]);
  fold(h, static_cast<u32>(unaligned_bytes[x % 5]));
  fold(h, zeros[t]);
  fold(h, into_table[x % 8]);
  fold(h, from_constant[x % 8]);
  u32 visited = 0;
  for (const node* at = starts[x % 4]; at != nullptr; at = at->next) {
    fold(h, at->value);
    ++visited;
  }
  out[t] = h;
  __syncthreads();
  zeros[31 - t] = x;
  __syncthreads();
  out[32 + t] = zeros[t];
  __syncthreads();
  zeros[t] = 0;
  out[64 + t] = visited;
}

__device__ __noinline__ u32 sum_through(const u32* p, u32 count) {
  u32 sum = 0;
  for (u32 k = 0; k < count; ++k) sum = sum * 3 + p[k];
  return sum;
}

//! generic_addresses grid=1 block=64 in=128 out=192 input=bits compare=exact
KERNEL(generic_addresses) {
  __shared__ u32 cells[64];
  const u32 t = threadIdx.x;
  u32 own[8];
  for (u32 k = 0; k < 8; ++k) own[k] = in[(t * 8 + k) % 128];
  cells[t] = in[t];
  __syncthreads();
  const u32* p = t % 4 == 0   ? in + t
                 : t % 4 == 1 ? cells + t % 56
                 : t % 4 == 2 ? own
                              : primes + t % 8;
  out[t] = sum_through(p, 8);
  u32 spaces;
  asm("{ .reg .pred g, s, l, c; .reg .b32 x; isspacep.global g, %1; isspacep.shared s, %1;"
      " isspacep.local l, %1; isspacep.const c, %1; selp.u32 %0, 1, 0, g; selp.u32 x, 2, 0, s;"
      " or.b32 %0, %0, x; selp.u32 x, 4, 0, l; or.b32 %0, %0, x; selp.u32 x, 8, 0, c;"
      " or.b32 %0, %0, x; }"
      : "=r"(spaces)
      : "l"(p));
  out[64 + t] = spaces;
  u64 back;
  asm("{ .reg .u64 x; cvta.to.shared.u64 x, %1; cvta.shared.u64 %0, x; }"
      : "=l"(back)
      : "l"(cells + t));
  out[128 + t] = reinterpret_cast<u32*>(back) == cells + t;
}

//! allocated_on_the_stack grid=1 block=32 in=32 out=32 input=small compare=exact
KERNEL(allocated_on_the_stack) {
  const u32 count = in[threadIdx.x] % 13 + 1;
  u32 h = 0;
  u64 before, after;
  asm volatile(
      "{ .reg .u64 size, cells, at, end; .reg .u32 x, sum; .reg .pred p;\n"
      " stacksave.u64 %1;\n"
      " mul.wide.u32 size, %3, 16;\n"
      " alloca.u64 cells, size, 16;\n"
      " mov.u64 at, cells; add.u64 end, cells, size; mov.u32 x, %3; mov.u32 sum, 0;\n"
      " fill: st.local.u32 [at], x; mad.lo.u32 x, x, 7, 1; add.u64 at, at, 16;\n"
      " setp.lt.u64 p, at, end; @p bra fill;\n"
      " add_up: sub.u64 at, at, 16; ld.local.u32 x, [at]; mad.lo.u32 sum, sum, 3, x;\n"
      " setp.gt.u64 p, at, cells; @p bra add_up;\n"
      " stackrestore.u64 %1;\n"
      " stacksave.u64 %2;\n"
      " mov.u32 %0, sum; }"
      : "=r"(h), "=&l"(before), "=l"(after)
      : "r"(count));
  out[threadIdx.x] = h + (before == after);
}

//! allocated_on_the_heap grid=2 block=32 in=64 out=64 input=small compare=exact
KERNEL(allocated_on_the_heap) {
  struct link {
    u32 value;
    link* next;
  };
  link* first = nullptr;
  const u32 count = in[global_thread()] % 9;
  for (u32 k = 0; k < count; ++k) {
    link* const made = static_cast<link*>(malloc(sizeof(link)));
    if (made == nullptr) break;
    *made = {k * 17 + in[global_thread()], first};
    first = made;
  }
  u32 h = 0;
  while (first != nullptr) {
    fold(h, first->value);
    link* const next = first->next;
    free(first);
    first = next;
  }
  u64* const words = new u64[4]{1, 2, 3, h};
  h += static_cast<u32>(words[3] * words[2]) + (reinterpret_cast<u64>(words) % 16 == 0);
  delete[] words;
  out[global_thread()] = h;
}

//! bytes_copied grid=1 block=32 in=64 out=256 input=bits compare=exact
KERNEL(bytes_copied) {
  const u32 t = threadIdx.x;
  u8 buffer[48];
  memset(buffer, static_cast<int>(t), sizeof buffer);
  memcpy(buffer + t % 5, in + t, 13 + t % 7);
  u8* const target = reinterpret_cast<u8*>(out + t * 8);
  memcpy(target, buffer + 1, 29);
  target[29] = buffer[47];
}

//! asynchronous_copies grid=1 block=64 in=256 out=256 input=bits compare=exact
KERNEL(asynchronous_copies) {
  alignas(16) __shared__ u32 cells[256];
  const u32 t = threadIdx.x;
  const u32 target = static_cast<u32>(__cvta_generic_to_shared(cells + t * 4));
  for (u32 k = 0; k < 4; ++k) cells[t * 4 + k] = k;
  if (t % 2) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(in + t * 4)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, 4;" ::"r"(target), "l"(in + t * 4)
                 : "memory");
    asm volatile("cp.async.ca.shared.global [%0 + 8], [%1], 4;" ::"r"(target), "l"(in + t * 4 + 2)
                 : "memory");
  }
  asm volatile("cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;" ::: "memory");
  __syncthreads();
  for (u32 k = 0; k < 4; ++k) out[t * 4 + k] = cells[(t * 4 + k * 67) % 256];
}
