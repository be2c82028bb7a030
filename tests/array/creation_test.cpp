// New arrays against NumPy's and arithmetic on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace creation_test { namespace {

using algorithm_test::fixture;

template <class T>
void same(gpu::result<gpu::array<T>> made, const std::vector<std::type_identity_t<T>>& expected) {
  const auto a = test::value_of(std::move(made));
  std::vector<T> found(a.size());
  test::value_of(gpu::copy(a, found));
  CHECK(found == expected);
}

TEST_CASE("ranges of numbers are those of NumPy", "[array][creation]") {
  const fixture f;
#include "array/creation_reference.inc"
}

TEST_CASE("arrays are made of one value", "[array][creation]") {
  const fixture f;
  const auto zeros = test::value_of(gpu::zeros<std::complex<double>>(f.stream, gpu::shape{2, 3}));
  CHECK(f.download(zeros) == std::vector<std::complex<double>>(6));
  CHECK(zeros.shape() == gpu::shape{2, 3});
  const auto ones = test::value_of(gpu::ones<double>(f.stream, gpu::shape{5}));
  CHECK(f.download(ones) == std::vector<double>(5, 1));
  const auto full = test::value_of(gpu::full<std::int8_t>(f.stream, gpu::shape{2, 1, 3}, -7));
  CHECK(f.download(full) == std::vector<std::int8_t>(6, -7));
  const auto single = test::value_of(gpu::full<float>(f.stream, gpu::shape<0>(), 2.5f));
  CHECK(test::value_of(gpu::item(f.stream, single)) == 2.5f);
  CHECK(test::value_of(gpu::zeros<int>(f.stream, gpu::shape{4, 0})).size() == 0);
  CHECK(test::value_of(gpu::empty<int>(f.stream, gpu::shape{4, 5})).shape() == gpu::shape{4, 5});
}

TEST_CASE("arrays of more bytes than memory can have are refused", "[array][creation]") {
  const fixture f;
  constexpr std::size_t one = 1;
  const auto check = [](const gpu::cuda_error& error, const char* shape, const char* bytes) {
    CHECK(error == gpu::errc::size_overflow);
    CHECK(test::says(error, shape, bytes, "9223372036854775807", "Pass smaller extents"));
  };
  check(test::error_of(gpu::zeros<char>(f.stream, gpu::shape{one << 32, one << 32})),
        "(4294967296, 4294967296)", "elements of 1 byte ");
  check(test::error_of(gpu::ones<double>(f.stream, gpu::shape{one << 60})),
        "(1152921504606846976,)", "elements of 8 bytes");
  check(test::error_of(gpu::empty<float>(f.stream, gpu::shape{one << 31, one << 31, one << 2})),
        "(2147483648, 2147483648, 4)", "elements of 4 bytes");
  CHECK(test::value_of(gpu::zeros<char>(f.stream, gpu::shape{one << 40, one << 40, one * 0}))
            .size() == 0);
}

TEST_CASE("arrays are made like others", "[array][creation]") {
  const fixture f;
  const auto a = test::value_of(gpu::zeros<short>(f.stream, gpu::shape{2, 3}));
  const auto turned = gpu::transpose(a);
  const auto ones = test::value_of(gpu::ones_like(f.stream, turned));
  static_assert(std::is_same_v<decltype(ones), const gpu::array<short, 2>>);
  CHECK(ones.shape() == gpu::shape{3, 2});
  CHECK(f.download(ones) == std::vector<short>(6, 1));
  CHECK(f.download(test::value_of(gpu::full_like(f.stream, a, 4))) == std::vector<short>(6, 4));
  CHECK(f.download(test::value_of(gpu::zeros_like(f.stream, ones))) == std::vector<short>(6, 0));
  CHECK(test::value_of(gpu::empty_like(f.stream, turned)).shape() == gpu::shape{3, 2});
  CHECK(test::says(test::error_of(gpu::arange(f.stream, 1, 5, 0)), "gpu::arange", "the step is 0",
                   "negative to go down"));
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(test::says(test::error_of(gpu::arange(f.stream, 0.f, infinity, 1.f)), "does not follow"));
  CHECK(
      test::says(test::error_of(gpu::arange(f.stream, 0.f, infinity - infinity)), "not a number"));
  same(gpu::arange(f.stream, 4), {0, 1, 2, 3});
}

TEST_CASE("arrays are made in Fortran order", "[array][creation]") {
  const fixture f;
  using order = gpu::axis_order;
  const std::vector<int> values{1, 2, 3, 4, 5, 6};
  const auto a = test::value_of(gpu::array<int, 2>::from(f.stream, values, {2, 3}, order::fortran));
  CHECK((a.stride(0) == 1 && a.stride(1) == 2));
  CHECK((a.is_contiguous(order::fortran) && a.is_contiguous(order::keep) && !a.is_contiguous()));
  CHECK(f.download(a) == values);  // as they are in memory
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, a))) ==
        std::vector<int>{1, 3, 5, 2, 4, 6});
  CHECK(test::value_of(gpu::item(f.stream, a(1, 2))) == 6);

  auto filled = test::value_of(gpu::full<int>(f.stream, gpu::shape{2, 3}, 7, order::fortran));
  CHECK(filled.stride(1) == 2);
  const auto copied = test::value_of(gpu::evaluate(f.stream, a));
  test::value_of(gpu::assign(f.stream, filled, copied));
  CHECK(f.download(filled) == values);
  CHECK(test::value_of(gpu::ones<int>(f.stream, gpu::shape{2, 3}, order::fortran)).stride(1) == 2);
  CHECK(f.download(test::value_of(gpu::zeros<int>(f.stream, gpu::shape{2, 3}, order::fortran))) ==
        std::vector<int>(6));
  auto moved = std::move(filled);
  CHECK((moved.stride(0) == 1 && moved.stride(1) == 2));
  const auto adopted =
      test::value_of(gpu::array<int, 2>::adopt(f.upload(values), gpu::shape{3, 2}, order::fortran));
  CHECK(test::value_of(gpu::item(f.stream, adopted(0, 1))) == 4);
  CHECK(test::value_of(gpu::empty<int>(f.stream, gpu::shape<0>(), order::fortran)).size() == 1);
  CHECK(test::says(test::error_of(gpu::empty<int>(f.stream, gpu::shape{2, 3}, order::keep)),
                   "gpu::empty", "axis_order::keep needs a model", "gpu::empty_like"));
  CHECK(test::says(test::error_of(gpu::array<int, 2>::from(f.stream, values, {2, 3}, order(9))),
                   "9 is not a valid gpu::axis_order"));
}

