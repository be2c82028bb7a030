// Indices out of range, against std::find_if on the host.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/check_indices.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace check_indices_test {

using algorithm_test::fixture;
using algorithm_test::indices_below;

TEMPLATE_TEST_CASE("indices in range pass a check", "[algorithm][check_indices]", std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  const fixture f;
  for (const std::size_t count : {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 70'001u}) {
    CAPTURE(count);
    const auto indices = f.upload(indices_below<TestType>(count, 100));
    test::value_of(gpu::check_indices(f.stream, indices, 100));
  }
}

TEMPLATE_TEST_CASE("a check names the first index that is out of range",
                   "[algorithm][check_indices]", std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t) {
  const fixture f;
  for (const std::size_t count : {1u, 2u, 33u, 1025u, 70'001u}) {
    CAPTURE(count);
    auto host = indices_below<TestType>(count, 10);
    const std::size_t first = count / 2;
    host[first] = 17;
    if (first + 1 < count) host[first + 1] = static_cast<TestType>(-1);
    host[count - 1] = 17;
    const auto error = test::error_of(gpu::check_indices(f.stream, f.upload(host), 10));
    CHECK(error == gpu::errc::index_out_of_range);
    const std::string where = "index 17 at position " + std::to_string(first) + " is out of range";
    CHECK(test::says(error, "gpu::check_indices", where.c_str(), "has 10 elements",
                     "Pass indices from 0 to 9."));
  }
}

TEST_CASE("negative and very large indices are out of range", "[algorithm][check_indices]") {
  const fixture f;
  const auto check = [&](const auto& host, std::size_t size) {
    return test::error_of(gpu::check_indices(f.stream, f.upload(host), size));
  };
  CHECK(test::says(check(std::vector<std::int32_t>{0, 3, -4}, 5), "index -4 at position 2"));
  CHECK(test::says(check(std::vector<std::int64_t>{-1}, std::size_t{1} << 63),
                   "index -1 at position 0"));
  CHECK(test::says(check(std::vector<std::uint32_t>{5, 0xffff'ffff}, 0xffff'ffff),
                   "index 4294967295 at position 1"));
  CHECK(test::says(check(std::vector<std::uint64_t>{~std::uint64_t{0}}, 10),
                   "index 18446744073709551615 at position 0"));
  CHECK(test::says(check(std::vector<std::int32_t>{0}, 0), "index 0 at position 0",
                   "has 0 elements", "No index is valid"));
}

TEST_CASE("a check of a view counts positions in C order", "[algorithm][check_indices]") {
  const fixture f;
  std::vector<int> host(12, 1);
  host[1 + 4 * 2] = 99;  // in the view: row 1, column 2, so position 1 * 3 + 2
  auto memory = f.upload(host);
  const auto turned = gpu::array_view<int, 2>::from_native(memory.span().native(), {4, 3}, {1, 4});
  CHECK(test::says(test::error_of(gpu::check_indices(f.stream, turned, 50)),
                   "index 99 at position 5"));
}

TEST_CASE("a check cannot be captured, and says what to do", "[algorithm][check_indices]") {
  const fixture f;
  const auto indices = f.upload(std::vector<int>{0});
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  const auto error = test::error_of(gpu::check_indices(f.stream, indices, 1));
  CHECK(error == gpu::errc::capture_prohibited);
  CHECK(test::says(error, "gpu::check_indices", "check before the capture"));
  test::value_of(capture.end());
}

TEST_CASE("the first allocations of a check may fail", "[algorithm][check_indices][cpu]") {
  const fixture f;
  const auto indices = f.upload(std::vector<unsigned long long>{0, 1});
  algorithm_test::check_first_allocations([&] { return gpu::check_indices(f.stream, indices, 2); });
}

TEST_CASE("each call of a check may fail", "[algorithm][check_indices][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto indices = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    GPU_TRY(gpu::fill(stream, indices, 3));
    return gpu::check_indices(stream, indices, 4);
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

TEST_CASE("a bad index among very many is found", "[algorithm][check_indices][hardware]") {
  const fixture f;
  const std::size_t count = (std::size_t{1} << 31) + 77;
  auto indices = f.make<std::uint32_t>(count);
  test::value_of(gpu::fill(f.stream, indices, 5u));
  test::value_of(gpu::check_indices(f.stream, indices, 6));
  test::value_of(gpu::fill(f.stream, indices.span().subspan(count - 2), 6u));
  CHECK(test::says(test::error_of(gpu::check_indices(f.stream, indices, 6)),
                   ("index 6 at position " + std::to_string(count - 2)).c_str()));
}

}  // namespace check_indices_test
