#pragma once
/// \file
/// The formats of arrays and textures: which channels they have, and how many bytes they take.

#include <nogpu/machine/image.hpp>

#include <cuda.h>

#include <cstdint>
#include <optional>

namespace nogpu { inline namespace v1 { namespace driver {

/// The properties of a format with a number of channels.
struct format_facts {
  machine::texel_format texel{};  // if kernels can read it
  bool readable = false;          // by kernels
  unsigned unit = 0;              // bytes of a texel or of a compressed block
  unsigned edge = 1;              // width and height of a unit in texels

  constexpr explicit operator bool() const noexcept { return unit != 0; }

  constexpr std::uint64_t row_bytes(std::uint64_t width) const noexcept {
    return (width + edge - 1) / edge * unit;
  }
  constexpr std::uint64_t rows(std::uint64_t height) const noexcept {
    return height == 0 ? 1 : (height + edge - 1) / edge;
  }
};

namespace detail {

using machine::channel_kind;

constexpr format_facts plain_format(channel_kind kind, unsigned bytes, unsigned channels) noexcept {
  if (channels != 1 && channels != 2 && channels != 4) return {};
  const machine::texel_format texel{kind, static_cast<std::uint8_t>(bytes),
                                    static_cast<std::uint8_t>(channels)};
  return {texel, true, texel.bytes(), 1};
}

/// A format whose name says the number of channels.
constexpr format_facts fixed_format(channel_kind kind, unsigned bytes, unsigned own,
                                    unsigned channels) noexcept {
  return own == channels ? plain_format(kind, bytes, channels) : format_facts{};
}

/// A format that this driver stores and copies, but whose texels kernels cannot read.
constexpr format_facts stored_format(unsigned unit, unsigned edge, unsigned own,
                                     unsigned channels) noexcept {
  if (own != channels) return {};
  return {{}, false, unit, edge};
}

}  // namespace detail

/// Finds a format; false if this driver does not have it with so many channels.
constexpr format_facts find_format(CUarray_format format, unsigned channels) noexcept {
  using detail::channel_kind;
  using detail::fixed_format;
  using detail::plain_format;
  using detail::stored_format;
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      return plain_format(channel_kind::unsigned_integer, 1, channels);
    case CU_AD_FORMAT_UNSIGNED_INT16:
      return plain_format(channel_kind::unsigned_integer, 2, channels);
    case CU_AD_FORMAT_UNSIGNED_INT32:
      return plain_format(channel_kind::unsigned_integer, 4, channels);
    case CU_AD_FORMAT_SIGNED_INT8: return plain_format(channel_kind::signed_integer, 1, channels);
    case CU_AD_FORMAT_SIGNED_INT16: return plain_format(channel_kind::signed_integer, 2, channels);
    case CU_AD_FORMAT_SIGNED_INT32: return plain_format(channel_kind::signed_integer, 4, channels);
    case CU_AD_FORMAT_HALF: return plain_format(channel_kind::floating, 2, channels);
    case CU_AD_FORMAT_FLOAT: return plain_format(channel_kind::floating, 4, channels);
    case CU_AD_FORMAT_UNORM_INT8X1:
      return fixed_format(channel_kind::unsigned_normalized, 1, 1, channels);
    case CU_AD_FORMAT_UNORM_INT8X2:
      return fixed_format(channel_kind::unsigned_normalized, 1, 2, channels);
    case CU_AD_FORMAT_UNORM_INT8X4:
      return fixed_format(channel_kind::unsigned_normalized, 1, 4, channels);
    case CU_AD_FORMAT_UNORM_INT16X1:
      return fixed_format(channel_kind::unsigned_normalized, 2, 1, channels);
    case CU_AD_FORMAT_UNORM_INT16X2:
      return fixed_format(channel_kind::unsigned_normalized, 2, 2, channels);
    case CU_AD_FORMAT_UNORM_INT16X4:
      return fixed_format(channel_kind::unsigned_normalized, 2, 4, channels);
    case CU_AD_FORMAT_SNORM_INT8X1:
      return fixed_format(channel_kind::signed_normalized, 1, 1, channels);
    case CU_AD_FORMAT_SNORM_INT8X2:
      return fixed_format(channel_kind::signed_normalized, 1, 2, channels);
    case CU_AD_FORMAT_SNORM_INT8X4:
      return fixed_format(channel_kind::signed_normalized, 1, 4, channels);
    case CU_AD_FORMAT_SNORM_INT16X1:
      return fixed_format(channel_kind::signed_normalized, 2, 1, channels);
    case CU_AD_FORMAT_SNORM_INT16X2:
      return fixed_format(channel_kind::signed_normalized, 2, 2, channels);
    case CU_AD_FORMAT_SNORM_INT16X4:
      return fixed_format(channel_kind::signed_normalized, 2, 4, channels);
    case CU_AD_FORMAT_BC1_UNORM:
    case CU_AD_FORMAT_BC1_UNORM_SRGB: return stored_format(8, 4, 4, channels);
    case CU_AD_FORMAT_BC4_UNORM:
    case CU_AD_FORMAT_BC4_SNORM: return stored_format(8, 4, 1, channels);
    case CU_AD_FORMAT_BC5_UNORM:
    case CU_AD_FORMAT_BC5_SNORM: return stored_format(16, 4, 2, channels);
    case CU_AD_FORMAT_BC6H_UF16:
    case CU_AD_FORMAT_BC6H_SF16: return stored_format(16, 4, 3, channels);
    case CU_AD_FORMAT_BC2_UNORM:
    case CU_AD_FORMAT_BC2_UNORM_SRGB:
    case CU_AD_FORMAT_BC3_UNORM:
    case CU_AD_FORMAT_BC3_UNORM_SRGB:
    case CU_AD_FORMAT_BC7_UNORM:
    case CU_AD_FORMAT_BC7_UNORM_SRGB: return stored_format(16, 4, 4, channels);
    case CU_AD_FORMAT_UNORM_INT_101010_2: return stored_format(4, 1, 4, channels);
    default: return {};
  }
}

/// Brightness in one plane and color in one or two others, where it may be coarser.
struct planar_format {
  CUarray_format channel{};
  unsigned planes = 2;
  unsigned columns = 1, rows = 1;  // of brightness to one of color

