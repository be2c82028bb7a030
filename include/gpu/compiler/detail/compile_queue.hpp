#pragma once
/// \file
/// `work_queue`: runs work on a few threads, which start when there is work and end when there is
/// none.

#include <gpu/system/mutex.hpp>
#include <gpu/system/no_cancellation.hpp>
#include <gpu/system/shared_library.hpp>

#include <pthread.h>
#include <unistd.h>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A piece of work; linked into a `work_queue` until a thread takes it.
struct queued_work {
  void (*run)(queued_work& work) noexcept;
  void (*destroy)(queued_work& work) noexcept;
  queued_work* next = nullptr;
  std::uint32_t forks = 0;  ///< the queue's count of forks when the work was added
  bool done = false;
};

/// Runs work on as many threads as there are processors, but at most 16. Idle threads end, so that
/// no thread has to be stopped when the process ends.
class work_queue {
 public:
  /// Queues work. If no thread can be started for it, runs it before returning.
  void add(queued_work& work) noexcept {
    pin_library_of(&run_thread);  // a thread may outlast the last work
    lock();
    work.forks = forks_;
    (last_ != nullptr ? last_->next : first_) = &work;
    last_ = &work;
    if (threads_ < thread_limit()) {
      ++threads_;
      pthread_t thread;
      if (::pthread_create(&thread, nullptr, run_thread, this) == 0) {
        ::pthread_detach(thread);
      } else if (threads_ == 1) {
        run_all();
      } else {
        --threads_;
      }
    }
    mutex_.unlock();
  }

  bool is_done(const queued_work& work) noexcept {
    lock();
    const bool done = work.done || work.forks != forks_;
    mutex_.unlock();
    return done;
  }

  /// Waits for the work. Returns false if it will never be done, because a parent process queued it
  /// and this is a forked child.
  bool wait(const queued_work& work) noexcept {
    const no_cancellation whole;
    lock();
    while (!work.done && work.forks == forks_) changed_.wait(mutex_);
    const bool done = work.done;
    mutex_.unlock();
    return done;
  }

 private:
  static long thread_limit() noexcept {
    const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > 16 ? 16 : processors;
  }

  void lock() noexcept {
    mutex_.lock();
    if (forks_ == fork_count()) return;
    forks_ = fork_count();
    first_ = last_ = nullptr;  // a forked child has none of the threads
    threads_ = 0;
  }

  static void* run_thread(void* queue) noexcept {
    auto& self = *static_cast<work_queue*>(queue);
    self.lock();
    self.run_all();
    self.mutex_.unlock();
    return nullptr;
  }

  /// Runs work until the queue is empty. The lock is held on entry and on return.
  void run_all() noexcept {
    while (first_ != nullptr) {
      queued_work* work = first_;
      first_ = work->next;
      if (first_ == nullptr) last_ = nullptr;
      mutex_.unlock();
      work->run(*work);
      lock();
      work->done = true;
      changed_.notify_all();
    }
    --threads_;
  }

  mutex mutex_;
  condition changed_;
  queued_work* first_ = nullptr;
  queued_work* last_ = nullptr;
  long threads_ = 0;
  std::uint32_t forks_ = 0;  // `fork_count` when the lock was last taken
};

/// Returns the queue of compilations. It is never destroyed, for a thread may outlive main.
inline work_queue& compile_queue() noexcept {
  static constinit work_queue queue;
  return queue;
}

}}}  // namespace gpu::v1::detail
