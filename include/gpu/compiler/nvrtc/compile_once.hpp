#pragma once
/// \file
/// `nvrtc_compile`: compiles a resolved request with NVRTC and reads all products.

#include <gpu/compiler/cache/conditions.hpp>  // current_working_folder
#include <gpu/compiler/cache/folder.hpp>      // lacks_descriptors
#include <gpu/compiler/nvrtc/compile_error.hpp>
#include <gpu/compiler/nvrtc/given_headers.hpp>
#include <gpu/compiler/nvrtc/header_trace.hpp>
#include <gpu/compiler/toolkit_version.hpp>

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/detail/compiled_state.hpp>
#include <gpu/compiler/kernel_resources.hpp>
#include <gpu/compiler/options/compile_request.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/detail/message_parts.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/core/version.hpp>
#include <gpu/libraries/library_calls.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>
#include <gpu/system/write_bytes.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

template <> inline constexpr bool needs_ample_stack<&nvrtc::entry_points::compile_program> = true;

using unique_program =
    unique_handle<nvrtc::nvrtc_program, library_destroy<&nvrtc::entry_points::destroy_program>>;

/// Returns a text of NVRTC without the zeros that end it; logs may have several.
inline text without_terminator(const text& t) {
  std::size_t size = t.size();
  while (size > 0 && t.data()[size - 1] == '\0') --size;
  return size == t.size() ? t : required(text(t.data(), size));
}

inline bool uses_precompiled_header(const compile_request& request) noexcept {
  for (const text& option : request.options) {
    for (const char* name : {"--pch", "--use-pch", "--create-pch"}) {
      if (starts_with(option, name)) return true;
    }
  }
  return false;
}

/// Options that are added to those of the request, to learn about the compilation or, with `lines`,
/// for the reports of the CPU driver.
struct compile_extras {
  header_trace trace = {};
  bool ptxas_figures = false;
  bool lines = false;
  bool no_cache = false;

  bool in_use() const noexcept { return trace.works() || ptxas_figures || lines; }
};

inline bool nvrtc_is_at_least(version least, source_location where) noexcept {
  const result<version> known = nvrtc_version(where);
  return known.has_value() && *known >= least;
}

/// The first version that uses the driver's cache, if there is one. Programs from there come
/// without the assembler's resource figures.
inline constexpr version nvrtc_with_cache{12, 9};
/// The first version that knows `--minimal`, which saves time and makes the same code.
inline constexpr version nvrtc_with_minimal{12, 4};

/// Returns the options and the include folders in one list, as NVRTC takes them.
inline sequence<text> whole_option_list(const compile_request& request) {
  sequence<text> list = request.options;
  for (const auto* folders : {&request.folders, &request.found_folders}) {
    for (const text& folder : *folders) {
      text_builder out;
      out << "--include-path=" << folder;
      list.push_back(required(out.finish()));
    }
  }
  return list;
}

/// Returns the name of a product that was requested and has 0 bytes in `made`, or null.
inline const char* missing_product(const compile_request& request,
                                   const compiled_state& made) noexcept {
  if (has_option(request, "--dlink-time-opt")) {
    if (made.lto_ir.empty()) return "LTO-IR";
  } else {
    const bool real = request.architecture.kind() == architecture::kind_type::real;
    if (made.ptx.empty()) return "PTX";
    if (real && made.cubin.empty()) return "machine code";
  }
  if (made.names.size() != request.source.instances().size()) return "names of instances";
  for (const name_pair& name : made.names) {
    if (name.lowered.empty()) return "name of an instance";
  }
  return nullptr;
}

/// Returns PTX without the working folder in front of the names of its files, so that it is the
/// same in every folder. If the folder was removed, names stay as they are.
inline text without_working_folder(const text& ptx) {
  const text working = current_working_folder();
  if (working.empty()) return ptx;
  text_builder front, out;
  front << working << '/';
  const text folder = required(front.finish());
  const char* rest = ptx.c_str();
  while (const char* const file = __builtin_strstr(rest, "\n\t.file\t")) {
    const char* const quote = __builtin_strchr(file, '"');
    if (quote == nullptr) break;
    const char* const path = quote + 1;
    out << string_ref(rest, static_cast<std::size_t>(path - rest));
    const bool below = __builtin_strncmp(path, folder.c_str(), folder.size()) == 0;
    rest = below ? path + folder.size() : path;
  }
  out << rest;
  return required(out.finish());
}

