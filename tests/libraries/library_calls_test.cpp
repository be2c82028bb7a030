// Libraries that are too old or lack a function, and the errors of calls that they do not have.

#include <gpu/compiler.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/toolkit_library.hpp>
#include <gpu/system/library_table.hpp>

#include "compiler/fork_support.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

namespace library_calls_test { namespace {

using test::says;

/// A library of this test's own. It opens libm: any file will do, because `find_function`
/// does not look into it.
struct imagined {
  struct table {
    using library = imagined;
    int (*first)(int);
    int (*second)();
    int (*third)();
    gpu::errc unavailable;
    const char* unavailable_detail;
  };
  static constexpr gpu::detail::library_function functions[] = {
      {"imaginedFirst", offsetof(table, first)},
      {"imaginedSecond", offsetof(table, second)},
      {"imaginedThird", offsetof(table, third), true}};
  static constexpr gpu::detail::toolkit_library files{
      "GPU_IMAGINED", {"libm.so.6", "libm.so", "libm.so.1"}, "nvidia/imagined/lib"};
  static constexpr const char* name = "imagined";
  static constexpr const char* wheel = "imagined-wheel";
  static constexpr const char* part_of = "CUDA toolkit";
  static constexpr const char* oldest = "12.0";
  static constexpr gpu::errc absent = gpu::errc::no_nvrtc, too_old = gpu::errc::nvrtc_too_old;
  static constexpr gpu::error_domain domain = gpu::error_domain::nvrtc;

  static constexpr int stays = 77;  ///< given to a function, has it stay until it is let go
  inline static std::atomic<bool> stays_in_load = false, is_in = false, let_go = false;
  static void stay() {
    is_in = true;
    while (!let_go) std::this_thread::yield();
  }

