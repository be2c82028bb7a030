#pragma once
/// \file
/// `random_distribution`: which distribution numbers have, its parameters, and their checks.

#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/written_number.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/random/detail/random_element.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

enum class random_kind : unsigned char {
  bits,
  uniform,
  uniform_from,
  integers,
  normal,
  log_normal,
  exponential,
  bernoulli,
  discrete,
  on_sphere,
  poisson,
  binomial,
  gamma,
  beta,
};

/// A distribution with its parameters; what they mean depends on the kind.
struct random_distribution {
  random_kind kind;
  ieee_number a = {}, b = {}, c = {};
  std::uint64_t first = 0;   ///< the least of `integers`
  std::uint64_t count = 0;   ///< how many `integers`, 0 for 2^64; weights; axes of points
  copy_end sums = {};        ///< of weights
  bool has_means = false;    ///< `poisson` has a mean for each element
  bool empty_range = false;  ///< of `integers`: `b` is less than `a`
  element_type mean_type = {};
  loop_operand means = {};
};

/// Describes a kind, in C++ and in device code.
struct random_recipe {
  const char* function;  ///< for messages
  const char* kernel;
  bool draws_until_accepted;  ///< takes a sequence of its own for each element
  bool in_pairs;              ///< two elements are made of twice as many words
  /// The value in device code. `words` is the engine, `own` one for methods that draw until
  /// accepted, `z` a normal number, `real` is float or double.
  const char* value;
};

inline constexpr random_recipe random_recipes[] = {
    {"gpu::random_bits", "gpu_random_bits", false, false, ""},
    {"gpu::uniform", "gpu_uniform", false, false,
     "gpu::random::uniform_above<real>(words, (real)a, (real)b, (real)c)"},
    {"gpu::uniform_from", "gpu_uniform_from", false, false,
     "gpu::random::uniform_below<real>(words, (real)a, (real)b, (real)c)"},
    {"gpu::uniform_integers", "gpu_uniform_integers", false, false,
     "gpu::random::integer_from(words, own, least, count)"},
    {"gpu::normal", "gpu_normal", false, true,
     "gpu::random::of<real>::multiply_add((real)b, z, (real)a)"},
    {"gpu::log_normal", "gpu_log_normal", false, true,
     "gpu::random::of<real>::exp_of(gpu::random::of<real>::multiply_add((real)b, z, (real)a))"},
    {"gpu::exponential", "gpu_exponential", false, false, "gpu::exponential<real>(words, (real)a)"},
    {"gpu::bernoulli", "gpu_bernoulli", false, false, "gpu::bernoulli(words, a)"},
    {"gpu::discrete", "gpu_discrete", false, false, "gpu::discrete(words, sums, count)"},
    {"gpu::on_sphere", "gpu_on_sphere", false, false,
     "gpu::random::on_sphere<real>(words, at % count, count)"},
    {"gpu::poisson", "gpu_poisson", true, false, "gpu::poisson(own, a)"},
    {"gpu::binomial", "gpu_binomial", true, false, "gpu::binomial(own, a, b)"},
    {"gpu::gamma", "gpu_gamma", true, false, "gpu::gamma<real>(own, a, b)"},
    {"gpu::beta", "gpu_beta", true, false, "gpu::beta<real>(own, a, b)"},
};
constexpr const random_recipe& recipe_of(random_kind kind) noexcept {
  return random_recipes[static_cast<int>(kind)];
}

/// Returns an `errc::invalid_argument` with a sentence that is made of parts.
template <class... Parts>
unexpected<cuda_error> refuse_random(const random_distribution& d, source_location where,
                                     const Parts&... parts) noexcept {
  text_builder out;
  (out << ... << parts);
  return fail(refusal(errc::invalid_argument, recipe_of(d.kind).function, out.finish(), where));
}

/// Returns an end of the range of `integers`, all digits of which its double need not have.
inline text write_end(ieee_number rounded, std::uint64_t bits) noexcept {
  text_builder out;
  if (rounded < 0) {
    out << static_cast<std::int64_t>(bits);
  } else {
    out << bits;
  }
  return out.finish();
}

/// Fails if values of this distribution may not fit in the elements.
inline result<> require_fit(const random_distribution& d, const random_element& element,
                            ieee_number least, ieee_number most, source_location where) noexcept {
  if (!element.is_integer || (least >= element.least && most <= element.most)) return {};
  return refuse_random(d, where, "values from ", least, " to ", most,
                       " occur, but the elements hold those from ", element.least, " to ",
                       element.most, ". Use elements of more bits.");
}

