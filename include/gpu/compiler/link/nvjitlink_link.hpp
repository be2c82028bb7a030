#pragma once
/// \file
/// `nvjitlink_link`: links with nvJitLink, to machine code or PTX.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/link/link_error.hpp>
#include <gpu/compiler/link/plan.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/compiler/link_options.hpp>
#include <gpu/compiler/toolkit_version.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/core/version.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

template <> inline constexpr bool needs_ample_stack<&nvjitlink::entry_points::add_data> = true;
template <> inline constexpr bool needs_ample_stack<&nvjitlink::entry_points::complete> = true;

using unique_link =
    unique_handle<nvjitlink::nvjitlink_handle, library_destroy<&nvjitlink::entry_points::destroy>>;

/// Returns the options of a link as nvJitLink takes them.
inline sequence<text> nvjitlink_options(const link_plan& plan, bool as_ptx) {
  const link_options& o = plan.options;
  sequence<text> list;
  const auto add = [&](const char* option, string_ref value = {}) {
    text_builder out;
    out << option << value;
    list.push_back(required(out.finish()));
  };
  const auto add_number = [&](const char* option, int value) {
    text_builder out;
    out << option << value;
    list.push_back(required(out.finish()));
  };
  text_builder arch;
  write_architecture(arch, plan.architecture);
  add("-arch=", required(arch.finish()));
  if (plan.link_time_optimization) add("-lto");
  if (as_ptx) add("-ptx");
  if (!o.optimize) add("-O0");
  if (o.max_registers > 0) add_number("-maxrregcount=", o.max_registers);
  if (o.line_info) add("-lineinfo");
  if (o.debug) add("-g");
  if (o.verbose) add("-verbose");
  if (o.compiler_threads != 1) add_number("-split-compile=", o.compiler_threads);
  if (o.fast_math || o.flush_denormals) add("-ftz=1");
  if (o.fast_math || !o.precise_division) add("-prec-div=0");
  if (o.fast_math || !o.precise_square_root) add("-prec-sqrt=0");
  if (!o.fused_multiply_add) add("-fma=0");
  for (const option_text& name : o.kernels_used) add("-kernels-used=", name);
  for (const option_text& name : o.variables_used) add("-variables-used=", name);
  if (o.drop_unused_variables) add("-optimize-unused-variables");
  for (const option_text& option : o.extra) list.push_back(option);
  return list;
}

/// Returns nvJitLink's number for a kind of input.
constexpr int nvjitlink_kind(link_input_kind kind) noexcept {
  switch (kind) {
    case link_input_kind::cubin: return 1;
    case link_input_kind::ptx: return 2;
    case link_input_kind::lto_ir: return 3;
    case link_input_kind::fatbin: return 4;
    case link_input_kind::object: return 5;
    case link_input_kind::library: return 6;
    case link_input_kind::program:
    case link_input_kind::unknown: break;
  }
  return 0;
}

/// Sets `log` to the text of both logs, as far as nvJitLink returns them.
/// **Errors**: only `errc::out_of_host_memory`.
inline result<> get_nvjitlink_log(nvjitlink::nvjitlink_handle link, text& log,
                                  source_location where) {
  using table = nvjitlink::entry_points;
  text errors, info;
  result<> got_errors =
      library_text<&table::get_error_log_size, &table::get_error_log>(link, errors, where);
  if (!got_errors.has_value() && got_errors.error() == errc::out_of_host_memory) return got_errors;
  result<> got_info =
      library_text<&table::get_info_log_size, &table::get_info_log>(link, info, where);
  if (!got_info.has_value() && got_info.error() == errc::out_of_host_memory) return got_info;
  text_builder out;
  // Some logs include a terminator, and some do not end with a line break.
  const std::size_t size = __builtin_strlen(errors.c_str());
  out << errors.c_str();
  if (size != 0 && errors.c_str()[size - 1] != '\n') out << '\n';
  out << info.c_str();
  log = required(out.finish());
  return {};
}

/// Returns whether nvJitLink uses the driver's cache, if there is one. Programs from there come
/// without the assembler's messages.
inline bool nvjitlink_has_cache(source_location where) noexcept {
  const result<version> known = nvjitlink_version(where);
  return known.has_value() && *known >= version{12, 9};
}

/// Adds the pieces and links them. `raw` is set even if the link could not be created: it has the
/// log then.
inline result<> run_nvjitlink(const link_plan& plan, const sequence<text>& options,
                              nvjitlink::nvjitlink_handle& raw, bool& created,
                              source_location where) {
  using table = nvjitlink::entry_points;
  sequence<const char*> arguments;
  for (const text& option : options) arguments.push_back(option.c_str());
  if (plan.options.verbose && nvjitlink_has_cache(where)) arguments.push_back("-no-cache");
  GPU_TRY(library_call<&table::create>(where, &raw, static_cast<std::uint32_t>(arguments.size()),
                                       arguments.data()));
  created = true;
  for (const link_piece& piece : plan.pieces) {
    GPU_TRY(library_call<&table::add_data>(where, raw, nvjitlink_kind(piece.kind),
                                           static_cast<const void*>(piece.bytes.data()),
                                           piece.bytes.size(), piece.name.c_str()));
  }
  return library_call<&table::complete>(where, raw);
}

/// Links with nvJitLink. `product` is machine code or, if `as_ptx`, PTX.
/// **Threads**: any number at once.
inline result<> nvjitlink_link(const link_plan& plan, bool as_ptx, text& product, text& log,
                               source_location where) {
  using table = nvjitlink::entry_points;
  nvjitlink::nvjitlink_handle raw = nullptr;
  bool created = false;
  const result<> done = run_nvjitlink(plan, nvjitlink_options(plan, as_ptx), raw, created, where);
  // nvJitLink 12 may end the process if a link is destroyed that could not be created.
  const unique_link owner(created ? raw : nullptr);
  if (raw != nullptr) GPU_TRY(get_nvjitlink_log(raw, log, where));
  if (!done.has_value()) return fail(explain_link_error(&done.error(), log, where));
  if (has_error(log)) return fail(explain_link_error(nullptr, log, where));
  if (as_ptx) {
    GPU_TRY(
        (library_text<&table::get_linked_ptx_size, &table::get_linked_ptx>(raw, product, where)));
    product = required(text(product.c_str()));  // without the terminator, which is counted
  } else {
    GPU_TRY((library_text<&table::get_linked_cubin_size, &table::get_linked_cubin>(raw, product,
                                                                                   where)));
  }
  return require_linked_code(product, "nvJitLink", where);
}

}}}  // namespace gpu::v1::detail
