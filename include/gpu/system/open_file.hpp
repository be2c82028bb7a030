#pragma once
/// \file
/// Files that are read in parts.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gpu/core/detail/utility.hpp>
#include <gpu/core/text.hpp>

#include <cerrno>
#include <cstdint>

namespace gpu::inline v1::detail {

/// An open regular file. Functions return 0 or a value of errno.
class open_file {
 public:
  open_file() noexcept = default;
  open_file(open_file&& other) noexcept
      : file_{detail::exchange(other.file_, -1)}, size_{other.size_} {}
  open_file& operator=(open_file&&) = delete;
  ~open_file() {
    if (file_ >= 0) ::close(file_);
  }

  /// `ESPIPE` for what is not a regular file.
  int open(const text& path) noexcept {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ < 0) return errno;
    struct stat about{};
    if (::fstat(file_, &about) != 0) return errno;
    if (S_ISDIR(about.st_mode)) return EISDIR;
    if (!S_ISREG(about.st_mode)) return ESPIPE;
    size_ = static_cast<std::uint64_t>(about.st_size);
    return 0;
  }
  std::uint64_t size() const noexcept { return size_; }

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

 private:
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace gpu::inline v1::detail
