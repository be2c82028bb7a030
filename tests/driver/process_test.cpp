// fork, exit, static objects and threads.

#include "support/drivers.hpp"
#include "support/results.hpp"
#include "support/sanitizers.hpp"
#include "support/subprocess.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver.hpp>
#include <gpu/memory.hpp>

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace process_test {

using test::error_of;
using test::value_of;

namespace {

/// Lives until after main, like a static object of a user.
struct static_objects {
  std::optional<gpu::stream> stream;
  std::optional<gpu::event> event;
  std::optional<gpu::device_buffer<float>> buffer;
  std::optional<gpu::device_buffer<float>> plain;
  std::optional<gpu::pinned_vector<float>> pinned;
  std::optional<gpu::context> context;
};

// At namespace scope, and hence destroyed after what the library did at exit, which it had done for
// it when it was first used. That of a function would be made later, and destroyed before.
static_objects objects;

CUresult call_at_exit() {
  std::printf("CALLED\n");
  std::fflush(stdout);
  return CUDA_SUCCESS;
}

}  // namespace

TEST_CASE("process: child with static objects", "[.child]") {
  const gpu::device device = test::first_device();
  objects.stream = value_of(gpu::stream::create(device));
  objects.event = value_of(gpu::event::create(device));
  objects.buffer = value_of(gpu::device_buffer<float>::create(*objects.stream, 100));
  objects.plain = value_of(gpu::device_buffer<float>::create(device, 100));
  objects.pinned = value_of(gpu::pinned_vector<float>::create(device, 100));
  objects.context = value_of(gpu::context::create(device));
  // Each call of the driver from here on is one too many.
  static gpu::driver::entry_points watched = test::driver();
  watched.stream_destroy = [](CUstream) { return call_at_exit(); };
  watched.event_destroy = [](CUevent) { return call_at_exit(); };
  watched.mem_free = [](CUdeviceptr) { return call_at_exit(); };
  watched.mem_free_async = [](CUdeviceptr, CUstream) { return call_at_exit(); };
  watched.mem_free_host = [](void*) { return call_at_exit(); };
  watched.ctx_destroy = [](CUcontext) { return call_at_exit(); };
  gpu::driver::use_entry_points(&watched);
  gpu::set_error_reporter([](const gpu::cuda_error& error) {
    std::printf("REPORTED %s\n", error.message().c_str());
    std::fflush(stdout);
  });
}

TEST_CASE("process: static objects are destroyed after main in silence", "[driver][process]") {
  const test::program_outcome outcome = test::run_child("process: child with static objects");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
  CHECK(outcome.output.find("REPORTED") == std::string::npos);
  CHECK(outcome.output.find("CALLED") == std::string::npos);
  CHECK(outcome.output.find("\ngpu: ") == std::string::npos);
}

TEST_CASE("process: child that forks", "[.child]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const gpu::result<int> count = gpu::device::count();
    const gpu::result<> wait = stream.synchronize();
    const auto buffer = gpu::device_buffer<int>::create(device, 1);
    const bool told = !count && count.error() == gpu::errc::process_forked &&  //
                      !wait && wait.error() == gpu::errc::process_forked &&    //
                      !buffer && buffer.error() == gpu::errc::process_forked &&
                      count.error().message().contains("fork");
    std::_Exit(told ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(stream.synchronize().has_value());
}

TEST_CASE("process: after fork the child gets an error and the parent goes on",
          "[driver][process]") {
  const test::program_outcome outcome = test::run_child("process: child that forks");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
}

TEST_CASE("process: child whose standard error stream takes nothing", "[.child]") {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  REQUIRE(::dup2(full, STDERR_FILENO) == STDERR_FILENO);
  static const gpu::driver::entry_points* real;
  real = &test::driver();
  gpu::driver::entry_points failing = *real;
  failing.event_destroy = [](CUevent event) {
    REQUIRE(real->event_destroy(event) == CUDA_SUCCESS);
    return CUDA_ERROR_INVALID_HANDLE;
  };
  const gpu::driver::scoped_entry_points in_force(failing);
  {
    const gpu::event event = value_of(gpu::event::create(test::first_device()));
  }
  std::printf("WENT ON\n");
}

TEST_CASE("process: an error that nobody can be told does not hold the program up",
          "[driver][process]") {
  const test::program_outcome outcome = test::run_child(
      "process: child whose standard error stream takes nothing", {}, std::chrono::seconds(30));
  INFO(outcome.output);
  CHECK(outcome.succeeded());
  CHECK(outcome.output.find("WENT ON") != std::string::npos);
}

TEST_CASE("process: child under a limit on the size of files", "[.child]") {
  const gpu::device device = test::first_device();
  auto stream = value_of(gpu::stream::create(device));
  auto buffer = value_of(gpu::device_buffer<int>::create(stream, 3));
  const int values[] = {1, 2, 3};
  int back[3] = {};
  CHECK(stream.synchronize().has_value());
  CHECK(gpu::copy(values, buffer).has_value());
  CHECK(gpu::copy(buffer, back).has_value());
  CHECK(back[2] == 3);
  std::printf("WENT ON\n");
}

TEST_CASE("process: a limit on the size of files does not matter", "[driver][process][cpu]") {
  if (test::thread_sanitizer) return;  // which writes a file itself
  const test::program_outcome outcome =
      test::run_child("process: child under a limit on the size of files", {},
                      std::chrono::seconds(30), {"sh", "-c", "ulimit -f 0; exec \"$0\" \"$@\""});
  INFO(outcome.output);
  CHECK(outcome.succeeded());
  CHECK(outcome.output.find("WENT ON") != std::string::npos);
}

TEST_CASE("process: child that goes past the end of a span", "[.child]") {
  const auto span = gpu::device_span<int>::from_native(4096, 10);
  const gpu::device_span<int> part = span.subspan(4, 7);
  std::printf("NOT REACHED %zu\n", part.size());
}

TEST_CASE("process: child that goes past the end of a span in pinned memory", "[.child]") {
  int values[3] = {};
  const auto part = gpu::pinned_span<int>::from_native(values, 3).last(4);
  std::printf("NOT REACHED %zu\n", part.size());
}

TEST_CASE("process: going past the end of a span ends the program with a message",
          "[driver][process]") {
  const std::pair<const char*, const char*> cases[] = {
      {"process: child that goes past the end of a span", "gpu::device_span::subspan"},
      {"process: child that goes past the end of a span in pinned memory",
       "gpu::pinned_span::last"}};
  for (const auto& [child, function] : cases) {
    const test::program_outcome outcome = test::run_child(child);
    INFO(outcome.output);
    CHECK(outcome.signal == SIGABRT);
    CHECK(outcome.output.find("NOT REACHED") == std::string::npos);
    CHECK(outcome.output.find(function) != std::string::npos);
    CHECK(outcome.output.find("process_test.cpp") != std::string::npos);
  }
}

}  // namespace process_test
