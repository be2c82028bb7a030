#pragma once
/// \file
/// `cublas_handle`: products of matrices by cuBLAS, which is opened when the first handle is made.

#include <gpu/array/detail/cublaslt_product.hpp>
#include <gpu/array/detail/product_shape.hpp>
#include <gpu/array/detail/ranges.hpp>
#include <gpu/array/matmul.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/libraries/cublas_functions.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/library_handle.hpp>
#include <gpu/libraries/require_libcuda.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/system/library_table.hpp>

#include <cuda.h>
#include <concepts>
#include <cstdint>

namespace gpu { inline namespace v1 {

namespace detail {

/// The type of the factors of a product.
template <class T> struct cublas_scale {
  using type = T;
};
template <short_number T> struct cublas_scale<T> {
  using type = float;
};

}  // namespace detail

/// The factors of a product, `c = alpha * a * b + beta * c`, of type float for 16-bit elements.
template <class T> struct cublas_options {
  using scale = typename detail::cublas_scale<T>::type;
  scale alpha = scale(1);
  scale beta = scale(0);         ///< if it is 0, `c` is not read
  bool tensor_float_32 = false;  ///< round float operands to 11 bits, for tensor cores
};

/// Owns a handle of cuBLAS, bound to a stream. Move-only; empty after a move.
///
///     auto blas = GPU_TRY(gpu::cublas_handle::create(stream));
///     GPU_TRY(blas.matmul(a, gpu::transpose(b), c, {.alpha = 2, .beta = 1}));
///
/// `gpu::matmul` needs no handle, also multiplies what cuBLAS does not, and uses cuBLASLt itself.
/// `native()` is a `cublasHandle_t`, for all other functions of cuBLAS, which the program then
/// links itself.
/// **Threads**: one thread at a time uses a handle; make one for each thread.
class cublas_handle {
 public:
  /// Creates an empty object, to be assigned to.
  cublas_handle() noexcept = default;

  /// Creates a handle that works on `stream`, which has to outlive its use. The first call of the
  /// process opens cuBLAS: the file that GPU_CUBLAS names, or else that of the toolkit, of the
  /// system or of NVIDIA's Python wheels. Takes milliseconds and some device memory, so keep it.
  /// **Errors**: `errc::no_library` without cuBLAS, or on the CPU driver; `errc::library_too_old`;
  /// those of cuBLAS; `errc::empty_handle`. **Capture**: not allowed. (cublasCreate,
  /// cublasSetStream)
  static result<cublas_handle> create(const stream_ref& stream,
                                      source_location where = source_location::current()) noexcept {
    cublas_handle made;
    GPU_TRY(detail::create_handle<detail::cublas_library>(
        made.handle_, "gpu::cublas_handle::create", stream, where));
    return made;
  }

  /// Makes later calls work on another stream of the same context.
  /// **Errors**: `errc::empty_handle`; `errc::wrong_context`. (cublasSetStream)
  result<> set_stream(const stream_ref& stream,
                      source_location where = source_location::current()) noexcept {
    constexpr const char* function = "gpu::cublas_handle::set_stream";
    GPU_TRY(require_handle(function, where));
    GPU_TRY(detail::require(stream, function, where));
    if (stream.context() != handle_.get().stream.context()) {
      return detail::fail(detail::refusal(
          errc::wrong_context, function,
          text("the stream belongs to another context than the handle. Create a handle for that "
               "stream."),
          where));
    }
    GPU_TRY(detail::library_call<&detail::cublas_functions::set_stream>(
        where, native(), static_cast<void*>(stream.native())));
    handle_.reset({handle_.release().native, stream});
    return {};
  }

  /// Returns the stream that the calls work on.
  stream_ref stream() const noexcept { return handle_.get().stream; }
  /// Returns the `cublasHandle_t`.
  void* native() const noexcept { return handle_.get().native; }
  /// Gives the handle up; the caller destroys it.
  [[nodiscard]] void* release() noexcept { return handle_.release().native; }

