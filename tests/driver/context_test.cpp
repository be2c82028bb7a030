#include "support/captured.hpp"
#include "support/drivers.hpp"
#include "support/noted_calls.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/flags.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/cache_preference.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_limit.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/primary_context.hpp>
#include <gpu/driver/stream.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace context_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

CUcontext current_now() {
  CUcontext context = nullptr;
  REQUIRE(test::driver().ctx_get_current(&context) == CUDA_SUCCESS);
  return context;
}

}  // namespace

static_assert(!std::is_copy_constructible_v<gpu::context>);
static_assert(std::is_nothrow_move_constructible_v<gpu::context>);
static_assert(std::is_nothrow_move_assignable_v<gpu::context>);
static_assert(std::is_trivially_copyable_v<gpu::context_ref>);
static_assert(std::is_convertible_v<gpu::context&, gpu::context_ref>);
static_assert(!std::is_convertible_v<gpu::context, gpu::context_ref>);
static_assert(!std::is_copy_constructible_v<gpu::context_scope>);

TEST_CASE("context: the primary context is retained once and stays", "[driver][context]") {
  const gpu::device device = test::first_device();
  const gpu::context_ref first = value_of(gpu::context::primary(device));
  const gpu::context_ref second = value_of(gpu::context::primary(device));
  CHECK(first == second);
  CHECK(first.device() == device);
  CUcontext raw = nullptr;
  REQUIRE(test::driver().device_primary_ctx_retain(&raw, device.native()) == CUDA_SUCCESS);
  CHECK(first.native() == raw);
  test::driver().device_primary_ctx_release(device.native());
}

TEST_CASE("context: the primary context follows the driver table", "[driver][context][cpu]") {
  const gpu::context_ref outer = value_of(gpu::context::primary(test::first_device()));
  for (int round = 0; round < 2; ++round) {
    // Both rounds put their table at the same address.
    test::own_cpu_driver driver;
    const gpu::context_ref inner = value_of(gpu::context::primary(test::first_device()));
    CHECK(inner.synchronize().has_value());
  }
  CHECK(value_of(gpu::context::primary(test::first_device())) == outer);
}

