#pragma once
/// \file
/// `linear_operator`: what conjugate gradients need of a matrix; `identity_operator` and
/// `diagonal_operator`, for example as preconditioners.

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/algorithm/reduction.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// The rows and columns of a matrix or of another linear operator.
struct operator_shape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  friend constexpr bool operator==(const operator_shape&, const operator_shape&) noexcept = default;
};

/// A linear operator: `value_type` is the type of its elements, `shape()` its rows and columns, and
/// `apply(stream, x, y)` stores its product with the vector `x` in `y`, after the work queued on
/// the stream and without waiting for it. A class of your own is one if it has these three:
///
///     struct second_difference {
///       using value_type = float;
///       gpu::operator_shape shape() const { return {n, n}; }
///       gpu::result<> apply(gpu::stream_ref stream, gpu::device_span<const float> x,
///                           gpu::device_span<float> y) const {
///         return kernel(stream, x, y);
///       }
///       ...
///     };
template <class A>
concept linear_operator =
    requires(const A& a, stream_ref stream, device_span<const typename A::value_type> x,
             device_span<typename A::value_type> y) {
      requires std::same_as<decltype(a.shape()), operator_shape>;
      requires std::same_as<decltype(a.apply(stream, x, y)), result<>>;
    };

namespace detail {

/// Applies an operator; passes the place of the call on, if it takes one.
template <linear_operator A>
result<> apply_operator(const A& a, const stream_ref& stream,
                        device_span<const typename A::value_type> x,
                        device_span<typename A::value_type> y, source_location where) {
  if constexpr (requires { a.apply(stream, x, y, where); }) {
    return a.apply(stream, x, y, where);
  } else {
    static_cast<void>(where);
    return a.apply(stream, x, y);
  }
}

/// Checks the vectors of y = A x.
inline result<> require_vectors(const char* function, const stream_ref& stream,
                                const operator_shape& shape, const named_elements& x,
                                const named_elements& y, source_location where) noexcept {
  GPU_TRY(require(stream, function, where));
  GPU_TRY(require_usable(function, stream, x, where));
  GPU_TRY(require_usable(function, stream, y, where));
  const auto require_size = [&](const named_elements& vector, std::size_t size,
                                const char* side) -> result<> {
    if (vector.count() == size) return {};
    detail::text_builder out;
    out << vector.name << " has " << vector.count() << " elements, but the matrix has " << size
        << ' ' << side << " (it is " << shape.rows << " x " << shape.columns
        << "). Pass a vector with an element for each of its " << side << '.';
    return fail(refusal(errc::size_mismatch, function, out.finish(), where, vector.count(), size));
  };
  GPU_TRY(require_size(x, shape.columns, "columns"));
  return require_size(y, shape.rows, "rows");
}

}  // namespace detail

/// The operator that leaves vectors as they are: y = x.
template <class T> class identity_operator {
 public:
  using value_type = T;

  explicit constexpr identity_operator(std::size_t size) noexcept : size_{size} {}
  constexpr operator_shape shape() const noexcept { return {size_, size_}; }

  /// Copies `x` to `y`.
  /// **Ordering**: after the work queued on the stream; does not wait.
  /// **Errors**: `errc::size_mismatch`; those of `copy`. **Capture**: allowed. **Threads**: any.
  result<> apply(const stream_ref& stream, device_span<const T> x, device_span<T> y,
                 source_location where = source_location::current()) const {
    GPU_TRY(detail::require_vectors("gpu::identity_operator::apply", stream, shape(),
                                    detail::name_elements("x", x), detail::name_elements("y", y),
                                    where));
    if (x.native() == y.native()) return {};
    return copy(stream, x, y, where);
  }

 private:
  std::size_t size_;
};

