// Selected elements against std::copy_if.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/select.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace select_test {

using algorithm_test::fixture;
using algorithm_test::numbers;
using above = gpu::selection<float, const float*, float>;

gpu::selection_text larger_elements() {
  return {.parameters = "x, limit", .condition = "x[i] > limit", .value = "x[i]"};
}

std::vector<std::uint8_t> flags_of(std::size_t count, std::size_t of_hundred) {
  std::vector<std::uint8_t> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = (i * i + 7 * i) % 100 < of_hundred ? 2 : 0;
  return made;
}
template <class T, class F> std::vector<T> selected(const std::vector<T>& x, const F& flags) {
  std::vector<T> found;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (flags[i] != 0) found.push_back(x[i]);
  }
  return found;
}

template <class T> void check_select(const std::vector<T>& host, std::size_t of_hundred) {
  const fixture f;
  const auto host_flags = flags_of(host.size(), of_hundred);
  const auto expected = selected(host, host_flags);
  auto x = f.upload(host), out = f.upload(std::vector<T>(host.size() + 1, T(77)));
  auto flags = f.upload(host_flags);
  CHECK(test::value_of(gpu::select(f.stream, x, flags, out)) == expected.size());
  auto found = f.download(out);
  CHECK(std::equal(expected.begin(), expected.end(), found.begin()));
  // What is behind stays as it is.
  CHECK(std::all_of(found.begin() + static_cast<std::ptrdiff_t>(expected.size()), found.end(),
                    [](const T& each) { return each == T(77); }));
}

