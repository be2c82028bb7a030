// Elements that are read by index along an axis, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/take.hpp>

#include <tuple>

namespace take_test {
namespace {

using namespace array_test;

TEST_CASE("elements are taken by index as by NumPy", "[array][take]") {
  const operands f;
  const auto &a = f.a, &e = f.e, &s = f.s;
  const auto& v = f.v;
  const auto& [k, w, u, p] = std::tie(f.k, f.w, f.u, f.p);
#include "array/take_reference.inc"
}

TEST_CASE("elements are taken into memory that is there", "[array][take]") {
  const operands f;
  auto out = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{2, 2, 3, 4}));
  test::value_of(gpu::take(f.stream, f.a, f.k(0), 1, out(0, gpu::all(), gpu::slice(0, 2))));
  CHECK(f.download(out)[0] == 8);
  CHECK(f.download(out)[4] == 0);
  CHECK(f.download(out)[12] == 20);
  CHECK(test::says(test::error_of(gpu::take(f.stream, f.a, f.k(0), 1, out(0))), "gpu::take",
                   "cannot write the shape (2, 2, 4) and (2, 3, 4)"));
}

TEST_CASE("a bad index of take is found", "[array][take]") {
  const operands f;
  const auto far = test::value_of(gpu::array<int>::from(f.stream, {0, -3, 3, -4}));
  CHECK(test::says(test::error_of(gpu::take(f.stream, f.a, far, 1, {.check = true})), "gpu::take",
                   "index 3 at position 2 is out of range: the axis has 3 elements",
                   "from -3 to 2"));
  CHECK(test::says(test::error_of(gpu::take(f.stream, f.a, gpu::reverse(far), 1, {.check = true})),
                   "index -4 at position 0"));
  const auto unsigned_far = test::value_of(gpu::array<unsigned>::from(f.stream, {2u, 3u}));
  CHECK(test::says(test::error_of(gpu::take(f.stream, f.a, unsigned_far, 1, {.check = true})),
                   "index 3 at position 1"));
  CHECK(test::says(test::error_of(gpu::take(f.stream, f.e, far, 1)), "gpu::take",
                   "no elements along the axis", "none of the 4 indices"));
  CHECK(test::says(test::error_of(gpu::take(f.stream, f.a, far, 3)), "gpu::take",
                   "axis 3 is out of range for 3 axes", "from -3 to 2"));
  CHECK(test::says(test::error_of(gpu::take(f.stream, f.a(5), far, 0)), "gpu::take", "index 5"));
}

}  // namespace
}  // namespace take_test