/// Fails if the elements cannot tell the ends of a range apart, or not hold its width.
inline result<> require_range(const random_distribution& d, const random_element& element,
                              source_location where) noexcept {
  const ieee_number low = element.nearest(d.a), high = element.nearest(d.b);
  if (!(low < high)) {
    return refuse_random(d, where, "low is ", d.a, " and high is ", d.b, ", but the elements hold ",
                         low,
                         " for both. Pass numbers farther apart, or use elements of more bits.");
  }
  // Numbers of 16 bits are computed as float.
  const ieee_number width = ieee_number(high.value() - low.value())
                                .rounded_to(element.is_double() ? float64_format : float32_format);
  if (is_finite(low) && is_finite(high) && is_finite(width)) return {};
  return refuse_random(
      d, where, "low is ", d.a, " and high is ", d.b, ", but the elements hold numbers up to ",
      element.largest(), ", and the distance must be at most ",
      element.is_short() ? 3.4028235e38 : element.largest(), ". Use elements of more bits.");
}

/// Fails if a distribution does not exist for its parameters.
inline result<> check_distribution(const random_distribution& d, const random_element& element,
                                   source_location where) noexcept {
  switch (d.kind) {
    case random_kind::bits: return {};
    case random_kind::uniform:
    case random_kind::uniform_from:
      if (d.a < d.b && is_finite(d.b.value() - d.a.value()))
        return require_range(d, element, where);
      return refuse_random(d, where, "low is ", d.a, " and high is ", d.b,
                           ", but low must be less than high, and both must be finite.");
    case random_kind::integers:
      if (d.empty_range) {
        return refuse_random(d, where, "low is ", write_end(d.a, d.first), " and high is ",
                             write_end(d.b, d.first + d.count - 1),
                             ", but low must not be greater than high. Exchange them.");
      }
      return require_fit(d, element, d.a, d.b, where);
    case random_kind::normal:
    case random_kind::log_normal:
      if (is_finite(d.a) && d.b >= 0 && is_finite(d.b)) return {};
      return refuse_random(d, where, "the mean is ", d.a, " and the standard deviation ", d.b,
                           ", but both must be finite, and the standard deviation at least 0.");
    case random_kind::exponential:
      if (d.a > 0 && is_finite(d.a)) return {};
      return refuse_random(d, where, "the scale is ", d.a,
                           ", but must be greater than 0 and finite.");
    case random_kind::bernoulli:
      if (d.a >= 0 && d.a <= 1) return {};
      return refuse_random(d, where, "the probability is ", d.a, ", but must be from 0 to 1.");
    case random_kind::discrete:
      return require_fit(d, element, 0, static_cast<double>(d.count) - 1, where);
    case random_kind::on_sphere: return {};
    case random_kind::poisson: {
      if (d.has_means) return {};
      if (!(d.a >= 0 && d.a <= 1e15))
        return refuse_random(d, where, "the mean is ", d.a, ", but must be from 0 to 1e15.");
      // Beyond this a number occurs less often than once in 10^30.
      return require_fit(d, element, 0, d.a.value() + 12 * __builtin_sqrt(d.a.value()) + 30, where);
    }
    case random_kind::binomial:
      if (!(d.a >= 0 && d.a <= 1e15) || __builtin_floor(d.a.value()) != d.a ||
          !(d.b >= 0 && d.b <= 1)) {
        return refuse_random(d, where, d.a, " trials with the probability ", d.b,
                             ": there can be from 0 to 1e15 trials, with a probability from 0 to "
                             "1.");
      }
      return require_fit(d, element, 0, d.a, where);
    case random_kind::gamma:
      if (d.a > 0 && d.b > 0 && is_finite(d.a) && is_finite(d.b)) return {};
      return refuse_random(d, where, "the shape is ", d.a, " and the scale ", d.b,
                           ", but both must be greater than 0 and finite.");
    case random_kind::beta:
      if (d.a > 0 && d.b > 0 && is_finite(d.a) && is_finite(d.b)) return {};
      return refuse_random(d, where, "the parameters are ", d.a, " and ", d.b,
                           ", but both must be greater than 0 and finite.");
  }
  return {};
}

}}}  // namespace gpu::v1::detail
