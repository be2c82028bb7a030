#pragma once
/// \file
/// `cached_compile`: a compilation as a request to the cache.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/cache_request.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/kept_program.hpp>
#include <gpu/compiler/cache/summary.hpp>
#include <gpu/compiler/cache/toolkit_notes.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/compiled_state.hpp>
#include <gpu/compiler/nvrtc/compile_once.hpp>
#include <gpu/compiler/nvrtc/dependencies.hpp>
#include <gpu/compiler/nvrtc/given_headers.hpp>
#include <gpu/compiler/nvrtc/header_states.hpp>
#include <gpu/compiler/options/compile_request.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/compiler/toolkit/library_facts.hpp>
#include <gpu/compiler/toolkit/nvrtc_facts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>

#include <cstdint>
#include <new>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns what is known of NVRTC; nothing without it.
inline library_facts nvrtc_facts() {
  library_facts facts;
  if (!get_nvrtc_facts(facts, {}).has_value()) facts = {};
  return facts;
}

/// A compilation as a request to the cache. Refers to the resolved request.
class cached_compile final : public cache_request {
 public:
  cached_compile(const compile_request& request, source_location where)
      : cache_request({origin_kind::compiled, "compile", "compiled"}),
        request_{request},
        where_{where} {
    name = request.source.name();
    compiler = request.compiler;
    folders = request.folders;
    for (const text& folder : request.found_folders) folders.push_back(folder);
    installed_folders = request.found_folders;
  }

  /// Takes in everything that the caller and the environment say. The compiler and files are
  /// conditions instead.
  digest key() const override {
    const program& p = request_.source;
    const architecture& target = request_.architecture;
    digest_builder key;
    key << cache_format << static_cast<std::uint64_t>(target.kind())
        << static_cast<std::uint64_t>(target.number())
        << static_cast<std::uint64_t>(target.variant()) << string_ref(p.name())
        << string_ref(p.source());
    key << mark_of_library_headers() << std::uint64_t{p.headers().size()};
    for (const program_header& header : p.headers()) {
      key << string_ref(header.name) << string_ref(header.source);
    }
    key << std::uint64_t{p.instances().size()};
    for (const option_text& instance : p.instances()) key << string_ref(instance);
    for (const sequence<text>* list : {&request_.options, &request_.variables}) {
      key << std::uint64_t{list->size()};
      for (const text& word : *list) key << string_ref(word);
    }
    if (request_.adds_lines) key << string_ref("adds lines");
    return key.finish();
  }

  request_summary summary() const override {
    const program& p = request_.source;
    request_summary made{
        p.name(), request_.architecture, digest_of(p.source()), request_.options, {}, {}};
    for (const program_header& header : p.headers()) {
      text_builder input;
      input << "header " << header.name;
      made.inputs.push_back({required(input.finish()), digest_of(header.source)});
    }
    for (const text& variable : request_.variables) made.inputs.push_back({variable, {}});
    for (const option_text& instance : p.instances()) made.instances.push_back(instance);
    return made;
  }

  /// Without a compiler, a shipped program is accepted from any.
  bool accepts_compiler(const cache_conditions& conditions, text& reason) const override {
    return compiler.empty() || compiler_meets(conditions, compiler, folders, reason);
  }

  const char* missing_product(const compiled_state& state) const noexcept override {
    return detail::missing_product(request_, state);
  }

  result<> make(kept_program& made, text* unstorable) const override {
    auto* state = new (std::nothrow) compiled_state;
    if (state == nullptr) {
      return fail(
          refusal(errc::out_of_host_memory, "gpu::compile",
                  text("the host had no memory left for the compiled program. Free host memory."),
                  where_, sizeof *state));
    }
    made.program = compiled_program_access::adopt(state);
    const header_states before = dependency_finder::look_before(
        request_.source, folders, installed_folders.size(), request_.options);
    if (!before.refusal.empty()) {
      return fail(refusal(errc::file_error, "gpu::compile", before.refusal, where_));
    }
    GPU_TRY(nvrtc_compile(request_, *state, where_));
    dependency_finder finder(request_.source, folders, before);
    text why;
    made.storable = !has_option_with_files(why);
    if (made.storable) {
      why = finder.find(state->headers, state->headers_complete, made.conditions);
      made.storable = finder.known();
    }
    if (has_option(request_, "--device-debug") || has_option(request_, "--generate-line-info")) {
      made.conditions.working_folder = current_working_folder();
      if (made.storable && made.conditions.working_folder.empty()) {
        made.storable = false;
        why = text("the working folder, which the line information refers to, was removed");
      }
    }
    const file_clock now = file_clock::now();
    for (const file_identity& identity : finder.seen_files()) {
      made.seen.push_back(certain(identity, now));
    }
    if (unstorable != nullptr) *unstorable = std::move(why);
    return {};
  }

  text used_compiler() const override { return nvrtc_facts().identity; }

  void write_toolkit_notes(const cache_folder& folder) const override {
    toolkit_notes<nvrtc::detail::library>::write_after_use(folder, &nvrtc_facts);
  }

 private:
  /// Returns whether an option makes the compiler read or write files that the cache does not
  /// check; if so, sets `why`.
  bool has_option_with_files(text& why) const {
    for (const text& option : request_.options) {
      string_ref option_name = option;
      while (!option_name.empty() && option_name[0] == '-') {
        option_name = without_front(option_name, 1);
      }
      for (const char* with_files : {"pch", "create-pch", "use-pch", "time", "fdevice-time-trace",
                                     "options-file", "optf", "pre-include"}) {
        if (!starts_with(option_name, with_files)) continue;
        text_builder out;
        out << "option " << option << " reads or writes files of its own";
        why = out.finish();
        return true;
      }
    }
    return false;
  }

  const compile_request& request_;
  source_location where_;
};

}}}  // namespace gpu::v1::detail
