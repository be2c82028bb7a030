#pragma once
/// \file
/// Opens the files that the library reads: regular files alone.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gpu/core/text.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// An open regular file. Functions return 0 or a value of errno.
class open_file {
 public:
  open_file() noexcept = default;
  open_file(open_file&& other) noexcept
      : file_{std::exchange(other.file_, -1)}, about_{other.about_} {}
  open_file& operator=(open_file&&) = delete;
  ~open_file() {
    if (file_ >= 0) ::close(file_);
  }

  /// `EISDIR` for a folder, `ESPIPE` for anything else that is not a regular file. Never waits: a
  /// FIFO without a writer is refused, too.
  int open(const char* path) noexcept { return open_at(AT_FDCWD, path, 0); }
  int open(const text& path) noexcept { return open(path.c_str()); }
  /// The same for a name in an open folder. `ELOOP` for a symbolic link.
  int open_in(int folder, const char* name) noexcept { return open_at(folder, name, O_NOFOLLOW); }

  /// Returns what the system says about the file that is open.
  const struct stat& about() const noexcept { return about_; }
  std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(about_.st_size); }

  /// Reads bytes from `offset` on; sets `got` to their number, which is less than `count` only at
  /// the end of the file.
  int read(std::uint64_t offset, void* bytes, std::size_t count, std::size_t& got) const noexcept {
    got = 0;
    while (got < count) {
      const ssize_t more = ::pread(file_, static_cast<char*>(bytes) + got, count - got,
                                   static_cast<off_t>(offset + got));
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) return errno;
      if (more == 0) break;
      got += static_cast<std::size_t>(more);
    }
    return 0;
  }

  /// Sets `contents` to all bytes. `EFBIG` if there are more than `limit`; `ENOMEM` if memory ran
  /// out, and then `contents` is lost.
  int read_all(std::uint64_t limit, text& contents) const noexcept {
    if (size() > limit) return EFBIG;
    text_builder pieces;
    char block[4096];  // of a stack that may be small
    for (std::uint64_t total = 0;;) {
      const ssize_t got = ::read(file_, block, sizeof block);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno;
      if (got == 0) break;
      total += static_cast<std::uint64_t>(got);
      if (total > limit) return EFBIG;  // a file of /proc, say, has the size 0
      pieces.append(block, static_cast<std::size_t>(got));
      if (pieces.size() != total) break;
      if (total == size() && static_cast<std::size_t>(got) < sizeof block) break;
    }
    contents = pieces.finish();
    return contents.lost() ? ENOMEM : 0;
  }

 private:
  int open_at(int folder, const char* path, int flags) noexcept {
    file_ = ::openat(folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
    if (file_ < 0) return errno == ENXIO ? ESPIPE : errno;
    if (::fstat(file_, &about_) != 0) return errno;
    if (S_ISDIR(about_.st_mode)) return EISDIR;
    return S_ISREG(about_.st_mode) ? 0 : ESPIPE;
  }

  int file_ = -1;
  struct stat about_{};
};

/// Returns a value of errno that `open_file` returned, in words.
inline const char* words_of_file_error(int failure) noexcept {
  return failure == ESPIPE ? "it is not a regular file" : std::strerror(failure);
}

}}}  // namespace gpu::v1::detail
