#pragma once
/// \file
/// `compile_cache`: keeps compiled and linked programs, in a folder for other processes and in
/// memory for this one, and reuses one if compiling or linking again would give the same.

#include <gpu/compiler/cache/events.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/program_cache.hpp>
#include <gpu/compiler/cache/settings.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/system/made_once.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 {

/// Selects where a cache keeps programs.
enum class cache_use : unsigned char {
  by_environment,  ///< `disk`, unless GPU_CACHE is `off` or `memory`
  disk,            ///< in a folder, and in memory those that this process has used
  memory,          ///< in memory only
  off,             ///< nowhere: every program is compiled or linked each time
};

/// Sets up a cache. Members that keep their defaults are taken from the environment: GPU_CACHE,
/// GPU_CACHE_DIR and GPU_CACHE_SIZE.
struct cache_settings {
  cache_use use = cache_use::by_environment;
  /// An absolute path. If empty: $GPU_CACHE_DIR, $XDG_CACHE_HOME/gpu or ~/.cache/gpu, whichever
  /// comes first.
  option_text folder = {};
  /// The size limit of the folder in bytes. 0 means $GPU_CACHE_SIZE, a number with an optional K, M
  /// or G behind it, or else 512 MiB.
  std::uint64_t folder_limit = 0;
  /// The size limit of what is kept in memory, in bytes.
  std::uint64_t memory_limit = 64u << 20;
};

/// Counts what a cache has done in this process.
struct cache_counters {
  std::uint64_t from_memory = 0;  ///< programs found in memory
  std::uint64_t from_disk = 0;    ///< programs found in the folder
  std::uint64_t compiled = 0;     ///< programs that had to be compiled or linked
  std::uint64_t waited = 0;   ///< of the first two, those that another thread or process just made
  std::uint64_t stored = 0;   ///< programs written to the folder
  std::uint64_t damaged = 0;  ///< damaged files that were removed
  std::uint64_t evicted = 0;  ///< files removed to stay below the limit
};

namespace detail {

struct compile_cache_access;

/// Combines settings from code with those of the environment.
inline resolved_cache_settings resolve_cache_settings(const cache_settings& settings) {
  resolved_cache_settings resolved;
  resolved.memory_limit = settings.memory_limit;
  const auto complain = [&](const char* variable, string_ref value, const char* problem) {
    text_builder out;
    out << variable << " is \"" << escaped{value} << "\", " << problem;
    resolved.trouble = out.finish();
  };

  cache_use use = settings.use;
  if (use == cache_use::by_environment) {
    const string_ref value = variable_or_empty("GPU_CACHE");
    use = value == "off" ? cache_use::off : value == "memory" ? cache_use::memory : cache_use::disk;
    if (!(value.empty() || value == "off" || value == "memory" || value == "on")) {
      complain("GPU_CACHE", value, "but has to be on, memory or off");
    }
  }

  constexpr std::uint64_t default_limit = 512u << 20;
  resolved.folder_limit = settings.folder_limit;
  if (resolved.folder_limit == 0) {
    const char* value = variable_or_empty("GPU_CACHE_SIZE");
    if (*value == '\0') {
      resolved.folder_limit = default_limit;
    } else if (!parse_bytes(value, resolved.folder_limit)) {
      resolved.folder_limit = default_limit;
      complain("GPU_CACHE_SIZE", value,
               "which is not a number of bytes such as 512M; the limit is 512M");
    }
  }

  resolved.in_memory = use != cache_use::off;
  if (use == cache_use::disk) resolve_cache_folder(settings.folder, resolved);
  return resolved;
}

}  // namespace detail

/// Keeps compiled and linked programs. `compile` and `link` use the cache of the process,
/// `compile_cache::of_process()`, unless their options name another:
///
///     gpu::compile_cache cache({.folder = "/opt/product/kernels"});
///     gpu::compile(source, {.cache = &cache});
///
/// A program is reused if source, headers, options, architecture, compiler and the contents of all
/// files that the compilation opened are the same; for a link, inputs, options, architecture and
/// linker. If the folder is read-only, full, damaged or deleted, programs are compiled again, and
/// nothing fails. A folder that holds other things is not touched. `trouble` and
/// `compiled_program::origin` say what is wrong.
/// **Threads**: any number may use one cache, and any number of processes one folder; a program
/// that two of them need at once is compiled once.
/// **Fork**: a child starts with nothing in memory.
class compile_cache {
 public:
  /// Creates nothing on disk: the folder is created when something is stored.
  explicit compile_cache(const cache_settings& settings = {})
      : cache_{detail::resolve_cache_settings(settings)} {}
  compile_cache(const compile_cache&) = delete;
  compile_cache& operator=(const compile_cache&) = delete;

  /// Returns the cache that `compile` and `link` use by default. It lives until the process ends.
  static compile_cache& of_process() {
    static compile_cache* cache = nullptr;
    return *detail::made_once(cache, [] { return new compile_cache; });
  }

  /// Replaces the settings, reads the environment again, and forgets what is in memory.
  /// **Threads**: compilations that are under way use the old settings.
  void configure(const cache_settings& settings) {
    cache_.configure(detail::resolve_cache_settings(settings));
  }

  /// Returns where programs are kept; never `by_environment`.
  cache_use use() const {
    const detail::resolved_cache_settings settings = cache_.settings();
    return settings.on_disk     ? cache_use::disk
           : settings.in_memory ? cache_use::memory
                                : cache_use::off;
  }
  /// Returns the path of the folder; empty if the cache has none.
  text folder() const { return cache_.settings().folder; }
  /// Returns the size limit of the folder in bytes.
  std::uint64_t folder_limit() const { return cache_.settings().folder_limit; }

  /// Returns what keeps the cache from working as set up, and what to do; empty if nothing does.
  text trouble() const {
    const detail::resolved_cache_settings settings = cache_.settings();
    text found = settings.trouble;
    if (settings.on_disk && found.empty()) {
      detail::cache_folder::open(settings.folder, false, found);
    }
    return found;
  }

  /// Returns the counts since the cache was created.
  cache_counters counters() const noexcept {
    using kind = detail::cache_event;
    const detail::cache_events& events = cache_.events();
    return {.from_memory = events.count(kind::from_memory),
            .from_disk = events.count(kind::from_disk),
            .compiled = events.count(kind::compiled),
            .waited = events.count(kind::waited),
            .stored = events.count(kind::stored),
            .damaged = events.count(kind::damaged),
            .evicted = events.count(kind::evicted)};
  }

  /// Forgets what is in memory; the folder stays as it is.
  void forget() noexcept { cache_.memory().clear(); }

 private:
  friend struct detail::compile_cache_access;

  detail::program_cache cache_;
};

namespace detail {

/// Gives `compile`, `link` and the functions of cache_contents.hpp the programs of a cache.
struct compile_cache_access {
  static program_cache& programs(compile_cache& cache) noexcept { return cache.cache_; }
  /// The cache that options name, or else that of the process.
  static program_cache& chosen(compile_cache* cache) {
    return (cache != nullptr ? *cache : compile_cache::of_process()).cache_;
  }
};

}  // namespace detail

}}  // namespace gpu::v1
