// Expressions of arrays: their types, shapes and kernels, and what they refuse, against arithmetic
// on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace expression_test { namespace {

using algorithm_test::fixture;

template <class T, class E> constexpr bool has_type = std::is_same_v<typename E::value_type, T>;

/// Returns how many kernels have been compiled for an expression with such operands.
template <class Out, class E>
std::size_t count_kernels(const gpu::stream_ref& stream, Out& out, const E& e) {
  namespace detail = gpu::detail;
  const detail::evaluation call{"test", stream, gpu::source_location::current()};
  const auto assignment = gpu::into(out, e);
  const detail::expression_target target = assignment.target();
  detail::expression_layout layout;
  test::value_of(detail::add_expression(call, target.expression, layout));
  layout.add_key(0);
  layout.add_key(static_cast<std::uint32_t>(target.kind));
  return test::value_of(detail::find_expression(call, layout, &target, 1))->loops.kernels.size();
}

gpu::result<float> first(gpu::stream_ref stream, const std::vector<float>& host) {
  auto x = GPU_TRY(gpu::array<float>::from(stream, host));
  auto y = GPU_TRY(gpu::evaluate(stream, 2 * x + gpu::sqrt(x) * x - x / (x + 1)));
  GPU_TRY(gpu::assign(stream, y, gpu::where(y > 8, y, 0)));
  return gpu::item(stream, y(0) + y(1) + y(2));
}

TEST_CASE("an expression runs as one kernel and in place", "[array][expression]") {
  const fixture f;
  const auto element = [](float x) { return 2 * x + std::sqrt(x) * x - x / (x + 1); };
  const float small = element(1), large = element(9), larger = element(16);
  REQUIRE(small < 8);
  CHECK(test::value_of(first(f.stream, {1, 9, 16})) == 0 + large + larger);
}

TEST_CASE("the types of expressions are NumPy's", "[array][expression]") {
  using gpu::array_view;
  const array_view<const std::int8_t> i8;
  const array_view<const std::uint8_t> u8;
  const array_view<int> i32;
  const array_view<long long> i64;
  const array_view<unsigned long> u64;
  const array_view<float, 2> f32;
  const array_view<double> f64;
  const array_view<bool> b;
  const array_view<std::complex<float>> c64;
  STATIC_REQUIRE(has_type<std::int16_t, decltype(i8 + u8)>);
  STATIC_REQUIRE(has_type<double, decltype(i32 + f32)>);
  STATIC_REQUIRE(has_type<float, decltype(i8 + f32)>);
  STATIC_REQUIRE(has_type<double, decltype(i64 + u64)>);
  STATIC_REQUIRE(has_type<std::complex<double>, decltype(c64 * f64)>);
  STATIC_REQUIRE(has_type<std::complex<float>, decltype(c64 * f32)>);
  STATIC_REQUIRE(has_type<bool, decltype(b + b)>);
  STATIC_REQUIRE(has_type<std::int8_t, decltype(i8 + 1)>);
  STATIC_REQUIRE(has_type<double, decltype(i8 + 1.5f)>);
  STATIC_REQUIRE(has_type<std::int64_t, decltype(b + 1)>);
  STATIC_REQUIRE(has_type<float, decltype(2.0 * f32)>);
  STATIC_REQUIRE(has_type<double, decltype(gpu::scalar<double>(2) * f32)>);
  STATIC_REQUIRE(has_type<std::complex<float>, decltype(f32 + std::complex<double>(0, 1))>);
  STATIC_REQUIRE(has_type<std::complex<double>, decltype(i32 + std::complex<double>(0, 1))>);
  STATIC_REQUIRE(has_type<bool, decltype(f32 == i32)>);
  STATIC_REQUIRE(has_type<double, decltype(gpu::true_divide(i8, i8))>);
  STATIC_REQUIRE(has_type<float, decltype(gpu::sin(i8))>);
  STATIC_REQUIRE(has_type<double, decltype(gpu::sin(i32))>);
  STATIC_REQUIRE(has_type<float, decltype(gpu::abs(c64))>);
  STATIC_REQUIRE(has_type<std::int64_t, decltype(gpu::where(b, 1, 2))>);
  STATIC_REQUIRE(decltype(f32 + i32)::rank == 2);
  // One type, so one kernel: arrays, views and const views; numbers of any type.
  STATIC_REQUIRE(std::is_same_v<decltype(2 * f32), decltype(2.0 * array_view<const float, 2>())>);
}

