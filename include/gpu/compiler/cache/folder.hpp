#pragma once
/// \file
/// The cache's folder. Only regular files that nobody but this user or root can write are read from
/// it, and a file is written as a whole or not at all.

#include <gpu/compiler/cache/names.hpp>
#include <gpu/core/detail/atomic.hpp>

#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/memory/file_descriptor.hpp>
#include <gpu/system/open_file.hpp>
#include <gpu/system/output.hpp>
#include <gpu/system/read_file.hpp>
#include <gpu/system/write_bytes.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dirent.h>

#include <stdio.h>
#include <time.h>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Closes a file. Returns false and sets errno if what was written is lost: a network file system
/// may report that only now.
inline bool close_file(file_descriptor& file) noexcept { return ::close(file.release()) == 0; }

/// Writes all of `contents`, or returns false and sets errno: to EFBIG if the process has a limit
/// on the size of files.
inline bool write_whole(int file, string_ref contents) noexcept {
  errno = write_bytes(file, contents.data(), contents.size());
  return errno == 0;
}

/// Returns whether an error or a log says that the process or the machine has too many open files.
inline bool lacks_descriptors(const text& words) noexcept {
  return words.contains(std::strerror(EMFILE)) || words.contains(std::strerror(ENFILE));
}

/// Returns whether enough file descriptors are free to open a compiler, which then opens its files,
/// while the cache has its folder open. One that could not be opened stays absent.
inline bool has_spare_descriptors() noexcept {
  int files[8];
  int taken = 0;
  for (int& file : files) {
    file = ::open("/", O_PATH | O_CLOEXEC);
    if (file < 0) break;
    ++taken;
  }
  for (int i = 0; i < taken; ++i) ::close(files[i]);
  return taken == sizeof files / sizeof *files;
}

/// Creates a folder and its parents, for the user only whatever the umask. Returns false and sets
/// errno if that fails.
inline bool make_folders(const text& path) noexcept {
  char name[4096];
  errno = ENAMETOOLONG;
  if (path.size() >= sizeof name) return false;
  bool made = false;
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (i > 0 && (path.data()[i] == '/' || i == path.size())) {
      name[i] = '\0';
      const bool fresh = ::mkdir(name, 0700) == 0;
      made = fresh || errno == EEXIST;
      if (fresh && ::fchmodat(AT_FDCWD, name, 0700, AT_SYMLINK_NOFOLLOW) != 0)
        made = errno == EOPNOTSUPP || errno == EPERM;  // a file system without modes
    }
    name[i] = path.data()[i];
  }
  return made;
}

