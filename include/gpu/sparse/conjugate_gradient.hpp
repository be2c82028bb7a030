#pragma once
/// \file
/// `conjugate_gradient`: solves linear systems with a symmetric positive definite matrix.

#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/located.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/arriving_values.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/sparse/detail/conjugate_gradient_history.hpp>
#include <gpu/sparse/detail/conjugate_gradient_kernels.hpp>
#include <gpu/sparse/linear_operator.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// When a solve has converged, and when it is given up.
struct conjugate_gradient_options {
  /// The norm of the residual, relative to that of the right-hand side, that is small enough; if
  /// the right-hand side is 0, relative to that of the first residual.
  double relative_tolerance = 1e-6;
  double absolute_tolerance = 0;       ///< a norm of the residual that is small enough, too
  std::size_t most_iterations = 1000;  ///< of one `run`
};

/// The progress of a solve.
struct conjugate_gradient_progress {
  std::size_t iterations = 0;  ///< since `reset`
  double residual = 0;         ///< the norm of b - A x, as the iteration has it
  double goal = 0;             ///< the norm at which the solve has converged
  bool converged = false;
};

/// Solves A x = b by conjugate gradients, for a symmetric (or Hermitian) positive definite linear
/// operator `A` and a preconditioner `M` of the same kind, which approximates the inverse of A:
///
///     auto solver = GPU_TRY((gpu::conjugate_gradient<gpu::csr_matrix<float>>::create(stream,
///     matrix))); GPU_TRY(solver.reset(b, x, {.relative_tolerance = 1e-5}));  // x is the guess
///     auto done = GPU_TRY(solver.run());                          // x is the solution
///     std::printf("%zu iterations, residual %g\n", done.iterations, done.residual);
///
/// All numbers of an iteration stay on the device. The host queues iterations, and looks at
/// residuals of earlier ones meanwhile. An iteration after the one that converged changes nothing,
/// so that the solution has the same bits in every run. Move-only; empty after a move. The
/// destructor waits for what is queued. **Threads**: one at a time.
template <linear_operator A, linear_operator M = identity_operator<typename A::value_type>>
class conjugate_gradient {
 public:
  /// Creates an empty object, to be assigned to.
  conjugate_gradient() noexcept = default;

  using value_type = typename A::value_type;
  static_assert(std::same_as<typename M::value_type, value_type>,
                "gpu::conjugate_gradient: the preconditioner has elements of another type");

  /// Makes the state of solves with a matrix and a preconditioner, which must live as long.
  /// **Ordering**: all work is queued on `stream`, which must live as long, too.
  /// **Errors**: `errc::invalid_argument` for a matrix that is not square; `errc::size_mismatch`
  /// for a preconditioner of another shape; CUDA_ERROR_OUT_OF_MEMORY; those of `compile`.
  /// **Cost**: memory for three vectors, or four with a preconditioner. **Capture**: not allowed.
  static result<conjugate_gradient> create(const stream_ref& stream, const A& matrix,
                                           const M& preconditioner,
                                           source_location where = source_location::current()) {
    return make(stream, matrix, preconditioner, where);
  }
  static result<conjugate_gradient> create(const stream_ref& stream, const A& matrix,
                                           source_location where = source_location::current())
    requires std::same_as<M, identity_operator<value_type>>
  {
    return make(stream, matrix, M(matrix.shape().rows), where);
  }
  static void create(const stream_ref&, const A&&, const M&) = delete;  // would be gone
  static void create(const stream_ref&, const A&, const M&&) = delete;
  static void create(const stream_ref&, const A&&) = delete;

  /// Starts a solve: `b` is the right-hand side, `x` the guess, which becomes the solution.
  /// **Ordering**: queued; does not wait. `b` is read before the first iteration, `x` must live as
  /// long as the solve. If a later call fails for another reason than `errc::not_converged`, the
  /// solve has to be started again. **Errors**: `errc::size_mismatch`; `errc::invalid_argument` for
  /// tolerances that are negative or not finite and for vectors that overlap;
  /// `errc::wrong_context`; `errc::empty_handle`.
  template <device_range B, device_range X>
  result<> reset(B&& b, X&& x, const conjugate_gradient_options& options = {},
                 source_location where = source_location::current()) {
    static_assert(std::same_as<std::remove_const_t<detail::element_t<B>>, value_type> &&
                      std::same_as<detail::element_t<X>, value_type>,
                  "gpu::conjugate_gradient: the vectors are of another type than the matrix, or "
                  "`x` is const");
    return begin(detail::name_elements("b", b), detail::name_elements("x", x), options, where);
  }

