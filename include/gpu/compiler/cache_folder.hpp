#pragma once
/// \file
/// The cache's folder: what is read from it is a plain file of one's own or nothing, and what is
/// written to it is there as a whole or not at all.

#include <gpu/core/string_ref.hpp>
#include <gpu/memory/file_descriptor.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace gpu::detail {

/// Closes a file now. False, with errno, where what was written is lost: a network file system may
/// find that out only here.
inline bool close_file(file_descriptor& file) noexcept { return ::close(file.release()) == 0; }

/// Reads an open file of `size` bytes, or whatever it has by now, to its end. False where reading
/// failed or memory ran out.
inline bool read_whole(int file, std::uint64_t size, text& contents) noexcept {
  text_builder pieces;
  char block[32768];
  std::size_t total = 0;
  for (;;) {
    const ssize_t got = ::read(file, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    pieces.append(block, static_cast<std::size_t>(got));
    total += static_cast<std::size_t>(got);
    if (total == size && static_cast<std::size_t>(got) < sizeof block) break;
  }
  if (pieces.size() != total) return false;
  contents = pieces.finish();
  return true;
}

/// Writes all of `contents`, or sets errno.
inline bool write_whole(int file, string_ref contents) noexcept {
  while (!contents.empty()) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    const auto count = static_cast<std::size_t>(written);
    contents = contents.substring(count, contents.size() - count);
  }
  return true;
}

/// Makes a folder and those above it, for the user alone. Where that fails, errno says why.
inline bool make_folders(const text& path) noexcept {
  char name[4096];
  errno = ENAMETOOLONG;
  if (path.size() >= sizeof name) return false;
  bool made = false;
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (i > 0 && (path.data()[i] == '/' || i == path.size())) {
      name[i] = '\0';
      made = ::mkdir(name, 0700) == 0 || errno == EEXIST;
    }
    name[i] = path.data()[i];
  }
  return made;
}

/// A folder that is open. It is opened anew for each use: so it may be deleted, made again or
/// replaced meanwhile, and a forked child shares nothing with its parent.
class cache_folder {
 public:
  /// Opens `path`, and makes it where `make` says so. On failure `trouble` says why, and what to
  /// do; a folder that is merely not there leaves it empty.
  template <class Builder = text_builder>
  static cache_folder open(const text& path, bool make, text& trouble) noexcept {
    const auto refuse = [&](const auto&... pieces) {
      Builder out;
      out << "the cache's folder \"" << path << "\" ";
      (out << ... << pieces);
      trouble = out.finish();
      return cache_folder();
    };
    constexpr int how = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    file_descriptor folder = file_descriptor::adopt(::open(path.c_str(), how));
    if (!folder && errno == ENOENT) {
      if (!make) return cache_folder();
      if (!make_folders(path)) {
        return refuse("cannot be made (", std::strerror(errno),
                      "). Set GPU_CACHE_DIR to one that can.");
      }
      folder = file_descriptor::adopt(::open(path.c_str(), how));
    }
    if (!folder) {
      return refuse("cannot be opened (", std::strerror(errno),
                    "). Set GPU_CACHE_DIR to one that can.");
    }
    struct stat about{};
    if (::fstat(folder.native(), &about) != 0) {
      return refuse("cannot be asked for its owner (", std::strerror(errno),
                    "). Set GPU_CACHE_DIR to one that can.");
    }
    // What root puts there is as good as one's own: root can do anything anyway.
    if (about.st_uid != ::geteuid() && about.st_uid != 0) {
      return refuse("belongs to user ", about.st_uid, ", who could put anything into it; this is ",
                    ::geteuid(), ". Set GPU_CACHE_DIR to a folder of your own.");
    }
    if ((about.st_mode & S_IWOTH) != 0) {
      return refuse(
          "can be written by anyone, who could put anything into it. Run chmod o-w on it.");
    }
    cache_folder opened;
    opened.folder_ = detail::move(folder);
    return opened;
  }

