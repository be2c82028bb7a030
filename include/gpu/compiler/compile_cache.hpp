#pragma once
/// \file
/// `compile_cache`: compiled and linked programs that are kept, in a folder for the next process
/// and in memory for this one, and used again where doing the work again would give the same.

#include <gpu/compiler/cache/disk.hpp>
#include <gpu/compiler/cache/lock.hpp>
#include <gpu/compiler/cache_settings.hpp>
#include <gpu/compiler/detail/catch_bad_alloc.hpp>
#include <gpu/system/made_once.hpp>

namespace gpu::inline v0 {

namespace detail {
template <class Builder> struct cached_compilation;
template <class Work> struct cached_work;
class cache_counters_access;
}  // namespace detail

/// Keeps compiled programs and linked ones. `compile` and `link` use the one of the process,
/// `compile_cache::of_process()`, unless their options name another:
///
///     gpu::compile_cache cache({.folder = "/opt/product/kernels"});
///     gpu::compile(source, {.cache = &cache});
///
/// A program is used again where source, headers, options, architecture, compiler and the contents
/// of all files that the compilation opened are the same; for a link, inputs, options, architecture
/// and linker. A folder that is read-only, full, damaged or deleted costs time and nothing else,
/// and one that holds other things is not touched: `trouble` and `compiled_program::origin` say
/// what is wrong. **Threads**: any number may use one cache, and any number of processes one
/// folder; what two of them want at once is compiled once. **Fork**: a child goes on with an empty
/// memory.
class compile_cache {
 public:
  /// Makes nothing yet: the folder is made when something is stored.
  explicit compile_cache(const cache_settings& settings = {})
      : settled_{detail::settle_cache(settings)} {}
  compile_cache(const compile_cache&) = delete;
  compile_cache& operator=(const compile_cache&) = delete;

  /// The cache that `compile` and `link` use where nothing else is said. It lasts until the process
  /// ends.
  static compile_cache& of_process() {
    static compile_cache* cache = nullptr;
    return *detail::made_once(cache, [] { return new compile_cache; });
  }

  /// Sets the cache up anew, and reads the environment again. What is in memory is forgotten.
  /// **Threads**: what is being compiled meanwhile goes by the old settings.
  void configure(const cache_settings& settings) {
    detail::settled_cache settled = detail::settle_cache(settings);
    const detail::scoped_lock lock(mutex_);
    settled_ = detail::move(settled);
    memory_.clear();
  }

  /// What it uses; never `by_environment`.
  cache_use use() const { return settled().use; }
  /// The folder's path; empty where it has none.
  text folder() const { return settled().folder; }
  /// The most bytes that the folder may hold.
  std::uint64_t folder_limit() const { return settled().folder_limit; }

  /// What keeps the cache from working as set up, in a sentence with a cure; empty where nothing
  /// does.
  text trouble() const {
    const detail::settled_cache now = settled();
    text found = now.trouble;
    if (now.use == cache_use::disk && found.empty()) {
      detail::cache_folder::open(now.folder, false, found);
    }
    return found;
  }

  cache_counters counters() const noexcept {
    cache_counters copied;
    const auto read = [](const std::uint64_t& from) {
      return __atomic_load_n(&from, __ATOMIC_RELAXED);
    };
    copied.from_memory = read(counters_.from_memory);
    copied.from_disk = read(counters_.from_disk);
    copied.compiled = read(counters_.compiled);
    copied.waited = read(counters_.waited);
    copied.stored = read(counters_.stored);
    copied.damaged = read(counters_.damaged);
    copied.evicted = read(counters_.evicted);
    return copied;
  }

  /// Forgets what is in memory; the folder stays as it is.
  void forget() noexcept { memory_.clear(); }

 private:
  template <class Builder> friend struct detail::cached_compilation;
  template <class Work> friend struct detail::cached_work;
  friend class detail::cache_counters_access;

  detail::settled_cache settled() const {
    const detail::scoped_lock lock(mutex_);
    return settled_;
  }

  mutable detail::mutex mutex_;
  detail::settled_cache settled_;
  detail::program_memory memory_;
  cache_counters counters_ = {};
};

namespace detail {

/// For what works on a cache's folder beside `compile`.
class cache_counters_access {
 public:
  explicit cache_counters_access(compile_cache& cache) noexcept : counters_{cache.counters_} {}
  cache_counters& get() const noexcept { return counters_; }

 private:
  cache_counters& counters_;
};

}  // namespace detail

}  // namespace gpu::inline v0
