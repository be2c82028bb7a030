#pragma once
/// \file
/// Keeps the limit on the size of files (RLIMIT_FSIZE) from ending the process.

#include <signal.h>

#include <cerrno>
#include <ctime>

namespace gpu { inline namespace v1 { namespace detail {

/// Blocks SIGXFSZ in the calling thread, and in threads that it starts meanwhile: in this scope a
/// file that would grow past the limit makes `write` and `ftruncate` fail with EFBIG, and nothing
/// else.
class [[nodiscard]] file_size_signal_blocked {
 public:
  file_size_signal_blocked() noexcept {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  file_size_signal_blocked(const file_size_signal_blocked&) = delete;
  file_size_signal_blocked& operator=(const file_size_signal_blocked&) = delete;
  ~file_size_signal_blocked() {
    if (::sigismember(&before_, SIGXFSZ) == 1) return;
    const int reason = errno;
    constexpr timespec at_once{0, 0};
    ::sigtimedwait(&signal_, nullptr, &at_once);  // takes the signal, if it came meanwhile
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = reason;
  }

 private:
  sigset_t signal_;
  sigset_t before_;
};

}}}  // namespace gpu::v1::detail
