#pragma once
/// \file
/// `take` and `take_along_axis` read elements by index.
///
/// Indices are integers of 32 or 64 bits in an array, a view, a buffer or a span; negative ones
/// count from the end. **Precondition**: each index is at least `-n` and less than `n`, the number
/// of elements that it chooses from. With `.check = true` this is verified first; the CPU driver
/// finds indices that lead outside of the memory in any case.
///
/// All of them: **Ordering**: after the work queued on the stream; waits only for a check.
/// **Errors**: `errc::size_mismatch` with the shapes; `errc::invalid_argument` for an axis out of
/// range and for memory that overlaps; the reason of a faulty view; `errc::wrong_context`;
/// `errc::empty_handle`; CUDA_ERROR_OUT_OF_MEMORY; `errc::index_out_of_range` for indices into an
/// axis without elements. With a check also `errc::index_out_of_range` with the first bad position,
/// in which case nothing is written, and `errc::capture_prohibited`. **Capture**: allowed without a
/// check; new memory then belongs to the graph.

#include <gpu/algorithm/check_indices.hpp>
#include <gpu/algorithm/elementwise/run_elementwise.hpp>
#include <gpu/algorithm/gather.hpp>
#include <gpu/algorithm/gather/indexed_axes.hpp>
#include <gpu/algorithm/sort/sort_type.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/detail/take_flat.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/array/view_shape.hpp>  // IWYU pragma: keep
#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/allocation.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T, class Index> struct take_family;
template <class T, class Index> struct locate_family;

/// Writes the expression of `x` at an index that counts from either end of an axis. `x` is a view
/// in which the first element of the axis is repeated.
template <class Index> const char* indexed_element() noexcept {
  return std::is_signed_v<Index>
             ? "(&x[i])[(indices[i] < 0 ? indices[i] + size : indices[i]) * stride]"
             : "(&x[i])[(long long)(indices[i]) * stride]";
}

template <class Index> constexpr void check_taken() noexcept {
  static_assert(index_type<Index>,
                "indices are std::uint32_t, std::int32_t, std::uint64_t or std::int64_t");
}

/// An operand, an axis of it, and indices along that axis, all of one shape.
template <class T, class Index, int Rank> struct indexed_axis {
  array_view<const T, Rank> x;              ///< its first element of the axis, repeated
  array_view<const Index, Rank> positions;  ///< repeated along the other axes
  long long size = 0;                       ///< of the axis
  long long stride = 0;                     ///< of the axis

  gpu::shape<Rank> shape() const noexcept { return positions.shape(); }
};

/// Fails for indices into an axis without elements and, if `check`, for a bad index.
template <class T, class Index, int Rank, class I>
result<> require_taken(const char* function, const stream_ref& stream,
                       const indexed_axis<T, Index, Rank>& from, I& indices, bool check,
                       source_location where) {
  const std::size_t count = array_view_of(indices).size();
  if (from.size == 0 && from.positions.size() != 0) {
    text_builder out;
    out << "the operand has no elements along the axis, so none of the " << count
        << " indices is valid.";
    return fail(refusal(errc::index_out_of_range, function, out.finish(), where, count, 0));
  }
  if (!check) return {};
  bound_argument<const Index*> checked(array_view_of(indices));
  return require_indices(function, stream, checked, "the axis", static_cast<std::size_t>(from.size),
                         where, index_rule::from_either);
}

/// Reads the chosen elements.
template <class T, class Index, int Rank, class Out>
result<> take_elements(const char* function, const stream_ref& stream, const Out& owner,
                       const array_view<T, Rank>& out, indexed_axis<T, Index, Rank> from,
                       source_location where) {
  const loop_operand written = operand_of(out, owner);
  const loop_operand x = make_operand(from.x), positions = make_operand(from.positions);
  const loop_argument arguments[] = {{&written, nullptr},
                                     {&x, nullptr},
                                     {&positions, nullptr},
                                     {nullptr, &from.size},
                                     {nullptr, &from.stride}};
  return run_shared<take_family<T, Index>, T*, const T*, const Index*, long long, long long>(
      {function, "gpu_take", "out, x, indices, size, stride"}, stream, where,
      [] {
        text_builder code;
        code << "out[i] = " << indexed_element<Index>();
        return code.finish();
      },
      arguments);
}

