#include <gpu/driver/green_context.hpp>

#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/host_function.hpp>
#include <gpu/driver/multiprocessor_set.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <atomic>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace green_context_test {

using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<gpu::green_context>);
static_assert(std::is_nothrow_move_constructible_v<gpu::green_context>);
static_assert(std::is_trivially_copyable_v<gpu::green_context_ref>);
static_assert(std::is_convertible_v<gpu::green_context&, gpu::green_context_ref>);
static_assert(!std::is_convertible_v<gpu::green_context, gpu::green_context_ref>);
static_assert(!std::is_convertible_v<gpu::green_context&, gpu::stream_ref>);

namespace {

// Each block writes the number of its multiprocessor, after it has been there for a while.
constexpr const char* places = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry place(.param .u64 p) {
  .reg .b64 %a, %o; .reg .b32 %b, %s, %i; .reg .pred %q;
  ld.param.u64 %a, [p]; mov.u32 %b, %ctaid.x; mul.wide.u32 %o, %b, 4; add.s64 %a, %a, %o;
  mov.u32 %i, 0;
again:
  add.u32 %i, %i, 1; mov.u32 %s, %smid; st.volatile.global.u32 [%a], %s;
  setp.lt.u32 %q, %i, 2000; @%q bra again;
  ret;
})";

std::set<unsigned> places_of(const gpu::stream& stream) {
  const gpu::module code = value_of(gpu::module::load(places));
  const auto kernel = value_of(code.kernel<unsigned*>("place"));
  constexpr unsigned blocks = 2048;
  auto found = value_of(gpu::device_buffer<unsigned>::create(stream.device(), blocks));
  value_of(gpu::launch(stream, {blocks, 1024}, kernel, found));
  value_of(stream.synchronize());
  std::vector<unsigned> host(blocks);
  value_of(gpu::copy(found, std::span(host)));
  return {host.begin(), host.end()};
}

gpu::green_context smallest(gpu::device on) {
  const auto all = value_of(gpu::multiprocessor_set::of(on));
  return value_of(
      gpu::green_context::create(value_of(all.split({.size = all.smallest_group()}))[0]));
}

}  // namespace

TEST_CASE("green context: it has the multiprocessors that it was made with", "[driver][green]") {
  const gpu::device device = test::first_device();
  CUcontext before = nullptr, after = nullptr;
  REQUIRE(test::driver().ctx_get_current(&before) == CUDA_SUCCESS);
  const auto all = value_of(gpu::multiprocessor_set::of(device));
  const auto split = value_of(all.split({.groups = 2, .size = all.smallest_group()}));
  const gpu::green_context one = value_of(gpu::green_context::create(split[0]));
  const gpu::green_context rest = value_of(gpu::green_context::create(split.rest()));
  REQUIRE(test::driver().ctx_get_current(&after) == CUDA_SUCCESS);
  CHECK(before == after);
  CHECK(one.device() == device);
  CHECK(value_of(one.multiprocessors()).size() == split[0].size());
  CHECK(value_of(rest.multiprocessors()).size() == split.rest().size());
  CUdevResource raw{};
  REQUIRE(test::driver().green_ctx_get_dev_resource(one.native(), &raw, CU_DEV_RESOURCE_TYPE_SM) ==
          CUDA_SUCCESS);
  CHECK(raw.sm.smCount == split[0].size());
  // What a green context has can be split again.
  const auto own = value_of(rest.multiprocessors());
  CHECK(value_of(own.split({.size = own.smallest_group()}))[0].size() == own.smallest_group());
}

