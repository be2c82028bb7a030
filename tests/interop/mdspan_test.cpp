// Arrays from `std::mdspan` and back, where the standard library has it: tests/structure/mdspan
// builds this with libc++.

#include "algorithm/algorithm_fixture.hpp"  // IWYU pragma: keep

#include <gpu/interop/mdspan.hpp>  // IWYU pragma: keep

#if defined(__cpp_lib_mdspan)

#  include <gpu/array.hpp>

#  include <array>
#  include <mdspan>
#  include <vector>

namespace mdspan_test { namespace {

using algorithm_test::fixture;
using matrix = std::extents<std::size_t, 2, 3>;

TEST_CASE("an array is made of a mdspan of any layout", "[interop][mdspan]") {
  const fixture f;
  const std::vector<int> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const auto right = test::value_of(gpu::to_array(f.stream, std::mdspan(values.data(), 2, 2, 3)));
  static_assert(std::is_same_v<decltype(right), const gpu::array<int, 3>>);
  CHECK(right.shape() == gpu::shape{2, 2, 3});
  CHECK(f.download(right) == values);
  const std::mdspan<const int, matrix, std::layout_left> left(values.data());
  CHECK(f.download(test::value_of(gpu::to_array(f.stream, left))) ==
        std::vector<int>{1, 3, 5, 2, 4, 6});
  const std::layout_stride::mapping<matrix> apart(matrix(), std::array<std::size_t, 2>{6, 2});
  const std::mdspan strided(values.data(), apart);
  CHECK(f.download(test::value_of(gpu::to_array(f.stream, strided))) ==
        std::vector<int>{1, 3, 5, 7, 9, 11});
  const std::mdspan<const int, std::extents<int>> one(values.data() + 4);
  const auto single = test::value_of(gpu::to_array(f.stream, one));
  CHECK(test::value_of(gpu::item(f.stream, single)) == 5);
  CHECK(test::value_of(gpu::to_array(f.stream, std::mdspan(values.data(), 0, 3))).size() == 0);
}

TEST_CASE("elements go to a mdspan of any layout", "[interop][mdspan]") {
  const fixture f;
  auto a = test::value_of(gpu::array<int, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 6}}));
  std::vector<int> host(6);
  const std::mdspan<int, matrix, std::layout_left> left(host.data());
  test::value_of(gpu::to_mdspan(f.stream, a, left));
  CHECK(host == std::vector<int>{1, 4, 2, 5, 3, 6});
  test::value_of(gpu::to_mdspan(f.stream, gpu::transpose(a), std::mdspan(host.data(), 3, 2)));
  CHECK(host == std::vector<int>{1, 4, 2, 5, 3, 6});
  CHECK(test::says(test::error_of(gpu::to_mdspan(f.stream, a, std::mdspan(host.data(), 3, 2))),
                   "gpu::to_mdspan", "the array has the shape (2, 3), but the mdspan has (3, 2)"));
  CHECK(test::says(test::error_of(gpu::to_mdspan(f.stream, a(2), std::mdspan(host.data(), 3))),
                   "index 2 is out of range"));
}

TEST_CASE("a copy in host memory is seen in the order of the array", "[interop][mdspan]") {
  const fixture f;
  const auto a = test::value_of(gpu::array<int, 2>::from(f.stream, std::vector{1, 2, 3, 4, 5, 6},
                                                         {2, 3}, gpu::axis_order::fortran));
  auto host = test::value_of(gpu::pinned_vector<int>::create(f.device, 6));
  test::value_of(gpu::copy(f.stream, a, host));
  test::value_of(f.stream.synchronize());
  const auto m = test::value_of(gpu::as_mdspan(a, host));
  CHECK((m[0, 0] == 1 && m[1, 0] == 2 && m[0, 1] == 3 && m[1, 2] == 6));
  CHECK((m.extent(0) == 2 && m.extent(1) == 3));
  const std::vector<int> few(5);
  CHECK(test::says(test::error_of(gpu::as_mdspan(a, few)), "gpu::as_mdspan",
                   "a shape of 6 elements does not match 5"));
}

}}  // namespace mdspan_test

#endif
