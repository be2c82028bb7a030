// Grids of cells, bodies, fractals, clusters.
#include "corpus.cuh"

//! stencil_with_halo grid=4x2 block=8x8 in=512 out=256 input=f32unit compare=exact
KERNEL(stencil_with_halo) {
  // 32 x 16 cells; every other one is kept.
  __shared__ float tile[10][10];
  const auto cell = [&](s32 x, s32 y) {
    return __uint_as_float(in[min(max(y, 0), 15) * 32 + min(max(x, 0), 31)]);
  };
  const s32 x = static_cast<s32>(blockIdx.x * 8 + threadIdx.x),
            y = static_cast<s32>(blockIdx.y * 8 + threadIdx.y);
  const u32 tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  tile[ty][tx] = cell(x, y);
  if (tx == 1) tile[ty][0] = cell(x - 1, y);
  if (tx == 8) tile[ty][9] = cell(x + 1, y);
  if (ty == 1) tile[0][tx] = cell(x, y - 1);
  if (ty == 8) tile[9][tx] = cell(x, y + 1);
  __syncthreads();
  const float result = 0.5f * tile[ty][tx] + 0.125f * (tile[ty - 1][tx] + tile[ty + 1][tx] +
                                                       tile[ty][tx - 1] + tile[ty][tx + 1]);
  if ((x + y) % 2 == 0) out[(y * 32 + x) / 2] = __float_as_uint(result);
}

//! diffusion_in_three_dimensions grid=1 block=6x6x6 in=216 out=216 input=f32unit compare=exact
KERNEL(diffusion_in_three_dimensions) {
  __shared__ float cells[2][6][6][6];
  const u32 x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, at = (z * 6 + y) * 6 + x;
  cells[0][z][y][x] = __uint_as_float(in[at]);
  for (u32 k = 0; k < 6; ++k) {
    __syncthreads();
    const auto& old = cells[k % 2];
    const float sum = old[z][y][(x + 1) % 6] + old[z][y][(x + 5) % 6] + old[z][(y + 1) % 6][x] +
                      old[z][(y + 5) % 6][x] + old[(z + 1) % 6][y][x] + old[(z + 5) % 6][y][x];
    cells[(k + 1) % 2][z][y][x] = fmaf(sum, 0.1f, 0.4f * old[z][y][x]);
  }
  out[at] = __float_as_uint(cells[0][z][y][x]);
}

//! game_of_life grid=1 block=16x16 in=256 out=256 input=small compare=exact
KERNEL(game_of_life) {
  __shared__ u8 cells[2][16][16];
  const u32 x = threadIdx.x, y = threadIdx.y;
  cells[0][y][x] = static_cast<u8>(in[y * 16 + x] & 1);
  u32 history = 0;
  for (u32 k = 0; k < 20; ++k) {
    __syncthreads();
    u32 alive = 0;
    for (u32 dy = 15; dy <= 17; ++dy) {
      for (u32 dx = 15; dx <= 17; ++dx) alive += cells[k % 2][(y + dy) % 16][(x + dx) % 16];
    }
    const u32 self = cells[k % 2][y][x];
    const u8 next = alive == 3 || (self != 0 && alive == 4);
    cells[(k + 1) % 2][y][x] = next;
    history = history << 1 | next;
  }
  out[y * 16 + x] = history;
}

//! mandelbrot grid=2x2 block=8x8 in=1 out=256 input=bits compare=exact
KERNEL(mandelbrot) {
  const u32 column = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  const float cx = -2.0f + 0.17f * static_cast<float>(column),
              cy = -1.2f + 0.155f * static_cast<float>(row);
  float x = 0, y = 0;
  u32 steps = 0;
  while (steps < 200 && x * x + y * y < 4) {
    const float next = x * x - y * y + cx;
    y = fmaf(2 * x, y, cy);
    x = next;
    ++steps;
  }
  out[row * 16 + column] = steps << 16 | (__float_as_uint(x) & 0xffff);
}

//! bodies grid=1 block=32 in=128 out=96 input=f32unit compare=exact
KERNEL(bodies) {
  // The reciprocal root is approximate.
  __shared__ float4 all_bodies[32];
  const u32 t = threadIdx.x;
  all_bodies[t] = reinterpret_cast<const float4*>(in)[t];
  __syncthreads();
  float3 force{0, 0, 0};
  for (u32 k = 0; k < 32; ++k) {
    const float4 a = all_bodies[t], b = all_bodies[k];
    const float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.25f);
    const float weight = b.w * inverse * inverse * inverse * 0.125f;
    force.x = fmaf(dx, weight, force.x);
    force.y = fmaf(dy, weight, force.y);
    force.z = fmaf(dz, weight, force.z);
  }
  out[3 * t] = __float_as_uint(force.x);
  out[3 * t + 1] = __float_as_uint(force.y);
  out[3 * t + 2] = __float_as_uint(force.z);
}

