#pragma once
/// \file
/// A compilation as the cache sees it.

#include <gpu/compiler/cache/through_cache.hpp>
#include <gpu/compiler/nvrtc/dependencies.hpp>

namespace gpu::inline v0::detail {

/// One compilation, for `cached_work`.
template <class Builder = text_builder> struct cached_compilation {
  const compile_request& request;
  source_location where;

  static constexpr origin_kind origin = origin_kind::compiled;
  static constexpr const char* verb = "compile";
  static constexpr const char* done = "compiled";

  /// Finds what was compiled in this process for the very same words.
  static bool find_quick(compile_cache& cache, const recent_request& said, compiled_program& found) {
    if (!cache.memory_.find_quick(said, found)) return false;
    compiled_program_access::origin(found) = {origin_kind::memory, {}, {}};
    count_one(cache.counters_.from_memory);
    return true;
  }

  digest key() const { return key_of(request); }
  sequence<text> folders() const { return folders_of(request); }
  const sequence<text>& installed_folders() const noexcept { return request.found_folders; }
  const text& compiler() const noexcept { return request.compiler; }
  text used_compiler() const {
    library_facts facts;
    get_facts(facts);
    return facts.identity;
  }
  const text& name() const noexcept { return request.source.name(); }

  using library = nvrtc::detail::library;
  static void get_facts(library_facts& facts) {
    if (!get_nvrtc_facts(facts, {}).has_value()) facts = {};
  }

  /// Without a compiler, what was shipped is taken as it is.
  bool compiler_will_do(const cache_conditions& conditions, text& reason) const {
    return compiler().empty() || compiler_meets(conditions, compiler(), folders(), reason);
  }
  const char* missing_product(const compiled_state& state) const noexcept {
    return detail::missing_product(request, state);
  }

  request_summary summary() const {
    const program& p = request.source;
    request_summary made{p.name(), request.architecture, digest_of(p.source()), request.options, {},
                         {}};
    for (const program_header& header : p.headers()) {
      Builder words;
      words << "header " << header.name;
      made.inputs.push_back({required(words.finish()), digest_of(header.source)});
    }
    for (const text& variable : request.variables) made.inputs.push_back({variable, {}});
    for (const option_text& instance : p.instances()) made.instances.push_back(instance);
    return made;
  }

  /// Asks NVRTC, and gathers on what the program depends. Where that cannot be known, `unstorable`
  /// says why.
  result<> make(kept_program& made, text* unstorable) const {
    auto* state = new (std::nothrow) compiled_state;
    if (state == nullptr) {
      return fail(
          refusal(errc::out_of_host_memory, "gpu::compile",
                  text("the host had no memory left for the compiled program. Free host memory."),
                  where, sizeof *state));
    }
    made.program = compiled_program_access::adopt(state);
    const sequence<text> searched = folders();
    const places_before before =
        condition_gatherer::look_before(request.source, searched, request.found_folders.size());
    GPU_TRY(nvrtc_compile(request, *state, where));
    condition_gatherer gatherer(request.source, searched, before);
    text why;
    made.storable = !has_option_with_files(why);
    if (made.storable) {
      why = gatherer.gather(state->headers, state->headers_complete, made.conditions);
      made.storable = gatherer.known();
    }
    if (has_option(request, "--device-debug") || has_option(request, "--generate-line-info")) {
      made.conditions.working_folder = current_working_folder();
      if (made.storable && made.conditions.working_folder.empty()) {
        made.storable = false;
        why = text("the working folder, which line information names, has no name");
      }
    }
    const file_clock now = file_clock::now();
    for (const file_identity& identity : gatherer.seen_files()) {
      made.seen.push_back(certain(identity, now));
    }
    if (unstorable != nullptr) *unstorable = detail::move(why);
    return {};
  }

 private:
  /// Whether an option has the compilation read or write a file of its own, and what it says then.
  bool has_option_with_files(text& why) const {
    for (const text& option : request.options) {
      string_ref name = option;
      while (!name.empty() && name[0] == '-') name = name.substring(1, name.size() - 1);
      for (const string_ref with_files :
           {string_ref("pch"), string_ref("create-pch"), string_ref("use-pch"), string_ref("time"),
            string_ref("fdevice-time-trace"), string_ref("options-file"), string_ref("optf"),
            string_ref("pre-include")}) {
        if (!starts_with(name, with_files)) continue;
        Builder out;
        out << "option " << option << " reads or writes files of its own";
        why = out.finish();
        return true;
      }
    }
    return false;
  }
};

}  // namespace gpu::inline v0::detail