  explicit operator bool() const noexcept { return static_cast<bool>(folder_); }
  int native() const noexcept { return folder_.native(); }

  /// `refused` is what should not be there; `unreadable` may be fine another time.
  enum class reading { done, missing, refused, unreadable };

  /// Reads a whole file. What is no plain file, belongs to someone else or can be written by anyone
  /// is refused. Where it is `unreadable`, errno says why.
  reading read(const char* name, text& contents) const noexcept {
    const auto file = file_descriptor::adopt(
        ::openat(native(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file && (errno == ELOOP || errno == ENXIO)) return reading::refused;
    if (!file) return errno == ENOENT ? reading::missing : reading::unreadable;
    struct stat about{};
    if (::fstat(file.native(), &about) != 0) return reading::unreadable;
    if (!S_ISREG(about.st_mode) || (about.st_uid != ::geteuid() && about.st_uid != 0) ||
        (about.st_mode & S_IWOTH) != 0) {
      return reading::refused;
    }
    return read_whole(file.native(), static_cast<std::uint64_t>(about.st_size), contents)
               ? reading::done
               : reading::unreadable;
  }

  /// Notes that a file was used now. Once an hour is enough to tell which was not used for long; a
  /// time that lies in the future, from before the clock was set back, is mended.
  void touch(const char* name) const noexcept {
    struct stat about{};
    if (::fstatat(native(), name, &about, AT_SYMLINK_NOFOLLOW) != 0) return;
    const auto age = ::time(nullptr) - about.st_mtim.tv_sec;
    if (age >= 0 && age < 3600) return;
    ::utimensat(native(), name, nullptr, AT_SYMLINK_NOFOLLOW);
  }

  /// Puts a file in place of any that there is. Readers see the one or the other. On failure
  /// `trouble` says why.
  template <class Builder = text_builder>
  bool write(const char* name, string_ref contents, text& trouble) const noexcept {
    const auto refuse = [&](int reason) {
      Builder out;
      out << "the cache's folder cannot be written: " << std::strerror(reason)
          << ". Make room or give rights in it, or set GPU_CACHE_DIR to another.";
      trouble = out.finish();
      return false;
    };
    // Past this limit, write sends a signal that ends the process.
    struct rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < contents.size()) {
      return refuse(EFBIG);
    }
    char temporary[64];
    file_descriptor file;
    for (int attempt = 0; !file && attempt < 8; ++attempt) {
      unique_name(temporary, sizeof temporary);
      file = file_descriptor::adopt(::openat(
          native(), temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (!file && errno != EEXIST) return refuse(errno);
    }
    if (!file) return refuse(EEXIST);
    if (!write_whole(file.native(), contents) || !close_file(file) ||
        ::renameat(native(), temporary, native(), name) != 0) {
      const int reason = errno;
      ::unlinkat(native(), temporary, 0);
      return refuse(reason);
    }
    return true;
  }

  void remove(const char* name) const noexcept {
    if (::unlinkat(native(), name, 0) != 0) ::unlinkat(native(), name, AT_REMOVEDIR);
  }

  /// Files that are being written begin so. One that is left over belongs to a process that ended.
  static constexpr const char* temporary_prefix = ".new-";

 private:
  cache_folder() noexcept = default;

  static void unique_name(char* name, std::size_t size) noexcept {
    static std::uint64_t counter = 0;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const auto nanoseconds = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
                             static_cast<std::uint64_t>(now.tv_nsec);
    const auto count = __atomic_add_fetch(&counter, 1u, __ATOMIC_RELAXED);
    format_into(name, size, "%s%ld-%llx-%llx", temporary_prefix, static_cast<long>(::getpid()),
                static_cast<unsigned long long>(nanoseconds),
                static_cast<unsigned long long>(count));
  }

  file_descriptor folder_;
};

}  // namespace gpu::detail
