// Threads and processes that use one cache at once, forked children, and settings.

#include "compiler/cache_support.hpp"
#include "compiler/fork_support.hpp"
#include "support/subprocess.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/lock.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace cache_process_test { namespace {

using test::programs_in;
using test::temporary_folder;

const char* const source = "extern \"C\" __global__ void f(int* x) { *x = 1; }";

/// NVRTC with a count of its compilations.
struct counting_nvrtc {
  static std::atomic<int>& count() {
    static std::atomic<int> compilations{0};
    return compilations;
  }
  static const gpu::nvrtc::entry_points*& inner() {
    static const gpu::nvrtc::entry_points* table = nullptr;
    return table;
  }
  static int compile(gpu::nvrtc::nvrtc_program program, int size, const char* const* options) {
    ++count();
    return inner()->compile_program(program, size, options);
  }
  gpu::nvrtc::entry_points table = gpu::nvrtc::current_entry_points();
  counting_nvrtc() {
    inner() = &gpu::nvrtc::current_entry_points();
    count() = 0;
    table.compile_program = &compile;
  }
};

TEST_CASE("threads that want one program compile it once", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  counting_nvrtc counting;
  static std::atomic<int> started;
  started = 0;
  counting.table.compile_program = [](gpu::nvrtc::nvrtc_program program, int size,
                                      const char* const* arguments) {
    while (started < 8) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // one at least comes to wait
    return counting_nvrtc::compile(program, size, arguments);
  };
  const gpu::nvrtc::scoped_entry_points in_force(counting.table);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      ++started;
      const auto made = gpu::compile(source, options);
      if (made.has_value() && made->cubin().size() > 64) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 8);
  CHECK(counting_nvrtc::count() == 1);
  CHECK(cache.counters().compiled == 1);
  CHECK(cache.counters().from_memory == 7);
  CHECK(cache.counters().waited > 0);
  CHECK(cache.counters().waited <= 7);
}

TEST_CASE("threads that want one program with a mistake all hear of it", "[compiler][cache]") {
  gpu::compile_cache cache({.use = gpu::cache_use::memory});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto made = gpu::compile("nonsense", options);
      if (!made.has_value() && made.error() == gpu::errc::compile_failed) ++failed;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 4);
}

TEST_CASE("nothing waits for the compilation of another program", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder.path()});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  REQUIRE(gpu::compile(source, options).has_value());
  // While this process holds the advice for one program, as if it were compiling it.
  gpu::text trouble;
  const auto open =
      gpu::detail::cache_folder::open(gpu::text(folder.path().c_str()), true, trouble);
  const gpu::detail::cache_lock held(open, gpu::detail::digest_of("another program"));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(test::origin_of(folder.path(), "__device__ int y;") ==
        "compiled: it was not compiled before");
  // One that waits does so for a minute.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
}

