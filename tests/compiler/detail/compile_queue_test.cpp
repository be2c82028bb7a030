// Work for threads, in a process that forks.

#include <gpu/compiler/detail/compile_queue.hpp>

#include "compiler/fork_support.hpp"
#include "support/catch.hpp"

#include <unistd.h>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace compile_queue_test { namespace {

/// Work that counts itself and goes on until it may end.
struct held_work : gpu::detail::queued_work {
  static inline std::atomic<int> begun{0};
  static inline std::atomic<bool> open{false};

  held_work()
      : queued_work{[](queued_work&) noexcept {
                      ++begun;
                      while (!open) std::this_thread::yield();
                    },
                    [](queued_work&) noexcept {}} {}
};

TEST_CASE("a queue whose threads are all at work is empty in a forked child",
          "[compiler][threads]") {
  gpu::detail::work_queue queue;
  held_work::begun = 0;
  held_work::open = false;
  const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  const int threads = static_cast<int>(processors > 16 ? 16 : processors);
  std::vector<held_work> works(static_cast<std::size_t>(threads) + 1);  // one has to wait
  for (held_work& work : works) queue.add(work);
  while (held_work::begun < threads) std::this_thread::yield();
  if (test::threads_start_after_fork) {
    static held_work own;
    CHECK(test::exit_code_of_child([&] {
            held_work::begun = 0;
            held_work::open = true;
            if (!queue.is_done(works.back()) || queue.wait(works.back())) return 1;
            queue.add(own);
            if (!queue.wait(own)) return 2;
            return held_work::begun == 1 ? 0 : 3;  // what the parent has to do is left to it
          }) == 0);
  }
  CHECK_FALSE(queue.is_done(works.back()));
  held_work::open = true;
  for (held_work& work : works) CHECK(queue.wait(work));
  CHECK(held_work::begun == threads + 1);
}

}}  // namespace compile_queue_test
