#pragma once
/// \file
/// `compile`: CUDA C++ in, device code out, at run time.

#include <gpu/compiler/nvrtc_compile.hpp>

namespace gpu {

/// Compiles CUDA C++ for a device, at run time. `source` is a `program` or a string:
///
///     const gpu::compiled_program compiled = GPU_TRY(gpu::compile(source));
///     const gpu::module module = GPU_TRY(gpu::module::load(compiled));
///
/// Where `options` name no architecture, it is that of the thread's current context, or of device
/// 0: machine code where NVRTC knows that architecture, else the newest PTX below it. Where they
/// do, no driver is needed.
/// **Threads**: any number may compile at once. **Errors**: `errc::compile_failed`, with file,
/// line, source line and the whole log; `errc::no_nvrtc`, with where it was looked for;
/// `errc::not_supported` for an architecture that NVRTC does not know; NVRTC's own.
/// **Cost**: from a few milliseconds up; much more where large headers are included.
/// **Capture**: not affected. (nvrtcCompileProgram)
template <class Source>
  requires std::is_convertible_v<const Source&, program>
result<compiled_program> compile(const Source& source, const compile_options& options = {},
                                 source_location where = source_location::current()) {
  const program& p = source;
  detail::compile_request request{p, options.architecture};
  GPU_TRY(detail::settle(request, options, where));

  // Between here and the return, the cache is asked first and given what was made.
  auto* state = new (std::nothrow) detail::compiled_state;
  if (state == nullptr) {
    return detail::fail(detail::refusal(
        errc::out_of_host_memory, "gpu::compile",
        text("the host had no memory left for the compiled program. Free host memory."), where,
        sizeof *state));
  }
  compiled_program made = detail::compiled_program_access::adopt(state);
  GPU_TRY(detail::nvrtc_compile(request, *state, where));
  return made;
}

}  // namespace gpu
