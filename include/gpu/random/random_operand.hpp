#pragma once
/// \file
/// `random_operand`: random numbers that may be an operand of an expression.

#include <gpu/random/detail/random_leaf.hpp>
#include <gpu/random/random_numbers.hpp>

namespace gpu::inline v0 {

/// Random numbers that may also be an operand of an expression, in whose kernel they are made:
///
///     gpu::evaluate(stream, x + 0.1f * gpu::normal<float>(engine, x.shape()))
///
/// The functions `uniform`, `uniform_from`, `normal`, `log_normal` and `exponential` return it for
/// float and double and for a `philox`. The numbers are those that `assign` would write. Two
/// operands of one expression take two engines, `engine.split(k)`, because C++ does not say which
/// of them is made first.
template <class T, int Rank, detail::random_kind Kind>
class random_operand : public random_numbers<T, Rank, philox> {
 public:
  explicit random_operand(const random_numbers<T, Rank, philox>& numbers) noexcept
      : random_numbers<T, Rank, philox>{numbers} {}
};

namespace detail {

template <class T, int Rank, random_kind Kind>
struct expression_source<random_operand<T, Rank, Kind>> {
  static auto make(const random_operand<T, Rank, Kind>& numbers) noexcept {
    random_leaf_state state;
    const leaf_description& leaf = describe_leaf<Kind>(random_access::request(numbers), state);
    return make_leaf<T>(leaf, numbers.shape(), state);
  }
};

}  // namespace detail
}  // namespace gpu::inline v0
