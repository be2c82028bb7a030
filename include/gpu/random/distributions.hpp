#pragma once
/// \file
/// Distributions of random numbers: `random_bits`, `uniform`, `normal`, `poisson` and others.
///
///     gpu::philox engine(42);
///     auto x = GPU_TRY(gpu::evaluate(stream, gpu::normal<float>(engine, gpu::shape{3, 4})));
///     GPU_TRY(gpu::assign(stream, x, gpu::uniform<float>(engine, x.shape())));
///
/// Each function reserves numbers of the engine, whose offset goes up, and returns them as a value
/// that `assign` and `evaluate` compute. Nothing is checked before: parameters that the
/// distribution cannot have are errors of these. Elements are computed in double if they are
/// doubles, else in float, and then converted.

#include <gpu/array/view_axes.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random/detail/random_distribution.hpp>
#include <gpu/random/engines.hpp>
#include <gpu/random/random_numbers.hpp>
#include <gpu/random/random_operand.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T>
concept random_real = detail::standard_float<T> || short_number<T>;

template <class T, random_kind Kind, class Engine, int Rank>
auto make_random(Engine& engine, const shape<Rank>& extents, double a, double b) noexcept {
  static_assert(random_real<T>,
                "this distribution has real numbers: float, double, __half or "
                "__nv_bfloat16");
  return make_numbers<T, Kind>(engine, extents, {.kind = Kind, .a = a, .b = b});
}

}  // namespace detail

/// Integers all of whose bits are random. Those of up to 32 bits are the lowest of one number of
/// the engine, those of 64 bits two numbers, low half first.
template <class T, detail::random_engine Engine, int Rank>
  requires(detail::word_integer<T> && !std::same_as<T, bool>)
auto random_bits(Engine& engine, const shape<Rank>& extents) noexcept {
  if constexpr (detail::is_quasi_random<Engine>) {
    static_assert(8 * sizeof(T) == Engine::bits,
                  "gpu::random_bits: sobol32 has numbers of 32 bits, sobol64 of 64");
  }
  return detail::make_numbers<T, detail::random_kind::bits>(engine, extents,
                                                            {.kind = detail::random_kind::bits});
}

/// Uniform numbers in (low, high]. From 0 to 1 they have the bits of cuRAND's: float has 32 random
/// bits before it is rounded, double 53, and 16-bit numbers as many as they hold.
template <class T, detail::random_engine Engine, int Rank>
auto uniform(Engine& engine, const shape<Rank>& extents, double low = 0, double high = 1) noexcept {
  return detail::make_random<T, detail::random_kind::uniform>(engine, extents, low, high);
}

/// Uniform numbers in [low, high), in steps of 2^-24 of the range for float, of 2^-53 for double.
template <class T, detail::random_engine Engine, int Rank>
auto uniform_from(Engine& engine, const shape<Rank>& extents, double low = 0,
                  double high = 1) noexcept {
  return detail::make_random<T, detail::random_kind::uniform_from>(engine, extents, low, high);
}

/// Integers from `low` to `high`, both of which occur. All are exactly equally likely.
template <class T, detail::independent_engine Engine, int Rank>
  requires(detail::word_integer<T> && !std::same_as<T, bool>)
auto uniform_integers(Engine& engine, const shape<Rank>& extents, T low, T high) noexcept {
  detail::random_distribution d{.kind = detail::random_kind::integers};
  d.a = static_cast<double>(low);
  d.b = static_cast<double>(high);
  d.first = static_cast<std::uint64_t>(low);
  d.count = static_cast<std::uint64_t>(high) - d.first + 1;
  d.empty_range = high < low;
  return detail::make_numbers<T, detail::random_kind::integers>(engine, extents, d);
}

/// Normal numbers, by Box and Muller's transform of pairs. The error of floats is at most 2.5e-6
/// standard deviations against the exact transform of the same bits.
template <class T, detail::random_engine Engine, int Rank>
auto normal(Engine& engine, const shape<Rank>& extents, double mean = 0,
            double standard_deviation = 1) noexcept {
  return detail::make_random<T, detail::random_kind::normal>(engine, extents, mean,
                                                             standard_deviation);
}

