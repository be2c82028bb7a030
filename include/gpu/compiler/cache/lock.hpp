#pragma once
/// \file
/// `cache_lock`: keeps two processes from compiling the same program at once.

#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/names.hpp>
#include <gpu/memory/file_descriptor.hpp>

#include <fcntl.h>
#include <sys/types.h>
#include <time.h>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>

namespace gpu { inline namespace v1 { namespace detail {

/// Locks one byte of a file in the folder. The offset of the byte depends on the key, so that
/// different programs do not wait for each other. The lock is advisory: if the file system has no
/// locks or the holder hangs, the program is compiled twice.
class cache_lock {
 public:
  /// Waits while another process makes the program, for at most a minute.
  cache_lock(const cache_folder& folder, const digest& key) noexcept
      : file_{folder.open_to_write(cache_lock_name, O_RDWR)} {
    if (!file_) return;
    byte_.l_type = F_WRLCK;
    byte_.l_whence = SEEK_SET;
    byte_.l_len = 1;
    std::uint64_t offset = 0;
    __builtin_memcpy(&offset, key.bytes, sizeof offset);
    byte_.l_start = static_cast<off_t>(offset >> 2);
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
  /// Unlocks the byte. Closing the file would not, if a child was forked meanwhile.
  ~cache_lock() {
    byte_.l_type = F_UNLCK;
    if (file_) ::fcntl(file_.native(), F_OFD_SETLK, &byte_);
  }
  /// Returns whether another process had the lock: then the program may be stored now.
  bool waited() const noexcept { return waited_; }

 private:
  file_descriptor file_;
  struct flock byte_{};
  bool waited_ = false;
};

}}}  // namespace gpu::v1::detail
