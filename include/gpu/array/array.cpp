// The code of arrays and algorithms that depends on no type, compiled once for a program whose
// other sources are compiled with GPU_ARRAY_COMPILED: expressions, elementwise kernels, named
// reductions and sorts. See docs/arrays.md.

#if !defined(GPU_ARRAY_COMPILED)
#  define GPU_ARRAY_COMPILED
#endif

#include <gpu/algorithm/detail/named_reduction.hpp>
#include <gpu/algorithm/detail/sort_kernel.hpp>
#include <gpu/array/detail/reduction_steps.hpp>

namespace gpu { inline namespace v1 { namespace detail {

cuda_error describe_elementwise_compiled(loop_state& state, string_ref names, string_ref body,
                                         const snippet_options& options, source_location where) {
  return error_or_none(describe_elementwise_here(state, names, body, options, where));
}

cuda_error run_elementwise_compiled(const loop_call& call, const slice* range) {
  return error_or_none(run_elementwise_here(call, range));
}

cuda_error find_extents_compiled(const evaluation& call, const expression_ref& e,
                                 std::size_t* extents) {
  return error_or_none(find_extents_here(call, e, extents));
}

cuda_error run_expressions_compiled(const evaluation& call, const expression_target* targets,
                                    std::size_t count, evaluation_step step) {
  return error_or_none(run_expressions_here(call, targets, count, step));
}

cuda_error run_named_to_host_compiled(shared_reductions& all, const named_reduction& from,
                                      const named_call& made, void* values) {
  return error_or_none(run_named_to_host_here(all, from, made, values));
}

cuda_error run_named_into_compiled(shared_reductions& all, const named_reduction& from,
                                   const named_call& made, const reduction_output* outputs) {
  return error_or_none(run_named_into_here(all, from, made, outputs));
}

cuda_error run_sort_compiled(const sort_request& request) {
  return error_or_none(run_sort_here(request));
}

}}}  // namespace gpu::v1::detail
