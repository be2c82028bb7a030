#pragma once
/// \file
/// Entry points: tensor maps. They are checked as a device's driver checks them.

#include <nogpu/driver/device_attributes.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/enumeration.hpp>
#include <nogpu/machine/tensor_map.hpp>

#include <cuda.h>

#include <cstdint>
#include <cstring>

namespace nogpu { inline namespace v1 { namespace driver {

/// What both kinds of tensor maps are made of, as the caller passes it.
struct tensor_order {
  CUtensorMap* made;
  unsigned type;
  cuuint32_t rank;
  const void* address;
  const cuuint64_t* extents;
  const cuuint64_t* strides;
  const cuuint32_t* steps;
  unsigned interleave, swizzle, promotion, fill;
};

/// Sets the type of the elements; false for one that a device of compute capability 9.0 does not
/// have.
inline bool set_tensor_element(machine::tensor_map& map, unsigned type) {
  using machine::tensor_change;
  const auto set = [&](ptx::type element, tensor_change change = tensor_change::none) {
    map.element = element;
    map.change = change;
    return true;
  };
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return set(ptx::type::u8);
    case CU_TENSOR_MAP_DATA_TYPE_UINT16: return set(ptx::type::u16);
    case CU_TENSOR_MAP_DATA_TYPE_UINT32: return set(ptx::type::u32);
    case CU_TENSOR_MAP_DATA_TYPE_INT32: return set(ptx::type::s32);
    case CU_TENSOR_MAP_DATA_TYPE_UINT64: return set(ptx::type::u64);
    case CU_TENSOR_MAP_DATA_TYPE_INT64: return set(ptx::type::s64);
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16: return set(ptx::type::f16);
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32: return set(ptx::type::f32);
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return set(ptx::type::f64);
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return set(ptx::type::bf16);
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ: return set(ptx::type::f32);
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
      return set(ptx::type::f32, tensor_change::round_to_tf32);
    default: return false;
  }
}

/// Checks and takes what both kinds of maps have.
inline CUresult take_tensor(call& c, const tensor_order& order, std::uint32_t least_rank,
                            machine::tensor_map& map) {
  if (order.made == nullptr || reinterpret_cast<std::uintptr_t>(order.made) % 64 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (order.rank < least_rank || order.rank > machine::tensor_map::most_dimensions)
    return CUDA_ERROR_INVALID_VALUE;
  if (order.extents == nullptr || order.steps == nullptr || order.strides == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  if (!set_tensor_element(map, order.type)) return CUDA_ERROR_INVALID_VALUE;
  if (order.interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
      order.swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B ||
      order.promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
      order.fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
    return CUDA_ERROR_INVALID_VALUE;
  const bool with_nan = order.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  if (with_nan && !ptx::is_floating(map.element)) return CUDA_ERROR_INVALID_VALUE;
  if (order.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
    c.driver.report("tensor maps of interleaved tensors are not supported by the CPU driver");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (order.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) {
    c.driver.report("tensor maps with atoms of a swizzle are not supported by the CPU driver");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  map.mark = machine::tensor_map::mark_of_map;
  map.rank = static_cast<std::uint8_t>(order.rank);
  map.base = reinterpret_cast<std::uintptr_t>(order.address);
  map.swizzle_bits = static_cast<std::uint8_t>(order.swizzle);
  map.fills_with_nan = with_nan ? 1 : 0;
  if (map.base % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::uint32_t n = 0; n < order.rank; ++n) {
    if (order.extents[n] == 0 || order.extents[n] > std::uint64_t{1} << 32)
      return CUDA_ERROR_INVALID_VALUE;
    if (order.steps[n] == 0 || order.steps[n] > 8) return CUDA_ERROR_INVALID_VALUE;
    map.last[n] = static_cast<std::uint32_t>(order.extents[n] - 1);
    map.steps[n] = static_cast<std::uint8_t>(order.steps[n]);
    if (n == 0) continue;
    const std::uint64_t stride = order.strides[n - 1];
    if (stride % 16 != 0 || stride >= std::uint64_t{1} << 40) return CUDA_ERROR_INVALID_VALUE;
    map.strides[n - 1] = stride;
  }
  return CUDA_SUCCESS;
}

/// Checks the bytes that a copy of `rows` takes, and those that lie side by side, and gives the map
/// to the caller.
inline CUresult finish_tensor_map(const machine::tensor_map& map, std::uint64_t rows,
                                  CUtensorMap* made) {
  const std::uint32_t bytes = map.row_bytes();
  if (rows * bytes > std::uint64_t{shared_per_multiprocessor}) return CUDA_ERROR_INVALID_VALUE;
  if (bytes % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
  if (map.swizzle_bits != 0 && bytes > 16u << map.swizzle_bits) return CUDA_ERROR_INVALID_VALUE;
  CUtensorMap native{};
  std::memcpy(&native, &map, sizeof map);
  *made = native;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult tensor_map_encode_tiled(call& c, CUtensorMap* made, CUtensorMapDataType type,
                                        cuuint32_t rank, void* address, const cuuint64_t* extents,
                                        const cuuint64_t* strides, const cuuint32_t* box,
                                        const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle,
                                        CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill) {
  machine::tensor_map map;
  const tensor_order order{made,
                           number_of(type),
                           rank,
                           address,
                           extents,
                           strides,
                           steps,
                           number_of(interleave),
                           number_of(swizzle),
                           number_of(promotion),
                           number_of(fill)};
  if (const CUresult bad = take_tensor(c, order, 1, map)) return bad;
  if (box == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t rows = 1;
  for (std::uint32_t n = 0; n < rank; ++n) {
    if (box[n] == 0 || box[n] > 256) return CUDA_ERROR_INVALID_VALUE;
    map.box[n] = static_cast<std::uint16_t>(box[n]);
    if (n != 0) rows *= box[n] / steps[n];  // a copy may take one more
  }
  return finish_tensor_map(map, rows, made);
}

inline CUresult tensor_map_encode_im2col(call& c, CUtensorMap* made, CUtensorMapDataType type,
                                         cuuint32_t rank, void* address, const cuuint64_t* extents,
                                         const cuuint64_t* strides, const int* lower,
                                         const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                         const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                         CUtensorMapSwizzle swizzle,
                                         CUtensorMapL2promotion promotion,
                                         CUtensorMapFloatOOBfill fill) {
  machine::tensor_map map;
  const tensor_order order{made,
                           number_of(type),
                           rank,
                           address,
                           extents,
                           strides,
                           steps,
                           number_of(interleave),
                           number_of(swizzle),
                           number_of(promotion),
                           number_of(fill)};
  if (const CUresult bad = take_tensor(c, order, 3, map)) return bad;
  if (lower == nullptr || upper == nullptr || channels == 0 || channels > 256 || pixels == 0 ||
      pixels > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  const int most = rank == 3 ? 32767 : rank == 4 ? 127 : 15;
  for (std::uint32_t n = 0; n + 2 < rank; ++n) {
    for (const int corner : {lower[n], upper[n]})
      if (corner < -most - 1 || corner > most) return CUDA_ERROR_INVALID_VALUE;
    if (static_cast<std::int64_t>(extents[n + 1]) + upper[n] <= lower[n])
      return CUDA_ERROR_INVALID_VALUE;
    map.lower[n] = static_cast<std::int16_t>(lower[n]);
    map.upper[n] = static_cast<std::int16_t>(upper[n]);
  }
  map.mode = machine::tensor_mode::im2col;
  map.box[0] = static_cast<std::uint16_t>(channels);
  map.pixels = static_cast<std::uint16_t>(pixels);
  return finish_tensor_map(map, pixels, made);
}

/// Devices of compute capability 9.0 do not have it.
inline CUresult tensor_map_encode_im2col_wide(call&, CUtensorMap*, CUtensorMapDataType, cuuint32_t,
                                              void*, const cuuint64_t*, const cuuint64_t*, int, int,
                                              cuuint32_t, cuuint32_t, const cuuint32_t*,
                                              CUtensorMapInterleave, CUtensorMapIm2ColWideMode,
                                              CUtensorMapSwizzle, CUtensorMapL2promotion,
                                              CUtensorMapFloatOOBfill) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

inline CUresult tensor_map_replace_address(call&, CUtensorMap* map, void* address) {
  machine::tensor_map changed;
  if (map == nullptr || reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(static_cast<void*>(&changed), map, sizeof changed);
  if (changed.mark != machine::tensor_map::mark_of_map) return CUDA_ERROR_INVALID_VALUE;
  changed.base = reinterpret_cast<std::uintptr_t>(address);
  std::memcpy(map, &changed, sizeof changed);
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
