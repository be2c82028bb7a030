#include "support/catch.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/located.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>

#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace result_test {

using gpu::errc;
using gpu::result;

namespace {

result<int> half(int n) {
  if (n % 2 != 0) {
    return gpu::detail::fail(gpu::detail::refusal(errc::invalid_argument, "half", gpu::text("odd"),
                                                  gpu::source_location::current()));
  }
  return n / 2;
}

result<> check_even(int n) {
  GPU_TRY(half(n));
  return {};
}

result<int> quarter(int n, int& steps) {
  const int once = GPU_TRY(half(n));
  ++steps;
  const int twice = GPU_TRY(half(once));
  ++steps;
  return twice;
}

result<std::unique_ptr<int>> boxed(int n) { return std::make_unique<int>(GPU_TRY(half(n))); }

result<int> unboxed(int n) {
  std::unique_ptr<int> box = GPU_TRY(boxed(n));
  return *box;
}

struct three {
  int a, b, c;
};
template <class A, class B> result<A> first_of(A a, B) { return a; }

gpu::detail::stable_result halve(int& n) {
  n = GPU_TRY(half(n));
  return {};
}
result<> halve_twice(int& n) {
  GPU_TRY(halve(n));
  return halve(n);
}

int line_of(gpu::located<int> where) { return static_cast<int>(where.where.line()); }

}  // namespace

#if defined(__cpp_exceptions)

TEST_CASE("value() of a failed result throws the error with its sentence", "[core][result]") {
  const result<int> failed = half(3);
  const std::string sentence = failed.error().message().c_str();
  CHECK(sentence.find("half: invalid_argument") == 0);
  const auto thrown = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const gpu::bad_expected_access<gpu::cuda_error>& access) {
      CHECK(access.error() == errc::invalid_argument);
      CHECK(std::string(access.what()) == access.error().message().c_str());
      return access.what();
    }
    return "nothing is thrown";
  };
  CHECK(thrown([&] { (void)failed.value(); }) == sentence);
  CHECK(thrown([&] { (void)result<int>(failed).value(); }) == sentence);
  CHECK(thrown([&] { check_even(3).value(); }) == check_even(3).error().message().c_str());
  try {
    (void)failed.value();
  } catch (const std::exception& any) {
    CHECK(any.what() == sentence);
  }
  try {
    (void)failed.value();
  } catch (gpu::bad_expected_access<gpu::cuda_error>& access) {
    const gpu::cuda_error taken = std::move(access).error();
    CHECK(taken.message().c_str() == sentence);
    CHECK(access.what() == sentence);
  }
}

#endif

TEST_CASE("GPU_TRY: yields the value or returns the error", "[core][result]") {
  int steps = 0;
  CHECK(quarter(12, steps).value() == 3);
  CHECK(steps == 2);
  steps = 0;
  const result<int> failed = quarter(6, steps);
  REQUIRE(!failed.has_value());
  CHECK(failed.error() == errc::invalid_argument);
  CHECK(steps == 1);
}

TEST_CASE("GPU_TRY: for results without a value", "[core][result]") {
  CHECK(check_even(4).has_value());
  CHECK(!check_even(5).has_value());
}

TEST_CASE("GPU_TRY: moves what cannot be copied", "[core][result]") {
  CHECK(unboxed(8).value() == 4);
  CHECK(!unboxed(7).has_value());
}

TEST_CASE("GPU_TRY: commas and nesting are fine", "[core][result]") {
  const auto sum = []() -> result<int> {
    const three t{GPU_TRY(half(2)), GPU_TRY(half(4)), GPU_TRY(half(6))};
    return t.a + t.b + t.c + GPU_TRY(first_of<int, char>(GPU_TRY(half(8)), 'x'));
  };
  CHECK(sum().value() == 1 + 2 + 3 + 4);
}

TEST_CASE("GPU_TRY: the expression runs once", "[core][result]") {
  int calls = 0;
  const auto count = [&]() -> result<int> { return ++calls; };
  const auto outer = [&]() -> result<int> { return GPU_TRY(count()); };
  CHECK(outer().value() == 1);
  CHECK(calls == 1);
}

TEST_CASE("result: an outcome passes through a stable_result", "[core][result]") {
  int n = 8;
  CHECK((halve_twice(n).has_value() && n == 2));
  for (int each : {6, 3}) {  // the second half fails, and the first
    const result<> failed = halve_twice(each);
    CHECK((!failed && failed.error() == errc::invalid_argument));
    CHECK(failed.error().message() == half(3).error().message());
  }
}

TEST_CASE("result: a failure without a call stays a failure in a stable_result", "[core][result]") {
  const gpu::cuda_error unnamed(gpu::error_domain::gpu, 1, nullptr, gpu::source_location{});
  const result<> outcome = gpu::detail::stable_result(gpu::detail::fail(unnamed));
  CHECK((!outcome.has_value() && outcome.error().code() == 1));
}

TEST_CASE("located: notes the line of the call", "[core][located]") {
  const int here = __LINE__ + 1;
  CHECK(line_of(5) == here);
}

TEST_CASE("source_location: names file and line", "[core][source_location]") {
  const gpu::source_location here = gpu::source_location::current();
  CHECK(here.line() == __LINE__ - 1);
  CHECK(std::string(here.file_name()).find("result_test.cpp") != std::string::npos);
  CHECK(gpu::source_location().line() == 0);
}

}  // namespace result_test