TEST_CASE("select copies the flagged elements in their order", "[algorithm][select]") {
  for (const std::size_t count :
       {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 16'384u, 16'385u, 70'000u}) {
    for (const std::size_t of_hundred : {0u, 1u, 50u, 100u}) {
      CAPTURE(count, of_hundred);
      check_select(numbers<int>(count), of_hundred);
    }
  }
}

TEMPLATE_TEST_CASE("elements of any type are selected", "[algorithm][select]", std::int8_t,
                   std::uint16_t, float, double, std::complex<double>) {
  check_select(numbers<TestType>(40'000), 30);
}

TEST_CASE("elements are selected by flags of any type, at any address", "[algorithm][select]") {
  const fixture f;
  const auto host = numbers<float>(20'003);
  auto x = f.upload(host), out = f.make<float>(host.size());
  auto count = f.make<int>(1);
  test::value_of(gpu::select(f.stream, x.span().subspan(1), x.span().first(20'002),
                             out.span().subspan(1), count));
  const auto expected = selected(std::vector(host.begin() + 1, host.end()), host);
  CHECK(f.download(count)[0] == static_cast<int>(expected.size()));
  const auto found = f.download(out);
  CHECK(std::equal(expected.begin(), expected.end(), found.begin() + 1));
}

TEST_CASE("elements of views are selected in C order", "[algorithm][select]") {
  const fixture f;
  const auto host = numbers<int>(30 * 40);
  const auto host_flags = flags_of(host.size(), 40);
  auto x = f.upload(host), out = f.make<int>(host.size());
  auto flags = f.upload(host_flags);
  const auto turned = gpu::array_view<int, 2>::from_native(x.span().native(), {30, 40}, {1, 30});
  const auto rows =
      gpu::array_view<std::uint8_t, 2>::from_native(flags.span().native(), {30, 40}, {40, 1});
  std::vector<int> expected;
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host_flags[i]) expected.push_back(host[i / 40 + i % 40 * 30]);
  }
  CHECK(test::value_of(gpu::select(f.stream, turned, rows, out)) == expected.size());
  const auto found = f.download(out);
  CHECK(std::equal(expected.begin(), expected.end(), found.begin()));
}

TEST_CASE("an output that is too short is an error, and nothing is written behind it",
          "[algorithm][select]") {
  const fixture f;
  for (const std::size_t count : {1000u, 60'000u}) {
    CAPTURE(count);
    const auto host = numbers<int>(count);
    const auto host_flags = flags_of(count, 50);
    const auto expected = selected(host, host_flags);
    auto x = f.upload(host), out = f.upload(std::vector(expected.size() + 3, -1));
    auto flags = f.upload(host_flags);
    auto number = f.make<std::int64_t>(1);
    const std::size_t room = expected.size() - 1;
    const auto error = test::error_of(gpu::select(f.stream, x, flags, out.span().first(room)));
    CHECK(error == gpu::errc::size_mismatch);
    CHECK(test::says(error, "gpu::select",
                     ("out has " + std::to_string(room) + " elements").c_str(),
                     ("but " + std::to_string(expected.size()) + " are to be stored").c_str()));
    const auto check = [&] {
      const auto found = f.download(out);
      CHECK(std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(room),
                       expected.begin()));
      CHECK(found[room] == -1);
    };
    check();
    test::value_of(gpu::select(f.stream, x, flags, out.span().first(room), number));
    check();
    CHECK(f.download(number)[0] == static_cast<std::int64_t>(expected.size()));
  }
}

TEST_CASE("a selection takes a condition and a value", "[algorithm][select]") {
  const fixture f;
  const auto larger = test::value_of(above::create(larger_elements()));
  const auto where = test::value_of(gpu::selection<std::int64_t, const float*, float>::create(
      {.parameters = "x, limit", .condition = "x[i] > limit // not NaN", .value = "i"}));
  for (const std::size_t count : {0u, 33u, 50'000u}) {
    CAPTURE(count);
    const auto host = numbers<float>(count);
    std::vector<float> expected;
    for (const float each : host) {
      if (each > 60.5f) expected.push_back(each);
    }
    auto x = f.upload(host), out = f.make<float>(count);
    auto indices = f.make<std::int64_t>(count);
    CHECK(test::value_of(larger(f.stream, out, x, 60.5f)) == expected.size());
    CHECK(test::value_of(where(f.stream, indices, x, 60.5f)) == expected.size());
    const auto found = f.download(out);
    const auto found_indices = f.download(indices);
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      wrong += found[k] != expected[k];
      wrong += k > 0 && found_indices[k] <= found_indices[k - 1];
      wrong += host[static_cast<std::size_t>(found_indices[k])] != expected[k];
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a selection of neighbors uses memory as it is", "[algorithm][select]") {
  const fixture f;
  const auto peaks = test::value_of(gpu::selection<int, const int*>::create(
      {.parameters = "x",
       .condition = "i > 0 && i < n - 1 && x[i] > x[i - 1] && x[i] > x[i + 1]",
       .value = "x[i]"}));
  const auto host = numbers<int>(30'000);
  std::vector<int> expected;
  for (std::size_t i = 1; i + 1 < host.size(); ++i) {
    if (host[i] > host[i - 1] && host[i] > host[i + 1]) expected.push_back(host[i]);
  }
  auto x = f.upload(host), out = f.make<int>(host.size());
  const std::size_t count = test::value_of(peaks(f.stream, out, x));
  CHECK(count == expected.size());
  const auto found = f.download(out);
  CHECK(std::equal(expected.begin(), expected.end(), found.begin()));
}

TEST_CASE("a selection refuses what does not fit", "[algorithm][select]") {
  const fixture f;
  const auto larger = test::value_of(above::create(larger_elements()));
  auto x = f.upload(numbers<float>(100)), out = f.make<float>(100);
  auto count = f.make<unsigned long long>(1);
  auto flags = f.make<bool>(99);
  test::value_of(gpu::fill(f.stream, flags, true));
  const auto sizes = test::error_of(gpu::select(f.stream, x, flags, out));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "gpu::select", "x has 100 elements", "flags has 99"));
  const auto in_place = test::error_of(larger(f.stream, x, x, 1.0f));
  CHECK(in_place == gpu::errc::invalid_argument);
  CHECK(test::says(in_place, "gpu::selection", "x and out overlap in memory"));
  const auto no_count = test::error_of(larger.into(f.stream, out, count.span().first(0), x, 1.0f));
  CHECK(test::says(no_count, "count has 0 elements"));
  const above none;
  CHECK(test::error_of(none(f.stream, out, x, 1.0f)) == gpu::errc::empty_handle);
  auto text = larger_elements();
  text.options.name = "broken";
  text.condition = "x[i] >\n limits";
  CHECK(test::says(test::error_of(above::create(text)), "broken.condition:2", "limits"));
  text = larger_elements();
  text.parameters = "x";
  CHECK(test::says(test::error_of(above::create(text)), "names 1 parameters", "2 types"));

  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  const auto waiting = test::error_of(larger(f.stream, out, x, 1.0f));
  CHECK(waiting == gpu::errc::capture_prohibited);
  CHECK(test::says(waiting, "Pass a count in device memory"));
  test::value_of(larger.into(f.stream, out, count, x, 60.5f));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  const auto host = numbers<float>(100);
  CHECK(f.download(count)[0] == static_cast<unsigned long long>(std::count_if(
                                    host.begin(), host.end(), [](float v) { return v > 60.5f; })));
}

TEST_CASE("the first allocations of a selection may fail", "[algorithm][select][cpu]") {
  const fixture f;
  const auto x = f.upload(std::vector<std::int16_t>{1, 0, 1});
  auto out = f.make<std::int16_t>(3);
  auto count = f.make<std::int16_t>(1);
  algorithm_test::check_first_allocations([&] { return gpu::select(f.stream, x, x, out, count); });
}

TEST_CASE("each call of a selection may fail", "[algorithm][select][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    auto y = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::select(stream, x, x, y));
    GPU_TRY(gpu::select(stream, x.span().first(0), x.span().first(0), y));
    return {};
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large selections", "[algorithm][select][hardware]") {
  const fixture f;
  const auto multiples = test::value_of(gpu::selection<std::int64_t, const std::uint8_t*>::create(
      {.parameters = "x", .condition = "i % 1000 == 7", .value = "i"}));
  for (const std::size_t count : {(std::size_t{1} << 20) - 1, (std::size_t{1} << 20) + 1,
                                  (std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3}) {
    CAPTURE(count);
    auto x = f.make<std::uint8_t>(count);
    const std::size_t expected = (count + 992) / 1000;
    auto out = f.make<std::int64_t>(expected);
    REQUIRE(test::value_of(multiples(f.stream, out, x)) == expected);
    const auto found = f.download(out);
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < expected; ++k)
      wrong += found[k] != static_cast<std::int64_t>(1000 * k + 7);
    CHECK(wrong == 0);
  }
}

}  // namespace select_test
