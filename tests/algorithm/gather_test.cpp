// Gathered elements against indexing on the host.

#include "algorithm/algorithm_fixture.hpp"
#include "support/drivers.hpp"

#include <gpu/algorithm/gather.hpp>
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
#include <utility>
#include <vector>

namespace gather_test {

using algorithm_test::fixture;
using algorithm_test::indices_below;
using algorithm_test::numbers;

template <class T, class Index>
std::vector<T> gathered(const std::vector<T>& x, const std::vector<Index>& indices) {
  std::vector<T> made;
  for (const Index each : indices) made.push_back(x[static_cast<std::size_t>(each)]);
  return made;
}

template <class T, class Index> void check_gather(std::size_t count, std::size_t size) {
  CAPTURE(count, size);
  const fixture f;
  const auto host = numbers<T>(size);
  const auto host_indices = indices_below<Index>(count, size);
  const auto x = f.upload(host);
  const auto indices = f.upload(host_indices);
  const auto expected = gathered(host, host_indices);
  for (const bool check : {false, true}) {
    auto out = f.upload(std::vector<T>(count + 1, T(77)));
    test::value_of(gpu::gather(f.stream, x, indices, out.span().first(count), {.check = check}));
    const auto found = f.download(out);
    CHECK(std::equal(expected.begin(), expected.end(), found.begin()));
    CHECK(found[count] == T(77));
  }
}

TEST_CASE("gather reads the elements that indices name", "[algorithm][gather]") {
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 50'001u})
    check_gather<float, std::int32_t>(count, 777);
  check_gather<float, std::int32_t>(0, 0);
}

TEMPLATE_TEST_CASE("elements of any type are gathered", "[algorithm][gather]", std::int8_t,
                   std::uint16_t, std::int64_t, double, std::complex<double>) {
  check_gather<TestType, std::uint32_t>(3001, 500);
}

TEMPLATE_TEST_CASE("indices of each type gather", "[algorithm][gather]", std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  check_gather<double, TestType>(3001, 1'000'000);
}

TEST_CASE("gather takes memory at any address, and views", "[algorithm][gather]") {
  const fixture f;
  const auto host = numbers<float>(100);
  const auto host_indices = indices_below<std::int32_t>(1200, 99);
  const auto x = f.upload(host);
  const auto indices = f.upload(host_indices);
  auto out = f.make<float>(1201);
  test::value_of(
      gpu::gather(f.stream, x.span().subspan(1), indices.span().subspan(1), out.span().subspan(2)));
  const std::vector<float> behind(host.begin() + 1, host.end());
  const std::vector<std::int32_t> later(host_indices.begin() + 1, host_indices.end());
  const auto expected = gathered(behind, later);
  auto found = f.download(out);
  CHECK(std::equal(expected.begin(), expected.end(), found.begin() + 2));

  const auto turned = gpu::array_view<const std::int32_t, 2>::from_native(indices.span().native(),
                                                                          {30, 40}, {1, 30});
  const auto rows = gpu::array_view<float, 2>::from_native(out.span().native(), {30, 40}, {40, 1});
  test::value_of(gpu::gather(f.stream, x, turned, rows, {.check = true}));
  found = f.download(out);
  std::size_t wrong = 0;
  for (std::size_t r = 0; r < 30; ++r) {
    for (std::size_t c = 0; c < 40; ++c) {
      wrong += found[40 * r + c] != host[static_cast<std::size_t>(host_indices[30 * c + r])];
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a checked gather names the first bad index and writes nothing", "[algorithm][gather]") {
  const fixture f;
  const auto x = f.upload(numbers<float>(10));
  auto host_indices = indices_below<std::int32_t>(1000, 10);
  host_indices[3] = 17;
  host_indices[500] = -1;
  const auto indices = f.upload(host_indices);
  auto out = f.upload(std::vector<float>(1000, 5.0f));
  const auto error = test::error_of(gpu::gather(f.stream, x, indices, out, {.check = true}));
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(test::says(error, "gpu::gather",
                   "index 17 at position 3 is out of range: x has 10 elements"));
  CHECK(f.download(out) == std::vector<float>(1000, 5.0f));
}

TEST_CASE("the CPU driver finds an index out of range without a check",
          "[algorithm][gather][cpu]") {
  const test::own_cpu_driver driver;
  const fixture f;
  const auto x = f.upload(numbers<float>(10));
  const auto indices = f.upload(std::vector<std::int64_t>{1, 1 << 28});
  auto out = f.make<float>(2);
  const auto queued = gpu::gather(f.stream, x, indices, out);
  CHECK((!queued.has_value() || !f.stream.synchronize().has_value()));
}

TEST_CASE("gather refuses what does not fit", "[algorithm][gather]") {
  const fixture f;
  auto x = f.upload(numbers<float>(100));
  auto out = f.make<float>(50);
  const auto indices = f.upload(indices_below<std::int32_t>(51, 100));
  const auto sizes = test::error_of(gpu::gather(f.stream, x, indices, out));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "gpu::gather", "indices has 51 elements", "out has 50"));
  const auto some = indices.span().first(50);
  const auto overlap = test::error_of(gpu::gather(f.stream, x, some, x.span().first(50)));
  CHECK(overlap == gpu::errc::invalid_argument);
  CHECK(test::says(overlap, "gpu::gather", "x and out overlap"));
  const auto none = test::error_of(gpu::gather(f.stream, x.span().first(0), some, out));
  CHECK(none == gpu::errc::index_out_of_range);
  CHECK(test::says(none, "x has no elements", "none of the 50 indices"));
  CHECK(test::error_of(gpu::gather(gpu::stream_ref(), x, some, out)) == gpu::errc::empty_handle);
  auto moved = std::move(x);
  CHECK(test::error_of(gpu::gather(f.stream, x, some, out)) == gpu::errc::empty_handle);  // NOLINT
}

TEST_CASE("a gather is captured into a graph, a checked one is not", "[algorithm][gather]") {
  const fixture f;
  const auto host = numbers<float>(100);
  const auto host_indices = indices_below<std::int32_t>(3000, 100);
  const auto x = f.upload(host);
  const auto indices = f.upload(host_indices);
  auto out = f.make<float>(3000);
  test::value_of(gpu::gather(f.stream, x, indices, out));  // compiles
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  CHECK(test::error_of(gpu::gather(f.stream, x, indices, out, {.check = true})) ==
        gpu::errc::capture_prohibited);
  test::value_of(gpu::gather(f.stream, x, indices, out));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::fill(f.stream, out, 0.0f));
  test::value_of(gpu::launch(f.stream, executable));
  CHECK(f.download(out) == gathered(host, host_indices));
}

