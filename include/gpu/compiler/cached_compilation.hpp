#pragma once
/// \file
/// Compiles through a cache: looks in memory, then in the folder, then asks NVRTC, and keeps what
/// came of it.

#include <gpu/compiler/cache_gather.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/nvrtc_recall.hpp>

namespace gpu::detail {

/// One compilation. No lock is held while anything is read or compiled, but for the advice that
/// other processes get about this one program.
template <class Builder = text_builder> struct cached_compilation {
  compile_cache& cache;
  const compile_request& request;
  const quick_request* said;  // null where it does not say all
  source_location where;

  /// Finds what was compiled in this process for the very same words.
  static bool find_quick(compile_cache& cache, const quick_request& said, compiled_program& found) {
    if (!cache.memory_.find_quick(said, found)) return false;
    set_origin(found, {origin_kind::memory, {}, {}});
    count_one(cache.counters_.from_memory);
    return true;
  }

  /// Has the request settled without NVRTC where the cache's folder tells enough about it.
  static void prepare(compile_cache& cache) {
    if (nvrtc::entry_points_in_force() != nullptr) return;
    const settled_cache settings = cache.settled();
    if (settings.use == cache_use::disk) nvrtc_recall::before_use(settings.folder);
  }

  result<compiled_program> run() {
    const settled_cache settings = cache.settled();
    if (settings.use == cache_use::off) {
      kept_program made;
      GPU_TRY(compile(made));
      set_origin(made.program, {origin_kind::compiled, text("the cache is off"), {}});
      count_one(cache.counters_.compiled);
      return detail::move(made.program);
    }
    for (;;) {
      bool mine = false, waited = false;
      program_memory::entry* entry = cache.memory_.acquire(request, mine, waited);
      if (entry == nullptr) continue;  // the thread that was waited for failed: try it here
      if (mine) {
        const claim held{cache.memory_, entry};
        return fill(settings, entry);
      }
      const user held{cache.memory_, entry};
      if (still_holds(entry)) {
        count_one(cache.counters_.from_memory);
        if (waited) count_one(cache.counters_.waited);
        compiled_program found = entry->kept.program;
        if (said != nullptr) cache.memory_.add_quick(entry, *said);
        set_origin(found, {origin_kind::memory, {}, {}});
        return found;
      }
      cache.memory_.drop(entry);
    }
  }

 private:
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

  static void set_origin(compiled_program& program, program_origin&& origin) {
    compiled_program_access::origin(program) = detail::move(origin);
  }

  bool still_holds(program_memory::entry* entry) {
    const cache_conditions& conditions = entry->kept.conditions;
    if (nvrtc::entry_points_in_force() != entry->kept.nvrtc &&
        !(request.compiler == conditions.compiler)) {
      return false;
    }
    if (!conditions.on_files()) return true;
    if (same_files(conditions, cache.memory_.seen(entry))) return true;
    sequence<file_identity> seen;
    if (!unmet_file_condition(conditions, false, seen).empty()) return false;
    cache.memory_.refresh(entry, detail::move(seen));
    return true;
  }

  /// Fills an entry of the memory from the folder or by compiling.
  result<compiled_program> fill(const settled_cache& settings, program_memory::entry* entry) {
    program_origin origin;
    kept_program made;
    if (settings.use == cache_use::disk) {
      GPU_TRY(through_folder(settings, made, origin));
    } else {
      GPU_TRY(compile(made));
      made.conditions.compiler = nvrtc_identity(nvrtc::current_entry_points());
      origin.reason = text("this process did not compile it before");
      origin.not_stored =
          settings.trouble.empty() ? text("the cache is set to memory alone") : settings.trouble;
    }
    count_one(origin.kind == origin_kind::disk ? cache.counters_.from_disk
                                               : cache.counters_.compiled);
    compiled_program program = made.program;
    made.nvrtc = nvrtc::entry_points_in_force();
    if (made.storable) cache.memory_.publish(entry, detail::move(made), settings.memory_limit);
    set_origin(program, detail::move(origin));
    return program;
  }

  result<> through_folder(const settled_cache& settings, kept_program& made,
                          program_origin& origin) {
    const digest key = key_of(request);
    const sequence<text> folders = folders_of(request);
    const text& compiler = request.compiler;
    const cache_folder folder = cache_folder::open(settings.folder, true, origin.not_stored);
    if (!folder) {
      origin.reason = origin.not_stored;
      return compile(made);
    }
    const program_disk disk(folder, key, cache.counters_);
    if (disk.find(compiler, folders, made, origin.reason)) {
      nvrtc_recall::after_use(folder);
      origin = {origin_kind::disk, {}, {}};
      return {};
    }
    const cache_lock lock(folder, key);
    if (lock.waited() && disk.find(compiler, folders, made, origin.reason)) {
      count_one(cache.counters_.waited);
      origin = {origin_kind::disk, {}, {}};
      return {};
    }
    const request_summary summary = summary_of(request);
    const summary_notes notes(folder);
    if (origin.reason.empty()) origin.reason = notes.explain(summary);
    made = {};
    GPU_TRY(compile(made, &origin.not_stored));
    if (!made.storable) return {};
    made.conditions.compiler = nvrtc_identity(nvrtc::current_entry_points());
    nvrtc_recall::after_use(folder);
    const std::uint64_t limit = settings.folder_limit;
    const std::uint64_t stored = disk.store(made, request.source.name(), limit, origin.not_stored);
    if (stored != 0) disk.account(stored + notes.add(summary), limit);
    return {};
  }

  /// Asks NVRTC, and gathers on what the program depends. Where that cannot be known, `unstorable`
  /// says why.
  result<> compile(kept_program& made, text* unstorable = nullptr) {
    auto* state = new (std::nothrow) compiled_state;
    if (state == nullptr) {
      return fail(
          refusal(errc::out_of_host_memory, "gpu::compile",
                  text("the host had no memory left for the compiled program. Free host memory."),
                  where, sizeof *state));
    }
    made.program = compiled_program_access::adopt(state);
    const sequence<text> folders = folders_of(request);
    const file_clock started = condition_gatherer::wait_for_fresh_files(
        request.source, folders, request.found_folders.size());
    GPU_TRY(nvrtc_compile(request, *state, where));
    condition_gatherer gatherer(request.source, folders, started);
    text why = option_with_files();
    if (why.empty()) {
      why = gatherer.gather(state->headers, state->headers_complete, made.conditions);
    }
    made.storable = why.empty();
    const file_clock now = file_clock::now();
    for (const file_identity& identity : gatherer.seen_files()) {
      made.seen.push_back(certain(identity, now));
    }
    if (unstorable != nullptr) *unstorable = detail::move(why);
    return {};
  }

  /// An option by which the compilation reads or writes a file of its own.
  text option_with_files() const {
    for (const text& option : request.options) {
      string_ref name = option;
      while (!name.empty() && name[0] == '-') name = name.substring(1, name.size() - 1);
      for (const string_ref with_files :
           {string_ref("pch"), string_ref("create-pch"), string_ref("use-pch"), string_ref("time"),
            string_ref("fdevice-time-trace"), string_ref("options-file"), string_ref("optf")}) {
        if (name.size() < with_files.size() ||
            !(name.substring(0, with_files.size()) == with_files)) {
          continue;
        }
        Builder out;
        out << "option " << option << " reads or writes files of its own";
        return out.finish();
      }
    }
    return {};
  }
};

}  // namespace gpu::detail
