// Kernels like those of samples and of neural networks, which likeness_test.cpp runs on a GPU and
// on the CPU driver. Each computes a number from six between 0 and 1; `p` has those of all `n`
// threads.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL(name)                                                                           \
  __device__ float name##_of(const float* p, int i, int n, float x, float y, float z, float w, \
                             float u, float v);                                                \
  extern "C" __global__ void name(const float* p, float* out, int n) {                         \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                       \
    out[i] = name##_of(p, i, n, p[i], p[n + i], p[2 * n + i], p[3 * n + i], p[4 * n + i],      \
                       p[5 * n + i]);                                                          \
  }                                                                                            \
  __device__ float name##_of(const float* p, int i, int n, float x, float y, float z, float w, \
                             float u, float v)

// The normal distribution by formula 26.2.17 of Abramowitz and Stegun.
__device__ float cnd(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float c =
      0.39894228f * __expf(-0.5f * d * d) *
      (k * (0.31938153f +
            k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - c : c;
}

KERNEL(blackscholes_call) {
  float S = 5 + 25 * x, X = 1 + 99 * y, T = 0.25f + 9.75f * z, R = 0.02f, V = 0.3f;
  float sq = __fdividef(1.0f, rsqrtf(T));
  float d1 = __fdividef(__logf(S / X) + (R + 0.5f * V * V) * T, V * sq);
  float d2 = d1 - V * sq;
  float c1 = cnd(d1), c2 = cnd(d2);
  return S * c1 - X * __expf(-R * T) * c2;
}

KERNEL(blackscholes_put) {
  float S = 5 + 25 * x, X = 1 + 99 * y, T = 0.25f + 9.75f * z, R = 0.02f, V = 0.3f;
  float sq = sqrtf(T);
  float d1 = (logf(S / X) + (R + 0.5f * V * V) * T) / (V * sq);
  float d2 = d1 - V * sq;
  float c1 = cnd(d1), c2 = cnd(d2);
  return X * expf(-R * T) * (1 - c2) - S * (1 - c1);
}

KERNEL(montecarlo) {
  float s = 0;
  for (int k = 0; k < 64; ++k) {
    float g = p[(i * 7 + k) % n] * 2 - 1;
    float c = __expf(0.06f * 1.5f + 0.1f * g);
    s += fmaxf(0.f, x * 100 * c - 50);
  }
  return s / 64;
}

KERNEL(nbody) {
  float ax = 0, ay = 0, az = 0;
  for (int k = 0; k < 64; ++k) {
    float dx = p[k] - x, dy = p[n + k] - y, dz = p[2 * n + k] - z;
    float d = dx * dx + dy * dy + dz * dz + 0.01f;
    float inv = rsqrtf(d);
    float s = p[3 * n + k] * inv * inv * inv;
    ax += dx * s;
    ay += dy * s;
    az += dz * s;
  }
  return ax + ay * 2 + az * 3;
}

KERNEL(bilateral) {
  float sum = 0, t = 0;
  for (int k = -4; k <= 4; ++k) {
    float q = p[(i + k + n) % n];
    float d = q - x;
    float f = __expf(-(d * d) / (2 * 0.1f * 0.1f)) * __expf(-(k * k) / (2 * 3.f * 3.f));
    sum += f;
    t += f * q;
  }
  return t / sum;
}

KERNEL(raymarch) {
  float inv = rsqrtf(x * x + y * y + 1);
  float dx = x * inv, dy = y * inv, dz = inv;
  float s = 0, t = 0.1f;
  for (int k = 0; k < 32; ++k) {
    float px = t * dx, py = t * dy, pz = t * dz;
    float d = __sinf(5 * px) + __cosf(4 * py) * pz;
    s += d * 0.05f * __expf(-t);
    t += 0.06f;
  }
  return s;
}

KERNEL(ocean_spectrum) {
  float k = sqrtf(x * x + y * y);
  float w0 = sqrtf(9.81f * k);
  float a = w0 * z * 20;
  return cosf(a) * w - sinf(a) * u;
}

KERNEL(ocean_fast) {
  float k = sqrtf(x * x + y * y);
  float a = sqrtf(9.81f * k) * z * 20;
  return __cosf(a) * w - __sinf(a) * u;
}

KERNEL(softmax) {
  float m = -1e30f;
  for (int k = 0; k < 32; ++k) m = fmaxf(m, p[(i & ~31) + k] * 8);
  float s = 0;
  for (int k = 0; k < 32; ++k) s += __expf(p[(i & ~31) + k] * 8 - m);
  return __expf(x * 8 - m) / s;
}

KERNEL(softmax_precise) {
  float m = -1e30f;
  for (int k = 0; k < 32; ++k) m = fmaxf(m, p[(i & ~31) + k] * 8);
  float s = 0;
  for (int k = 0; k < 32; ++k) s += expf(p[(i & ~31) + k] * 8 - m);
  return expf(x * 8 - m) / s;
}

KERNEL(log_softmax) {
  float m = -1e30f;
  for (int k = 0; k < 32; ++k) m = fmaxf(m, p[(i & ~31) + k] * 8);
  float s = 0;
  for (int k = 0; k < 32; ++k) s += expf(p[(i & ~31) + k] * 8 - m);
  return x * 8 - m - logf(s);
}

KERNEL(gelu) {
  float q = 6 * x - 3;
  return 0.5f * q * (1 + tanhf(0.7978845608f * (q + 0.044715f * q * q * q)));
}

KERNEL(gelu_erf) {
  float q = 6 * x - 3;
  return 0.5f * q * (1 + erff(q * 0.70710678f));
}

KERNEL(layernorm) {
  float m = 0, v2 = 0;
  for (int k = 0; k < 32; ++k) m += p[(i & ~31) + k];
  m /= 32;
  for (int k = 0; k < 32; ++k) {
    float d = p[(i & ~31) + k] - m;
    v2 += d * d;
  }
  return (x - m) * rsqrtf(v2 / 32 + 1e-5f) * y + z;
}

KERNEL(sigmoid) { return 1 / (1 + expf(-(12 * x - 6))); }

KERNEL(silu_fast) {
  float q = 12 * x - 6;
  return __fdividef(q, 1 + __expf(-q));
}

KERNEL(box_muller) {
  float s, c;
  sincospif(2 * y, &s, &c);
  return sqrtf(-2 * logf(x)) * s;
}

KERNEL(box_muller_fast) { return sqrtf(-2 * __logf(x)) * __cosf(6.2831853f * y); }

KERNEL(inverse_normal) { return normcdfinvf(x); }

KERNEL(inverse_moro) {
  float r = 0;
  float q = x - 0.5f;
  if (fabsf(q) < 0.42f) {
    float t = q * q;
    r = q * (((-25.44106f * t + 41.39119f) * t - 18.615f) * t + 2.506628f) /
        ((((3.13083f * t - 21.06224f) * t + 23.08337f) * t - 8.473511f) * t + 1);
  } else {
    float t = q > 0 ? logf(-logf(1 - x)) : logf(-logf(x));
    r = 0.3374755f + t * (0.9761690f + t * (0.1607979f + t * (0.0276439f)));
    if (q < 0) r = -r;
  }
  return r;
}

KERNEL(mandelbrot) {
  float cx = 3 * x - 2, cy = 2 * y - 1, a = 0, b = 0;
  int k = 0;
  while (k < 100 && a * a + b * b < 4) {
    float t = a * a - b * b + cx;
    b = 2 * a * b + cy;
    a = t;
    ++k;
  }
  return k + a * 0.25f - __logf(1 + a * a + b * b);
}

KERNEL(haversine) {
  float a = sinf((x - y) * 0.7f), b = sinf((z - w) * 1.4f);
  return 2 * 6371 * asinf(sqrtf(a * a + cosf(x) * cosf(y) * b * b) * 0.6f);
}

KERNEL(lanczos) {
  float s = 0;
  for (int k = -3; k < 4; ++k) {
    float t = 3.14159265f * (k + x);
    s += (t == 0 ? 1 : 3 * sinf(t) * sinf(t / 3) / (t * t)) * p[(i + k + n) % n];
  }
  return s;
}

KERNEL(gamma) { return powf(x, 2.2f) + powf(y, 1 / 2.4f); }

KERNEL(tone_map) {
  float l = 0.27f * x + 0.67f * y + 0.06f * z;
  float d = __log2f(1 + l * 8) / __log2f(9.f);
  return __powf(d, 0.45f) * exp2f(w);
}

KERNEL(arc_tangents) { return atan2f(x - 0.5f, y - 0.5f) + atanf(3 * z) + acosf(w); }

KERNEL(gammas) { return lgammaf(5 * x + 0.1f) + tgammaf(3 * y + 0.5f); }

KERNEL(hyperbolic) {
  return sinhf(4 * x - 2) + coshf(y) + asinhf(z) + atanhf(0.9f * w) + acoshf(1 + u);
}

KERNEL(bessel) { return j0f(10 * x) + y1f(1 + 5 * y); }

KERNEL(trig_large) { return sinf(1e6f * x) + cosf(3e4f * y); }

KERNEL(double_exp) {
  double d = exp(double(x) * 3 - 1) + log(double(y) + 0.1);
  return float(d * 1e-3 + sin(double(z) * 9));
}

KERNEL(double_rsqrt) {
  double d = rsqrt(double(x) + 0.5) / (1.5 + double(y));
  return float(d) + float(sqrt(double(z)) - d);
}

KERNEL(half_math) {
  __half h = __float2half(x * 4 - 2);
  __half q = hexp(h) + hlog(__float2half(y + 0.1f)) + hsin(h) + hcos(h) +
             hrsqrt(__float2half(z + 0.2f)) + hsqrt(__float2half(w)) + hrcp(__float2half(u + 0.5f));
  return __half2float(q);
}

KERNEL(half_tanh) {
  __half h = __float2half(x * 4 - 2);
  return __half2float(htanh(h)) + __half2float(hexp2(h)) +
         __half2float(hlog2(__float2half(y + 0.1f)));
}

KERNEL(bfloat_math) {
  __nv_bfloat16 h = __float2bfloat16(x * 4 - 2);
  return __bfloat162float(hexp(h)) + __bfloat162float(hsin(h)) + __bfloat162float(htanh(h)) +
         __bfloat162float(hrsqrt(__float2bfloat16(y + 0.2f)));
}

KERNEL(binomial_options) {
  float c[17];
  float up = __expf(0.1f), S = 50 * x + 20;
  for (int k = 0; k <= 16; ++k) c[k] = fmaxf(S * __expf(0.1f * (2 * k - 16)) - 40, 0.f);
  for (int s = 16; s > 0; --s)
    for (int k = 0; k < s; ++k) c[k] = 0.52f * c[k + 1] + 0.47f * c[k];
  return c[0] * up;
}

KERNEL(particles) {
  float px = x, py = y, vx = z - 0.5f, vy = w - 0.5f;
  for (int k = 0; k < 40; ++k) {
    float d = rsqrtf(px * px + py * py + 1e-3f);
    float f = -d * d * d * 0.01f;
    vx += px * f;
    vy += py * f;
    px += vx * 0.01f;
    py += vy * 0.01f;
  }
  return px + py;
}

KERNEL(lbm) {
  float rho = x + y + z + w + u + 0.5f;
  float ux = (x - y) / rho, uy = (z - w) / rho;
  float q = 1.5f * (ux * ux + uy * uy);
  return rho * 0.111111f * (1 + 3 * ux + 4.5f * ux * ux - q) - x / (1.7f + v);
}

KERNEL(quaternion) {
  float inv = rsqrtf(x * x + y * y + z * z + w * w);
  float a = acosf(fminf(w * inv, 1.f));
  return sinf(a * u) / (sinf(a) + 1e-4f) * x * inv + cosf(a * v);
}

KERNEL(fresnel) {
  float c = x, e = 1.5f;
  float s2 = (1 - c * c) / (e * e);
  float t = sqrtf(1 - s2);
  float a = (c - e * t) / (c + e * t), b = (t - e * c) / (t + e * c);
  return 0.5f * (a * a + b * b) * __powf(y, 5.f);
}

KERNEL(perlin) {
  float s = 0, a = 1, f = 1;
  for (int k = 0; k < 5; ++k) {
    float t = x * f * 7;
    float g = floorf(t);
    float e = t - g;
    e = e * e * (3 - 2 * e);
    s += a * (__sinf(g * 12.9898f) * (1 - e) + __sinf((g + 1) * 12.9898f) * e);
    a *= 0.5f;
    f *= 2;
  }
  return s;
}

KERNEL(attention_row) {
  float m = -1e30f, l = 0, o = 0;
  for (int k = 0; k < 64; ++k) {
    float q = p[k] * x * 4;
    float m2 = fmaxf(m, q);
    float c = exp2f((m - m2) * 1.442695f), e = exp2f((q - m2) * 1.442695f);
    l = l * c + e;
    o = o * c + e * p[n + k];
    m = m2;
  }
  return o / l;
}

KERNEL(adam) {
  float m = 0.9f * x + 0.1f * y, v2 = 0.999f * z + 0.001f * y * y;
  return w - 0.001f * (m / (1 - powf(0.9f, 1 + 10 * u))) /
                 (sqrtf(v2 / (1 - powf(0.999f, 1 + 10 * u))) + 1e-8f);
}

KERNEL(rms_norm_warp) {
  float s = x * x;
  for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  return x * rsqrtf(s / 32 + 1e-6f) * y;
}
