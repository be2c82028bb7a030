// Assignments that come again and are launched without being planned again, against arithmetic on
// the host.

#include "array/array_fixture.hpp"

#include <gpu/array.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace known_launches_test { namespace {

using array_test::fixture;

TEST_CASE("an assignment that comes again reads its operands and numbers anew",
          "[array][expression]") {
  const fixture f;
  auto x = test::value_of(gpu::array<float>::from(f.stream, {1, 2, 3, 4}));
  auto y = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{4}));
  for (int k = 0; k < 5; ++k) {
    const auto number = static_cast<float>(k);
    test::value_of(gpu::assign(f.stream, y, number * x + (number - 1)));
    CHECK(f.download(y) ==
          std::vector<float>{2 * number - 1, 3 * number - 1, 4 * number - 1, 5 * number - 1});
    test::value_of(gpu::assign(f.stream, x, x + 0));
    test::value_of(gpu::assign(f.stream, y(gpu::slice(0, 4, 2)), -x(gpu::slice(0, 4, 2))));
    CHECK(f.download(y) == std::vector<float>{-1, 3 * number - 1, -3, 5 * number - 1});
  }
}

TEST_CASE("an assignment is not taken for another with the same memory", "[array][expression]") {
  const fixture f;
  auto x = test::value_of(gpu::array<float>::from(f.stream, {1, 2, 3, 4}));
  auto y = test::value_of(gpu::zeros<float>(f.stream, gpu::shape{4}));
  const auto other_stream = test::value_of(gpu::stream::create(f.stream.device()));
  for (int k = 0; k < 3; ++k) {
    CAPTURE(k);
    test::value_of(gpu::assign(f.stream, y, x + 1));
    CHECK(f.download(y) == std::vector<float>{2, 3, 4, 5});
    test::value_of(gpu::assign(f.stream, y, x - 1));
    CHECK(f.download(y) == std::vector<float>{0, 1, 2, 3});
    test::value_of(gpu::assign(f.stream, y, gpu::reverse(x) + 1));
    CHECK(f.download(y) == std::vector<float>{5, 4, 3, 2});
    test::value_of(gpu::assign(f.stream, gpu::reverse(y), x + 1));
    CHECK(f.download(y) == std::vector<float>{5, 4, 3, 2});
    test::value_of(gpu::assign(f.stream, gpu::reshape(y, 2, 2), x(gpu::slice(0, 2)) + 1));
    CHECK(f.download(y) == std::vector<float>{2, 3, 2, 3});
    test::value_of(gpu::assign(f.stream, y(gpu::slice(0, 2)), x(gpu::slice(0, 2)) - 1));
    CHECK(f.download(y) == std::vector<float>{0, 1, 2, 3});
    auto integers = gpu::view_as<int>(y);
    test::value_of(gpu::assign(f.stream, integers, x + 1));
    CHECK(test::value_of(gpu::item(f.stream, integers(3))) == 5);
    test::value_of(f.stream.synchronize());
    test::value_of(gpu::assign(other_stream, y, x + 1));
    test::value_of(other_stream.synchronize());
    CHECK(f.download(y) == std::vector<float>{2, 3, 4, 5});
  }
}

TEST_CASE("an assignment that has become wrong is refused", "[array][expression]") {
  const fixture f;
  auto x = test::value_of(gpu::array<std::uint8_t>::from(f.stream, {1, 2}));
  auto y = test::value_of(gpu::zeros<std::uint8_t>(f.stream, gpu::shape{2}));
  for (const int number : {1, 2, 3}) test::value_of(gpu::assign(f.stream, y, x + number));
  CHECK(f.download(y) == std::vector<std::uint8_t>{4, 5});
  CHECK(test::says(test::error_of(gpu::assign(f.stream, y, x + 300)), "300 does not fit"));
  const auto moved = std::move(x);
  CHECK(test::error_of(gpu::assign(f.stream, y, x + 3)) == gpu::errc::empty_handle);
  CHECK(test::error_of(gpu::assign({}, y, moved + 3)) == gpu::errc::empty_handle);
  test::value_of(gpu::assign(f.stream, y, moved + 3));
}

TEST_CASE("threads assign the same at the same time", "[array][expression][threads]") {
  const fixture f;
  const auto x = test::value_of(gpu::array<int>::from(f.stream, {1, 2, 3}));
  auto y = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{4, 3}));
  test::value_of(gpu::prepare(f.stream, y(0), x * 2 + x));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 20; ++k) {
        static_cast<void>(gpu::assign(f.stream, y(t), x * t + x));
        static_cast<void>(gpu::assign(f.stream, y(0), x * 0 + x));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(f.download(y) == std::vector<int>{1, 2, 3, 2, 4, 6, 3, 6, 9, 4, 8, 12});
}

TEST_CASE("an assignment that comes again fails with its calls", "[array][expression][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::stream stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
    auto x = GPU_TRY(gpu::array<float>::from(stream, {1, 2, 3}));
    for (int k = 0; k < 3; ++k) GPU_TRY(gpu::assign(stream, x, x * 2 - 1));
    return stream.synchronize();
  };
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}}  // namespace known_launches_test
