#pragma once
/// \file
/// What has to be so for a compiled program to be what a compilation would give now: the compiler,
/// the content of each file that was opened, and each place that was looked at before.

#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/core/detail/string_scan.hpp>

namespace gpu::inline v0::detail {

/// A file that a compilation opened, and what it held.
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

/// What there is at a path, as far as one can tell who looks there for a header.
enum class place_kind : std::uint64_t { nothing, file, folder, other };

/// `about` is what the system says of it. A file that cannot be read is `other`.
inline place_kind kind_of_place(const char* path, struct stat& about) noexcept {
  if (::stat(path, &about) != 0) return place_kind::nothing;
  if (S_ISDIR(about.st_mode)) return place_kind::folder;
  const bool readable =
      S_ISREG(about.st_mode) && ::faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
  return readable ? place_kind::file : place_kind::other;
}
inline place_kind kind_of_place(const char* path) noexcept {
  struct stat about{};
  return kind_of_place(path, about);
}

/// A place where a compilation looked, and opened nothing.
struct place_condition {
  text path;
  place_kind kind = place_kind::nothing;
};

inline byte_writer& operator<<(byte_writer& out, const place_condition& place) noexcept {
  return out << place.path << static_cast<std::uint64_t>(place.kind);
}
inline byte_reader& operator>>(byte_reader& in, place_condition& place) {
  std::uint64_t kind = 0;
  in >> place.path >> kind;
  place.kind = static_cast<place_kind>(kind);
  return in;
}

/// Returns the working folder as NVRTC names it: by `PWD` if that is its name, which may have
/// links. Empty if it has none any more.
inline text current_working_folder() {
  char* const name = ::get_current_dir_name();
  const text copied = name != nullptr ? text(name) : text();
  std::free(name);
  return required(copied);
}

/// What a compiled program depends on besides its source and options.
struct cache_conditions {
  text compiler;                     ///< the compiler's or linker's version and build
  sequence<text> folders;            ///< where it looked for headers, in order
  sequence<file_condition> files;    ///< what it opened
  sequence<place_condition> places;  ///< where it may have looked besides
  text working_folder;               ///< whose name is in it; empty where none is

  /// Whether it depends on any file or place.
  bool on_files() const noexcept { return !(files.empty() && places.empty()); }
  /// Whether the working folder is the one.
  bool in_working_folder() const {
    return working_folder.empty() || working_folder == current_working_folder();
  }
};

inline byte_writer& operator<<(byte_writer& out, const cache_conditions& c) noexcept {
  return out << c.compiler << c.folders << c.files << c.places << c.working_folder;
}
inline byte_reader& operator>>(byte_reader& in, cache_conditions& c) {
  return in >> c.compiler >> c.folders >> c.files >> c.places >> c.working_folder;
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
inline bool read_header(const text& path, text& contents, file_identity& identity) {
  const auto file = file_descriptor::adopt(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat about{};
  if (!file || ::fstat(file.native(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
  identity = identity_of(about);
  const bool read = read_whole(file.native(), about, contents) == 0;
  contents = required(detail::move(contents));
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

/// Whether nothing happened to any file or place. Of files below the folders `installed` the system
/// is asked alone, which knows them as `seen`. Others are read: a store through a shared mapping
/// may leave a file's size and stamps as they are.
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
  for (const place_condition& place : conditions.places) {
    if (kind_of_place(place.path.c_str()) != place.kind) return false;
  }
  return true;
}

/// Whether the files meet the conditions; if not, `reason` says why not. If a program is taken
/// without a compiler, `without_compiler`, it does not matter that this machine lacks a header.
/// `seen` are the identities of the files, for `same_files`.
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
  for (const place_condition& place : conditions.places) {
    const place_kind kind = kind_of_place(place.path.c_str());
    if (kind == place.kind) continue;
    return refuse(place.path, kind == place_kind::nothing         ? " is not there any more"
                              : place.kind == place_kind::nothing ? " is there now, and was not"
                                                                  : " is something else now");
  }
  return true;
}

/// The same for the compiler, the working folder, and the folders that it is told to look in.
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
  // Folders matter to those that looked for something.
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

}  // namespace gpu::inline v0::detail
