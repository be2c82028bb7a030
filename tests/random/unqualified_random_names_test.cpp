// The names of random numbers, unqualified, where a program uses all names of std and of gpu.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/memory/shape.hpp>
#include <gpu/random.hpp>

// IWYU pragma: begin_keep
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>
// IWYU pragma: end_keep

namespace unqualified_random_names_test { namespace {

using namespace std;
using namespace gpu;

TEST_CASE("names of random numbers are used unqualified beside those of std", "[random]") {
  const algorithm_test::fixture f;
  philox engine(1);
  const gpu::shape<1> s{4};
  vector<size_t> sizes{uniform<float>(engine, s).size(),
                       uniform_from<double>(engine, s).size(),
                       uniform_integers<int>(engine, s, 1, 6).size(),
                       random_bits<unsigned>(engine, s).size(),
                       normal<float>(engine, s).size(),
                       log_normal<float>(engine, s).size(),
                       exponential<float>(engine, s).size(),
                       gamma<float>(engine, s, 2).size(),
                       beta<float>(engine, s, 1, 2).size(),
                       bernoulli(engine, s).size(),
                       binomial<int>(engine, s, 5, 0.5).size(),
                       poisson<int>(engine, s, 3).size()};
  CHECK(sizes == vector<size_t>(12, 4));
  const double both[] = {1, 2};
  const auto weights = test::value_of(discrete_weights::create(f.stream, both));
  CHECK(discrete<int>(engine, s, weights).size() == 4);
  CHECK(on_sphere<float>(engine, gpu::shape{4, 3}).size() == 12);
  auto x = test::value_of(permutation<int>(f.stream, engine, 5));
  test::value_of(shuffle(f.stream, engine, x));
  CHECK(test::value_of(choice(f.stream, engine, x, 3)).size() == 3);
  CHECK(test::value_of(sobol32::create(f.stream, 2)).dimensions() == 2);
  CHECK(mrg32k3a(1) != mrg32k3a(2));
  CHECK(xorwow(1) == xorwow(1));
}

}}  // namespace unqualified_random_names_test