  static const char*& missing() {
    static const char* function = "";
    return function;
  }
  static bool& good() {
    static bool version_is_good = true;
    return version_is_good;
  }
  static int answer(int code) {
    if (code == stays) stay();
    return code == stays ? 0 : code;
  }
  static void* open(gpu::detail::text_builder& looked_in) {
    return gpu::detail::open_toolkit_library(files, looked_in);
  }
  static void* find_function(void*, const char* function) noexcept {
    return std::strcmp(function, missing()) == 0 ? nullptr : reinterpret_cast<void*>(&answer);
  }
  static bool accept(const table&, gpu::detail::text_builder& reason) noexcept {
    if (stays_in_load) stay();
    reason << "this is version 1";
    return good();
  }
};

/// Loads it anew, as the first use of a process does, and calls its first function.
gpu::result<> call_first(const char* missing, bool good, int code = 0) {
  imagined::missing() = missing;
  imagined::good() = good;
  gpu::detail::use_library_table<imagined>(nullptr);
  return gpu::detail::library_call<&imagined::table::first>(gpu::source_location::current(), code);
}

TEST_CASE("a library is called when it has all that is needed", "[compiler][library]") {
  CHECK(call_first("", true).has_value());
  CHECK(call_first("imaginedThird", true).has_value());  // optional
  CHECK(gpu::detail::library_table<imagined>().third == nullptr);
  const gpu::cuda_error refused = test::error_of(call_first("", true, 7));
  CHECK(refused.domain() == gpu::error_domain::nvrtc);
  CHECK(refused.code() == 7);
  CHECK(std::string(refused.call()) == "imaginedFirst");
}

TEST_CASE("an error names the function that a library lacks", "[compiler][library]") {
  const gpu::cuda_error second = test::error_of(call_first("imaginedSecond", true));
  CHECK(second == gpu::errc::nvrtc_too_old);
  CHECK(says(second, "imagined 12.0 or newer", "the library has no imaginedSecond",
             "pip install imagined-wheel", "GPU_IMAGINED"));
  CHECK(gpu::detail::library_table<imagined>().first == nullptr);  // all or nothing

  const gpu::cuda_error old = test::error_of(call_first("imaginedSecond", false));
  CHECK(says(old, "imagined 12.0 or newer, but this is version 1"));

  REQUIRE(call_first("imaginedThird", true).has_value());
  const gpu::cuda_error third = test::error_of(
      gpu::detail::library_call<&imagined::table::third>(gpu::source_location::current()));
  CHECK(third == gpu::errc::not_supported);
  CHECK(says(third, "this imagined has no imaginedThird", "newer CUDA toolkit"));
}

/// Forks while another thread is in the library. Returns 0 if the child's calls fail as they
/// should.
int forked_while_in_use(int code) {
  imagined::is_in = imagined::let_go = false;
  std::thread other([code] { static_cast<void>(call_first("", true, code)); });
  while (!imagined::is_in) std::this_thread::yield();
  const int seen = test::exit_code_of_child([] {
    for (int i = 0; i < 2; ++i) {
      const auto refused = gpu::detail::library_call<&imagined::table::first>({}, 0);
      if (refused.has_value() || refused.error() != gpu::errc::process_forked) return 1;
      if (!says(refused.error(), "imagined", "exec in the child")) return 2;
    }
    return 0;
  });
  imagined::let_go = true;
  other.join();
  CHECK(gpu::detail::library_call<&imagined::table::first>({}, 0).has_value());
  return seen;
}

TEST_CASE("in a child that was forked while a thread was in a library, calls fail",
          "[compiler][library][threads]") {
  CHECK(forked_while_in_use(imagined::stays) == 0);
  imagined::stays_in_load = true;
  CHECK(forked_while_in_use(0) == 0);
  imagined::stays_in_load = false;
}

TEST_CASE("a child that was forked while no thread was in a library can use it",
          "[compiler][library]") {
  const auto called = [] {
    return gpu::detail::library_call<&imagined::table::first>({}, 0).has_value() ? 0 : 1;
  };
  REQUIRE(call_first("", true).has_value());
  CHECK(test::exit_code_of_child(called) == 0);
  gpu::detail::use_library_table<imagined>(nullptr);
  CHECK(test::exit_code_of_child(called) == 0);
}

TEST_CASE("child: forks while another thread compiles for the first time", "[.child]") {
  gpu::compile_cache cache({.use = gpu::cache_use::off});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  const auto compile = [&] { return gpu::compile("__global__ void f() {}", options); };
  std::atomic<bool> begun = false;
  std::thread other([&] {
    begun = true;
    if (!compile().has_value()) std::abort();
  });
  while (!begun) std::this_thread::yield();
  for (int i = 0; i < 8; ++i) {
    CHECK(test::exit_code_of_child([&] {
            const auto made = compile();
            return made.has_value() || made.error() == gpu::errc::process_forked ? 0 : 1;
          }) == 0);
    ::usleep(2000);
  }
  other.join();
}

TEST_CASE("children that are forked during the first compilation do not hang",
          "[compiler][library][threads]") {
  if (!test::threads_start_after_fork) {
    WARN("skipped: this sanitizer's malloc may stay locked for ever in a forked child");
    return;
  }
  const test::program_outcome outcome =
      test::run_child("child: forks while another thread compiles for the first time");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
}

// As at exit, where each shared library that uses this one abandons it, and a handler once more.
TEST_CASE("a library that is abandoned again keeps its first reason, which threads may read",
          "[compiler][library][threads]") {
  REQUIRE(call_first("", true).has_value());
  auto& state = gpu::detail::library_state<imagined>::of_process();
  state.abandon(gpu::errc::process_exiting);
  std::atomic<bool> begun = false, stop = false;
  std::atomic<int> wrong = 0;
  std::thread reader([&] {
    while (!stop) {
      const auto refused = gpu::detail::library_call<&imagined::table::first>({}, 0);
      if (refused.has_value() || refused.error() != gpu::errc::process_exiting) ++wrong;
      begun = true;
    }
  });
  while (!begun) std::this_thread::yield();
  state.abandon(gpu::errc::process_forked);
  ::usleep(1000);
  stop = true;
  reader.join();
  CHECK(wrong == 0);
  gpu::detail::use_library_table<imagined>(nullptr);
}

// Destroyed after what the library does at exit.
struct calls_at_the_end {
  ~calls_at_the_end() {
    if (!armed) return;
    const auto refused = gpu::detail::library_call<&imagined::table::first>({}, 0);
    const bool right = !refused.has_value() && refused.error() == gpu::errc::process_exiting &&
                       says(refused.error(), "imagined", "before main returns");
    std::printf(right ? "REFUSED\n" : "NOT REFUSED\n");
  }
  bool armed = false;
};
calls_at_the_end at_the_end;

TEST_CASE("child: ends while another thread is in a library", "[.child]") {
  at_the_end.armed = true;
  std::thread([] {
    static_cast<void>(call_first("", true, imagined::stays));
    std::printf("RETURNED\n");
  }).detach();
  while (!imagined::is_in) std::this_thread::yield();
  std::thread([] {
    ::usleep(100'000);  // time for the exit to begin
    std::printf("LET GO\n");
    imagined::let_go = true;
  }).detach();
  std::exit(0);
}

TEST_CASE("exit waits for a thread that is in a library, and rejects others",
          "[compiler][library][threads]") {
  const test::program_outcome outcome =
      test::run_child("child: ends while another thread is in a library");
  INFO(outcome.output);
  CHECK(outcome.succeeded());
  const std::size_t left = outcome.output.find("LET GO"), refused = outcome.output.find("REFUSED");
  CHECK(left < refused);
  CHECK(refused != std::string::npos);
  CHECK(outcome.output.find("NOT REFUSED") == std::string::npos);
}

// As a program would have it: destroyed after everything that the compiler keeps.
struct compiles_at_the_end {
  ~compiles_at_the_end() {
    if (!armed) return;
    gpu::compile_cache cache({.use = gpu::cache_use::off});
    const auto made = gpu::compile("__global__ void f() {}",
                                   {.architecture = gpu::architecture::sm(90), .cache = &cache});
    std::printf(!made.has_value() && made.error() == gpu::errc::process_exiting ? "REFUSED\n"
                                                                                : "NOT REFUSED\n");
  }
  bool armed = false;
};
compiles_at_the_end compiler_at_the_end;

TEST_CASE("child: ends while programs are compiled", "[.child]") {
  static gpu::compile_cache cache({.use = gpu::cache_use::off});
  compiler_at_the_end.armed = true;
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  static gpu::pending_compilation pending[2];
  for (auto& each : pending) {
    each = gpu::compile_async(
        "template <int N> __device__ int g(int x) { return g<N - 1>(x) * 3 + N; }"
        "template <> __device__ int g<0>(int x) { return x; }"
        "__global__ void f(int* x) { *x = g<200>(*x); }",
        options);
  }
  ::usleep(static_cast<unsigned>(std::atoi(std::getenv("END_AFTER"))) * 1000);
  std::exit(0);
}

TEST_CASE("a process may end while it compiles, and compile while it ends",
          "[compiler][library][threads]") {
  for (const char* milliseconds : {"0", "60", "200"}) {
    const test::program_outcome outcome =
        test::run_child("child: ends while programs are compiled", {{"END_AFTER", milliseconds}});
    INFO(milliseconds << " ms: " << outcome.output);
    CHECK(outcome.succeeded());
    CHECK(outcome.signal == 0);
    CHECK(outcome.output.find("REFUSED") != std::string::npos);
    CHECK(outcome.output.find("NOT REFUSED") == std::string::npos);
  }
}

}}  // namespace library_calls_test
