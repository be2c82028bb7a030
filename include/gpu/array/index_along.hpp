#pragma once
/// \file
/// `index_along`: the index along an axis, as an operand of expressions.

#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/array/leaf.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

namespace detail {

struct index_along_state {
  long long step, extent;
};

inline constexpr leaf_description index_along_leaf{
    .name = "index",
    .state_type = "gpu_index_along",
    .preamble = "struct gpu_index_along { long long step, extent; };",
    .text = "$i / $s.step % $s.extent"};

}  // namespace detail

/// Returns an operand of a shape whose element at each index is the index along `axis`, a 64-bit
/// integer: `x * gpu::cast<float>(gpu::index_along(x.shape(), 0))`. A negative axis counts from the
/// end; one that does not exist is an error of the evaluation.
template <int Rank> auto index_along(const shape<Rank>& extents, int axis) noexcept {
  static_assert(Rank > 0, "gpu::index_along: a shape of rank 0 has no axis");
  const bool exists = axis >= -Rank && axis < Rank;
  const int along = !exists ? 0 : axis < 0 ? axis + Rank : axis;
  const std::size_t step = detail::saturated_product(extents.begin() + along + 1, Rank - along - 1);
  const detail::index_along_state state{static_cast<long long>(step),
                                        static_cast<long long>(extents[along])};
  auto made = gpu::make_leaf<std::int64_t>(detail::index_along_leaf, extents, state);
  if (!exists) {
    detail::put_fault(
        detail::expression_access::words(made),
        {detail::fault_kind::axis, detail::view_function::index_along, 0, axis, Rank});
  }
  return made;
}

}}  // namespace gpu::v1
