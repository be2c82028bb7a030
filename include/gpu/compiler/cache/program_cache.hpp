#pragma once
/// \file
/// `program_cache`: the settings of a cache, its programs in memory, and its counts.

#include <gpu/compiler/cache/events.hpp>
#include <gpu/compiler/cache/memory.hpp>
#include <gpu/compiler/cache/settings.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/request_key.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/system/mutex.hpp>

#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// The parts of a `compile_cache`. **Threads**: any number at once.
class program_cache {
 public:
  explicit program_cache(resolved_cache_settings&& settings) : settings_{std::move(settings)} {}
  program_cache(const program_cache&) = delete;
  program_cache& operator=(const program_cache&) = delete;

  resolved_cache_settings settings() const {
    const scoped_lock lock(mutex_);
    return settings_;
  }

  /// Replaces the settings and forgets what is in memory.
  void configure(resolved_cache_settings&& settings) {
    const scoped_lock lock(mutex_);
    settings_ = std::move(settings);
    memory_.clear();
  }

  /// Finds a program in memory that was requested in the same words before.
  bool find(const request_key& key, compiled_program& found) noexcept {
    if (!memory_.find(key, found)) return false;
    compiled_program_access::origin(found) = {origin_kind::memory, {}, {}};
    events_.add(cache_event::from_memory);
    return true;
  }

  program_memory& memory() noexcept { return memory_; }
  cache_events& events() noexcept { return events_; }
  const cache_events& events() const noexcept { return events_; }

 private:
  mutable mutex mutex_;
  resolved_cache_settings settings_;
  program_memory memory_;
  cache_events events_;
};

}}}  // namespace gpu::v1::detail
