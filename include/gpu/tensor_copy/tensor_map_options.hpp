#pragma once
/// \file
/// `tensor_map_options`: how the elements of a tile lie in shared memory, and what stands for those
/// outside of the tensor.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/driver/detail/cuda_header.hpp>

namespace gpu { inline namespace v1 {

/// How the 16-byte pieces of a tile are exchanged in shared memory, so that a warp that reads a
/// column of them meets no bank conflicts. Bits 4 to 6 of the address of a piece are combined by
/// exclusive or with bits 7 to 9, as many of them as the span has. The rows of a tile are a span
/// apart, also if they are shorter. The kinds with an atom exchange larger pieces, and need compute
/// capability 10.0. Converts to `CUtensorMapSwizzle` by cast.
enum class tensor_swizzle : int {
  none = CU_TENSOR_MAP_SWIZZLE_NONE,
  bytes_32 = CU_TENSOR_MAP_SWIZZLE_32B,    ///< within 32 bytes: bit 4 with bit 7
  bytes_64 = CU_TENSOR_MAP_SWIZZLE_64B,    ///< within 64 bytes: bits 4 and 5 with 7 and 8
  bytes_128 = CU_TENSOR_MAP_SWIZZLE_128B,  ///< within 128 bytes: bits 4 to 6 with 7 to 9
  bytes_128_atom_32 = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,  ///< pieces of 32 bytes
  /// Pieces of 32 bytes; in every other row the halves of each 16 bytes change places, too.
  bytes_128_atom_32_flip_8 = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
  bytes_128_atom_64 = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B,  ///< pieces of 64 bytes
};

/// The enumerator, such as "bytes_128"; null for a value that this library does not know.
constexpr const char* name_of(tensor_swizzle swizzle) noexcept {
  using enum tensor_swizzle;
  return detail::find_name(swizzle, {{none, "none"},
                                     {bytes_32, "bytes_32"},
                                     {bytes_64, "bytes_64"},
                                     {bytes_128, "bytes_128"},
                                     {bytes_128_atom_32, "bytes_128_atom_32"},
                                     {bytes_128_atom_32_flip_8, "bytes_128_atom_32_flip_8"},
                                     {bytes_128_atom_64, "bytes_128_atom_64"}});
}

/// Whether the channels of a tensor lie in slices, as in the layouts NC/8HWC8 (16 bytes of 8
/// channels) and NC/16HWC16 (32 bytes). Converts to `CUtensorMapInterleave` by cast.
enum class tensor_interleave : int {
  none = CU_TENSOR_MAP_INTERLEAVE_NONE,
  bytes_16 = CU_TENSOR_MAP_INTERLEAVE_16B,
  bytes_32 = CU_TENSOR_MAP_INTERLEAVE_32B,
};

/// The enumerator, such as "bytes_16"; null for a value that this library does not know.
constexpr const char* name_of(tensor_interleave interleave) noexcept {
  using enum tensor_interleave;
  return detail::find_name(interleave,
                           {{none, "none"}, {bytes_16, "bytes_16"}, {bytes_32, "bytes_32"}});
}

/// How many bytes the L2 cache fetches at least. Converts to `CUtensorMapL2promotion` by cast.
enum class l2_promotion : int {
  none = CU_TENSOR_MAP_L2_PROMOTION_NONE,
  bytes_64 = CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
  bytes_128 = CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
  bytes_256 = CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
};

/// The enumerator, such as "bytes_128"; null for a value that this library does not know.
constexpr const char* name_of(l2_promotion promotion) noexcept {
  using enum l2_promotion;
  return detail::find_name(
      promotion,
      {{none, "none"}, {bytes_64, "bytes_64"}, {bytes_128, "bytes_128"}, {bytes_256, "bytes_256"}});
}

/// What a copy writes to shared memory for elements outside of the tensor. Converts to
/// `CUtensorMapFloatOOBfill` by cast.
enum class tensor_fill : int {
  zeros = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
  /// A NaN for which `fma.oob` counts the product as 0; for floating-point elements.
  nans = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
};

/// The enumerator, such as "zeros"; null for a value that this library does not know.
constexpr const char* name_of(tensor_fill fill) noexcept {
  using enum tensor_fill;
  return detail::find_name(fill, {{zeros, "zeros"}, {nans, "nans"}});
}

/// What a copy to shared memory makes of elements of type `float`.
enum class tensor_float : int {
  unchanged,
  flushed,       ///< CUDA's FLOAT32_FTZ; an H100 leaves subnormal numbers as they are, though
  tf32,          ///< rounded to the 10 bits of mantissa that tensor cores multiply
  flushed_tf32,  ///< as tf32, with CUDA's TFLOAT32_FTZ
};

/// The enumerator, such as "tf32"; null for a value that this library does not know.
constexpr const char* name_of(tensor_float format) noexcept {
  using enum tensor_float;
  return detail::find_name(format, {{unchanged, "unchanged"},
                                    {flushed, "flushed"},
                                    {tf32, "tf32"},
                                    {flushed_tf32, "flushed_tf32"}});
}

/// How a tensor map copies. By default tiles lie in shared memory as in C, and elements outside of
/// the tensor are zeros.
struct tensor_map_options {
  tensor_swizzle swizzle = tensor_swizzle::none;
  tensor_interleave interleave = tensor_interleave::none;
  l2_promotion promotion = l2_promotion::none;
  tensor_fill fill = tensor_fill::zeros;
  tensor_float floats = tensor_float::unchanged;
  /// For each axis of the view: every how many elements one is copied, 1 to 8. That of the last
  /// axis is 1, unless the tensor is interleaved.
  unsigned steps[5] = {1, 1, 1, 1, 1};
};

}}  // namespace gpu::v1