TEST_CASE("green context: its streams are streams of the device", "[driver][green]") {
  const gpu::device device = test::first_device();
  const gpu::green_context green = smallest(device);
  const gpu::stream stream = value_of(green.create_stream({.priority = -1}));
  CHECK(stream.context() == value_of(gpu::context::primary(device)));
  CHECK(value_of(stream.kind()) == gpu::stream_kind::non_blocking);
  CHECK(value_of(stream.priority()) == -1);
  CHECK(value_of(gpu::green_context_of(stream)) == gpu::green_context_ref(green));
  CUgreenCtx raw = nullptr;
  REQUIRE(test::driver().stream_get_green_ctx(stream.native(), &raw) == CUDA_SUCCESS);
  CHECK(raw == green.native());

  const gpu::stream plain = value_of(gpu::stream::create(device));
  CHECK_FALSE(value_of(gpu::green_context_of(plain)));
  CHECK_FALSE(value_of(gpu::green_context_of(value_of(gpu::stream_ref::legacy_default(device)))));

  // Memory and events of the device go with them.
  auto numbers = value_of(gpu::device_buffer<unsigned>::create(stream, 1));
  const gpu::event done = value_of(gpu::event::create(device));
  const gpu::module code = value_of(gpu::module::load(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry seven(.param .u64 p) {
  .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 7; ret;
})"));
  const auto kernel = value_of(code.kernel<unsigned*>("seven"));
  value_of(gpu::launch(stream, {1, 1}, kernel, numbers));
  value_of(gpu::record(stream, done));
  value_of(gpu::wait(plain, done));
  value_of(plain.synchronize());
  unsigned told = 0;
  value_of(gpu::copy(numbers, std::span(&told, 1)));
  CHECK(told == 7);
}

TEST_CASE("green context: kernels stay on its multiprocessors", "[driver][green][hardware]") {
  const gpu::device device = test::first_device();
  const auto all = value_of(gpu::multiprocessor_set::of(device));
  const auto split = value_of(all.split({.groups = 2, .size = 2 * all.smallest_group()}));
  const gpu::green_context first = value_of(gpu::green_context::create(split[0]));
  const gpu::green_context second = value_of(gpu::green_context::create(split[1]));
  const gpu::stream on_first = value_of(first.create_stream());
  const gpu::stream on_second = value_of(second.create_stream());
  const gpu::stream on_all = value_of(gpu::stream::create(device));
  const std::set<unsigned> a = places_of(on_first), b = places_of(on_second);
  CHECK(a.size() <= split[0].size());
  CHECK(b.size() <= split[1].size());
  for (const unsigned each : a) CHECK(b.count(each) == 0);
  CHECK(places_of(on_all).size() > a.size());
}

TEST_CASE("green context: events mark and order the work of all its streams", "[driver][green]") {
  const gpu::device device = test::first_device();
  const gpu::green_context green = smallest(device);
  const gpu::stream first = value_of(green.create_stream()),
                    second = value_of(green.create_stream());
  const gpu::stream plain = value_of(gpu::stream::create(device));
  const gpu::event done = value_of(gpu::event::create(device));
  std::atomic<int> steps{0};
  int seen = -1;
  value_of(gpu::launch_host_function(first, [&]() noexcept { ++steps; }));
  value_of(gpu::launch_host_function(second, [&]() noexcept { steps += 10; }));
  value_of(gpu::record(green, done));
  value_of(gpu::wait(plain, done));
  value_of(gpu::launch_host_function(plain, [&]() noexcept { seen = steps; }));
  value_of(plain.synchronize());
  CHECK(seen == 11);

  value_of(gpu::launch_host_function(plain, [&]() noexcept { steps = 5; }));
  value_of(gpu::record(plain, done));
  value_of(gpu::wait(green, done));
  const gpu::stream third = value_of(green.create_stream());
  int sum = 0;
  value_of(gpu::launch_host_function(second, [&]() noexcept { sum += steps; }));
  value_of(second.synchronize());
  value_of(gpu::launch_host_function(first, [&]() noexcept { sum += 100 * steps; }));
  value_of(first.synchronize());
  value_of(gpu::launch_host_function(third, [&]() noexcept { sum += 10000 * steps; }));
  value_of(third.synchronize());
  CHECK(sum == 50505);

  const gpu::context own = value_of(gpu::context::create(device));
  const gpu::event of_other = value_of(gpu::event::create(own));
  CHECK(error_of(gpu::record(green, of_other)) == gpu::errc::wrong_context);
  CHECK(error_of(gpu::record(green, gpu::event_ref())) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::wait(green, gpu::event_ref())) == gpu::errc::empty_handle);
}

