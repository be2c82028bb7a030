#pragma once
/// \file
/// Compiles or links through a cache: looks in memory, then in the folder, then does the work, and
/// keeps what came of it.

#include <gpu/compiler/cache/toolkit_notes.hpp>
#include <gpu/compiler/compile_cache.hpp>

namespace gpu::inline v0::detail {

/// One piece of work: a compilation or a link. No lock is held while anything is read or made, but
/// for the advice that other processes get about this one program. `Work` tells
/// - `key()`: a digest of all that was asked for, texts, inputs, options and architecture;
/// - `folders()`: where headers are looked for, which counts where one is;
/// - `installed_folders()`: those of them whose files nobody writes but an installer;
/// - `compiler()`: what would make the program, by version and build; empty where there is none;
///   after `make`, `used_compiler()` is what made it;
/// - `compiler_will_do(conditions, reason)`: whether what that compiler made will do; if not,
///   `reason` says why not;
/// - `missing_product(state)`: the name of something that it has to make and did not, or null;
/// - `name()` and `summary()`: what people call it, and what to compare it with to say why it was
///   not there;
/// - `make(kept, unstorable)`: does it, and says why it cannot be stored, where it cannot;
/// - `library`: what is opened for it, and `get_facts(facts)`, what is known of it then;
/// - `origin`, `verb`, `done`: in words.
template <class Work> struct cached_work {
  compile_cache& cache;
  const Work& work;
  const recent_request* said;  // null where there is none that says all

  /// To be called before `work` is put together: lets it do without opening the library where the
  /// cache's folder tells enough about it.
  static void prepare(compile_cache& cache) {
    if (library_table_in_force<typename Work::library>() != nullptr) return;
    const settled_cache settings = cache.settled();
    if (settings.use == cache_use::disk) recall::before_use(settings.folder);
  }

  result<compiled_program> run() {
    const settled_cache settings = cache.settled();
    if (settings.use == cache_use::off) {
      kept_program made;
      GPU_TRY(work.make(made, nullptr));
      compiled_program_access::origin(made.program) = {Work::origin, text("the cache is off"), {}};
      count_one(cache.counters_.compiled);
      return detail::move(made.program);
    }
    const digest key = work.key();
    digest_builder request;
    request << key;
    for (const text& folder : work.folders()) request << string_ref(folder);
    const digest request_key = request.finish();
    for (;;) {
      bool mine = false, waited = false;
      program_memory::entry* entry = cache.memory_.acquire(request_key, mine, waited);
      if (entry == nullptr) continue;  // the thread that was waited for failed: try it here
      if (mine) {
        const claim held{cache.memory_, entry};
        return fill(settings, key, entry);
      }
      const user held{cache.memory_, entry};
      if (still_holds(entry)) {
        count_one(cache.counters_.from_memory);
        if (waited) count_one(cache.counters_.waited);
        compiled_program found = entry->kept.program;
        if (said != nullptr) cache.memory_.add_quick(entry, *said);
        compiled_program_access::origin(found) = {origin_kind::memory, {}, {}};
        return found;
      }
      cache.memory_.drop(entry);
    }
  }

 private:
  using recall = library_recall<typename Work::library>;

  /// Gives an entry back; one that was not filled goes.
  struct claim {
    program_memory& memory;
    program_memory::entry* entry;
    ~claim() {
      if (!entry->ready) memory.drop(entry);
      memory.release(entry);
    }
  };
  struct user {
    program_memory& memory;
    program_memory::entry* entry;
    ~user() { memory.release(entry); }
  };

  bool still_holds(program_memory::entry* entry) {
    const cache_conditions& conditions = entry->kept.conditions;
    const text compiler = work.compiler();
    if (!(compiler == entry->kept.asked_of || compiler == conditions.compiler)) return false;
    if (!conditions.in_working_folder()) return false;
    if (!conditions.on_files()) return true;
    if (same_files(conditions, cache.memory_.seen(entry), work.installed_folders())) return true;
    sequence<file_identity> seen;
    text reason;
    if (!files_meet(conditions, false, seen, reason)) return false;
    cache.memory_.refresh(entry, detail::move(seen));
    return true;
  }

  /// Fills an entry of the memory from the folder or by doing the work.
  result<compiled_program> fill(const settled_cache& settings, const digest& key,
                                program_memory::entry* entry) {
    program_origin origin{Work::origin, {}, {}};
    kept_program made;
    if (settings.use == cache_use::disk) {
      GPU_TRY(through_folder(settings, key, made, origin));
    } else {
      GPU_TRY(make(made, nullptr));
      origin.reason = in_words("this process did not ", Work::verb, " it before");
      origin.not_stored =
          settings.trouble.empty() ? text("the cache is set to memory alone") : settings.trouble;
    }
    count_one(origin.kind == origin_kind::disk ? cache.counters_.from_disk
                                               : cache.counters_.compiled);
    compiled_program program = made.program;
    made.asked_of = work.compiler();
    if (made.storable) cache.memory_.publish(entry, detail::move(made), settings.memory_limit);
    compiled_program_access::origin(program) = detail::move(origin);
    return program;
  }

  /// Does the work without the folder where that and its lock took descriptors that the work needs.
  result<> through_folder(const settled_cache& settings, const digest& key, kept_program& made,
                          program_origin& origin) {
    result<> done = use_folder(settings, key, made, origin);
    if (done.has_value() || !lacks_descriptors(done.error().message())) return done;
    made = {};
    origin.not_stored = text(
        "the process has no file descriptors left for the cache. Close some, or raise their limit "
        "(ulimit -n)");
    return make(made, nullptr);
  }

  result<> use_folder(const settled_cache& settings, const digest& key, kept_program& made,
                      program_origin& origin) {
    const cache_folder folder = cache_folder::open(settings.folder, true, origin.not_stored);
    if (!folder) {
      origin.reason = origin.not_stored;
      return make(made, nullptr);
    }
    const program_disk disk(folder, key, cache.counters_);
    if (disk.find(work, made, origin.reason)) {
      recall::after_use(folder, &Work::get_facts);
      origin = {origin_kind::disk, {}, {}};
      return {};
    }
    const cache_lock lock(folder, key);
    if (lock.waited() && disk.find(work, made, origin.reason)) {
      count_one(cache.counters_.waited);
      origin = {origin_kind::disk, {}, {}};
      return {};
    }
    const request_summary summary = work.summary();
    const summary_notes notes(folder);
    if (origin.reason.empty()) origin.reason = notes.explain(summary);
    if (origin.reason.empty()) origin.reason = in_words("it was not ", Work::done, " before");
    made = {};
    GPU_TRY(make(made, &origin.not_stored));
    if (!made.storable) return {};
    recall::after_use(folder, &Work::get_facts);
    const std::uint64_t limit = settings.folder_limit;
    const std::uint64_t stored = disk.store(made, work.name(), limit, origin.not_stored);
    if (stored != 0) disk.account(stored + notes.add(summary), limit);
    return {};
  }

  result<> make(kept_program& made, text* unstorable) {
    GPU_TRY(work.make(made, unstorable));
    made.conditions.compiler = work.used_compiler();
    return {};
  }

  static text in_words(const auto&... pieces) {
    text_builder out;
    (out << ... << pieces);
    return out.finish();
  }
};

/// Does `work` through `cache`. `said` is what the caller said, where that says all.
template <class Work>
result<compiled_program> through_cache(compile_cache& cache, const Work& work,
                                       const recent_request* said = nullptr) {
  return cached_work<Work>{cache, work, said}.run();
}

}  // namespace gpu::inline v0::detail
