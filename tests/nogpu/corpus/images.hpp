#pragma once
/// \file
/// The texture and surface objects that kernels of the corpus get: `image=` names the shape, the
/// format, the extents and the sampler. The texels follow from the kernel's name.

#include "inputs.hpp"
#include "manifest.hpp"

#include <gpu/driver/entry_points.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace corpus {

/// An object with the memory behind it, by the driver's functions alone. `failed` is the first code
/// that was no success.
class image_object {
 public:
  image_object(const gpu::driver::entry_points& driver, const kernel_entry& entry)
      : driver_{driver} {
    std::istringstream stream(entry.image);
    for (std::string word; std::getline(stream, word, ',');) words_.push_back(word);
    const std::string& shape = words_[0];
    surface_ = shape.rfind("surface", 0) == 0;
    std::istringstream extents(words_[2]);
    char times = 0;
    extents >> array_.Width >> times >> array_.Height >> times >> array_.Depth;
    set_format(words_[1]);
    const std::size_t texel = array_.NumChannels * channel_bytes_;
    if (shape == "linear") {
      make_linear(entry.name, array_.Width * texel);
    } else {
      if (shape == "1d") array_.Height = 0;
      const bool deep =
          shape == "3d" || shape == "surface3d" || shape == "cube" || shape == "layered2d";
      if (!deep) array_.Depth = 0;
      if (shape == "layered2d") array_.Flags |= CUDA_ARRAY3D_LAYERED;
      if (shape == "cube") array_.Flags |= CUDA_ARRAY3D_CUBEMAP;
      if (has("gather")) array_.Flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
      if (surface_) array_.Flags |= CUDA_ARRAY3D_SURFACE_LDST;
      make_array(entry.name, texel);
    }
    make_object();
  }
  image_object(const image_object&) = delete;
  image_object& operator=(const image_object&) = delete;
  ~image_object() {
    if (handle_ != 0 && surface_) driver_.surf_object_destroy(handle_);
    if (handle_ != 0 && !surface_) driver_.tex_object_destroy(handle_);
    if (plain_ != nullptr) driver_.array_destroy(plain_);
    if (levels_ != nullptr) driver_.mipmapped_array_destroy(levels_);
    if (memory_ != 0) driver_.mem_free(memory_);
  }

  std::uint64_t handle() const { return handle_; }
  CUresult failed() const { return failed_; }

 private:
  bool has(const char* word) const {
    return std::find(words_.begin() + 3, words_.end(), word) != words_.end();
  }
  void check(CUresult code) {
    if (failed_ == CUDA_SUCCESS) failed_ = code;
  }

  void set_format(const std::string& text) {
    const struct {
      const char* name;
      CUarray_format format;
      std::size_t bytes;
    } formats[] = {{"u8", CU_AD_FORMAT_UNSIGNED_INT8, 1},   {"u16", CU_AD_FORMAT_UNSIGNED_INT16, 2},
                   {"u32", CU_AD_FORMAT_UNSIGNED_INT32, 4}, {"s16", CU_AD_FORMAT_SIGNED_INT16, 2},
                   {"f16", CU_AD_FORMAT_HALF, 2},           {"f32", CU_AD_FORMAT_FLOAT, 4}};
    const std::size_t end = text.find('x');
    for (const auto& one : formats) {
      if (text.substr(0, end) != one.name) continue;
      array_.Format = one.format;
      channel_bytes_ = one.bytes;
    }
    array_.NumChannels = static_cast<unsigned>(std::stoul(text.substr(end + 1)));
  }

  std::vector<std::byte> texels(const std::string& name, std::size_t bytes) const {
    generator g(name);
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < bytes; i += channel_bytes_) {
      auto bits = static_cast<std::uint32_t>(g.next());
      const double unit = 2 * g.unit() - 1;
      if (array_.Format == CU_AD_FORMAT_FLOAT) bits = detail::bits_of(unit);
      if (array_.Format == CU_AD_FORMAT_HALF) bits = detail::f16_of(unit);
      std::memcpy(made.data() + i, &bits, channel_bytes_);
    }
    return made;
  }

  void make_linear(const std::string& name, std::size_t bytes) {
    const auto data = texels(name, bytes);
    check(driver_.mem_alloc(&memory_, bytes));
    check(driver_.memcpy_htod(memory_, data.data(), bytes));
    resource_.resType = CU_RESOURCE_TYPE_LINEAR;
    resource_.res.linear.devPtr = memory_;
    resource_.res.linear.format = array_.Format;
    resource_.res.linear.numChannels = array_.NumChannels;
    resource_.res.linear.sizeInBytes = bytes;
  }

  void make_array(const std::string& name, std::size_t texel) {
    const unsigned count = has("levels") ? 5 : 1;
    if (count > 1) {
      check(driver_.mipmapped_array_create(&levels_, &array_, count));
      resource_.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
      resource_.res.mipmap.hMipmappedArray = levels_;
    } else {
      check(driver_.array_3d_create(&plain_, &array_));
      resource_.resType = CU_RESOURCE_TYPE_ARRAY;
      resource_.res.array.hArray = plain_;
    }
    for (unsigned level = 0; level < count && failed_ == CUDA_SUCCESS; ++level) {
      CUarray array = plain_;
      if (levels_ != nullptr) check(driver_.mipmapped_array_get_level(&array, levels_, level));
      const auto size = [level](std::size_t n) { return std::max<std::size_t>(n >> level, 1); };
      CUDA_MEMCPY3D copy{};
      copy.WidthInBytes = size(array_.Width) * texel;
      copy.Height = size(array_.Height);
      copy.Depth = size(array_.Depth);
      const auto data =
          texels(name + std::to_string(level), copy.WidthInBytes * copy.Height * copy.Depth);
      copy.srcMemoryType = CU_MEMORYTYPE_HOST;
      copy.srcHost = data.data();
      copy.srcPitch = copy.WidthInBytes;
      copy.srcHeight = copy.Height;
      copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
      copy.dstArray = array;
      check(driver_.memcpy_3d(&copy));
    }
  }

  void make_object() {
    if (failed_ != CUDA_SUCCESS) return;
    if (surface_) return check(driver_.surf_object_create(&handle_, &resource_));
    CUDA_TEXTURE_DESC how{};
    const CUaddress_mode mode = has("clamp")    ? CU_TR_ADDRESS_MODE_CLAMP
                                : has("mirror") ? CU_TR_ADDRESS_MODE_MIRROR
                                : has("border") ? CU_TR_ADDRESS_MODE_BORDER
                                                : CU_TR_ADDRESS_MODE_WRAP;
    for (CUaddress_mode& one : how.addressMode) one = mode;
    how.filterMode = has("linear") ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
    how.mipmapFilterMode = how.filterMode;
    how.maxMipmapLevelClamp = 4;
    if (has("integer")) how.flags |= CU_TRSF_READ_AS_INTEGER;
    if (has("normalised")) how.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    if (has("seamless")) how.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
    how.borderColor[0] = 0.375f;
    check(driver_.tex_object_create(&handle_, &resource_, &how, nullptr));
  }

  const gpu::driver::entry_points& driver_;
  std::vector<std::string> words_;
  CUDA_ARRAY3D_DESCRIPTOR array_{};
  std::size_t channel_bytes_ = 4;
  bool surface_ = false;
  CUDA_RESOURCE_DESC resource_{};
  CUdeviceptr memory_ = 0;
  CUarray plain_ = nullptr;
  CUmipmappedArray levels_ = nullptr;
  unsigned long long handle_ = 0;
  CUresult failed_ = CUDA_SUCCESS;
};

}  // namespace corpus
