#pragma once
/// \file
/// The options of NVRTC that the members of `compile_options` stand for.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/options/chosen_options.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/refusals.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Adds the options for the members of `options`, except `extra`.
inline result<> add_members(option_chooser& chooser, const compile_options& options,
                            source_location where) {
  if (options.architecture != architecture()) {
    chooser.choose_architecture(options.architecture, "compile_options::architecture");
  }
  GPU_TRY(require_enumerator(options.standard, "cpp_standard", "gpu::compile", where));
  if (options.standard != cpp_standard::unspecified) {
    text_builder value;
    const int year = static_cast<int>(options.standard);
    value << "c++" << (year < 10 ? "0" : "") << year;
    chooser.choose("--std", required(value.finish()), "compile_options::standard");
  }
  text_builder out;
  if (explain_max_registers(out, "compile_options", options.max_registers)) {
    return chooser.refuse(out, static_cast<std::uint64_t>(options.max_registers), 255);
  }
  if (options.max_registers != 0) {
    out << options.max_registers;
    chooser.choose("--maxrregcount", required(out.finish()), "compile_options::max_registers");
  }
  if (options.debug_optimized && !options.debug) {
    out << "compile_options::debug_optimized is set, but compile_options::debug is not. Set both.";
    return chooser.refuse(out);
  }
  const struct {
    bool chosen;
    const char* option;
    const char* value;
    const char* member;
  } flags[] = {
      {options.link_time_optimization, "--dlink-time-opt", "",
       "compile_options::link_time_optimization"},
      {options.relocatable, "--relocatable-device-code", "true", "compile_options::relocatable"},
      {options.debug, "--device-debug", "", "compile_options::debug"},
      {options.debug_optimized, "--dopt", "on", "compile_options::debug_optimized"},
      {options.line_info, "--generate-line-info", "", "compile_options::line_info"},
      {options.flush_denormals, "--ftz", "true", "compile_options::flush_denormals"},
      {!options.precise_square_root, "--prec-sqrt", "false",
       "compile_options::precise_square_root"},
      {!options.precise_division, "--prec-div", "false", "compile_options::precise_division"},
      {!options.fused_multiply_add, "--fmad", "false", "compile_options::fused_multiply_add"},
      {options.fast_math, "--use_fast_math", "", "compile_options::fast_math"},
      {options.default_device, "--device-as-default-execution-space", "",
       "compile_options::default_device"},
  };
  for (const auto& flag : flags) {
    if (flag.chosen) chooser.choose(flag.option, required(text(flag.value)), flag.member);
  }
  for (const macro_definition& macro : options.defines) {
    out << macro.name << '=' << macro.value;
    GPU_TRY(chooser.add("--define-macro", required(out.finish()), "compile_options::defines"));
  }
  for (const option_text& folder : options.include_folders) {
    GPU_TRY(chooser.add("--include-path", folder, "compile_options::include_folders"));
  }
  return {};
}

}}}  // namespace gpu::v1::detail