TEST_CASE("integers wrap around, and comparisons of them are exact", "[array][expression]") {
  const fixture f;
  const std::vector<std::int32_t> large{INT32_MAX, INT32_MIN, 65535, -1};
  const auto a = test::value_of(gpu::array<std::int32_t>::from(f.stream, large));
  const auto doubled = f.download(test::value_of(gpu::evaluate(f.stream, a + a)));
  const auto squared = f.download(test::value_of(gpu::evaluate(f.stream, a * a)));
  const auto negative = f.download(test::value_of(gpu::evaluate(f.stream, -a)));
  for (std::size_t i = 0; i < large.size(); ++i) {
    const auto u = static_cast<std::uint32_t>(large[i]);
    CHECK(doubled[i] == static_cast<std::int32_t>(u + u));
    CHECK(squared[i] == static_cast<std::int32_t>(u * u));
    CHECK(negative[i] == static_cast<std::int32_t>(0 - u));
  }
  const auto s = test::value_of(gpu::array<std::int64_t>::from(f.stream, {-1, 5, INT64_MAX}));
  const auto u = test::value_of(
      gpu::array<std::uint64_t>::from(f.stream, {UINT64_MAX, 5, std::uint64_t{INT64_MAX} + 1}));
  auto less = test::value_of(gpu::empty<int>(f.stream, gpu::shape{3}));
  test::value_of(gpu::assign(f.stream, less, s < u));
  CHECK(f.download(less) == std::vector<int>{1, 0, 1});
  test::value_of(gpu::assign(f.stream, less, u == s));
  CHECK(f.download(less) == std::vector<int>{0, 1, 0});
  const auto bytes = test::value_of(gpu::array<std::uint8_t>::from(f.stream, {1, 200, 255}));
  test::value_of(gpu::assign(f.stream, less, bytes < 300));
  CHECK(f.download(less) == std::vector<int>{1, 1, 1});
  test::value_of(gpu::assign(f.stream, less, bytes > -1));
  CHECK(f.download(less) == std::vector<int>{1, 1, 1});
}

TEST_CASE("products and sums are not contracted, unless asked for", "[array][expression]") {
  const fixture f;
  const float x = 1 + 0x1p-12f;
  const auto a = test::value_of(gpu::array<float>::from(f.stream, {x}));
  const volatile float product = x * x;
  CHECK(test::value_of(gpu::item(f.stream, a * a - 1)) == product - 1);
  CHECK(test::value_of(gpu::item(f.stream, gpu::fma(a, a, -1))) == std::fma(x, x, -1.0f));
  CHECK(test::value_of(gpu::item(f.stream, gpu::fast(a * a - 1))) == std::fma(x, x, -1.0f));
}

TEST_CASE("operands are repeated to a common shape", "[array][expression]") {
  const fixture f;
  const auto column = test::value_of(gpu::array<int, 2>::from(f.stream, {{10}, {20}}));
  const auto row = test::value_of(gpu::array<int>::from(f.stream, {1, 2, 3}));
  const auto sums = test::value_of(gpu::evaluate(f.stream, column + row * 2));
  CHECK(sums.shape() == gpu::shape{2, 3});
  CHECK(f.download(sums) == std::vector<int>{12, 14, 16, 22, 24, 26});
  const auto turned = test::value_of(gpu::evaluate(f.stream, gpu::transpose(sums) + 1));
  CHECK(f.download(turned) == std::vector<int>{13, 23, 15, 25, 17, 27});
  auto cube = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{2, 2, 3}));
  test::value_of(gpu::assign(f.stream, cube, column + row));
  CHECK(f.download(cube) == std::vector<int>{11, 12, 13, 21, 22, 23, 11, 12, 13, 21, 22, 23});
  const auto one = test::value_of(gpu::evaluate(f.stream, row(0) + row(2)));
  CHECK(decltype(one)::rank == 0);
  CHECK(test::value_of(gpu::item(f.stream, one)) == 4);
  const auto none = test::value_of(gpu::evaluate(f.stream, column(gpu::slice(0, 0)) + row));
  CHECK(none.shape() == gpu::shape{0, 3});
  CHECK(test::value_of(gpu::item(f.stream, gpu::scalar<float>(2) * 3)) == 6);
}

TEST_CASE("an expression reads what was there before it", "[array][expression]") {
  const fixture f;
  std::vector<float> host(300);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  auto a = test::value_of(gpu::array<float>::from(f.stream, host));
  const auto later = a(gpu::slice(1, gpu::to_end)), earlier = a(gpu::slice(0, -1));
  test::value_of(gpu::assign(f.stream, later, later + earlier * 2));
  const auto found = f.download(a);
  for (std::size_t i = 1; i < host.size(); ++i) REQUIRE(found[i] == host[i] + host[i - 1] * 2);
  // As if it had been evaluated first: rounded to float before it becomes an integer.
  auto n = test::value_of(gpu::array<int>::from(f.stream, {3, 2, 1}));
  test::value_of(gpu::assign(f.stream, n, gpu::reverse(n) * 1.5));
  CHECK(f.download(n) == std::vector<int>{1, 3, 4});
}

