// Elements that are written by index along an axis, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/put.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

namespace put_test { namespace {

using namespace array_test;

/// Returns a copy of a view, in which elements were written. The copy lies in memory as the view.
template <class X, class Write> auto written(const operands& f, const X& x, Write write) {
  constexpr int rank = gpu::detail::viewed_rank<const X&>;
  auto memory = test::value_of(gpu::evaluate(f.stream, f.a));
  gpu::array_view<const int, rank> from = gpu::detail::array_view_of(x);
  auto layout = gpu::detail::view_access::layout_of(from);
  const auto copied = test::value_of(gpu::evaluate(f.stream, from));
  const auto in_a = layout.address - std::uintptr_t(f.a.native());
  layout.address = in_a < f.a.size_bytes() ? std::uintptr_t(memory.native()) + in_a
                                           : std::uintptr_t(memory.native());
  const auto view = gpu::detail::view_access::make<int, rank>(layout);
  test::value_of(gpu::assign(f.stream, view, copied));
  test::value_of(write(view));
  return gpu::evaluate(f.stream, view);
}
template <class X, class... Arguments>
auto put(const operands& f, const X& x, const Arguments&... arguments) {
  return written(f, x, [&](auto& view) { return gpu::put(f.stream, view, arguments...); });
}
template <class X, class... Arguments>
auto put_along_axis(const operands& f, const X& x, const Arguments&... arguments) {
  return written(f, x,
                 [&](auto& view) { return gpu::put_along_axis(f.stream, view, arguments...); });
}

TEST_CASE("elements are put by index as by NumPy", "[array][put]") {
  const operands f;
  const auto &a = f.a, &e = f.e, &s = f.s;
  const auto &v = f.v, &n = f.n;
  const auto& [k, w, p] = std::tie(f.k, f.w, f.p);
  auto w32 = test::value_of(gpu::empty<int>(f.stream, gpu::shape{4}));
  test::value_of(gpu::assign(f.stream, w32, w));
#include "array/put_reference.inc"
}

TEST_CASE("what cannot be put is refused", "[array][put]") {
  operands f;
  const auto far = test::value_of(gpu::array<int>::from(f.stream, {0, -24, 24}));
  CHECK(test::says(test::error_of(gpu::put(f.stream, f.a, far, f.n, {.check = true})), "gpu::put",
                   "index 24 at position 2", "from -24 to 23"));
  CHECK(test::says(test::error_of(gpu::put(f.stream, f.e, far, f.n)), "gpu::put", "no elements"));
  CHECK(test::says(test::error_of(gpu::put_along_axis(f.stream, f.a, f.s, f.n, 1)),
                   "gpu::put_along_axis", "cannot broadcast (3,) to (2, 1, 4)"));
  CHECK(test::says(test::error_of(gpu::put_along_axis(f.stream, f.a, f.a, f.n(0), 3)), "axis 3"));
  CHECK(test::says(test::error_of(gpu::put_along_axis(
                       f.stream, f.a, gpu::transpose(f.a)(gpu::slice(0, 3)), f.n(0), 1)),
                   "cannot match (2, 3, 4) and (3, 3, 2)"));
  CHECK(f.download(f.a)[23] == 23);
}

TEST_CASE("values may lie in the memory that they are put into", "[array][put]") {
  operands f;
  const auto reversed = test::value_of(gpu::arange<int>(f.stream, 4, -1, -1));
  test::value_of(gpu::put(f.stream, f.v, reversed, f.v));
  CHECK(f.download(f.v) == std::vector<int>{5, 4, 3, 2, 1});
  test::value_of(
      gpu::put_along_axis(f.stream, f.v(gpu::slice(0, 3)), f.k(0), f.v(gpu::slice(3, 5)), 0));
  CHECK(f.download(f.v) == std::vector<int>{1, 4, 2, 2, 1});
}

}}  // namespace put_test
