#pragma once
/// \file
/// The definitions of gpu/compiler/compile.hpp: what `compile` does once its source is a program.

#include <gpu/compiler/cache/program_cache.hpp>
#include <gpu/compiler/cache/through_cache.hpp>
#include <gpu/compiler/compile_cache.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/nvrtc/cached_compile.hpp>
#include <gpu/compiler/options/compile_request.hpp>
#include <gpu/compiler/options/recent_request.hpp>
#include <gpu/compiler/options/resolve_request.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/detail/compiled.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>
#include <gpu/system/no_cancellation.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns the program from the cache, or compiles it.
/// **Errors**: those of `compile`; if a container's allocation fails, what operator new throws.
inline result<compiled_program> find_or_compile(const program& p, const compile_options& options,
                                                source_location where) {
  program_cache& cache = compile_cache_access::chosen(options.cache);
  compiled_program found;
  recent_request words{p, options};
  const bool complete = words.complete();
  if (complete && cache.find(words, found)) return found;
  const no_cancellation whole;
  read_toolkit_notes<nvrtc::detail::library>(cache);
  compile_request request{p, options.architecture};
  GPU_TRY(resolve_request(request, options, where));
  const cached_compile compilation(request, where);
  return through_cache(cache, compilation, complete ? &words : nullptr);
}

GPU_DETAIL_INLINE stable_result compile_program(const program& p, const compile_options& options,
                                                source_location where, compiled_program& made) {
  made = GPU_TRY(find_or_compile(p, options, where));
  return {};
}

}}}  // namespace gpu::v1::detail
