// Reductions as expressions, against NumPy.

#include "array/array_fixture.hpp"

#include <gpu/array/array.hpp>
#include <gpu/array/axes.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/array/functions.hpp>
#include <gpu/array/reductions.hpp>
#include <gpu/array/to_text.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace reductions_test { namespace {

using namespace array_test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// A reduction of a view, and NumPy's results.
struct reference {
  std::string function;
  char type, view;
  unsigned axes;
  std::vector<double> results;
};

const std::vector<reference>& references() {
  static const std::vector<reference> all = {
#include "array/reductions_reference.inc"
  };
  return all;
}

/// The elements that tests/array/reductions_reference takes.
std::vector<double> pool(char type) {
  const std::vector<double> real = {0.5,  -1.25, 2,  3.5, -0.75, 1, -2.5,
                                    0.25, 4,     -3, 1.5, 0.125, -1};
  if (type == 'n')
    return {0.5, -1.25, 2, 3.5, -0.75, nan, 6, -2, nan, 1, inf, -0.5, nan, 3, -7, nan, 2};
  if (type == 'i') return {2147483647, -3, 5, 2, -2147483648., 7, 1, 0, 2, -4, 9};
  if (type == 'g') return {127, -128, 5, 2, 100, 7, 1, 0, 90, -4, 9};
  if (type == 'o') return {1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0};
  return real;
}

/// The results of a function, which takes a view and options, as numbers in C order.
template <class T, class Reduce>
std::vector<double> reduced(const fixture& f, const gpu::array_view<const T, 3>& view,
                            unsigned bits, Reduce reduce) {
  const auto read = [&](const auto& expression) {
    const auto made = test::value_of(gpu::evaluate(f.stream, expression));
    const auto wide = test::value_of(gpu::evaluate(f.stream, gpu::cast<double>(made)));
    return f.download(wide);
  };
  std::vector<int> axes;
  for (int axis = 0; axis < 3; ++axis) {
    if ((bits >> axis & 1u) != 0) axes.push_back(axis);
  }
  if (axes.size() == 1) return read(reduce(view, gpu::axes{axes[0]}));
  if (axes.size() == 2) return read(reduce(view, gpu::axes{axes[1], axes[0] - 3}));
  return read(reduce(view));
}

template <class T>
std::vector<double> results_of(const fixture& f, const gpu::array_view<const T, 3>& view,
                               const reference& wanted) {
  const std::string& name = wanted.function;
#define GPU_TEST_REDUCTION(FUNCTION)     \
  if (name == #FUNCTION)                 \
    return reduced(f, view, wanted.axes, \
                   [](const auto& x, const auto&... axes) { return gpu::FUNCTION(x, axes...); });
  GPU_TEST_REDUCTION(sum)
  GPU_TEST_REDUCTION(product)
  GPU_TEST_REDUCTION(min)
  GPU_TEST_REDUCTION(max)
  GPU_TEST_REDUCTION(argmin)
  GPU_TEST_REDUCTION(argmax)
  GPU_TEST_REDUCTION(mean)
  GPU_TEST_REDUCTION(variance)
  GPU_TEST_REDUCTION(norm)
  GPU_TEST_REDUCTION(any_of)
  GPU_TEST_REDUCTION(all_of)
  GPU_TEST_REDUCTION(count)
  if constexpr (std::is_same_v<T, float>) {
    GPU_TEST_REDUCTION(standard_deviation)
    GPU_TEST_REDUCTION(nan_product)
    GPU_TEST_REDUCTION(nan_min)
    GPU_TEST_REDUCTION(nan_max)
    GPU_TEST_REDUCTION(nan_argmin)
    GPU_TEST_REDUCTION(nan_argmax)
    GPU_TEST_REDUCTION(nan_mean)
    GPU_TEST_REDUCTION(nan_standard_deviation)
  }
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int8_t>) {
    GPU_TEST_REDUCTION(nan_sum)
    GPU_TEST_REDUCTION(nan_variance)
  }
#undef GPU_TEST_REDUCTION
  FAIL("no function " << name);
  return {};
}