TEST_CASE("green context: other libraries find it as the current context", "[driver][green]") {
  const gpu::device device = test::first_device();
  const gpu::green_context green = smallest(device);
  const gpu::context_ref view = value_of(green.context());
  CHECK(view.device() == device);
  CHECK(value_of(gpu::multiprocessor_set::of(view)).size() ==
        value_of(green.multiprocessors()).size());
  CUstream theirs = nullptr;
  CUgreenCtx found = nullptr;
  {
    const gpu::context_scope scope = value_of(gpu::context_scope::enter(view));
    CUcontext current = nullptr;
    REQUIRE(test::driver().ctx_get_current(&current) == CUDA_SUCCESS);
    CHECK(current == view.native());
    REQUIRE(test::driver().stream_create(&theirs, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(test::driver().stream_get_green_ctx(nullptr, &found) == CUDA_SUCCESS);
    CHECK(found == green.native());
    // What is made in the library's way meanwhile is of the primary context, as always.
    const gpu::stream ours = value_of(gpu::stream::create(device));
    CHECK_FALSE(value_of(gpu::green_context_of(ours)));
  }
  REQUIRE(test::driver().stream_get_green_ctx(theirs, &found) == CUDA_SUCCESS);
  CHECK(found == green.native());
  CHECK(test::driver().stream_destroy(theirs) == CUDA_SUCCESS);
  const gpu::green_context other = smallest(device);
  CHECK(value_of(green.id()) != value_of(other.id()));
}

TEST_CASE("green context: it moves, is given up, taken over and destroyed", "[driver][green]") {
  gpu::green_context one = smallest(test::first_device());
  gpu::green_context two = std::move(one);
  CHECK(one.native() == nullptr);
  CHECK(error_of(one.create_stream()) == gpu::errc::empty_handle);
  CHECK(error_of(one.multiprocessors()) == gpu::errc::empty_handle);
  CHECK(error_of(one.context()) == gpu::errc::empty_handle);
  CHECK(error_of(one.id()) == gpu::errc::empty_handle);
  CHECK(error_of(one.destroy()) == gpu::errc::empty_handle);
  const gpu::event event = value_of(gpu::event::create(test::first_device()));
  CHECK(error_of(gpu::record(one, event)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::wait(one, event)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::green_context_of(gpu::stream_ref())) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::green_context::create({})) == gpu::errc::empty_handle);
  CHECK(says(error_of(two.create_stream({.kind = gpu::stream_kind::blocking})), "blocking",
             "Leave out kind"));
  const gpu::green_context_ref released = two.release();
  two = gpu::green_context::adopt(released);
  CHECK(two.destroy().has_value());
  CHECK(two.native() == nullptr);
}

TEST_CASE("green context: it can be made and used while another stream is captured",
          "[driver][green]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  CHECK(test::capture(stream, [&] {
          gpu::green_context green = smallest(device);
          const gpu::stream own = value_of(green.create_stream());
          value_of(gpu::green_context_of(own));
          value_of(green.multiprocessors());
          value_of(green.context());
        }).unharmed());
}

TEST_CASE("green context: a driver that is too old says which version has them",
          "[driver][green][cpu]") {
  gpu::driver::entry_points table = test::driver();
  table.device_get_dev_resource = nullptr;
  table.green_ctx_stream_create = nullptr;
  const gpu::green_context green = smallest(test::first_device());
  const gpu::driver::scoped_entry_points in_force(table);
  const gpu::cuda_error no_sets = error_of(gpu::multiprocessor_set::of(test::first_device()));
  CHECK(no_sets == gpu::errc::not_supported);
  CHECK(says(no_sets, "cuDeviceGetDevResource", "CUDA 12.4", "Update the NVIDIA driver"));
  CHECK(says(error_of(green.create_stream()), "cuGreenCtxStreamCreate", "CUDA 12.5"));
}

