#pragma once
/// \file
/// Shapes as text.

#include <gpu/core/text.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Writes a shape as Python does: `(3, 4)`, `(3,)`.
inline void write_extents(text_builder& out, const std::size_t* extents, int rank) noexcept {
  out << '(';
  for (int axis = 0; axis < rank; ++axis) out << (axis == 0 ? "" : ", ") << extents[axis];
  out << (rank == 1 ? ",)" : ")");
}

template <int Rank> void write_shape(text_builder& out, const shape<Rank>& extents) noexcept {
  write_extents(out, extents.begin(), Rank);
}

}}}  // namespace gpu::v1::detail
