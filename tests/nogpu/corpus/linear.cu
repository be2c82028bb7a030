// Linear algebra and transforms. The order of the operations is fixed, so results are exact.
#include "corpus.cuh"

//! tiled_matrix_product grid=2x2 block=8x8 in=512 out=256 input=f32unit compare=exact
KERNEL(tiled_matrix_product) {
  __shared__ float a_tile[8][8], b_tile[8][9];
  const float *a = reinterpret_cast<const float*>(in), *b = a + 256;
  const u32 row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (u32 k = 0; k < 16; k += 8) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * 16 + k + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * 16 + column];
    __syncthreads();
    for (u32 j = 0; j < 8; ++j) sum = fmaf(a_tile[threadIdx.y][j], b_tile[j][threadIdx.x], sum);
    __syncthreads();
  }
  out[row * 16 + column] = __float_as_uint(sum);
}

//! transposition grid=2x2 block=8x4 in=256 out=256 input=bits compare=exact
KERNEL(transposition) {
  __shared__ u32 tile[8][9];
  for (u32 k = threadIdx.y; k < 8; k += 4) {
    tile[k][threadIdx.x] = in[(blockIdx.y * 8 + k) * 16 + blockIdx.x * 8 + threadIdx.x];
  }
  __syncthreads();
  for (u32 k = threadIdx.y; k < 8; k += 4) {
    out[(blockIdx.x * 8 + k) * 16 + blockIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][k];
  }
}

//! lu_decomposition grid=1 block=12x12 in=144 out=144 input=f32unit compare=exact
KERNEL(lu_decomposition) {
  __shared__ float m[12][12];
  const u32 row = threadIdx.y, column = threadIdx.x;
  m[row][column] = __uint_as_float(in[row * 12 + column]) + (row == column ? 12.0f : 0.0f);
  for (u32 k = 0; k < 11; ++k) {
    __syncthreads();
    if (row > k && column == k) m[row][k] /= m[k][k];
    __syncthreads();
    if (row > k && column > k) m[row][column] -= m[row][k] * m[k][column];
  }
  out[row * 12 + column] = __float_as_uint(m[row][column]);
}

//! cholesky grid=1 block=10x10 in=200 out=200 input=f64unit compare=exact
KERNEL(cholesky) {
  __shared__ double m[10][10];
  const double* x = reinterpret_cast<const double*>(in);
  const u32 row = threadIdx.y, column = threadIdx.x;
  m[row][column] =
      (x[row * 10 + column] + x[column * 10 + row]) * 0.5 + (row == column ? 10.0 : 0.0);
  for (u32 k = 0; k < 10; ++k) {
    __syncthreads();
    if (row == k && column == k) m[k][k] = sqrt(m[k][k]);
    __syncthreads();
    if (column == k && row > k) m[row][k] /= m[k][k];
    __syncthreads();
    if (column > k && row >= column) m[row][column] -= m[row][k] * m[column][k];
  }
  reinterpret_cast<double*>(out)[row * 10 + column] = column <= row ? m[row][column] : 0;
}

//! fft grid=1 block=64 in=256 out=256 input=f32unit compare=exact
KERNEL(fft) {
  // Radix 2, 128 points; the roots of unity come from a recurrence in double.
  __shared__ float real[128], imaginary[128];
  __shared__ float cosines[64], sines[64];
  const u32 t = threadIdx.x;
  double c = 1, s = 0;
  for (u32 k = 0; k < t; ++k) {
    const double next = c * 0.99879545620517239 - s * 0.049067674327418015;
    s = s * 0.99879545620517239 + c * 0.049067674327418015;
    c = next;
  }
  cosines[t] = static_cast<float>(c);
  sines[t] = static_cast<float>(-s);
  for (u32 k = t; k < 128; k += 64) {
    const u32 from = __brev(k) >> 25;
    real[k] = __uint_as_float(in[2 * from]);
    imaginary[k] = __uint_as_float(in[2 * from + 1]);
  }
  for (u32 half = 1; half < 128; half *= 2) {
    __syncthreads();
    const u32 j = t % half, low = t / half * 2 * half + j, high = low + half;
    const float wr = cosines[j * (64 / half)], wi = sines[j * (64 / half)];
    const float xr = real[high] * wr - imaginary[high] * wi;
    const float xi = real[high] * wi + imaginary[high] * wr;
    real[high] = real[low] - xr;
    imaginary[high] = imaginary[low] - xi;
    real[low] += xr;
    imaginary[low] += xi;
  }
  __syncthreads();
  for (u32 k = t; k < 128; k += 64) {
    out[2 * k] = __float_as_uint(real[k]);
    out[2 * k + 1] = __float_as_uint(imaginary[k]);
  }
}