  /// Queues one iteration; does not wait, but every 16th time at most for earlier iterations.
  /// **Errors**: `errc::invalid_argument` before `reset`; those of the operators.
  result<> one_iteration(source_location where = source_location::current()) {
    GPU_TRY(require_reset("gpu::conjugate_gradient::one_iteration", where));
    return queue_iteration(where);
  }

  /// Waits for the queued iterations and returns the progress.
  /// **Errors**: `errc::not_converged` if the solve cannot continue: the matrix or the
  /// preconditioner is not positive definite, a number is not finite, or the right-hand side is so
  /// small that the square of its norm is not a normal double; `errc::invalid_argument` before
  /// `reset`.
  result<conjugate_gradient_progress> progress(source_location where = source_location::current()) {
    constexpr const char* function = "gpu::conjugate_gradient::progress";
    GPU_TRY(require_reset(function, where));
    GPU_TRY(collect_all(where));
    GPU_TRY(detail::require_no_breakdown(function, history_, where));
    return known_progress();
  }

  /// Iterates until the residual is small enough. After an error `x` has the last iterate, and
  /// `run` may be called again to continue.
  /// **Ordering**: waits for the end. **Errors**: `errc::not_converged` with the residual that was
  /// reached, after `most_iterations` or as for `progress`.
  result<conjugate_gradient_progress> run(source_location where = source_location::current()) {
    constexpr const char* function = "gpu::conjugate_gradient::run";
    GPU_TRY(require_reset(function, where));
    GPU_TRY(collect_all(where));
    for (std::size_t k = 0;
         k < options_.most_iterations && history_.state == detail::cg_state::goes_on; ++k) {
      GPU_TRY(queue_iteration(where));
    }
    GPU_TRY(collect_all(where));
    GPU_TRY(detail::require_no_breakdown(function, history_, where));
    const conjugate_gradient_progress reached = known_progress();
    if (reached.converged) return reached;
    return detail::refuse_to_go_on(function, history_, options_.most_iterations, where);
  }

  /// Returns the norms of the residuals that have reached the host: of the guess, and after each
  /// iteration. All of them, after `run` and `progress`.
  const sequence<double>& residuals() const noexcept { return history_.residuals; }

 private:
  using T = value_type;
  using vector = device_buffer<T>;
  static constexpr bool has_preconditioner = !std::same_as<M, identity_operator<T>>;

  /// Numbers on their way to the host, of the iterations from `first` up to `last`.
  struct report {
    detail::arriving_values<double> numbers;
    std::size_t first = 0, last = 0;
  };

  conjugate_gradient(const stream_ref& stream, const A* matrix, const M* preconditioner,
                     detail::cg_kernels<T> kernels, vector r, vector p, vector q, vector z,
                     device_buffer<double> numbers, detail::arriving_values<double> a,
                     detail::arriving_values<double> b) noexcept
      : stream_{stream},
        matrix_{matrix},
        preconditioner_{preconditioner},
        kernels_{std::move(kernels)},
        r_{std::move(r)},
        p_{std::move(p)},
        q_{std::move(q)},
        z_{std::move(z)},
        numbers_{std::move(numbers)},
        reports_{{std::move(a)}, {std::move(b)}} {}

