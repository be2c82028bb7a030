#pragma once
/// \file
/// `loop_form`: the properties in which the kernels of one snippet differ.

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Threads of a block of every generated loop.
inline constexpr unsigned loop_threads = 256;

/// The properties in which the kernels of one snippet differ.
struct loop_form {
  unsigned width = 1;       ///< elements of a group; a power of two up to 16
  unsigned aligned = 1;     ///< elements of a group that one instruction can load
  unsigned groups = 1;      ///< groups of `width` elements in a thread
  int rank = 0;             ///< axes of the views
  std::uint32_t views = 0;  ///< a bit for each parameter that is a view
  bool by_element = false;  ///< loads elements before the snippet and stores them after it
  bool wide = false;        ///< indices of 64 bits
  bool sliced = false;      ///< runs over a slice of the indices
  bool in_warps = false;    ///< a warp has a task of its own, not a block
  /// If not 0, threads run over patches along the last axis and axis `patch_axis - 1`, along which
  /// the views in `turned` are contiguous.
  int patch_axis = 0;
  std::uint32_t turned = 0;
  /// If not 0, threads run along the last of this many axes, whose indices are those of segments,
  /// and hold `aligned` neighboring segments each.
  int segment_axes = 0;

  std::size_t tile() const noexcept { return std::size_t{loop_threads} * width * groups; }
  std::uint64_t key() const noexcept {
    const unsigned flags =
        (by_element ? 1u : 0) | (wide ? 2u : 0) | (sliced ? 4u : 0) | (in_warps ? 8u : 0);
    // Patches have at most 16 parameters, so that both sets of views fit.
    const std::uint64_t sets = views | std::uint64_t{turned} << 16;
    return sets << 32 | width << 27 | aligned << 22 | groups << 16 |
           static_cast<unsigned>(patch_axis) << 12 | static_cast<unsigned>(rank) << 8 |
           static_cast<unsigned>(segment_axes) << 4 | flags;
  }
};

}}}  // namespace gpu::v1::detail
