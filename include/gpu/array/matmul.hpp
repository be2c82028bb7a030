#pragma once
/// \file
/// `matmul`: products of matrices, of batches of them, and of matrices with vectors.

#include <gpu/algorithm/dot.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>  // IWYU pragma: keep
#include <gpu/array/detail/along_axis.hpp>
#include <gpu/array/detail/cublaslt_product.hpp>
#include <gpu/array/detail/matmul_kernel.hpp>
#include <gpu/array/detail/product_shape.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/evaluate.hpp>  // IWYU pragma: keep
#include <gpu/array/view_axes.hpp>
#include <gpu/array/view_shape.hpp>  // IWYU pragma: keep
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>

namespace gpu { inline namespace v1 {

/// The choices of `matmul`.
struct matmul_options {
  /// Use the library's own kernel, whose results have the same bits on every device, also where
  /// cuBLASLt is faster.
  bool same_bits = false;
};

namespace detail {

/// The number of axes of a product.
constexpr int rank_of_product(int left, int right) noexcept {
  if (left == 1 || right == 1) return left + right - 2;
  return left > right ? left : right;
}

inline unexpected<cuda_error> refuse_product(const loop_operand& a, const loop_operand& b,
                                             source_location where) noexcept {
  return refuse_shapes("gpu::matmul", "multiply", a, b,
                       "Pass a second operand that has as many rows as the first has columns.",
                       where);
}

/// Returns the strides of a matrix and its batch of `Rank` axes; those that are repeated are 0.
template <class T, int Rank>
product_matrix product_matrix_of(const array_view<T, Rank>& view) noexcept {
  product_matrix made = {view.stride(Rank - 2), view.stride(Rank - 1), {}};
  for (int axis = 0; axis < Rank - 2; ++axis)
    made.batch[most_batch_axes - (Rank - 2) + axis] =
        view.extent(axis) == 1 ? 0 : view.stride(axis);
  return made;
}

/// Returns the shape of a product of two views of at least two axes.
template <int Rank, class T, int Left, int Right>
result<shape<Rank>> shape_of_product(const array_view<const T, Left>& a,
                                     const array_view<const T, Right>& b,
                                     source_location where) noexcept {
  if (a.extent(Left - 1) != b.extent(Right - 2))
    return refuse_product(make_operand(a), make_operand(b), where);
  shape<Rank> extents =
      GPU_TRY((common_shape<Rank>("gpu::matmul", "multiply the batches", a, b, 2, where)));
  extents[Rank - 2] = a.extent(Left - 2);
  extents[Rank - 1] = b.extent(Right - 1);
  return extents;
}

/// Returns the extents and strides of a product of two views of at least two axes.
template <class T, int Left, int Right, int Rank>
product_shape product_shape_of(const array_view<const T, Left>& a,
                               const array_view<const T, Right>& b,
                               const array_view<T, Rank>& c) noexcept {
  static_assert(Rank - 2 <= most_batch_axes, "gpu::matmul: operands have at most 8 axes");
  product_shape s = {static_cast<long long>(c.extent(Rank - 2)),
                     static_cast<long long>(c.extent(Rank - 1)),
                     static_cast<long long>(a.extent(Left - 1)),
                     {1, 1, 1, 1, 1, 1},
                     product_matrix_of(a),
                     product_matrix_of(b),
                     product_matrix_of(c)};
  for (int axis = 0; axis < Rank - 2; ++axis)
    s.batch[most_batch_axes - (Rank - 2) + axis] = static_cast<long long>(c.extent(axis));
  return s;
}

/// Fails if the memory for a product has another shape, or overlaps an operand.
template <int Rank, class T, int Left, int Right>
result<> require_product_memory(const char* function, const shape<Rank>& extents, const char* name,
                                const array_view<const T, Left>& left,
                                const array_view<const T, Right>& right,
                                const array_view<T, Rank>& to, source_location where) noexcept {
  const loop_operand written = make_operand(to);
  if (to.shape() != extents) {
    text_builder words;
    words << "the product has the shape ";
    write_shape(words, extents);
    words << ", but " << name << " has ";
    write_shape(words, written);
    words << ". Pass memory of the shape of the product.";
    return fail(refusal(errc::size_mismatch, function, words.finish(), where));
  }
  const std::size_t bytes = sizeof(T);
  if (!shares_within(written, bytes) && !overlap(written, bytes, make_operand(left), bytes) &&
      !overlap(written, bytes, make_operand(right), bytes)) {
    return {};
  }
  text_builder words;
  words << name
        << " overlaps an operand or itself in memory, so elements would be overwritten before they "
           "are read. Pass memory that does not overlap.";
  return fail(refusal(errc::invalid_argument, function, words.finish(), where));
}

/// Multiplies views of at least two axes.
template <class T, int Left, int Right, int Rank>
result<> multiply_matrices(const stream_ref& stream, const array_view<const T, Left>& a,
                           const array_view<const T, Right>& b, const array_view<T, Rank>& c,
                           [[maybe_unused]] const matmul_options& options, source_location where) {
  if (c.size() == 0) return {};
  const product_shape s = product_shape_of(a, b, c);
  if constexpr (is_blas_type<T>) {
    if (!options.same_bits &&
        try_cublaslt(stream, blas_type_of<T>(), a.native(), b.native(), c.native(), s)) {
      return {};
    }
  }
  return run_product<T>("gpu::matmul", stream, a.native(), b.native(), c.native(), s, where);
}

/// Multiplies two operands, of which one may be a vector, into memory that is apart from both.
template <class T, int Left, int Right, int Rank>
result<> multiply_views(const stream_ref& stream, const array_view<const T, Left>& a,
                        const array_view<const T, Right>& b, const array_view<T, Rank>& c,
                        const matmul_options& options, source_location where) {
  if constexpr (Left >= 2 && Right >= 2) {
    return multiply_matrices(stream, a, b, c, options, where);
  } else if constexpr (std::same_as<T, bool>) {  // sums of products are not those of `dot`
    if constexpr (Left == 1 && Right == 1) {
      return multiply_matrices(stream, gpu::expand_dims(a, 0), gpu::expand_dims(b, 1),
                               gpu::expand_dims(gpu::expand_dims(c, 0), 0), options, where);
    } else if constexpr (Left == 1) {
      return multiply_matrices(stream, gpu::expand_dims(a, 0), b, gpu::expand_dims(c, -2), options,
                               where);
    } else {
      return multiply_matrices(stream, a, gpu::expand_dims(b, 1), gpu::expand_dims(c, -1), options,
                               where);
    }
  } else if (c.size() == 0) {
    return {};
  } else if (a.extent(Left - 1) == 0) {
    return gpu::assign(stream, c, T(0), where);
  } else if (make_operand(gpu::reshape(c, -1)).fault) {  // not evenly spaced
    auto made = GPU_TRY((gpu::empty<T>(stream, c.shape(), where)));
    GPU_TRY(multiply_views<T>(stream, a, b, made.view(), options, where));
    return gpu::assign(stream, c, made, where);
  } else if constexpr (Right == 1) {
    return gpu::dot(stream, a, gpu::broadcast_to(b, a.shape()), gpu::reshape(c, -1), where);
  } else {
    const auto rows = gpu::swap_axes(b, -1, -2);
    return gpu::dot(stream, gpu::broadcast_to(a, rows.shape()), rows, gpu::reshape(c, -1), where);
  }
}

/// Returns the shape of a product of operands of at least one axis.
template <int Rank, class T, int Left, int Right>
result<shape<Rank>> shape_of_operands(const array_view<const T, Left>& a,
                                      const array_view<const T, Right>& b,
                                      source_location where) noexcept {
  if constexpr (Left >= 2 && Right >= 2) {
    return shape_of_product<Rank>(a, b, where);
  } else {
    constexpr int contracted = Right == 1 ? 0 : Right - 2;
    if (a.extent(Left - 1) != b.extent(contracted))
      return refuse_product(make_operand(a), make_operand(b), where);
    shape<Rank> extents;
    int next = 0;
    for (int axis = 0; axis < Left - 1; ++axis) extents[next++] = a.extent(axis);
    for (int axis = 0; axis < Right; ++axis) {
      if (axis != contracted) extents[next++] = b.extent(axis);
    }
    return extents;
  }
}

template <class A, class B>
inline constexpr int product_rank = rank_of_product(viewed_rank<A>, viewed_rank<B>);

// `auto` lets the compiler say this before what follows from it.
template <class A, class B> constexpr auto check_product() noexcept {
  static_assert(viewed_rank<A> > 0 && viewed_rank<B> > 0,
                "gpu::matmul: operands have at least one axis; multiply by a number elementwise");
  static_assert(std::same_as<value_of_view<A>, value_of_view<B>>,
                "gpu::matmul: both operands have elements of one type; convert one with "
                "gpu::assign");
  static_assert(number<value_of_view<A>>,
                "gpu::matmul: the elements are bool, integers, float, double, __half, "
                "__nv_bfloat16, or std::complex of float or double");
}

}  // namespace detail

/// Writes the matrix product of `a` and `b` to `out`. As NumPy's `matmul`: of operands with more
/// than two axes the last two are matrices, and the others a batch, whose shapes are repeated to
/// one; a vector on the left is a row, and one on the right a column, and that axis is not in the
/// result. Operands are arrays or views with any strides, such as transposed ones; elements have
/// one type.
///
/// Large products of fractional numbers are computed by cuBLASLt, if it is installed, the program
/// runs on libcuda and the strides suit it; else, and with `{.same_bits = true}`, by a kernel of
/// the library's own, which adds products in the order of their index, with fused multiplications
/// and additions, and whose results have the same bits on every device. With both, the error of an
/// element is at most `k * u / (1 - k * u)` times the sum of the absolute values of its `k`
/// products, where `u` is 2^-24 for float and 2^-53 for double, twice that for complex numbers.
/// Numbers of 16 bits are added in float and rounded once; the tensor cores that cuBLASLt uses for
/// them cut off where float rounds, so there `u` is 2^-22. Integers wrap around, and products of
/// `bool` are combined by "or". A vector is multiplied as by `dot`.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**:
/// `errc::size_mismatch` with the shapes; `errc::invalid_argument` if `out` overlaps an operand;
/// the reason of a faulty view; `errc::wrong_context`; `errc::empty_handle`. **Cost**: one launch.
/// The kernel, which uses no tensor cores, is compiled by the first call with these types; the
/// first large product opens cuBLASLt, which takes a part of a second. A vector times a batch into
/// memory that is not evenly spaced takes a temporary array. **Capture**: allowed, but not with a
/// temporary array.
template <detail::viewable A, detail::viewable B, detail::viewable Out>
result<> matmul(const stream_ref& stream, A&& a, B&& b, Out&& out,
                const matmul_options& options = {},
                source_location where = source_location::current()) {
  constexpr const char* function = "gpu::matmul";
  constexpr int rank = detail::product_rank<A, B>;
  using element = detail::value_of_view<A>;
  detail::check_product<A, B>();
  static_assert(std::same_as<detail::viewed_element_t<Out>, element>,
                "gpu::matmul: the elements of `out` have the type of the operands, not const");
  static_assert(detail::viewed_rank<Out> == rank,
                "gpu::matmul: `out` has another number of axes than the product");
  const array_view<const element, detail::viewed_rank<A>> left =
      detail::array_view_of(static_cast<A&&>(a));
  const array_view<const element, detail::viewed_rank<B>> right =
      detail::array_view_of(static_cast<B&&>(b));
  const array_view<element, rank> to = detail::array_view_of(static_cast<Out&&>(out));
  GPU_TRY(detail::require_operand(function, stream, "the first operand", left, a, where));
  GPU_TRY(detail::require_operand(function, stream, "the second operand", right, b, where));
  GPU_TRY(detail::require_operand(function, stream, "out", to, out, where));
  const shape<rank> extents = GPU_TRY((detail::shape_of_operands<rank>(left, right, where)));
  GPU_TRY(detail::require_product_memory(function, extents, "out", left, right, to, where));
  return detail::multiply_views<element>(stream, left, right, to, options, where);
}

/// Makes an array of the matrix product of `a` and `b`. **Errors**: also CUDA_ERROR_OUT_OF_MEMORY.
/// **Capture**: allowed; the memory then belongs to the graph.
template <detail::viewable A, detail::viewable B>
auto matmul(const stream_ref& stream, A&& a, B&& b, const matmul_options& options = {},
            source_location where = source_location::current())
    -> result<array<detail::value_of_view<A>, detail::product_rank<A, B>>> {
  constexpr const char* function = "gpu::matmul";
  constexpr int rank = detail::product_rank<A, B>;
  using element = detail::value_of_view<A>;
  detail::check_product<A, B>();
  const array_view<const element, detail::viewed_rank<A>> left =
      detail::array_view_of(static_cast<A&&>(a));
  const array_view<const element, detail::viewed_rank<B>> right =
      detail::array_view_of(static_cast<B&&>(b));
  GPU_TRY(detail::require_operand(function, stream, "the first operand", left, a, where));
  GPU_TRY(detail::require_operand(function, stream, "the second operand", right, b, where));
  auto made = GPU_TRY((gpu::empty<element>(
      stream, GPU_TRY((detail::shape_of_operands<rank>(left, right, where))), where)));
  GPU_TRY(detail::multiply_views<element>(stream, left, right, made.view(), options, where));
  return made;
}

}}  // namespace gpu::v1
