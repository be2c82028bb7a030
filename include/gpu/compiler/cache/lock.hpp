#pragma once
/// \file
/// `cache_lock`: keeps two processes from compiling the same program at once.

#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/folder.hpp>

namespace gpu::inline v0::detail {

/// Holds one byte of a file of the folder, whose place says which program it is for: so no program
/// waits for another. It is advice: a file system that has no locks, a holder that hangs or one
/// that was killed costs a second compilation or less.
class cache_lock {
 public:
  /// Waits while another process compiles the program, for a minute at most.
  cache_lock(const cache_folder& folder, const digest& key) noexcept
      : file_{file_descriptor::adopt(::openat(folder.native(), cache_lock_name,
                                              O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600))} {
    if (!file_) return;
    byte_.l_type = F_WRLCK;
    byte_.l_whence = SEEK_SET;
    byte_.l_len = 1;
    std::uint64_t place = 0;
    __builtin_memcpy(&place, key.bytes, sizeof place);
    byte_.l_start = static_cast<off_t>(place >> 2);
    constexpr long limit = 60'000'000, longest = 20'000;  // microseconds
    long slept = 0, pause = 500;
    while (::fcntl(file_.native(), F_OFD_SETLK, &byte_) != 0) {
      if ((errno != EAGAIN && errno != EACCES) || slept >= limit) return;
      waited_ = true;
      const timespec time{0, pause * 1000};
      ::nanosleep(&time, nullptr);
      slept += pause;
      pause = pause * 2 < longest ? pause * 2 : longest;
    }
  }
  cache_lock(const cache_lock&) = delete;
  cache_lock& operator=(const cache_lock&) = delete;
  /// Gives the byte back. Closing the file would leave it with a child that was forked meanwhile.
  ~cache_lock() {
    byte_.l_type = F_UNLCK;
    if (file_) ::fcntl(file_.native(), F_OFD_SETLK, &byte_);
  }
  /// Whether another process had it: then the program may be there now.
  bool waited() const noexcept { return waited_; }

 private:
  file_descriptor file_;
  struct flock byte_{};
  bool waited_ = false;
};

}  // namespace gpu::inline v0::detail
