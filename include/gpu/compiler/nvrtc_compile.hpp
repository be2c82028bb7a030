#pragma once
/// \file
/// The one place that drives NVRTC: from a settled request to all that it makes of it.

#include <gpu/compiler/compile_error.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/header_trace.hpp>
#include <gpu/compiler/nvrtc_calls.hpp>
#include <gpu/compiler/program.hpp>

namespace gpu::detail {

/// What is to be compiled, settled: nothing in it is left to the device or the environment.
struct compile_request {
  const program& source;
  gpu::architecture architecture;   ///< real or virtual
  std::vector<text> options;        ///< as NVRTC takes them, in one order; without include folders
  std::vector<text> folders;        ///< the user's include folders, in their order
  std::vector<text> found_folders;  ///< those found beside the toolkit; searched after the user's
};

/// What NVRTC is given to learn about the compilation, besides the request.
struct compile_extras {
  header_trace trace = {};
  const char* ptxas_figures = "--ptxas-options=--verbose";
};

/// The options and the include folders in one list, as NVRTC takes them.
template <class Builder = text_builder>
inline std::vector<text> whole_option_list(const compile_request& request) {
  std::vector<text> list = request.options;
  for (const auto* folders : {&request.folders, &request.found_folders}) {
    for (const text& folder : *folders) {
      Builder out;
      out << "--include-path=" << folder;
      list.push_back(out.finish());
    }
  }
  return list;
}

/// A mistake in the source is `errc::compile_failed`; what else NVRTC refuses keeps its code.
template <class Builder = text_builder>
[[gnu::cold, gnu::noinline]] inline cuda_error compilation_error(const cuda_error& error,
                                                                 const compile_request& request,
                                                                 const std::vector<text>& options,
                                                                 const text& log,
                                                                 source_location where) noexcept {
  constexpr int compilation = 6, invalid_option = 5, bad_name_expression = 10;
  if (error.domain() != error_domain::nvrtc) return error;
  if (error.code() == compilation || error.code() == bad_name_expression) {
    return compile_error(request.source, log, where);
  }
  Builder out;
  if (error.code() == invalid_option) {
    out << "the options were";
    for (const text& option : options) out << ' ' << option;
    out << ".\n";
  }
  out << log;
  return cuda_error(error).with_details(out.finish());
}

/// Splits what the assembler says about resources from what the user wants to read, and drops the
/// times it took, so that a program compiled twice gives the same.
template <class Builder = text_builder>
inline void split_log(string_ref whole, text& log, text& ptxas_log) {
  Builder for_user, figures;
  while (!whole.empty()) {
    const string_ref rest = whole;
    const string_ref line = next_line(whole);
    const std::size_t used = rest.size() - whole.size();
    if (position_of("Compile time", line) == sizeof "ptxas info    : " - 1) continue;
    const bool is_figure = (line.size() > 10 && line.substring(0, 10) == "ptxas info") ||
                           position_of(" bytes stack frame", line) != line.size();
    (is_figure ? figures : for_user) << rest.substring(0, used);
  }
  log = for_user.finish();
  ptxas_log = figures.finish();
}

/// Reads everything out of a program that was compiled.
template <class Builder = text_builder>
inline result<> read_products(nvrtc::nvrtc_program raw, const compile_request& request,
                              compiled_state& made, source_location where) {
  using table = nvrtc::entry_points;
  bool lto = false;
  for (const text& option : request.options) {
    lto = lto || option == "--dlink-time-opt" || option == "-dlto";
  }
  if (lto) {
    GPU_TRY(
        (nvrtc::get_text<&table::get_lto_ir_size, &table::get_lto_ir>(raw, made.lto_ir, where)));
  } else {
    GPU_TRY((nvrtc::get_text<&table::get_ptx_size, &table::get_ptx>(raw, made.ptx, where)));
    made.ptx = nvrtc::without_terminator(made.ptx);
    if (request.architecture.kind() == architecture::kind_type::real) {
      GPU_TRY((nvrtc::get_text<&table::get_cubin_size, &table::get_cubin>(raw, made.cubin, where)));
    }
  }
  for (const option_text& expression : request.source.instances()) {
    const char* lowered = nullptr;
    GPU_TRY(nvrtc::call<&table::get_lowered_name>(where, raw, expression.c_str(), &lowered));
    made.names.push_back({expression, text(lowered)});
  }
  return {};
}

/// Compiles with the options of the request and the extras that are not null.
template <class Builder = text_builder>
inline result<> nvrtc_compile_once(const compile_request& request, compile_extras& extras,
                                   compiled_state& made, source_location where) {
  using table = nvrtc::entry_points;
  const program& p = request.source;
  std::vector<const char*> names, sources, arguments;
  for (const program_header& header : p.headers()) {
    names.push_back(header.name.c_str());
    sources.push_back(header.source.c_str());
  }
  nvrtc::nvrtc_program raw = nullptr;
  GPU_TRY(nvrtc::call<&table::create_program>(where, &raw, p.source().c_str(), p.name().c_str(),
                                              static_cast<int>(names.size()), sources.data(),
                                              names.data()));
  const nvrtc::unique_program owner(raw);
  for (const option_text& expression : p.instances()) {
    GPU_TRY(nvrtc::call<&table::add_name_expression>(where, raw, expression.c_str()));
  }
  for (const text& option : made.options) arguments.push_back(option.c_str());
  if (extras.trace.works()) {
    arguments.push_back(extras.trace.trace_option());
    arguments.push_back(extras.trace.output_option());
  }
  if (extras.ptxas_figures != nullptr) arguments.push_back(extras.ptxas_figures);
  const result<> done = nvrtc::call<&table::compile_program>(
      where, raw, static_cast<int>(arguments.size()), arguments.data());

  text log;
  const result<> logged =
      nvrtc::get_text<&table::get_program_log_size, &table::get_program_log>(raw, log, where);
  split_log(nvrtc::without_terminator(log), made.log, made.ptxas_log);
  if (extras.trace.works()) made.headers_complete = extras.trace.read(made.headers);
  if (!done.has_value()) {
    return fail(compilation_error(done.error(), request, made.options, made.log, where));
  }
  if (!logged.has_value()) return logged;
  return read_products(raw, request, made, where);
}

/// Compiles what was asked for; `made` is a fresh state. Where the compilation fails, what is known
/// by then (log, options, headers) is in `made` all the same.
/// **Threads**: any number at once.
template <class Builder = text_builder>
inline result<> nvrtc_compile(const compile_request& request, compiled_state& made,
                              source_location where) {
  made.architecture = request.architecture;
  made.options = whole_option_list(request);
  compile_extras extras;
  const result<> done = nvrtc_compile_once(request, extras, made, where);
  if (done.has_value()) return done;
  constexpr int invalid_option = 5;
  const cuda_error& error = done.error();
  if (error.domain() != error_domain::nvrtc || error.code() != invalid_option) return done;
  // Some NVRTC may not know the options that are not in its manual: it has to do without them.
  extras.trace.close();
  extras.ptxas_figures = nullptr;
  return nvrtc_compile_once(request, extras, made, where);
}

}  // namespace gpu::detail
