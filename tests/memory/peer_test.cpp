#include <gpu/memory/peer.hpp>

#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/graph.hpp>
#include <gpu/graph/graph_exec.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/stream_memory_operation.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <thread>
#include <type_traits>
#include <vector>

namespace peer_memory_test {

using gpu::device_buffer;
using test::error_of;
using test::says;
using test::value_of;

namespace {

/// Two contexts, of two devices where there are two; memory and a stream in each.
struct two_contexts {
  gpu::device first_device = test::first_device();
  gpu::device second_device = test::device_count() > 1 ? value_of(gpu::device::get(1))
                                                       : first_device;
  gpu::context first = value_of(gpu::context::create(first_device));
  gpu::context second = value_of(gpu::context::create(second_device));
  gpu::stream on_first = value_of(gpu::stream::create(first));
  gpu::stream on_second = value_of(gpu::stream::create(second));
  device_buffer<int> a = value_of(device_buffer<int>::create(first, 4));
  device_buffer<int> b = value_of(device_buffer<int>::create(second, 4));

  two_contexts() {
    value_of(gpu::copy(std::vector<int>{1, 2, 3, 4}, a));
    value_of(gpu::copy(std::vector<int>{0, 0, 0, 0}, b));
  }
  static std::vector<int> contents(const device_buffer<int>& of) {
    std::vector<int> host(of.size());
    value_of(gpu::copy(of, host));
    return host;
  }
};

}  // namespace

static_assert(gpu::device_range<gpu::peer_memory<gpu::device_span<int>>>);
static_assert(std::is_trivially_copyable_v<gpu::peer_memory<gpu::device_span<int>>>);

TEST_CASE("peer: copies say which way they go", "[memory][copy][peer]") {
  two_contexts t;
  const auto a = value_of(gpu::peer(t.first, t.a.span()));
  const auto b = value_of(gpu::peer(t.second, t.b.span()));
  CHECK(a.context() == t.first);
  CHECK(a.span().native() == t.a.native());
  value_of(gpu::copy(t.on_first, a, b));
  value_of(t.on_first.synchronize());
  CHECK(t.contents(t.b) == std::vector<int>{1, 2, 3, 4});
  value_of(gpu::fill(t.on_second, b, 7));
  value_of(gpu::copy(t.on_second, b, a));  // by the stream of the source
  value_of(t.on_second.synchronize());
  CHECK(t.contents(t.a) == std::vector<int>(4, 7));
  value_of(gpu::fill(t.on_first, a, 8));
  value_of(gpu::copy(a, b));  // waits for both contexts
  CHECK(t.contents(t.b) == std::vector<int>(4, 8));
}

TEST_CASE("peer: boxes go from context to context", "[memory][copy][peer][pitched]") {
  two_contexts t;
  auto from = value_of(gpu::pitched_buffer<int>::create(t.first, {5, 3, 2}));
  auto to = value_of(gpu::pitched_buffer<int>::create(t.second, {4, 4, 2}));
  std::vector<int> host(30), back(32);
  std::iota(host.begin(), host.end(), 0);
  value_of(gpu::copy(gpu::pitched_host_span<const int>::from_native(host.data(), {5, 3, 2}),
                     from.span()));
  const auto source = value_of(gpu::peer(t.first, from.span()));
  const auto destination = value_of(gpu::peer(t.second, to.span()));
  const gpu::copy_region part{.source = {1, 1, 0}, .destination = {0, 2, 0}, .size = {4, 2, 2}};
  const auto see = [&] {
    value_of(
        gpu::copy(to.span(), gpu::pitched_host_span<int>::from_native(back.data(), {4, 4, 2})));
    for (int z = 0; z < 2; ++z)
      for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 4; ++x)
          if (back[static_cast<std::size_t>((z * 4 + y + 2) * 4 + x)] !=
              (z * 3 + y + 1) * 5 + x + 1)
            return false;
    return true;
  };
  value_of(gpu::fill(t.on_second, to.span(), -1));
  value_of(t.on_second.synchronize());
  CHECK_FALSE(see());
  value_of(gpu::copy(t.on_second, source, destination, part));
  value_of(t.on_second.synchronize());
  CHECK(see());
  value_of(gpu::fill(t.on_second, to.span(), -1));
  value_of(gpu::copy(source, destination, part));
  CHECK(see());
}