/// Returns whether this user or root owns a file or folder. Root can do anything anyway.
inline bool is_own_or_of_root(const struct stat& about) noexcept {
  return about.st_uid == ::geteuid() || about.st_uid == 0;
}
/// Returns whether a group or all users can write a file or folder.
inline bool others_can_write(const struct stat& about) noexcept {
  return (about.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/// An open folder. It is opened again for each use, so that it may be deleted or replaced in
/// between, and a forked child shares nothing with its parent.
class cache_folder {
 public:
  /// Opens `path`, and creates it if `make`. On failure, sets `trouble` to the reason and what to
  /// do; a folder that does not exist leaves it empty, and is not `refused`.
  static cache_folder open(const text& path, bool make, text& trouble) noexcept {
    const auto refuse = [&](const auto&... pieces) {
      text_builder out;
      out << "the cache's folder \"" << escaped{path} << "\" ";
      (out << ... << pieces);
      trouble = out.finish();
      cache_folder none;
      none.refused_ = true;
      return none;
    };
    constexpr int how = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    file_descriptor folder = file_descriptor::adopt(::open(path.c_str(), how));
    const bool fresh = !folder && errno == ENOENT;
    if (fresh) {
      if (!make) return cache_folder();
      if (!make_folders(path)) {
        return refuse("cannot be created (", std::strerror(errno),
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
      return refuse("cannot be checked for its owner (", std::strerror(errno),
                    "). Set GPU_CACHE_DIR to one that can.");
    }
    if (!is_own_or_of_root(about)) {
      return refuse("belongs to user ", about.st_uid,
                    ", who could put anything into it; this process runs as ", ::geteuid(),
                    ". Set GPU_CACHE_DIR to a folder of your own.");
    }
    cache_folder opened;
    opened.folder_ = std::move(folder);
    const bool marked = opened.has_mark(), all_write = (about.st_mode & S_IWOTH) != 0;
    const auto refuse_shared = [&] {
      return all_write ? refuse(
                             "is writable by all users, who could put anything into it. Run "
                             "chmod o-w on it.")
                       : refuse(
                             "is writable by its group, who could put anything into it. Run "
                             "chmod g-w on it.");
    };
    // A umask of 002 lets the group write a folder that the user created for the cache.
    const bool closable = about.st_uid == ::geteuid() && (marked || !all_write);
    if (others_can_write(about) && !closable) return refuse_shared();
    cache_name foreign;
    if (!marked && !fresh && !opened.holds_only_cache_files(foreign)) {
      if (foreign.characters[0] == '\0') {
        return refuse("cannot be listed (", std::strerror(errno),
                      "). Set GPU_CACHE_DIR to one that can.");
      }
      return refuse("holds \"", foreign.characters,
                    "\", which is not a file of the cache. Set GPU_CACHE_DIR to an empty folder or "
                    "a new one.");
    }
    if (others_can_write(about)) {
      ::fchmod(opened.native(), 0700);
      // Some file systems ignore that.
      if (::fstat(opened.native(), &about) != 0 || others_can_write(about)) return refuse_shared();
    }
    text not_written;
    if (make && !marked) opened.write(cache_mark, cache_mark_contents, not_written);
    return opened;
  }

  explicit operator bool() const noexcept { return static_cast<bool>(folder_); }
  /// Returns whether it could not be opened, or must not be used.
  bool refused() const noexcept { return refused_; }
  int native() const noexcept { return folder_.native(); }

  /// The outcome of reading a file. A `refused` file should not be there; an `unreadable` one may
  /// be readable later.
  enum class reading { done, missing, refused, unreadable };

  /// Reads a whole file. Refuses one that is not a regular file, belongs to another user or is
  /// writable by others. Sets errno if it is `unreadable`.
  reading read(const char* name, text& contents) const noexcept {
    open_file file;
    int failure = file.open_in(native(), name);
    if (failure == ENOENT) return reading::missing;
    if (failure == ELOOP || failure == ESPIPE || failure == EISDIR) return reading::refused;
    if (failure == 0 && (!is_own_or_of_root(file.about()) || others_can_write(file.about()))) {
      return reading::refused;
    }
    if (failure == 0) failure = file.read_all(most_file_bytes, contents);
    if (failure == EFBIG) return reading::refused;
    errno = failure;
    return failure == 0 ? reading::done : reading::unreadable;
  }

  /// Records that a file was used now, with a precision of an hour. Also corrects a time in the
  /// future, from before the clock was set back.
  void touch(const char* name) const noexcept {
    struct stat about{};
    if (::fstatat(native(), name, &about, AT_SYMLINK_NOFOLLOW) != 0) return;
    const auto age = ::time(nullptr) - about.st_mtim.tv_sec;
    if (age >= 0 && age < 3600) return;
    ::utimensat(native(), name, nullptr, AT_SYMLINK_NOFOLLOW);
  }

  /// Opens a file for writing, and creates it if it does not exist, for the user only whatever the
  /// umask. Returns an empty descriptor and sets errno if that fails.
  file_descriptor open_to_write(const char* name, int flags) const noexcept {
    auto file = file_descriptor::adopt(
        ::openat(native(), name, flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    struct stat about{};
    if (file && ::fstat(file.native(), &about) == 0 && (about.st_mode & 0777) != 0600) {
      ::fchmod(file.native(), 0600);
    }
    return file;
  }

  /// Writes a file, and replaces any that exists. Readers see the one or the other. On failure,
  /// sets `trouble` to the reason.
  bool write(const char* name, string_ref contents, text& trouble) const noexcept {
    const auto refuse = [&](int reason) {
      text_builder out;
      out << "the cache's folder cannot be written: " << std::strerror(reason)
          << ". Free space or fix its permissions, or set GPU_CACHE_DIR to another.";
      trouble = out.finish();
      return false;
    };
    char temporary[64];
    file_descriptor file;
    for (int attempt = 0; !file && attempt < 8; ++attempt) {
      unique_name(temporary, sizeof temporary);
      file = open_to_write(temporary, O_WRONLY | O_EXCL);
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

  /// Calls `visit(name)` for each name in the folder except `.` and `..`, until it returns false.
  /// Returns false and sets errno if the folder cannot be listed.
  template <class Visit> bool for_each_name(Visit visit) const {
    const int opened = ::openat(native(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return false;
    const open_list names{::fdopendir(opened)};
    if (names.list == nullptr) {
      const int reason = errno;
      ::close(opened);
      errno = reason;
      return false;
    }
    errno = 0;
    while (const dirent* found = ::readdir(names.list)) {
      const string_ref name = found->d_name;
      if (!(name == "." || name == "..") && !visit(found->d_name)) return true;
      errno = 0;
    }
    return errno == 0;
  }

 private:
  cache_folder() noexcept = default;

  /// Closes a list of names at the end of a scope, and preserves errno.
  struct open_list {
    DIR* list;
    explicit open_list(DIR* opened) noexcept : list{opened} {}
    open_list(const open_list&) = delete;
    open_list& operator=(const open_list&) = delete;
    ~open_list() {
      const int reason = errno;
      if (list != nullptr) ::closedir(list);
      errno = reason;
    }
  };

  bool has_mark() const noexcept {
    struct stat about{};
    return ::fstatat(native(), cache_mark, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(about.st_mode) && is_own_or_of_root(about);
  }

  /// Returns whether all files are the cache's; if not, sets `foreign` to the name of one that is
  /// not, or leaves it empty and sets errno if the folder cannot be listed.
  bool holds_only_cache_files(cache_name& foreign) const noexcept {
    const bool listed = for_each_name([&](const char* name) {
      if (is_cache_name(name)) return true;
      format_into(foreign.characters, sizeof foreign.characters, "%s", name);
      return false;
    });
    return listed && foreign.characters[0] == '\0';
  }

  static void unique_name(char* name, std::size_t size) noexcept {
    static std::uint64_t counter = 0;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const auto nanoseconds = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
                             static_cast<std::uint64_t>(now.tv_nsec);
    const auto count = atomic_fetch_add<memory_order::relaxed>(counter, 1) + 1;
    format_into(name, size, "%s%ld-%llx-%llx", temporary_prefix, static_cast<long>(::getpid()),
                static_cast<unsigned long long>(nanoseconds),
                static_cast<unsigned long long>(count));
  }

  file_descriptor folder_;
  bool refused_ = false;
};

}}}  // namespace gpu::v1::detail
