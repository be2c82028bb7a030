#pragma once
/// \file
/// The names of the files in a cache's folder. Other programs are not expected to use such names,
/// so that the cache can tell its own files from theirs.

#include <initializer_list>

namespace gpu { inline namespace v1 { namespace detail {

/// The file that marks a folder as a cache's, and its contents, for people.
inline constexpr char cache_mark[] = "gpu-cache";
inline constexpr char cache_mark_contents[] =
    "This folder is a compile cache of the library gpu. It may be deleted at any time.\n";

/// The file that records how much was stored, and the one whose bytes processes lock.
inline constexpr char cache_usage_name[] = "gpu-cache-usage";
inline constexpr char cache_lock_name[] = "gpu-cache-lock";

/// The prefix of files that are being written.
inline constexpr char temporary_prefix[] = ".new-";

/// The name of any file, cut off if it is too long.
struct cache_name {
  char characters[256] = {};
};

/// Skips hexadecimal digits in lower case. Returns how many there are.
constexpr int skip_digits(const char*& at) noexcept {
  const char* const begin = at;
  while ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f')) ++at;
  return static_cast<int>(at - begin);
}

/// Returns whether a name is that of an entry: 64 hexadecimal digits, a dot, and one character.
constexpr bool is_entry_name(const char* name) noexcept {
  return skip_digits(name) == 64 && name[0] == '.' && name[1] != '\0' && name[2] == '\0';
}

/// Returns whether a name is that of a file being written: `.new-` and three numbers.
constexpr bool is_temporary_name(const char* name) noexcept {
  for (const char* expected = temporary_prefix; *expected != '\0'; ++expected, ++name) {
    if (*name != *expected) return false;
  }
  if (skip_digits(name) == 0 || *name++ != '-') return false;
  if (skip_digits(name) == 0 || *name++ != '-') return false;
  return skip_digits(name) != 0 && *name == '\0';
}

/// Returns whether a cache may have made a file of that name. The last two names are those of the
/// first version, which are not used any more.
inline bool is_cache_name(const char* name) noexcept {
  for (const char* own : {cache_mark, cache_usage_name, cache_lock_name, "usage", "lock"}) {
    if (__builtin_strcmp(name, own) == 0) return true;
  }
  return is_entry_name(name) || is_temporary_name(name);
}

}}}  // namespace gpu::v1::detail
