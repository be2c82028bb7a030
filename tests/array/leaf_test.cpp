// Operands that device code computes from the index, against the same on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/core/text.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace leaf_test { namespace {

using algorithm_test::fixture;

struct ramp_state {
  double start, step;
};

constexpr gpu::leaf_description ramp_leaf{.name = "ramp",
                                          .state_type = "ramp_state",
                                          .preamble = "struct ramp_state { double start, step; };",
                                          .setup = "const double $v_twice = 2 * $s.step;",
                                          .text = "$s.start + $i * ($v_twice - $s.step)"};

template <int Rank> auto ramp(double start, double step, const gpu::shape<Rank>& extents) {
  return gpu::make_leaf<double>(ramp_leaf, extents, ramp_state{start, step});
}

TEST_CASE("a leaf computes elements from the index", "[array][leaf]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<double, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  const auto found =
      f.download(test::value_of(gpu::evaluate(f.stream, x * 100 + ramp(0.5, 2, gpu::shape{2, 3}))));
  CHECK(found == std::vector<double>{100.5, 202.5, 304.5, 406.5, 508.5, 610.5});
  // Repeated along the first axis, and along the last one.
  const auto repeated = f.download(test::value_of(
      gpu::evaluate(f.stream, x * 0 + ramp(0, 1, gpu::shape{3}) + ramp(0, 10, gpu::shape{2, 1}))));
  CHECK(repeated == std::vector<double>{0, 1, 2, 10, 11, 12});
  // Two states of one description, and views in another order.
  auto out = test::value_of(gpu::empty<double>(f.stream, gpu::shape{3, 2}));
  test::value_of(gpu::assign(f.stream, gpu::transpose(out),
                             ramp(1, 1, gpu::shape{2, 3}) * ramp(0, 1, gpu::shape{2, 3})));
  CHECK(f.download(out) == std::vector<double>{0, 12, 2, 20, 6, 30});
}

TEST_CASE("equal leaves are one operand", "[array][leaf]") {
  const auto a = ramp(1, 2, gpu::shape{4}), b = ramp(1, 3, gpu::shape{4});
  const auto parameters = [](const gpu::text& source) {
    std::size_t count = 0;
    const std::string_view code(source.data(), source.size());
    for (std::size_t at = 0; (at = code.find("const ramp_state ", at)) != code.npos; ++at) ++count;
    return count;
  };
  CHECK(parameters(test::value_of(gpu::source_of(a + a * a))) == 1);
  CHECK(parameters(test::value_of(gpu::source_of(a + b * a))) == 2);
}

}}  // namespace leaf_test
