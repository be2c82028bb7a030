// The caching allocators in a forked child, where another thread of the parent was at the driver.

#include "support/results.hpp"
#include "support/subprocess.hpp"

#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace caching_fork_test {

using gpu::caching_allocator;
using gpu::caching_pinned_allocator;
using gpu::device_buffer;
using gpu::pinned_buffer;
using test::error_of;
using test::value_of;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Keeps who calls one function of the driver there while it is `closed`.
template <auto Member> class gate;
template <class... Arguments, CUresult (*gpu::driver::entry_points::*Member)(Arguments...)>
class gate<Member> {
 public:
  gate() : in_force_{prepare(table_)} {}

  /// Does `work()` in a thread of its own, and `meanwhile()` once that is in the driver.
  template <class Work, class Meanwhile> void hold(Work work, Meanwhile meanwhile) {
    inside = false;
    closed = true;
    std::thread worker(work);
    while (!inside) std::this_thread::yield();
    meanwhile();
    closed = false;
    worker.join();
  }

 private:
  static const gpu::driver::entry_points& prepare(gpu::driver::entry_points& table) {
    table = gpu::driver::current_entry_points();
    real = table.*Member;
    table.*Member = [](Arguments... arguments) {
      inside = true;
      while (closed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return real(arguments...);
    };
    return table;
  }

  inline static CUresult (*real)(Arguments...) = nullptr;
  inline static std::atomic<bool> closed = false, inside = false;

  gpu::driver::entry_points table_{};
  gpu::driver::scoped_entry_points in_force_;
};

/// The exit code of a forked child that does `work`, or -1 where it did not come to an end.
template <class Work> int in_forked_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(work());
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

template <class T> bool tells_of_fork(const gpu::result<T>& outcome) {
  return !outcome.has_value() && outcome.error() == gpu::errc::process_forked;
}

void check_child(const char* name) {
  const test::program_outcome outcome = test::run_child(name);
  INFO(outcome.output);
  CHECK(outcome.succeeded());
  CHECK(outcome.output.find("\ngpu: ") == std::string::npos);
}

}  // namespace

TEST_CASE("caching_allocator: child that forks while a thread asks the driver", "[.child]") {
  gate<&gpu::driver::entry_points::mem_alloc> driver;
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  std::optional<caching_allocator> cache(value_of(caching_allocator::create(device)));
  const auto take = [&](const gpu::stream& on) {
    return std::optional<device_buffer<char>>(value_of(cache->allocate<char>(on, 2 * mebibyte)));
  };
  auto first = take(one), second = take(one), third = take(one);
  third.reset();
  auto last = take(two);  // has the other stream share when it next frees something
  std::optional<gpu::result<device_buffer<char>>> made;
  driver.hold([&] { made.emplace(cache->allocate<char>(two, 8 * mebibyte)); },
              [&] {
                CHECK(in_forked_child([&] {
                        first.reset();
                        if (cache->trim() != 0) return 1;
                        if (cache->statistics().segments != 0) return 2;
                        if (!tells_of_fork(cache->allocate<char>(one, 8 * mebibyte))) return 3;
                        if (!tells_of_fork(cache->hand_over(one))) return 4;
                        cache->stop_holding();
                        second.reset();
                        cache.reset();
                        last.reset();
                        return 0;
                      }) == 0);
              });
  REQUIRE(made.has_value());
  CHECK(made->has_value());
  CHECK(cache->statistics().segments == 5);
}

TEST_CASE("caching_pinned_allocator: child that forks while a thread asks the driver", "[.child]") {
  gate<&gpu::driver::entry_points::event_query> driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  std::optional<caching_pinned_allocator> cache(value_of(caching_pinned_allocator::create(device)));
  auto first = value_of(cache->allocate<char>(2 * mebibyte));
  std::optional<pinned_buffer<char>> last(value_of(cache->allocate<char>(2 * mebibyte)));
  REQUIRE(cache->free_after(stream, std::move(first)).has_value());
  std::optional<gpu::result<pinned_buffer<char>>> made;
  driver.hold([&] { made.emplace(cache->allocate<char>(2 * mebibyte)); },
              [&] {
                CHECK(in_forked_child([&] {
                        if (cache->trim() != 0) return 1;
                        if (cache->statistics().segments != 0) return 2;
                        if (!tells_of_fork(cache->allocate<char>(2 * mebibyte))) return 3;
                        if (!tells_of_fork(cache->free_after(stream, *std::move(last)))) return 4;
                        cache->stop_holding();
                        cache.reset();
                        last.reset();
                        return 0;
                      }) == 0);
              });
  REQUIRE(made.has_value());
  CHECK(made->has_value());
}

TEST_CASE("caching_allocator: a forked child does not wait for a thread of its parent",
          "[memory][caching]") {
  check_child("caching_allocator: child that forks while a thread asks the driver");
}

TEST_CASE("caching_pinned_allocator: a forked child does not wait for a thread of its parent",
          "[memory][caching]") {
  check_child("caching_pinned_allocator: child that forks while a thread asks the driver");
}

}  // namespace caching_fork_test
