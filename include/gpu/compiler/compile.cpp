// The code of gpu::compile, compiled once for a program whose other sources are compiled with
// GPU_COMPILER_COMPILED: see gpu/compiler/compile.hpp.

#include <gpu/compiler/nvrtc/find_or_compile.hpp>

namespace gpu { inline namespace v1 { namespace detail {

cuda_error compile_program(const program& p, const compile_options& options, source_location where,
                           compiled_program& made);

cuda_error compile_program(const program& p, const compile_options& options, source_location where,
                           compiled_program& made) {
  return error_or_none(compile_to(p, options, where, made));
}

}}}  // namespace gpu::v1::detail
