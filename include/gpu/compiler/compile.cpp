// The code of gpu::compile, compiled once for a program whose other sources are compiled with
// GPU_COMPILER_COMPILED: see gpu/compiler/compile.hpp.

#include <gpu/compiler/nvrtc/find_or_compile.hpp>

namespace gpu::inline v0::detail {

bool compile_program(const program& p, const compile_options& options, source_location where,
                     compiled_program& made, cuda_error& failure);

bool compile_program(const program& p, const compile_options& options, source_location where,
                     compiled_program& made, cuda_error& failure) {
  return compile_to(p, options, where, made, failure);
}

}  // namespace gpu::inline v0::detail