  constexpr unsigned chroma_channels() const noexcept { return 4 - planes; }
};

/// Finds a planar format; empty for a format without planes.
constexpr std::optional<planar_format> find_planar_format(CUarray_format format) noexcept {
  constexpr CUarray_format bytes = CU_AD_FORMAT_UNSIGNED_INT8;
  constexpr CUarray_format words = CU_AD_FORMAT_UNSIGNED_INT16;
  switch (format) {
    case CU_AD_FORMAT_NV12: return planar_format{bytes, 2, 2, 2};
    case CU_AD_FORMAT_P010:
    case CU_AD_FORMAT_P016: return planar_format{words, 2, 2, 2};
    case CU_AD_FORMAT_NV16: return planar_format{bytes, 2, 2, 1};
    case CU_AD_FORMAT_P210:
    case CU_AD_FORMAT_P216: return planar_format{words, 2, 2, 1};
    case CU_AD_FORMAT_YUV444_8bit_SemiPlanar: return planar_format{bytes, 2, 1, 1};
    case CU_AD_FORMAT_YUV444_16bit_SemiPlanar: return planar_format{words, 2, 1, 1};
    case CU_AD_FORMAT_Y444_PLANAR8: return planar_format{bytes, 3, 1, 1};
    case CU_AD_FORMAT_Y444_PLANAR10: return planar_format{words, 3, 1, 1};
    default: return std::nullopt;
  }
}

/// Finds the format of a resource view.
constexpr format_facts find_format(CUresourceViewFormat format) noexcept {
  using detail::stored_format;
  constexpr CUarray_format plain[] = {
      CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8,    CU_AD_FORMAT_UNSIGNED_INT16,
      CU_AD_FORMAT_SIGNED_INT16,  CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
      CU_AD_FORMAT_HALF,          CU_AD_FORMAT_FLOAT,
  };
  if (format >= CU_RES_VIEW_FORMAT_UINT_1X8 && format <= CU_RES_VIEW_FORMAT_FLOAT_4X32) {
    const unsigned index = static_cast<unsigned>(format) - CU_RES_VIEW_FORMAT_UINT_1X8;
    return find_format(plain[index / 3], 1u << (index % 3));
  }
  switch (format) {
    case CU_RES_VIEW_FORMAT_UNSIGNED_BC1:
    case CU_RES_VIEW_FORMAT_UNSIGNED_BC4:
    case CU_RES_VIEW_FORMAT_SIGNED_BC4: return stored_format(8, 4, 0, 0);
    case CU_RES_VIEW_FORMAT_UNSIGNED_BC2:
    case CU_RES_VIEW_FORMAT_UNSIGNED_BC3:
    case CU_RES_VIEW_FORMAT_UNSIGNED_BC5:
    case CU_RES_VIEW_FORMAT_SIGNED_BC5:
    case CU_RES_VIEW_FORMAT_UNSIGNED_BC6H:
    case CU_RES_VIEW_FORMAT_SIGNED_BC6H:
    case CU_RES_VIEW_FORMAT_UNSIGNED_BC7: return stored_format(16, 4, 0, 0);
    default: return {};
  }
}

}}}  // namespace nogpu::v1::driver
