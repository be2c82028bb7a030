// The threads that execute blocks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace gpu::testing::machine {

/// A fixed number of threads that help whoever calls `run`. With one thread, everything happens in
/// the calling thread. The helpers start with the first `run` that wants them and are joined by the
/// destructor.
/// Threads: `run` may be called from several threads at once.
class thread_pool {
 public:
  /// `threads` counts the calling thread; 0 = as many as the machine has.
  explicit thread_pool(unsigned threads = 0)
      : threads_{threads != 0 ? threads : hardware_threads()} {}
  ~thread_pool() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  unsigned threads() const noexcept { return threads_; }

  /// Calls `work` in this thread and in up to `wanted - 1` helpers, and returns when all calls that
  /// began have returned. A call that begins late must find that nothing is left to do.
  void run(unsigned wanted, const std::function<void()>& work) {
    const unsigned extra = (wanted < threads_ ? wanted : threads_) - 1;
    if (wanted <= 1 || extra == 0) return work();
    const auto task = std::make_shared<shared_task>();
    task->work = &work;
    {
      const std::lock_guard lock(mutex_);
      while (helpers_.size() + 1 < threads_) helpers_.emplace_back([this] { serve(); });
      for (unsigned i = 0; i < extra; ++i) queue_.push_back(task);
    }
    wake_.notify_all();
    work();
    std::unique_lock lock(mutex_);
    task->work = nullptr;  // helpers that have not begun by now need not
    task->done.wait(lock, [&] { return task->active == 0; });
  }

 private:
  struct shared_task {
    const std::function<void()>* work = nullptr;
    unsigned active = 0;
    std::condition_variable done;
  };

  static unsigned hardware_threads() {
    const unsigned n = std::thread::hardware_concurrency();
    return n == 0 ? 1 : n;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      if (ending_) return;
      const std::shared_ptr<shared_task> task = std::move(queue_.front());
      queue_.pop_front();
      const std::function<void()>* work = task->work;
      if (work == nullptr) continue;
      ++task->active;
      lock.unlock();
      (*work)();
      lock.lock();
      if (--task->active == 0) task->done.notify_all();
    }
  }

  const unsigned threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<shared_task>> queue_;
  std::vector<std::thread> helpers_;
  bool ending_ = false;
};

}  // namespace gpu::testing::machine
