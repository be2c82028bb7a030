#pragma once
/// \file
/// The kernels of conjugate gradients, and what the device keeps of each iteration.

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/algorithm/reduction.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/generated/snippet.hpp>

#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

/// The inner products that an iteration starts from: the residual r times the preconditioned
/// residual z, and r times itself.
struct cg_norms {
  double rz, rr;
};

/// When an iteration is the last: if the square of the residual is at most `absolute`, or
/// `relative` times the square of the right-hand side. Both are squares.
struct cg_goal {
  double absolute, relative;
};

}  // namespace detail

template <> struct device_name<detail::cg_norms> {
  static constexpr const char* value = "gpu_cg_norms";
  static constexpr const char* definition = "struct gpu_cg_norms { double rz, rr; };";
};
template <> struct device_name<detail::cg_goal> {
  static constexpr const char* value = "gpu_cg_goal";
  static constexpr const char* definition = "struct gpu_cg_goal { double absolute, relative; };";
};

namespace detail {

/// Device code that decides whether to iterate further. If not, iterations that are queued change
/// nothing, so the result does not depend on when the host reads the numbers. NaN ends the solve.
/// `judge` is the same decision on the host.
inline constexpr char cg_preamble[] = R"(
template <class Norms, class Goal>
inline bool gpu_goes_on(const Norms& norms, double pq, double scale, const Goal& goal) {
  const double most = 1.7976931348623157e308;
  const double limit = max(goal.absolute, goal.relative * scale);
  return norms.rr > limit && norms.rr <= most && norms.rz > 0 && norms.rz <= most && pq > 0 &&
         pq <= most;
}
)";

enum class cg_state : unsigned char {
  goes_on,
  converged,
  not_finite,
  bad_preconditioner,  ///< r z is not positive
  bad_matrix,          ///< p A p is not positive
  too_small,           ///< the square of the right-hand side's norm is
};

/// Returns what becomes of an iteration, as the device decides it.
inline cg_state judge(const cg_norms& norms, ieee_number pq, double scale,
                      const cg_goal& goal) noexcept {
  constexpr double most = 1.7976931348623157e308;
  const ieee_number relative = goal.relative * scale, absolute = goal.absolute;
  const ieee_number limit = absolute > relative ? absolute : relative;
  const ieee_number rr = norms.rr, rz = norms.rz;
  if (!(rr <= most)) return cg_state::not_finite;
  if (rr <= limit) return cg_state::converged;
  if (!(rz <= most && pq <= most)) return cg_state::not_finite;
  if (!(rz > 0)) return cg_state::bad_preconditioner;
  return pq > 0 ? cg_state::goes_on : cg_state::bad_matrix;
}

/// The kernels for vectors of `T`. Inner products are summed in double and are real: p A p and r z
/// are, if matrix and preconditioner are Hermitian.
template <class T> struct cg_kernels {
  using norms_source = raw<const cg_norms*>;
  using number_source = raw<const double*>;

  reduction<double, const T*> square;               ///< of the right-hand side; 0 if it is 0
  reduction<double, const T*, const T*> product;    ///< of p and q = A p
  reduction<cg_norms, const T*, const T*> norms;    ///< of r and z
  elementwise<const T*, T*> start;                  ///< r = b - A x
  elementwise<norms_source, double*> choose_scale;  ///< the first residual's if b is 0
  elementwise<norms_source, number_source, number_source, cg_goal, const T*, const T*, T*, T*>
      advance;  ///< x += a p, r -= a q
  elementwise<norms_source, norms_source, number_source, number_source, cg_goal, const T*, T*>
      turn;  ///< p = z + b p

  static result<cg_kernels> create(source_location where) {
    constexpr string_ref name = element_type_of<T>().name;
    const bool is_complex = starts_with(name, "gpu::complex");
    // The least double makes the sum of squares that are too small for one greater than 0.
    auto square = GPU_TRY((reduction<double, const T*>::create(
        {.parameters = "b",
         .map = is_complex
                    ? "double(b[i].re) * b[i].re + double(b[i].im) * b[i].im + (b[i].re == 0 "
                      "&& b[i].im == 0 ? 0 : 4.9406564584124654e-324)"
                    : "double(b[i]) * b[i] + (b[i] == 0 ? 0 : 4.9406564584124654e-324)",
         .reduce = "a + b",
         .neutral = 0.0,
         .options = {.name = "gpu_cg_square"}},
        where)));
    auto product = GPU_TRY((reduction<double, const T*, const T*>::create(
        {.parameters = "p, q",
         .map = is_complex ? "double(p[i].re) * q[i].re + double(p[i].im) * q[i].im"
                           : "double(p[i]) * q[i]",
         .reduce = "a + b",
         .neutral = 0.0,
         .options = {.name = "gpu_cg_product"}},
        where)));
    auto norms = GPU_TRY((reduction<cg_norms, const T*, const T*>::create(
        {.parameters = "r, z",
         .map = is_complex ? "gpu_cg_norms{double(r[i].re) * z[i].re + double(r[i].im) * z[i].im, "
                             "double(r[i].re) * r[i].re + double(r[i].im) * r[i].im}"
                           : "gpu_cg_norms{double(r[i]) * z[i], double(r[i]) * r[i]}",
         .reduce = "gpu_cg_norms{a.rz + b.rz, a.rr + b.rr}",
         .neutral = {0, 0},
         .options = {.name = "gpu_cg_norms_of"}},
        where)));
    auto start = GPU_TRY((elementwise<const T*, T*>::create("b, r", "r[i] = b[i] - r[i]",
                                                            {.name = "gpu_cg_start"}, where)));
    auto choose_scale = GPU_TRY((elementwise<norms_source, double*>::create(
        "norms, scale", "if (scale[i] == 0) scale[i] = norms->rr", {.name = "gpu_cg_scale"},
        where)));
    text_builder factor;
    factor << "const bool goes_on = gpu_goes_on(*norms, *pq, *scale, goal); const " << name
           << " factor = " << name << "("
           << (is_complex ? name.substring(13, name.size() - 14) : name)
           << "(goes_on ? norms->rz / *pq : 0.0));";
    auto advance = GPU_TRY((decltype(cg_kernels::advance)::create(
        "norms, pq, scale, goal, p, q, x, r",
        "if (goes_on) { x[i] = x[i] + factor * p[i]; r[i] = r[i] - factor * q[i]; }",
        {.name = "gpu_cg_advance", .preamble = cg_preamble, .before = required(factor.finish())},
        where)));
    factor << "const bool goes_on = gpu_goes_on(*norms, *pq, *scale, goal); const " << name
           << " factor = " << name << "("
           << (is_complex ? name.substring(13, name.size() - 14) : name)
           << "(goes_on ? next->rz / norms->rz : 0.0));";
    auto turn = GPU_TRY((decltype(cg_kernels::turn)::create(
        "norms, next, pq, scale, goal, z, p", "if (goes_on) p[i] = z[i] + factor * p[i]",
        {.name = "gpu_cg_turn", .preamble = cg_preamble, .before = required(factor.finish())},
        where)));
    return cg_kernels{std::move(square), std::move(product),      std::move(norms),
                      std::move(start),  std::move(choose_scale), std::move(advance),
                      std::move(turn)};
  }
};

}  // namespace detail
}}  // namespace gpu::v1
