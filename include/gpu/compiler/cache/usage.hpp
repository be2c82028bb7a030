#pragma once
/// \file
/// Keeps the cache's folder below its limit: a file records how much was stored, and a sweep
/// removes the least recently used files.

#include <gpu/compiler/cache/folder.hpp>

#include <gpu/compiler/cache/names.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/text.hpp>
#include <gpu/memory/file_descriptor.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace gpu { inline namespace v1 { namespace detail {

/// A file of the cache.
struct cached_file {
  char name[72] = {};
  std::uint64_t size = 0;
  std::int64_t last_use = 0;  // seconds since 1970
};

/// Lists the files of the cache. Removes half-written files of processes that were killed.
inline sequence<cached_file> files_of(const cache_folder& folder) {
  sequence<cached_file> files;
  const std::int64_t now = ::time(nullptr);
  folder.for_each_name([&](const char* name) {
    const bool temporary = is_temporary_name(name);
    if (!temporary && !is_entry_name(name)) return true;
    struct stat about{};
    if (::fstatat(folder.native(), name, &about, AT_SYMLINK_NOFOLLOW) != 0) return true;
    const std::int64_t age = now - about.st_mtim.tv_sec;
    if (temporary) {
      // Nobody writes for an hour; a time in the future is from before the clock was set back.
      if (age > 3600 || age < -3600) folder.remove(name);
      return true;
    }
    cached_file file;
    __builtin_memcpy(file.name, name, 67);
    file.size = static_cast<std::uint64_t>(about.st_size);
    file.last_use = age < 0 ? now : about.st_mtim.tv_sec;
    if (age < 0) ::utimensat(folder.native(), file.name, nullptr, AT_SYMLINK_NOFOLLOW);
    files.push_back(file);
    return true;
  });
  return files;
}

/// Sets the record of what is stored to one total.
inline void write_usage(const cache_folder& folder, std::uint64_t total) noexcept {
  text trouble;
  char bytes[sizeof total];
  __builtin_memcpy(bytes, &total, sizeof total);
  folder.write(cache_usage_name, {bytes, sizeof bytes}, trouble);
}

/// If there are more than `limit` bytes, removes the least recently used files until an eighth of
/// the limit is free. A process that has one of them open can still read it. Returns how many files
/// were removed.
inline std::uint64_t sweep(const cache_folder& folder, std::uint64_t limit) {
  sequence<cached_file> files = files_of(folder);
  std::uint64_t total = 0, removed = 0;
  for (const cached_file& file : files) total += file.size;
  if (total > limit) {
    std::qsort(files.data(), files.size(), sizeof(cached_file), [](const void* a, const void* b) {
      const auto first = static_cast<const cached_file*>(a)->last_use;
      const auto second = static_cast<const cached_file*>(b)->last_use;
      return first < second ? -1 : first > second ? 1 : 0;
    });
    for (const cached_file& file : files) {
      if (total <= limit - limit / 8) break;
      folder.remove(file.name);
      total -= file.size;
      ++removed;
    }
  }
  write_usage(folder, total);
  return removed;
}

/// Records that `bytes` were stored, and sweeps if the total exceeds the limit or is not known. If
/// two processes do so at once, the total may be off until the next sweep. Returns how many files
/// were removed.
inline std::uint64_t record_stored(const cache_folder& folder, std::uint64_t bytes,
                                   std::uint64_t limit) {
  constexpr std::uint64_t most_records = 4096;
  std::uint64_t total = 0, records = 0;
  {
    const file_descriptor usage = folder.open_to_write(cache_usage_name, O_RDWR | O_APPEND);
    if (!usage) return 0;
    struct stat about{};
    const bool readable = ::fstat(usage.native(), &about) == 0 && S_ISREG(about.st_mode) &&
                          static_cast<std::uint64_t>(about.st_size) < most_records * sizeof bytes;
    if (!readable ||
        !write_whole(usage.native(), {reinterpret_cast<const char*>(&bytes), sizeof bytes})) {
      return sweep(folder, limit);
    }
    std::uint64_t block[512];
    ssize_t got = 0;
    for (off_t at = 0; (got = ::pread(usage.native(), block, sizeof block, at)) > 0; at += got) {
      const std::size_t count = static_cast<std::size_t>(got) / sizeof block[0];
      for (std::size_t i = 0; i < count; ++i) total += block[i];
      records += count;
    }
  }
  if (total <= limit && records > 1 && records < most_records) return 0;
  return sweep(folder, limit);
}

}}}  // namespace gpu::v1::detail
