// Sums of products against exact integers and sums in double on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/dot.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <cuda_fp16.h>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace dot_test {

using algorithm_test::fixture;

TEMPLATE_TEST_CASE("inner products are exact for every type and size", "[algorithm][dot]",
                   std::int8_t, std::uint16_t, std::int32_t, std::int64_t, float, double) {
  const fixture f;
  std::vector<TestType> host_x(1025), host_y(1025);
  for (std::size_t i = 0; i < host_x.size(); ++i) {
    host_x[i] = static_cast<TestType>(i * 7919 % 101);
    host_y[i] = static_cast<TestType>(i * 31 % 7);
  }
  auto x = f.upload(host_x), y = f.upload(host_y);
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u}) {
    CAPTURE(count);
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < count; ++i)
      expected += static_cast<std::int64_t>(host_x[i]) * static_cast<std::int64_t>(host_y[i]);
    const auto found =
        test::value_of(gpu::dot(f.stream, x.span().first(count), y.span().first(count)));
    CHECK(static_cast<std::int64_t>(found) == expected);
    CHECK(test::value_of(gpu::vdot(f.stream, x.span().first(count), y.span().first(count))) ==
          found);
  }
}

TEST_CASE("vdot conjugates its first operand, dot does not", "[algorithm][dot]") {
  const fixture f;
  using complex = std::complex<double>;
  std::vector<complex> host_x, host_y;
  complex plain = 0, conjugated = 0;
  for (int i = 0; i < 3000; ++i) {
    host_x.emplace_back(i % 7, i % 3 - 1);
    host_y.emplace_back(2, i % 5);
    plain += host_x.back() * host_y.back();
    conjugated += std::conj(host_x.back()) * host_y.back();
  }
  auto x = f.upload(host_x), y = f.upload(host_y), out = f.make<complex>(1);
  CHECK(test::value_of(gpu::dot(f.stream, x, y)) == plain);
  CHECK(test::value_of(gpu::vdot(f.stream, x, y)) == conjugated);
  test::value_of(gpu::vdot(f.stream, x, y, out));
  CHECK(f.download(out)[0] == conjugated);
  // Real with complex, in a type that the user names.
  auto ones = f.upload(std::vector<float>(3000, 1));
  CHECK(test::value_of(gpu::dot<complex>(f.stream, ones, y)) ==
        std::accumulate(host_y.begin(), host_y.end(), complex(0)));
}

TEST_CASE("products are made in the type of the result", "[algorithm][dot]") {
  const fixture f;
  auto bytes = f.upload(std::vector<std::int8_t>(200, 100));
  auto floats = f.upload(std::vector<float>(200, 1e30f));
  auto halves = f.upload(std::vector<__half>(5000, __float2half(300.0f)));
  CHECK(test::value_of(gpu::dot(f.stream, bytes, bytes)) == 2'000'000);
  CHECK(test::value_of(gpu::dot<double>(f.stream, floats, floats)) ==
        Approx(200 * double{1e30f} * double{1e30f}));
  CHECK(test::value_of(gpu::dot<double>(f.stream, bytes, floats)) == Approx(2e34));
  CHECK(test::value_of(gpu::dot(f.stream, halves, halves)) == 4.5e8f);
  auto of_rows = f.make<std::int32_t>(4);
  test::value_of(gpu::dot(f.stream, bytes, bytes, of_rows));
  CHECK(f.download(of_rows) == std::vector(4, 500'000));
}

TEST_CASE("inner products have the same bits for every layout", "[algorithm][dot]") {
  const fixture f;
  for (const std::size_t count : {5000u, (1u << 20) + 1}) {
    CAPTURE(count);
    std::vector<float> host_x(count), host_y(count), spread(2 * count);
    double exact = 0;
    for (std::size_t i = 0; i < count; ++i) {
      host_x[i] = 1.0f / static_cast<float>(1 + i % 1000);
      host_y[i] = static_cast<float>(i % 17) - 3;
      spread[2 * (count - 1 - i)] = host_y[i];
      exact += double{host_x[i]} * double{host_y[i]};
    }
    auto x = f.upload(host_x), y = f.upload(host_y), wide = f.upload(spread);
    auto other = f.make<float>(count + 1);
    test::value_of(gpu::copy(x, other.span().subspan(1)));
    const float first = test::value_of(gpu::dot(f.stream, x, y));
    CHECK(std::fabs(first / exact - 1) < 1e-5);
    CHECK(std::bit_cast<int>(test::value_of(gpu::dot(f.stream, other.span().subspan(1), y))) ==
          std::bit_cast<int>(first));
    const auto backwards = gpu::array_view<const float, 1>::from_native(
        wide.span().native() + 2 * (count - 1) * 4, {count}, {-2});
    CHECK(std::bit_cast<int>(test::value_of(gpu::dot(f.stream, x, backwards))) ==
          std::bit_cast<int>(first));
  }
}

TEST_CASE("inner products refuse what does not fit", "[algorithm][dot]") {
  const fixture f;
  auto x = f.upload(std::vector<float>(10)), y = f.make<float>(9);
  const auto lengths = test::error_of(gpu::dot(f.stream, x, y));
  CHECK(lengths == gpu::errc::size_mismatch);
  CHECK(test::says(lengths, "gpu::dot", "x has 10 elements", "y has 9"));
  CHECK(test::says(test::error_of(gpu::vdot(f.stream, y, y, y.span().last(1))), "gpu::vdot",
                   "out and x overlap"));
  const auto moved = std::move(x);
  CHECK(test::error_of(gpu::dot(f.stream, moved, x)) == gpu::errc::empty_handle);
  CHECK(test::error_of(gpu::vdot(f.stream, x, x)) == gpu::errc::empty_handle);
}

TEST_CASE("inner products are captured into a graph", "[algorithm][dot]") {
  const fixture f;
  auto x = f.upload(std::vector<int>(50'000, 4)), found = f.make<int>(1);
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::dot(f.stream, x, x, found));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(found)[0] == 800'000);
}

TEST_CASE("each call of an inner product may fail", "[algorithm][dot][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::dot(stream, x, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("large inner products", "[algorithm][dot][hardware]") {
  const fixture f;
  for (const std::size_t count : {(std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3}) {
    CAPTURE(count);
    auto x = f.make<std::uint8_t>(count);
    test::value_of(gpu::fill(f.stream, x, std::uint8_t{3}));
    CHECK(test::value_of(gpu::dot(f.stream, x, x)) == 9 * count);
  }
}

}  // namespace dot_test
