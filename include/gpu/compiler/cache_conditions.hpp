#pragma once
/// \file
/// What has to be so for a compiled program to be what a compilation would give now: the compiler,
/// the content of each file that was opened, and each place that was looked at before.

#include <gpu/compiler/cache_bytes.hpp>
#include <gpu/compiler/cache_folder.hpp>

namespace gpu::detail {

/// A file that a compilation opened, and what it held.
struct file_condition {
  text path;
  digest content;
};

template <class Builder = text_builder>
inline byte_writer& operator<<(byte_writer& out, const file_condition& file) noexcept {
  return out << file.path << file.content;
}
template <class Builder = text_builder>
inline byte_reader& operator>>(byte_reader& in, file_condition& file) noexcept {
  return in >> file.path >> file.content;
}

/// What a compiled program depends on besides its source and options.
struct cache_conditions {
  text compiler;                   ///< the compiler's or linker's version and build
  sequence<text> folders;          ///< where it looked for headers, in order
  sequence<file_condition> files;  ///< what it opened
  sequence<text> absent;           ///< where it looked before, and there was nothing
  sequence<text> present;          ///< where there was something, which it did not open

  /// Whether it depends on any file or place.
  bool on_files() const noexcept { return !(files.empty() && absent.empty() && present.empty()); }
};

template <class Builder = text_builder>
inline byte_writer& operator<<(byte_writer& out, const cache_conditions& c) noexcept {
  return out << c.compiler << c.folders << c.files << c.absent << c.present;
}
template <class Builder = text_builder>
inline byte_reader& operator>>(byte_reader& in, cache_conditions& c) {
  return in >> c.compiler >> c.folders >> c.files >> c.absent >> c.present;
}

/// Tells one state of a file from any other, by what the system keeps about it.
struct file_identity {
  std::uint64_t device = 0, inode = 0, size = 0, modified = 0, changed = 0;
  friend bool operator==(const file_identity&, const file_identity&) noexcept = default;
};

inline std::uint64_t nanoseconds(const timespec& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

inline file_identity identity_of(const struct stat& about) noexcept {
  return {static_cast<std::uint64_t>(about.st_dev), static_cast<std::uint64_t>(about.st_ino),
          static_cast<std::uint64_t>(about.st_size), nanoseconds(about.st_mtim),
          nanoseconds(about.st_ctim)};
}

/// The clock that file systems stamp files with, and one that nobody sets.
struct file_clock {
  std::uint64_t stamp = 0, steady = 0;

  static file_clock now() noexcept {
    timespec stamp{}, steady{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &stamp);
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &steady);
    return {nanoseconds(stamp), nanoseconds(steady)};
  }
  /// Whether the clock of the file system was set between two moments, so that its stamps do not
  /// tell what came first.
  bool was_set_until(const file_clock& later) const noexcept {
    const std::uint64_t by_stamp = later.stamp - stamp, by_steady = later.steady - steady;
    const std::uint64_t apart = by_stamp > by_steady ? by_stamp - by_steady : by_steady - by_stamp;
    constexpr std::uint64_t tolerance = 20'000'000;
    return apart > tolerance && ~apart > tolerance;  // the difference of two may be below zero
  }
};

/// `identity`, or none where the file was written so lately that one more writing could leave the
/// identity as it is.
inline file_identity certain(const file_identity& identity, const file_clock& now) noexcept {
  return identity.changed < now.stamp ? identity : file_identity();
}

/// Reads a header and its identity. False where it cannot be read as a plain file.
template <class Builder = text_builder>
inline bool read_header(const text& path, text& contents, file_identity& identity) noexcept {
  const auto file = file_descriptor::adopt(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat about{};
  if (!file || ::fstat(file.native(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
  identity = identity_of(about);
  return read_whole(file.native(), identity.size, contents);
}

/// Whether there is anything of that name.
inline bool is_there(const char* path) noexcept {
  struct stat about{};
  return ::stat(path, &about) == 0;
}

/// Whether the system says of all files and places that nothing happened to them.
template <class Builder = text_builder>
inline bool same_files(const cache_conditions& conditions, const sequence<file_identity>& seen) {
  for (std::size_t i = 0; i < conditions.files.size(); ++i) {
    struct stat about{};
    if (::stat(conditions.files[i].path.c_str(), &about) != 0) return false;
    if (!(identity_of(about) == seen[i])) return false;
  }
  for (const text& path : conditions.absent) {
    if (is_there(path.c_str())) return false;
  }
  for (const text& path : conditions.present) {
    if (!is_there(path.c_str())) return false;
  }
  return true;
}

/// Why files do not meet the conditions, in a sentence; empty where they do. Where a program is
/// taken without a compiler, `without_compiler`, a header that this machine lacks is no reason.
/// `seen` are the identities of the files, for `same_files`.
template <class Builder = text_builder>
inline text unmet_file_condition(const cache_conditions& conditions, bool without_compiler,
                                 sequence<file_identity>& seen) {
  seen.clear();
  const file_clock now = file_clock::now();
  const auto because = [](const auto&... pieces) {
    Builder out;
    (out << ... << pieces);
    return out.finish();
  };
  for (const file_condition& file : conditions.files) {
    text contents;
    file_identity identity;
    if (!read_header(file.path, contents, identity)) {
      if (without_compiler) {
        seen.push_back({});
        continue;
      }
      return because("header ", file.path, " is not there any more");
    }
    if (!(digest_of(contents) == file.content)) return because("header ", file.path, " changed");
    seen.push_back(certain(identity, now));
  }
  if (without_compiler) return {};
  for (const text& path : conditions.absent) {
    if (is_there(path.c_str())) return because(path, " is there now, and was not");
  }
  for (const text& path : conditions.present) {
    if (!is_there(path.c_str())) return because(path, " is not there any more");
  }
  return {};
}

/// The same for the compiler and the folders that it is told to look in.
template <class Builder = text_builder>
inline text unmet_compiler_condition(const cache_conditions& conditions, const text& compiler,
                                     const sequence<text>& folders) {
  Builder out;
  if (!(conditions.compiler == compiler)) {
    out << "this is " << compiler << " instead of " << conditions.compiler;
    return out.finish();
  }
  // Folders matter to those that looked for something.
  if (!conditions.on_files()) return {};
  const std::size_t count = folders.size();
  if (count == conditions.folders.size()) {
    std::size_t same = 0;
    while (same < count && folders[same] == conditions.folders[same]) ++same;
    if (same == count) return {};
    out << "include folder " << folders[same] << " instead of " << conditions.folders[same];
    return out.finish();
  }
  out << count << " include folders instead of " << conditions.folders.size();
  return out.finish();
}

}  // namespace gpu::detail