/// Makes an array of elements of a view that `indices` count in C order.
template <class T, int Rank, class Index, int IndexRank, class I>
result<array<T, IndexRank>> take_flat(const char* function, const stream_ref& stream,
                                      const array_view<const T, Rank>& view,
                                      const array_view<const Index, IndexRank>& chosen,
                                      const I& indices, bool check, source_location where) {
  indexed_axis<T, Index, IndexRank> from;
  from.positions = chosen;
  from.size = static_cast<long long>(view.size());
  GPU_TRY(require_taken(function, stream, from, indices, check, where));
  auto made = GPU_TRY((gpu::empty<T>(stream, chosen.shape(), where)));
  loop_state& state = *GPU_TRY((find_take_flat<T, Index, Rank>(function, where)));
  const loop_operand written = operand_of(made.view(), made);
  const loop_operand positions = operand_of(chosen, indices);
  CUdeviceptr first = view.native();
  indexed_axes<Rank> axes(make_operand(view));
  const loop_argument arguments[] = {{&written, nullptr},
                                     {nullptr, &first},
                                     {&positions, nullptr},
                                     {nullptr, &axes},
                                     {nullptr, &from.size}};
  GPU_TRY(run_elementwise({state, stream, where, arguments}, nullptr));
  return made;
}

/// Returns the views for `take` along an axis: the axes of the indices replace the axis.
template <class T, int Rank, class Index, int IndexRank>
indexed_axis<T, Index, Rank - 1 + IndexRank> replace_axis(
    const array_view<const T, Rank>& view, const array_view<const Index, IndexRank>& indices,
    int axis) noexcept {
  constexpr int rank = Rank - 1 + IndexRank;
  indexed_axis<T, Index, rank> made;
  made.size = static_cast<long long>(view.extent(axis));
  made.stride = view.stride(axis);
  made.x = changed_view<rank>(view, [&](view_layout& layout) {
    layout.remove_axis(axis);
    for (int k = 0; k < IndexRank; ++k) layout.insert_axis(axis + k, indices.extent(k), 0);
    layout.refuse_too_large(view_function::take);
  });
  made.positions = changed_view<rank>(indices, [&](view_layout& layout) {
    for (int k = 0; k < axis; ++k) layout.insert_axis(k, view.extent(k), 0);
    for (int k = axis + 1; k < Rank; ++k) layout.add_axis(view.extent(k), 0);
    layout.refuse_too_large(view_function::take);
  });
  return made;
}

/// Returns the views for `take_along_axis`: the shapes agree but for the axis, or are 1 there.
template <class T, class Index, int Rank>
result<indexed_axis<T, Index, Rank>> match_axis(const char* function,
                                                const array_view<const T, Rank>& view,
                                                const array_view<const Index, Rank>& indices,
                                                int axis, source_location where) noexcept {
  gpu::shape<Rank> extents = indices.shape();
  for (int k = 0; k < Rank; ++k) {
    if (k == axis || view.extent(k) == extents[k] || view.extent(k) == 1) continue;
    if (extents[k] != 1) {
      return refuse_shapes(function, "match", make_operand(view), make_operand(indices),
                           "Pass indices with the same extents, or 1, but for the axis.", where);
    }
    extents[k] = view.extent(k);
  }
  indexed_axis<T, Index, Rank> made;
  made.size = static_cast<long long>(view.extent(axis));
  made.stride = view.stride(axis);
  made.x = changed_view<Rank>(view, [&](view_layout& layout) {
    for (int k = 0; k < Rank; ++k) {
      if (k == axis || layout.extents[k] != extents[k]) layout.strides[k] = 0;
      layout.extents[k] = extents[k];
    }
    layout.refuse_too_large(view_function::take);
  });
  made.positions = gpu::broadcast_to(indices, extents);
  return made;
}

/// Writes the words of a view, and returns their end.
template <class T, int Rank, class A>
expression_word* put_view_of(expression_word* to, const array_view<const T, Rank>& view,
                             const A& owner) noexcept {
  context_ref context;
  if constexpr (knows_context<A>) context = owner.context();
  expression_word* next =
      put_view_start(to, kind_of<T>(), Rank, view.native(), context, knows_context<A>);
  for (int k = 0; k < Rank; ++k) *next++ = view.extent(k);
  for (int k = 0; k < Rank; ++k) *next++ = static_cast<expression_word>(view.stride(k));
  return next;
}

/// Checks the indices of a `take` in an expression. The header of the view has their axes among
/// those of the result: the first one, and how many.
template <class Index>
stable_result check_indices_of_take(const evaluation& call, const expression_word* words) {
  const word_header header = header_at(words);
  const expression_slot from{words, false}, positions{words + header.words, false};
  const expression_word* const strides = positions.words + view_words + positions.header().rank;
  const int first = header.extra >> 8, rank = header.extra & 0xff;
  loop_operand indices;
  indices.memory = positions.memory();
  indices.memory.count = 1;
  indices.rank = rank;
  for (int axis = rank; axis-- > 0;) {
    const std::size_t extent = positions.extent(first + axis);
    indices.extents[axis] = extent;
    indices.strides[axis] = static_cast<std::ptrdiff_t>(strides[first + axis]);
    if (extent != 1 && strides[first + axis] != indices.memory.count) indices.contiguous = false;
    indices.memory.count = saturated_product(indices.memory.count, extent);
  }
  bound_argument<const Index*> checked(static_cast<const loop_operand&>(indices));
  return require_indices("gpu::take", call.stream, checked, "the axis",
                         static_cast<std::size_t>(from.taken_size()), call.where,
                         index_rule::from_either);
}

