// When other streams may learn how far a caching allocator's stream has got: the thread
// that frees is not always one that can.

#include <gpu/memory/caching_allocator.hpp>

#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/caching/state.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace caching_marks_test {

using gpu::caching_allocator;
using gpu::device_buffer;
using test::value_of;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Two segments of a stream, the second of which is free, and another stream that has asked the
/// driver for one: from now on the first stream shares when it frees.
struct open_request {
  device_buffer<char> first;
  CUdeviceptr freed;
  device_buffer<char> asked;

  open_request(caching_allocator& cache, gpu::stream_ref one, gpu::stream_ref two)
      : first{value_of(cache.allocate<char>(one, 2 * mebibyte))},
        freed{value_of(cache.allocate<char>(one, 2 * mebibyte)).native()},
        asked{value_of(cache.allocate<char>(two, 2 * mebibyte))} {}
  void free_first() { const auto gone = std::move(first); }
  void free_first_in_another_thread() {
    std::thread([this] { free_first(); }).join();
  }
};

}  // namespace

TEST_CASE("caching_allocator: what another thread freed of a thread's own stream waits for it",
          "[memory][caching]") {
  const gpu::device device = test::first_device();
  const gpu::stream_ref own = value_of(gpu::stream_ref::per_thread_default(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  open_request request(cache, own, two);
  const CUdeviceptr first = request.first.native();
  const test::noted_calls<&gpu::driver::entry_points::event_record> records;
  request.free_first_in_another_thread();
  CHECK(records.count() == 0);
  const auto more = value_of(cache.allocate<char>(two, 2 * mebibyte));
  CHECK(more.native() != first);
  CHECK(more.native() != request.freed);
  CHECK(cache.statistics().shared == 0);
  static_cast<void>(value_of(cache.allocate<char>(own, 100)));  // freed in this thread
  CHECK(records.count() == 2);
  std::vector<device_buffer<char>> got;
  for (int i = 0; i < 2; ++i) got.push_back(value_of(cache.allocate<char>(two, 2 * mebibyte)));
  CHECK(got[0].native() + got[1].native() == first + request.freed);
  CHECK(cache.statistics().shared == 2);
}

TEST_CASE("caching_allocator: a thread that frees lets nobody write before another's own stream",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver({.deferred = true});
  const gpu::device device = test::first_device();
  const gpu::stream_ref own = value_of(gpu::stream_ref::per_thread_default(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  open_request request(cache, own, two);
  REQUIRE(fill(own, request.first, 'a').has_value());
  request.free_first_in_another_thread();
  std::vector<device_buffer<char>> got;
  for (int i = 0; i < 2; ++i) {
    got.push_back(value_of(cache.allocate<char>(two, 2 * mebibyte)));
    REQUIRE(fill(two, got.back(), 'b').has_value());
  }
  REQUIRE(two.synchronize().has_value());
  REQUIRE(own.synchronize().has_value());
  for (const auto& each : got) {
    std::vector<char> back(each.size());
    REQUIRE(copy(each, back).has_value());
    CHECK(back == std::vector<char>(each.size(), 'b'));
  }
}

TEST_CASE("caching_allocator: what cannot be marked when it is freed stays its stream's",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver;
  gpu::testing::fault_injection faults(driver.table());
  gpu::driver::scoped_entry_points in_force(faults.entry_points());
  const gpu::device device = test::first_device();
  const gpu::stream_ref own = value_of(gpu::stream_ref::per_thread_default(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  const test::reported_errors reported;
  for (const char* call :
       {"cuStreamIsCapturing", "cuStreamGetId", "cuEventCreate", "cuEventRecord"}) {
    INFO(call);
    caching_allocator cache = value_of(caching_allocator::create(device));
    const auto kept = value_of(cache.allocate<char>(own, 100));
    open_request request(cache, own, two);
    faults.fail_call(call, 0, CUDA_ERROR_UNKNOWN);
    const std::size_t before = faults.injected();
    request.free_first();
    CHECK(faults.injected() == before + 1);
    const auto again = value_of(cache.allocate<char>(two, 2 * mebibyte));
    CHECK(again.native() != request.freed);
    CHECK(cache.statistics().shared == 0);
    static_cast<void>(value_of(cache.allocate<char>(own, 100)));
    static_cast<void>(value_of(cache.allocate<char>(two, 2 * mebibyte)));
    CHECK(cache.statistics().shared == 1);
  }
  CHECK(reported.count() == 0);
}

TEST_CASE("caching_allocator: no event is recorded on the stream that has the place of another",
          "[memory][caching][cpu]") {
  test::own_cpu_driver driver;
  static std::function<void()> meanwhile;
  static const gpu::driver::entry_points* real;
  real = &driver.table();
  gpu::driver::entry_points table = *real;
  table.stream_is_capturing = [](CUstream stream, CUstreamCaptureStatus* status) {
    if (const auto once = std::exchange(meanwhile, nullptr)) once();
    return real->stream_is_capturing(stream, status);
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  const gpu::stream three = value_of(gpu::stream::create(device));
  caching_allocator cache = value_of(caching_allocator::create(device));
  static_cast<void>(value_of(cache.allocate<char>(three, 2 * mebibyte)));
  open_request request(cache, one, two);
  const test::noted_calls<&gpu::driver::entry_points::event_record> records;
  std::size_t recorded = 0;
  // While this thread asks whether the stream is captured, others take all that it has, and the
  // place of it in the table, which is by number. They are gone before this thread goes on.
  meanwhile = [&] {
    REQUIRE(cache.hand_over(one).has_value());
    const std::size_t held = cache.statistics().held_bytes;
    const unsigned long long number = value_of(one.id());
    constexpr auto places = gpu::detail::caching_state::bucket_count;
    std::optional<gpu::stream> late;
    do late.emplace(value_of(gpu::stream::create(device)));
    while (value_of(late->id()) % places != number % places);
    static_cast<void>(value_of(cache.allocate<char>(*late, 4 * mebibyte)));
    CHECK(cache.statistics().held_bytes == held + 4 * mebibyte);
    recorded = records.count();
  };
  request.free_first();
  CHECK(recorded == 2);
  CHECK(records.count() == recorded);
  CHECK(cache.statistics().free_blocks == 4);
}

}  // namespace caching_marks_test
