#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/peer_access.hpp>
#include <gpu/driver/stream.hpp>

#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/host_memory.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace peer_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

/// What the raw call says about access from device 0's primary context to device 1's: enabling
/// succeeds only where it was not enabled before.
bool access_is_enabled(CUcontext from, CUcontext to) {
  const gpu::driver::entry_points& raw = test::driver();
  CUcontext popped = nullptr;
  REQUIRE(raw.ctx_push_current(from) == CUDA_SUCCESS);
  const CUresult code = raw.ctx_enable_peer_access(to, 0);
  if (code == CUDA_SUCCESS) REQUIRE(raw.ctx_disable_peer_access(to) == CUDA_SUCCESS);
  REQUIRE(raw.ctx_pop_current(&popped) == CUDA_SUCCESS);
  REQUIRE((code == CUDA_SUCCESS || code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED));
  return code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

struct two_devices {
  gpu::device first = value_of(gpu::device::get(0));
  gpu::device second = value_of(gpu::device::get(1));
  gpu::context_ref of_first = value_of(gpu::context::primary(first));
  gpu::context_ref of_second = value_of(gpu::context::primary(second));

  bool linked() const { return value_of(gpu::can_access_peer(first, second)); }
  bool enabled() const { return access_is_enabled(of_first.native(), of_second.native()); }
};

}  // namespace

static_assert(!std::is_copy_constructible_v<gpu::peer_access>);
static_assert(std::is_nothrow_move_constructible_v<gpu::peer_access>);

TEST_CASE("peer: a device is not its own", "[driver][peer]") {
  const gpu::device device = test::first_device();
  CHECK_FALSE(value_of(gpu::can_access_peer(device, device)));
  const gpu::cuda_error of_link =
      error_of(gpu::attribute<gpu::peer_attribute::access_supported>(device, device));
  CHECK(of_link == gpu::errc::not_supported);
  CHECK(says(of_link, "device 0", "Pass two devices"));
  const gpu::cuda_error of_access = error_of(gpu::peer_access::enable(device, device));
  CHECK(of_access == gpu::errc::not_supported);
  CHECK(says(of_access, "device 0", "Give contexts of two devices", "peer_access_test.cpp"));
}

TEST_CASE("peer: a device that there is not is told with the number of devices", "[driver][peer]") {
  const gpu::device device = test::first_device(), none = gpu::device::from_native(99);
  constexpr gpu::peer_attribute rank = gpu::peer_attribute::performance_rank;
  for (const gpu::cuda_error& error :
       {error_of(gpu::can_access_peer(device, none)), error_of(gpu::can_access_peer(none, device)),
        error_of(gpu::attribute<rank>(device, none)),
        error_of(gpu::attribute<rank>(none, device))}) {
    CHECK(error == gpu::errc::index_out_of_range);
    CHECK(says(error, "device index 99 is not below", "Choose an index below"));
    CHECK(error.asked() == 99);
    CHECK(error.limit() == static_cast<std::uint64_t>(test::device_count()));
  }
}

TEST_CASE("peer: an empty context is refused", "[driver][peer]") {
  const gpu::context_ref primary = value_of(gpu::context::primary(test::first_device()));
  CHECK(error_of(gpu::peer_access::enable(gpu::context_ref{}, primary)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::peer_access::enable(primary, gpu::context_ref{})) == gpu::errc::empty_handle);
}

