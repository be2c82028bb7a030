// Runs of equal elements against a loop on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/run_length.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace run_length_test {

using algorithm_test::fixture;

template <class T> struct encoded {
  std::vector<T> values;
  std::vector<int> lengths;
};
template <class T> encoded<T> encode(const std::vector<T>& host) {
  encoded<T> found;
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (i == 0 || host[i] != host[i - 1]) {
      found.values.push_back(host[i]);
      found.lengths.push_back(0);
    }
    ++found.lengths.back();
  }
  return found;
}
/// Runs of 1 to `longest` equal elements.
template <class T> std::vector<T> runs(std::size_t count, std::size_t longest) {
  std::vector<T> made;
  for (std::size_t run = 0; made.size() < count; ++run) {
    for (std::size_t k = 0; k < run * 7919 % longest + 1 && made.size() < count; ++k)
      made.push_back(static_cast<T>(static_cast<int>(run % 100)));
  }
  return made;
}

template <class T> void check_runs(const std::vector<T>& host) {
  const fixture f;
  const auto expected = encode(host);
  auto x = f.upload(host), values = f.make<T>(host.size());
  auto lengths = f.make<int>(host.size());
  REQUIRE(test::value_of(gpu::run_length(f.stream, x, values, lengths)) == expected.values.size());
  const auto found = f.download(values);
  const auto found_lengths = f.download(lengths);
  CHECK(std::equal(expected.values.begin(), expected.values.end(), found.begin()));
  CHECK(std::equal(expected.lengths.begin(), expected.lengths.end(), found_lengths.begin()));
}

TEST_CASE("run_length finds runs and their lengths", "[algorithm][run_length]") {
  for (const std::size_t count :
       {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 8192u, 8193u, 50'000u}) {
    for (const std::size_t longest : {1u, 2u, 50u, 30'000u}) {
      CAPTURE(count, longest);
      check_runs(runs<int>(count, longest));
    }
  }
  check_runs(std::vector<int>(50'000, 7));
}

TEMPLATE_TEST_CASE("runs may be of any type", "[algorithm][run_length]", std::uint8_t, double) {
  check_runs(runs<TestType>(40'000, 5));
}

TEST_CASE("of equal elements the last one of the run is stored", "[algorithm][run_length]") {
  const fixture f;
  const auto x = f.upload(std::vector<float>{0.0f, -0.0f, 1, -0.0f, 0.0f});
  auto values = f.make<float>(3);
  auto lengths = f.make<int>(3);
  CHECK(test::value_of(gpu::run_length(f.stream, x, values, lengths)) == 3);
  CHECK(std::signbit(f.download(values)[0]));
  CHECK_FALSE(std::signbit(f.download(values)[2]));
  CHECK(f.download(lengths) == std::vector<int>{2, 1, 2});
}

TEST_CASE("runs without room are counted", "[algorithm][run_length]") {
  const fixture f;
  const auto host = runs<int>(40'000, 9);
  const auto expected = encode(host);
  auto x = f.upload(host), values = f.upload(std::vector(expected.values.size(), -1));
  auto lengths = f.upload(std::vector<std::int64_t>(expected.values.size(), -1));
  auto count = f.make<std::int64_t>(1);
  const std::size_t room = expected.values.size() - 3;
  test::value_of(
      gpu::run_length(f.stream, x, values.span().first(room), lengths.span().first(room), count));
  CHECK(f.download(count)[0] == static_cast<std::int64_t>(expected.values.size()));
  const auto found = f.download(values);
  const auto found_lengths = f.download(lengths);
  for (std::size_t k = 0; k < found.size(); ++k) {
    REQUIRE(found[k] == (k < room ? expected.values[k] : -1));
    REQUIRE(found_lengths[k] == (k < room ? expected.lengths[k] : -1));
  }
  const auto error = test::error_of(
      gpu::run_length(f.stream, x, values.span().first(room), lengths.span().first(room)));
  CHECK(test::says(error, ("values has " + std::to_string(room)).c_str()));
}

TEST_CASE("run_length refuses what does not fit", "[algorithm][run_length]") {
  const fixture f;
  auto x = f.upload(std::vector<int>(100, 1)), values = f.make<int>(100), lengths = f.make<int>(99);
  const auto sizes = test::error_of(gpu::run_length(f.stream, x, values, lengths));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "gpu::run_length", "values has 100 elements", "lengths has 99"));
  CHECK(test::says(test::error_of(gpu::run_length(f.stream, x, values, values)),
                   "values and lengths overlap"));
  CHECK(
      test::says(test::error_of(gpu::run_length(f.stream, x, x, values)), "x and values overlap"));
}

TEST_CASE("a type that cannot hold the numbers is refused", "[algorithm][run_length]") {
  const fixture f;
  auto x = f.upload(std::vector<int>(300, 1)), values = f.make<int>(300);
  auto lengths = f.make<std::uint8_t>(300), count = f.make<std::uint8_t>(1);
  auto wide = f.make<int>(300);
  const auto narrow = test::error_of(gpu::run_length(f.stream, x, values, lengths));
  CHECK(narrow == gpu::errc::invalid_argument);
  CHECK(test::says(narrow, "lengths has a type that holds numbers up to 255", "300 elements"));
  CHECK(test::says(test::error_of(gpu::run_length(f.stream, x, values, wide, count)),
                   "count has a type that holds numbers up to 255", "larger integer"));
  const auto part = x.span().first(255);
  CHECK(test::value_of(gpu::run_length(f.stream, part, values, lengths)) == 1);
  CHECK(f.download(lengths.span().first(1))[0] == 255);
}

TEST_CASE("each call of run_length may fail", "[algorithm][run_length][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    auto values = GPU_TRY(gpu::device_buffer<int>::create(stream, 5));
    auto lengths = GPU_TRY(gpu::device_buffer<int>::create(stream, 5));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::run_length(stream, x, values, lengths));
    return {};
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace run_length_test
