#pragma once
/// \file
/// `cached_link`: a link as a request to the cache.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/cache_request.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/compiler/cache/kept_program.hpp>
#include <gpu/compiler/cache/summary.hpp>
#include <gpu/compiler/cache/toolkit_notes.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/detail/compiled_state.hpp>
#include <gpu/compiler/link/driver_link.hpp>
#include <gpu/compiler/link/duplicate_symbols.hpp>
#include <gpu/compiler/link/nvjitlink_link.hpp>
#include <gpu/compiler/link/plan.hpp>
#include <gpu/compiler/program_origin.hpp>
#include <gpu/compiler/toolkit/library_facts.hpp>
#include <gpu/compiler/toolkit_version.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/version.hpp>
#include <gpu/driver/driver_version.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>

#include <cstdint>
#include <new>

namespace gpu { inline namespace v1 { namespace detail {

/// Fails if the link needs nvJitLink and it is missing.
inline result<> require_nvjitlink(const link_plan& plan, source_location where) {
  const bool extra = !plan.options.extra.empty();
  if (nvjitlink::is_available() || (!plan.link_time_optimization && !extra)) return {};
  const cuda_error missing = library_error<nvjitlink::detail::library>("nvJitLinkCreate", where);
  text_builder out;
  out << "the driver's own linker does not take " << (extra ? "link_options::extra" : "LTO-IR")
      << ", and " << missing.details() << " Or "
      << (extra ? "leave the options out." : "compile with relocatable = true.");
  return fail(link_refusal(static_cast<errc>(missing.code()), out, where));
}

/// Returns what is known of nvJitLink; nothing without it.
inline library_facts nvjitlink_facts() {
  using library = nvjitlink::detail::library;
  if (const library_facts* recalled = recalled_library<library>()) return *recalled;
  library_facts facts;
  const result<version> found = nvjitlink_version(source_location{});
  if (!found.has_value()) return facts;
  facts.major = found->major;
  facts.minor = found->minor;
  identify_library<library>(
      facts, reinterpret_cast<const void*>(nvjitlink::current_entry_points().create));
  return facts;
}

/// Returns version and build of the linker in use; empty if there is neither nvJitLink nor a
/// driver.
inline text linker_identity() {
  const library_facts facts = nvjitlink_facts();
  if (facts.present()) return facts.identity;
  const auto function = driver::current_entry_points().link_complete;
  const result<version> found = driver_version(source_location{});
  if (!found.has_value() || function == nullptr) return {};
  return library_identity("the driver's linker for CUDA", found->major, found->minor,
                          reinterpret_cast<const void*>(function));
}

/// A link as a request to the cache. Refers to the plan.
class cached_link final : public cache_request {
 public:
  cached_link(const link_plan& plan, source_location where)
      : cache_request({origin_kind::linked, "link", "linked"}),
        plan_{plan},
        where_{where},
        as_ptx_{plan.architecture.kind() == architecture::kind_type::virtual_},
        options_{nvjitlink_options(plan, as_ptx_)},
        variables_{library_variables<library>()} {
    text_builder inputs;
    const char* separator = "link of ";
    for (const link_piece& piece : plan.pieces) {
      inputs << separator << piece.name;
      separator = ", ";
    }
    name = required(inputs.finish());
  }

  digest key() const override {
    digest_builder key;
    key << cache_format << string_ref("link");
    for (const sequence<text>* list : {&options_, &variables_}) {
      key << std::uint64_t{list->size()};
      for (const text& word : *list) key << string_ref(word);
    }
    for (const link_piece& piece : plan_.pieces) {
      key << static_cast<std::uint64_t>(piece.kind) << string_ref(piece.name)
          << string_ref(piece.bytes);
    }
    return key.finish();
  }

  request_summary summary() const override {
    request_summary made{name, plan_.architecture, digest_of(name), options_, {}, {}};
    for (const link_piece& piece : plan_.pieces) {
      made.inputs.push_back({piece.name, digest_of(piece.bytes)});
    }
    for (const text& variable : variables_) made.inputs.push_back({variable, {}});
    return made;
  }

  /// Without nvJitLink, a program that any nvJitLink linked is accepted.
  bool accepts_compiler(const cache_conditions& conditions, text& reason) const override {
    const bool shipped =
        !starts_with(compiler, library::name) && starts_with(conditions.compiler, library::name);
    return shipped || compiler_meets(conditions, compiler, {}, reason);
  }

  const char* missing_product(const compiled_state& state) const noexcept override {
    if (as_ptx_) return state.ptx.empty() ? "PTX" : nullptr;
    return state.cubin.empty() ? "machine code" : nullptr;
  }

  result<> make(kept_program& made, text*) const override {
    GPU_TRY(check_symbols(plan_, where_));
    GPU_TRY(require_nvjitlink(plan_, where_));
    auto* state = new (std::nothrow) compiled_state;
    if (state == nullptr) {
      text_builder out;
      out << "the host had no memory left for the linked program. Free host memory.";
      return fail(link_refusal(errc::out_of_host_memory, out, where_, sizeof *state));
    }
    made.program = compiled_program_access::adopt(state);
    state->architecture = plan_.architecture;
    state->options = options_;
    if (!nvjitlink::is_available()) return driver_link(plan_, state->cubin, state->log, where_);
    return nvjitlink_link(plan_, as_ptx_, as_ptx_ ? state->ptx : state->cubin, state->log, where_);
  }

  text used_compiler() const override { return linker_identity(); }

  void write_toolkit_notes(const cache_folder& folder) const override {
    toolkit_notes<library>::write_after_use(folder, &nvjitlink_facts);
  }

 private:
  using library = nvjitlink::detail::library;

  const link_plan& plan_;
  source_location where_;
  bool as_ptx_;
  sequence<text> options_;
  sequence<text> variables_;
};

}}}  // namespace gpu::v1::detail
