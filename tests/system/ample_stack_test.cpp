// Compiling and linking on threads with little stack.

#include <gpu/array.hpp>
#include <gpu/compiler.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/system/ample_stack.hpp>

#include "compiler/fork_support.hpp"
#include "compiler/link_support.hpp"
#include "support/results.hpp"
#include "support/sanitizers.hpp"
#include "support/subprocess.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>

namespace ample_stack_test { namespace {

/// Calls `work()` on a thread with so much stack.
template <class Work> void on_thread(std::size_t stack, Work work) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, stack) == 0);
  pthread_t thread;
  const auto run = [](void* of) -> void* {
    (*static_cast<Work*>(of))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &work) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_CASE("what is left of a stack is measured", "[system]") {
  for (const std::size_t stack : {std::size_t{256} << 10, std::size_t{16} << 20}) {
    std::size_t left = 0, deeper = 0;
    on_thread(stack, [&] {
      left = gpu::detail::stack_left();
      volatile char used[100000] = {};
      deeper = gpu::detail::stack_left() + static_cast<unsigned char>(used[99999]);
    });
    CHECK(left > stack / 2);
    CHECK(left <= stack);
    CHECK(deeper <= left);
  }
}

TEST_CASE("work moves to another thread only where little stack is left", "[system]") {
  const auto moves = [](std::size_t stack) {
    bool moved = false;
    on_thread(stack, [&] {
      const pthread_t before = pthread_self();
      auto work = [&] {
        moved = pthread_equal(before, pthread_self()) == 0;
        CHECK(gpu::detail::stack_left() >= gpu::detail::enough_stack);
      };
      CHECK(gpu::detail::on_ample_stack(work) == 0);
    });
    return moved;
  };
  CHECK(moves(std::size_t{128} << 10));
  CHECK(moves(std::size_t{1} << 20));
  CHECK_FALSE(moves(std::size_t{16} << 20));
}

TEST_CASE("programs compile on threads with 64 KiB of stack", "[system][compiler]") {
  const std::string source =
      "template <int N> struct depth { static constexpr int value = depth<N - 1>::value + 1; };\n"
      "template <> struct depth<0> { static constexpr int value = 0; };\n"
      "extern \"C\" __global__ void f(int* x) { x[0] = depth<190>::value; }\n";
  for (const std::size_t stack : {std::size_t{64} << 10, std::size_t{128} << 10}) {
    bool good = false, told = false;
    on_thread(stack, [&] {
      const auto made = gpu::compile(
          source + "// " + std::to_string(stack) + std::to_string(gpu::detail::stack_left()),
          {.architecture = gpu::architecture::compute(90)});
      good = made.has_value();
      // The error of a mistake is this thread's.
      (void)gpu::take_last_error();
      const auto wrong = gpu::compile("mistake", {.architecture = gpu::architecture::compute(90)});
      const auto last = gpu::take_last_error();
      told = !wrong.has_value() && !last.has_value() && last.error() == gpu::errc::compile_failed;
    });
    CHECK(good);
    CHECK(told);
  }
}

TEST_CASE("programs are linked on a thread with 64 KiB of stack", "[system][compiler]") {
  const auto target = gpu::architecture::sm(90);
  const auto first = test::compile(test::math, true, target);
  const auto second = test::compile(test::kernels, true, target);
  std::string error = "not linked";
  on_thread(std::size_t{64} << 10, [&] {
    const auto linked = gpu::link({first, second}, {.architecture = target});
    error = linked.has_value() ? "" : linked.error().message().c_str();
  });
  CHECK(error == "");
}

/// Leaves the process so little address space that no stack of 8 MiB fits, for a scope.
class little_address_space {
 public:
  little_address_space() {
    REQUIRE(getrlimit(RLIMIT_AS, &before_) == 0);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit less = before_;
    less.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (4u << 20);
    REQUIRE(setrlimit(RLIMIT_AS, &less) == 0);
  }
  little_address_space(const little_address_space&) = delete;
  little_address_space& operator=(const little_address_space&) = delete;
  ~little_address_space() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

/// Compiles a kernel with NVRTC, whatever caches hold.
gpu::result<gpu::compiled_program> compile_number(int number) {
  gpu::compile_cache cache({.use = gpu::cache_use::off});
  return gpu::compile(
      "extern \"C\" __global__ void f(int* x) { *x = " + std::to_string(number) + "; }",
      {.architecture = gpu::architecture::compute(90), .cache = &cache});
}

// In a process of its own, because the C library keeps the stacks of threads that ended.
TEST_CASE("child: cannot start a thread to compile", "[.child]") {
  test::value_of(compile_number(-1));  // loads NVRTC
  std::string error = "compiled";
  bool good_later = false;
  on_thread(std::size_t{128} << 10, [&] {
    {
      const little_address_space limited;
      const auto made = compile_number(-2);
      if (!made.has_value()) error = made.error().message().c_str();
      CHECK((!made.has_value() && made.error() == gpu::errc::out_of_host_memory));
    }
    good_later = compile_number(-2).has_value();
  });
  CAPTURE(error);
  CHECK(error.find("no thread with 8192 KiB could be started") != error.npos);
  CHECK(error.find("Free host memory, end other threads") != error.npos);
  CHECK(good_later);
}

TEST_CASE("an error says what to do if no thread can be started to compile", "[system][compiler]") {
  if (test::address_sanitizer || test::thread_sanitizer) {
    WARN("skipped: sanitizers map more memory than the limit of this test leaves");
    return;
  }
  const test::program_outcome outcome = test::run_child("child: cannot start a thread to compile");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
}

TEST_CASE("a process forks while and after a thread with little stack compiles",
          "[system][compiler]") {
  if (!test::threads_start_after_fork) {
    WARN("skipped: this sanitizer's malloc may stay locked for ever in a forked child");
    return;
  }
  // NVRTC that another thread was using at the fork is refused in the child. Nothing hangs.
  const auto ends_in_fork = [] {
    return test::exit_code_of_child([] {
             bool ended = false;
             on_thread(std::size_t{128} << 10, [&] {
               const auto made = compile_number(-3);
               ended = made.has_value() || made.error() == gpu::errc::process_forked;
             });
             return ended ? 0 : 1;
           }) == 0;
  };
  std::atomic<int> compiled = 0;
  std::atomic<bool> good = true;
  std::thread other([&] {
    on_thread(std::size_t{128} << 10, [&] {
      for (int number = 1; number <= 4; ++number) {
        good = good && compile_number(number).has_value();
        ++compiled;
      }
    });
  });
  int forks = 0;
  for (bool busy = true; busy || forks < 4; ++forks) {
    busy = compiled < 4;
    CHECK(ends_in_fork());
  }
  other.join();
  CHECK(good);
  CHECK(ends_in_fork());
  CHECK(compile_number(5).has_value());
}

TEST_CASE("an expression is evaluated on a thread with 64 KiB of stack", "[system][array]") {
  const gpu::device device = test::first_device();
  std::string error;
  on_thread(std::size_t{64} << 10, [&] {
    const auto sum = [&]() -> gpu::result<> {
      const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
      auto x = GPU_TRY(gpu::arange<float>(stream, 100));
      auto y = GPU_TRY(gpu::evaluate(stream, gpu::formula<float>("a * 2 + 1.25f", x)));
      if (GPU_TRY(gpu::item(stream, y(3))) != 7.25f) error = "another value";
      return {};
    }();
    if (!sum.has_value()) error = sum.error().message().c_str();
  });
  CHECK(error == "");
}

}}  // namespace ample_stack_test