TEST_CASE("peer: a copy that blocks waits for what is queued in both contexts",
          "[memory][copy][peer][pitched]") {
  two_contexts t;
  auto from = value_of(gpu::pitched_buffer<int>::create(t.first, {2, 2}));
  auto to = value_of(gpu::pitched_buffer<int>::create(t.second, {2, 2}));
  // Does `copy()` where `work()`, queued on `stream` before, cannot begin for a while.
  const auto behind_a_wait = [](const gpu::stream& stream, auto work, auto copy) {
    auto flag = value_of(gpu::pinned_vector<unsigned>::create(stream.context(), 1));
    flag[0] = 0;
    value_of(gpu::perform(stream, gpu::memory_operation::wait(flag, 1u)));
    value_of(work());
    std::thread opens([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      __atomic_store_n(flag.data(), 1u, __ATOMIC_RELEASE);
    });
    const gpu::result<> done = copy();
    opens.join();
    value_of(done);
    value_of(stream.synchronize());
  };
  const auto copy_line = [&] { return gpu::copy(t.a, t.b); };
  const auto copy_box = [&] { return gpu::copy(from, to); };
  const auto box = [&] {
    std::vector<int> back(4);
    value_of(gpu::copy(to, gpu::pitched_host_span<int>::from_native(back.data(), {2, 2})));
    return back;
  };
  behind_a_wait(t.on_first, [&] { return gpu::fill(t.on_first, t.a, 5); }, copy_line);
  CHECK(t.contents(t.b) == std::vector<int>(4, 5));
  behind_a_wait(t.on_second, [&] { return gpu::fill(t.on_second, t.b, 6); }, copy_line);
  CHECK(t.contents(t.b) == std::vector<int>(4, 5));
  behind_a_wait(t.on_first, [&] { return gpu::fill(t.on_first, from, 7); }, copy_box);
  CHECK(box() == std::vector<int>(4, 7));
  behind_a_wait(t.on_second, [&] { return gpu::fill(t.on_second, to, 8); }, copy_box);
  CHECK(box() == std::vector<int>(4, 7));
}

TEST_CASE("peer: what stays in one context is no copy between peers",
          "[memory][copy][peer][pitched]") {
  two_contexts t;
  using calls = gpu::driver::entry_points;
  const auto legacy = gpu::stream_ref::legacy_default(t.first);
  auto other = value_of(device_buffer<int>::create(t.first, 4));
  auto from = value_of(gpu::pitched_buffer<int>::create(t.first, {2, 2}));
  auto near = value_of(gpu::pitched_buffer<int>::create(t.first, {2, 2}));
  auto far = value_of(gpu::pitched_buffer<int>::create(t.second, {2, 2}));
  value_of(gpu::fill(t.on_first, from, 1));
  value_of(t.on_first.synchronize());
  const test::noted_calls<&calls::memcpy_peer_async> queued_lines;
  const test::noted_calls<&calls::memcpy_3d_peer_async> queued_boxes;
  const test::noted_calls<&calls::memcpy_peer> lines;
  const test::noted_calls<&calls::memcpy_3d_peer> boxes;
  for (const std::size_t peers : {0u, 1u}) {
    auto& line = peers == 0 ? other : t.b;
    auto& box = peers == 0 ? near : far;
    value_of(gpu::copy(legacy, t.a, line));
    value_of(gpu::copy(t.on_first, from, box));
    value_of(gpu::copy(t.a, line));
    value_of(gpu::copy(from, box));
    CHECK(queued_lines.count() == peers);
    CHECK(queued_boxes.count() == peers);
    CHECK(lines.count() == peers);
    CHECK(boxes.count() == peers);
  }
}

