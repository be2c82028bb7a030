#pragma once
/// \file
/// `nonzero`, `argwhere` and `flat_nonzero` find the elements that are not zero; `extract` and
/// `compress` keep what a mask chooses.
///
/// The number of elements found is known only on the device. All of them: **Ordering**: after the
/// work queued on the stream; waits for the number of elements, and then queues the work that
/// stores them.
/// **Errors**: `errc::size_mismatch` with the shapes; `errc::invalid_argument` for an axis out of
/// range; the reason of a faulty view; `errc::wrong_context`; `errc::empty_handle`;
/// CUDA_ERROR_OUT_OF_MEMORY; `errc::capture_prohibited` during capture. **Cost**: a reduction that
/// counts, and a scan; the memory is what the result takes.

#include <gpu/algorithm/count.hpp>
#include <gpu/algorithm/select.hpp>
#include <gpu/algorithm/select/scan_compaction.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/take.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T> struct nonzero_family;
template <int Rank> struct unravel_family;

/// Returns the kernels that store the indices, in C order, of elements that are not zero.
template <class T>
result<compaction_state*> find_nonzero(std::size_t elements, source_location where) {
  return find_compaction<nonzero_family<T>, unsigned long long, const T*>(
      {"gpu::nonzero", "gpu_nonzero", "x"}, elements, where, [](compaction_state& made, bool) {
        made.condition = required(text("x[i] != 0"));
        made.pick = required(text("i"));
        made.result = element_type_of<long long>();
      });
}

/// Returns how many elements of a mask are not zero.
template <class M>
result<std::size_t> count_chosen(const char* function, const stream_ref& stream, const M& mask,
                                 source_location where) {
  GPU_TRY(
      require_no_capture(stream, function,
                         "Choose before the capture: how much is kept decides how large the result "
                         "is.",
                         where));
  return gpu::count(stream, mask, where);
}

template <class T, int Rank>
result<array<long long>> find_flat(const char* function, const stream_ref& stream,
                                   const array_view<const T, Rank>& view, source_location where) {
  const std::size_t found = GPU_TRY(count_chosen(function, stream, view, where));
  auto made = GPU_TRY((gpu::empty<long long>(stream, shape<1>{found}, where)));
  if (found == 0) return made;
  const returned_count count = GPU_TRY(returned_count::create(stream, function, where));
  bound_argument<const T*> elements(view);
  const loop_argument list[] = {elements.get()};
  auto number = count.range();
  compaction_state& state = *GPU_TRY(find_nonzero<T>(view.size(), where));
  GPU_TRY(run_compaction(state, stream, where, list, 1,
                         {name_elements("out", made), {}, name_count(number)}));
  return made;
}

/// Writes the statements that take an index in C order apart, into rows of `out`.
template <int Rank> text unravel_text() {
  text_builder out;
  out << "long long rest = flat[i]";
  for (int axis = Rank; axis-- > 0;) {
    out << ";\nout[" << axis << " * n + i] = rest";
    if (axis > 0) out << " % extent" << axis << "; rest /= extent" << axis;
  }
  return out.finish();
}

}  // namespace detail

/// Makes an array of the indices, counted in C order, of elements that are not zero. As NumPy's
/// `flatnonzero`. NaN is not zero.
template <detail::viewable A>
auto flat_nonzero(const stream_ref& stream, A&& a,
                  source_location where = source_location::current()) -> result<array<long long>> {
  using element = detail::value_of_view<A>;
  const array_view<const element, detail::viewed_rank<A>> view =
      detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand("gpu::flat_nonzero", stream, "the operand", view, a, where));
  return detail::find_flat("gpu::flat_nonzero", stream, view, where);
}

/// Makes an array of the indices of elements that are not zero: row `k` has their indices along
/// axis `k`. As NumPy's `nonzero`, and `where` with one argument.
template <detail::viewable A>
  requires(detail::viewed_rank<A> > 0)
