#pragma once
/// \file
/// `tril` and `triu` keep the part of a matrix below or above a diagonal.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/array_view.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T> struct triangle_family;

/// Writes the statement that keeps the elements on one side of a diagonal. Indices that fit are
/// computed in 32 bits, in which a division takes a fraction of the time.
template <class T> text triangle_text(bool wide, bool upper) {
  const char* const index = wide ? "long long" : "unsigned";
  text_builder out;
  out << "using element = " << element_type_of<T>().name << ";\nconst " << index << " at = ("
      << index << ")i, row = at / (" << index
      << ")columns;\nconst long long right = (long long)(at - row * (" << index
      << ")columns) - (long long)(row % (" << index << ")rows);\nout[i] = right "
      << (upper ? ">=" : "<=") << " diagonal ? x[i] : element{}";
  return out.finish();
}

template <class A>
auto keep_triangle(const char* function, const stream_ref& stream, A&& a, std::ptrdiff_t diagonal,
                   bool upper, source_location where)
    -> result<array<value_of_view<A>, viewed_rank<A>>> {
  constexpr int rank = viewed_rank<A>;
  static_assert(rank >= 2, "a triangle is one of a matrix: pass a view of at least two axes");
  using element = value_of_view<A>;
  const array_view<const element, rank> view = array_view_of(static_cast<A&&>(a));
  GPU_TRY(require_operand(function, stream, "the operand", view, a, where));
  auto made = GPU_TRY((gpu::empty<element>(stream, view.shape(), where)));
  const loop_operand out = operand_of(made.view(), made), x = make_operand(view);
  auto rows = static_cast<long long>(view.extent(rank - 2));
  auto columns = static_cast<long long>(view.extent(rank - 1));
  long long offset = diagonal;
  const loop_argument arguments[] = {
      {&out, nullptr}, {&x, nullptr}, {nullptr, &rows}, {nullptr, &columns}, {nullptr, &offset}};
  const bool wide = view.size() > 0xffff'ffff;
  GPU_TRY((run_shared<triangle_family<element>, element*, const element*, long long, long long,
                      long long>(
      {function,
       upper ? "gpu_triu" : "gpu_tril",
       "out, x, rows, columns, diagonal",
       {upper ? "upper" : "lower", wide}},
      stream, where, [&] { return triangle_text<element>(wide, upper); }, arguments)));
  return made;
}

}  // namespace detail

/// Makes a copy of a matrix with zeros above a diagonal, number `diagonal` above the main one. Of
/// more than two axes the last two are those of matrices. As NumPy's `tril`.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**: the reason of a
/// faulty view; `errc::wrong_context`; `errc::empty_handle`; CUDA_ERROR_OUT_OF_MEMORY. **Cost**:
/// one launch. **Capture**: allowed; the memory then belongs to the graph.
template <detail::viewable A>
auto tril(const stream_ref& stream, A&& a, std::ptrdiff_t diagonal = 0,
          source_location where = source_location::current()) {
  return detail::keep_triangle("gpu::tril", stream, static_cast<A&&>(a), diagonal, false, where);
}

/// Makes a copy of a matrix with zeros below a diagonal. As NumPy's `triu`. Otherwise as `tril`.
template <detail::viewable A>
auto triu(const stream_ref& stream, A&& a, std::ptrdiff_t diagonal = 0,
          source_location where = source_location::current()) {
  return detail::keep_triangle("gpu::triu", stream, static_cast<A&&>(a), diagonal, true, where);
}

}}  // namespace gpu::v1