TEST_CASE("a child that was forked during a compilation holds nobody up", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::text trouble;
  const auto open =
      gpu::detail::cache_folder::open(gpu::text(folder.path().c_str()), true, trouble);
  const gpu::detail::digest key = gpu::detail::digest_of("a program");
  pid_t child = -1;
  {
    const gpu::detail::cache_lock held(open, key);
    CHECK_FALSE(held.waited());
    child = ::fork();
    if (child == 0) {  // has the lock's file, too
      for (;;) ::pause();
    }
  }
  const gpu::detail::cache_lock next(open, key);  // after a minute, if it had to wait
  CHECK_FALSE(next.waited());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("what was wrong with a stored program is told by who had to wait, too",
          "[compiler][cache]") {
  const temporary_folder folder;
  test::compile_fresh(folder.path(), source);
  const std::string path = folder / programs_in(folder.path()).at(0);
  const std::string whole = test::read_file(path);
  gpu::detail::entry_kind kind{};
  gpu::detail::digest key;
  gpu::string_ref contents;
  REQUIRE(gpu::detail::read_seal(whole, kind, key, contents));
  test::write_file(path, whole.substr(0, 100));
  gpu::text trouble;
  const auto open =
      gpu::detail::cache_folder::open(gpu::text(folder.path().c_str()), true, trouble);
  std::atomic<bool> held{false};
  std::thread other([&] {  // as a process that is at work on the same program, and fails
    const gpu::detail::cache_lock lock(open, key);
    held = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  });
  while (!held) std::this_thread::yield();
  CHECK(test::origin_of(folder.path(), source) == "compiled: the stored program was damaged");
  other.join();
}

TEST_CASE("child: compiles one program through the cache", "[.child]") {
  const char* folder = std::getenv("CACHE_TEST_FOLDER");
  REQUIRE(folder != nullptr);
  const gpu::compiled_program made = test::compile_fresh(folder, source);
  CHECK(made.cubin().size() > 64);
  std::printf("[%s]", made.origin().message().c_str());
}

TEST_CASE("16 processes that start on an empty cache compile once", "[compiler][cache]") {
  const temporary_folder root;
  const std::string folder = root / "cache";
  std::vector<std::thread> threads;
  std::vector<test::program_outcome> outcomes(16);
  for (auto& outcome : outcomes) {
    threads.emplace_back([&] {
      outcome = test::run_child("child: compiles one program through the cache",
                                {{"CACHE_TEST_FOLDER", folder}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  int compiled = 0, from_disk = 0;
  for (const auto& outcome : outcomes) {
    INFO(outcome.output);
    CHECK(outcome.succeeded());
    if (outcome.output.find("[compiled") != std::string::npos) ++compiled;
    if (outcome.output.find("[from disk") != std::string::npos) ++from_disk;
  }
  CHECK(compiled == 1);
  CHECK(from_disk == 15);
  CHECK(programs_in(folder).size() == 1);
}

TEST_CASE("child: forks while another thread compiles", "[.child]") {
  const char* folder = std::getenv("CACHE_TEST_FOLDER");
  REQUIRE(folder != nullptr);
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  REQUIRE(gpu::compile(source, options).has_value());
  std::atomic<bool> stop{false};
  // Threads that hold the cache's locks most of the time.
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const bool right = gpu::compile(source, options).has_value();
        if (!right) std::abort();
        cache.forget();
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      // NVRTC is the parent's: a child that has to compile could wait for its locks.
      const auto found = gpu::compile(source, options);
      ::_exit(found.has_value() && found->origin().kind != gpu::origin_kind::compiled &&
                      found->cubin().size() > 64
                  ? 0
                  : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("a forked child goes on with the cache", "[compiler][cache]") {
  if (!test::malloc_survives_fork) {
    WARN("skipped: this address sanitizer's malloc may stay locked for ever in a forked child");
    return;
  }
  const temporary_folder folder;
  const test::program_outcome outcome = test::run_child(
      "child: forks while another thread compiles", {{"CACHE_TEST_FOLDER", folder.path()}});
  INFO(outcome.output);
  CHECK(outcome.succeeded());
}

/// Sets a variable of the environment for a scope; null takes it away.
class environment_variable {
 public:
  environment_variable(const char* name, const char* value) : name_{name} {
    if (const char* old = std::getenv(name)) {
      before_ = old;
      was_set_ = true;
    }
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  environment_variable(const environment_variable&) = delete;
  environment_variable& operator=(const environment_variable&) = delete;
  ~environment_variable() { was_set_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};

TEST_CASE("the environment says where the cache is", "[compiler][cache]") {
  const environment_variable on("GPU_CACHE", nullptr), no_size("GPU_CACHE_SIZE", nullptr);
  const auto folder = [](const char* own, const char* xdg, const char* home) {
    const environment_variable first("GPU_CACHE_DIR", own), second("XDG_CACHE_HOME", xdg),
        third("HOME", home);
    return gpu::compile_cache();
  };
  const auto folder_of = [&](const char* own, const char* xdg, const char* home) {
    return std::string(folder(own, xdg, home).folder().c_str());
  };
  CHECK(folder_of("/own", "/xdg", "/home/me") == "/own");
  CHECK(folder_of(nullptr, "/xdg", "/home/me") == "/xdg/gpu");
  CHECK(folder_of("", "", "/home/me") == "/home/me/.cache/gpu");
  CHECK(folder_of(nullptr, "relative", "/home/me") == "/home/me/.cache/gpu");
  const environment_variable first("XDG_CACHE_HOME", nullptr), second("HOME", nullptr);
  {
    const environment_variable none("GPU_CACHE_DIR", nullptr);
    const gpu::compile_cache cache;
    CHECK(cache.use() == gpu::cache_use::memory);
    CHECK(cache.trouble().contains("Set GPU_CACHE_DIR"));
  }
  {
    const environment_variable relative("GPU_CACHE_DIR", "here");
    const gpu::compile_cache cache;
    CHECK(cache.use() == gpu::cache_use::memory);
    CHECK(cache.trouble().contains("GPU_CACHE_DIR is \"here\", a relative path"));
  }
  const gpu::compile_cache in_code({.folder = "here"});
  CHECK(in_code.trouble().contains("the folder given in code is \"here\""));
}

TEST_CASE("the environment says how the cache is used and how large it is", "[compiler][cache]") {
  const environment_variable where("GPU_CACHE_DIR", "/tmp/gpu_cache_nowhere");
  const auto use_of = [](const char* value) {
    const environment_variable set("GPU_CACHE", value);
    return gpu::compile_cache().use();
  };
  CHECK(use_of("off") == gpu::cache_use::off);
  CHECK(use_of("memory") == gpu::cache_use::memory);
  CHECK(use_of("on") == gpu::cache_use::disk);
  CHECK(use_of(nullptr) == gpu::cache_use::disk);
  {
    const environment_variable set("GPU_CACHE", "yes please");
    CHECK(gpu::compile_cache().use() == gpu::cache_use::disk);
    CHECK(gpu::compile_cache().trouble().contains("yes please"));
    CHECK(gpu::compile_cache({.use = gpu::cache_use::memory}).trouble().empty());
  }
  const environment_variable on("GPU_CACHE", nullptr);
  const auto limit_of = [](const char* value) {
    const environment_variable set("GPU_CACHE_SIZE", value);
    return gpu::compile_cache().folder_limit();
  };
  CHECK(limit_of(nullptr) == 512u << 20);
  CHECK(limit_of("1234567890") == 1234567890);
  CHECK(limit_of("100K") == 102400);
  CHECK(limit_of("3m") == 3u << 20);
  CHECK(limit_of("2G") == std::uint64_t{2} << 30);
  for (const char* wrong : {"x", "-1", "1.5G", "12KB", "99999999999999999999", "20000000000G"}) {
    INFO(wrong);
    CHECK(limit_of(wrong) == 512u << 20);
    const environment_variable set("GPU_CACHE_SIZE", wrong);
    CHECK(gpu::compile_cache().trouble().contains(wrong));
  }
  CHECK(gpu::compile_cache({.folder_limit = 1000}).folder_limit() == 1000);
}

TEST_CASE("the cache can be set up anew", "[compiler][cache]") {
  const temporary_folder folder;
  gpu::compile_cache cache({.use = gpu::cache_use::off});
  const gpu::compile_options options{.architecture = gpu::architecture::sm(90), .cache = &cache};
  REQUIRE(gpu::compile(source, options).has_value());
  cache.configure({.use = gpu::cache_use::disk, .folder = folder.path()});
  CHECK(gpu::compile(source, options)->origin().not_stored.empty());
  CHECK(programs_in(folder.path()).size() == 1);
  cache.configure({.use = gpu::cache_use::memory});
  const gpu::compiled_program made = gpu::compile(source, options).value();
  CHECK(made.origin().kind == gpu::origin_kind::compiled);
  CHECK(made.origin().not_stored == "the cache is set to memory only");
}

}}  // namespace cache_process_test