auto nonzero(const stream_ref& stream, A&& a, source_location where = source_location::current())
    -> result<array<long long, 2>> {
  constexpr const char* function = "gpu::nonzero";
  constexpr int rank = detail::viewed_rank<A>;
  using element = detail::value_of_view<A>;
  const array_view<const element, rank> view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  auto flat = GPU_TRY(detail::find_flat(function, stream, view, where));
  const std::size_t count = flat.size();
  auto made = GPU_TRY((gpu::empty<long long>(stream, shape<2>{rank, count}, where)));
  long long extents[detail::most_axes] = {};
  for (int axis = 0; axis < rank; ++axis) extents[axis] = static_cast<long long>(view.extent(axis));
  CUdeviceptr out = made.native();
  const detail::loop_operand read = detail::operand_of(flat.view(), flat);
  detail::loop_argument arguments[2 + detail::most_axes] = {{&read, nullptr}, {nullptr, &out}};
  for (int axis = 0; axis < detail::most_axes; ++axis)
    arguments[2 + axis] = {nullptr, &extents[axis]};
  using number = long long;
  GPU_TRY((detail::run_shared<detail::unravel_family<rank>, const number*, raw<number*>, number,
                              number, number, number, number, number, number, number>(
      {function, "gpu_unravel",
       "flat, out, extent0, extent1, extent2, extent3, extent4, extent5, extent6, extent7"},
      stream, where, &detail::unravel_text<rank>, arguments)));
  return made;
}

/// Makes an array with a row for each element that is not zero: its indices. As NumPy's `argwhere`.
template <detail::viewable A>
  requires(detail::viewed_rank<A> > 0)
auto argwhere(const stream_ref& stream, A&& a, source_location where = source_location::current())
    -> result<array<long long, 2>> {
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand("gpu::argwhere", stream, "the operand", view, a, where));
  const auto rows = GPU_TRY(gpu::nonzero(stream, view, where));
  return gpu::evaluate(stream, gpu::transpose(rows), where);
}

/// Makes an array of one axis of the elements of `a`, in C order, for which the mask is not zero.
/// Mask and array have one shape. As NumPy's `a[mask]`, and as `extract` of arrays of one shape.
template <detail::viewable M, detail::viewable A>
  requires(detail::viewed_rank<M> == detail::viewed_rank<A>)
auto extract(const stream_ref& stream, M&& mask, A&& a,
             source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>>> {
  constexpr const char* function = "gpu::extract";
  using element = detail::value_of_view<A>;
  static_assert(detail::ordered_number<detail::value_of_view<M>>,
                "gpu::extract: the mask has bools or real numbers");
  const auto chosen = detail::array_view_of(static_cast<M&&>(mask));
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand(function, stream, "the mask", chosen, mask, where));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  if (chosen.shape() != view.shape()) {
    return detail::refuse_shapes(function, "apply a mask", detail::make_operand(chosen),
                                 detail::make_operand(view), "Pass a mask of the same shape.",
                                 where);
  }
  const std::size_t found = GPU_TRY(detail::count_chosen(function, stream, chosen, where));
  auto made = GPU_TRY((gpu::empty<element>(stream, shape<1>{found}, where)));
  if (found == 0) return made;
  const detail::returned_count count =
      GPU_TRY(detail::returned_count::create(stream, function, where));
  GPU_TRY(gpu::select(stream, view, chosen, made, count.range(), where));
  return made;
}

/// Makes an array of those indices of an axis for which the mask, of one axis, is not zero. As
/// NumPy's `compress`: a mask that is shorter than the axis chooses nothing beyond its end.
template <detail::viewable M, detail::viewable A>
  requires(detail::viewed_rank<M> == 1)
auto compress(const stream_ref& stream, M&& mask, A&& a, int axis,
              source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  constexpr const char* function = "gpu::compress";
  using flag = detail::value_of_view<M>;
  const array_view<const flag> chosen = detail::array_view_of(static_cast<M&&>(mask));
  const auto view = detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand(function, stream, "the mask", chosen, mask, where));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  axis = GPU_TRY(detail::require_axis(function, axis, view.rank, where));
  if (chosen.extent(0) > view.extent(axis)) {
    return detail::refuse_shapes(function, "apply a mask", detail::make_operand(chosen),
                                 detail::make_operand(view),
                                 "Pass a mask that is not longer than the axis.", where);
  }
  const auto indices = GPU_TRY(detail::find_flat(function, stream, chosen, where));
  return gpu::take(stream, view, indices, axis, {}, where);
}

}}  // namespace gpu::v1
