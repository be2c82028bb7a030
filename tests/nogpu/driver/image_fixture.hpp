#pragma once
/// \file
/// Descriptions of arrays, textures and surfaces in one line each, and a context to make them in,
/// for tests that run on every driver.

#include <gpu/driver/entry_points.hpp>

#include "support/catch.hpp"
#include "support/drivers.hpp"

#include <cstddef>
#include <vector>

namespace test {

/// The primary context of device 0, current while this lives, on the driver of the test program.
struct in_context {
  const gpu::driver::entry_points& cu = driver();
  CUcontext context = nullptr;

  in_context() {
    REQUIRE(cu.device_primary_ctx_retain(&context, 0) == CUDA_SUCCESS);
    REQUIRE(cu.ctx_push_current(context) == CUDA_SUCCESS);
  }
  ~in_context() {
    CUcontext popped = nullptr;
    (void)cu.ctx_pop_current(&popped);
    (void)cu.device_primary_ctx_release(0);
  }
  in_context(const in_context&) = delete;
  in_context& operator=(const in_context&) = delete;
};

inline CUDA_ARRAY3D_DESCRIPTOR array_form(std::size_t width, std::size_t height, std::size_t depth,
                                          unsigned flags = 0,
                                          CUarray_format format = CU_AD_FORMAT_FLOAT,
                                          unsigned channels = 1) {
  CUDA_ARRAY3D_DESCRIPTOR form{};
  form.Width = width;
  form.Height = height;
  form.Depth = depth;
  form.Format = format;
  form.NumChannels = channels;
  form.Flags = flags;
  return form;
}

inline CUarray make_array(const gpu::driver::entry_points& cu,
                          const CUDA_ARRAY3D_DESCRIPTOR& form) {
  CUarray array = nullptr;
  REQUIRE(cu.array_3d_create(&array, &form) == CUDA_SUCCESS);
  return array;
}

/// Counts up from `first`, wrapping at 256.
inline std::vector<unsigned char> counting_bytes(std::size_t count, unsigned first = 1) {
  std::vector<unsigned char> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(first + i);
  return bytes;
}

inline CUDA_MEMCPY3D box(std::size_t width, std::size_t height, std::size_t depth) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.Depth = depth;
  return copy;
}
inline void from_array(CUDA_MEMCPY3D& copy, CUarray array, std::size_t x = 0, std::size_t y = 0,
                       std::size_t z = 0) {
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.srcXInBytes = x;
  copy.srcY = y;
  copy.srcZ = z;
}
inline void to_array(CUDA_MEMCPY3D& copy, CUarray array, std::size_t x = 0, std::size_t y = 0,
                     std::size_t z = 0) {
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.dstXInBytes = x;
  copy.dstY = y;
  copy.dstZ = z;
}
inline void from_host(CUDA_MEMCPY3D& copy, const void* host, std::size_t pitch, std::size_t rows) {
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.srcPitch = pitch;
  copy.srcHeight = rows;
}
inline void to_host(CUDA_MEMCPY3D& copy, void* host, std::size_t pitch, std::size_t rows) {
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  copy.dstPitch = pitch;
  copy.dstHeight = rows;
}

inline CUresult instantiate(const gpu::driver::entry_points& cu, CUgraph graph,
                            CUgraphExec& executable) {
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  return cu.graph_instantiate_with_params(&executable, graph, &params);
}

inline CUDA_RESOURCE_DESC resource_of(CUarray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  return resource;
}
inline CUDA_RESOURCE_DESC resource_of(CUmipmappedArray array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = array;
  return resource;
}
inline CUDA_RESOURCE_DESC linear_resource(CUdeviceptr memory, std::size_t bytes,
                                          CUarray_format format = CU_AD_FORMAT_FLOAT,
                                          unsigned channels = 1) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = memory;
  resource.res.linear.format = format;
  resource.res.linear.numChannels = channels;
  resource.res.linear.sizeInBytes = bytes;
  return resource;
}
inline CUDA_RESOURCE_DESC pitched_resource(CUdeviceptr memory, std::size_t width,
                                           std::size_t height, std::size_t pitch) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.format = CU_AD_FORMAT_UNSIGNED_INT8;
  resource.res.pitch2D.numChannels = 1;
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  return resource;
}

/// Clamped addresses, nearest texel.
inline CUDA_TEXTURE_DESC sampling(unsigned flags = 0) {
  CUDA_TEXTURE_DESC how{};
  for (CUaddress_mode& each : how.addressMode) each = CU_TR_ADDRESS_MODE_CLAMP;
  how.flags = flags;
  return how;
}

}  // namespace test