template <class T> void check(const fixture& f, const reference& wanted) {
  gpu::shape<3> extents{4, 5, 6};
  if (wanted.view == 'p') extents = {7, 11, 13};
  if (wanted.view == 'z') extents = {2, 0, 3};
  if (wanted.view == '1') extents = {1, 1, 1};
  const std::vector<double> values = pool(wanted.type);
  const auto host = std::make_unique<T[]>(extents.size() + 1);
  for (std::size_t k = 0; k < extents.size(); ++k)
    host[k] = static_cast<T>(values[(k * 5 + 3) % values.size()]);
  const auto base = test::value_of(
      gpu::array<T, 3>::from(f.stream, std::span(host.get(), extents.size()), extents));
  const auto all = gpu::all();
  gpu::array_view<const T, 3> view = base;
  if (wanted.view == 't') view = gpu::transpose(base);
  if (wanted.view == 'n') view = gpu::reverse(gpu::reverse(base, 0), 2);
  if (wanted.view == 's')
    view = base(all, gpu::slice(0, gpu::to_end, 2), gpu::slice(1, gpu::to_end));
  if (wanted.view == 'b')
    view = gpu::broadcast_to(base(all, gpu::slice(2, 3)), gpu::shape{4, 3, 6});
  const std::vector<double> found = results_of(f, view, wanted);
  REQUIRE(found.size() == wanted.results.size());
  const bool rounds = wanted.type != 'd';
  for (std::size_t k = 0; k < found.size(); ++k) {
    CAPTURE(k, found[k], wanted.results[k]);
    if (equal(found[k], wanted.results[k])) continue;
    const double size = std::fmax(1, std::fabs(wanted.results[k]));
    REQUIRE(std::fabs(found[k] - wanted.results[k]) <= (rounds ? 1e-6 : 1e-14) * size);
  }
}

TEST_CASE("reductions over axes are those of NumPy", "[array][reductions][thorough]") {
  const fixture f;
  for (const reference& each : references()) {
    CAPTURE(each.function, each.type, each.view, each.axes);
    switch (each.type) {
      case 'd': check<double>(f, each); break;
      case 'i': check<std::int32_t>(f, each); break;
      case 'g': check<std::int8_t>(f, each); break;
      case 'o': check<bool>(f, each); break;
      default: check<float>(f, each);
    }
  }
}

template <class T> T number(int value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<float>(value));
  }
}

TEMPLATE_TEST_CASE("elements of every type are reduced", "[array][reductions][thorough]", bool,
                   std::uint8_t, std::int16_t, std::uint16_t, std::uint32_t, std::int64_t,
                   std::uint64_t, __half, __nv_bfloat16, double, std::complex<float>) {
  const fixture f;
  const auto host = std::make_unique<TestType[]>(6);
  int k = 0;
  for (const int value : {5, 0, 3, 9, 7, 1})
    host[static_cast<std::size_t>(k++)] = number<TestType>(value);
  const auto a =
      test::value_of(gpu::array<TestType, 2>::from(f.stream, std::span(host.get(), 6), {2, 3}));
  const bool is_bool = std::is_same_v<TestType, bool>;
  const auto sum = gpu::sum(a);
  using total = typename decltype(sum)::value_type;
  static_assert(
      std::is_same_v<total, std::complex<float>> ||
      std::is_same_v<total,
                     std::conditional_t<std::is_integral_v<TestType>,
                                        std::conditional_t<std::is_signed_v<TestType> ||
                                                               std::is_same_v<TestType, bool>,
                                                           std::int64_t, std::uint64_t>,
                                        std::conditional_t<sizeof(TestType) == 8, double, float>>>);
  CHECK(test::value_of(gpu::item(f.stream, sum)) == static_cast<total>(is_bool ? 5 : 25));
  CHECK(test::value_of(gpu::item(f.stream, gpu::count(a))) == 5);
  const auto norm = gpu::square(gpu::norm(a, gpu::axis<0>));
  const auto squares = f.download(test::value_of(gpu::evaluate(f.stream, gpu::cast<double>(norm))));
  CHECK(squares[0] == Approx(is_bool ? 2 : 106));
  CHECK(squares[2] == Approx(is_bool ? 2 : 10));
  if constexpr (!std::is_same_v<TestType, std::complex<float>>) {
    same(gpu::evaluate(f.stream, gpu::cast<double>(gpu::max(a, gpu::axis<1>))), gpu::shape{2},
         {is_bool ? 1. : 5, is_bool ? 1. : 9});
    same(gpu::evaluate(f.stream, gpu::argmin(a, gpu::axis<1>)), gpu::shape{2},
         {1, is_bool ? 0 : 2});
  }
}

