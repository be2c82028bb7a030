// A lock whose process forks while another thread has it.

#include <gpu/system/fork_mutex.hpp>

#include "compiler/fork_support.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <thread>

namespace fork_mutex_test {
namespace {

TEST_CASE("a lock that a thread of the parent held is free in the child, once told",
          "[compiler][threads]") {
  gpu::detail::fork_mutex mutex;
  CHECK_FALSE(mutex.lock());
  mutex.unlock();
  std::atomic<bool> held{false}, stop{false};
  std::thread other([&] {
    mutex.lock();
    held = true;
    while (!stop) std::this_thread::yield();
    mutex.unlock();
  });
  while (!held) std::this_thread::yield();
  CHECK(test::exit_code_of_child([&] {
          for (const bool first : {true, false}) {
            if (mutex.lock() != first) return 1;
            mutex.unlock();
          }
          return 0;
        }) == 0);
  stop = true;
  other.join();
  CHECK_FALSE(mutex.lock());
  mutex.unlock();
}

}  // namespace
}  // namespace fork_mutex_test
