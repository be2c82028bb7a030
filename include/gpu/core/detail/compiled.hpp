#pragma once
/// \file
/// `GPU_COMPILED`: code that depends on no type is compiled once for a program, not once a source.
///
/// The program links the CMake target `gpu::compiled`, or compiles gpu/gpu.cpp as one of its
/// sources and defines `GPU_COMPILED` for all of them. A header then only declares what is defined
/// in the file with `_inl` at the end of its name, which is included at its end otherwise.

// The names before there was one for all. They are not defined after the next release.
#if !defined(GPU_COMPILED) && (defined(GPU_COMPILER_COMPILED) || defined(GPU_ARRAY_COMPILED))
#  define GPU_COMPILED
#endif

/// Begins each definition in such a file.
#if defined(GPU_COMPILED)
#  define GPU_DETAIL_INLINE
#else
#  define GPU_DETAIL_INLINE inline
#endif