TEST_CASE("the first allocations of a gather may fail", "[algorithm][gather][cpu]") {
  const fixture f;
  const auto x = f.upload(std::vector<unsigned long long>{5, 6});
  const auto indices = f.upload(std::vector<std::uint32_t>{1, 0, 1});
  auto out = f.make<unsigned long long>(3);
  algorithm_test::check_first_allocations([&] { return gpu::gather(f.stream, x, indices, out); });
}

TEST_CASE("each call of a gather may fail", "[algorithm][gather][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<float>::create(stream, 5));
    auto indices = GPU_TRY(gpu::device_buffer<int>::create(stream, 3000));
    auto out = GPU_TRY(gpu::device_buffer<float>::create(stream, 3000));
    GPU_TRY(gpu::fill(stream, x, 1.0f));
    GPU_TRY(gpu::fill(stream, indices, 3));
    GPU_TRY(gpu::gather(stream, x, indices, out));
    GPU_TRY(gpu::gather(stream, x, indices, out, {.check = true}));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large gathers", "[algorithm][gather][hardware]") {
  for (const std::size_t count : {(1u << 20) - 1, (1u << 20) + 1, (1u << 24) + 5})
    check_gather<float, std::int32_t>(count, 1 << 22);
  const fixture f;
  const std::size_t size = (std::size_t{1} << 32) + 3;
  auto x = f.make<std::uint8_t>(size);
  test::value_of(gpu::fill(f.stream, x, std::uint8_t{1}));
  test::value_of(gpu::fill(f.stream, x.span().subspan(size - 1), std::uint8_t{9}));
  const auto indices = f.upload(std::vector<std::int64_t>{0, static_cast<std::int64_t>(size) - 1});
  auto out = f.make<std::uint8_t>(2);
  test::value_of(gpu::gather(f.stream, x, indices, out, {.check = true}));
  CHECK(f.download(out) == std::vector<std::uint8_t>{1, 9});
}

}  // namespace gather_test
