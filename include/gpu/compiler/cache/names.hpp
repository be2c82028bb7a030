#pragma once
/// \file
/// The names of the files in a cache's folder. They are of a form that nobody else uses, so that
/// the cache touches no file but its own.

#include <initializer_list>

namespace gpu::inline v0::detail {

/// The file that says that a folder is a cache's, and what it says to people.
inline constexpr char cache_mark[] = "gpu-cache";
inline constexpr char cache_mark_contents[] =
    "This folder is a compile cache of the library gpu. It may be deleted at any time.\n";

/// The file that adds up what was stored, and the one whose bytes processes lock.
inline constexpr char cache_usage_name[] = "gpu-cache-usage";
inline constexpr char cache_lock_name[] = "gpu-cache-lock";

/// Files that are being written begin so. One that is left over belongs to a process that ended.
inline constexpr char temporary_prefix[] = ".new-";

/// The name of any file, cut off where it is too long.
struct cache_name {
  char characters[256] = {};
};

/// Moves `at` over hexadecimal digits in small letters. Returns how many there are.
constexpr int skip_digits(const char*& at) noexcept {
  const char* const begin = at;
  while ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f')) ++at;
  return static_cast<int>(at - begin);
}

/// Whether a name is that of a file with contents: 64 hexadecimal digits, a dot, and a kind.
constexpr bool is_entry_name(const char* name) noexcept {
  return skip_digits(name) == 64 && name[0] == '.' && name[1] != '\0' && name[2] == '\0';
}

/// Whether it is that of a file that is being written: `.new-`, and three numbers.
constexpr bool is_temporary_name(const char* name) noexcept {
  for (const char* expected = temporary_prefix; *expected != '\0'; ++expected, ++name) {
    if (*name != *expected) return false;
  }
  if (skip_digits(name) == 0 || *name++ != '-') return false;
  if (skip_digits(name) == 0 || *name++ != '-') return false;
  return skip_digits(name) != 0 && *name == '\0';
}

/// Whether a cache may have made a file of that name. Two names are those that its first version
/// used, and that are not touched any more.
inline bool is_cache_name(const char* name) noexcept {
  for (const char* own : {cache_mark, cache_usage_name, cache_lock_name, "usage", "lock"}) {
    if (__builtin_strcmp(name, own) == 0) return true;
  }
  return is_entry_name(name) || is_temporary_name(name);
}

}  // namespace gpu::inline v0::detail
