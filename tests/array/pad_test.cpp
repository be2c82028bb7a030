// Arrays with a margin, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/pad.hpp>
#include <gpu/core/error_code.hpp>

#include <cstddef>
#include <limits>

namespace pad_test { namespace {

using namespace array_test;

TEST_CASE("margins are those of NumPy", "[array][pad]") {
  const operands f;
  const auto &a = f.a, &e = f.e;
  const auto& v = f.v;
  const auto& p = f.p;
#include "array/pad_reference.inc"
}

// Compiles with -Wconversion and -Wsign-conversion.
TEST_CASE("the widths of margins are integers of every type", "[array][pad]") {
  const operands f;
  const int n = 2, negative = -1;
  const std::size_t m = 1;
  CHECK(test::value_of(gpu::pad(f.stream, f.v, {{n, m}}, 7)).size() == f.v.size() + 3);
  CHECK(test::value_of(gpu::pad(f.stream, f.v, n, 7)).size() == f.v.size() + 4);
  CHECK(test::value_of(gpu::pad(f.stream, f.v, m, gpu::pad_mode::edge)).size() == f.v.size() + 2);
  CHECK(test::error_of(gpu::pad(f.stream, f.v, {{negative, m}}, 7)) == gpu::errc::size_overflow);
  CHECK(test::error_of(gpu::pad(f.stream, f.v, negative, gpu::pad_mode::edge)) ==
        gpu::errc::size_overflow);
}

TEST_CASE("margins that cannot be made are refused", "[array][pad]") {
  const operands f;
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK(test::says(test::error_of(gpu::pad(f.stream, f.e, 1, gpu::pad_mode::edge)), "gpu::pad",
                   "axis 1 has no elements, so its margin", "Pass a value"));
  CHECK(test::says(test::error_of(gpu::pad(f.stream, f.v, 1, static_cast<gpu::pad_mode>(4))),
                   "gpu::pad", "4 is not a valid gpu::pad_mode"));
  CHECK(test::says(test::error_of(gpu::pad(f.stream, f.a(2), 1, gpu::pad_mode::wrap)), "gpu::pad",
                   "index 2"));
  CHECK(test::says(test::error_of(gpu::pad(f.stream, f.a(2), 1, 7)), "gpu::pad", "index 2"));
  CHECK(test::error_of(gpu::pad(f.stream, f.v, {{1, most}}, 7)) == gpu::errc::size_overflow);
  CHECK(test::error_of(gpu::pad(f.stream, f.v, {{most, 1}}, gpu::pad_mode::edge)) ==
        gpu::errc::size_overflow);
}

}}  // namespace pad_test
