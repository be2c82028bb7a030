#pragma once
/// \file
/// Files that appear under their name when they are complete, or not at all.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/write_bytes.hpp>

#include <stdlib.h>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// A file that is being written. It has a name of its own beside the final one until `commit`; the
/// destructor removes what was not committed. What is not a regular file, such as
/// /dev/stdout, is written directly. Functions return 0 or a value of errno.
class new_file {
 public:
  new_file() noexcept = default;
  new_file(new_file&& other) noexcept
      : file_{std::exchange(other.file_, -1)},
        offset_{other.offset_},
        name_{std::move(other.name_)},
        temporary_{std::exchange(other.temporary_, text())} {}
  new_file& operator=(new_file&&) = delete;
  ~new_file() {
    const int reason = errno;
    if (file_ >= 0) ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    errno = reason;
  }

  /// `ENOMEM` if a name has no memory.
  int open(const text& path) noexcept {
    struct stat about{};
    const bool exists = ::stat(path.c_str(), &about) == 0;
    if (exists && S_ISDIR(about.st_mode)) return EISDIR;
    if (exists && !S_ISREG(about.st_mode)) {
      file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      return file_ < 0 ? errno : 0;
    }
    name_ = path;
    if (exists) {  // the file itself, where the path is a symbolic link
      char* const resolved = ::realpath(path.c_str(), nullptr);
      if (resolved == nullptr) return errno;
      name_ = text(resolved);
      std::free(resolved);
    }
    static std::uint32_t files = 0;
    for (int attempt = 0; attempt < 100; ++attempt) {
      text_builder name;
      name << name_ << ".part" << ::getpid() << '-'
           << atomic_fetch_add<memory_order::relaxed>(files, 1);
      text temporary = name.finish();
      if (name_.lost() || temporary.lost()) return ENOMEM;
      file_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_ >= 0) {
        temporary_ = std::move(temporary);
        if (exists) ::fchmod(file_, about.st_mode & 07777);
        return 0;
      }
      if (errno != EEXIST) return errno;
    }
    return EEXIST;
  }
  int write(const void* bytes, std::size_t count) noexcept {
    const int failure = write_bytes(file_, bytes, count);
    if (failure == 0) offset_ += count;
    return failure;
  }
  /// Overwrites bytes that were written before.
  int rewrite(std::uint64_t offset, const void* bytes, std::size_t count) noexcept {
    const char* next = static_cast<const char*>(bytes);
    while (count > 0) {
      const ssize_t written = ::pwrite(file_, next, count, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return written < 0 ? errno : ENOSPC;
      next += written;
      offset += static_cast<std::uint64_t>(written);
      count -= static_cast<std::size_t>(written);
    }
    return 0;
  }
  /// Returns how many bytes were written.
  std::uint64_t offset() const noexcept { return offset_; }

  /// Gives the file its name; an earlier file of that name is replaced.
  int commit() noexcept {
    // A network file system may say only now that something was lost.
    if (::close(std::exchange(file_, -1)) != 0) return errno;
    if (temporary_.empty()) return 0;
    if (::rename(temporary_.c_str(), name_.c_str()) != 0) return errno;
    temporary_ = text();
    return 0;
  }

 private:
  int file_ = -1;
  std::uint64_t offset_ = 0;
  text name_;
  text temporary_;  ///< empty if the file has its name
};

}}}  // namespace gpu::v1::detail
