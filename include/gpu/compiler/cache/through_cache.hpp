#pragma once
/// \file
/// `through_cache`: finds a requested program in memory or in the folder, or else makes and keeps
/// it.

#include <gpu/compiler/cache/cache_request.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/disk.hpp>
#include <gpu/compiler/cache/events.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/kept_program.hpp>
#include <gpu/compiler/cache/lock.hpp>
#include <gpu/compiler/cache/memory.hpp>
#include <gpu/compiler/cache/program_cache.hpp>
#include <gpu/compiler/cache/settings.hpp>
#include <gpu/compiler/cache/summary.hpp>
#include <gpu/compiler/cache/toolkit_notes.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/request_key.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Reads the notes about a library, so that a request can be put together without opening it. To be
/// called before that.
template <class Library> void read_toolkit_notes(const program_cache& cache) {
  if (library_table_in_force<Library>() != nullptr) return;
  const resolved_cache_settings settings = cache.settings();
  if (settings.on_disk) toolkit_notes<Library>::read_before_use(settings.folder);
}

/// Compiles or links.
inline result<> make_program(const cache_request& request, kept_program& made, text* unstorable) {
  GPU_TRY(request.make(made, unstorable));
  made.conditions.compiler = request.used_compiler();
  return {};
}

/// Finds a program in the folder, or makes and stores it. Sets `origin`, whose `kind` is what
/// making it gives on entry.
inline result<> find_or_make_in(const cache_folder& folder, program_cache& cache,
                                std::uint64_t folder_limit, const digest& key,
                                const cache_request& request, kept_program& made,
                                program_origin& origin) {
  const program_disk disk(folder, key, cache.events());
  if (disk.find(request, made, origin.reason)) {
    request.write_toolkit_notes(folder);
    origin = {origin_kind::disk, {}, {}};
    return {};
  }
  const cache_lock lock(folder, key);
  if (lock.waited() && disk.find(request, made, origin.reason)) {
    cache.events().add(cache_event::waited);
    origin = {origin_kind::disk, {}, {}};
    return {};
  }
  const request_summary summary = request.summary();
  const summary_notes notes(folder);
  if (origin.reason.empty()) origin.reason = notes.explain(summary);
  if (origin.reason.empty()) {
    text_builder out;
    out << "it was not " << request.in_words.participle << " before";
    origin.reason = out.finish();
  }
  made = {};
  GPU_TRY(make_program(request, made, &origin.not_stored));
  if (!made.storable) return {};
  request.write_toolkit_notes(folder);
  const std::uint64_t size = disk.store(made, request.name, folder_limit, origin.not_stored);
  if (size != 0) disk.account(size + notes.add(summary), folder_limit);
  return {};
}

inline text no_descriptors_for_cache() noexcept {
  return text(
      "the process has no file descriptors left for the cache. Close some, or raise their limit "
      "(ulimit -n)");
}

/// Finds a program in the folder of the settings, or makes it.
inline result<> find_or_make(program_cache& cache, const resolved_cache_settings& settings,
                             const digest& key, const cache_request& request, kept_program& made,
                             program_origin& origin) {
  if (!settings.on_disk) {
    text_builder out;
    out << "this process did not " << request.in_words.verb << " it before";
    origin.reason = out.finish();
    origin.not_stored =
        settings.trouble.empty() ? text("the cache is set to memory only") : settings.trouble;
    return make_program(request, made, nullptr);
  }
  if (!has_spare_descriptors()) {
    origin.not_stored = no_descriptors_for_cache();
    origin.reason = origin.not_stored;
    return make_program(request, made, nullptr);
  }
  const cache_folder folder = cache_folder::open(settings.folder, true, origin.not_stored);
  if (!folder) {
    origin.reason = origin.not_stored;
    return make_program(request, made, nullptr);
  }
  return find_or_make_in(folder, cache, settings.folder_limit, key, request, made, origin);
}

/// Fills an entry of the memory.
inline result<compiled_program> fill_entry(program_cache& cache,
                                           const resolved_cache_settings& settings,
                                           const digest& key, const cache_request& request,
                                           program_memory::entry* entry) {
  program_origin origin{request.in_words.origin, {}, {}};
  kept_program made;
  result<> done = find_or_make(cache, settings, key, request, made, origin);
  if (!done.has_value()) {
    if (!settings.on_disk || !lacks_descriptors(done.error().message())) {
      return fail(std::move(done).error());
    }
    // The folder and its lock took file descriptors that the compiler needs.
    made = {};
    origin.not_stored = no_descriptors_for_cache();
    GPU_TRY(make_program(request, made, nullptr));
  }
  cache.events().add(origin.kind == origin_kind::disk ? cache_event::from_disk
                                                      : cache_event::compiled);
  compiled_program program = made.program;
  made.requested_compiler = request.compiler;
  if (made.storable) cache.memory().publish(entry, std::move(made), settings.memory_limit);
  compiled_program_access::origin(program) = std::move(origin);
  return program;
}

/// Returns whether a program in memory still meets its conditions.
inline bool still_holds(program_memory& memory, program_memory::entry* entry,
                        const cache_request& request) {
  const kept_program& kept = entry->kept;
  const cache_conditions& conditions = kept.conditions;
  if (!(request.compiler == kept.requested_compiler || request.compiler == conditions.compiler)) {
    return false;
  }
  if (!conditions.in_working_folder()) return false;
  if (!conditions.on_files()) return true;
  if (same_files(conditions, memory.seen(entry), request.installed_folders)) return true;
  sequence<file_identity> seen;
  text reason;
  if (!files_meet(conditions, false, seen, reason)) return false;
  memory.refresh(entry, std::move(seen));
  return true;
}

/// Releases an entry at the end of a scope; one that is not filled by then is dropped.
struct entry_release {
  program_memory& memory;
  program_memory::entry* entry;
  bool mine;

  ~entry_release() {
    if (mine && !entry->ready) memory.drop(entry);
    memory.release(entry);
  }
};

/// Returns the program of a request: from memory, from the folder, or made now. If `words` is not
/// null, the cache finds the program by it from now on. No lock is held while anything is read or
/// made, except the advisory one between processes for this one program.
inline result<compiled_program> through_cache(program_cache& cache, const cache_request& request,
                                              const request_key* words = nullptr) {
  const resolved_cache_settings settings = cache.settings();
  if (!settings.in_memory) {
    kept_program made;
    GPU_TRY(request.make(made, nullptr));
    compiled_program_access::origin(made.program) = {
        request.in_words.origin, text("the cache is off"), {}};
    cache.events().add(cache_event::compiled);
    return std::move(made.program);
  }
  const digest key = request.key();
  digest_builder key_in_memory;
  key_in_memory << key;
  for (const text& folder : request.folders) key_in_memory << string_ref(folder);
  const digest memory_key = key_in_memory.finish();
  for (;;) {
    bool mine = false, waited = false;
    program_memory::entry* const entry = cache.memory().acquire(memory_key, mine, waited);
    if (entry == nullptr) continue;  // the thread that was waited for failed: try it here
    const entry_release held{cache.memory(), entry, mine};
    if (mine) return fill_entry(cache, settings, key, request, entry);
    if (still_holds(cache.memory(), entry, request)) {
      cache.events().add(cache_event::from_memory);
      if (waited) cache.events().add(cache_event::waited);
      compiled_program found = entry->kept.program;
      if (words != nullptr) cache.memory().add(entry, *words);
      compiled_program_access::origin(found) = {origin_kind::memory, {}, {}};
      return found;
    }
    cache.memory().drop(entry);
  }
}

}}}  // namespace gpu::v1::detail