/// Makes a view at `at` that of an operand of `take`: see `taken_flag`.
inline expression_word* put_taken(expression_word* at, std::int64_t size, std::int64_t stride,
                                  index_check check, int first, int rank) noexcept {
  word_header header = header_at(at);
  expression_word* const end = at + header.words;
  header.flags = static_cast<unsigned char>(header.flags | taken_flag);
  header.words = static_cast<std::uint16_t>(header.words + taken_words);
  if (check != nullptr) header.extra = static_cast<std::uint16_t>(first << 8 | rank);
  at[0] = __builtin_bit_cast(expression_word, header);
  end[0] = static_cast<expression_word>(size);
  end[1] = static_cast<expression_word>(stride);
  end[2] = reinterpret_cast<std::uintptr_t>(check);
  return end + taken_words;
}

template <class A, class I> inline constexpr int taken_rank = viewed_rank<A> - 1 + viewed_rank<I>;

}  // namespace detail

/// Returns an expression of the elements that `indices` choose along an axis, which are read where
/// they are used: `take(x, order, 0) * weights`. Shapes as below. **Errors** of the evaluation: an
/// axis out of range; indices into an axis without elements. With `.check = true` an evaluation
/// first reads all indices and waits, as below, and writes nothing if one is bad.
template <detail::viewable A, detail::viewable I>
auto take(A&& a, I&& indices, int axis, const gather_options& options = {}) noexcept {
  constexpr int from_rank = detail::viewed_rank<A>, rank = detail::taken_rank<A, I>;
  using element = detail::value_of_view<A>;
  using index = detail::value_of_view<I>;
  detail::check_taken<index>();
  static_assert(from_rank > 0, "gpu::take: an array of rank 0 has no axis");
  static_assert(detail::kind_of<element>() != detail::element_kind::none,
                "gpu::take: an expression has numbers; elements of other types are taken by "
                "gpu::take(stream, a, indices, axis)");
  const array_view<const element, from_rank> view = detail::array_view_of(static_cast<A&&>(a));
  const array_view<const index, detail::viewed_rank<I>> chosen =
      detail::array_view_of(static_cast<I&&>(indices));
  const bool exists = axis >= -from_rank && axis < from_rank;
  const int along = !exists ? 0 : axis < 0 ? axis + from_rank : axis;
  const auto from = detail::replace_axis(view, chosen, along);
  constexpr std::size_t words = 2 * (detail::view_words + 2 * std::size_t{rank});
  auto made = detail::expression_access::make<element, rank, words + detail::taken_words + 1>();
  detail::expression_word* const first = detail::expression_access::words(made);
  detail::put_view_of(first, from.x, a);
  detail::expression_word* to =
      detail::put_taken(first, from.size, from.stride,
                        options.check ? &detail::check_indices_of_take<index> : nullptr, along,
                        detail::viewed_rank<I>);
  if (!exists) {
    first[1] = detail::fault_address(
        {detail::fault_kind::axis, detail::view_function::take, 0, axis, from_rank});
    to[-3] = from_rank;
  } else if (detail::is_fault_address(first[1])) {
    to[-3] = static_cast<detail::expression_word>(view.stride(0));
  }
  to = detail::put_view_of(to, from.positions, indices);
  *to = detail::operation_word(detail::opcode::take, detail::kind_of<element>());
  return made;
}

/// Reads the elements that `indices` choose along an axis: `out(.., k.., ..)` is `a(..,
/// indices(k..), ..)`. `out` has the axes of `a`, with those of the indices in place of the one.
/// As NumPy's `take`. **Cost**: one launch; that of `check_indices` for a check.
template <detail::viewable A, detail::viewable I, detail::viewable Out>
result<> take(const stream_ref& stream, A&& a, I&& indices, int axis, Out&& out,
              const gather_options& options = {},
              source_location where = source_location::current()) {
  constexpr const char* function = "gpu::take";
  constexpr int rank = detail::taken_rank<A, I>;
  using element = detail::value_of_view<A>;
  using index = detail::value_of_view<I>;
  detail::check_taken<index>();
  static_assert(std::same_as<detail::viewed_element_t<Out>, element>,
                "gpu::take: the elements of `out` have the type of those of `a`, not const");
  static_assert(detail::viewed_rank<Out> == rank,
                "gpu::take: `out` has the axes of `a`, with those of the indices in place of one");
  const array_view<const element, detail::viewed_rank<A>> view =
      detail::array_view_of(static_cast<A&&>(a));
  const array_view<const index, detail::viewed_rank<I>> chosen =
      detail::array_view_of(static_cast<I&&>(indices));
  const array_view<element, rank> to = detail::array_view_of(static_cast<Out&&>(out));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  GPU_TRY(detail::require_operand(function, stream, "the indices", chosen, indices, where));
  GPU_TRY(detail::require_operand(function, stream, "out", to, out, where));
  axis = GPU_TRY(detail::require_axis(function, axis, view.rank, where));
  const auto from = detail::replace_axis(view, chosen, axis);
  if (to.shape() != from.shape()) {
    return detail::refuse_shapes(function, "write the shape", detail::make_operand(from.positions),
                                 detail::make_operand(to), "Pass `out` with the first shape.",
                                 where);
  }
  GPU_TRY(detail::require_taken(function, stream, from, indices, options.check, where));
  return detail::take_elements(function, stream, out, to, from, where);
}

