#pragma once
/// \file
/// The scheduler of queued work: queues, dependencies, and the threads that run the work.

#include <nogpu/machine/host_limits.hpp>

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

struct work_queue;

/// Host memory that queued work will read.
struct host_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// One piece of work in a queue. All members belong to the driver's lock.
struct kernel_launch;

struct operation {
  enum class progress : std::uint8_t { waiting, running, done };

  std::function<void()>
      work;  // run without the lock; empty: only its position in the order matters
  /// Called with the lock once all work before it is done, and again until it returns true; then
  /// `work` runs. If empty, `work` runs at once.
  std::function<bool()> proceed;
  std::function<void()> give_up;      // run without the lock if nothing makes `proceed` return true
  std::shared_ptr<work_queue> queue;  // until it is done
  std::vector<std::shared_ptr<operation>> after;  // of other queues, until it is done
  std::vector<host_range> reads;                  // host memory
  bool reads_any_host_memory = false;             // a host function, say
  bool reads_mapped_host_memory = false;          // a kernel
  /// The type of the graph node for this work (a CUgraphNodeType); -1: a capture refuses it.
  int node_type = -1;
  std::shared_ptr<kernel_launch> kernel;  // of a kernel
  std::shared_ptr<std::atomic<int>>
      fault;            // of its context, for work for which the host lacks memory
  bool wanted = false;  // a thread waits for it
  bool listed = false;  // in the list of operations to mark as wanted
  operation* next_listed = nullptr;
  progress state = progress::waiting;
  std::chrono::steady_clock::time_point finished{};

  /// Marks an operation that was not queued as done, so that no thread waits for it.
  void drop() noexcept {
    if (!queue) state = progress::done;
  }
};

using operation_ptr = std::shared_ptr<operation>;
using driver_lock = std::unique_lock<std::mutex>;

/// Work in order of arrival. Its members belong to the driver's lock.
struct work_queue {
  std::deque<operation_ptr> pending;  // the first may be running
  bool closed = false;                // no more will come
  bool has_thread = false;
  bool known = false;  // to the scheduler

  operation_ptr last() const { return pending.empty() ? nullptr : pending.back(); }
};

/// Runs the work of all queues of one driver. Threads: every member is called with the driver's
/// lock held, which is given up while work runs.
class scheduler {
 public:
  /// `patience`: how long a call waits for work that does not proceed while nothing else is done.
  scheduler(std::mutex& mutex, bool deferred, bool threads, std::chrono::milliseconds patience)
      : mutex_{mutex}, deferred_{deferred}, threads_{threads}, patience_{patience} {}
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  bool deferred() const noexcept { return deferred_; }

  /// Puts work at the end of a queue, to be done after what precedes it and `what->after`. False
  /// where the queue needs a thread and the system has none.
  bool enqueue(const std::shared_ptr<work_queue>& queue, const operation_ptr& what,
               driver_lock& lock) {
    if (threads_ && !queue->has_thread && !start_thread(queue)) return false;
    if (!queue->known) {
      std::erase_if(queues_, [](const auto& each) { return each.expired(); });
      queues_.push_back(queue);
      queue->known = true;
    }
    queue->pending.push_back(what);
    what->queue = queue;
    if (what->proceed) some_may_wait_ = true;
    if (deferred_) return true;
    what->wanted = true;
    if (threads_) {
      changed_.notify_all();
      return true;
    }
    advance(what, lock);
    // Work that could not proceed may have waited for the work that is done now.
    while (some_may_wait_ && do_any(lock)) {
    }
    return true;
  }

  /// Runs as much as possible now of the work and of the work before it.
  void advance(const operation_ptr& what, driver_lock& lock) {
    if (threads_) return want(what);
    while (what->state != operation::progress::done) {
      const step next = step_towards(what);
      if (next.held_up) return;
      take(next, lock);
    }
  }

  /// Returns when no work is running. Work that has not begun waits until the lock is released.
  void rest(driver_lock& lock) {
    changed_.wait(lock, [this] { return running_ == 0; });
  }

