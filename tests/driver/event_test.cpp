#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/elapsed_time.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace event_test {

using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<gpu::event>);
static_assert(std::is_nothrow_move_constructible_v<gpu::event>);
static_assert(std::is_trivially_copyable_v<gpu::event_ref>);
static_assert(std::is_convertible_v<gpu::event&, gpu::event_ref>);
static_assert(!std::is_convertible_v<gpu::event, gpu::event_ref>);
static_assert(!std::is_constructible_v<gpu::event_ref, std::nullptr_t>);

namespace {

/// Work on a stream that takes the host a moment.
void queue_some_work(const gpu::stream& stream) {
  REQUIRE(test::driver().launch_host_func(
              stream.native(),
              [](void*) {
                volatile unsigned n = 0;
                for (unsigned i = 0; i < 2'000'000; ++i) n = n + i;
              },
              nullptr) == CUDA_SUCCESS);
}

}  // namespace

TEST_CASE("event: marks the work before it", "[driver][event]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::event event = value_of(gpu::event::create(device));
  CHECK(event.synchronize().has_value());
  CHECK(value_of(event.is_done()));
  static int done;
  done = 0;
  REQUIRE(test::driver().launch_host_func(
              stream.native(), [](void* p) { ++*static_cast<int*>(p); }, &done) == CUDA_SUCCESS);
  REQUIRE(record(stream, event).has_value());
  REQUIRE(event.synchronize().has_value());
  CHECK(done == 1);
  CHECK(value_of(event.is_done()));
}

TEST_CASE("event: another stream waits for it", "[driver][event]") {
  const gpu::device device = test::first_device();
  const gpu::stream first = value_of(gpu::stream::create(device));
  const gpu::stream second = value_of(gpu::stream::create(device));
  const gpu::event event = value_of(gpu::event::create(device, {.timing = false}));
  static int order, at_first, at_second;
  order = at_first = at_second = 0;
  queue_some_work(first);
  test::driver().launch_host_func(first.native(), [](void*) { at_first = ++order; }, nullptr);
  REQUIRE(record(first, event).has_value());
  REQUIRE(wait(second, event).has_value());
  test::driver().launch_host_func(second.native(), [](void*) { at_second = ++order; }, nullptr);
  REQUIRE(second.synchronize().has_value());
  CHECK(at_first == 1);
  CHECK(at_second == 2);
}

TEST_CASE("event: the elapsed time is the driver's", "[driver][event]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::event start = value_of(gpu::event::create(device));
  const gpu::event stop = value_of(gpu::event::create(device));
  REQUIRE(record(stream, start).has_value());
  queue_some_work(stream);
  REQUIRE(record(stream, stop).has_value());
  REQUIRE(stop.synchronize().has_value());
  float raw = -1;
  REQUIRE(test::driver().event_elapsed_time(&raw, start.native(), stop.native()) == CUDA_SUCCESS);
  const gpu::elapsed_time time = value_of(elapsed(start, stop));
  CHECK(time.milliseconds() == raw);
  CHECK(time.milliseconds() >= 0);
}

TEST_CASE("event: a time in its units", "[driver][event]") {
  constexpr gpu::elapsed_time t = gpu::elapsed_time::from_milliseconds(1.5f);
  CHECK(t.seconds() == Approx(0.0015));
  CHECK(t.milliseconds() == Approx(1.5));
  CHECK(t.microseconds() == Approx(1500));
  STATIC_REQUIRE(gpu::elapsed_time() < t);
  STATIC_REQUIRE(t > gpu::elapsed_time());
  STATIC_REQUIRE(t >= t);
  STATIC_REQUIRE(t <= t);
  STATIC_REQUIRE(t == gpu::elapsed_time::from_milliseconds(1.5f));
}

