// Texture and surface objects of every shape. The first two words of `in` are the handle.
#include "corpus.cuh"

__device__ inline u64 object(const u32* in) { return in[0] | static_cast<u64>(in[1]) << 32; }

/// Different coordinates for each thread and axis, from a little below `first` on.
__device__ inline float coordinate(u32 axis, float first, float step) {
  const u32 k = (threadIdx.x * (7 + 4 * axis) + 5 * axis) % 61;
  return first + static_cast<float>(k) * step;
}

__device__ inline void put(u32* out, float v) { out[threadIdx.x] = __float_as_uint(v); }
__device__ inline void put(u32* out, float4 v) {
  reinterpret_cast<float4*>(out)[threadIdx.x] = v;
}

//! texture_line grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=1d,f32x1,23x1x1,linear,clamp
KERNEL(texture_line) { put(out, tex1D<float>(object(in), coordinate(0, -1.5f, 0.4371f))); }

//! texture_plane grid=1 block=64 in=2 out=256 input=bits compare=exact
//! image=2d,u8x4,17x9x1,linear,normalised,wrap
KERNEL(texture_plane) {
  put(out, tex2D<float4>(object(in), coordinate(0, -1, 0.0437f), coordinate(1, -1, 0.0519f)));
}

//! texture_mirror grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=2d,u16x1,17x9x1,linear,normalised,mirror
KERNEL(texture_mirror) {
  put(out, tex2D<float>(object(in), coordinate(0, -2, 0.0737f), coordinate(1, -2, 0.0819f)));
}

//! texture_border grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=2d,f32x1,17x9x1,linear,border
KERNEL(texture_border) {
  put(out, tex2D<float>(object(in), coordinate(0, -2, 0.3771f), coordinate(1, -2, 0.2193f)));
}

//! texture_volume grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=3d,f32x1,11x7x5,linear,clamp
KERNEL(texture_volume) {
  put(out, tex3D<float>(object(in), coordinate(0, -1, 0.2171f), coordinate(1, -1, 0.1493f),
                        coordinate(2, -1, 0.1117f)));
}

//! texture_halves grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=2d,f16x1,17x9x1,linear,clamp
KERNEL(texture_halves) {
  put(out, tex2D<float>(object(in), coordinate(0, -1, 0.3171f), coordinate(1, -1, 0.1793f)));
}

//! texture_integers grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=2d,s16x2,17x9x1,nearest,integer,clamp
KERNEL(texture_integers) {
  const short2 v =
      tex2D<short2>(object(in), coordinate(0, -1, 0.3171f), coordinate(1, -1, 0.1793f));
  out[threadIdx.x] = static_cast<u32>(v.x) ^ static_cast<u32>(v.y) << 16;
}

//! texture_fetch grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=linear,u32x2,50x1x1,integer
KERNEL(texture_fetch) {
  const uint2 v = tex1Dfetch<uint2>(object(in), static_cast<int>(threadIdx.x) - 7);
  out[threadIdx.x] = v.x ^ v.y;
}

//! texture_layers grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=layered2d,f32x1,9x7x3,linear,clamp
KERNEL(texture_layers) {
  put(out, tex2DLayered<float>(object(in), coordinate(0, -1, 0.1771f), coordinate(1, -1, 0.1493f),
                               static_cast<int>(threadIdx.x % 4)));
}

//! texture_levels grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=2d,f32x1,32x16x1,linear,normalised,wrap,levels
KERNEL(texture_levels) {
  put(out, tex2DLod<float>(object(in), coordinate(0, -1, 0.0437f), coordinate(1, -1, 0.0519f),
                           coordinate(2, -0.5f, 0.0613f)));
}

//! texture_cube grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=cube,f32x1,8x8x6,linear,normalised,clamp
KERNEL(texture_cube) {
  put(out, texCubemap<float>(object(in), coordinate(0, -1, 0.0331f), coordinate(1, -1, 0.0337f),
                             coordinate(2, -1, 0.0323f)));
}

//! texture_seams grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=cube,f32x1,4x4x6,linear,normalised,clamp,seamless
KERNEL(texture_seams) {
  put(out, texCubemap<float>(object(in), coordinate(0, -1, 0.0331f), coordinate(1, -1, 0.0337f),
                             coordinate(2, -1, 0.0323f)));
}

//! texture_gather grid=1 block=64 in=2 out=256 input=bits compare=exact
//! image=2d,f32x4,17x9x1,nearest,normalised,wrap,gather
KERNEL(texture_gather) {
  put(out, tex2Dgather<float4>(object(in), coordinate(0, -1, 0.0437f), coordinate(1, -1, 0.0519f),
                               2));
}

//! surface_plane grid=1 block=64 in=2 out=128 input=bits compare=exact
//! image=surface2d,u32x1,8x8x1
KERNEL(surface_plane) {
  const int x = static_cast<int>(threadIdx.x % 8), y = static_cast<int>(threadIdx.x / 8);
  const u64 s = object(in);
  const u32 before = surf2Dread<u32>(s, 4 * (x - 1), y + 1, cudaBoundaryModeClamp);
  __syncthreads();
  surf2Dwrite(before * 3 + 1, s, 4 * x, y, cudaBoundaryModeTrap);
  surf2Dwrite(7u, s, 4 * (x + 8), y, cudaBoundaryModeZero);
  __syncthreads();
  out[threadIdx.x] = surf2Dread<u32>(s, 4 * (7 - x), 7 - y, cudaBoundaryModeTrap);
  out[64 + threadIdx.x] = surf2Dread<u32>(s, 4 * (x + 4), y - 2, cudaBoundaryModeZero);
}

//! surface_volume grid=1 block=64 in=2 out=64 input=bits compare=exact
//! image=surface3d,u8x4,4x4x4
KERNEL(surface_volume) {
  const int x = static_cast<int>(threadIdx.x % 4), y = static_cast<int>(threadIdx.x / 4 % 4),
            z = static_cast<int>(threadIdx.x / 16);
  const u64 s = object(in);
  const uchar4 v = surf3Dread<uchar4>(s, 4 * x, y, z);
  __syncthreads();
  surf3Dwrite(uchar4{v.w, v.z, v.y, v.x}, s, 4 * z, x, y);
  __syncthreads();
  out[threadIdx.x] = surf3Dread<u32>(s, 4 * (x + 2), y, z - 1, cudaBoundaryModeZero);
}
