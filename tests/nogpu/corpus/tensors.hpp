#pragma once
/// \file
/// The tensor maps that kernels of the corpus get in the first 32 words of their input. `tensor=`
/// has the type of the elements, then `name:numbers`, with `x` between the numbers of dimensions:
/// `u32,extents:16x8,strides:64,box:8x4`. The tensor is behind the map, or, with `out`, the output.

#include <gpu/driver/entry_points.hpp>

#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace corpus {

class tensor_description {
 public:
  explicit tensor_description(const std::string& text) {
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ',');) words_.push_back(word);
  }

  bool in_output() const { return has("out"); }

  /// Encodes the map of a tensor at `address`.
  CUresult encode(const gpu::driver::entry_points& driver, CUdeviceptr address,
                  CUtensorMap& map) const {
    const auto extents = numbers<cuuint64_t>("extents");
    auto strides = numbers<cuuint64_t>("strides");
    if (strides.empty()) strides.push_back(0);  // a driver refuses a null pointer
    const auto rank = static_cast<cuuint32_t>(extents.size());
    auto steps = numbers<cuuint32_t>("steps");
    if (steps.empty()) steps.assign(rank, 1);
    const auto box = numbers<cuuint32_t>("box");
    const auto lower = numbers<int>("lower"), upper = numbers<int>("upper");
    const auto swizzle = numbers<int>("swizzle");
    const auto how = static_cast<CUtensorMapSwizzle>(swizzle.empty() ? 0 : swizzle[0]);
    const auto fill = has("nan") ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                 : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    auto* const memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
    if (lower.empty())
      return driver.tensor_map_encode_tiled(
          &map, type(), rank, memory, extents.data(), strides.data(), box.data(), steps.data(),
          CU_TENSOR_MAP_INTERLEAVE_NONE, how, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
    // The box of an im2col: channels, pixels.
    return driver.tensor_map_encode_im2col(&map, type(), rank, memory, extents.data(),
                                           strides.data(), lower.data(), upper.data(), box[0],
                                           box[1], steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, how,
                                           CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  }

 private:
  bool has(const std::string& word) const {
    for (const std::string& each : words_)
      if (each == word) return true;
    return false;
  }

  template <class Number> std::vector<Number> numbers(const std::string& name) const {
    std::vector<Number> found;
    for (const std::string& word : words_) {
      if (word.rfind(name + ':', 0) != 0) continue;
      std::istringstream all(word.substr(name.size() + 1));
      for (std::string number; std::getline(all, number, 'x');)
        found.push_back(static_cast<Number>(std::stoll(number)));
    }
    return found;
  }

  CUtensorMapDataType type() const {
    const char* const names[] = {"u8",  "u16", "u32",  "s32",    "u64",  "s64",    "f16",
                                 "f32", "f64", "bf16", "f32ftz", "tf32", "tf32ftz"};
    for (int number = 0; const char* const name : names) {
      if (words_[0] == name) return static_cast<CUtensorMapDataType>(number);
      ++number;
    }
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }

  std::vector<std::string> words_;
};

}  // namespace corpus