TEST_CASE("green context: every operation fails with each of its calls", "[driver][green][cpu]") {
  CHECK(test::sweep([]() -> gpu::result<> {
          const auto device = gpu::device::from_native(0);
          const auto all = GPU_TRY(gpu::multiprocessor_set::of(device));
          const auto split = GPU_TRY(all.split({.size = 16}));
          const auto green = GPU_TRY(gpu::green_context::create(split[0]));
          const auto stream = GPU_TRY(green.create_stream());
          const auto event = GPU_TRY(gpu::event::create(device));
          GPU_TRY(gpu::record(green, event));
          GPU_TRY(gpu::wait(green, event));
          static_cast<void>(GPU_TRY(gpu::green_context_of(stream)));
          static_cast<void>(GPU_TRY(green.multiprocessors()));
          static_cast<void>(GPU_TRY(green.context()));
          static_cast<void>(GPU_TRY(green.id()));
          return {};
        }) == "");
}

TEST_CASE("green context: on the CPU driver, streams end with it, and misuse is refused",
          "[driver][green][cpu]") {
  const test::own_cpu_driver driver({.devices = 2});
  const gpu::driver::entry_points& cu = driver.table();
  const auto all = value_of(gpu::multiprocessor_set::of(test::first_device()));
  CUdevResource resource = all.native();
  CUdevResourceDesc described = nullptr;
  REQUIRE(cu.dev_resource_generate_desc(&described, &resource, 1) == CUDA_SUCCESS);
  CUgreenCtx green = nullptr;
  CHECK(cu.green_ctx_create(&green, described, 1, CU_GREEN_CTX_DEFAULT_STREAM) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cu.green_ctx_create(&green, described, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cu.green_ctx_create(&green, described, 0, CU_GREEN_CTX_DEFAULT_STREAM) == CUDA_SUCCESS);
  CUstream stream = nullptr;
  CHECK(cu.green_ctx_stream_create(&stream, green, CU_STREAM_DEFAULT, 0) ==
        CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cu.green_ctx_stream_create(&stream, green, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS);
  CUcontext view = nullptr, of_stream = nullptr;
  REQUIRE(cu.ctx_from_green_ctx(&view, green) == CUDA_SUCCESS);
  REQUIRE(cu.stream_get_ctx(stream, &of_stream) == CUDA_SUCCESS);
  CHECK(view == of_stream);
  CHECK(cu.ctx_destroy(view) == CUDA_ERROR_INVALID_CONTEXT);

  // One split's parts go together, but not with anything else.
  CUdevResource parts[3] = {};
  unsigned count = 2;
  REQUIRE(cu.dev_sm_resource_split_by_count(parts, &count, &resource, &parts[2], 0, 8) ==
          CUDA_SUCCESS);
  REQUIRE(cu.dev_resource_generate_desc(&described, parts, 3) == CUDA_SUCCESS);
  parts[1] = resource;
  CHECK(cu.dev_resource_generate_desc(&described, parts, 3) ==
        CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  count = 1;
  CHECK(cu.dev_sm_resource_split_by_count(&parts[1], &count, &parts[0], nullptr, 0, 8) ==
        CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
  REQUIRE(cu.dev_sm_resource_split_by_count(nullptr, &count, &resource, nullptr, 0, 10) ==
          CUDA_SUCCESS);
  CHECK(count == 8);

  REQUIRE(cu.green_ctx_destroy(green) == CUDA_SUCCESS);
  CHECK(cu.green_ctx_destroy(green) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(cu.stream_query(stream) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(cu.stream_destroy(stream) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(driver.live_objects() == 0);
}

}  // namespace green_context_test