TEST_CASE("context: many threads ask for the primary context at once", "[driver][context]") {
  const gpu::device device = test::first_device();
  gpu::driver::scoped_entry_points anew(test::driver());
  std::vector<CUcontext> seen(8);
  std::vector<std::thread> threads;
  for (CUcontext& one : seen) {
    threads.emplace_back([&one, device] {
      if (const auto found = gpu::context::primary(device)) one = found->native();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(seen[0] != nullptr);
  for (const CUcontext one : seen) CHECK(one == seen[0]);
}

TEST_CASE("context: one of its own is made, not left current, and destroyed", "[driver][context]") {
  const gpu::device device = test::first_device();
  const CUcontext before = current_now();
  gpu::context own = value_of(gpu::context::create(device));
  CHECK(current_now() == before);
  CHECK(own.device() == device);
  CHECK(gpu::context_ref(own) != value_of(gpu::context::primary(device)));
  CHECK(own.synchronize().has_value());
  CHECK(own.destroy().has_value());
  CHECK(own.native() == nullptr);
  CHECK(error_of(own.destroy()) == gpu::errc::empty_handle);
}

TEST_CASE("context: flags, limits and numbers come from the driver", "[driver][context]") {
  gpu::context own =
      value_of(gpu::context::create(test::first_device(), gpu::context_flags::blocking_sync));
  CHECK(has(value_of(own.flags()), gpu::context_flags::blocking_sync));
  CHECK(!has(value_of(own.flags()), gpu::context_flags::spin));

  const gpu::context_scope scope = value_of(gpu::context_scope::enter(own));

  REQUIRE(own.set_limit(gpu::context_limit::stack_size, 4096).has_value());
  std::size_t stack = 0;
  REQUIRE(test::driver().ctx_get_limit(&stack, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS);
  CHECK(stack >= 4096);
  CHECK(value_of(own.limit(gpu::context_limit::stack_size)) == stack);

  CHECK((value_of(own.flags()) & gpu::context_flags::scheduling_mask) ==
        gpu::context_flags::blocking_sync);

  constexpr std::pair<gpu::cache_preference, CUfunc_cache> preferences[] = {
      {gpu::cache_preference::shared, CU_FUNC_CACHE_PREFER_SHARED},
      {gpu::cache_preference::l1, CU_FUNC_CACHE_PREFER_L1},
      {gpu::cache_preference::equal, CU_FUNC_CACHE_PREFER_EQUAL},
      {gpu::cache_preference::none, CU_FUNC_CACHE_PREFER_NONE}};
  for (const auto& [preference, native] : preferences) {
    REQUIRE(own.set_cache_preference(preference).has_value());
    CUfunc_cache raw{};
    REQUIRE(test::driver().ctx_get_cache_config(&raw) == CUDA_SUCCESS);
    CHECK(raw == native);
    CHECK(value_of(own.cache_preference()) == preference);
    CHECK(gpu::name_of(preference) != nullptr);
  }
  CHECK(error_of(own.set_cache_preference(static_cast<gpu::cache_preference>(4))) ==
        gpu::errc::invalid_argument);
  CHECK(gpu::name_of(static_cast<gpu::cache_preference>(4)) == nullptr);

  unsigned version = 0;
  REQUIRE(test::driver().ctx_get_api_version(own.native(), &version) == CUDA_SUCCESS);
  CHECK(value_of(own.api_version()) == static_cast<int>(version));

  const gpu::context other = value_of(gpu::context::create(test::first_device()));
  CHECK(value_of(own.id()) != value_of(other.id()));

  int least = 0, greatest = 0;
  REQUIRE(test::driver().ctx_get_stream_priority_range(&least, &greatest) == CUDA_SUCCESS);
  const gpu::stream_priority_range range = value_of(own.stream_priority_range());
  CHECK(range.least == least);
  CHECK(range.greatest == greatest);
  CHECK(greatest < least);
  std::size_t free = 0, total = 0;
  REQUIRE(test::driver().mem_get_info(&free, &total) == CUDA_SUCCESS);
  const gpu::memory_info memory = value_of(own.memory_info());
  CHECK(memory.free <= memory.total);
  CHECK(memory.total == total);
}

TEST_CASE("context: its flags reach the driver", "[driver][context]") {
  constexpr std::pair<gpu::context_flags, unsigned> all[] = {
      {gpu::context_flags::none, CU_CTX_SCHED_AUTO},
      {gpu::context_flags::spin, CU_CTX_SCHED_SPIN},
      {gpu::context_flags::yield, CU_CTX_SCHED_YIELD},
      {gpu::context_flags::blocking_sync, CU_CTX_SCHED_BLOCKING_SYNC},
      {gpu::context_flags::keep_local_memory, CU_CTX_LMEM_RESIZE_TO_MAX}};
  const gpu::device device = test::first_device();
  gpu::context own = value_of(gpu::context::create(device));
  for (const auto& [flags, native] : all) {
    {
      const test::noted_calls<&gpu::driver::entry_points::ctx_create> noted;
      const gpu::context made = value_of(gpu::context::create(device, flags));
      CHECK(noted.last<2>() == native);
      const gpu::context_scope scope = value_of(gpu::context_scope::enter(made));
      unsigned raw = 0;
      REQUIRE(test::driver().ctx_get_flags(&raw) == CUDA_SUCCESS);
      CHECK((raw & CU_CTX_SCHED_MASK) == (native & CU_CTX_SCHED_MASK));
      CHECK(static_cast<unsigned>(value_of(made.flags())) == raw);
    }
    {
      const test::noted_calls<&gpu::driver::entry_points::ctx_set_flags> noted;
      REQUIRE(own.set_flags(flags).has_value());
      CHECK(noted.last<0>() == native);
      const gpu::context_scope scope = value_of(gpu::context_scope::enter(own));
      unsigned raw = 0;
      REQUIRE(test::driver().ctx_get_flags(&raw) == CUDA_SUCCESS);
      CHECK((raw & CU_CTX_SCHED_MASK) == (native & CU_CTX_SCHED_MASK));
    }
    const test::noted_calls<&gpu::driver::entry_points::device_primary_ctx_set_flags> noted(false);
    REQUIRE(gpu::set_primary_context_flags(device, flags).has_value());
    CHECK(noted.last<1>() == native);
  }
  STATIC_REQUIRE(static_cast<unsigned>(gpu::context_flags::scheduling_mask) == CU_CTX_SCHED_MASK);
  STATIC_REQUIRE(static_cast<unsigned>(gpu::context_flags::all) == CU_CTX_FLAGS_MASK);
}

TEST_CASE("context: synchronizing waits for the work of every stream", "[driver][context]") {
  const gpu::context own = value_of(gpu::context::create(test::first_device()));
  const gpu::stream one = value_of(gpu::stream::create(own));
  const gpu::stream two = value_of(gpu::stream::create(own));
  static std::atomic<int> done;
  done = 0;
  for (const gpu::stream* each : {&one, &two}) {
    REQUIRE(test::driver().launch_host_func(
                each->native(),
                [](void*) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
                  ++done;
                },
                nullptr) == CUDA_SUCCESS);
  }
  CHECK(own.synchronize().has_value());
  CHECK(done == 2);
}

TEST_CASE("device: synchronizing waits for the work of every stream of the primary context",
          "[driver][device]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  static std::atomic<bool> done;
  done = false;
  REQUIRE(test::driver().launch_host_func(
              stream.native(),
              [](void*) {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                done = true;
              },
              nullptr) == CUDA_SUCCESS);
  CHECK(device.synchronize().has_value());
  CHECK(done);
}

TEST_CASE("context: scopes nest and leave the thread as they found it", "[driver][context]") {
  const gpu::context a = value_of(gpu::context::create(test::first_device()));
  const gpu::context b = value_of(gpu::context::create(test::first_device()));
  const CUcontext before = current_now();
  {
    const gpu::context_scope outer = value_of(gpu::context_scope::enter(a));
    CHECK(current_now() == a.native());
    CHECK(value_of(gpu::context::current()) == gpu::context_ref(a));
    {
      const gpu::context_scope inner = value_of(gpu::context_scope::enter(b));
      CHECK(current_now() == b.native());
    }
    CHECK(current_now() == a.native());
    REQUIRE(b.push().has_value());
    CHECK(current_now() == b.native());
    REQUIRE(gpu::context::pop().has_value());
    CHECK(current_now() == a.native());
  }
  CHECK(current_now() == before);
  // The last device's primary one: that it is the first goes without saying.
  const gpu::device last = value_of(gpu::device::get(test::device_count() - 1));
  const gpu::context_ref primary = value_of(gpu::context::primary(last));
  const gpu::context_scope scope = value_of(gpu::context_scope::enter(primary));
  CUdevice native = -1;
  REQUIRE(test::driver().ctx_get_device(&native) == CUDA_SUCCESS);
  CHECK(native == last.native());
  CHECK(value_of(gpu::context::current()).device() == last);
}

TEST_CASE("context: what is current is a matter of one thread", "[driver][context]") {
  const gpu::context a = value_of(gpu::context::create(test::first_device()));
  const gpu::context_scope scope = value_of(gpu::context_scope::enter(a));
  bool empty = false;
  std::thread([&] {
    const auto found = gpu::context::current();
    empty = found.has_value() && !*found;
  }).join();
  CHECK(empty);
}

TEST_CASE("context: a scope whose stack was tampered with says so", "[driver][context]") {
  const gpu::context a = value_of(gpu::context::create(test::first_device()));
  const gpu::context b = value_of(gpu::context::create(test::first_device()));
  const CUcontext before = current_now();
  test::reported_errors reported;
  {
    const gpu::context_scope scope = value_of(gpu::context_scope::enter(a));
    REQUIRE(b.push().has_value());
  }
  CHECK(reported.count() == 1);
  CHECK(reported.last().find("gpu::context_scope") != std::string::npos);
  REQUIRE(gpu::context::pop().has_value());
  CHECK(current_now() == before);
}

TEST_CASE("context: calls leave what is current alone", "[driver][context]") {
  const gpu::context a = value_of(gpu::context::create(test::first_device()));
  const gpu::context b = value_of(gpu::context::create(test::first_device()));
  const gpu::context_scope scope = value_of(gpu::context_scope::enter(a));
  CHECK(b.synchronize().has_value());
  CHECK(b.memory_info().has_value());
  gpu::driver::entry_points failing = test::driver();
  failing.ctx_set_limit = [](CUlimit, std::size_t) { return CUDA_ERROR_UNSUPPORTED_LIMIT; };
  const gpu::driver::scoped_entry_points in_force(failing);
  CHECK(error_of(b.set_limit(gpu::context_limit::stack_size, 1)).code() ==
        CUDA_ERROR_UNSUPPORTED_LIMIT);
  CHECK(current_now() == a.native());
}

TEST_CASE("context: an empty one is refused by name", "[driver][context]") {
  gpu::context owner = value_of(gpu::context::create(test::first_device()));
  const gpu::context taken = std::move(owner);
  const gpu::cuda_error error = error_of(owner.synchronize());
  CHECK(error == gpu::errc::empty_handle);
  CHECK(says(error, "gpu::context::synchronize", "context is empty", "moved from"));
  CHECK(error_of(owner.push()) == gpu::errc::empty_handle);
  CHECK(error_of(owner.id()) == gpu::errc::empty_handle);
  CHECK(error_of(owner.api_version()) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::context_scope::enter(owner)) == gpu::errc::empty_handle);
  CHECK(error_of(gpu::context_ref{}.memory_info()) == gpu::errc::empty_handle);
}

TEST_CASE("context: values that are none are refused by name", "[driver][context]") {
  const gpu::device device = test::first_device();
  const gpu::context own = value_of(gpu::context::create(device));
  constexpr auto no_limit = static_cast<gpu::context_limit>(CU_LIMIT_MAX);
  CHECK(error_of(own.limit(no_limit)) == gpu::errc::invalid_argument);
  CHECK(says(error_of(own.limit(no_limit)), "gpu::context::limit",
             "10 is not a valid gpu::context_limit"));
  CHECK(says(error_of(own.set_limit(no_limit, 1)), "10 is not a valid gpu::context_limit"));
  constexpr auto unknown = static_cast<gpu::context_flags>(0x100);
  const auto both = gpu::context_flags::spin | gpu::context_flags::yield;
  const gpu::cuda_error error = error_of(gpu::context::create(device, unknown));
  CHECK(error == gpu::errc::invalid_argument);
  CHECK(says(error, "256 has bits outside of gpu::context_flags", "combine its enumerators"));
  CHECK(error.asked() == 256);
  CHECK(error.limit() == 255);
  CHECK(says(error_of(gpu::context::create(device, both)), "more than one way for threads to wait",
             "spin, yield and blocking_sync"));
  CHECK(says(error_of(own.set_flags(both)), "gpu::context::set_flags", "more than one way"));
  CHECK(says(error_of(gpu::set_primary_context_flags(device, both)), "more than one way"));
}

TEST_CASE("context: a limit that cannot be set is named with the value", "[driver][context]") {
  const gpu::context own = value_of(gpu::context::create(test::first_device()));
  const std::size_t stack = value_of(own.limit(gpu::context_limit::stack_size));
  const gpu::cuda_error large =
      error_of(own.set_limit(gpu::context_limit::stack_size, std::size_t{1} << 60));
  CHECK(large.domain() == gpu::error_domain::driver);
  CHECK(large.asked() == std::size_t{1} << 60);
  for (const gpu::cuda_error& error : {large, error_of(gpu::take_last_error())}) {
    CHECK(says(error, "cuCtxSetLimit",
               "stack_size cannot be set to 1152921504606846976: the value is",
               "Set a smaller value"));
  }
  CHECK(value_of(own.limit(gpu::context_limit::stack_size)) == stack);
}

TEST_CASE("context: why a limit cannot be set is told from the code", "[driver][context]") {
  const gpu::context own = value_of(gpu::context::create(test::first_device()));
  static CUresult answer = CUDA_SUCCESS;
  gpu::driver::entry_points failing = test::driver();
  failing.ctx_set_limit = [](CUlimit, std::size_t) { return answer; };
  const gpu::driver::scoped_entry_points in_force(failing);
  const auto told = [&](CUresult code, gpu::context_limit which) {
    answer = code;
    const gpu::cuda_error error = error_of(own.set_limit(which, 7));
    CHECK(error.code() == code);
    return error;
  };
  constexpr auto heap = gpu::context_limit::malloc_heap_size;
  constexpr auto cig = gpu::context_limit::cig_enabled;
  CHECK(says(told(CUDA_ERROR_OUT_OF_MEMORY, heap),
             "malloc_heap_size cannot be set to 7: the value is",
             "a kernel has used the limit already", "Set a smaller value"));
  CHECK(says(told(CUDA_ERROR_UNSUPPORTED_LIMIT, cig), "cig_enabled cannot be set to 7: the device",
             "has no such limit", "Do not set it"));
  // Of these there is no more to tell than the code does.
  CHECK(told(CUDA_ERROR_INVALID_VALUE, cig).details().size() == 0);
  CHECK(told(CUDA_ERROR_INVALID_VALUE, gpu::context_limit::shmem_size).details().size() == 0);
  CHECK(told(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, heap).details().size() == 0);
}

TEST_CASE("context: releasing and adopting move the ownership", "[driver][context]") {
  gpu::context owner = value_of(gpu::context::create(test::first_device()));
  const gpu::context_ref raw = owner.release();
  CHECK(owner.native() == nullptr);
  CHECK(raw.synchronize().has_value());
  const gpu::context again = gpu::context::adopt(raw);
  CHECK(again.native() == raw.native());
}

TEST_CASE("context: made, found and destroyed during a capture", "[driver][context][capture]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const test::captured made = test::capture(stream, [&] {
    gpu::driver::scoped_entry_points anew(test::driver());  // for which nothing is retained yet
    value_of(gpu::context::primary(device));
    gpu::context own = value_of(gpu::context::create(device));
    const gpu::context_scope scope = value_of(gpu::context_scope::enter(own));
    CHECK(value_of(gpu::context::current()) == gpu::context_ref(own));
    value_of(value_of(gpu::context::create(device)).destroy());
  });
  CHECK(made.unharmed());
  CHECK(made.nodes == 0);
}

