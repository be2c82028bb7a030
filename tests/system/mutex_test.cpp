// Locks, and processes that fork while another thread has one.

#include <gpu/system/mutex.hpp>

#include "compiler/fork_support.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

namespace mutex_test {
namespace {

using gpu::detail::mutex;
using gpu::detail::scoped_lock;

/// Has a thread hold a mutex while it lives.
class other_thread {
 public:
  explicit other_thread(mutex& wanted)
      : thread_([this, &wanted] {
          const scoped_lock lock(wanted);
          held_ = true;
          while (!stop_) std::this_thread::yield();
        }) {
    while (!held_) std::this_thread::yield();
  }
  ~other_thread() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> held_{false}, stop_{false};
  std::thread thread_;
};

/// Returns whether a second thread has to wait for `locked`.
bool keeps_out(mutex& locked, bool in_child = false) {
  if (in_child && !test::threads_start_after_fork) return true;
  std::atomic<bool> entered{false};
  std::optional<scoped_lock> here(std::in_place, locked);
  std::thread other([&] {
    const scoped_lock there(locked);
    entered = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const bool waited = !entered;
  here.reset();
  other.join();
  return waited && entered;
}

}  // namespace

TEST_CASE("a mutex of zeros is an unlocked one", "[driver][system][threads]") {
  alignas(mutex) unsigned char zeros[sizeof(mutex)] = {};
  const mutex unlocked;
  CHECK(std::memcmp(zeros, &unlocked, sizeof zeros) == 0);

  mutex shared;
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < 10000; ++i) {
      const scoped_lock lock(shared);
      ++count;
    }
  };
  std::thread second(add), third(add);
  add();
  second.join();
  third.join();
  CHECK(count == 30000);
  CHECK(keeps_out(shared));
}

TEST_CASE("a condition lets a thread wait for another", "[driver][system][threads]") {
  mutex shared;
  gpu::detail::condition changed;
  int turn = 0;
  const auto play = [&](int mine) {
    for (int i = 0; i < 1000; ++i) {
      const scoped_lock lock(shared);
      while (turn != mine) changed.wait(shared);
      turn = 1 - mine;
      changed.notify_all();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  CHECK(turn == 0);
}

TEST_CASE("a lock that a thread of the parent held is taken over in the child",
          "[compiler][threads]") {
  mutex held;
  {
    const other_thread holder(held);
    CHECK(test::exit_code_of_child([&] {
            if (held.lock()) return 1;
            held.unlock();
            if (!held.lock()) return 2;
            held.unlock();
            return keeps_out(held, true) ? 0 : 3;
          }) == 0);
  }
  CHECK(held.lock());
  held.unlock();
}

TEST_CASE("a scope finds a lock that was taken over until what it protects is repaired",
          "[memory][caching][threads]") {
  mutex held, free;
  const other_thread holder(held);
  CHECK(test::exit_code_of_child([&] {
          for (int i = 0; i < 2; ++i) {
            if (const scoped_lock lock(held); lock) return 1;
            if (const scoped_lock lock(free); !lock) return 2;
            if (!keeps_out(free, true)) return 3;
            if (!keeps_out(held, true)) return 4;
          }
          {
            scoped_lock lock(held);
            lock.repaired();
          }
          if (const scoped_lock lock(held); !lock) return 5;
          return keeps_out(held, true) ? 0 : 6;
        }) == 0);
}

TEST_CASE("forks are counted in the child alone", "[driver][system]") {
  const std::uint32_t before = gpu::detail::fork_count();
  CHECK(test::exit_code_of_child([&] { return gpu::detail::fork_count() > before ? 0 : 1; }) == 0);
  CHECK(gpu::detail::fork_count() == before);
}

}  // namespace mutex_test
