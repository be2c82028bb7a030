// Numbers of elements, and whether any or all are not zero, against counting on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/count.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <cuda_fp16.h>
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace count_test {

using algorithm_test::fixture;

TEMPLATE_TEST_CASE("elements are counted in every type and size", "[algorithm][count]",
                   std::uint8_t, std::int16_t, std::int32_t, std::uint64_t, float, double,
                   std::complex<float>) {
  const fixture f;
  std::vector<TestType> host(1025);
  for (std::size_t i = 0; i < host.size(); ++i)
    host[i] = static_cast<TestType>(static_cast<float>(i * 7919 % 5));
  auto x = f.upload(host);
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u}) {
    CAPTURE(count);
    const auto end = host.begin() + static_cast<std::ptrdiff_t>(count);
    const auto part = x.span().first(count);
    const auto zeros = static_cast<std::size_t>(std::count(host.begin(), end, TestType(0)));
    const auto threes = static_cast<std::size_t>(std::count(host.begin(), end, TestType(3)));
    CHECK(test::value_of(gpu::count(f.stream, part)) == count - zeros);
    CHECK(test::value_of(gpu::count(f.stream, part, TestType(3))) == threes);
    CHECK(test::value_of(gpu::any_of(f.stream, part)) == (zeros != count));
    CHECK(test::value_of(gpu::all_of(f.stream, part)) == (zeros == 0));
  }
}

TEST_CASE("NaN is not zero and equals nothing", "[algorithm][count]") {
  const fixture f;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto x = f.upload(std::vector<float>{0.0f, nan, -0.0f, nan});
  CHECK(test::value_of(gpu::count(f.stream, x)) == 2);
  CHECK(test::value_of(gpu::count(f.stream, x, nan)) == 0);
  CHECK(test::value_of(gpu::count(f.stream, x, 0.0f)) == 2);
  CHECK(test::value_of(gpu::any_of(f.stream, x)));
  CHECK_FALSE(test::value_of(gpu::all_of(f.stream, x)));
  auto h = f.upload(std::vector<__half>(100, __float2half(1.5f)));
  CHECK(test::value_of(gpu::count(f.stream, h)) == 100);
  CHECK(test::value_of(gpu::count(f.stream, h, __float2half(1.5f))) == 100);
  CHECK(test::value_of(gpu::all_of(f.stream, h)));
}

TEST_CASE("bools of many elements and of rows", "[algorithm][count]") {
  const fixture f;
  const std::size_t count = (1 << 20) + 1;
  auto x = f.make<bool>(count);
  test::value_of(gpu::fill(f.stream, x, false));
  CHECK_FALSE(test::value_of(gpu::any_of(f.stream, x)));
  test::value_of(gpu::fill(f.stream, x.span().subspan(count - 1, 1), true));
  CHECK(test::value_of(gpu::any_of(f.stream, x)));
  CHECK(test::value_of(gpu::count(f.stream, x)) == 1);
  CHECK_FALSE(test::value_of(gpu::any_of(f.stream, x.span().subspan(1).first(count - 2))));

  auto rows = x.span().first(12);
  test::value_of(gpu::fill(f.stream, rows.subspan(4, 4), true));
  test::value_of(gpu::fill(f.stream, rows.subspan(9, 2), true));
  auto counts = f.make<std::uint32_t>(3);
  auto wide = f.make<std::int64_t>(3);
  auto any = f.make<std::int8_t>(3), all = f.make<std::int8_t>(3);
  auto truth = f.make<bool>(3);
  test::value_of(gpu::count(f.stream, rows, counts));
  test::value_of(gpu::count(f.stream, rows, false, wide));
  test::value_of(gpu::any_of(f.stream, rows, any));
  test::value_of(gpu::all_of(f.stream, rows, all));
  test::value_of(gpu::all_of(f.stream, rows, truth));
  CHECK(f.download(counts) == std::vector<std::uint32_t>{0, 4, 2});
  CHECK(f.download(wide) == std::vector<std::int64_t>{4, 0, 2});
  CHECK(f.download(any) == std::vector<std::int8_t>{0, 1, 1});
  CHECK(f.download(all) == std::vector<std::int8_t>{0, 1, 0});
  CHECK(test::value_of(gpu::count(f.stream, truth)) == 1);
  const auto every_third = gpu::array_view<const bool, 2>::from_native(
      x.span().native(), {2, 2}, {6, 3});  // elements 0, 3, 6, 9
  CHECK(test::value_of(gpu::count(f.stream, every_third)) == 2);
}

TEST_CASE("counting refuses what does not fit", "[algorithm][count]") {
  const fixture f;
  auto x = f.upload(std::vector<int>(10, 1)), results = f.make<int>(3);
  CHECK(test::says(test::error_of(gpu::count(f.stream, x, results)), "gpu::count",
                   "10 elements cannot be divided into 3 segments"));
  CHECK(test::says(test::error_of(gpu::any_of(f.stream, x, x.span().first(1))), "gpu::any_of",
                   "out and x overlap"));
  const auto moved = std::move(x);
  CHECK(test::error_of(gpu::count(f.stream, x, 5)) == gpu::errc::empty_handle);
  CHECK(test::error_of(gpu::all_of(f.stream, x)) == gpu::errc::empty_handle);
}

TEST_CASE("counts are captured into a graph", "[algorithm][count]") {
  const fixture f;
  auto x = f.upload(std::vector<int>(50'000, 4)), found = f.make<int>(2);
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::count(f.stream, x, 4, found.span().first(1)));
  test::value_of(gpu::all_of(f.stream, x, found.span().last(1)));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(found) == std::vector{50'000, 1});
}

TEST_CASE("each call of a count may fail", "[algorithm][count][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::count(stream, x, 1));
    GPU_TRY(gpu::any_of(stream, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large counts", "[algorithm][count][hardware]") {
  const fixture f;
  for (const std::size_t count : {(std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3}) {
    CAPTURE(count);
    auto x = f.make<std::uint8_t>(count);
    test::value_of(gpu::fill(f.stream, x, std::uint8_t{3}));
    CHECK(test::value_of(gpu::count(f.stream, x)) == count);
    CHECK(test::value_of(gpu::count(f.stream, x, std::uint8_t{3})) == count);
    CHECK(test::value_of(gpu::all_of(f.stream, x)));
  }
}

}  // namespace count_test
