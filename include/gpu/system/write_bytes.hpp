#pragma once
/// \file
/// Writes bytes to an open file. The limit on the size of files (RLIMIT_FSIZE) does not end the
/// process meanwhile.

#include <unistd.h>

#include <signal.h>
#include <cerrno>
#include <cstddef>
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

/// Writes all of these bytes. Returns 0 or a value of errno: EFBIG if the process has a limit on
/// the size of files.
inline int write_bytes(int file, const void* bytes, std::size_t count) noexcept {
  const file_size_signal_blocked blocked;
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(file, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    next += written;
    count -= static_cast<std::size_t>(written);
  }
  return 0;
}

}}}  // namespace gpu::v1::detail
