// Compiling on other threads.

#include <gpu/compiler.hpp>
#include <gpu/compiler/compile_async.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include "compiler/fork_support.hpp"
#include "compiler/refused_calls.hpp"
#include "support/catch.hpp"
#include "support/subprocess.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace compile_async_test { namespace {

const gpu::compile_options for_90{.architecture = gpu::architecture::compute(90)};

std::string kernel_named(const std::string& name) {
  return "extern \"C\" __global__ void " + name + "() {}";
}

static_assert(!std::is_copy_constructible_v<gpu::pending_compilation>);
static_assert(std::is_nothrow_move_constructible_v<gpu::pending_compilation>);

TEST_CASE("a compilation goes on while its caller does", "[compiler][async]") {
  gpu::pending_compilation pending;
  {
    std::string source = kernel_named("later");  // gone before it is compiled
    gpu::compile_options options = for_90;
    options.defines = {{"UNUSED", 1}};
    pending = gpu::compile_async(source, options);
    source.assign(source.size(), '!');
  }
  pending.wait();
  CHECK(pending.ready());
  const auto made = pending.get();
  REQUIRE(made.has_value());
  CHECK(made->ptx().contains(".entry later("));
}

TEST_CASE("the result can be taken once", "[compiler][async]") {
  gpu::pending_compilation pending = gpu::compile_async(kernel_named("f"), for_90);
  gpu::pending_compilation moved = std::move(pending);
  CHECK(pending.get().error() == gpu::errc::empty_handle);
  CHECK(pending.ready());
  CHECK(moved.get().has_value());
  CHECK(moved.get().error() == gpu::errc::empty_handle);
  CHECK(gpu::pending_compilation().get().error() == gpu::errc::empty_handle);
}

TEST_CASE("errors come with the result and name the caller", "[compiler][async]") {
  const auto line = static_cast<unsigned>(__LINE__ + 1);
  gpu::pending_compilation wrong = gpu::compile_async("__device__ int x = y;", for_90);
  const auto made = wrong.get();
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error() == gpu::errc::compile_failed);
  CHECK(made.error().where().line() == line);
  gpu::compile_options unknown = for_90;
  unknown.extra = {"--nothing"};
  CHECK(gpu::compile_async("", unknown).get().error() == gpu::errc::invalid_argument);
  CHECK(gpu::compile_async("", {.architecture = gpu::architecture::sm(1)}).get().error() ==
        gpu::errc::not_supported);
}

TEST_CASE("the destructor waits for the compilation", "[compiler][async]") {
  for (int i = 0; i < 8; ++i) {
    (void)gpu::compile_async(kernel_named("dropped" + std::to_string(i)), for_90);
    gpu::pending_compilation replaced = gpu::compile_async(kernel_named("a"), for_90);
    replaced = gpu::compile_async(kernel_named("b"), for_90);
    CHECK(replaced.get()->ptx().contains(".entry b("));
  }
}

TEST_CASE("many programs come back in their order", "[compiler][async]") {
  std::vector<std::string> sources;
  for (int i = 0; i < 40; ++i) sources.push_back(kernel_named("f" + std::to_string(i)));
  sources[7] = "no program";
  const auto made = gpu::compile_all(sources, for_90);
  REQUIRE(made.size() == sources.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    INFO(i);
    if (i == 7) {
      CHECK(made[i].error() == gpu::errc::compile_failed);
      continue;
    }
    REQUIRE(made[i].has_value());
    CHECK(made[i]->ptx().contains((".entry f" + std::to_string(i) + "(").c_str()));
  }
  CHECK(gpu::compile_all(std::vector<gpu::program>{}, for_90).empty());
}

/// An NVRTC that begins to compile and then waits for a signal.
struct waiting_nvrtc {
  static std::atomic<int>& begun() {
    static std::atomic<int> compilations{0};
    return compilations;
  }
  static std::atomic<bool>& open() {
    static std::atomic<bool> value{false};
    return value;
  }
  static const gpu::nvrtc::entry_points*& inner() {
    static const gpu::nvrtc::entry_points* table = nullptr;
    return table;
  }
  static gpu::nvrtc::entry_points make() {
    inner() = &gpu::nvrtc::current_entry_points();
    begun() = 0;
    open() = false;
    gpu::nvrtc::entry_points table = *inner();
    table.compile_program = [](gpu::nvrtc::nvrtc_program program, int size,
                               const char* const* options) {
      ++begun();
      while (!open()) std::this_thread::yield();
      return inner()->compile_program(program, size, options);
    };
    return table;
  }
  gpu::nvrtc::entry_points table = make();
  gpu::nvrtc::scoped_entry_points scope{table};
};

