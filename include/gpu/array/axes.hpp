#pragma once
/// \file
/// `axis<0, 2>`, `axes{k}` and `keep_dims`: over which axes functions such as `gpu::sum` reduce.

#include <gpu/memory/detail/view_fault.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// The type of `axis`.
template <int... Axes> struct axis_list {
  static_assert(sizeof...(Axes) >= 1, "gpu::axis: name at least one axis, as in gpu::axis<0>");
};

/// Axes of an array, counted from 0, or from -1 at the last one backwards: `gpu::axis<-1>`,
/// `gpu::axis<0, 2>`. An axis that the array does not have does not compile.
template <int... Axes> inline constexpr axis_list<Axes...> axis{};

/// Axes that are known only at run time: `gpu::axes{k}`, `gpu::axes{k, -1}`. An axis that the array
/// does not have is an error of the evaluation.
template <std::size_t Count> struct axes {
  int values[Count];
};
template <class... Axis> axes(Axis...) -> axes<sizeof...(Axis)>;

/// The type of `keep_dims`.
struct keep_dims_option {};

/// Keeps the axes of a reduction with an extent of 1, so that the result can be broadcast with what
/// was reduced: `m / gpu::sum(m, gpu::axis<1>, gpu::keep_dims)`.
inline constexpr keep_dims_option keep_dims{};

namespace detail {

/// A set of an array's axes.
struct axis_set {
  unsigned axes = 0;  ///< a bit for each axis
  fault_kind problem = fault_kind::none;
  int asked = 0;  ///< the axis of the problem
};

constexpr axis_set make_axis_set(const int* axes, std::size_t count, int rank) noexcept {
  axis_set made;
  for (std::size_t k = 0; k < count; ++k) {
    const int axis = axes[k] < 0 ? axes[k] + rank : axes[k];
    if (axis < 0 || axis >= rank) return {0, fault_kind::axis, axes[k]};
    if ((made.axes >> axis & 1u) != 0) return {0, fault_kind::repeated_axis, axes[k]};
    made.axes |= 1u << axis;
  }
  return made;
}

/// The number of axes that an option of a reduction names; 0 if it names none.
template <class Option> inline constexpr std::size_t named_axes = 0;
template <int... Axes>
inline constexpr std::size_t named_axes<axis_list<Axes...>> = sizeof...(Axes);
template <std::size_t Count> inline constexpr std::size_t named_axes<axes<Count>> = Count;

/// Sets `found` to the axes that an option names, of an array of `Rank` axes.
template <int Rank, class Option> constexpr void read_axes(axis_set&, const Option&) noexcept {}
template <int Rank, int... Axes>
constexpr void read_axes(axis_set& found, const axis_list<Axes...>&) noexcept {
  constexpr int list[] = {Axes...};
  constexpr axis_set set = make_axis_set(list, sizeof...(Axes), Rank);
  static_assert(set.problem != fault_kind::axis,
                "gpu::axis: the array has no such axis; axes count from 0, or from -1 backwards");
  static_assert(set.problem != fault_kind::repeated_axis, "gpu::axis: an axis is named twice");
  found = set;
}
template <int Rank, std::size_t Count>
constexpr void read_axes(axis_set& found, const axes<Count>& given) noexcept {
  found = make_axis_set(given.values, Count, Rank);
}

}  // namespace detail
}}  // namespace gpu::v1