/// Makes an array of these elements. Otherwise as above.
template <detail::viewable A, detail::viewable I>
auto take(const stream_ref& stream, A&& a, I&& indices, int axis,
          const gather_options& options = {}, source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::taken_rank<A, I>>> {
  constexpr const char* function = "gpu::take";
  using element = detail::value_of_view<A>;
  using index = detail::value_of_view<I>;
  const array_view<const element, detail::viewed_rank<A>> view =
      detail::array_view_of(static_cast<A&&>(a));
  const array_view<const index, detail::viewed_rank<I>> chosen =
      detail::array_view_of(static_cast<I&&>(indices));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  GPU_TRY(detail::require_operand(function, stream, "the indices", chosen, indices, where));
  axis = GPU_TRY(detail::require_axis(function, axis, view.rank, where));
  auto made = GPU_TRY(
      (gpu::empty<element>(stream, detail::replace_axis(view, chosen, axis).shape(), where)));
  GPU_TRY(gpu::take(stream, a, indices, axis, made, options, where));
  return made;
}

/// Makes an array of the shape of `indices`, which count the elements of `a` in C order. As NumPy's
/// `take` without an axis. **Cost**: as above.
template <detail::viewable A, detail::viewable I>
auto take(const stream_ref& stream, A&& a, I&& indices, const gather_options& options = {},
          source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<I>>> {
  constexpr const char* function = "gpu::take";
  using index = detail::value_of_view<I>;
  detail::check_taken<index>();
  const array_view<const detail::value_of_view<A>, detail::viewed_rank<A>> view =
      detail::array_view_of(static_cast<A&&>(a));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  if constexpr (view.rank > 1) {
    if (!view.is_contiguous()) {
      const array_view<const index, detail::viewed_rank<I>> chosen =
          detail::array_view_of(static_cast<I&&>(indices));
      GPU_TRY(detail::require_operand(function, stream, "the indices", chosen, indices, where));
      return detail::take_flat(function, stream, view, chosen, indices, options.check, where);
    }
  }
  return gpu::take(stream, gpu::ravel(view), indices, 0, options, where);
}

/// Makes an array of elements that are chosen along an axis, with indices for each row of its own:
/// `out(i, k)` is `a(i, indices(i, k))` for axis 1. The shapes agree but for the axis; extents of 1
/// are repeated. As NumPy's `take_along_axis`. With the indices of `argsort` along the axis the
/// result is sorted. **Cost**: as for `take`.
template <detail::viewable A, detail::viewable I>
  requires(detail::viewed_rank<A> == detail::viewed_rank<I>)
auto take_along_axis(const stream_ref& stream, A&& a, I&& indices, int axis,
                     const gather_options& options = {},
                     source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::viewed_rank<A>>> {
  constexpr const char* function = "gpu::take_along_axis";
  constexpr int rank = detail::viewed_rank<A>;
  using element = detail::value_of_view<A>;
  using index = detail::value_of_view<I>;
  detail::check_taken<index>();
  const array_view<const element, rank> view = detail::array_view_of(static_cast<A&&>(a));
  const array_view<const index, rank> chosen = detail::array_view_of(static_cast<I&&>(indices));
  GPU_TRY(detail::require_operand(function, stream, "the operand", view, a, where));
  GPU_TRY(detail::require_operand(function, stream, "the indices", chosen, indices, where));
  axis = GPU_TRY(detail::require_axis(function, axis, rank, where));
  const auto from = GPU_TRY(detail::match_axis(function, view, chosen, axis, where));
  GPU_TRY(detail::require_taken(function, stream, from, indices, options.check, where));
  auto made = GPU_TRY((gpu::empty<element>(stream, from.shape(), where)));
  GPU_TRY(detail::take_elements(function, stream, made, made.view(), from, where));
  return made;
}

}}  // namespace gpu::v1
