#pragma once
// What the kernels of the corpus share. They have no other header: NVRTC brings none.

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using s8 = signed char;
using s16 = short;
using s32 = int;
using s64 = long long;
/// f16 and bf16 travel as their bits.
struct half_bits {
  u16 bits;
};

#define KERNEL(name) \
  extern "C" __global__ void name(const u32* in, u32* out, [[maybe_unused]] u32 n)

/// The thread's number in its one-dimensional grid.
__device__ inline u32 global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ inline u32 mixed(u32 h, u32 v) {
  h = (h ^ v) * 0x9e3779b1u;
  return h ^ h >> 15;
}

/// Folds many results into one word that changes when any bit of any of them does. NaNs are kept.
__device__ inline void fold(u32& h, u32 v) { h = mixed(h, v); }
__device__ inline void fold(u32& h, s32 v) { h = mixed(h, static_cast<u32>(v)); }
__device__ inline void fold(u32& h, u16 v) { h = mixed(h, v); }
__device__ inline void fold(u32& h, s16 v) { h = mixed(h, static_cast<u16>(v)); }
__device__ inline void fold(u32& h, half_bits v) { h = mixed(h, v.bits); }
__device__ inline void fold(u32& h, u64 v) {
  h = mixed(mixed(h, static_cast<u32>(v)), static_cast<u32>(v >> 32));
}
__device__ inline void fold(u32& h, s64 v) { fold(h, static_cast<u64>(v)); }
__device__ inline void fold(u32& h, float v) { h = mixed(h, __float_as_uint(v)); }
/// Which NaN a double operation yields is a test of its own.
__device__ inline void fold(u32& h, double v) {
  fold(h, v != v ? 0x7ff8000000000000ull : static_cast<u64>(__double_as_longlong(v)));
}

/// NaNs of unspecified bits as the canonical one.
__device__ inline float canonical(float v) { return v != v ? __uint_as_float(0x7fffffff) : v; }

constexpr u32 lanes = 32;

/// One operation of three operands on 32 x 32 pairs: thread t has the t-th value as its first
/// operand, and meets each of the next 32 as the second; the third varies with both.
template <class T, class Operation>
__device__ inline u32 fold_operation(const T* values, Operation operation) {
  const u32 t = threadIdx.x;
  u32 h = 1;
#pragma unroll 1
  for (u32 j = 0; j < lanes; ++j) {
    fold(h, operation(values[t], values[lanes + j], values[2 * lanes + (t * 7 + j * 5) % lanes]));
  }
  return h;
}

/// A kernel of one block of 32 threads that leaves word `32 * k + t` for operation k. `in` holds 96
/// values of T.
template <class T, class... Operation>
__device__ inline void fold_operations(const u32* in, u32* out, Operation... operation) {
  const T* values = reinterpret_cast<const T*>(in);
  u32 k = 0;
  ((out[k++ * lanes + threadIdx.x] = fold_operation<T>(values, operation)), ...);
}

/// As fold_operations, but with one word left for each operation, so that a kernel may have many.
template <class T, class... Operation>
__device__ inline void digest_operations(const u32* in, u32* out, Operation... operation) {
  const T* values = reinterpret_cast<const T*>(in);
  u32 k = 0;
  ((out[k++] = __reduce_add_sync(~0u, mixed(threadIdx.x, fold_operation<T>(values, operation)))),
   ...);
}

// An instruction as an operation: %0 is its result, %1 to %3 are its operands.
#define CORPUS_OPERATION(result, letter, type, operand, ...)               \
  [](type a, type b, type c) {                                             \
    result d;                                                              \
    asm(__VA_ARGS__ : "=" letter(d) : operand(a), operand(b), operand(c)); \
    return d;                                                              \
  }
#define OP16(...) CORPUS_OPERATION(u16, "h", u16, "h", __VA_ARGS__)
#define OP32(...) CORPUS_OPERATION(u32, "r", u32, "r", __VA_ARGS__)
#define OP64(...) CORPUS_OPERATION(u64, "l", u64, "l", __VA_ARGS__)
#define OP32_16(...) CORPUS_OPERATION(u32, "r", u16, "h", __VA_ARGS__)
#define OP64_32(...) CORPUS_OPERATION(u64, "l", u32, "r", __VA_ARGS__)
#define OP32_64(...) CORPUS_OPERATION(u32, "r", u64, "l", __VA_ARGS__)
#define OP16_32(...) CORPUS_OPERATION(u16, "h", u32, "r", __VA_ARGS__)
#define OPF(...) CORPUS_OPERATION(float, "f", float, "f", __VA_ARGS__)
#define OPD(...) CORPUS_OPERATION(double, "d", double, "d", __VA_ARGS__)
#define OP32_F(...) CORPUS_OPERATION(u32, "r", float, "f", __VA_ARGS__)
#define OP64_F(...) CORPUS_OPERATION(u64, "l", float, "f", __VA_ARGS__)
#define OP16_F(...) CORPUS_OPERATION(u16, "h", float, "f", __VA_ARGS__)
#define OP32_D(...) CORPUS_OPERATION(u32, "r", double, "d", __VA_ARGS__)
#define OP64_D(...) CORPUS_OPERATION(u64, "l", double, "d", __VA_ARGS__)
#define OP16_D(...) CORPUS_OPERATION(u16, "h", double, "d", __VA_ARGS__)
#define OPF_32(...) CORPUS_OPERATION(float, "f", u32, "r", __VA_ARGS__)
#define OPF_64(...) CORPUS_OPERATION(float, "f", u64, "l", __VA_ARGS__)
#define OPF_16(...) CORPUS_OPERATION(float, "f", u16, "h", __VA_ARGS__)
#define OPF_D(...) CORPUS_OPERATION(float, "f", double, "d", __VA_ARGS__)
#define OPD_32(...) CORPUS_OPERATION(double, "d", u32, "r", __VA_ARGS__)
#define OPD_64(...) CORPUS_OPERATION(double, "d", u64, "l", __VA_ARGS__)
#define OPD_16(...) CORPUS_OPERATION(double, "d", u16, "h", __VA_ARGS__)
#define OPD_F(...) CORPUS_OPERATION(double, "d", float, "f", __VA_ARGS__)