TEST_CASE("programs are compiled in parallel, on as many threads as there are processors",
          "[compiler][async]") {
  const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  const int threads = static_cast<int>(processors > 16 ? 16 : processors);
  const waiting_nvrtc waiting;
  std::vector<gpu::pending_compilation> pending;
  for (int i = 0; i < 20; ++i) {
    pending.push_back(gpu::compile_async(kernel_named("s" + std::to_string(i)), for_90));
  }
  // None of them ends, so that each takes a thread of its own.
  while (waiting_nvrtc::begun() < threads) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(waiting_nvrtc::begun() == threads);
  waiting_nvrtc::open() = true;
  for (gpu::pending_compilation& one : pending) CHECK(one.get().has_value());
}

TEST_CASE("a thread that is canceled while it compiles ends afterwards",
          "[compiler][async][threads]") {
  struct {
    bool compiled = false, got = false;
    gpu::compile_cache cache = gpu::compile_cache({.use = gpu::cache_use::off});
  } done;
  const auto work = [](void* data) -> void* {
    auto& d = *static_cast<decltype(done)*>(data);
    const gpu::compile_options options{.architecture = gpu::architecture::sm(90),
                                       .cache = &d.cache};
    ::pthread_cancel(::pthread_self());  // takes effect at the first cancellation point
    d.compiled = gpu::compile("__global__ void f() {}", options).has_value();
    d.got = gpu::compile_async("__global__ void g() {}", options).get().has_value();
    for (;;) ::pthread_testcancel();
  };
  pthread_t thread;
  REQUIRE(::pthread_create(&thread, nullptr, work, &done) == 0);
  void* outcome = nullptr;
  REQUIRE(::pthread_join(thread, &outcome) == 0);
  CHECK(outcome == PTHREAD_CANCELED);
  CHECK(done.compiled);
  CHECK(done.got);
}

TEST_CASE("a forked child has the finished results, and does not wait for others",
          "[compiler][async]") {
  gpu::pending_compilation done = gpu::compile_async(kernel_named("done"), for_90);
  done.wait();
  const waiting_nvrtc waiting;
  gpu::pending_compilation pending = gpu::compile_async(kernel_named("pending"), for_90);
  while (waiting_nvrtc::begun() == 0) std::this_thread::yield();
  CHECK_FALSE(pending.ready());
  CHECK(test::exit_code_of_child([&] {
          const auto made = done.get();
          if (!made.has_value() || !made->ptx().contains(".entry done(")) return 1;
          if (!pending.ready()) return 2;
          const auto none = pending.get();
          if (none.has_value() || none.error() != gpu::errc::process_forked) return 3;
          if (!none.error().message().contains("Compile after the fork")) return 4;
          {
            const gpu::pending_compilation dropped = std::move(pending);
          }
          return 0;
        }) == 0);
  waiting_nvrtc::open() = true;
  CHECK(pending.get()->ptx().contains(".entry pending("));
  CHECK(done.get().has_value());
}

TEST_CASE("child: compiles without new threads", "[.child]") {
  // Whatever NVRTC starts once is there already.
  REQUIRE(gpu::compile(kernel_named("first"), for_90).has_value());
#if defined(__NR_clone3)
  const test::system_calls start_thread = {{{__NR_clone, __NR_clone3}}};
#else
  const test::system_calls start_thread = {{{__NR_clone}}};
#endif
  if (!test::fail_calls(start_thread, EAGAIN)) {
    std::printf("[refused]");
    return;
  }
  gpu::pending_compilation pending = gpu::compile_async(kernel_named("alone"), for_90);
  const bool alone = pending.ready() && pending.get()->ptx().contains(".entry alone(");
  const auto made =
      gpu::compile_all(std::vector<std::string>{kernel_named("a"), "no program"}, for_90);
  const bool all = made[0].has_value() && made[1].error() == gpu::errc::compile_failed;
  std::printf(alone && all ? "[done]" : "[wrong]");
  std::fflush(stdout);
  ::_exit(0);  // a search for leaks would need a thread
}

TEST_CASE("if no thread can be started, the caller compiles", "[compiler][async]") {
  const auto child = test::run_child("child: compiles without new threads");
  INFO(child.output);
  if (child.output.find("[refused]") != std::string::npos) {
    WARN("skipped: this system lets no process refuse system calls");
    return;
  }
  CHECK(child.succeeded());
  CHECK(child.output.find("[done]") != std::string::npos);
}

}}  // namespace compile_async_test
