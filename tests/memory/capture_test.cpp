// The operations of memory/ while a stream is captured, besides what the tests of shared
// pools, virtual memory, growing buffers, peers, batches and memory operations say.

#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/aligned_buffer.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/logging_allocator.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/memory_pool.hpp>
#include <gpu/memory/memory_pool_attribute.hpp>
#include <gpu/memory/memory_range_attribute.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/pointer_attribute.hpp>
#include <gpu/memory/prefetch.hpp>
#include <gpu/memory/registered_memory.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace memory_capture_test {

using gpu::device_buffer;
using gpu::pinned_vector;
using test::capture;
using test::check_refused_in_capture;
using test::error_of;
using test::says;
using test::value_of;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

struct fixture {
  gpu::device device = test::first_device();
  gpu::stream stream = value_of(gpu::stream::create(device));
  device_buffer<int> a = value_of(device_buffer<int>::create(device, 8));
  device_buffer<int> b = value_of(device_buffer<int>::create(device, 8));
  pinned_vector<int> pinned = value_of(pinned_vector<int>::create(device, 8));
  gpu::pitched_buffer<int> box = value_of(gpu::pitched_buffer<int>::create(device, {4, 2}));
};

}  // namespace

TEST_CASE("capture: copies and fills on a stream become nodes", "[memory][copy][fill][capture]") {
  fixture f;
  const test::captured made = capture(f.stream, [&] {
    value_of(gpu::copy(f.stream, f.pinned, f.a));
    value_of(gpu::copy(f.stream, f.a, f.b));
    value_of(gpu::copy(f.stream, f.b, f.pinned));
    value_of(gpu::copy(f.stream, f.box.span(), f.box.span(), {.size = {4, 1}}));
    value_of(gpu::fill(f.stream, f.a, 1));
    value_of(gpu::fill(f.stream, as_writable_bytes(f.b.span()), std::byte{2}));
    value_of(gpu::fill(f.stream, f.box.span(), 3));
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 7);
}

TEST_CASE("capture: a copy without a stream is refused, with what to write",
          "[memory][copy][capture]") {
  fixture f;
  std::vector<int> host(8);
  (void)capture(f.stream, [&] {
    const gpu::cuda_error error = error_of(gpu::copy(f.a, host));
    CHECK(error.code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(says(error, "gpu::copy without a stream", "gpu::copy(stream, from, to)"));
  });
}

TEST_CASE("capture: memory of a stream is the graph's", "[memory][pool][capture]") {
  fixture f;
  const auto pool = value_of(gpu::memory_pool::create(f.device));
  const test::captured made = capture(f.stream, [&] {
    const auto one = value_of(device_buffer<int>::create(f.stream, 100));
    const auto two = value_of(pool.allocate<int>(f.stream, 100));
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 4);  // two allocations, two frees
}

TEST_CASE("capture: what a capture forbids is refused by the driver", "[memory][capture]") {
  fixture f;
  std::vector<int> host(8);
  const auto rows = gpu::pitched_host_span<int>::from_native(host.data(), {4, 2});
  const auto pool = value_of(gpu::memory_pool::create(f.device));
  auto managed = value_of(gpu::managed_buffer<int>::create(f.device, 8));
  check_refused_in_capture(f.stream, "copy to", [&] { return gpu::copy(host, f.a); });
  check_refused_in_capture(f.stream, "copy from", [&] { return gpu::copy(f.a, host); });
  check_refused_in_capture(f.stream, "copy within", [&] { return gpu::copy(f.a, f.b); });
  check_refused_in_capture(f.stream, "box to", [&] { return gpu::copy(rows, f.box.span()); });
  check_refused_in_capture(f.stream, "box from", [&] { return gpu::copy(f.box.span(), rows); });
  check_refused_in_capture(f.stream, "device_buffer",
                           [&] { return device_buffer<int>::create(f.device, 8); });
  check_refused_in_capture(f.stream, "pitched_buffer",
                           [&] { return gpu::pitched_buffer<int>::create(f.device, {4, 2}); });
  check_refused_in_capture(f.stream, "managed_buffer",
                           [&] { return gpu::managed_buffer<int>::create(f.device, 8); });
  check_refused_in_capture(f.stream, "pinned_vector",
                           [&] { return pinned_vector<int>::create(f.device, 8); });
  check_refused_in_capture(f.stream, "registered_memory",
                           [&] { return gpu::registered_memory<int>::create(f.device, host); });
  auto registered = value_of(gpu::registered_memory<int>::create(f.device, host));
  check_refused_in_capture(f.stream, "unregister", [&] { return registered.unregister(); });
  CHECK(registered.data() == host.data());  // for another try
  CHECK(registered.unregister().has_value());
  {
    const gpu::context_ref primary = value_of(gpu::context::primary(f.device));
    const gpu::context_scope scope = value_of(gpu::context_scope::enter(primary));
    CHECK(test::driver().mem_host_unregister(host.data()) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  }
  check_refused_in_capture(f.stream, "advise", [&] {
    return gpu::advise(managed, gpu::memory_advice::set_read_mostly);
  });
  check_refused_in_capture(f.stream, "sync_memops",
                           [&] { return gpu::set_sync_memops(f.a.data(), true); });
  check_refused_in_capture(f.stream, "memory_pool",
                           [&] { return gpu::memory_pool::create(f.device); });
  check_refused_in_capture(f.stream, "pool access", [&] {
    return pool.set_access(f.device, gpu::memory_access::read_write);
  });
  check_refused_in_capture(f.stream, "pool access read", [&] { return pool.access(f.device); });
  check_refused_in_capture(f.stream, "current pool",
                           [&] { return gpu::set_current_pool(f.device, pool); });
  check_refused_in_capture(f.stream, "current pool of a place", [&] {
    return gpu::set_current_pool(f.device, gpu::allocation_type::pinned, pool);
  });
  check_refused_in_capture(f.stream, "pool trim", [&] { return pool.trim(); });
  check_refused_in_capture(f.stream, "pool attribute", [&] {
    return gpu::attribute<gpu::memory_pool_attribute::used_mem_current>(pool);
  });
  check_refused_in_capture(f.stream, "set pool attribute", [&] {
    return gpu::set_attribute<gpu::memory_pool_attribute::release_threshold>(pool, 0);
  });
}

TEST_CASE("capture: questions about memory leave it alone", "[memory][capture]") {
  fixture f;
  auto managed = value_of(gpu::managed_buffer<int>::create(f.device, 8));
  auto mapped = value_of(pinned_vector<int>::create(f.device, 8, gpu::pinned_flags::mapped));
  std::vector<int> host(8);
  const auto registered = value_of(
      gpu::registered_memory<int>::create(f.device, host, gpu::registration_flags::mapped));
  const test::captured made = capture(f.stream, [&] {
    CHECK(mapped.mapped_span().has_value());
    CHECK(registered.mapped_span().has_value());
    CHECK(gpu::memory_pool_ref::default_of(f.device).has_value());
    CHECK(gpu::memory_pool_ref::current_of(f.device).has_value());
    CHECK(gpu::memory_pool_ref::default_of(f.device, gpu::allocation_type::managed).has_value());
    CHECK(gpu::memory_pool_ref::current_of(f.device, gpu::allocation_type::managed).has_value());
    CHECK(gpu::attribute<gpu::pointer_attribute::memory_type>(f.a.data()).has_value());
    CHECK(gpu::pointer_info::of(f.a.data()).has_value());
    CHECK(gpu::attribute<gpu::memory_range_attribute::read_mostly>(managed).has_value());
    CHECK(gpu::memory_range_attributes::of(managed).has_value());
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 0);
}

TEST_CASE("capture: hints about managed memory are refused, and it goes on",
          "[memory][managed][capture]") {
  fixture f;
  auto managed = value_of(gpu::managed_buffer<int>::create(f.device, 8));
  const test::captured made = capture(f.stream, [&] {
    const gpu::cuda_error moved =
        error_of(gpu::prefetch(f.stream, managed, gpu::memory_location::host()));
    CHECK(moved == gpu::errc::capture_prohibited);
    CHECK(says(moved, "gpu::prefetch", "Prefetch before the capture begins"));
    const gpu::cuda_error attached = error_of(gpu::attach(f.stream, managed));
    CHECK(attached == gpu::errc::capture_prohibited);
    CHECK(says(attached, "gpu::attach", "Attach before the capture begins"));
    value_of(gpu::fill(f.stream, f.a, 1));
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 1);
}

TEST_CASE("capture: allocators are made in one, and what needs no driver is allocated",
          "[memory][caching][registered][capture]") {
  fixture f;
  const test::captured made = capture(f.stream, [&] {
    {
      gpu::driver::scoped_entry_points anew(test::driver());  // for which nothing is retained yet
      CHECK(gpu::caching_allocator::create(f.device).has_value());
    }
    {
      gpu::driver::scoped_entry_points anew(test::driver());
      CHECK(gpu::caching_pinned_allocator::create(f.device).has_value());
    }
    CHECK(gpu::aligned_buffer<int>::create(8).has_value());
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 0);
}

TEST_CASE("capture: memory of a stream that is logged is the graph's",
          "[memory][logging_allocator][capture]") {
  fixture f;
  const auto pool = value_of(gpu::memory_pool::create(f.device));
  gpu::text line;
  gpu::logging_allocator logged(
      pool, [](const gpu::text& told, void* into) { *static_cast<gpu::text*>(into) = told; },
      &line);
  const test::captured made =
      capture(f.stream, [&] { value_of(logged.allocate<int>(f.stream, 100)); });
  CHECK(made.unharmed());
  CHECK(made.nodes == 2);  // an allocation, a free
  CHECK(line.contains("400 bytes allocated, "));
  CHECK(line.contains(" bytes are free on device 0 ["));
}

TEST_CASE("capture: the caching allocator takes back, and hands out nothing",
          "[memory][caching][capture]") {
  fixture f;
  auto cache = value_of(gpu::caching_allocator::create(f.device));
  auto pinned = value_of(gpu::caching_pinned_allocator::create(f.device));
  value_of(pinned.allocate<char>(mebibyte));
  auto warm = value_of(cache.allocate<char>(f.stream, mebibyte));
  const test::captured made = capture(f.stream, [&] {
    const auto host = value_of(pinned.allocate<char>(mebibyte));
    value_of(gpu::copy(f.stream, host, warm));
    const device_buffer<char> freed = std::move(warm);
    const gpu::cuda_error handed = error_of(cache.hand_over(f.stream));
    CHECK(handed == gpu::errc::capture_prohibited);
    CHECK(says(handed, "Call it after the capture"));
    auto used = value_of(pinned.allocate<char>(mebibyte));
    const gpu::cuda_error kept = error_of(pinned.free_after(f.stream, std::move(used)));
    CHECK(kept == gpu::errc::capture_prohibited);
    CHECK(says(kept, "as long as the graph"));
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 1);
  const test::captured spoiled = capture(f.stream, [&] {
    const gpu::cuda_error refused = error_of(cache.allocate<char>(f.stream, mebibyte));
    CHECK(refused == gpu::errc::capture_prohibited);
    CHECK(says(refused, "gpu::caching_allocator::allocate", "a graph cannot contain this",
               "before the capture begins"));
  });
  CHECK_FALSE(spoiled.unharmed());
  CHECK(cache.allocate<char>(f.stream, mebibyte).has_value());
  CHECK(cache.statistics().misses == 1);
}

TEST_CASE("capture: pinned memory that is not at hand is refused by the driver",
          "[memory][caching][capture]") {
  fixture f;
  auto pinned = value_of(gpu::caching_pinned_allocator::create(f.device));
  check_refused_in_capture(f.stream, "caching_pinned_allocator",
                           [&] { return pinned.allocate<char>(mebibyte); });
  CHECK(pinned.allocate<char>(mebibyte).has_value());
}

}  // namespace memory_capture_test
