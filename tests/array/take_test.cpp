// Elements that are read by index along an axis, against NumPy.

#include "array/array_fixture.hpp"
#include "support/noted_calls.hpp"

#include <gpu/algorithm/sum.hpp>
#include <gpu/array/array.hpp>
#include <gpu/array/axes.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/cumulative.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/operators.hpp>
#include <gpu/array/reductions.hpp>
#include <gpu/array/take.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/array/view_elements.hpp>
#include <gpu/array/view_shape.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace take_test { namespace {

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

TEST_CASE("elements of a view with strides are taken without a copy of all", "[array][take]") {
  const operands f;
  // Element k of np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)[::-1, :, ::2].ravel()
  const auto view = gpu::permute_axes(f.a, 2, 0, 1)(gpu::slice(gpu::to_end, gpu::before_start, -1),
                                                    gpu::all(), gpu::slice(0, gpu::to_end, 2));
  const std::vector<int> all = {3, 11, 15, 23, 2, 10, 14, 22, 1, 9, 13, 21, 0, 8, 12, 20};
  const auto indices =
      test::value_of(gpu::array<int, 2>::from(f.stream, {{0, 5, -1}, {-16, 15, 2}}));
  const test::noted_calls<&gpu::driver::entry_points::launch_kernel> launches;
  same(gpu::take(f.stream, view, indices), gpu::shape{2, 3}, {3, 10, 20, 3, 20, 15});
  const auto count = launches.count();
  CHECK(count == 1);
  const auto positions = test::value_of(gpu::arange<unsigned long long>(f.stream, 16));
  same(gpu::take(f.stream, view, positions), gpu::shape{16}, all);
  same(gpu::take(f.stream, gpu::view_as<const float>(view),
                 gpu::reverse(positions)(gpu::slice(0, 2))),
       gpu::shape{2}, {__builtin_bit_cast(float, 20), __builtin_bit_cast(float, 12)});
  // Repeated elements take no memory.
  const auto wide = gpu::broadcast_to(f.v(gpu::slice(2, 3)),
                                      gpu::shape{std::size_t{1} << 30, std::size_t{1} << 28});
  same(gpu::take(f.stream, wide, indices), gpu::shape{2, 3}, {3, 3, 3, 3, 3, 3});
  const auto far = test::value_of(gpu::array<int>::from(f.stream, {0, 16}));
  CHECK(test::says(test::error_of(gpu::take(f.stream, view, far, {.check = true})), "gpu::take",
                   "index 16 at position 1", "from -16 to 15"));
  CHECK(test::says(test::error_of(gpu::take(f.stream, view(gpu::slice(0, 0)), far)),
                   "none of the 2 indices"));
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

}}  // namespace take_test
