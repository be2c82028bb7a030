// Capture modes of threads; the captures themselves are in tests/graph/.

#include <gpu/driver/capture_mode.hpp>

#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/driver.hpp>
#include <gpu/driver/choose_device.hpp>
#include <gpu/driver/driver_version.hpp>
#include <gpu/driver/host_function.hpp>
#include <gpu/driver/l2_cache.hpp>
#include <gpu/driver/peer_access.hpp>
#include <gpu/driver/primary_context.hpp>
#include <gpu/driver/profiler.hpp>
#include <gpu/driver/remote_writes.hpp>
#include <gpu/driver/stream_attribute.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <optional>
#include <string>

namespace stream_capture_test {

using test::error_of;
using test::says;
using test::value_of;

TEST_CASE("stream_capture: an external event belongs to the stream's context, to be recorded",
          "[driver][capture]") {
  const gpu::device device = test::first_device();
  const gpu::context own = value_of(gpu::context::create(device));
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::event event = value_of(gpu::event::create(own));
  const gpu::cuda_error error = error_of(gpu::record_external(stream, event));
  CHECK(error == gpu::errc::wrong_context);
  CHECK(says(error, "gpu::record_external", "the event to another context of device 0"));
}

TEST_CASE("stream_capture: a mode that is none is refused", "[driver][capture]") {
  const gpu::cuda_error error =
      error_of(gpu::capture_mode_scope::enter(static_cast<gpu::capture_mode>(5)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::capture_mode_scope::enter", "5 is not a valid gpu::capture_mode"));
}

TEST_CASE("stream_capture: what waits is refused by the driver", "[driver][capture]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::event event = value_of(gpu::event::create(device));
  const gpu::context_ref context = stream.context();
  test::check_refused_in_capture(stream, "stream", [&] { return stream.synchronize(); });
  test::check_refused_in_capture(stream, "stream query", [&] { return stream.is_done(); });
  test::check_refused_in_capture(stream, "context", [&] { return context.synchronize(); });
  test::check_refused_in_capture(stream, "event query", [&] { return event.is_done(); });
  const test::captured made = test::capture(stream, [&] {
    value_of(gpu::record(stream, event));
    CHECK(error_of(event.synchronize()).domain() == gpu::error_domain::driver);
  });
  CHECK(made.nodes == 0);

  const gpu::event outside = value_of(gpu::event::create(device));
  REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_RELAXED) ==
          CUDA_SUCCESS);
  CHECK(value_of(outside.is_done()));
  CUgraph graph = nullptr;
  REQUIRE(test::driver().stream_end_capture(stream.native(), &graph) == CUDA_SUCCESS);
  CHECK(test::driver().graph_destroy(graph) == CUDA_SUCCESS);
}

TEST_CASE("stream_capture: what tells streams apart, and what holds for more than one, is refused",
          "[driver][capture]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::context_ref context = stream.context();
  const auto stack = value_of(context.limit(gpu::context_limit::stack_size));
  test::check_refused_in_capture(stream, "kind", [&] { return stream.kind(); });
  test::check_refused_in_capture(stream, "id", [&] { return stream.id(); });
  test::check_refused_in_capture(stream, "profiler", [] { return gpu::start_profiler(); });
  test::check_refused_in_capture(stream, "profiler's end", [] { return gpu::stop_profiler(); });
  test::check_refused_in_capture(stream, "profiled scope",
                                 [] { return gpu::profiler_range::start(); });
  test::check_refused_in_capture(
      stream, "limit", [&] { return context.set_limit(gpu::context_limit::stack_size, stack); });
  test::check_refused_in_capture(stream, "cache preference", [&] {
    return context.set_cache_preference(gpu::cache_preference::none);
  });
}

TEST_CASE("stream_capture: the profiler goes on after a range whose end it forbids",
          "[driver][capture][profiler]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
    const bool forbidden = mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    test::reported_errors reported;
    std::optional<gpu::profiler_range> range = value_of(gpu::profiler_range::start());
    const test::captured made = test::capture(stream, [&] { range.reset(); }, mode);
    CHECK(made.unharmed() == !forbidden);
    CHECK(reported.count() == (forbidden ? 1 : 0));
    if (!forbidden) continue;
    CHECK(reported.last().find("cuProfilerStop: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED") !=
          std::string::npos);
    CHECK(gpu::stop_profiler().has_value());
  }
}

