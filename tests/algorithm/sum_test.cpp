// Sums and products against exact integers and sums in double on the host.

#include "algorithm/algorithm_fixture.hpp"
#include "support/host_memory.hpp"

#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/sum.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace sum_test {

using algorithm_test::fixture;

TEMPLATE_TEST_CASE("sums are exact for every type and size", "[algorithm][sum]", bool, std::int8_t,
                   std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t, float, double) {
  const fixture f;
  std::vector<TestType> host;
  std::vector<std::uint8_t> bytes(1025);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7919);
  auto x = f.make<TestType>(bytes.size());
  std::vector<unsigned char> raw(bytes.size() * sizeof(TestType));
  std::vector<std::int64_t> numbers(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto value = static_cast<TestType>(bytes[i]);
    numbers[i] = static_cast<std::int64_t>(value);
    std::memcpy(&raw[i * sizeof(TestType)], &value, sizeof value);
  }
  test::value_of(
      gpu::copy(raw, gpu::device_span<unsigned char>::from_native(x.span().native(), raw.size())));
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u}) {
    CAPTURE(count);
    const std::int64_t expected = std::accumulate(
        numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count), std::int64_t{0});
    const auto found = test::value_of(gpu::sum(f.stream, x.span().first(count)));
    CHECK(found == static_cast<std::remove_cv_t<decltype(found)>>(expected));
  }
}

