// Arrays that are joined and taken apart, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/concatenate.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/slice.hpp>

namespace concatenate_test { namespace {

using namespace array_test;

TEST_CASE("arrays are joined and split as by NumPy", "[array][concatenate]") {
  const operands f;
  const auto &a = f.a, &e = f.e;
  const auto& v = f.v;
  const auto& p = f.p;
#include "array/concatenate_reference.inc"
}

TEST_CASE("arrays that cannot be joined or split are refused", "[array][concatenate]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::concatenate(f.stream, 1, f.a, gpu::transpose(f.a))),
                   "gpu::concatenate", "cannot join (2, 3, 4) and (4, 3, 2)",
                   "the extent of the joined axis alone"));
  CHECK(test::says(test::error_of(gpu::stack(f.stream, 0, f.v, f.v(gpu::slice(1, 5)))),
                   "gpu::stack", "cannot join (1, 5) and (1, 4)"));
  CHECK(test::says(test::error_of(gpu::concatenate(f.stream, 3, f.a, f.a)), "gpu::concatenate",
                   "axis 3 is out of range for 3 axes"));
  CHECK(test::says(test::error_of(gpu::stack(f.stream, -5, f.a, f.a)), "gpu::stack", "axis -5"));
  CHECK(test::says(test::error_of(gpu::concatenate(f.stream, 0, f.v, f.a(0, 7))),
                   "gpu::concatenate", "index 7"));
  CHECK(test::error_of(gpu::stack(gpu::stream_ref{}, 0, f.a)) == gpu::errc::empty_handle);

  CHECK(test::says(test::error_of(gpu::split<2>(f.a, 1)), "gpu::split",
                   "axis 1 has 3 elements, which do not divide into 2 equal parts",
                   "gpu::split_at"));
  CHECK(test::says(test::error_of(gpu::split<2>(f.a, 3)), "gpu::split", "axis 3"));
  CHECK(test::says(test::error_of(gpu::split<2>(f.a(2))), "gpu::split", "index 2"));
  CHECK(test::says(test::error_of(gpu::split_at(f.a, {1}, -4)), "gpu::split_at", "axis -4"));
  CHECK(test::says(test::error_of(gpu::split_at(f.a(2), {1})), "gpu::split_at", "index 2"));
}

}}  // namespace concatenate_test