  /// Returns when the work is done, at once for null.
  void finish(const operation_ptr& what, driver_lock& lock) {
    if (!what) return;
    if (threads_) want(what);
    auto since = std::chrono::steady_clock::now();
    while (what->state != operation::progress::done) {
      const step next = step_towards(what);
      if (!next.held_up) {
        take(next, lock);
      } else if (threads_ || !do_any(lock)) {
        if (threads_) want_everything();  // it may wait for any of it
        since = std::max(since, last_done_);
        if (running_ == 0 && std::chrono::steady_clock::now() - since >= patience_) {
          give_up(*next.held_up, lock);
        } else {
          changed_.wait_for(lock, polling);
        }
      }
    }
  }

  /// Does the work that is queued by now, until the time is up. Returns whether all of it is done.
  bool finish_until(std::chrono::steady_clock::time_point end, driver_lock& lock) {
    std::vector<operation_ptr> last;
    for (const auto& each : queues_) {
      const std::shared_ptr<work_queue> queue = each.lock();
      if (queue && queue->last()) last.push_back(queue->last());
    }
    for (const operation_ptr& what : last) {
      if (threads_) want(what);
      while (what->state != operation::progress::done) {
        if (std::chrono::steady_clock::now() >= end) return false;
        const step next = step_towards(what);
        if (next.work && !threads_) {
          execute(next.work, lock);
        } else if (threads_ || !next.held_up || !do_any(lock)) {
          changed_.wait_for(lock, polling);
        }
      }
    }
    return true;
  }

  /// Returns whether the work is done. If not, it takes one step toward it, so that a program that
  /// polls makes progress.
  bool poll(const operation_ptr& what, driver_lock& lock) {
    if (!what || what->state == operation::progress::done) return true;
    if (threads_) {
      want(what);
      if (step_towards(what).held_up) want_everything();  // it may wait for any of it
    } else if (const step next = step_towards(what); next.work) {
      execute(next.work, lock);
    } else if (next.held_up) {
      do_any(lock);
    }
    return false;
  }

  /// Closes a queue to new work; the work in it is still done.
  void close(work_queue& queue) {
    queue.closed = true;
    changed_.notify_all();
  }

  /// Ends all threads; work that has not begun is dropped. Without the lock.
  void stop() {
    std::vector<worker> workers;
    {
      const driver_lock lock(mutex_);
      stopping_ = true;
      workers.swap(workers_);
    }
    changed_.notify_all();
    for (worker& each : workers) each.thread.join();
  }

 private:
  struct worker {
    machine::host_thread thread;
    std::shared_ptr<bool> ended;  // belongs to the driver's lock
  };

  /// Returns the next step toward some work: other work that can run now, or that waits only for
  /// `proceed`. Empty if another thread is doing it.
  struct step {
    operation_ptr work;
    operation_ptr held_up;
  };

  static bool proceeds(operation& what) {
    if (!what.proceed) return true;
    if (!what.proceed()) return false;
    what.proceed = nullptr;
    return true;
  }

  static bool ready(operation& what) {
    for (const operation_ptr& each : what.after)
      if (each->state != operation::progress::done) return false;
    return proceeds(what);
  }

  static step step_towards(const operation_ptr& what) {
    operation_ptr next = what;
    for (;;) {
      next = next->queue->pending.front();
      if (next->state == operation::progress::running) return {};
      operation_ptr blocker;
      for (const operation_ptr& each : next->after)
        if (each->state != operation::progress::done) blocker = each;
      if (!blocker) return proceeds(*next) ? step{next, nullptr} : step{nullptr, next};
      next = std::move(blocker);
    }
  }

  /// Runs a step that can proceed, or waits for the thread that runs it.
  void take(const step& next, driver_lock& lock) {
    if (next.work && !threads_) {
      execute(next.work, lock);
    } else {
      changed_.wait(lock);
    }
  }