/// The operator that multiplies each element with a number: y[i] = diagonal[i] * x[i]. Move-only;
/// empty after a move. Owns its diagonal, in device memory that is freed in the order of the stream
/// on which it was made. **Threads**: any number may apply one object.
template <class T> class diagonal_operator {
 public:
  /// Creates an empty object, to be assigned to.
  diagonal_operator() noexcept = default;

  using value_type = T;

  /// Copies the diagonal, a device range.
  /// **Ordering**: after the work queued on the stream; does not wait.
  /// **Errors**: `errc::empty_handle`, `errc::wrong_context`, CUDA_ERROR_OUT_OF_MEMORY, and those
  /// of `compile`. **Capture**: not allowed.
  template <device_range Diagonal>
  static result<diagonal_operator> create(const stream_ref& stream, Diagonal&& diagonal,
                                          source_location where = source_location::current()) {
    return make(stream, device_span<const T>(device_span_of(diagonal)), "y[i] = x[i]", where);
  }

  /// Makes the operator that divides by a diagonal, such as that of a matrix
  /// (`csr_matrix::diagonal`): the Jacobi preconditioner.
  /// **Ordering**: after the work queued on the stream; waits for the check.
  /// **Errors**: also `errc::invalid_argument` with the first row whose element is 0.
  template <device_range Diagonal>
  static result<diagonal_operator> inverse_of(const stream_ref& stream, Diagonal&& diagonal,
                                              source_location where = source_location::current()) {
    const device_span<const T> divisors(device_span_of(diagonal));
    auto find_zero = GPU_TRY((reduction<long long, const T*>::create(
        {.parameters = "x",
         .map = "x[i] == gpu_value_of(0) ? i : n",
         .reduce = "min(a, b)",
         .neutral = 0x7fff'ffff'ffff'ffff,
         .options = {.name = "gpu_find_zero", .preamble = value_type_text()}},
        where)));
    const long long zero = GPU_TRY(find_zero({stream, where}, divisors));
    if (static_cast<std::size_t>(zero) < divisors.size()) {
      detail::text_builder out;
      out << "element " << static_cast<std::size_t>(zero)
          << " of the diagonal is 0, so the operator has no inverse. Pass a diagonal without "
             "zeros; a positive definite matrix has none.";
      return detail::fail(detail::refusal(errc::invalid_argument,
                                          "gpu::diagonal_operator::inverse_of", out.finish(), where,
                                          static_cast<std::uint64_t>(zero)));
    }
    return make(stream, divisors, "y[i] = gpu_value_of(1) / x[i]", where);
  }

  operator_shape shape() const noexcept { return {diagonal_.size(), diagonal_.size()}; }
  /// Returns the numbers that elements are multiplied with.
  device_span<const T> diagonal() const& noexcept { return diagonal_.span(); }
  void diagonal() const&& = delete;  // a span must not outlive the owner

  /// Stores the products in `y`, which may be `x`.
  /// **Ordering**: after the work queued on the stream; does not wait.
  /// **Errors**: `errc::size_mismatch`, `errc::wrong_context`, `errc::empty_handle`, and
  /// `errc::invalid_argument` for vectors that overlap otherwise. **Capture**: allowed.
  result<> apply(const stream_ref& stream, device_span<const T> x, device_span<T> y,
                 source_location where = source_location::current()) const {
    if (!multiply_) {
      return detail::fail(
          detail::empty_handle_error("gpu::diagonal_operator::apply", "diagonal_operator", where));
    }
    GPU_TRY(detail::require_vectors("gpu::diagonal_operator::apply", stream, shape(),
                                    detail::name_elements("x", x), detail::name_elements("y", y),
                                    where));
    return multiply_({stream, where}, diagonal_, x, y);
  }

 private:
  diagonal_operator(device_buffer<T> diagonal,
                    elementwise<const T*, const T*, T*> multiply) noexcept
      : diagonal_{std::move(diagonal)}, multiply_{std::move(multiply)} {}

  /// Defines `gpu_value_of`, which makes a number of the operator's type.
  static text value_type_text() {
    detail::text_builder out;
    out << "inline " << detail::element_type_of<T>().name << " gpu_value_of(int number) { return "
        << detail::element_type_of<T>().name << "(number); }";
    return detail::required(out.finish());
  }

  static result<diagonal_operator> make(const stream_ref& stream, device_span<const T> from,
                                        const char* operation, source_location where) {
    auto multiply = GPU_TRY((elementwise<const T*, const T*, T*>::create(
        "diagonal, x, y", "y[i] = diagonal[i] * x[i]", {.name = "gpu_diagonal"}, where)));
    auto prepare = GPU_TRY((elementwise<const T*, T*>::create(
        "x, y", operation, {.name = "gpu_make_diagonal", .preamble = value_type_text()}, where)));
    auto diagonal = GPU_TRY(device_buffer<T>::create(stream, from.size(), where));
    GPU_TRY(prepare({stream, where}, from, diagonal));
    return diagonal_operator(std::move(diagonal), std::move(multiply));
  }

  device_buffer<T> diagonal_;
  elementwise<const T*, const T*, T*> multiply_;
};

}}  // namespace gpu::v1
