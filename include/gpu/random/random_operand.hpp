#pragma once
/// \file
/// `random_operand`: random numbers that may be an operand of an expression.

#include <gpu/array/expression.hpp>
#include <gpu/array/leaf.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random/detail/random_distribution.hpp>
#include <gpu/random/detail/random_leaf.hpp>
#include <gpu/random/detail/random_request.hpp>
#include <gpu/random/engines.hpp>
#include <gpu/random/random_numbers.hpp>

#include <concepts>

namespace gpu { inline namespace v1 {

/// Random numbers that may also be an operand of an expression, in whose kernel they are made:
///
///     gpu::evaluate(stream, x + 0.1f * gpu::normal<float>(engine, x.shape()))
///
/// All distributions of integers, bool, float and double return it for a `philox`, a `sobol32` or a
/// `sobol64`, but Poisson's with a mean for each element. The numbers are those that `assign` would
/// write. Two operands of one expression take two engines, `engine.split(k)`, because C++ does not
/// say which of them is made first. A Sobol engine, and the weights of `discrete`, must live until
/// the expression is evaluated.
template <class T, int Rank, detail::random_kind Kind, class Engine>
class random_operand : public random_numbers<T, Rank, Engine> {
 public:
  explicit random_operand(const random_numbers<T, Rank, Engine>& numbers) noexcept
      : random_numbers<T, Rank, Engine>{numbers} {}
};

namespace detail {

template <class T, int Rank, random_kind Kind, class Engine>
struct expression_source<random_operand<T, Rank, Kind, Engine>> {
  static auto make(const random_operand<T, Rank, Kind, Engine>& numbers) noexcept {
    constexpr engine_kind engine = leaf_engine<Engine>();
    random_leaf_state state;
    const leaf_description& leaf =
        describe_leaf<Kind, T, engine>(random_access::request(numbers), state);
    return make_leaf<T>(leaf, numbers.shape(), state);
  }

 private:
  template <class Own> static constexpr engine_kind leaf_engine() noexcept {
    if constexpr (is_quasi_random<Own>) {
      return Own::bits == 32 ? engine_kind::sobol32 : engine_kind::sobol64;
    } else {
      return engine_kind::philox;
    }
  }
};

/// Reserves numbers, which are an operand if the engine computes each of them from its index.
template <class T, random_kind Kind, class Engine, int Rank>
auto make_numbers(Engine& engine, const shape<Rank>& extents,
                  const random_distribution& distribution) noexcept {
  const auto made = random_access::make<T>(engine, extents, distribution);
  if constexpr ((std::same_as<Engine, philox> || is_quasi_random<Engine>) && !short_number<T>) {
    return random_operand<T, Rank, Kind, Engine>(made);
  } else {
    return made;
  }
}

}  // namespace detail
}}  // namespace gpu::v1