TEST_CASE("peer: what the link is like is what the driver says", "[driver][peer][two_devices]") {
  const two_devices pair;
  const auto raw = [&](CUdevice_P2PAttribute which) {
    int value = -1;
    REQUIRE(test::driver().device_get_p2p_attribute(&value, which, pair.first.native(),
                                                    pair.second.native()) == CUDA_SUCCESS);
    return value;
  };
  using attribute = gpu::peer_attribute;
  CHECK(value_of(gpu::attribute<attribute::performance_rank>(pair.first, pair.second)) ==
        raw(CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK));
  CHECK(value_of(gpu::attribute<attribute::access_supported>(pair.first, pair.second)) ==
        (raw(CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED) != 0));
  CHECK(value_of(gpu::attribute<attribute::native_atomic_supported>(pair.first, pair.second)) ==
        (raw(CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED) != 0));
  CHECK(value_of(gpu::attribute<attribute::cuda_array_access_supported>(pair.first, pair.second)) ==
        (raw(CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED) != 0));
  CHECK(value_of(gpu::attribute<attribute::only_partial_native_atomic_supported>(pair.first,
                                                                                 pair.second)) ==
        (raw(CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED) != 0));
  int can = -1;
  REQUIRE(test::driver().device_can_access_peer(&can, 0, 1) == CUDA_SUCCESS);
  CHECK(value_of(gpu::can_access_peer(pair.first, pair.second)) == (can != 0));
  // Both ways may be alike, so what was asked counts.
  const test::noted_calls<&gpu::driver::entry_points::device_get_p2p_attribute> link;
  value_of(gpu::attribute<attribute::access_supported>(pair.first, pair.second));
  CHECK(link.last<1>() == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED);
  CHECK(link.last<2>() == pair.first.native());
  CHECK(link.last<3>() == pair.second.native());
  const test::noted_calls<&gpu::driver::entry_points::device_can_access_peer> access;
  value_of(gpu::can_access_peer(pair.first, pair.second));
  CHECK(access.last<1>() == pair.first.native());
  CHECK(access.last<2>() == pair.second.native());
}

TEST_CASE("peer: attributes have their names", "[driver][peer]") {
  const auto name = [](CUdevice_P2PAttribute native) {
    return std::string(gpu::name_of(static_cast<gpu::peer_attribute>(native)));
  };
  CHECK(name(CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK) == "performance_rank");
  CHECK(name(CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED) == "access_supported");
  CHECK(name(CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED) == "native_atomic_supported");
  CHECK(name(CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED) == "cuda_array_access_supported");
  CHECK(name(CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED) ==
        "only_partial_native_atomic_supported");
  CHECK(gpu::name_of(gpu::peer_attribute{0}) == nullptr);
}

TEST_CASE("peer: access lasts as long as its scope, in one direction",
          "[driver][peer][two_devices]") {
  const two_devices pair;
  if (!value_of(gpu::can_access_peer(pair.first, pair.second))) {
    CHECK(error_of(gpu::peer_access::enable(pair.first, pair.second)) == gpu::errc::not_supported);
    return;
  }
  CHECK_FALSE(pair.enabled());
  {
    const gpu::peer_access access = value_of(gpu::peer_access::enable(pair.first, pair.second));
    CHECK(access);
    CHECK(pair.enabled());
    CHECK_FALSE(access_is_enabled(pair.of_second.native(), pair.of_first.native()));
  }
  CHECK_FALSE(pair.enabled());
}

TEST_CASE("peer: access lasts as long as the last of its scopes", "[driver][peer][two_devices]") {
  const two_devices pair;
  if (!pair.linked()) return;
  for (const bool first_ends_first : {true, false}) {
    gpu::peer_access first = value_of(gpu::peer_access::enable(pair.of_first, pair.of_second));
    gpu::peer_access second = value_of(gpu::peer_access::enable(pair.of_first, pair.of_second));
    CHECK(first);
    CHECK(second);
    gpu::peer_access& ended = first_ends_first ? first : second;
    REQUIRE(ended.disable().has_value());
    CHECK_FALSE(ended);
    CHECK(pair.enabled());
    CHECK(ended.disable().has_value());
    CHECK(pair.enabled());
    {
      const gpu::peer_access other_way =
          value_of(gpu::peer_access::enable(pair.of_second, pair.of_first));
      const gpu::peer_access last = std::move(first_ends_first ? second : first);
    }
    CHECK_FALSE(pair.enabled());
  }
}

