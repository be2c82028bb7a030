#pragma once
/// \file
/// `compile`: CUDA C++ in, device code out, at run time.

#include <gpu/compiler/nvrtc/cached_compile.hpp>
#include <gpu/system/no_cancellation.hpp>

namespace gpu::inline v0 {

/// Compiles CUDA C++ for a device, at run time. `source` is a `program` or a string:
///
///     const gpu::compiled_program compiled = GPU_TRY(gpu::compile(source));
///     const gpu::module module = GPU_TRY(gpu::module::load(compiled));
///
/// Where `options` name no architecture, it is that of the thread's current context, or of device
/// 0: machine code where NVRTC knows that architecture, else the newest PTX below it. Where they
/// do, no driver is needed.
/// **Threads**: any number may compile at once; a `pthread_cancel` waits for the end.
/// **Errors**: `errc::compile_failed`, with file, line, source line and the whole log;
/// `errc::no_nvrtc`, with where it was looked for; `errc::not_supported` for an architecture that
/// NVRTC does not know; `errc::out_of_host_memory`; `errc::process_forked` in a child that was
/// forked while another thread compiled, and `errc::process_exiting` once exit has begun, for what
/// is not in the cache; NVRTC's own.
/// A program that was compiled before comes from the cache (see `compile_cache`), where a
/// compilation would give the same; `compiled_program::origin` says whether, and why not.
/// **Cost**: less than a microsecond for a program without headers that this process compiled
/// before, and some ten more for each header of its own; less than a millisecond for one that
/// another process did; otherwise from a few milliseconds up, and much more where large headers are
/// included.
/// **Capture**: not affected. (nvrtcCompileProgram)
template <class Source>
  requires detail::convertible<const Source&, program>
result<compiled_program> compile(const Source& source, const compile_options& options = {},
                                 source_location where = source_location::current()) {
  return detail::catch_bad_alloc("gpu::compile", where, [&]() -> result<compiled_program> {
    const program& p = source;
    compile_cache& cache = options.cache != nullptr ? *options.cache : compile_cache::of_process();
    compiled_program found;
    detail::recent_request said{p, options};
    const bool certain = said.complete();
    if (certain && detail::cached_compilation<>::find_quick(cache, said, found)) return found;
    const detail::no_cancellation whole;
    detail::cached_work<detail::cached_compilation<>>::prepare(cache);
    detail::compile_request request{p, options.architecture};
    GPU_TRY(detail::resolve_request(request, options, where));
    const detail::cached_compilation<> work{request, where};
    return detail::through_cache(cache, work, certain ? &said : nullptr);
  });
}

}  // namespace gpu::inline v0
