#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace stream_test {

using test::error_of;
using test::says;
using test::value_of;

static_assert(!std::is_copy_constructible_v<gpu::stream>);
static_assert(std::is_nothrow_move_constructible_v<gpu::stream>);
static_assert(std::is_nothrow_move_assignable_v<gpu::stream>);
static_assert(std::is_trivially_copyable_v<gpu::stream_ref>);
static_assert(std::is_convertible_v<gpu::stream&, gpu::stream_ref>);
static_assert(std::is_convertible_v<const gpu::stream&, gpu::stream_ref>);
static_assert(!std::is_convertible_v<gpu::stream, gpu::stream_ref>);
static_assert(!std::is_constructible_v<gpu::stream_ref, int>);
static_assert(!std::is_constructible_v<gpu::stream_ref, std::nullptr_t>);
static_assert(sizeof(gpu::stream) == sizeof(gpu::stream_ref));

TEST_CASE("stream: kernels are launched on any of many devices", "[driver][stream][cpu]") {
  constexpr const char* set = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry set(.param .u64 p, .param .u32 v) {
  .reg .b64 %a; .reg .b32 %x;
  ld.param.u64 %a, [p]; ld.param.u32 %x, [v]; st.global.u32 [%a], %x; ret;
})";
  const test::own_cpu_driver driver({.devices = 35, .memory_per_device = 1 << 20});
  const gpu::module code = value_of(gpu::module::load(set));
  const auto kernel = value_of(code.kernel<int*, int>("set"));
  for (int index = 0; index < 35; ++index) {
    CAPTURE(index);
    const gpu::device device = value_of(gpu::device::get(index));
    const gpu::stream stream = value_of(gpu::stream::create(device));
    auto number = value_of(gpu::device_buffer<int>::create(device, 1));
    for (const int value : {index, -index}) {
      value_of(gpu::launch(stream, {1, 1}, kernel, number, value));
      int told = 0;
      value_of(stream.synchronize());
      value_of(gpu::copy(number, std::span(&told, 1)));
      CHECK(told == value);
    }
    CHECK(error_of(gpu::launch(stream, {1, 2048}, kernel, number, 0)) == gpu::errc::invalid_launch);
  }
}

TEST_CASE("stream: it is what was asked for", "[driver][stream]") {
  const gpu::device device = test::first_device();
  const gpu::stream plain = value_of(gpu::stream::create(device));
  CHECK(value_of(plain.kind()) == gpu::stream_kind::non_blocking);
  unsigned flags = 0;
  REQUIRE(test::driver().stream_get_flags(plain.native(), &flags) == CUDA_SUCCESS);
  CHECK(flags == CU_STREAM_NON_BLOCKING);
  CHECK(plain.device() == device);
  CHECK(plain.context() == value_of(gpu::context::primary(device)));

  const gpu::stream blocking =
      value_of(gpu::stream::create(device, {.kind = gpu::stream_kind::blocking}));
  CHECK(value_of(blocking.kind()) == gpu::stream_kind::blocking);
  REQUIRE(test::driver().stream_get_flags(blocking.native(), &flags) == CUDA_SUCCESS);
  CHECK(flags == CU_STREAM_DEFAULT);

  const int greatest =
      value_of(value_of(gpu::context::primary(device)).stream_priority_range()).greatest;
  const gpu::stream urgent = value_of(gpu::stream::create(device, {.priority = greatest}));
  CHECK(value_of(urgent.priority()) == greatest);
  int raw = 0;
  REQUIRE(test::driver().stream_get_priority(urgent.native(), &raw) == CUDA_SUCCESS);
  CHECK(raw == greatest);
  unsigned long long id = 0;
  REQUIRE(test::driver().stream_get_id(urgent.native(), &id) == CUDA_SUCCESS);
  CHECK(value_of(urgent.id()) == id);
  CHECK(value_of(plain.id()) != id);
}

TEST_CASE("stream: in a context of its own", "[driver][stream]") {
  const gpu::context own = value_of(gpu::context::create(test::first_device()));
  const gpu::stream stream = value_of(gpu::stream::create(own));
  CHECK(stream.context() == gpu::context_ref(own));
  CUcontext raw = nullptr;
  REQUIRE(test::driver().stream_get_ctx(stream.native(), &raw) == CUDA_SUCCESS);
  CHECK(raw == own.native());
  CHECK(stream.synchronize().has_value());
}

TEST_CASE("stream: synchronizing waits for the work before it", "[driver][stream]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  CHECK(stream.synchronize().has_value());
  CHECK(value_of(stream.is_done()));
  static int done;
  done = 0;
  REQUIRE(test::driver().launch_host_func(
              stream.native(), [](void* counter) { ++*static_cast<int*>(counter); }, &done) ==
          CUDA_SUCCESS);
  CHECK(stream.synchronize().has_value());
  CHECK(done == 1);
  CHECK(value_of(stream.is_done()));
}

TEST_CASE("stream: work that still runs is not an error", "[driver][stream]") {
  gpu::driver::entry_points busy = test::driver();
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  busy.stream_query = [](CUstream) { return CUDA_ERROR_NOT_READY; };
  gpu::driver::scoped_entry_points in_force(busy);
  CHECK(value_of(stream.is_done()) == false);
}