TEST_CASE("stream_capture: what asks and what prepares leaves it alone", "[driver][capture]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::stream other = value_of(gpu::stream::create(device));
  const gpu::context_ref context = stream.context();
  const test::captured made = test::capture(stream, [&] {
    {
      gpu::driver::scoped_entry_points anew(test::driver());  // for which nothing is retained yet
      CHECK(gpu::stream_ref::legacy_default(device).has_value());
    }
    {
      gpu::driver::scoped_entry_points anew(test::driver());
      CHECK(gpu::stream_ref::per_thread_default(device).has_value());
    }
    CHECK(gpu::stream::create(device).has_value());
    CHECK(gpu::event::create(device).has_value());
    CHECK(stream.priority().has_value());
    CHECK(gpu::attribute<gpu::stream_attribute::priority>(stream).has_value());
    CHECK(gpu::set_attribute<gpu::stream_attribute::synchronization_policy>(
              stream, gpu::synchronization_policy::spin)
              .has_value());
    CHECK(gpu::copy_attributes(other, stream).has_value());
    CHECK(other.kind().has_value());
    CHECK(other.id().has_value());
    CHECK(gpu::device::count().has_value());
    CHECK(gpu::device::from_pci_bus_id(value_of(device.pci_bus_id()).c_str()).has_value());
    CHECK(device.name().has_value());
    CHECK(device.uuid().has_value());
    CHECK(device.total_memory().has_value());
    CHECK(device.memory_info().has_value());
    CHECK(device.compute_capability().has_value());
    CHECK(device.limits().has_value());
    CHECK(gpu::attribute<gpu::device_attribute::warp_size>(device).has_value());
    CHECK(device.properties().has_value());
    CHECK(gpu::choose_device().has_value());
    CHECK(gpu::default_device().has_value());
    CHECK(gpu::driver_version().has_value());
    CHECK(gpu::get_primary_context_state(device).has_value());
    CHECK(gpu::can_access_peer(device, device).has_value());
    CHECK(gpu::reset_persisting_l2_cache(context).has_value());
    CHECK(context.push().has_value());
    CHECK(gpu::context::current().has_value());
    CHECK(gpu::context::pop().has_value());
    CHECK(gpu::context_scope::enter(context).has_value());
    CHECK(context.id().has_value());
    CHECK(context.api_version().has_value());
    CHECK(context.stream_priority_range().has_value());
    CHECK(context.set_flags(value_of(context.flags())).has_value());
    CHECK(context.limit(gpu::context_limit::stack_size).has_value());
    CHECK(context.memory_info().has_value());
    CHECK(context.cache_preference().has_value());
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 0);
}

TEST_CASE("stream_capture: what is no work of a stream leaves it alone", "[driver][capture]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::event start = value_of(gpu::event::create(device));
  const gpu::event stop = value_of(gpu::event::create(device));
  value_of(gpu::record(stream, start));
  value_of(gpu::record(stream, stop));
  value_of(stream.synchronize());
  const gpu::context_flags flags = value_of(gpu::get_primary_context_state(device)).flags;
  const bool flushes = gpu::flush_remote_writes(stream.context()).has_value();
  const test::captured made = test::capture(stream, [&] {
    CHECK(gpu::elapsed(start, stop).has_value());
    CHECK(gpu::set_primary_context_flags(device, flags).has_value());
    CHECK(gpu::flush_remote_writes(stream.context()).has_value() == flushes);
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 0);
}

TEST_CASE("stream_capture: the link to a peer may be asked about",
          "[driver][capture][peer][two_devices]") {
  const gpu::device device = test::first_device(), other = value_of(gpu::device::get(1));
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const test::captured made = test::capture(stream, [&] {
    CHECK(gpu::attribute<gpu::peer_attribute::access_supported>(device, other).has_value());
    CHECK(gpu::can_access_peer(device, other).has_value());
  });
  CHECK(made.unharmed());
}

TEST_CASE("stream_capture: ends where the primary context is reset", "[driver][capture][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  REQUIRE(driver.table().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
  REQUIRE_FALSE(gpu::device_buffer<int>::create(device, 1).has_value());
  REQUIRE(gpu::reset_primary_context(device).has_value());
  // Nothing is forbidden any more.
  CHECK(gpu::device_buffer<int>::create(device, 1).has_value());
}

TEST_CASE("stream_capture: events join streams", "[driver][capture]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const gpu::stream other = value_of(gpu::stream::create(device));
  const gpu::event forked = value_of(gpu::event::create(device, {.timing = false}));
  const gpu::event joined = value_of(gpu::event::create(device, {.timing = false}));
  int calls = 0;
  const test::captured made = test::capture(stream, [&] {
    value_of(gpu::record(stream, forked));
    value_of(gpu::wait(other, forked));
    CHECK(value_of(gpu::capture_status_of(other)) == gpu::capture_status::active);
    value_of(gpu::launch_host_function(other, [&] { ++calls; }));
    value_of(gpu::record(other, joined));
    value_of(gpu::wait(stream, joined));
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 1);
  CHECK(calls == 0);
}

}  // namespace stream_capture_test
