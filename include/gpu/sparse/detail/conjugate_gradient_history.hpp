#pragma once
/// \file
/// `cg_history`: what the host knows of a solve by conjugate gradients, and its errors.

#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/written_number.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/sparse/detail/conjugate_gradient_kernels.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// Iterations after which the norms of their residuals are copied to the host.
inline constexpr std::size_t cg_interval = 8;
/// Numbers that the device keeps: the norms before each of these iterations and after the last, p A
/// p of each, and the square of the right-hand side's norm.
inline constexpr std::size_t cg_slots = cg_interval + 1;
inline constexpr std::size_t cg_numbers = 3 * cg_slots + 1;

/// The history of a solve, as the host knows it.
struct cg_history {
  cg_goal squares{};
  double goal = 0;
  cg_state state = cg_state::goes_on;
  double last_product = 0;
  sequence<double> residuals;

  /// Takes in the numbers of the iterations from `first` up to `last`.
  /// **Errors**: throws as operator new does.
  void take(const double* numbers, std::size_t first, std::size_t last) {
    const double scale = numbers[cg_numbers - 1];
    const double relative = squares.relative * scale;
    goal = __builtin_sqrt(ieee_number(squares.absolute) > relative ? squares.absolute : relative);
    const auto norms_of = [&](std::size_t k) {
      const double* const at = numbers + 2 * (k % cg_slots);
      return cg_norms{at[0], at[1]};
    };
    if (residuals.empty()) residuals.push_back(__builtin_sqrt(norms_of(first).rr));
    // Residuals whose squares are 0 would pass for solutions.
    constexpr double least_square = 2.2250738585072014e-308;
    if (ieee_number(scale) > 0 && ieee_number(scale) < least_square &&
        squares.absolute < least_square)
      state = cg_state::too_small;
    for (std::size_t k = first; k < last && state == cg_state::goes_on; ++k) {
      last_product = numbers[2 * cg_slots + k % cg_slots];
      state = judge(norms_of(k), last_product, scale, squares);
      if (state == cg_state::goes_on) residuals.push_back(__builtin_sqrt(norms_of(k + 1).rr));
    }
    // The last iterate can be judged without p A p, which is not computed for it.
    if (state == cg_state::goes_on && judge(norms_of(last), 1, scale, squares) != state)
      state = judge(norms_of(last), 1, scale, squares);
  }
};

/// Fails if the solve can never continue.
inline result<> require_no_breakdown(const char* function, const cg_history& history,
                                     source_location where) noexcept {
  if (history.state == cg_state::goes_on || history.state == cg_state::converged) return {};
  text_builder out;
  out << "after " << history.residuals.size() - 1 << " iterations ";
  switch (history.state) {
    case cg_state::not_finite:
      out << "the residual is not finite (" << history.residuals.back()
          << "). The matrix, the right-hand side or the guess has an infinity or NaN, or the "
             "numbers are too large for the type.";
      break;
    case cg_state::bad_preconditioner:
      out << "the residual times the preconditioned residual is not positive, so the "
             "preconditioner is not symmetric positive definite. Pass another one.";
      break;
    case cg_state::too_small:
      out << "the square of the norm of the right-hand side is below 2.2e-308, so residuals cannot "
             "be compared with it. Multiply the right-hand side and the guess by a power of two, "
             "and divide the solution by it.";
      break;
    default:
      out << "p A p is " << history.last_product
          << ", so the matrix is not positive definite. Conjugate gradients need a symmetric "
             "positive definite matrix; if yours is negative definite, solve -A x = -b.";
  }
  return fail(refusal(errc::not_converged, function, out.finish(), where));
}

inline unexpected<cuda_error> refuse_to_go_on(const char* function, const cg_history& history,
                                              std::size_t limit, source_location where) noexcept {
  text_builder out;
  out << "after " << history.residuals.size() - 1 << " iterations the norm of the residual is "
      << history.residuals.back() << ", but at most " << history.goal
      << " was asked for, and most_iterations is " << limit
      << ". Call run() again to go on, allow more iterations, raise the tolerance to what the type "
         "can reach, or use a better preconditioner.";
  return fail(refusal(errc::not_converged, function, out.finish(), where,
                      history.residuals.size() - 1, limit));
}

}}}  // namespace gpu::v1::detail
