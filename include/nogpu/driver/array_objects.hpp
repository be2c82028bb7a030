#pragma once
/// \file
/// The objects behind handles of arrays, textures and surfaces. The driver's lock guards all
/// members.

#include <nogpu/driver/array_formats.hpp>

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

struct context_state;
struct array_state;
class array_mappings;

using array_ptr = std::shared_ptr<array_state>;

/// An array, a level of a mipmapped array, or a plane. Its texels are stored row by row, slice by
/// slice, without gaps, in device memory whose address programs do not get.
struct array_state {
  CUarray handle = nullptr;
  std::shared_ptr<context_state> context;
  CUDA_ARRAY3D_DESCRIPTOR form{};  // as the program gave it
  format_facts format{};
  std::uint64_t base = 0;
  bool borrowed = false;          // a level or a plane, which ends with its owner
  std::vector<array_ptr> planes;  // of a planar format
  /// The mappings of the program; null for an array with memory of its own.
  std::shared_ptr<array_mappings> mapped;
  std::string place;

  bool layered() const noexcept { return (form.Flags & CUDA_ARRAY3D_LAYERED) != 0; }
  bool cube() const noexcept { return (form.Flags & CUDA_ARRAY3D_CUBEMAP) != 0; }
  std::uint64_t row_bytes() const noexcept { return format.row_bytes(form.Width); }
  std::uint64_t rows() const noexcept { return format.rows(form.Height); }
  std::uint64_t slices() const noexcept { return form.Depth == 0 ? 1 : form.Depth; }
  std::uint64_t slice_bytes() const noexcept { return row_bytes() * rows(); }
  std::uint64_t bytes() const noexcept {
    std::uint64_t all = planes.empty() ? slice_bytes() * slices() : 0;
    for (const array_ptr& each : planes) all += each->bytes();
    return all;
  }
};

struct mipmapped_array_state {
  CUmipmappedArray handle = nullptr;
  std::shared_ptr<context_state> context;
  std::uint64_t base = 0;
  std::vector<array_ptr> levels;  // the finest first
  bool borrowed = false;          // of a mapped image of OpenGL
  std::string place;
};
using mipmapped_array_ptr = std::shared_ptr<mipmapped_array_state>;

/// A texture or surface object as the program described it. What kernels need of it is in the
/// driver's `machine::image_table`.
struct image_object {
  std::shared_ptr<context_state> context;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC how{};                      // of a texture
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;  // of a texture that has one
  std::string place;
};

}}}  // namespace nogpu::v1::driver