TEST_CASE("numbers of 16 bits are added as float", "[array][reductions]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<float>::from(f.stream, {60000, 60000, 0.1f}));
  const auto h = gpu::cast<__half>(x);  // in the kernel alone
  const float tenth = __half2float(__float2half(0.1f));
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(h))) == 120000 + tenth);
  CHECK(__half2float(test::value_of(gpu::item(f.stream, gpu::min(h)))) == tenth);
}

gpu::result<float> first(gpu::stream_ref stream, const std::vector<float>& host) {
  auto x = GPU_TRY(gpu::array<float>::from(stream, host));
  auto y = GPU_TRY(gpu::evaluate(stream, 2 * x + gpu::sin(x) * x - x / (x + 1)));
  GPU_TRY(gpu::assign(stream, y, gpu::where(y > 0, y, 0)));
  return gpu::item(stream, gpu::sum(y * y));
}

gpu::result<gpu::text> second(gpu::stream_ref stream, gpu::array_view<const float, 2> m) {
  auto mean = GPU_TRY(gpu::evaluate(stream, gpu::mean(m, gpu::axis<0>)));
  auto centred = GPU_TRY(gpu::evaluate(stream, m - mean));
  auto every_other = centred(gpu::all(), gpu::slice(0, gpu::to_end, 2));
  auto sums = GPU_TRY(gpu::evaluate(stream, gpu::sum(gpu::transpose(every_other), gpu::axis<-1>)));
  return gpu::to_text(stream, sums);
}

TEST_CASE("reductions of no elements are those of NumPy", "[array][reductions]") {
  const fixture f;
  const auto none = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{0}));
  CHECK(test::value_of(gpu::item(f.stream, gpu::sum(none))) == 0);
  CHECK(test::value_of(gpu::item(f.stream, gpu::product(none))) == 1);
  CHECK(std::isnan(test::value_of(gpu::item(f.stream, gpu::mean(none)))));
  CHECK(test::value_of(gpu::item(f.stream, gpu::norm(none))) == 0);
  CHECK_FALSE(test::value_of(gpu::item(f.stream, gpu::any_of(none))));
  CHECK(test::value_of(gpu::item(f.stream, gpu::all_of(none))));
  CHECK(test::value_of(gpu::item(f.stream, gpu::count(none))) == 0);
  CHECK(test::value_of(gpu::item(f.stream, gpu::dot(none, none))) == 0);

  // Of two lines without elements, alone and within a larger expression.
  const auto m = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{2, 0}));
  array_test::same(gpu::evaluate(f.stream, gpu::sum(m, gpu::axis<1>)), {2}, {0, 0});
  array_test::same(gpu::evaluate(f.stream, 3 - gpu::product(m, gpu::axis<1>)), {2}, {2, 2});
  array_test::same(gpu::evaluate(f.stream, gpu::sum(m, gpu::axis<1>, gpu::keep_dims) * m), {2, 0},
                   {});
  array_test::same(gpu::evaluate(f.stream, gpu::sum(m, gpu::axis<0>)), {0}, {});
  array_test::same(gpu::evaluate(f.stream, gpu::max(m, gpu::axis<0>)), {0}, {});

  // There is no smallest or largest of none, nor an index of it.
  const auto refused = [&](const auto& expression) {
    const gpu::cuda_error error = test::error_of(gpu::evaluate(f.stream, expression));
    CHECK(error == gpu::errc::invalid_argument);
    CHECK(test::says(error, "has 0 elements. Pass at least 1"));
  };
  refused(gpu::min(m, gpu::axis<1>));
  refused(gpu::argmax(m, gpu::axis<1>));
  refused(1 + gpu::max(none));
  refused(m + gpu::argmin(m, gpu::axis<-1>, gpu::keep_dims));
}

TEST_CASE("programs of arrays need no kernel", "[array][reductions][thorough]") {
  const fixture f;
  std::vector<float> host;
  double expected = 0;
  for (int k = 0; k < 1000; ++k) {
    host.push_back(0.01f * static_cast<float>(k));
    const double x = host.back(), y = 2 * x + std::sin(x) * x - x / (x + 1);
    expected += y > 0 ? y * y : 0;
  }
  CHECK(test::value_of(first(f.stream, host)) == Approx(expected).epsilon(1e-5));
  const auto m = test::value_of(gpu::array<float, 2>::from(f.stream, {{1, 2, 3}, {4, 5, 9}}));
  CHECK(test::value_of(second(f.stream, m)) == "[0. 0.]");
}

}}  // namespace reductions_test
