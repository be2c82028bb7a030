#pragma once
/// \file
/// `fork_mutex`: a lock that a forked child can take although a thread of its parent held it.

#include <gpu/system/operating_system.hpp>

#include <pthread.h>

namespace gpu::inline v0::detail {

/// Grows in each forked child.
inline std::uint64_t& fork_count() noexcept {
  static std::uint64_t count = 0;
  return count;
}
inline void count_fork() noexcept { ++fork_count(); }

/// Has forks counted from now on; twice each if two threads call this first, which is harmless.
inline void watch_forks() noexcept {
  static bool watched = false;
  if (__atomic_load_n(&watched, __ATOMIC_ACQUIRE)) return;
  pin_library_of(&count_fork);
  on_fork_in_child(&count_fork);
  __atomic_store_n(&watched, true, __ATOMIC_RELEASE);
}

/// A lock. A child has only the thread that forked, so a lock that another one held would never be
/// given back: there it is made anew.
class fork_mutex {
 public:
  constexpr fork_mutex() noexcept = default;
  fork_mutex(const fork_mutex&) = delete;
  fork_mutex& operator=(const fork_mutex&) = delete;

  /// Returns true for the first time in a forked child, where what the lock protects may have been
  /// left half changed.
  bool lock() noexcept {
    watch_forks();
    const bool forked = forks_ != fork_count();
    if (forked) {
      forks_ = fork_count();
      mutex_ = PTHREAD_MUTEX_INITIALIZER;
      changed_ = PTHREAD_COND_INITIALIZER;
    }
    pthread_mutex_lock(&mutex_);
    return forked;
  }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }
  /// Gives the lock back until another thread calls `notify`, and takes it again.
  void wait() noexcept { pthread_cond_wait(&changed_, &mutex_); }
  void notify() noexcept { pthread_cond_broadcast(&changed_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  std::uint64_t forks_ = 0;
};

}  // namespace gpu::inline v0::detail