  /// Runs one piece of work of any queue. Returns false if none can run.
  bool do_any(driver_lock& lock) {
    for (const auto& each : queues_) {
      const std::shared_ptr<work_queue> queue = each.lock();
      if (!queue || queue->pending.empty()) continue;
      const operation_ptr next = queue->pending.front();
      if (next->state != operation::progress::waiting || !ready(*next)) continue;
      execute(next, lock);
      return true;
    }
    return false;
  }

  void give_up(operation& what, driver_lock& lock) {
    const auto tell = std::exchange(what.give_up, nullptr);
    lock.unlock();
    if (tell) tell();
    lock.lock();
    what.proceed = nullptr;
    changed_.notify_all();
  }

  void execute(operation_ptr what, driver_lock& lock) {
    what->state = operation::progress::running;
    auto work = std::move(what->work);
    what->work = nullptr;
    what->give_up = nullptr;
    ++running_;
    lock.unlock();
    const bool done = !work || machine::within_memory(work);
    work = nullptr;  // destroys what the work kept alive, which may take long
    lock.lock();
    int none = 0;
    if (!done && what->fault)
      what->fault->compare_exchange_strong(none, int{CUDA_ERROR_OUT_OF_MEMORY});
    --running_;
    what->state = operation::progress::done;
    what->finished = last_done_ = std::chrono::steady_clock::now();
    what->after.clear();
    what->queue->pending.pop_front();
    what->queue.reset();
    changed_.notify_all();
  }

  /// Marks the work and everything that it waits for. Allocates nothing, so it cannot fail halfway.
  void want(const operation_ptr& what) {
    operation* open = nullptr;
    const auto list = [&open](operation& each) {
      if (each.listed || each.wanted || each.state == operation::progress::done) return;
      each.listed = true;
      each.next_listed = std::exchange(open, &each);
    };
    list(*what);
    while (open != nullptr) {
      operation& next = *std::exchange(open, open->next_listed);
      next.listed = false;
      for (const operation_ptr& each : next.queue->pending) {
        if (!std::exchange(each->wanted, true))
          for (const operation_ptr& before : each->after) list(*before);
        if (each.get() == &next) break;
      }
    }
    changed_.notify_all();
  }

  void want_everything() {
    bool news = false;
    for (const auto& each : queues_) {
      const std::shared_ptr<work_queue> queue = each.lock();
      if (!queue || queue->pending.empty() || queue->pending.back()->wanted) continue;
      for (const operation_ptr& what : queue->pending) what->wanted = true;
      news = true;
    }
    if (news) changed_.notify_all();
  }

  bool start_thread(const std::shared_ptr<work_queue>& queue) {
    for (std::size_t i = 0; i < workers_.size();) {
      if (*workers_[i].ended) {
        workers_[i].thread.join();  // it has released the lock and will not take it again
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    auto ended = std::make_shared<bool>(false);
    workers_.reserve(workers_.size() + 1);
    machine::host_thread thread;
    queue->has_thread = thread.start([this, queue, ended] { serve(queue, *ended); });
    if (queue->has_thread) workers_.push_back({std::move(thread), std::move(ended)});
    return queue->has_thread;
  }

  void serve(std::shared_ptr<work_queue> queue, bool& ended) {
    driver_lock lock(mutex_);
    while (!stopping_ && !(queue->closed && queue->pending.empty())) {
      const operation_ptr next = queue->last() ? queue->pending.front() : nullptr;
      if (next && next->wanted && ready(*next)) {
        execute(next, lock);
      } else if (next && next->wanted && next->proceed) {
        changed_.wait_for(lock, polling);  // writes of the host cannot be observed
      } else {
        changed_.wait(lock);
      }
    }
    ended = true;
  }

  static constexpr std::chrono::milliseconds polling{1};

  std::mutex& mutex_;
  std::condition_variable changed_;
  std::vector<worker> workers_;
  std::vector<std::weak_ptr<work_queue>> queues_;
  const bool deferred_;
  const bool threads_;
  const std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point last_done_{};
  unsigned running_ = 0;
  bool some_may_wait_ = false;
  bool stopping_ = false;
};

}}}  // namespace nogpu::v1::driver