/// Reads all products of a compilation.
inline result<> read_products(nvrtc::nvrtc_program raw, const compile_request& request,
                              compiled_state& made, source_location where) {
  using table = nvrtc::entry_points;
  if (has_option(request, "--dlink-time-opt")) {
    GPU_TRY((library_text<&table::get_lto_ir_size, &table::get_lto_ir>(raw, made.lto_ir, where)));
  } else {
    GPU_TRY((library_text<&table::get_ptx_size, &table::get_ptx>(raw, made.ptx, where)));
    made.ptx = without_terminator(made.ptx);
    if (request.architecture.kind() == architecture::kind_type::real) {
      GPU_TRY((library_text<&table::get_cubin_size, &table::get_cubin>(raw, made.cubin, where)));
    }
  }
  for (const option_text& expression : request.source.instances()) {
    const char* lowered = nullptr;
    GPU_TRY(library_call<&table::get_lowered_name>(where, raw, expression.c_str(), &lowered));
    made.names.push_back({expression, required(text(lowered))});
  }
  const char* missing = missing_product(request, made);
  if (missing == nullptr) return {};
  text_builder out;
  out << "NVRTC reported success and returned no " << missing << " for \""
      << escaped{request.source.name()}
      << "\". Try again, or install another version of the CUDA toolkit.";
  return fail(refusal(errc::compile_failed, "gpu::compile", out.finish(), where));
}

/// Compiles once, with the options of the request and the extras that are in use.
inline result<> nvrtc_compile_once(const compile_request& request, const given_headers& headers,
                                   compile_extras& extras, compiled_state& made,
                                   source_location where) {
  using table = nvrtc::entry_points;
  const program& p = request.source;
  sequence<const char*> arguments;
  nvrtc::nvrtc_program raw = nullptr;
  GPU_TRY(library_call<&table::create_program>(where, &raw, p.source().c_str(), p.name().c_str(),
                                               headers.count(), headers.sources(),
                                               headers.names()));
  const unique_program owner(raw);
  for (const option_text& expression : p.instances()) {
    GPU_TRY(library_call<&table::add_name_expression>(where, raw, expression.c_str()));
  }
  for (const text& option : made.options) {
    if (option != "--minimal" || nvrtc_is_at_least(nvrtc_with_minimal, where))
      arguments.push_back(option.c_str());
  }
  if (extras.trace.works()) {
    arguments.push_back(extras.trace.trace_option());
    arguments.push_back(extras.trace.output_option());
  }
  if (extras.ptxas_figures) arguments.push_back("--ptxas-options=--verbose");
  if (extras.lines) arguments.push_back("--generate-line-info");
  if (extras.no_cache) arguments.push_back("--no-cache");
  const result<> done = [&] {
    const file_size_signal_blocked blocked;  // for the list of headers
    return library_call<&table::compile_program>(where, raw, static_cast<int>(arguments.size()),
                                                 arguments.data());
  }();

  text log;
  result<> logged =
      library_text<&table::get_program_log_size, &table::get_program_log>(raw, log, where);
  if (!logged.has_value() && logged.error() == errc::out_of_host_memory) return logged;
  split_log(without_terminator(log), made.log, made.ptxas_log);
  if (extras.trace.works()) {
    // Headers that come from a precompiled header are not opened, and not in the list.
    made.headers_complete = extras.trace.read(made.headers) && !uses_precompiled_header(request);
  }
  if (!done.has_value()) {
    return fail(explain_compilation_error(done.error(), request, made.options, made.log, where));
  }
  if (!logged.has_value()) return logged;
  GPU_TRY(read_products(raw, request, made, where));
  if (extras.lines) made.ptx = without_working_folder(made.ptx);
  return {};
}

/// Compiles a request, into the fresh state `made`. If the compilation fails, `made` has log,
/// options and headers.
/// **Threads**: any number at once.
inline result<> nvrtc_compile(const compile_request& request, compiled_state& made,
                              source_location where) {
  made.architecture = request.architecture;
  made.options = whole_option_list(request);
  given_headers headers(request.source, request.folders);
  compile_extras extras;
  extras.ptxas_figures = request.architecture.kind() == architecture::kind_type::real &&
                         !has_option(request, "--dlink-time-opt");
  extras.lines = request.adds_lines;
  for (;;) {
    result<> done = nvrtc_compile_once(request, headers, extras, made, where);
    if (done.has_value()) {
      const bool lost = extras.ptxas_figures && made.ptxas_log.empty();
      if (!lost || extras.no_cache || !nvrtc_is_at_least(nvrtc_with_cache, where)) return done;
      extras.no_cache = true;
      made.names.clear();
      continue;
    }
    const cuda_error& error = done.error();
    if (extras.trace.works() && lacks_descriptors(made.log)) {
      extras.trace.close();  // it takes two file descriptors, which the headers may need
      continue;
    }
    if (error == errc::compile_failed && headers.add_missing(made.log)) continue;
    if (!extras.in_use()) return done;
    if (error == errc::not_supported || error.domain() == error_domain::nvrtc) {
      // This NVRTC may not know the extra options, which are not in its manual.
      constexpr int invalid_option = 5;
      if (error.domain() == error_domain::nvrtc && error.code() != invalid_option) return done;
      extras.trace.close();
      extras.ptxas_figures = false;
      extras.lines = false;
    } else if (error == errc::compile_failed && extras.ptxas_figures &&
               first_mistake(made.log).message.empty()) {
      // With the option for resource figures, the assembler may not say why it failed.
      extras.ptxas_figures = false;
    } else {
      return done;
    }
  }
}

}}}  // namespace gpu::v1::detail