/// Numbers whose logarithms are normal, with this mean and standard deviation of the logarithms.
template <class T, detail::random_engine Engine, int Rank>
auto log_normal(Engine& engine, const shape<Rank>& extents, double mean = 0,
                double standard_deviation = 1) noexcept {
  return detail::make_random<T, detail::random_kind::log_normal>(engine, extents, mean,
                                                                 standard_deviation);
}

/// Exponential numbers with the mean `scale`.
template <class T, detail::random_engine Engine, int Rank>
auto exponential(Engine& engine, const shape<Rank>& extents, double scale = 1) noexcept {
  return detail::make_random<T, detail::random_kind::exponential>(engine, extents, scale, 0);
}

/// Gamma distributed numbers with the mean `shape_parameter * scale`.
template <class T, detail::independent_engine Engine, int Rank>
auto gamma(Engine& engine, const shape<Rank>& extents, double shape_parameter,
           double scale = 1) noexcept {
  return detail::make_random<T, detail::random_kind::gamma>(engine, extents, shape_parameter,
                                                            scale);
}

/// Beta distributed numbers with the mean `a / (a + b)`.
template <class T, detail::independent_engine Engine, int Rank>
auto beta(Engine& engine, const shape<Rank>& extents, double a, double b) noexcept {
  return detail::make_random<T, detail::random_kind::beta>(engine, extents, a, b);
}

/// Numbers that are 1, or true, with this probability, else 0.
template <class T = bool, detail::random_engine Engine, int Rank>
auto bernoulli(Engine& engine, const shape<Rank>& extents, double probability = 0.5) noexcept {
  return detail::make_numbers<T, detail::random_kind::bernoulli>(
      engine, extents, {.kind = detail::random_kind::bernoulli, .a = probability});
}

/// The number of successes in `trials` trials, each with this probability. Exact for all
/// parameters.
template <class T, detail::independent_engine Engine, int Rank>
auto binomial(Engine& engine, const shape<Rank>& extents, std::uint64_t trials,
              double probability) noexcept {
  return detail::make_numbers<T, detail::random_kind::binomial>(
      engine, extents,
      {.kind = detail::random_kind::binomial, .a = static_cast<double>(trials), .b = probability});
}

/// Poisson distributed numbers of this mean, up to 10^15. Below 64 they are the inverse of the
/// distribution function, whose error is less than 10^-14; from there on the method is exact.
template <class T, detail::random_engine Engine, int Rank>
auto poisson(Engine& engine, const shape<Rank>& extents, double mean) noexcept {
  return detail::make_numbers<T, detail::random_kind::poisson>(
      engine, extents, {.kind = detail::random_kind::poisson, .a = mean});
}

/// Poisson distributed numbers, each of its own mean. The means must live until the numbers are
/// computed. They are not checked: those that are negative or not finite, and with a Sobol engine
/// those above 10^15, give NaN, as integers 0.
template <class T, detail::random_engine Engine, detail::viewable Means>
auto poisson(Engine& engine, Means&& means) noexcept {
  using mean = std::remove_cv_t<detail::viewed_element_t<Means>>;
  static_assert(detail::number<mean> && !detail::complex_number<mean>,
                "gpu::poisson: the means are numbers");
  const auto view = detail::array_view_of(static_cast<Means&&>(means));
  detail::random_distribution d{.kind = detail::random_kind::poisson, .has_means = true};
  d.mean_type = detail::element_type_of<mean>();
  d.means = detail::operand_of(view, means);
  return detail::random_access::make<T>(engine, view.shape(), d);
}

/// Points on the sphere: each row of the shape, along its last axis, is one of length 1, uniformly
/// distributed over the sphere in as many dimensions.
template <class T, detail::independent_engine Engine, int Rank>
auto on_sphere(Engine& engine, const shape<Rank>& extents) noexcept {
  static_assert(std::same_as<Engine, philox> || detail::counts_on_device<Engine>,
                "gpu::on_sphere: coordinates of one point are made in several threads, which only "
                "Philox can; take a gpu::philox");
  static_assert(Rank > 0, "gpu::on_sphere: a point has its coordinates along the last axis");
  static_assert(detail::random_real<T>, "gpu::on_sphere: coordinates are real numbers");
  return detail::make_numbers<T, detail::random_kind::on_sphere>(
      engine, extents, {.kind = detail::random_kind::on_sphere, .count = extents[Rank - 1]});
}

}}  // namespace gpu::v1