//! number_theoretic_transform grid=1 block=64 in=128 out=128 input=bits compare=exact
KERNEL(number_theoretic_transform) {
  // Modulo 998244353, whose primitive root is 3.
  constexpr u64 modulus = 998244353;
  __shared__ u32 cells[128];
  const u32 t = threadIdx.x;
  const auto power = [](u64 base, u32 exponent) {
    u64 result = 1;
    for (; exponent != 0; exponent >>= 1, base = base * base % modulus) {
      if (exponent & 1) result = result * base % modulus;
    }
    return result;
  };
  for (u32 k = t; k < 128; k += 64) cells[k] = in[__brev(k) >> 25] % modulus;
  for (u32 half = 1; half < 128; half *= 2) {
    __syncthreads();
    const u32 j = t % half, low = t / half * 2 * half + j, high = low + half;
    const u64 w = power(3, static_cast<u32>((modulus - 1) / (2 * half)) * j);
    const u32 x = static_cast<u32>(cells[high] * w % modulus), y = cells[low];
    cells[low] = static_cast<u32>((u64{y} + x) % modulus);
    cells[high] = static_cast<u32>((u64{y} + modulus - x) % modulus);
  }
  __syncthreads();
  for (u32 k = t; k < 128; k += 64) out[k] = cells[k];
}

//! sparse_matrix_vector_product grid=2 block=64 in=512 out=32 input=bits compare=exact
KERNEL(sparse_matrix_vector_product) {
  // Four lanes a row; the pattern comes from the input.
  const u32 row = global_thread() / 4, lane = global_thread() % 4;
  const u32 count = in[row] % 13;
  float sum = 0;
  for (u32 k = lane; k < count; k += 4) {
    const u32 entry = in[(row * 13 + k) % 512];
    sum += static_cast<float>(entry % 100) * static_cast<float>(in[entry % 512] % 77) * 0.125f;
  }
  sum += __shfl_xor_sync(0xffffffff, sum, 1);
  sum += __shfl_xor_sync(0xffffffff, sum, 2);
  if (lane == 0) out[row] = __float_as_uint(sum);
}

//! conjugate_gradients grid=1 block=32 in=32 out=64 input=f32unit compare=exact
KERNEL(conjugate_gradients) {
  // The second difference on 32 points.
  __shared__ float p[34];
  const u32 t = threadIdx.x;
  const auto dot = [](float a, float b) {
    float sum = a * b;
    for (s32 k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
    return sum;
  };
  float x = 0, r = __uint_as_float(in[t]) - 0.5f;
  if (t < 2) p[t * 33] = 0;
  p[t + 1] = r;
  float rr = dot(r, r);
  for (u32 k = 0; k < 12; ++k) {
    __syncwarp();
    const float mine = p[t + 1], q = 2.5f * mine - p[t] - p[t + 2];
    __syncwarp();
    const float alpha = rr / dot(mine, q);
    x += alpha * mine;
    r -= alpha * q;
    const float next = dot(r, r);
    p[t + 1] = r + next / rr * mine;
    rr = next;
  }
  out[t] = __float_as_uint(x);
  out[32 + t] = __float_as_uint(r);
}

//! product_of_large_integers grid=1 block=1 in=32 out=32 input=bits compare=exact
KERNEL(product_of_large_integers) {
  // 512 by 512 bits, column by column in a carry chain.
  u32 low = 0, middle = 0, high = 0;
  for (u32 column = 0; column < 31; ++column) {
    for (u32 k = column < 16 ? 0 : column - 15; k <= column && k < 16; ++k) {
      asm("mad.lo.cc.u32 %0, %3, %4, %0; madc.hi.cc.u32 %1, %3, %4, %1; addc.u32 %2, %2, 0;"
          : "+r"(low), "+r"(middle), "+r"(high)
          : "r"(in[k]), "r"(in[16 + column - k]));
    }
    out[column] = low;
    low = middle;
    middle = high;
    high = 0;
  }
  out[31] = low;
}

//! modular_exponentiation grid=1 block=32 in=192 out=64 input=bits compare=exact
KERNEL(modular_exponentiation) {
  const u64* x = reinterpret_cast<const u64*>(in);
  const u64 modulus = x[threadIdx.x] | 1;
  u64 base = x[threadIdx.x + 32] % modulus, result = 1 % modulus;
  for (u32 exponent = static_cast<u32>(x[threadIdx.x + 64]); exponent != 0; exponent >>= 1) {
    const auto product = [&](u64 a, u64 b) {
      u64 sum = 0;
      for (; b != 0; b >>= 1) {
        if (b & 1) sum = sum >= modulus - a ? sum - (modulus - a) : sum + a;
        a = a >= modulus - a ? a - (modulus - a) : a + a;
      }
      return sum;
    };
    if (exponent & 1) result = product(result, base);
    base = product(base, base);
  }
  reinterpret_cast<u64*>(out)[threadIdx.x] = result;
}
