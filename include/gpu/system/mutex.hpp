#pragma once
/// \file
/// `mutex`, the library's only lock, which knows forks; `scoped_lock` and `condition`.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/system/process_wide.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace gpu { inline namespace v1 { namespace detail {

struct fork_state {
  static constexpr const char* name = "forks";

  std::uint32_t count;

  void after_fork() noexcept { ++count; }
};

/// Returns a number that is larger in a forked child than in its parent, and the same in all shared
/// libraries of the process. Forks are counted from the first call on.
inline std::uint32_t fork_count() noexcept { return process_wide<fork_state>::get().count; }

/// Sleeps while `word` is `value`, until `wake_all` or the timeout; may return early.
inline void sleep_while(const std::uint32_t& word, std::uint32_t value,
                        const timespec* timeout) noexcept {
  const int reason = errno;
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, timeout);
  errno = reason;
}
inline void wake_all(const std::uint32_t& word) noexcept {
  const int reason = errno;
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 0x7fffffff);
  errno = reason;
}

/// A lock. It is unlocked if all its bytes are zero, so it can lie in `process_wide` state.
///
/// A forked child has only the thread that forked. If another thread of the parent held the lock,
/// nobody in the child would ever unlock it; so the child takes it over, and learns of it. What the
/// lock protects may then be half changed.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  /// Returns false if the lock was taken over from a thread of a parent process.
  bool lock() noexcept {
    const std::uint32_t mine = 2 * fork_count() + 1;
    std::uint32_t unlocked = 0;
    if (atomic_compare_exchange_strong<memory_order::acquire, memory_order::relaxed>(
            holder_, unlocked, mine)) {
      return true;
    }
    return wait_and_lock(mine);
  }

  // The lock is not accessed once it is unlocked, because the next thread that locks it may destroy
  // it. A waiter that comes between the first step and the last is woken by its timeout; to exclude
  // that would take an atomic exchange, which would double the cost of the lock.
  void unlock() noexcept {
    const bool has_waiters = atomic_load<memory_order::relaxed>(has_waiters_) != 0;
    if (has_waiters) atomic_store<memory_order::relaxed>(has_waiters_, 0);
    atomic_store<memory_order::release>(holder_, 0);
    if (has_waiters) wake_all(holder_);  // by its address alone
  }

  /// Unlocks a lock that was taken over, without repair of what it protects: it is taken over again
  /// by the next `lock`.
  void unlock_unrepaired() noexcept {
    atomic_store<memory_order::release>(holder_, 2 * fork_count() - 1);
  }

  /// Makes the lock as new, in a forked child that has only one thread.
  void reset() noexcept { holder_ = has_waiters_ = 0; }

 private:
  [[gnu::noinline]] bool wait_and_lock(std::uint32_t mine) noexcept {
    constexpr timespec timeout{0, 1'000'000};
    for (unsigned tries = 0;; ++tries) {
      std::uint32_t holder = atomic_load<memory_order::relaxed>(holder_);
      if (holder != mine) {
        const bool unlocked = holder == 0;
        if (atomic_compare_exchange_strong<memory_order::acquire, memory_order::relaxed>(
                holder_, holder, mine)) {
          return unlocked;
        }
      } else if (tries > 200) {
        atomic_store<memory_order::relaxed>(has_waiters_, 1);
        sleep_while(holder_, mine, &timeout);
      }
    }
  }

  std::uint32_t holder_ =
      0;  // 0: unlocked; else 2 * fork_count() + 1 of the process that locked it
  std::uint32_t has_waiters_ = 0;
};

/// Locks a mutex for a scope. Converts to false if the mutex was taken over from a thread of a
/// parent process: what it protects may be half changed. Unless the scope says that it has repaired
/// that, the next scope finds the mutex in the same state.
class [[nodiscard]] scoped_lock {
 public:
  explicit scoped_lock(mutex& locked) noexcept : mutex_{locked}, intact_{locked.lock()} {}
  scoped_lock(const scoped_lock&) = delete;
  scoped_lock& operator=(const scoped_lock&) = delete;
  ~scoped_lock() { intact_ ? mutex_.unlock() : mutex_.unlock_unrepaired(); }

  explicit operator bool() const noexcept { return intact_; }
  void repaired() noexcept { intact_ = true; }

 private:
  mutex& mutex_;
  bool intact_;
};

/// Lets threads wait until what a mutex protects has changed.
class condition {
 public:
  /// Unlocks the mutex until another thread calls `notify_all`, and locks it again; may return
  /// early.
  void wait(mutex& locked) noexcept {
    const std::uint32_t seen = atomic_load<memory_order::relaxed>(changes_);
    locked.unlock();
    sleep_while(changes_, seen, nullptr);
    locked.lock();
  }
  /// To be called while the mutex is locked.
  void notify_all() noexcept {
    atomic_fetch_add<memory_order::relaxed>(changes_, 1);
    wake_all(changes_);
  }

 private:
  std::uint32_t changes_ = 0;
};

}}}  // namespace gpu::v1::detail
