// Elements without repetitions against std::unique_copy.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/select/scan_compaction.hpp>
#include <gpu/algorithm/unique.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace unique_test {

struct point {
  std::int32_t x, y;
  friend bool operator==(const point& a, const point& b) { return a.x == b.x && a.y == b.y; }
};

}  // namespace unique_test

template <> struct gpu::device_name<unique_test::point> {
  static constexpr const char* value = "point";
  static constexpr const char* definition =
      "struct point {\n  int x, y;\n"
      "  bool operator==(const point& b) const { return x == b.x && y == b.y; }\n};";
};

namespace unique_test {

using algorithm_test::fixture;

/// Runs of 1 to `longest` equal elements.
template <class T> std::vector<T> runs(std::size_t count, std::size_t longest) {
  std::vector<T> made;
  for (std::size_t run = 0; made.size() < count; ++run) {
    for (std::size_t k = 0; k < run * 7919 % longest + 1 && made.size() < count; ++k)
      made.push_back(static_cast<T>(static_cast<int>(run % 100)));
  }
  return made;
}
template <class T> std::vector<T> without_repetitions(const std::vector<T>& host) {
  std::vector<T> found;
  std::unique_copy(host.begin(), host.end(), std::back_inserter(found));
  return found;
}

template <class T> void check_unique(const std::vector<T>& host) {
  const fixture f;
  const auto expected = without_repetitions(host);
  auto x = f.upload(host), out = f.make<T>(host.size());
  CHECK(test::value_of(gpu::unique(f.stream, x, out)) == expected.size());
  const auto found = f.download(out);
  CHECK(std::equal(expected.begin(), expected.end(), found.begin()));
}

TEST_CASE("unique leaves out repetitions", "[algorithm][unique]") {
  for (const std::size_t count :
       {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 16'384u, 16'385u, 70'000u}) {
    for (const std::size_t longest : {1u, 2u, 50u, 30'000u}) {
      CAPTURE(count, longest);
      check_unique(runs<int>(count, longest));
    }
  }
}

TEMPLATE_TEST_CASE("elements of any type are compared", "[algorithm][unique]", std::uint8_t,
                   std::int16_t, double) {
  check_unique(runs<TestType>(40'000, 5));
}

TEST_CASE("structures are compared by their operator", "[algorithm][unique]") {
  std::vector<point> host;
  for (int i = 0; i < 20'000; ++i) host.push_back({i / 5, i / 3});
  check_unique(host);
}

TEST_CASE("unknown numbers differ from themselves, and zeros are equal", "[algorithm][unique]") {
  const fixture f;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto x = f.upload(std::vector<float>{1, 1, nan, nan, 0.0f, -0.0f, 2});
  auto out = f.make<float>(7);
  REQUIRE(test::value_of(gpu::unique(f.stream, x, out)) == 5);
  const auto found = f.download(out);
  CHECK(found[0] == 1);
  CHECK((found[1] != found[1] && found[2] != found[2]));
  CHECK((found[3] == 0 && found[4] == 2));
}

TEST_CASE("unique needs no alignment, and counts what has no room", "[algorithm][unique]") {
  const fixture f;
  const auto host = runs<float>(50'000, 4);
  const auto expected = without_repetitions(std::vector(host.begin() + 3, host.end()));
  auto x = f.upload(host), out = f.upload(std::vector<float>(expected.size(), -1));
  auto count = f.make<std::uint32_t>(1);
  const std::size_t room = expected.size() - 5;
  test::value_of(gpu::unique(f.stream, x.span().subspan(3), out.span().first(room), count));
  CHECK(f.download(count)[0] == expected.size());
  auto found = f.download(out);
  CHECK(std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(room),
                   expected.begin()));
  CHECK(std::all_of(found.begin() + static_cast<std::ptrdiff_t>(room), found.end(),
                    [](float each) { return each == -1; }));
  const auto error =
      test::error_of(gpu::unique(f.stream, x.span().subspan(3), out.span().first(room)));
  CHECK(error == gpu::errc::size_mismatch);
  CHECK(test::says(error, ("out has " + std::to_string(room)).c_str(),
                   std::to_string(expected.size()).c_str()));
}

TEST_CASE("counts of 64 bits work as well", "[algorithm][unique]") {
  const fixture f;
  const auto host = runs<int>(30'000, 4);
  const auto expected = without_repetitions(host);
  auto x = f.upload(host), out = f.make<int>(host.size()), count = f.make<int>(1);
  auto& wide = *test::value_of(gpu::detail::find_unique<int, int>(std::size_t{1} << 32, {}));
  CHECK(wide.wide);
  gpu::detail::bound_argument<const int*> values(x);
  const gpu::detail::loop_argument list[] = {values.get()};
  test::value_of(gpu::detail::run_compaction(
      wide, f.stream, {}, list, 1,
      {gpu::detail::name_elements("out", out), {}, gpu::detail::name_count(count)}));
  CHECK(f.download(count)[0] == static_cast<int>(expected.size()));
  const auto found = f.download(out);
  CHECK(std::equal(expected.begin(), expected.end(), found.begin()));
}

TEST_CASE("unique refuses what does not fit", "[algorithm][unique]") {
  const fixture f;
  auto x = f.upload(std::vector<int>(100, 1)), out = f.make<int>(100);
  auto count = f.make<int>(1);
  const auto overlap = test::error_of(gpu::unique(f.stream, x, x));
  CHECK(overlap == gpu::errc::invalid_argument);
  CHECK(test::says(overlap, "gpu::unique", "x and out overlap in memory"));
  CHECK(test::says(test::error_of(gpu::unique(f.stream, x, out, out.span().first(1))),
                   "out and count overlap"));
  CHECK(test::says(test::error_of(gpu::unique(f.stream, x, out, count.span().first(0))),
                   "count has 0 elements"));
  const auto moved = std::move(x);
  CHECK(test::error_of(gpu::unique(f.stream, x, out)) == gpu::errc::empty_handle);
}

TEST_CASE("each call of unique may fail", "[algorithm][unique][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    auto y = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::unique(stream, x, y));
    return {};
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large arrays without repetitions", "[algorithm][unique][hardware]") {
  const fixture f;
  for (const std::size_t count : {(std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3}) {
    CAPTURE(count);
    auto x = f.make<std::uint8_t>(count), out = f.make<std::uint8_t>(count);
    test::value_of(gpu::fill(f.stream, x, std::uint8_t{3}));
    test::value_of(gpu::fill(f.stream, x.span().subspan(count / 2, 1), std::uint8_t{4}));
    CHECK(test::value_of(gpu::unique(f.stream, x, out)) == 3);
    CHECK(f.download(out.span().first(3)) == std::vector<std::uint8_t>{3, 4, 3});
  }
}

}  // namespace unique_test