TEST_CASE("peer: access that somebody else enabled stays theirs", "[driver][peer][two_devices]") {
  const two_devices pair;
  if (!pair.linked()) return;
  const gpu::context_scope scope = value_of(gpu::context_scope::enter(pair.of_first));
  REQUIRE(test::driver().ctx_enable_peer_access(pair.of_second.native(), 0) == CUDA_SUCCESS);
  {
    const gpu::peer_access outer =
        value_of(gpu::peer_access::enable(pair.of_first, pair.of_second));
    const gpu::peer_access inner =
        value_of(gpu::peer_access::enable(pair.of_first, pair.of_second));
    CHECK_FALSE(outer);
    CHECK_FALSE(inner);
  }
  CHECK(pair.enabled());
  REQUIRE(test::driver().ctx_disable_peer_access(pair.of_second.native()) == CUDA_SUCCESS);
  // Ended behind the back of who holds it, it is enabled again by the next.
  gpu::peer_access holder = value_of(gpu::peer_access::enable(pair.of_first, pair.of_second));
  REQUIRE(test::driver().ctx_disable_peer_access(pair.of_second.native()) == CUDA_SUCCESS);
  gpu::peer_access next = value_of(gpu::peer_access::enable(pair.of_first, pair.of_second));
  CHECK(pair.enabled());
  CHECK(holder.disable().has_value());
  CHECK(pair.enabled());
  CHECK(next.disable().has_value());
  CHECK_FALSE(pair.enabled());
  holder = value_of(gpu::peer_access::enable(pair.of_first, pair.of_second));
  REQUIRE(test::driver().ctx_disable_peer_access(pair.of_second.native()) == CUDA_SUCCESS);
  CHECK(error_of(holder.disable()).code() == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  CHECK_FALSE(holder);
}

TEST_CASE("peer: threads that hold an access do not take it from each other",
          "[driver][peer][two_devices]") {
  const two_devices pair;
  if (!pair.linked()) return;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        auto access = gpu::peer_access::enable(pair.of_first, pair.of_second);
        if (!access.has_value() || !*access || !access->disable().has_value()) ++wrong;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(wrong == 0);
  CHECK_FALSE(pair.enabled());
}

TEST_CASE("peer: a capture forbids access to begin and to end, and a relaxed one does not",
          "[driver][peer][capture][two_devices]") {
  const two_devices pair;
  if (!pair.linked()) return;
  const gpu::stream stream = value_of(gpu::stream::create(pair.first));
  const auto enable = [&] { return gpu::peer_access::enable(pair.of_first, pair.of_second); };
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
    CHECK(test::capture(
              stream,
              [&] { CHECK(error_of(enable()).code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED); },
              mode)
              .code == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_FALSE(pair.enabled());
    gpu::peer_access access = value_of(enable());
    CHECK(test::capture(
              stream,
              [&] {
                CHECK(error_of(access.disable()).code() == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
              },
              mode)
              .code == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(access);
    CHECK(pair.enabled());
    CHECK(access.disable().has_value());  // another try
    CHECK_FALSE(pair.enabled());
  }
  const test::captured relaxed = test::capture(
      stream, [&] { CHECK(value_of(enable()).disable().has_value()); },
      CU_STREAM_CAPTURE_MODE_RELAXED);
  CHECK(relaxed.unharmed());
  CHECK(relaxed.nodes == 0);
  CHECK_FALSE(pair.enabled());
}

TEST_CASE("peer: access whose end a capture refused to the destructor ends with the next scope",
          "[driver][peer][capture][two_devices]") {
  const two_devices pair;
  if (!pair.linked()) return;
  const gpu::stream stream = value_of(gpu::stream::create(pair.first));
  {
    const test::reported_errors reported;
    std::optional<gpu::peer_access> access(
        value_of(gpu::peer_access::enable(pair.of_first, pair.of_second)));
    test::capture(stream, [&] { access.reset(); });
    CHECK(reported.count() == 1);
    CHECK(reported.last().find("cuCtxDisablePeerAccess") != std::string::npos);
  }
  CHECK(pair.enabled());
  {
    const gpu::peer_access next = value_of(gpu::peer_access::enable(pair.of_first, pair.of_second));
    CHECK(next);
  }
  CHECK_FALSE(pair.enabled());
}

TEST_CASE("peer: access that could not even be asked to end is nobody's scope any more",
          "[driver][peer][two_devices]") {
  const two_devices pair;
  if (!pair.linked()) return;
  gpu::driver::entry_points failing = test::driver();
  failing.ctx_push_current = [](CUcontext) { return CUDA_ERROR_INVALID_CONTEXT; };
  {
    const test::reported_errors reported;
    std::optional<gpu::peer_access> access(
        value_of(gpu::peer_access::enable(pair.of_first, pair.of_second)));
    const gpu::driver::scoped_entry_points in_force(failing);
    access.reset();
    CHECK(reported.count() == 1);
    CHECK(reported.last().find("cuCtxPushCurrent") != std::string::npos);
  }
  {
    const gpu::peer_access next = value_of(gpu::peer_access::enable(pair.of_first, pair.of_second));
    CHECK_FALSE(next);
  }
  CHECK(pair.enabled());
  const gpu::context_scope scope = value_of(gpu::context_scope::enter(pair.of_first));
  CHECK(test::driver().ctx_disable_peer_access(pair.of_second.native()) == CUDA_SUCCESS);
}

TEST_CASE("peer: says that the host has no memory", "[driver][peer][faults][cpu]") {
  test::cpu_driver_options cpu;
  cpu.devices = 2;
  CHECK(test::sweep_host_memory(
            []() -> gpu::result<> {
              const gpu::device first = GPU_TRY(gpu::device::get(0));
              const gpu::device second = GPU_TRY(gpu::device::get(1));
              const gpu::peer_access access = GPU_TRY(gpu::peer_access::enable(first, second));
              return {};
            },
            cpu) == "");
}

TEST_CASE("peer: devices without a link are refused by a sentence", "[driver][peer][cpu]") {
  test::own_cpu_driver driver({.devices = 2});
  gpu::driver::entry_points table = driver.table();
  table.device_can_access_peer = [](int* can, CUdevice, CUdevice) {
    *can = 0;
    return CUDA_SUCCESS;
  };
  const gpu::driver::scoped_entry_points in_force(table);
  const two_devices pair;
  const gpu::cuda_error error = error_of(gpu::peer_access::enable(pair.first, pair.second));
  CHECK(error == gpu::errc::not_supported);
  CHECK(says(error, "device 0", "device 1", "nvidia-smi topo", "Copy between them"));
}

TEST_CASE("peer: a scope that outlives its context says nothing", "[driver][peer][cpu]") {
  test::own_cpu_driver driver({.devices = 2});
  const gpu::context_ref second = value_of(gpu::context::primary(value_of(gpu::device::get(1))));
  const test::reported_errors reported;
  gpu::context own = value_of(gpu::context::create(test::first_device()));
  {
    const gpu::peer_access access = value_of(gpu::peer_access::enable(own, second));
    CHECK(access);
  }
  CHECK(reported.count() == 0);
}

TEST_CASE("peer: every call that fails is told and nothing is left", "[driver][peer]") {
  test::cpu_driver_options cpu;
  cpu.devices = 2;
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device first = GPU_TRY(gpu::device::get(0));
              const gpu::device second = GPU_TRY(gpu::device::get(1));
              GPU_TRY(gpu::can_access_peer(first, second));
              GPU_TRY(gpu::attribute<gpu::peer_attribute::performance_rank>(first, second));
              const gpu::context of_first = GPU_TRY(gpu::context::create(first));
              const gpu::context of_second = GPU_TRY(gpu::context::create(second));
              gpu::peer_access access = GPU_TRY(gpu::peer_access::enable(of_first, of_second));
              GPU_TRY(access.disable());
              return {};
            },
            {}, cpu) == "");
}

}  // namespace peer_test
