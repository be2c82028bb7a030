#pragma once
/// \file
/// The kernel of `take` without an axis, for views whose elements are not contiguous.

#include <gpu/algorithm/elementwise/run_elementwise.hpp>
#include <gpu/algorithm/gather/indexed_axes.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

template <class T, class Index, int Rank> struct take_flat_family;

/// Returns the kernel that reads elements of a view by their index in C order.
template <class T, class Index, int Rank>
result<loop_state*> find_take_flat(const char* function, source_location where) {
  return find_shared<take_flat_family<T, Index, Rank>, loop_state>(
      function, {}, where, [&](loop_state& made) -> result<> {
        made.code.function = function;
        made.code.parameters = {
            describe_parameter<T*>(), describe_parameter<raw<const T*>>(),
            describe_parameter<const Index*>(),
            snippet_parameter{parameter_kind::number, false, indexed_axes_type<Rank>(), text()},
            describe_parameter<long long>()};
        return describe_elementwise(
            made, "out, x, indices, x_axes, size",
            std::is_signed_v<Index>
                ? "out[i] = x[x_axes.offset(indices[i] < 0 ? indices[i] + size : indices[i], 0)]"
                : "out[i] = x[x_axes.offset(indices[i], 0)]",
            {.name = "gpu_take_flat"}, where);
      });
}

}}}  // namespace gpu::v1::detail
