// The threads that execute blocks.
#pragma once

#include <nogpu/machine/host_limits.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace machine {

/// A fixed number of threads that help the caller of `run`. With one thread, everything happens in
/// the calling thread. The helpers start with the first `run` that needs them, and the destructor
/// joins them. If the system has fewer threads, fewer help. Threads: `run` may be called from
/// several threads at once.
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
    for (host_thread& helper : helpers_) helper.join();
  }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  unsigned threads() const noexcept { return threads_; }

  /// Calls `work` in this thread and in up to `wanted - 1` helpers, and returns when all calls that
  /// began have returned. A call that begins late must find that nothing is left to do. An
  /// exception of any of these calls is thrown here, once the others have returned.
  void run(unsigned wanted, const std::function<void()>& work) {
    const unsigned extra = (wanted < threads_ ? wanted : threads_) - 1;
    if (wanted <= 1 || extra == 0) return work();
    const auto task = std::make_shared<shared_task>();
    {
      const std::lock_guard lock(mutex_);
      start_helpers();
      for (unsigned i = 0; i < extra; ++i) queue_.push_back(task);
      task->work = &work;
    }
    wake_.notify_all();
    {
      const task_end end{*this, *task};
      work();
    }
    if (task->failure) std::rethrow_exception(task->failure);
  }

 private:
  struct shared_task {
    const std::function<void()>* work = nullptr;
    unsigned active = 0;
    std::condition_variable done;
    std::exception_ptr failure;  // of a helper
  };

  /// Waits for the helpers, however the call in the thread that they help ends.
  struct task_end {
    thread_pool& pool;
    shared_task& task;
    ~task_end() {
      std::unique_lock lock(pool.mutex_);
      task.work = nullptr;  // helpers that have not begun by now need not
      task.done.wait(lock, [this] { return task.active == 0; });
    }
  };

  void start_helpers() {
    helpers_.reserve(threads_);
    while (helpers_.size() + 1 < threads_) {
      host_thread helper;
      if (!helper.start([this] { serve(); })) return;
      helpers_.push_back(std::move(helper));
    }
  }

  /// Calls `work`. Returns the exception that it threw.
  static std::exception_ptr failure_of(const std::function<void()>& work) {
#if defined(__cpp_exceptions)
    try {
      work();
    } catch (...) {
      return std::current_exception();
    }
#else
    work();
#endif
    return nullptr;
  }

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
      std::exception_ptr failure = failure_of(*work);
      lock.lock();
      if (failure && !task->failure) task->failure = std::move(failure);
      if (--task->active == 0) task->done.notify_all();
    }
  }

  const unsigned threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<shared_task>> queue_;
  std::vector<host_thread> helpers_;
  bool ending_ = false;
};

}}}  // namespace nogpu::v1::machine