TEST_CASE("sums have types that hold them", "[algorithm][sum]") {
  const fixture f;
  auto bools = f.make<bool>(300);
  test::value_of(gpu::fill(f.stream, bools, true));
  auto bytes = f.upload(std::vector<std::uint8_t>(300, 255));
  auto halves = f.upload(std::vector<__half>(5000, __float2half(2.0f)));
  auto shorts = f.upload(std::vector<__nv_bfloat16>(5000, __float2bfloat16(3.0f)));
  auto of_bools = test::value_of(gpu::sum(f.stream, bools));
  auto of_bytes = test::value_of(gpu::sum(f.stream, bytes));
  auto of_halves = test::value_of(gpu::sum(f.stream, halves));
  auto of_shorts = test::value_of(gpu::sum(f.stream, shorts));
  static_assert(std::is_same_v<decltype(of_bools), std::int64_t>);
  static_assert(std::is_same_v<decltype(of_bytes), std::uint64_t>);
  static_assert(std::is_same_v<decltype(of_halves), float>);
  static_assert(std::is_same_v<decltype(of_shorts), float>);
  CHECK(of_bools == 300);
  CHECK(of_bytes == 300 * 255);
  CHECK(of_halves == 10'000);  // a __half holds no integers between 4096 and 4100
  CHECK(of_shorts == 15'000);

  // Types that the user names.
  CHECK(test::value_of(gpu::sum<double>(f.stream, bytes)) == 76'500.0);
  CHECK(test::value_of(gpu::sum<std::uint8_t>(f.stream, bytes)) == 76'500 % 256);
  CHECK(__half2float(test::value_of(gpu::sum<__half>(f.stream, halves))) == 10'000);
  CHECK(test::value_of(gpu::sum<std::complex<double>>(f.stream, halves)) == 10'000.0);
  const auto tenths = f.upload(std::vector<float>(100'000, 0.1f));
  CHECK(test::value_of(gpu::sum<double>(f.stream, tenths)) == Approx(100'000 * double{0.1f}));
  auto wide = f.make<double>(1);
  test::value_of(gpu::sum(f.stream, tenths, wide));
  CHECK(f.download(wide)[0] == Approx(100'000 * double{0.1f}).epsilon(1e-13));
}

TEST_CASE("products are exact", "[algorithm][sum]") {
  const fixture f;
  std::vector<std::int32_t> host(40);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = i % 2 == 0 ? 2 : -1;
  auto x = f.upload(host);
  CHECK(test::value_of(gpu::product(f.stream, x)) == std::int64_t{1} << 20);
  CHECK(test::value_of(gpu::product(f.stream, x.span().first(0))) == 1);
  CHECK(test::value_of(gpu::product<float>(f.stream, x.span().first(3))) == -4);
  auto of_rows = f.make<std::int64_t>(4);
  test::value_of(gpu::product(f.stream, x, of_rows));
  CHECK(f.download(of_rows) == std::vector<std::int64_t>(4, -32));
  const std::vector<std::complex<double>> turns(7, {0, 2});
  CHECK(test::value_of(gpu::product(f.stream, f.upload(turns))) == std::complex<double>(0, -128));
}

TEST_CASE("named sums have the same bits for every alignment and layout", "[algorithm][sum]") {
  const fixture f;
  for (const std::size_t count : {1000u, (1u << 20) - 1, (1u << 20) + 1}) {
    CAPTURE(count);
    std::vector<float> host(count), spread(2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      host[i] = 1.0f / static_cast<float>(1 + i * 7919 % 1000);
      spread[2 * i] = host[i];
    }
    const double exact = std::accumulate(host.begin(), host.end(), 0.0);
    auto x = f.upload(host), other = f.make<float>(count + 3);
    const float first = test::value_of(gpu::sum(f.stream, x));
    CHECK(std::fabs(first / exact - 1) < 1e-6);
    for (const std::size_t skipped : {1u, 2u, 3u}) {
      const auto moved = other.span().subspan(skipped, count);
      test::value_of(gpu::copy(x, moved));
      CHECK(std::bit_cast<int>(test::value_of(gpu::sum(f.stream, moved))) ==
            std::bit_cast<int>(first));
    }
    auto wide = f.upload(spread);
    const auto every_other =
        gpu::array_view<const float, 1>::from_native(wide.span().native(), {count}, {2});
    CHECK(std::bit_cast<int>(test::value_of(gpu::sum(f.stream, every_other))) ==
          std::bit_cast<int>(first));
  }
}

TEST_CASE("sums of rows and columns go where the caller wants them", "[algorithm][sum]") {
  const fixture f;
  const std::size_t rows = 60, columns = 50;
  std::vector<std::int32_t> host(rows * columns);
  std::iota(host.begin(), host.end(), 0);
  std::vector<std::int64_t> of_rows(rows), of_columns(columns);
  for (std::size_t i = 0; i < host.size(); ++i) {
    of_rows[i / columns] += host[i];
    of_columns[i % columns] += host[i];
  }
  auto x = f.upload(host);
  auto found = f.make<std::int64_t>(rows), columns_found = f.make<std::int64_t>(columns);
  test::value_of(gpu::sum(f.stream, x, found));
  CHECK(f.download(found) == of_rows);
  const auto turned = gpu::array_view<const std::int32_t, 2>::from_native(
      x.span().native(), {columns, rows}, {1, columns});
  test::value_of(gpu::sum(f.stream, turned, columns_found));
  CHECK(f.download(columns_found) == of_columns);

  // Into a column of a matrix, backwards, and into one element of it.
  auto table = f.upload(std::vector<std::int64_t>(3 * rows, -1));
  const auto column = gpu::array_view<std::int64_t, 1>::from_native(
      table.span().native() + (3 * rows - 2) * 8, {rows}, {-3});
  test::value_of(gpu::sum(f.stream, x, column));
  const auto element =
      gpu::array_view<std::int64_t, 2>::from_native(table.span().native(), {1, 1}, {7, 9});
  test::value_of(gpu::sum(f.stream, x, element));
  std::vector<std::int64_t> expected(3 * rows, -1);
  for (std::size_t r = 0; r < rows; ++r) expected[3 * rows - 2 - 3 * r] = of_rows[r];
  expected[0] = std::accumulate(of_rows.begin(), of_rows.end(), std::int64_t{0});
  CHECK(f.download(table) == expected);
}

TEST_CASE("a named reduction into device memory refuses what does not fit", "[algorithm][sum]") {
  const fixture f;
  auto x = f.upload(std::vector<int>(100, 1)), results = f.make<int>(64);
  const auto divided = test::error_of(gpu::sum(f.stream, x, results.span().first(7)));
  CHECK(divided == gpu::errc::size_mismatch);
  CHECK(test::says(divided, "gpu::sum", "100 elements cannot be divided into 7 segments"));
  const auto overlap = test::error_of(gpu::sum(f.stream, x, x.span().last(1)));
  CHECK(overlap == gpu::errc::invalid_argument);
  CHECK(test::says(overlap, "out and x overlap"));
  const auto repeated = gpu::array_view<int, 1>::from_native(results.span().native(), {10}, {0});
  CHECK(test::says(test::error_of(gpu::sum(f.stream, x, repeated)), "out has the shape (10,)",
                   "several elements at one address"));
  const auto uneven =
      gpu::array_view<int, 2>::from_native(results.span().native(), {2, 5}, {20, 1});
  CHECK(test::says(test::error_of(gpu::sum(f.stream, x, uneven)), "out has the shape (2, 5)",
                   "gaps of different sizes", "evenly spaced"));
  const auto moved = std::move(x);
  CHECK(test::error_of(gpu::sum(f.stream, x)) == gpu::errc::empty_handle);
  CHECK(test::error_of(gpu::sum(f.stream, moved, x)) == gpu::errc::empty_handle);

  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  const auto waiting = test::error_of(gpu::sum(f.stream, moved));
  CHECK(waiting == gpu::errc::capture_prohibited);
  CHECK(test::says(waiting, "gpu::sum", "device memory for the result, as the last argument"));
  test::value_of(capture.end());
}

TEST_CASE("a named reduction is captured into a graph", "[algorithm][sum]") {
  const fixture f;
  auto x = f.upload(std::vector<int>(100'000, 2)), result = f.make<int>(1);
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  test::value_of(gpu::sum(f.stream, x, result));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(result)[0] == 200'000);
}

TEST_CASE("each call of a sum may fail", "[algorithm][sum][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 30'000));
    auto y = GPU_TRY(gpu::device_buffer<std::int64_t>::create(stream, 1));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::sum(stream, x, y));
    GPU_TRY(gpu::sum(stream, x));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("each allocation of a named reduction may fail", "[algorithm][sum][cpu]") {
  using family = gpu::detail::sum_family<float, double>;
  CHECK(test::sweep_host_memory([]() -> gpu::result<> {
          const auto where = gpu::source_location::current();
          gpu::detail::shared_reductions all;
          GPU_TRY(gpu::detail::find_named(all, family::text, where));
          const auto no_other = [](gpu::detail::named_kernels&) -> gpu::result<> {
            FAIL_CHECK("found nothing");
            return {};
          };
          delete GPU_TRY(all.find("", {}, where, no_other));
          return {};
        }) == "");
}

TEST_CASE("large sums", "[algorithm][sum][hardware]") {
  const fixture f;
  for (const std::size_t count : {(std::size_t{1} << 24) + 5, (std::size_t{1} << 32) + 3}) {
    CAPTURE(count);
    auto x = f.make<std::uint8_t>(count);
    test::value_of(gpu::fill(f.stream, x, std::uint8_t{255}));
    CHECK(test::value_of(gpu::sum(f.stream, x)) == 255 * count);
    CHECK(test::value_of(gpu::sum<double>(f.stream, x)) == 255.0 * static_cast<double>(count));
  }
}

}  // namespace sum_test
