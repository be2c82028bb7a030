#pragma once
/// \file
/// Arrays whose elements are compared with NumPy's.

#include "algorithm/algorithm_fixture.hpp"  // IWYU pragma: export

#include <gpu/array.hpp>
#include <gpu/core/result.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace array_test {

using algorithm_test::fixture;

/// The operands of tests/array/rearranging_reference.
struct operands : fixture {
  gpu::array<int, 3> a = test::value_of(
      gpu::array<int, 3>::adopt(test::value_of(gpu::arange(stream, 24)).release(), {2, 3, 4}));
  gpu::array<int, 3> e = test::value_of(gpu::zeros<int>(stream, gpu::shape{2, 0, 3}));
  gpu::array<int> v = test::value_of(gpu::arange(stream, 1, 6));
  gpu::array<int, 0> p = test::value_of(gpu::full<int>(stream, gpu::shape<0>(), 7));
  gpu::array<int, 2> k = test::value_of(gpu::array<int, 2>::from(stream, {{2, 0}, {-1, 1}}));
  gpu::array<long long> w = test::value_of(gpu::array<long long>::from(stream, {-1, 2, 2, -3}));
  gpu::array<unsigned> u = test::value_of(gpu::array<unsigned>::from(stream, {0u, 3u}));
  gpu::array<int, 3> s =
      test::value_of(gpu::array<int, 3>::from(stream, {{{1, 0, 2, -1}}, {{0, -3, 1, 1}}}));
  gpu::array<int> n = test::value_of(gpu::array<int>::from(stream, {-7, -8, -9}));
};

/// Returns whether two numbers have the same value; NaN equals NaN.
template <class T> bool equal(const T& a, const T& b) { return a == b || (a != a && b != b); }

/// Checks the shape and the elements of a new array.
template <class T, int Rank>
void same(const gpu::array<T, Rank>& a, const gpu::shape<Rank>& extents,
          const std::vector<std::type_identity_t<T>>& expected) {
  CHECK(a.shape() == extents);
  const auto found = std::make_unique<T[]>(a.size() + 1);  // std::vector<bool> has no elements
  test::value_of(gpu::copy(a, std::span(found.get(), a.size())));
  REQUIRE(a.size() == expected.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i, found[i], T(expected[i]));
    REQUIRE(equal(found[i], T(expected[i])));
  }
}

template <class T, int Rank>
void same(gpu::result<gpu::array<T, Rank>> made, const gpu::shape<Rank>& extents,
          const std::vector<std::type_identity_t<T>>& expected) {
  same(test::value_of(std::move(made)), extents, expected);
}

/// Checks the shape and the elements of a view.
template <class T, int Rank>
void same_view(const fixture& f, const gpu::array_view<T, Rank>& view,
               const gpu::shape<Rank>& extents,
               const std::vector<std::remove_const_t<T>>& expected) {
  same(gpu::evaluate(f.stream, view), extents, expected);
}

}  // namespace array_test