TEST_CASE("an array like another has its order, or the one that is asked for",
          "[array][creation]") {
  const fixture f;
  using order = gpu::axis_order;
  auto a = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2, 3, 4}));
  const auto turned = gpu::permute_axes(a, 1, 0, 2);
  const auto strides = [](const auto& made) {
    return std::vector<std::ptrdiff_t>{made.stride(0), made.stride(1), made.stride(2)};
  };
  using list = std::vector<std::ptrdiff_t>;
  // numpy.empty_like(turned, order=...).strides, in elements
  CHECK(strides(test::value_of(gpu::empty_like(f.stream, turned))) == list{8, 4, 1});
  CHECK(strides(test::value_of(gpu::empty_like(f.stream, turned, order::fortran))) ==
        list{1, 3, 6});
  CHECK(strides(test::value_of(gpu::empty_like(f.stream, turned, order::keep))) == list{4, 12, 1});
  CHECK(strides(test::value_of(gpu::ones_like(f.stream, gpu::transpose(a), order::keep))) ==
        list{1, 4, 12});
  CHECK(strides(test::value_of(gpu::zeros_like(
            f.stream, gpu::reverse(a(gpu::all(), gpu::slice(0, 2)), 2), order::keep))) ==
        list{8, 4, 1});
  const auto wide = test::value_of(gpu::full_like<double>(f.stream, turned, 0.5, order::keep));
  static_assert(std::is_same_v<decltype(wide), const gpu::array<double, 3>>);
  CHECK(f.download(wide) == std::vector<double>(24, 0.5));
  // order="A"
  const auto any_order = [&](const auto& model) {
    const bool fortran = model.is_contiguous(order::fortran) && !model.is_contiguous();
    return gpu::empty_like(f.stream, model, fortran ? order::fortran : order::c);
  };
  CHECK(strides(test::value_of(any_order(gpu::transpose(a)))) == list{1, 4, 12});
  CHECK(strides(test::value_of(any_order(turned))) == list{8, 4, 1});
  CHECK(strides(test::value_of(any_order(a))) == list{12, 4, 1});
  CHECK(test::says(test::error_of(gpu::zeros_like(f.stream, a(2))), "gpu::zeros_like", "index 2"));
  CHECK(test::says(test::error_of(gpu::ones_like(f.stream, a, order(3))), "gpu::ones_like",
                   "3 is not a valid"));
}

TEST_CASE("powers at equal distances are those of pow", "[array][creation]") {
  const fixture f;
  const auto made = test::value_of(gpu::logspace<double>(f.stream, -2, 3, 6));
  const auto found = f.download(made);
  for (int k = 0; k < 6; ++k)
    CHECK(std::abs(found[std::size_t(k)] / std::pow(10.0, k - 2) - 1) < 1e-15);
  same(gpu::logspace<int>(f.stream, 0, 4, 4, false, 2), {1, 2, 4, 8});
}

TEST_CASE("matrices have ones on a diagonal", "[array][creation]") {
  const fixture f;
  const auto eye = test::value_of(gpu::eye<float>(f.stream, 3));
  CHECK(f.download(eye) == std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  for (int diagonal = -4; diagonal < 6; ++diagonal) {
    const auto made = test::value_of(gpu::eye<int>(f.stream, 3, 4, diagonal));
    std::vector<int> expected(12);
    for (int i = 0; i < 12; ++i) expected[std::size_t(i)] = i % 4 - i / 4 == diagonal;
    CHECK(f.download(made) == expected);
  }
}

TEST_CASE("arrays are made of a function of the index", "[array][creation]") {
  const fixture f;
  const auto made = test::value_of(gpu::from_function<float>(f.stream, gpu::shape{3, 4, 5},
                                                             "i0 * 100 + i1 * 10 + i2 + i * 0.5"));
  const auto found = f.download(made);
  for (int i = 0; i < 60; ++i)
    REQUIRE(found[std::size_t(i)] == float(i / 20 * 100 + i / 5 % 4 * 10 + i % 5 + i * 0.5));
  const auto single = test::value_of(gpu::from_function<int>(f.stream, gpu::shape<0>(), "42"));
  const auto with_comment =
      test::value_of(gpu::from_function<int>(f.stream, gpu::shape{3}, "i0 * 2 // even"));
  CHECK(f.download(with_comment) == std::vector<int>{0, 2, 4});
  CHECK(test::value_of(gpu::item(f.stream, single)) == 42);
  const auto indices = test::value_of(gpu::indices<short>(f.stream, gpu::shape{2, 3}));
  CHECK(indices.shape() == gpu::shape{2, 2, 3});
  CHECK(f.download(indices) == std::vector<short>{0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2});
  const auto error =
      test::error_of(gpu::from_function<float>(f.stream, gpu::shape{3}, "i0 + missing"));
  CHECK(error == gpu::errc::compile_failed);
  CHECK(test::says(error, "missing"));
}

}}  // namespace creation_test
