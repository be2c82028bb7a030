// Code that modules and graphs share: finding it by its kernels, and the edges of a process.

#include "support/drivers.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/core/error.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/kernel.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/system/mutex.hpp>

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shared_object_test {

using test::value_of;

namespace {

constexpr const char* two_kernels = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry first() { ret; }
.visible .entry second() { ret; }
)";

TEST_CASE("the code of a kernel is found as long as its module has it", "[kernel][module]") {
  CUlibrary native = nullptr;
  CUkernel first = nullptr, second = nullptr;
  {
    gpu::module code = value_of(gpu::module::load(two_kernels));
    native = code.native();
    first = value_of(code.kernel<>("first")).native();
    second = value_of(code.kernel<>("second")).native();
    gpu::detail::shared_object* const shared = gpu::detail::take_share_of(first);
    REQUIRE(shared != nullptr);
    CHECK(shared->shares == 2);
    const gpu::module moved = std::move(code);
    CHECK(gpu::detail::take_share_of(second) == shared);
    gpu::detail::drop_share(*shared);
    gpu::detail::drop_share(*shared);
    CHECK(shared->shares == 1);
  }
  CHECK(gpu::detail::take_share_of(first) == nullptr);
  CHECK(gpu::detail::take_share_of(second) == nullptr);
  CHECK(gpu::detail::take_share_of(nullptr) == nullptr);

  gpu::module code = value_of(gpu::module::load(two_kernels));
  const auto kernel = value_of(code.kernel<>("first")).native();
  native = code.release();
  CHECK(gpu::detail::take_share_of(kernel) == nullptr);
  // Whoever has a library has its kernels found again.
  code = gpu::module::adopt(native);
  CHECK(value_of(code.kernel<>("first")).native() == kernel);
  gpu::detail::shared_object* const again = gpu::detail::take_share_of(kernel);
  REQUIRE(again != nullptr);
  gpu::detail::drop_share(*again);
}

/// Code that counts how often it was unloaded.
struct counted_code : gpu::detail::shared_object {
  int unloaded = 0;
  counted_code()
      : shared_object{
            [](shared_object* self) noexcept { ++static_cast<counted_code*>(self)->unloaded; }} {}
};

TEST_CASE("code on its way out gives no more shares", "[kernel][module]") {
  counted_code code;
  CHECK(code.take_share());
  gpu::detail::drop_share(code);
  gpu::detail::end_unwanted();
  CHECK(code.unloaded == 0);
  gpu::detail::drop_share(code);
  CHECK(gpu::detail::has_unwanted());
  gpu::detail::end_unwanted();
  CHECK(code.unloaded == 1);
  CHECK_FALSE(code.take_share());
  CHECK_FALSE(gpu::detail::has_unwanted());
  gpu::detail::end_unwanted();
  CHECK(code.unloaded == 1);
}

TEST_CASE("code that nobody needs is loaded as long as somebody may take a share",
          "[kernel][module]") {
  for (const bool in_turn : {true, false}) {
    counted_code taken, left;
    gpu::detail::open_capture first, second;
    gpu::detail::add_capture(first);
    gpu::detail::add_capture(second);
    gpu::detail::drop_share(taken);
    gpu::detail::drop_share(left);
    gpu::detail::remove_capture(in_turn ? first : second);
    gpu::detail::end_unwanted();
    CHECK(left.unloaded == 0);
    CHECK(taken.take_share());
    gpu::detail::remove_capture(in_turn ? second : first);
    gpu::detail::end_unwanted();
    CHECK(left.unloaded == 1);
    CHECK(taken.unloaded == 0);
    gpu::detail::drop_share(taken);
    gpu::detail::end_unwanted();
    CHECK(taken.unloaded == 1);
  }
}

TEST_CASE("code that threads share is unloaded once", "[kernel][module]") {
  for (int round = 0; round < 200; ++round) {
    counted_code code;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      REQUIRE(code.take_share());
      threads.emplace_back([&code] {
        gpu::detail::open_capture capture;
        gpu::detail::add_capture(capture);
        for (int each = 0; each < 1000; ++each) {
          if (code.take_share()) gpu::detail::drop_share(code);
        }
        gpu::detail::drop_share(code);
        gpu::detail::remove_capture(capture);
        gpu::detail::end_unwanted();
      });
    }
    gpu::detail::drop_share(code);
    gpu::detail::end_unwanted();
    for (std::thread& each : threads) each.join();
    CHECK(code.unloaded == 1);
  }
}

TEST_CASE("modules: child that forks while another thread looks for kernels", "[.child]") {
  std::optional<gpu::module> code = value_of(gpu::module::load(two_kernels));
  value_of(code->kernel<>("first"));
  auto& lock = gpu::detail::live_objects::of_process().lock;
  pid_t child = -1;
  {
    const gpu::detail::scoped_lock held(lock);  // as by a thread that the child does not have
    child = ::fork();
    if (child == 0) {
      ::alarm(20);
      code.reset();
      std::_Exit(0);
    }
  }
  REQUIRE(child > 0);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
}

TEST_CASE("modules: a forked child can let go of them", "[kernel][module][process]") {
  const test::program_outcome outcome =
      test::run_child("modules: child that forks while another thread looks for kernels");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
}

// Destroyed after what the library does at exit.
std::optional<gpu::module> static_module;

TEST_CASE("modules: child with a static one", "[.child]") {
  static gpu::driver::entry_points watched = test::driver();
  static_module = value_of(gpu::module::load(two_kernels));
  value_of(static_module->kernel<>("first"));
  watched.library_unload = [](CUlibrary) {
    std::printf("CALLED\n");
    std::fflush(stdout);
    return CUDA_SUCCESS;
  };
  gpu::driver::use_entry_points(&watched);
  gpu::set_error_reporter([](const gpu::cuda_error&) { std::printf("REPORTED\n"); });
}

TEST_CASE("modules: static ones are destroyed after main in silence", "[kernel][module][process]") {
  const test::program_outcome outcome = test::run_child("modules: child with a static one");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
  CHECK(outcome.output.find("CALLED") == std::string::npos);
  CHECK(outcome.output.find("REPORTED") == std::string::npos);
}

}  // namespace
}  // namespace shared_object_test