TEST_CASE("context: each driver call may fail", "[driver][context][faults][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              gpu::context own = GPU_TRY(gpu::context::create(device));
              GPU_TRY(own.synchronize());
              GPU_TRY(own.limit(gpu::context_limit::stack_size));
              GPU_TRY(own.set_limit(gpu::context_limit::stack_size, 2048));
              GPU_TRY(own.cache_preference());
              GPU_TRY(own.set_cache_preference(gpu::cache_preference::none));
              GPU_TRY(own.flags());
              GPU_TRY(own.set_flags(gpu::context_flags::none));
              GPU_TRY(own.id());
              GPU_TRY(own.api_version());
              GPU_TRY(own.stream_priority_range());
              GPU_TRY(own.memory_info());
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(own));
              GPU_TRY(gpu::context::current());
              GPU_TRY(own.push());
              GPU_TRY(gpu::context::pop());
              return GPU_TRY(gpu::context::create(device)).destroy();
            },
            {"cuCtxGetDevice"}) == "");
}

TEST_CASE("context: every limit is the driver's, and has its name", "[driver][context]") {
  const gpu::context own = value_of(gpu::context::create(test::first_device()));
  const gpu::context_scope scope = value_of(gpu::context_scope::enter(own));
  const char* names[] = {"stack_size",
                         "printf_fifo_size",
                         "malloc_heap_size",
                         "dev_runtime_sync_depth",
                         "dev_runtime_pending_launch_count",
                         "max_l2_fetch_granularity",
                         "persisting_l2_cache_size",
                         "shmem_size",
                         "cig_enabled",
                         "cig_shmem_fallback_enabled"};
  for (int value = 0; value < CU_LIMIT_MAX; ++value) {
    const auto limit = static_cast<gpu::context_limit>(value);
    INFO(value);
    CHECK(std::string(gpu::name_of(limit)) == names[value]);
    std::size_t raw = 0;
    const CUresult code = test::driver().ctx_get_limit(&raw, static_cast<CUlimit>(value));
    const gpu::result<std::size_t> asked = own.limit(limit);
    CHECK(asked.has_value() == (code == CUDA_SUCCESS));
    if (asked.has_value()) {
      CHECK(*asked == raw);
    } else {
      CHECK(asked.error().code() == code);
    }
  }
  CHECK(gpu::name_of(static_cast<gpu::context_limit>(CU_LIMIT_MAX)) == nullptr);
}

TEST_CASE("context: printf's buffer and the heap of kernels can be enlarged", "[driver][context]") {
  const gpu::context own = value_of(gpu::context::create(test::first_device()));
  for (const auto limit :
       {gpu::context_limit::printf_fifo_size, gpu::context_limit::malloc_heap_size}) {
    REQUIRE(own.set_limit(limit, std::size_t{32} << 20).has_value());
    CHECK(value_of(own.limit(limit)) >= std::size_t{32} << 20);
  }
}

}  // namespace context_test