TEST_CASE("an operand that occurs several times is loaded once", "[array][expression]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<float>::from(f.stream, {1, 2, 3}));
  const auto y = test::value_of(gpu::array<float>::from(f.stream, {1, 2, 3}));
  const auto loads = [](const gpu::text& source) {
    std::string_view code(source.data(), source.size());
    code = code.substr(0, code.find("} else"));  // the threads of whole tiles
    std::size_t count = 0;
    for (std::size_t at = 0; (at = code.find("gpu::loops::load<", at)) != code.npos; ++at) ++count;
    return count;
  };
  CHECK(loads(test::value_of(gpu::source_of(x * x + x / (x + 1) * x))) == 1);
  CHECK(loads(test::value_of(gpu::source_of(x * y + x))) == 2);
  CHECK(loads(test::value_of(gpu::source_of(x + gpu::reverse(x)))) == 2);
}

TEST_CASE("one expression has few kernels", "[array][expression]") {
  const fixture f;
  std::vector<int> host(40 * 50);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i * 7919 % 1000);
  const auto a = test::value_of(gpu::array<int, 2>::from(f.stream, host, {40, 50}));
  auto buffer = test::value_of(gpu::empty<int>(f.stream, gpu::shape{2000}));
  std::mt19937 random(7);
  const auto any = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  const auto part = [&](int extent) {
    const int step = any(1, 3) * (any(0, 1) == 0 ? 1 : -1), start = any(0, extent - 1);
    return step > 0 ? gpu::slice(start, gpu::to_end, step)
                    : gpu::slice(start, gpu::before_start, step);
  };
  std::size_t kernels = 0;
  for (int k = 0; k < 1000; ++k) {
    const gpu::slice rows = part(40), columns = part(50);
    const auto view = any(0, 3) == 0 ? gpu::transpose(a)(columns, rows) : a(rows, columns);
    auto out = gpu::reshape(buffer.span().first(view.size()), view.shape());
    test::value_of(gpu::assign(f.stream, out, view * 3 - 1));
    kernels = count_kernels(f.stream, out, view * 3 - 1);
    if (k % 20 != 0) continue;
    const auto found = f.download(buffer.span().first(view.size()));
    const auto copied = f.download(test::value_of(gpu::evaluate(f.stream, view)));
    for (std::size_t i = 0; i < copied.size(); ++i) REQUIRE(found[i] == copied[i] * 3 - 1);
  }
  CHECK(kernels <= 9);
}

TEST_CASE("what cannot be evaluated is refused", "[array][expression]") {
  const fixture f;
  auto a = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{3, 4}));
  auto bytes = test::value_of(gpu::zeros<std::uint8_t>(f.stream, gpu::shape{4}));
  const auto turned = gpu::transpose(a);
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, a + turned)), "gpu::evaluate",
                   "cannot broadcast (3, 4) with (4, 3)", "from the last one"));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, bytes, bytes + a(0, gpu::slice(0, 2)))),
                   "gpu::assign", "cannot broadcast (4,) with (2,)"));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, a(0), a(gpu::all(), 0) + 1)),
                   "cannot broadcast (3,) to (4,)"));
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, a(3) + 1)), "gpu::evaluate",
                   "an operand is the result of a faulty", "index 3"));
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, bytes + 300)), "the number 300",
                   "does not fit in uint8", "gpu::scalar"));
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, bytes + -1)), "the number -1"));
  const auto x = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{4}));
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, x * 1e300)), "the number 1e+300",
                   "does not fit in float"));
  CHECK(test::says(test::error_of(gpu::item(f.stream, a + 1)), "gpu::item", "has 12 elements"));
  auto moved = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{4}));
  const auto taken = std::move(moved);
  CHECK(test::error_of(gpu::evaluate(f.stream, moved + taken)) == gpu::errc::empty_handle);
  CHECK(test::error_of(gpu::evaluate(gpu::stream_ref(), taken + 1)) == gpu::errc::empty_handle);
  CHECK(test::says(
      test::error_of(gpu::assign(
          f.stream, gpu::array_view<int, 2>::from_native(a.native(), {3, 4}, {0, 1}), a + 1)),
      "stride of 0"));
}