  /// Writes `alpha * a * b + beta * c` to `c`: products of matrices of float, double, `__half`,
  /// `__nv_bfloat16`, or `std::complex` of float or double, which are arrays or views of at least
  /// two axes. The last two are the matrices, and the others a batch, whose shapes are repeated to
  /// one. In each matrix the elements of a row, or those of a column, have to be neighbors, in any
  /// of the three; nothing is copied. 16-bit elements are added in float.
  /// **Ordering**: queued on the handle's stream; does not wait. **Errors**: `errc::size_mismatch`
  /// with the shapes; `errc::invalid_argument` for strides that cuBLAS does not have, and if `c`
  /// overlaps an operand; `errc::wrong_context`; `errc::empty_handle`; those of cuBLAS.
  /// **Capture**: allowed. (cublasGemmStridedBatchedEx)
  template <detail::viewable A, detail::viewable B, detail::viewable C>
  result<> matmul(A&& a, B&& b, C&& c,
                  const cublas_options<detail::viewed_element_t<C>>& options = {},
                  source_location where = source_location::current()) {
    constexpr const char* function = "gpu::cublas_handle::matmul";
    using element = detail::viewed_element_t<C>;
    constexpr int rank = detail::viewed_rank<C>;
    detail::check_product<A, B>();
    static_assert(std::same_as<detail::value_of_view<A>, element>,
                  "gpu::cublas_handle::matmul: the elements of `c` have the type of the operands");
    static_assert(detail::viewed_rank<A> >= 2 && detail::viewed_rank<B> >= 2,
                  "gpu::cublas_handle::matmul: operands have at least two axes");
    static_assert(detail::product_rank<A, B> == rank,
                  "gpu::cublas_handle::matmul: `c` has another number of axes than the product");
    static_assert(detail::is_blas_type<element>,
                  "gpu::cublas_handle::matmul: the elements are float, double, __half, "
                  "__nv_bfloat16, or std::complex of float or double");
    const array_view<const element, detail::viewed_rank<A>> left =
        detail::array_view_of(static_cast<A&&>(a));
    const array_view<const element, detail::viewed_rank<B>> right =
        detail::array_view_of(static_cast<B&&>(b));
    const array_view<element, rank> to = detail::array_view_of(static_cast<C&&>(c));
    GPU_TRY(require_handle(function, where));
    GPU_TRY(detail::require_operand(function, stream(), "the first operand", left, a, where));
    GPU_TRY(detail::require_operand(function, stream(), "the second operand", right, b, where));
    GPU_TRY(detail::require_operand(function, stream(), "c", to, c, where));
    const shape<rank> extents = GPU_TRY((detail::shape_of_product<rank>(left, right, where)));
    GPU_TRY(detail::require_product_memory(function, extents, "c", left, right, to, where));
    if (to.size() == 0) return {};
    detail::blas_type type = detail::blas_type_of<element>();
    constexpr int in_float = 68, in_tensor_float_32 = 77;
    if (options.tensor_float_32 && type.compute == in_float) type.compute = in_tensor_float_32;
    return multiply(type, detail::product_shape_of(left, right, to), left.native(), right.native(),
                    to.native(), &options.alpha, &options.beta, where);
  }

 private:
  result<> require_handle(const char* function, source_location where) const noexcept {
    if (handle_) return {};
    return detail::refuse_empty_handle(function, "cublas_handle", where);
  }

  result<> multiply(const detail::blas_type& type, const detail::product_shape& s, CUdeviceptr a,
                    CUdeviceptr b, CUdeviceptr c, const void* alpha, const void* beta,
                    source_location where) noexcept {
    detail::blas_product p{};
    if (!detail::to_blas(static_cast<std::uintptr_t>(a), static_cast<std::uintptr_t>(b),
                         static_cast<std::uintptr_t>(c), s, p)) {
      return detail::fail(detail::refusal(
          errc::invalid_argument, "gpu::cublas_handle::matmul",
          text("cuBLAS does not take these strides: in each matrix the elements of a row, or those "
               "of a column, have to be neighbors in memory, rows and columns must not overlap, "
               "and a batch needs one stride. Copy the view to an array, or call gpu::matmul."),
          where));
    }
    constexpr int default_algorithm = -1;
    return driver::in_context(stream().context().native(), where, [&] {
      return detail::library_call<&detail::cublas_functions::multiply>(
          where, native(), int{p.a.transposed}, int{p.b.transposed}, std::int64_t{p.m},
          std::int64_t{p.n}, std::int64_t{p.k}, alpha, reinterpret_cast<const void*>(p.a.address),
          type.element, std::int64_t{p.a.leading}, p.a.batch,
          reinterpret_cast<const void*>(p.b.address), type.element, std::int64_t{p.b.leading},
          p.b.batch, beta, reinterpret_cast<void*>(p.c.address), type.element,
          std::int64_t{p.c.leading}, p.c.batch, std::int64_t{p.count}, type.compute,
          default_algorithm);
    });
  }

  detail::library_handle<detail::cublas_library> handle_;
};

/// Returns whether there is a cuBLAS that this program can use. Opens it on first use.
inline bool has_cublas() noexcept {
  return detail::require_libcuda<detail::cublas_library>("gpu::has_cublas", {}).has_value() &&
         detail::library_table<detail::cublas_library>().create != nullptr;
}

}}  // namespace gpu::v1
