// Elements that are not zero or that a mask chooses, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/array.hpp>
#include <gpu/array/nonzero.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/graph.hpp>

#include <complex>
#include <limits>

namespace nonzero_test { namespace {

using namespace array_test;

TEST_CASE("elements that are not zero are those of NumPy", "[array][nonzero]") {
  const operands f;
  const auto &a = f.a, &e = f.e;
  const auto& v = f.v;
  const auto& p = f.p;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  using complex = std::complex<float>;
  const auto m = test::value_of(gpu::array<int, 3>::from(
      f.stream,
      {{{0, 1, 0, 2}, {0, 0, 0, 0}, {5, 0, 0, -1}}, {{0, 0, 0, 0}, {0, 7, 7, 0}, {0, 0, 0, 3}}}));
  const auto q = test::value_of(gpu::array<bool>::from(f.stream, {true, false, true}));
  const auto x = test::value_of(gpu::array<float>::from(f.stream, {0, -0.0f, nan, inf, 1, 0}));
  const auto z = test::value_of(gpu::array<complex>::from(
      f.stream, {complex(0), complex(0, 1), complex(1), complex(0), complex(2)}));
#include "array/nonzero_reference.inc"
}

TEST_CASE("masks of another shape are refused", "[array][nonzero]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::extract(f.stream, f.a, gpu::transpose(f.a))), "gpu::extract",
                   "(2, 3, 4) and (4, 3, 2)", "same shape"));
  CHECK(test::says(test::error_of(gpu::compress(f.stream, f.v, f.a, 1)), "gpu::compress",
                   "(5,) and (2, 3, 4)", "not longer"));
  CHECK(test::says(test::error_of(gpu::compress(f.stream, f.v, f.a, -4)), "axis -4"));
  CHECK(test::says(test::error_of(gpu::nonzero(f.stream, f.a(2))), "gpu::nonzero", "index 2"));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  CHECK(test::error_of(gpu::flat_nonzero(f.stream, f.v)) == gpu::errc::capture_prohibited);
  static_cast<void>(test::value_of(capture.end()));
}

}}  // namespace nonzero_test