//! means_of_clusters grid=1 block=64 in=128 out=88 input=f32unit compare=exact
KERNEL(means_of_clusters) {
  // Three rounds of k-means with four clusters; sums in fixed point, so that their order is free.
  __shared__ u32 sums[4][3];
  __shared__ float centres[4][2];
  const u32 t = threadIdx.x;
  const float x = __uint_as_float(in[2 * t]), y = __uint_as_float(in[2 * t + 1]);
  if (t < 4) {
    centres[t][0] = __uint_as_float(in[2 * t]);
    centres[t][1] = __uint_as_float(in[2 * t + 1]);
  }
  u32 nearest = 0;
  for (u32 round = 0; round < 3; ++round) {
    if (t < 12) sums[t / 3][t % 3] = 0;
    __syncthreads();
    float best = 1e30f;
    for (u32 k = 0; k < 4; ++k) {
      const float dx = x - centres[k][0], dy = y - centres[k][1], distance = dx * dx + dy * dy;
      if (distance < best) {
        best = distance;
        nearest = k;
      }
    }
    atomicAdd(&sums[nearest][0], static_cast<u32>(x * 65536.0f));
    atomicAdd(&sums[nearest][1], static_cast<u32>(y * 65536.0f));
    atomicAdd(&sums[nearest][2], 1);
    __syncthreads();
    if (t < 8 && sums[t / 2][2] != 0) {
      centres[t / 2][t % 2] =
          static_cast<float>(sums[t / 2][t % 2]) / static_cast<float>(sums[t / 2][2]) / 65536.0f;
    }
    __syncthreads();
  }
  out[t] = nearest;
  if (t < 12) out[64 + t] = sums[t / 3][t % 3];
  if (t < 8) out[76 + t] = __float_as_uint(centres[t / 2][t % 2]);
  if (t < 4) out[84 + t] = t;
}

//! runge_kutta grid=1 block=32 in=192 out=192 input=f64unit compare=exact
KERNEL(runge_kutta) {
  // The Lorenz system, fourth order, 40 steps.
  const double* x = reinterpret_cast<const double*>(in) + threadIdx.x * 3;
  double s[3] = {x[0] * 10, x[1] * 10, x[2] * 10 + 5};
  const auto slope = [](const double* p, double* d) {
    d[0] = 10 * (p[1] - p[0]);
    d[1] = p[0] * (28 - p[2]) - p[1];
    d[2] = p[0] * p[1] - 8.0 / 3 * p[2];
  };
  constexpr double step = 0.01;
  for (u32 k = 0; k < 40; ++k) {
    double d[4][3], p[3];
    slope(s, d[0]);
    for (u32 j = 1; j < 4; ++j) {
      for (u32 i = 0; i < 3; ++i) p[i] = fma(j == 3 ? step : step / 2, d[j - 1][i], s[i]);
      slope(p, d[j]);
    }
    for (u32 i = 0; i < 3; ++i) s[i] += step / 6 * (d[0][i] + 2 * d[1][i] + 2 * d[2][i] + d[3][i]);
  }
  for (u32 i = 0; i < 3; ++i) reinterpret_cast<double*>(out)[threadIdx.x * 3 + i] = s[i];
}

//! monte_carlo_pi grid=4 block=64 in=256 out=4 input=bits compare=exact
KERNEL(monte_carlo_pi) {
  u32 state = in[global_thread()] | 1, inside = 0;
  for (u32 k = 0; k < 100; ++k) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    const float x = static_cast<float>(state >> 16) * 0x1p-16f,
                y = static_cast<float>(state & 0xffff) * 0x1p-16f;
    inside += x * x + y * y < 1;
  }
  inside = __reduce_add_sync(0xffffffff, inside);
  if (threadIdx.x % 32 == 0) atomicAdd(out + blockIdx.x, inside);
}

//! convolution_of_an_image grid=2x2 block=8x8 in=64 out=256 input=bits compare=exact
KERNEL(convolution_of_an_image) {
  // 16 x 16 bytes, Sobel's operator.
  const u8* pixels = reinterpret_cast<const u8*>(in);
  const s32 x = static_cast<s32>(blockIdx.x * 8 + threadIdx.x),
            y = static_cast<s32>(blockIdx.y * 8 + threadIdx.y);
  const auto at = [&](s32 dx, s32 dy) {
    return static_cast<s32>(pixels[((y + dy) & 15) * 16 + ((x + dx) & 15)]);
  };
  const s32 across = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  const s32 down = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  out[y * 16 + x] = static_cast<u32>(min(abs(across) + abs(down), 255)) |
                    static_cast<u32>(__dp4a(across, down, 1)) << 8;
}
