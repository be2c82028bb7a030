// The code of compilations, algorithms and arrays that depends on no type, compiled once for a
// program whose sources are compiled with GPU_COMPILED: see gpu/core/detail/compiled.hpp.

#if !defined(GPU_COMPILED)
#  define GPU_COMPILED
#endif

// IWYU pragma: begin_keep
#include <gpu/algorithm/elementwise/run_elementwise.hpp>
#include <gpu/algorithm/elementwise/run_elementwise_inl.hpp>
#include <gpu/algorithm/reduce/run_named.hpp>
#include <gpu/algorithm/reduce/run_named_inl.hpp>
#include <gpu/algorithm/sort/run_sort.hpp>
#include <gpu/algorithm/sort/run_sort_inl.hpp>
#include <gpu/array/detail/run_expressions.hpp>
#include <gpu/array/detail/run_expressions_inl.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/nvrtc/compile_inl.hpp>
// IWYU pragma: end_keep
