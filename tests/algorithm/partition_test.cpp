// Partitions against std::stable_partition.

#include "algorithm/algorithm_fixture.hpp"

#include <gpu/algorithm/partition.hpp>
#include <gpu/algorithm/select/scan_compaction.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/graph.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/fill.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace partition_test {

using algorithm_test::fixture;

std::vector<std::uint8_t> flags_of(std::size_t count, std::size_t of_hundred) {
  std::vector<std::uint8_t> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = (i * i + 7 * i) % 100 < of_hundred ? 2 : 0;
  return made;
}

template <class T>
std::vector<T> parted(const std::vector<T>& x, const std::vector<std::uint8_t>& flags) {
  std::vector<T> found;
  for (const bool wanted : {true, false}) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if ((flags[i] != 0) == wanted) found.push_back(x[i]);
    }
  }
  return found;
}

template <class T> void check_partition(std::size_t count, std::size_t of_hundred) {
  const fixture f;
  std::vector<T> host(count);
  for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<T>(static_cast<int>(i % 12'345));
  const auto host_flags = flags_of(count, of_hundred);
  auto x = f.upload(host), out = f.make<T>(count);
  auto flags = f.upload(host_flags);
  const std::size_t first = test::value_of(gpu::partition(f.stream, x, flags, out));
  CHECK(first == count - static_cast<std::size_t>(
                             std::count(host_flags.begin(), host_flags.end(), std::uint8_t{0})));
  CHECK(f.download(out) == parted(host, host_flags));
}

TEST_CASE("partition brings the flagged elements to the front, in order",
          "[algorithm][partition]") {
  for (const std::size_t count :
       {0u, 1u, 2u, 31u, 32u, 33u, 1023u, 1024u, 1025u, 16'384u, 16'385u, 60'000u}) {
    for (const std::size_t of_hundred : {0u, 3u, 50u, 100u}) {
      CAPTURE(count, of_hundred);
      check_partition<int>(count, of_hundred);
    }
  }
}

TEMPLATE_TEST_CASE("elements of any type are parted", "[algorithm][partition]", std::uint8_t,
                   std::int16_t, double) {
  check_partition<TestType>(40'000, 30);
}

TEST_CASE("counts of 64 bits part elements as well", "[algorithm][partition]") {
  const fixture f;
  std::vector<int> host(30'000);
  std::iota(host.begin(), host.end(), 0);
  const auto host_flags = flags_of(host.size(), 40);
  auto x = f.upload(host), out = f.make<int>(host.size()), count = f.make<int>(1);
  auto flags = f.upload(host_flags);
  const std::size_t many = std::size_t{1} << 32;
  auto& counting = *test::value_of(gpu::detail::find_flag_count<std::uint8_t>(many, {}));
  auto& moving = *test::value_of(gpu::detail::find_partition<int, std::uint8_t, int>(many, {}));
  CHECK(moving.wide);
  gpu::detail::bound_argument<const int*> values(x);
  gpu::detail::bound_argument<const std::uint8_t*> chosen(flags);
  const gpu::detail::loop_argument list[] = {values.get(), chosen.get()};
  test::value_of(gpu::detail::run_partition(
      counting, moving, f.stream, {}, list,
      {gpu::detail::name_elements("out", out), {}, gpu::detail::name_count(count)}));
  CHECK(f.download(out) == parted(host, host_flags));
}

TEST_CASE("a partition refuses what does not fit", "[algorithm][partition]") {
  const fixture f;
  auto x = f.upload(std::vector<int>(100, 1)), out = f.make<int>(99);
  const auto sizes = test::error_of(gpu::partition(f.stream, x, x, out));
  CHECK(sizes == gpu::errc::size_mismatch);
  CHECK(test::says(sizes, "gpu::partition", "x has 100 elements", "out has 99"));
  const auto overlap = test::error_of(gpu::partition(f.stream, x, x, x));
  CHECK(test::says(overlap, "gpu::partition", "overlap in memory"));
  auto other = f.make<int>(100);
  const auto flags = test::error_of(gpu::partition(f.stream, x, x.span().first(99), other));
  CHECK(flags == gpu::errc::size_mismatch);
  CHECK(test::says(flags, "x has 100 elements", "flags has 99"));
}

TEST_CASE("a partition is captured into a graph", "[algorithm][partition]") {
  const fixture f;
  std::vector<int> host(20'000);
  std::iota(host.begin(), host.end(), 0);
  const auto host_flags = flags_of(host.size(), 60);
  auto x = f.upload(host), out = f.make<int>(host.size());
  auto count = f.make<std::uint64_t>(1);
  auto flags = f.upload(host_flags);
  auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
  CHECK(test::error_of(gpu::partition(f.stream, x, flags, out)) == gpu::errc::capture_prohibited);
  test::value_of(gpu::partition(f.stream, x, flags, out, count));
  const auto graph = test::value_of(capture.end());
  const auto executable = test::value_of(gpu::graph_exec::instantiate(graph));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(gpu::launch(f.stream, executable));
  test::value_of(f.stream.synchronize());
  CHECK(f.download(out) == parted(host, host_flags));
}

TEST_CASE("each call of a partition may fail", "[algorithm][partition][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto x = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    auto y = GPU_TRY(gpu::device_buffer<int>::create(stream, 20'000));
    GPU_TRY(gpu::fill(stream, x, 1));
    GPU_TRY(gpu::partition(stream, x, x, y));
    return {};
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}  // namespace partition_test