TEST_CASE("stream: the default streams work with nothing current", "[driver][stream]") {
  const gpu::device device = test::first_device();
  const gpu::stream_ref legacy = value_of(gpu::stream_ref::legacy_default(device));
  const gpu::stream_ref own = value_of(gpu::stream_ref::per_thread_default(device));
  CHECK(legacy.native() == CU_STREAM_LEGACY);
  CHECK(own.native() == CU_STREAM_PER_THREAD);
  CHECK(legacy != own);
  bool all = false;
  std::thread([&] {
    all = legacy.synchronize().has_value() && own.synchronize().has_value() &&
          legacy.is_done().has_value() && legacy.kind().has_value();
    CUcontext left = nullptr;
    test::driver().ctx_get_current(&left);
    all = all && left == nullptr;
  }).join();
  CHECK(all);
}

TEST_CASE("stream: works in a thread that has no context", "[driver][stream]") {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  bool all = false;
  std::thread([&] {
    all = stream.synchronize().has_value() && stream.is_done().has_value() &&
          gpu::stream::create(test::first_device()).has_value();
  }).join();
  CHECK(all);
}

TEST_CASE("stream: a kind that is none is refused", "[driver][stream]") {
  const gpu::cuda_error error = error_of(
      gpu::stream::create(test::first_device(), {.kind = static_cast<gpu::stream_kind>(2)}));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "gpu::stream::create", "2 is not a valid gpu::stream_kind"));
}

TEST_CASE("stream: an empty one is refused by name", "[driver][stream]") {
  gpu::stream owner = value_of(gpu::stream::create(test::first_device()));
  const gpu::stream taken = std::move(owner);
  CHECK(owner.native() == nullptr);
  const gpu::cuda_error error = error_of(owner.synchronize());
  CHECK(error == gpu::errc::empty_handle);
  CHECK(says(error, "gpu::stream::synchronize", "stream is empty", "stream_test.cpp"));
  CHECK(error_of(owner.is_done()) == gpu::errc::empty_handle);
  CHECK(error_of(owner.priority()) == gpu::errc::empty_handle);
  CHECK(error_of(owner.kind()) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::stream::create(gpu::context_ref{})) == gpu::errc::empty_handle);
  CHECK(taken.synchronize().has_value());
}

TEST_CASE("stream: assigning destroys what was there", "[driver][stream][cpu]") {
  test::own_cpu_driver driver;
  gpu::stream a = value_of(gpu::stream::create(test::first_device()));
  const std::size_t one = driver.live_objects();
  gpu::stream b = value_of(gpu::stream::create(test::first_device()));
  CHECK(driver.live_objects() == one + 1);
  const CUstream kept = b.native();
  a = std::move(b);
  CHECK(driver.live_objects() == one);
  CHECK(a.native() == kept);
  gpu::stream& self = a;
  a = std::move(self);
  CHECK(a.native() == kept);
}

TEST_CASE("stream: releasing and adopting move the ownership", "[driver][stream]") {
  gpu::stream owner = value_of(gpu::stream::create(test::first_device()));
  const gpu::stream_ref raw = owner.release();
  CHECK(raw.synchronize().has_value());
  const gpu::stream again = gpu::stream::adopt(raw);
  CHECK(gpu::stream_ref(again) == raw);
  const gpu::stream_ref named = gpu::stream_ref::from_native(raw.native(), raw.context());
  CHECK(named == raw);
}

TEST_CASE("stream: a failed destroy is reported", "[driver][stream]") {
  test::reported_errors reported;
  gpu::driver::entry_points failing = test::driver();
  gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  const gpu::stream_ref raw = stream;
  {
    failing.stream_destroy = [](CUstream) { return CUDA_ERROR_INVALID_HANDLE; };
    gpu::driver::scoped_entry_points in_force(failing);
    const gpu::stream ends = std::move(stream);
  }
  CHECK(reported.count() == 1);
  CHECK(reported.last().find("cuStreamDestroy") != std::string::npos);
  for (const CUresult quiet : {CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_ILLEGAL_ADDRESS}) {
    static CUresult answer;
    answer = quiet;
    failing.stream_destroy = [](CUstream) { return answer; };
    gpu::driver::scoped_entry_points in_force(failing);
    const gpu::stream ends = gpu::stream::adopt(raw);
  }
  CHECK(reported.count() == 1);
  const gpu::stream last = gpu::stream::adopt(raw);
}

TEST_CASE("stream: each driver call may fail", "[driver][stream][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
              GPU_TRY(stream.synchronize());
              GPU_TRY(stream.is_done());
              GPU_TRY(stream.priority());
              GPU_TRY(stream.kind());
              GPU_TRY(stream.id());
              const gpu::stream_ref legacy = GPU_TRY(gpu::stream_ref::legacy_default(device));
              GPU_TRY(legacy.synchronize());
              GPU_TRY(gpu::stream_ref::per_thread_default(device));
              return {};
              // Asked so that a later fault names the right launches; without an answer it names
              // more.
            },
            {"cuCtxGetDevice"}) == "");
}

}  // namespace stream_test
