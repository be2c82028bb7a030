// Reductions as expressions.

#include "array/array_fixture.hpp"

namespace reductions_test {
namespace {

using namespace array_test;

TEST_CASE("tryout", "[array][reductions]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<float, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(x))) == 21);
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(x * x))) == 91);
  same(gpu::evaluate(f.stream, gpu::sum(x * 2, gpu::axis<0>)), gpu::shape{3}, {10, 14, 18});
  same(gpu::evaluate(f.stream, gpu::sum(x * 2, gpu::axis<1>)), gpu::shape{2}, {12, 30});
  same(gpu::evaluate(f.stream, gpu::sum(x * 2, gpu::axis<1>, gpu::keep_dims)), gpu::shape{2, 1}, {12, 30});
  same(gpu::evaluate(f.stream, x - gpu::mean(x, gpu::axes{0})), gpu::shape{2, 3}, {-1.5,-1.5,-1.5,1.5,1.5,1.5});
  same(gpu::evaluate(f.stream, gpu::argmax(x, gpu::axes{0})), gpu::shape{3}, {1, 1, 1});
  std::puts(test::value_of(gpu::source_of(gpu::sum(x * gpu::sin(x)) * 2)).c_str());
}

}  // namespace
}  // namespace reductions_test
