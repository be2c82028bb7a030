// Compile gpu/gpu.cpp instead: this source is not there after the next release. With
// GPU_COMPILER_COMPILED, gpu/compiler/compile.cpp has the code.

#if !defined(GPU_COMPILER_COMPILED)
#  include <gpu/gpu.cpp>  // IWYU pragma: keep
#endif
