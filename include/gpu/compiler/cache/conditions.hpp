#pragma once
/// \file
/// The conditions under which a compiled program is what a compilation would give now: the
/// compiler, the content of each file that was opened, and each path where a header was searched in
/// vain.

#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/open_file.hpp>
#include <gpu/system/read_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// A file that a compilation opened, and its content.
struct file_condition {
  text path;
  digest content;
};

inline byte_writer& operator<<(byte_writer& out, const file_condition& file) noexcept {
  return out << file.path << file.content;
}
inline byte_reader& operator>>(byte_reader& in, file_condition& file) {
  return in >> file.path >> file.content;
}

/// The kind of thing that a search for a header finds at a path. A file that cannot be read is
/// `other`.
enum class location_kind : std::uint64_t { nothing, file, folder, other };

/// Returns what is at a path, and fills `about` if anything is.
inline location_kind kind_of_location(const char* path, struct stat& about) noexcept {
  if (::stat(path, &about) != 0) return location_kind::nothing;
  if (S_ISDIR(about.st_mode)) return location_kind::folder;
  const bool readable =
      S_ISREG(about.st_mode) && ::faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
  return readable ? location_kind::file : location_kind::other;
}
inline location_kind kind_of_location(const char* path) noexcept {
  struct stat about{};
  return kind_of_location(path, about);
}

/// A path where a compilation looked for a header and opened nothing.
struct location_condition {
  text path;
  location_kind kind = location_kind::nothing;
};

inline byte_writer& operator<<(byte_writer& out, const location_condition& location) noexcept {
  return out << location.path << static_cast<std::uint64_t>(location.kind);
}
inline byte_reader& operator>>(byte_reader& in, location_condition& location) {
  std::uint64_t kind = 0;
  in >> location.path >> kind;
  location.kind = static_cast<location_kind>(kind);
  return in;
}

/// Returns the path of the working folder as NVRTC writes it: `PWD`, which may contain links, if
/// that is its path. Returns an empty text if the folder was removed.
inline text current_working_folder() {
  char* const name = ::get_current_dir_name();
  const text copied = name != nullptr ? text(name) : text();
  std::free(name);
  return required(copied);
}

/// The conditions of a program, besides its source and options.
struct cache_conditions {
  text compiler;                           ///< version and build of the compiler or linker
  sequence<text> folders;                  ///< where it looked for headers, in order
  sequence<file_condition> files;          ///< that it opened
  sequence<location_condition> locations;  ///< where it may have looked in vain
  text working_folder;                     ///< that the program names; empty if it names none

  /// Returns whether there are conditions on files.
  bool on_files() const noexcept { return !(files.empty() && locations.empty()); }
  /// Returns whether the condition on the working folder is met.
  bool in_working_folder() const {
    return working_folder.empty() || working_folder == current_working_folder();
  }
};

inline byte_writer& operator<<(byte_writer& out, const cache_conditions& c) noexcept {
  return out << c.compiler << c.folders << c.files << c.locations << c.working_folder;
}
inline byte_reader& operator>>(byte_reader& in, cache_conditions& c) {
  return in >> c.compiler >> c.folders >> c.files >> c.locations >> c.working_folder;
}

/// Identifies one state of a file by what the file system records about it.
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

/// The clock that file systems use for time stamps, and one that cannot be set.
struct file_clock {
  std::uint64_t stamp = 0, steady = 0;

  static file_clock now() noexcept {
    timespec stamp{}, steady{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &stamp);
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &steady);
    return {nanoseconds(stamp), nanoseconds(steady)};
  }
  /// Returns whether the clock of the file system was set between two moments, so that its stamps
  /// do not show the order of events.
  bool was_set_until(const file_clock& later) const noexcept {
    const std::uint64_t by_stamp = later.stamp - stamp, by_steady = later.steady - steady;
    const std::uint64_t apart = by_stamp > by_steady ? by_stamp - by_steady : by_steady - by_stamp;
    constexpr std::uint64_t tolerance = 20'000'000;
    return apart > tolerance && ~apart > tolerance;  // `apart` may have wrapped around
  }
};

