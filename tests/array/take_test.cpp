// Elements that are read by index along an axis, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/cumulative.hpp>
#include <gpu/array/operators.hpp>
#include <gpu/array/reductions.hpp>
#include <gpu/array/take.hpp>
#include <gpu/graph/stream_capture.hpp>

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

TEST_CASE("an expression takes elements by index", "[array][take][expression]") {
  const operands f;
  const auto &a = f.a, &e = f.e;
  const auto& v = f.v;
  const auto& [k, w, u] = std::tie(f.k, f.w, f.u);
  const auto evaluated = [&](const auto& x, const auto& indices, int axis) {
    const auto taken = test::value_of(gpu::take(f.stream, x, indices, axis));
    const auto own = test::value_of(gpu::evaluate(f.stream, gpu::take(x, indices, axis)));
    CHECK(own.shape() == taken.shape());
    CHECK(f.download(own) == f.download(taken));
  };
  evaluated(a, k, 1);
  evaluated(gpu::transpose(a), k, 1);
  evaluated(gpu::reverse(a), w, -1);
  evaluated(a, u, 2);
  evaluated(v, w(0), 0);
  evaluated(e, w(gpu::slice(0, 0)), 1);
  evaluated(e, k, 2);
  // Beside other operands, repeated, and where it is reduced.
  const auto rows = test::value_of(gpu::take(f.stream, a, w, 1));
  const auto expected = test::value_of(gpu::evaluate(f.stream, 2 * rows + a(0, 0) - rows * rows));
  const auto taken = gpu::take(a, w, 1);
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, 2 * taken + a(0, 0) - taken * taken))) ==
        f.download(expected));
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, gpu::sum(taken, gpu::axis<0>)))) ==
        f.download(test::value_of(gpu::evaluate(f.stream, gpu::sum(rows, gpu::axis<0>)))));
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(taken + 1))) ==
        test::value_of(gpu::sum(f.stream, rows)) + static_cast<long long>(rows.size()));
}

TEST_CASE("an expression takes from where it writes by way of temporary memory",
          "[array][take][expression]") {
  const fixture f;
  auto x = test::value_of(gpu::array<int>::from(f.stream, {10, 20, 30, 40, 50}));
  const auto order = test::value_of(gpu::array<int>::from(f.stream, {4, 3, -3, 1, 0}));
  test::value_of(gpu::assign(f.stream, x, gpu::take(x, order, 0) + 1));
  CHECK(f.download(x) == std::vector<int>{51, 41, 31, 21, 11});
  test::value_of(
      gpu::assign(f.stream, x(gpu::slice(3, 5)), gpu::take(x, order(gpu::slice(3, 5)), 0)));
  CHECK(f.download(x) == std::vector<int>{51, 41, 31, 41, 51});
}

TEST_CASE("what an expression cannot take is refused", "[array][take][expression]") {
  const operands f;
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, gpu::take(f.a, f.w, 3))), "gpu::take",
                   "axis 3 is out of range for 3 axes"));
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, gpu::take(f.v, f.w(0), -2))), "gpu::take",
                   "axis -2 is out of range for 1 axes"));
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, gpu::take(f.e, f.w, 1))),
                   "no elements along the axis"));
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, gpu::take(f.a(5), f.w, 0))), "index 5"));
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, gpu::take(f.a, f.w, 0) + f.v)),
                   "cannot broadcast"));
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
                   "index 3 at position 1", "from 0 to 2"));
  const auto wrapped = test::value_of(gpu::array<std::uint64_t>::from(f.stream, {2, ~0ull}));
  for (const gpu::cuda_error& error :
       {test::error_of(gpu::take(f.stream, f.a, wrapped, 1, {.check = true})),
        test::error_of(gpu::evaluate(f.stream, gpu::take(f.a, wrapped, 1, {.check = true})))}) {
    CHECK(test::says(error, "index 18446744073709551615 at position 1", "from 0 to 2"));
  }
  CHECK(test::says(test::error_of(gpu::take(f.stream, f.e, far, 1)), "gpu::take",
                   "no elements along the axis", "none of the 4 indices"));
  CHECK(test::says(test::error_of(gpu::take(f.stream, f.a, far, 3)), "gpu::take",
                   "axis 3 is out of range for 3 axes", "from -3 to 2"));
  CHECK(test::says(test::error_of(gpu::take(f.stream, f.a(5), far, 0)), "gpu::take", "index 5"));
}

TEST_CASE("a bad index of take is found inside a larger expression", "[array][take][expression]") {
  const operands f;
  const auto far = test::value_of(gpu::array<int>::from(f.stream, {0, -3, 3, -4}));
  const auto unsigned_far = test::value_of(gpu::array<unsigned>::from(f.stream, {2u, 3u}));
  auto out = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{2, 4, 4}));
  const auto taken = gpu::take(f.a, far, 1, {.check = true});
  const auto found = [&](const gpu::cuda_error& error) {
    CHECK(test::says(error, "gpu::take",
                     "index 3 at position 2 is out of range: the axis has 3 elements",
                     "from -3 to 2"));
    CHECK(error == gpu::errc::index_out_of_range);
  };
  found(test::error_of(gpu::assign(f.stream, out, 2 * taken + 1)));
  CHECK(f.download(out) == std::vector<int>(32));  // nothing is written
  found(test::error_of(gpu::evaluate(f.stream, taken)));
  found(test::error_of(gpu::item(f.stream, gpu::sum(taken * taken))));
  found(test::error_of(gpu::evaluate(f.stream, out - gpu::sum(taken, gpu::axis<0>))));
  found(test::error_of(gpu::cumulative_sum(f.stream, taken, 1)));
  const auto last = gpu::take(f.a, gpu::reverse(far), 1, {.check = true});
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, last + last)), "index -4 at position 0"));
  // Of two that take from the same elements, the one whose indices are bad.
  const auto good = test::value_of(gpu::array<int>::from(f.stream, {0, 1, 2, -1}));
  const auto both =
      gpu::take(f.a, good, 1, {.check = true}) + gpu::take(f.a, far, 1, {.check = true});
  found(test::error_of(gpu::evaluate(f.stream, both)));
  CHECK(test::says(
      test::error_of(gpu::evaluate(f.stream, gpu::take(f.a, unsigned_far, -2, {.check = true}))),
      "index 3 at position 1"));
  // Good indices change nothing, of any rank.
  const auto checked =
      test::value_of(gpu::evaluate(f.stream, gpu::take(f.a, f.w, 1, {.check = true})));
  CHECK(f.download(checked) == f.download(test::value_of(gpu::take(f.stream, f.a, f.w, 1))));
  const auto one =
      test::value_of(gpu::evaluate(f.stream, gpu::take(f.a, good(1), 1, {.check = true})));
  CHECK(f.download(one) == f.download(test::value_of(gpu::evaluate(f.stream, f.a(gpu::all(), 1)))));
  test::value_of(gpu::prepare(f.stream, out, taken));  // compiles, and looks at no index
}

TEST_CASE("a checked take is refused in a capture", "[array][take][expression][graph]") {
  const operands f;
  const auto order = test::value_of(gpu::array<int>::from(f.stream, {2, 0}));
  auto out = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{2, 2, 4}));
  const auto taken = gpu::take(f.a, order, 1, {.check = true});
  test::value_of(gpu::assign(f.stream, out, taken));
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, out, taken)), "check before the capture"));
  static_cast<void>(capture.end());
}

}  // namespace
}  // namespace take_test