TEST_CASE("event: its options reach the driver", "[driver][event]") {
  const gpu::device device = test::first_device();
  const auto flags_of = [&](gpu::event_options options) {
    const test::noted_calls<&gpu::driver::entry_points::event_create> noted;
    value_of(gpu::event::create(device, options));
    return noted.last<1>();
  };
  CHECK(flags_of({}) == CU_EVENT_DEFAULT);
  CHECK(flags_of({.blocking_sync = true}) == CU_EVENT_BLOCKING_SYNC);
  CHECK(flags_of({.timing = false}) == CU_EVENT_DISABLE_TIMING);
  CHECK(flags_of({.timing = false, .interprocess = true}) ==
        (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  CHECK(flags_of({.timing = false, .blocking_sync = true, .interprocess = true}) ==
        (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC));
}

TEST_CASE("event: options that exclude each other", "[driver][event]") {
  const gpu::device device = test::first_device();
  const gpu::cuda_error error =
      error_of(gpu::event::create(device, {.timing = true, .interprocess = true}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "timing", "interprocess"));
  CHECK(gpu::event::create(device, {.timing = false, .blocking_sync = true}).has_value());

  const gpu::event timed = value_of(gpu::event::create(device));
  const gpu::event untimed = value_of(gpu::event::create(device, {.timing = false}));
  CHECK(timed.has_timing());
  CHECK(!untimed.has_timing());
  const gpu::cuda_error no_time = error_of(elapsed(timed, untimed));
  CHECK(no_time == gpu::errc::invalid_argument);
  CHECK(says(no_time, "without timing", "event_options"));
}

TEST_CASE("event: an event never recorded has no time", "[driver][event]") {
  const gpu::device device = test::first_device();
  const gpu::event a = value_of(gpu::event::create(device));
  const gpu::event b = value_of(gpu::event::create(device));
  const gpu::stream stream = value_of(gpu::stream::create(device));
  value_of(gpu::record(stream, a));
  value_of(stream.synchronize());
  for (const gpu::cuda_error& error :
       {error_of(elapsed(a, b)), error_of(elapsed(b, a)), error_of(elapsed(b, b))}) {
    CHECK(error.code() == CUDA_ERROR_INVALID_HANDLE);
    CHECK(says(error, "cuEventElapsedTime", "start or stop was never recorded",
               "gpu::record(stream, event)"));
  }
}

TEST_CASE("event: two devices, or two contexts of one, have no time between them",
          "[driver][event][cpu]") {
  test::cpu_driver_options two;
  two.devices = 2;
  test::own_cpu_driver driver(two);
  const gpu::device second = value_of(gpu::device::get(1));
  const gpu::event here = value_of(gpu::event::create(test::first_device()));
  const gpu::event there = value_of(gpu::event::create(second));
  const gpu::cuda_error devices = error_of(elapsed(here, there));
  CHECK(devices == gpu::errc::wrong_context);
  CHECK(devices.limit() == 1);
  CHECK(says(devices, "gpu::elapsed", "start belongs to device 0", "stop to device 1",
             "Make both in the same context"));
  const gpu::context own = value_of(gpu::context::create(second));
  const gpu::event in_own = value_of(gpu::event::create(own));
  const gpu::cuda_error contexts = error_of(elapsed(there, in_own));
  CHECK(contexts == gpu::errc::wrong_context);
  CHECK(says(contexts, "stop to another context of device 1"));
}

TEST_CASE("event: work that still runs is not an error", "[driver][event]") {
  const gpu::event event = value_of(gpu::event::create(test::first_device()));
  gpu::driver::entry_points busy = test::driver();
  busy.event_query = [](CUevent) { return CUDA_ERROR_NOT_READY; };
  gpu::driver::scoped_entry_points in_force(busy);
  CHECK(value_of(event.is_done()) == false);
}

TEST_CASE("event: recording on a stream of another context is refused", "[driver][event]") {
  const gpu::device device = test::first_device();
  const gpu::context own = value_of(gpu::context::create(device));
  const gpu::stream stream = value_of(gpu::stream::create(own));
  const gpu::event event = value_of(gpu::event::create(device));
  const gpu::cuda_error error = error_of(record(stream, event));
  CHECK(error == gpu::errc::wrong_context);
  CHECK(says(error, "gpu::record", "another context of device 0", "stream", "event"));
}

TEST_CASE("event: a stream of another device waits for it", "[driver][event][cpu]") {
  test::own_cpu_driver driver({.devices = 2});
  const gpu::stream here = value_of(gpu::stream::create(value_of(gpu::device::get(0))));
  const gpu::stream there = value_of(gpu::stream::create(value_of(gpu::device::get(1))));
  const gpu::event event = value_of(gpu::event::create(here.device()));
  const gpu::cuda_error error = error_of(record(there, event));
  CHECK(error == gpu::errc::wrong_context);
  CHECK(says(error, "device 1", "device 0"));
  REQUIRE(record(here, event).has_value());
  REQUIRE(wait(there, event).has_value());
  CHECK(there.synchronize().has_value());
}

TEST_CASE("event: an empty one is refused by name", "[driver][event]") {
  const gpu::device device = test::first_device();
  gpu::event owner = value_of(gpu::event::create(device));
  gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::event taken = std::move(owner);
  CHECK(says(error_of(owner.synchronize()), "event is empty", "gpu::event::synchronize"));
  CHECK(error_of(owner.is_done()) == gpu::errc::empty_handle);
  CHECK(error_of(record(stream, owner)) == gpu::errc::empty_handle);
  CHECK(error_of(wait(stream, owner)) == gpu::errc::empty_handle);
  CHECK(error_of(elapsed(owner, taken)) == gpu::errc::empty_handle);
  CHECK(error_of(elapsed(taken, owner)) == gpu::errc::empty_handle);
  const gpu::stream gone = std::move(stream);
  CHECK(says(error_of(record(stream, taken)), "stream is empty"));
  CHECK(error_of(wait(stream, taken)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::event::create(gpu::context_ref{})) == gpu::errc::empty_handle);
}

TEST_CASE("event: releasing and adopting move the ownership", "[driver][event]") {
  gpu::event owner = value_of(gpu::event::create(test::first_device()));
  const gpu::event_ref raw = owner.release();
  CHECK(owner.native() == nullptr);
  const gpu::event again = gpu::event::adopt(raw);
  CHECK(gpu::event_ref(again) == raw);
  CHECK(again.has_timing());
  CHECK(again.is_done().has_value());
  CHECK(gpu::event_ref::from_native(raw.native(), raw.context()) == raw);
}

TEST_CASE("event: each driver call may fail", "[driver][event][faults][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const gpu::device device = GPU_TRY(gpu::device::get(0));
          const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
          const gpu::event start = GPU_TRY(gpu::event::create(device));
          const gpu::event stop = GPU_TRY(gpu::event::create(device));
          GPU_TRY(record(stream, start));
          GPU_TRY(wait(stream, start));
          GPU_TRY(record(stream, stop));
          GPU_TRY(stop.synchronize());
          GPU_TRY(stop.is_done());
          GPU_TRY(elapsed(start, stop));
          return {};
        }) == "");
}

}  // namespace event_test