  static result<conjugate_gradient> make(const stream_ref& stream, const A& matrix,
                                         const M& preconditioner, source_location where) {
    constexpr const char* function = "gpu::conjugate_gradient::create";
    GPU_TRY(detail::require(stream, function, where));
    const operator_shape shape = matrix.shape(), other = preconditioner.shape();
    if (shape.rows != shape.columns) {
      detail::text_builder out;
      out << "the matrix is " << shape.rows << " x " << shape.columns
          << ". Conjugate gradients need a square matrix; for least squares, pass an operator that "
             "multiplies with A and then with its transpose.";
      return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where));
    }
    if (!(other == shape)) {
      detail::text_builder out;
      out << "the preconditioner is " << other.rows << " x " << other.columns
          << ", but the matrix is " << shape.rows << " x " << shape.columns
          << ". Pass a preconditioner of the same shape.";
      return detail::fail(detail::refusal(errc::size_mismatch, function, out.finish(), where));
    }
    const std::size_t n = shape.rows;
    auto kernels = GPU_TRY(detail::cg_kernels<T>::create(where));
    auto r = GPU_TRY(vector::create(stream, n, where));
    auto p = GPU_TRY(vector::create(stream, n, where));
    auto q = GPU_TRY(vector::create(stream, n, where));
    auto z = GPU_TRY(vector::create(stream, has_preconditioner ? n : 0, where));
    auto numbers = GPU_TRY(device_buffer<double>::create(stream, detail::cg_numbers, where));
    using report_numbers = detail::arriving_values<double>;
    auto a = GPU_TRY(report_numbers::create(stream, detail::cg_numbers, where));
    auto b = GPU_TRY(report_numbers::create(stream, detail::cg_numbers, where));
    return conjugate_gradient(stream, &matrix, has_preconditioner ? &preconditioner : nullptr,
                              std::move(kernels), std::move(r), std::move(p), std::move(q),
                              std::move(z), std::move(numbers), std::move(a), std::move(b));
  }

  conjugate_gradient_progress known_progress() const noexcept {
    const sequence<double>& all = history_.residuals;
    if (all.empty()) return {};
    return {all.size() - 1, all.back(), history_.goal,
            history_.state == detail::cg_state::converged};
  }

  result<> require_reset(const char* function, source_location where) const {
    if (!kernels_.product) {
      return detail::fail(detail::empty_handle_error(function, "conjugate_gradient", where));
    }
    if (started_) return {};
    return detail::fail(detail::refusal(
        errc::invalid_argument, function,
        text("no solve was started. Call reset(b, x) with the right-hand side and a guess."),
        where));
  }

  device_span<detail::cg_norms> norms_of(std::size_t iteration) const noexcept {
    const std::size_t at = iteration % detail::cg_slots * sizeof(detail::cg_norms);
    return device_span<detail::cg_norms>::from_native(numbers_.native() + at, 1);
  }
  device_span<double> number(std::size_t index) const noexcept {
    return device_span<double>::from_native(numbers_.native() + index * sizeof(double), 1);
  }
  device_span<double> product_of(std::size_t iteration) const noexcept {
    return number(2 * detail::cg_slots + iteration % detail::cg_slots);
  }
  device_span<double> scale() const noexcept { return number(detail::cg_numbers - 1); }

  /// Applies the preconditioner to the residual; returns z.
  result<device_span<const T>> precondition(source_location where) {
    const device_span<const T> residual = r_.span();
    if constexpr (has_preconditioner) {
      GPU_TRY(detail::apply_operator(*preconditioner_, stream_, residual, z_.span(), where));
      return device_span<const T>(z_.span());
    } else {
      static_cast<void>(where);
      return residual;
    }
  }

  result<> begin(const detail::named_elements& b, const detail::named_elements& x,
                 const conjugate_gradient_options& options, source_location where) {
    constexpr const char* function = "gpu::conjugate_gradient::reset";
    if (!kernels_.product) {
      return detail::fail(detail::empty_handle_error(function, "conjugate_gradient", where));
    }
    GPU_TRY(detail::require_vectors(function, stream_, matrix_->shape(), x, b, where));
    GPU_TRY(detail::require_disjoint(function, b, x, where));
    GPU_TRY(require_tolerance(function, "relative_tolerance", options.relative_tolerance, where));
    GPU_TRY(require_tolerance(function, "absolute_tolerance", options.absolute_tolerance, where));
    for (report& each : reports_) {
      if (each.numbers.is_pending()) GPU_TRY(each.numbers.wait(where));
    }
    started_ = false;
    options_ = options;
    queued_ = sent_ = sends_ = 0;
    history_ = {};
    history_.squares = {options.absolute_tolerance * options.absolute_tolerance,
                        options.relative_tolerance * options.relative_tolerance};
    x_ = device_span<T>::from_native(x.memory.device_address(), x.count());
    const auto right = device_span<const T>::from_native(b.memory.device_address(), b.count());
    // Copies to the host include numbers that are not computed yet, so all are set.
    GPU_TRY(fill(stream_, as_writable_bytes(numbers_.span()), std::byte{0}, where));
    if (r_.size() != 0) {
      GPU_TRY(
          detail::apply_operator(*matrix_, stream_, device_span<const T>(x_), r_.span(), where));
      GPU_TRY(kernels_.start({stream_, where}, right, r_));
      GPU_TRY(kernels_.square.into({stream_, where}, scale(), right));
      const device_span<const T> z = GPU_TRY(precondition(where));
      GPU_TRY(kernels_.norms.into({stream_, where}, norms_of(0), r_, z));
      GPU_TRY(kernels_.choose_scale({stream_, where}, norms_of(0), scale()));
      GPU_TRY(copy(stream_, z, p_, where));
    }
    started_ = true;
    return {};
  }

  static result<> require_tolerance(const char* function, const char* name, double value,
                                    source_location where) {
    const detail::ieee_number number = value;
    if (number >= 0 && number <= 1e150) return {};
    detail::text_builder out;
    out << name << " is " << value << ", but must be a number from 0 to 1e150.";
    return detail::fail(detail::refusal(errc::invalid_argument, function, out.finish(), where));
  }

  /// If this fails, the solve is over: parts of an iteration may have been queued.
  result<> queue_iteration(source_location where) {
    result<> queued = queue_parts(where);
    if (!queued.has_value()) started_ = false;
    return queued;
  }

  result<> queue_parts(source_location where) {
    const located<stream_ref> on{stream_, where};
    const std::size_t k = queued_;
    if (r_.size() != 0) {
      GPU_TRY(detail::apply_operator(*matrix_, stream_, device_span<const T>(p_.span()), q_.span(),
                                     where));
      GPU_TRY(kernels_.product.into(on, product_of(k), p_, q_));
      GPU_TRY(kernels_.advance(on, norms_of(k), product_of(k), scale(), history_.squares, p_, q_,
                               x_, r_));
      const device_span<const T> z = GPU_TRY(precondition(where));
      GPU_TRY(kernels_.norms.into(on, norms_of(k + 1), r_, z));
      GPU_TRY(kernels_.turn(on, norms_of(k), norms_of(k + 1), product_of(k), scale(),
                            history_.squares, z, p_));
    }
    ++queued_;
    return queued_ - sent_ == detail::cg_interval ? send(where) : result<>{};
  }

  /// Queues the copy of the numbers that were not sent yet, and takes in those sent before.
  result<> send(source_location where) {
    report& own = reports_[sends_ % 2];
    if (own.numbers.is_pending()) GPU_TRY(collect(own, where));
    GPU_TRY(own.numbers.start(stream_, numbers_.span(), where));
    own.first = sent_;
    own.last = queued_;
    sent_ = queued_;
    ++sends_;
    return {};
  }

  result<> collect(report& from, source_location where) {
    started_ = false;  // should this fail: the history would lack what it says
    GPU_TRY(from.numbers.wait(where));
    GPU_TRY(detail::catch_bad_alloc("gpu::conjugate_gradient", where, [&]() -> result<> {
      history_.take(from.numbers.data(), from.first, from.last);
      return {};
    }));
    started_ = true;
    return {};
  }

  result<> collect_all(source_location where) {
    if (queued_ != sent_ || sends_ == 0) GPU_TRY(send(where));
    for (std::size_t k = 0; k < 2; ++k) {
      report& next = reports_[(sends_ + k) % 2];  // the earlier one first
      if (next.numbers.is_pending()) GPU_TRY(collect(next, where));
    }
    return {};
  }

  stream_ref stream_;
  const A* matrix_ = nullptr;
  const M* preconditioner_ = nullptr;  ///< null for the identity
  detail::cg_kernels<T> kernels_;
  vector r_, p_, q_, z_;
  device_buffer<double> numbers_;
  report reports_[2];
  device_span<T> x_;
  conjugate_gradient_options options_;
  std::size_t queued_ = 0;  ///< iterations
  std::size_t sent_ = 0;    ///< iterations whose numbers are copied, or being copied, to the host
  std::size_t sends_ = 0;
  bool started_ = false;
  detail::cg_history history_;
};

