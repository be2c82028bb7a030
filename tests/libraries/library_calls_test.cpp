// Libraries that are too old or lack a function, and the errors of calls that they do not have.

#include <gpu/compiler.hpp>

#include "compiler/fork_support.hpp"
#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

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

TEST_CASE("a library is identified by its build, or else by its file", "[compiler][library]") {
  const int local = 0;
  CHECK(gpu::detail::library_identity("imagined", 1, 2, &local) == "imagined 1.2, build unknown");
  const gpu::text identity = gpu::detail::library_identity(
      "NVRTC", 13, 0, reinterpret_cast<const void*>(gpu::nvrtc::current_entry_points().version));
  const std::string build(identity.c_str() + sizeof "NVRTC 13.0, build " - 1);
  // NVRTC 12.0 has no build identifier in it: then it is the file, with its size and time.
  const bool hexadecimal = build.find_first_not_of("0123456789abcdef") == std::string::npos;
  CHECK((hexadecimal ? build.size() == 16 : build[0] == '/'));
}

/// The real NVRTC, which says that it is another version and knows no option that has `unknown` in
/// it.
struct old_nvrtc {
  static const gpu::nvrtc::entry_points*& inner() {
    static const gpu::nvrtc::entry_points* table = nullptr;
    return table;
  }
  static const char*& unknown() {
    static const char* option = "";
    return option;
  }
  static std::string& log() {
    static std::string contents;
    return contents;
  }
  static int version(int* major, int* minor) {
    *major = 12;
    *minor = 0;
    return 0;
  }
  static int compile(gpu::nvrtc::nvrtc_program program, int count, const char* const* options) {
    log().clear();
    for (int i = 0; i < count; ++i) {
      const std::string option = options[i];
      if (option.find(unknown()) == std::string::npos) continue;
      log() =
          "nvrtc: error: unrecognized option " + option.substr(0, option.find('=')) + " found\n";
      return 5;
    }
    return inner()->compile_program(program, count, options);
  }
  static int log_size(gpu::nvrtc::nvrtc_program program, std::size_t* size) {
    if (log().empty()) return inner()->get_program_log_size(program, size);
    *size = log().size() + 1;
    return 0;
  }
  static int read_log(gpu::nvrtc::nvrtc_program program, char* to) {
    if (log().empty()) return inner()->get_program_log(program, to);
    std::memcpy(to, log().c_str(), log().size() + 1);
    return 0;
  }

  static gpu::nvrtc::entry_points without(const char* option) {
    inner() = &gpu::nvrtc::current_entry_points();
    unknown() = option;
    gpu::nvrtc::entry_points made = *inner();
    made.version = &version;
    made.compile_program = &compile;
    made.get_program_log_size = &log_size;
    made.get_program_log = &read_log;
    return made;
  }

  explicit old_nvrtc(const char* unknown_option) : table{without(unknown_option)} {}
  gpu::nvrtc::entry_points table;
  gpu::nvrtc::scoped_entry_points scope{table};
};

TEST_CASE("an error names the option that NVRTC is too old for", "[compiler][bad-input]") {
  const auto target = gpu::architecture::compute(90);
  const auto refusal = [&](const char* unknown, const gpu::compile_options& options) {
    const old_nvrtc scope(unknown);
    const gpu::cuda_error error = test::error_of(gpu::compile("__device__ int x;", options));
    CHECK(error == gpu::errc::not_supported);
    CHECK(error.kind() == gpu::error_kind::runtime);
    CHECK(says(error, "NVRTC 12.0 has no option", "install a newer CUDA toolkit"));
    return error;
  };
  CHECK(says(refusal("--dlink-time-opt", {.architecture = target, .link_time_optimization = true}),
             "no option --dlink-time-opt."));
  CHECK(says(refusal("--pch", {.architecture = target, .extra = {"--pch"}}), "no option --pch."));
  // Of two that begin alike, the one that the log has; with the value that the log leaves out.
  CHECK(says(refusal("--pch-dir", {.architecture = target, .extra = {"--pch", "--pch-dir=/tmp"}}),
             "no option --pch-dir=/tmp."));
  CHECK(says(refusal("--split-compile", {.architecture = target, .extra = {"--split-compile=0"}}),
             "no option --split-compile=0."));
  // None is given one that it does not know by itself.
  {
    const gpu::compile_options for_90{.architecture = gpu::architecture::sm(90)};
    const old_nvrtc scope("--no-cache");
    // New every time: code that the real one finds in the driver's cache has no figures.
    const std::string name = "f" + std::to_string(::time(nullptr)) + std::to_string(::getpid());
    const std::string kernel = "__global__ void " + name + "() {}";
    const auto made = test::value_of(gpu::compile(kernel.c_str(), for_90));
    CHECK(made.resources().size() == 1);
  }
  // What it knows it does.
  const old_nvrtc scope("--pch");
  CHECK(gpu::compile("__device__ int x;", {.architecture = target}).has_value());
}

TEST_CASE("code from the driver's cache, without figures, is compiled once more",
          "[compiler][resources]") {
  static const gpu::nvrtc::entry_points* real;
  static int compiled;
  real = &gpu::nvrtc::current_entry_points();
  compiled = 0;
  gpu::nvrtc::entry_points table = *real;
  table.version = [](int* major, int* minor) {
    *major = 12;
    *minor = 9;
    return 0;
  };
  table.compile_program = [](gpu::nvrtc::nvrtc_program program, int count,
                             const char* const* options) {
    ++compiled;
    std::vector<const char*> passed(options, options + count);
    const auto said = [&](const char* option) {
      return std::find_if(passed.begin(), passed.end(),
                          [&](const char* each) { return std::strcmp(each, option) == 0; });
    };
    // Others than the real one may not know this, but they have figures each time.
    if (const auto fresh = said("--no-cache"); fresh != passed.end()) {
      passed.erase(fresh);
    } else if (const auto figures = said("--ptxas-options=--verbose"); figures != passed.end()) {
      passed.erase(figures);
    }
    return real->compile_program(program, static_cast<int>(passed.size()), passed.data());
  };
  const gpu::nvrtc::scoped_entry_points in_force(table);
  const auto made = test::value_of(
      gpu::compile(gpu::program("template <class T> __global__ void f(T*) {}").instance("f<int>"),
                   {.architecture = gpu::architecture::sm(90)}));
  CHECK(compiled == 2);
  CHECK(made.resources().size() == 1);
  CHECK(made.resources("f<int>").has_value());
}

TEST_CASE("an NVRTC that lacks a function does everything else", "[compiler][bad-input]") {
  gpu::nvrtc::entry_points table = gpu::nvrtc::current_entry_points();
  table.get_lto_ir_size = nullptr;
  const gpu::nvrtc::scoped_entry_points in_force(table);
  const auto target = gpu::architecture::compute(90);
  CHECK(gpu::compile("__device__ int x;", {.architecture = target}).has_value());
  const gpu::cuda_error error = test::error_of(
      gpu::compile("__device__ int x;", {.architecture = target, .link_time_optimization = true}));
  CHECK(error == gpu::errc::not_supported);
  CHECK(says(error, "this NVRTC has no nvrtcGetLTOIRSize", "Install a newer CUDA toolkit"));
}

}}  // namespace library_calls_test
