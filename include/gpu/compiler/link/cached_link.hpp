#pragma once
/// \file
/// A link as the cache sees it.

#include <gpu/compiler/cache/through_cache.hpp>
#include <gpu/compiler/link/driver_link.hpp>
#include <gpu/compiler/link/duplicate_symbols.hpp>
#include <gpu/compiler/link/nvjitlink_link.hpp>
#include <gpu/compiler/toolkit_version.hpp>
#include <gpu/driver/driver_version.hpp>

namespace gpu::inline v0::detail {

/// Refuses what only nvJitLink does, where there is none.
inline result<> require_nvjitlink(const link_plan& plan, source_location where) {
  const bool extra = !plan.options.extra.empty();
  if (nvjitlink::is_available() || (!plan.link_time_optimization && !extra)) return {};
  const cuda_error missing = library_error<nvjitlink::detail::library>("nvJitLinkCreate", where);
  text_builder out;
  out << "the driver's own linker " << (extra ? "knows no further options" : "takes no LTO-IR")
      << ", and " << missing.details() << " Or "
      << (extra ? "leave the options out." : "compile with relocatable = true.");
  return fail(link_refusal(static_cast<errc>(missing.code()), out, where));
}

/// Sets `facts` to what is so of the nvJitLink in use; they are not present where there is none.
template <class Facts> inline void get_nvjitlink_facts(Facts& facts) {
  using library = nvjitlink::detail::library;
  if (const auto* recalled = recalled_library<library>()) {
    facts = *recalled;
    return;
  }
  const result<version> found = nvjitlink_version(source_location{});
  if (!found.has_value()) return;
  facts.major = found->major;
  facts.minor = found->minor;
  identify_library<library>(
      facts, reinterpret_cast<const void*>(nvjitlink::current_entry_points().create));
}

/// The linker in use by version and build; empty where there is neither nvJitLink nor a driver.
inline text linker_identity() {
  library_facts facts;
  get_nvjitlink_facts(facts);
  if (facts.present()) return facts.identity;
  const auto function = driver::current_entry_points().link_complete;
  const result<version> found = driver_version(source_location{});
  if (!found.has_value() || function == nullptr) return {};
  return library_identity("the driver's linker for CUDA", found->major, found->minor,
                          reinterpret_cast<const void*>(function));
}

/// One link, for `cached_work`.
template <class Builder = text_builder> struct cached_link {
  const link_plan& plan;
  source_location where;
  sequence<text> options = nvjitlink_options(plan, as_ptx());
  text label = name_of_inputs();
  sequence<text> variables = library_variables<nvjitlink::detail::library>();

  static constexpr origin_kind origin = origin_kind::linked;
  static constexpr const char* verb = "link";
  static constexpr const char* done = "linked";

  digest key() const noexcept {
    digest_builder key;
    key << cache_format << string_ref("link");
    for (const sequence<text>* list : {&options, &variables}) {
      key << std::uint64_t{list->size()};
      for (const text& word : *list) key << string_ref(word);
    }
    for (const link_piece& piece : plan.pieces) {
      key << static_cast<std::uint64_t>(piece.kind) << string_ref(piece.name)
          << string_ref(piece.bytes);
    }
    return key.finish();
  }
  sequence<text> folders() const { return {}; }
  sequence<text> installed_folders() const { return {}; }
  text compiler() const { return linker_identity(); }
  text used_compiler() const { return compiler(); }
  const text& name() const noexcept { return label; }

  using library = nvjitlink::detail::library;
  static void get_facts(library_facts& facts) { get_nvjitlink_facts(facts); }

  /// On a machine without nvJitLink, what any of them linked will do.
  bool compiler_will_do(const cache_conditions& conditions, text& reason) const {
    const text mine = compiler();
    const bool shipped =
        !starts_with(mine, library::name) && starts_with(conditions.compiler, library::name);
    return shipped || compiler_meets(conditions, mine, {}, reason);
  }
  const char* missing_product(const compiled_state& state) const noexcept {
    if (as_ptx()) return state.ptx.empty() ? "PTX" : nullptr;
    return state.cubin.empty() ? "machine code" : nullptr;
  }

  request_summary summary() const {
    request_summary made{label, plan.architecture, digest_of(label), options, {}, {}};
    for (const link_piece& piece : plan.pieces) {
      made.inputs.push_back({piece.name, digest_of(piece.bytes)});
    }
    for (const text& variable : variables) made.inputs.push_back({variable, {}});
    return made;
  }

  result<> make(kept_program& made, text*) const {
    GPU_TRY(check_symbols(plan, where));
    GPU_TRY(require_nvjitlink(plan, where));
    auto* state = new (std::nothrow) compiled_state;
    if (state == nullptr) {
      Builder out;
      out << "the host had no memory left for the linked program. Free host memory.";
      return fail(link_refusal(errc::out_of_host_memory, out, where, sizeof *state));
    }
    made.program = compiled_program_access::adopt(state);
    state->architecture = plan.architecture;
    state->options = options;
    if (!nvjitlink::is_available()) return driver_link(plan, state->cubin, state->log, where);
    return nvjitlink_link(plan, as_ptx(), as_ptx() ? state->ptx : state->cubin, state->log, where);
  }

 private:
  bool as_ptx() const noexcept {
    return plan.architecture.kind() == architecture::kind_type::virtual_;
  }
  text name_of_inputs() const {
    Builder out;
    const char* separator = "link of ";
    for (const link_piece& piece : plan.pieces) {
      out << separator << piece.name;
      separator = ", ";
    }
    return required(out.finish());
  }
};

}  // namespace gpu::inline v0::detail
