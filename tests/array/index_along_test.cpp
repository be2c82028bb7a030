// The index along an axis as an operand.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace index_along_test { namespace {

using algorithm_test::fixture;

TEST_CASE("the index along an axis is an operand", "[array][index_along]") {
  const fixture f;
  const gpu::shape extents{2, 3, 4};
  const auto found = f.download(test::value_of(gpu::evaluate(
      f.stream, gpu::index_along(extents, 0) * 100 + gpu::index_along(extents, 1) * 10 +
                    gpu::index_along(extents, -1))));
  std::size_t at = 0;
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t k = 0; k < 4; ++k) CHECK(found[at++] == i * 100 + j * 10 + k);
    }
  }
}

TEST_CASE("an index along an axis that does not exist is refused", "[array][index_along]") {
  const fixture f;
  const gpu::shape extents{2, 3};
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, gpu::index_along(extents, 2) + 1)),
                   "gpu::evaluate", "gpu::index_along", "axis 2 is out of range for 2 axes"));
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, gpu::index_along(extents, -3))),
                   "axis -3"));
}

}}  // namespace index_along_test