TEST_CASE("an expression of too many operands is refused", "[array][expression]") {
  const fixture f;
  auto a = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{4}));
  const auto sum = [](auto e) { return e + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8; };
  test::value_of(gpu::assign(f.stream, a, sum(sum(sum(a + 0)))));
  CHECK(f.download(a) == std::vector<int>(4, 3 * 36));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, a, sum(sum(sum(sum(a + 0)))))),
                   "gpu::assign", "are more than 32", "Evaluate a part"));
}

TEST_CASE("an expression of too many operations is refused", "[array][expression]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<int>::from(f.stream, {1, 2}));
  const auto fold = [](auto e) {
    const auto four = e + e + e + e;
    return four + four + four + four;
  };
  const auto large = fold(x + x);  // 63 parts
  CHECK(f.download(test::value_of(gpu::evaluate(f.stream, large))) == std::vector<int>{32, 64});
  CHECK(test::says(test::error_of(gpu::evaluate(f.stream, fold(large))), "gpu::evaluate",
                   "more than 400 operands and operations", "Evaluate a part"));
}

TEST_CASE("an operand of another device is refused", "[array][expression][two_devices]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<int>::from(f.stream, {1, 2}));
  const gpu::device other = test::value_of(gpu::device::get(1));
  const gpu::stream stream = test::value_of(gpu::stream::create(other));
  const auto y = test::value_of(gpu::array<int>::from(stream, {1, 2}));
  CHECK(test::error_of(gpu::evaluate(f.stream, x + y)) == gpu::errc::wrong_context);
  CHECK(test::error_of(gpu::evaluate(stream, x + 1)) == gpu::errc::wrong_context);
}

TEST_CASE("a capture takes what has been prepared", "[array][expression]") {
  const fixture f;
  auto x = test::value_of(gpu::array<float>::from(f.stream, {1, 2, 3}));
  auto y = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{3}));
  const auto step = x * 0.5f + y * 2;
  const auto other = gpu::abs(gpu::abs(x)) + 1;  // that no other test has had compiled
  {
    auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
    const auto refused = gpu::assign(f.stream, y, step);
    CHECK(test::says(test::error_of(refused), "not compiled yet", "gpu::prepare"));
    const auto overlapping = gpu::assign(f.stream, gpu::reverse(x), other);
    CHECK(test::says(test::error_of(overlapping), "not compiled yet", "gpu::prepare"));
    CHECK(test::error_of(gpu::item(f.stream, x(0) + 1)) == gpu::errc::capture_prohibited);
    static_cast<void>(test::value_of(capture.end()));
  }
  test::value_of(gpu::prepare(f.stream, y, step));
  test::value_of(gpu::prepare(f.stream, gpu::reverse(x), other));  // by way of a temporary array
  CHECK(f.download(y) == std::vector<float>{0, 0, 0});
  CHECK(f.download(x) == std::vector<float>{1, 2, 3});
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::assign(f.stream, y, step));
  test::value_of(gpu::assign(f.stream, gpu::reverse(x), other));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  for (int k = 0; k < 2; ++k) test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(x) == std::vector<float>{3, 4, 5});  // 4, 3, 2, and then back
  CHECK(f.download(y) == std::vector<float>{3, 3.5, 4});
}

TEST_CASE("threads evaluate one expression at the same time", "[array][expression][threads]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<int>::from(f.stream, {1, 2, 3}));
  std::vector<std::vector<int>> found(4);
  std::vector<std::thread> threads;
  for (auto& own : found) {
    threads.emplace_back([&] {
      const auto made = gpu::evaluate(f.stream, (x ^ 5) * x);
      own.resize(3);
      if (!made.has_value() || !gpu::copy(*made, own).has_value()) own.clear();
    });
  }
  for (std::thread& each : threads) each.join();
  for (const auto& own : found) CHECK(own == std::vector<int>{4, 14, 18});
}

TEST_CASE("an evaluation fails with each of its calls", "[array][expression][cpu]") {
  const auto run = [] {
    return [&]() -> gpu::result<> {
      const gpu::device device = GPU_TRY(gpu::device::get(0));
      const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
      auto x = GPU_TRY(gpu::array<float>::from(stream, {1, 2, 3}));
      const auto made = GPU_TRY(gpu::evaluate(stream, x * 2 - 1));
      GPU_TRY(gpu::assign(stream, gpu::reverse(x), made + x));
      GPU_TRY(gpu::item(stream, made(2) / 2));
      return stream.synchronize();
    }();
  };
  algorithm_test::check_first_allocations(run);
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}}  // namespace expression_test