TEST_CASE("peer: a copy of a box names both contexts", "[memory][copy][peer][pitched]") {
  two_contexts t;
  const auto from = value_of(gpu::pitched_buffer<int>::create(t.first, {2, 2}));
  auto to = value_of(gpu::pitched_buffer<int>::create(t.second, {2, 2}));
  static CUcontext source, destination;
  gpu::driver::entry_points table = test::driver();
  table.memcpy_3d_peer_async = [](const CUDA_MEMCPY3D_PEER* copy, CUstream) {
    source = copy->srcContext;
    destination = copy->dstContext;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  value_of(gpu::copy(t.on_second, from, to));
  CHECK(source == t.first.native());
  CHECK(destination == t.second.native());
}

TEST_CASE("peer: a span of another context is refused with both", "[memory][copy][peer]") {
  two_contexts t;
  gpu::cuda_error error = error_of(gpu::peer(t.second, t.a.span()));
  CHECK(error == gpu::errc::wrong_context);
  CHECK(says(error, "gpu::peer", "span belongs to device 0", "the context to", "peer_test.cpp"));
  CHECK(error.asked() == 0);
  CHECK(error.limit() == static_cast<std::uint64_t>(t.second_device.native()));
  CHECK(error_of(gpu::peer(gpu::context_ref{}, t.a.span())) == gpu::errc::empty_handle);
  int local = 0;
  error = error_of(gpu::peer(
      t.first, gpu::device_span<int>::from_native(reinterpret_cast<CUdeviceptr>(&local), 1)));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(gpu::peer(t.first, gpu::device_span<int>()).has_value());

  // Memory of a pool is every context's of its device; here of the primary one.
  const gpu::stream stream = value_of(gpu::stream::create(t.first_device));
  const auto pooled = value_of(device_buffer<int>::create(stream, 4));
  CHECK(gpu::peer(t.first_device, pooled.span()).has_value());

  const gpu::context third = value_of(gpu::context::create(t.first_device));
  const gpu::stream elsewhere = value_of(gpu::stream::create(third));
  error = error_of(gpu::copy(elsewhere, t.a, t.b));
  CHECK(error == gpu::errc::wrong_context);
  CHECK(says(error, "stream belongs to device 0", "source"));
}

TEST_CASE("peer: copies between contexts can be captured", "[memory][copy][peer][graph]") {
  two_contexts t;
  auto from = value_of(gpu::pitched_buffer<int>::create(t.first, {2, 2}));
  auto to = value_of(gpu::pitched_buffer<int>::create(t.second, {2, 2}));
  value_of(gpu::fill(t.on_first, from.span(), 3));
  value_of(t.on_first.synchronize());
  value_of(gpu::fill(t.on_second, to.span(), 4));
  value_of(t.on_second.synchronize());
  auto capture = value_of(gpu::stream_capture::begin(t.on_first));
  value_of(gpu::copy(t.on_first, t.a, t.b));
  value_of(gpu::copy(t.on_first, value_of(gpu::peer(t.first, from.span())),
                     value_of(gpu::peer(t.second, to.span()))));
  const gpu::graph graph = value_of(capture.end());
  CHECK(value_of(graph.nodes()).size() == 2);
  const gpu::graph_exec exec = value_of(gpu::graph_exec::instantiate(graph));
  value_of(gpu::launch(t.on_first, exec));
  value_of(t.on_first.synchronize());
  CHECK(t.contents(t.b) == std::vector<int>{1, 2, 3, 4});
  std::vector<int> back(4);
  value_of(gpu::copy(to.span(), gpu::pitched_host_span<int>::from_native(back.data(), {2, 2})));
  CHECK(back == std::vector<int>(4, 3));
}

TEST_CASE("peer: copies that wait are refused while a stream is captured",
          "[memory][copy][peer][capture]") {
  two_contexts t;
  const auto from = value_of(gpu::pitched_buffer<int>::create(t.first, {2, 2}));
  auto to = value_of(gpu::pitched_buffer<int>::create(t.second, {2, 2}));
  const auto source = value_of(gpu::peer(t.first, from.span()));
  const auto destination = value_of(gpu::peer(t.second, to.span()));
  test::check_refused_in_capture(t.on_first, "line", [&] { return gpu::copy(t.a, t.b); });
  test::check_refused_in_capture(t.on_first, "box", [&] { return gpu::copy(source, destination); });
}

TEST_CASE("peer: each driver call of a copy may fail", "[memory][copy][peer][faults][cpu]") {
  // Work is done at once: where a call fails behind a copy that it has queued, `b` is freed on
  // `other`, which does not wait for the copy.
  const test::cpu_driver_options cpu{.devices = 2, .deferred = false, .threads = false};
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device first = GPU_TRY(gpu::device::get(0));
              const gpu::device second = GPU_TRY(gpu::device::get(1));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(first));
              const gpu::stream other = GPU_TRY(gpu::stream::create(second));
              auto a = GPU_TRY(device_buffer<int>::create(stream, 4));
              auto b = GPU_TRY(device_buffer<int>::create(other, 4));
              GPU_TRY(gpu::fill(stream, a, 1));
              GPU_TRY(other.synchronize());
              using box = gpu::pitched_span<int>;
              const auto source = GPU_TRY(gpu::peer(first, box::from_native(a.data(), {2, 2})));
              const auto destination =
                  GPU_TRY(gpu::peer(second, box::from_native(b.data(), {2, 2})));
              GPU_TRY(gpu::copy(stream, a, b));
              GPU_TRY(gpu::copy(stream, source, destination));
              GPU_TRY(stream.synchronize());
              GPU_TRY(gpu::copy(a, b));
              return gpu::copy(source, destination);
            },
            {"cuCtxGetDevice"}, cpu) == "");
}

}  // namespace peer_memory_test