/// Returns `identity`, or an empty one if the file was written so recently that another write could
/// leave its identity unchanged.
inline file_identity certain(const file_identity& identity, const file_clock& now) noexcept {
  return identity.changed < now.stamp ? identity : file_identity();
}

/// Reads a header and its identity. Returns false if it cannot be read as a regular file.
inline bool read_header(const text& path, text& contents, file_identity& identity) {
  open_file file;
  if (file.open(path) != 0) return false;
  identity = identity_of(file.about());
  const bool read = file.read_all(most_source_bytes, contents) == 0;
  contents = required(std::move(contents));
  return read;
}

inline bool is_below(string_ref path, const sequence<text>& folders) noexcept {
  for (const text& folder : folders) {
    if (starts_with(path, folder) && path.size() > folder.size() && path[folder.size()] == '/') {
      return true;
    }
  }
  return false;
}

/// Returns whether all conditions on files are still met. Files below the folders `installed` are
/// compared by their identities, `seen`. Others are read: a store through a shared mapping may
/// leave a file's size and stamps unchanged.
inline bool same_files(const cache_conditions& conditions, const sequence<file_identity>& seen,
                       const sequence<text>& installed) {
  for (std::size_t i = 0; i < conditions.files.size(); ++i) {
    const file_condition& file = conditions.files[i];
    if (is_below(file.path, installed)) {
      struct stat about{};
      if (::stat(file.path.c_str(), &about) != 0 || !(identity_of(about) == seen[i])) return false;
      continue;
    }
    text contents;
    file_identity identity;
    if (!read_header(file.path, contents, identity)) return false;
    if (!(digest_of(contents) == file.content)) return false;
  }
  for (const location_condition& location : conditions.locations) {
    if (kind_of_location(location.path.c_str()) != location.kind) return false;
  }
  return true;
}

/// Returns whether the files meet the conditions; if not, sets `reason`. Without a compiler,
/// `without_compiler`, headers may be missing on this machine. Sets `seen` to the identities of the
/// files, for `same_files`.
inline bool files_meet(const cache_conditions& conditions, bool without_compiler,
                       sequence<file_identity>& seen, text& reason) {
  seen.clear();
  const file_clock now = file_clock::now();
  const auto refuse = [&](const auto&... pieces) {
    text_builder out;
    (out << ... << pieces);
    reason = out.finish();
    return false;
  };
  for (const file_condition& file : conditions.files) {
    text contents;
    file_identity identity;
    if (!read_header(file.path, contents, identity)) {
      if (without_compiler) {
        seen.push_back({});
        continue;
      }
      return refuse("header ", file.path, " is not there any more");
    }
    if (!(digest_of(contents) == file.content)) return refuse("header ", file.path, " changed");
    seen.push_back(certain(identity, now));
  }
  if (without_compiler) return true;
  for (const location_condition& location : conditions.locations) {
    const location_kind kind = kind_of_location(location.path.c_str());
    if (kind == location.kind) continue;
    return refuse(location.path, kind == location_kind::nothing ? " is not there any more"
                                 : location.kind == location_kind::nothing
                                     ? " is there now, and was not"
                                     : " is something else now");
  }
  return true;
}

/// Returns whether the compiler, the working folder and the include folders meet the conditions; if
/// not, sets `reason`.
inline bool compiler_meets(const cache_conditions& conditions, const text& compiler,
                           const sequence<text>& folders, text& reason) {
  text_builder out;
  if (!(conditions.compiler == compiler)) {
    out << "this is " << compiler << " instead of " << conditions.compiler;
    reason = out.finish();
    return false;
  }
  if (!conditions.in_working_folder()) {
    out << "the working folder is " << current_working_folder() << " instead of "
        << conditions.working_folder << ", which its line information names";
    reason = out.finish();
    return false;
  }
  // Include folders do not matter to a program that includes nothing.
  if (!conditions.on_files() || folders == conditions.folders) return true;
  const std::size_t count = folders.size();
  if (count == conditions.folders.size()) {
    std::size_t same = 0;
    while (folders[same] == conditions.folders[same]) ++same;
    out << "include folder " << folders[same] << " instead of " << conditions.folders[same];
  } else {
    out << count << " include folders instead of " << conditions.folders.size();
  }
  reason = out.finish();
  return false;
}

}}}  // namespace gpu::v1::detail
