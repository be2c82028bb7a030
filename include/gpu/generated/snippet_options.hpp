#pragma once
/// \file
/// `snippet_options`: what a kernel that is generated from a snippet can be given beside it.

#include <gpu/compiler/compile_options.hpp>
#include <gpu/core/detail/string_scan.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_tokens.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// Options of `elementwise`, `reduction`, `scan` and `selection`.
struct snippet_options {
  /// Of the kernel, as a profiler shows it. By default `elementwise_kernel`, `reduction_kernel` and
  /// so on.
  option_text name = {};
  /// Text before the kernel: functions, types, `#include`s. Functions are `__device__` unless they
  /// say otherwise.
  option_text preamble = {};
  option_text before = {};  ///< run by each thread before its elements: declares variables
  option_text after = {};   ///< run by each thread after its elements
  /// Allows approximate functions, and products and sums that are rounded once (--use_fast_math).
  /// By default + - * / and sqrt are rounded as on the host.
  bool fast = false;
  /// Everything else that `compile` takes.
  gpu::compile_options compile = {};
};

namespace detail {

/// Returns the name of a kernel of `gpu::NAME`: `NAME_kernel`.
inline text default_name(string_ref function) {
  constexpr std::size_t qualifier = sizeof "gpu::" - 1;
  text_builder out;
  out << without_front(function, qualifier) << "_kernel";
  return required(out.finish());
}

/// Fails with `errc::invalid_argument` if a part of a snippet has nothing but comments. `example`
/// is what it could be.
inline result<> require_part(const snippet& s, const char* part, const text& code,
                             const char* example, source_location where) {
  if (!read_tokens(code).tokens.empty()) return {};
  text_builder out;
  out << part << " is empty. Write CUDA C++, such as \"" << example << "\".";
  return refuse_snippet(s, out, where);
}

/// Fills in the texts and the widths of a snippet, and checks the names of its parameters.
inline result<> describe_snippet(snippet& s, string_ref names, string_ref body,
                                 const snippet_options& options, source_location where) {
  s.name = options.name;
  if (s.name.empty()) s.name = default_name(s.function);
  s.preamble = options.preamble;
  s.before = options.before;
  s.body = required(body.to_text());
  s.after = options.after;
  s.options = options.compile;
  s.options.fast_math = s.options.fast_math || options.fast;
  s.options.fused_multiply_add = options.fast;
  set_widths(s);
  s.options.default_device = true;  // generic lambdas of NVRTC ask for it
  return name_parameters(s, names, where);
}

}  // namespace detail
}}  // namespace gpu::v1
