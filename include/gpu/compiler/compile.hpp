#pragma once
/// \file
/// `compile`: compiles CUDA C++ at run time.
///
/// A source that calls it takes the C++ compiler three seconds longer with -O2. A program of
/// several sources compiles that code once: it links the CMake target `gpu::compiled`, or compiles
/// gpu/gpu.cpp as one of its sources and defines `GPU_COMPILED` for all of them.

#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/detail/compiled.hpp>  // IWYU pragma: keep
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>

#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {
/// Does what `compile` does, with the program in `made`.
stable_result compile_program(const program& p, const compile_options& options,
                              source_location where, compiled_program& made);
}  // namespace detail

/// Compiles CUDA C++ for a device, at run time. `source` is a `program` or a string:
///
///     const gpu::compiled_program compiled = GPU_TRY(gpu::compile(source));
///     const gpu::module module = GPU_TRY(gpu::module::load(compiled));
///
/// If `options` name no architecture, compiles for that of the thread's current context, or of
/// device 0: to machine code if NVRTC knows that architecture, else to the newest PTX below it; on
/// the CPU driver to PTX alone, with the lines of the source for its reports. If they name one, no
/// driver is needed.
/// **Threads**: any number may compile at once; a `pthread_cancel` waits for the end.
/// **Errors**: `errc::compile_failed`, with file, line, source line and the log;
/// `errc::no_nvrtc`, with the places that were searched; `errc::not_supported` for an architecture
/// that NVRTC does not know; `errc::out_of_host_memory`; `errc::process_forked` in a child that was
/// forked while another thread compiled, and `errc::process_exiting` once exit has begun, for
/// programs that are not in the cache; NVRTC's own errors.
/// A program that was compiled before comes from the cache (see `compile_cache`) if a compilation
/// would give the same; `compiled_program::origin` says whether it did, and if not, why.
/// **Cost**: less than a microsecond for a program without headers that this process compiled
/// before, and some ten more for each header of the user's; less than a millisecond for one that
/// another process did; otherwise from a few milliseconds up, and much more if large headers are
/// included.
/// **Capture**: not affected. (nvrtcCompileProgram)
template <class Source>
  requires std::is_convertible_v<const Source&, program>
result<compiled_program> compile(const Source& source, const compile_options& options = {},
                                 source_location where = source_location::current()) {
  return detail::catch_bad_alloc("gpu::compile", where, [&]() -> result<compiled_program> {
    const program& p = source;
    compiled_program made;
    GPU_TRY(detail::compile_program(p, options, where, made));
    return made;
  });
}

}}  // namespace gpu::v1

#if !defined(GPU_COMPILED)
#  include <gpu/compiler/nvrtc/compile_inl.hpp>  // IWYU pragma: keep
#endif