/// Solves A x = b by conjugate gradients, with or without a preconditioner. `x` is the guess, and
/// becomes the solution. For several solves with one matrix, keep a `conjugate_gradient`.
/// **Ordering**: after the work queued on the stream; waits for the end.
/// **Errors**: those of `conjugate_gradient`.
template <linear_operator A, linear_operator M, device_range B, device_range X>
result<conjugate_gradient_progress> solve(const stream_ref& stream, const A& matrix,
                                          const M& preconditioner, B&& b, X&& x,
                                          const conjugate_gradient_options& options = {},
                                          source_location where = source_location::current()) {
  auto solver = GPU_TRY((conjugate_gradient<A, M>::create(stream, matrix, preconditioner, where)));
  GPU_TRY(solver.reset(b, x, options, where));
  return solver.run(where);
}
template <linear_operator A, device_range B, device_range X>
result<conjugate_gradient_progress> solve(const stream_ref& stream, const A& matrix, B&& b, X&& x,
                                          const conjugate_gradient_options& options = {},
                                          source_location where = source_location::current()) {
  auto solver = GPU_TRY(conjugate_gradient<A>::create(stream, matrix, where));
  GPU_TRY(solver.reset(b, x, options, where));
  return solver.run(where);
}

}}  // namespace gpu::v1
