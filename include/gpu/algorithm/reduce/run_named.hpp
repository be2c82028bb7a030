#pragma once
/// \file
/// Runs named reductions.

#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/core/detail/compiled.hpp>  // IWYU pragma: keep
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/bound_argument.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>

#include <concepts>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// Runs a named reduction, whose kernels are kept in `all`, and returns its values on the host.
stable_result run_named_to_host(shared_reductions& all, const named_reduction& from,
                                const named_call& made, void* values);

/// Runs a named reduction, whose kernels are kept in `all`, into device memory.
stable_result run_named_into(shared_reductions& all, const named_reduction& from,
                             const named_call& made, const reduction_output* outputs);

/// Reduces all elements to values on the host, one after the other in `values`. A `Family` has a
/// `static constexpr named_reduction text`.
template <class Family> result<> reduce_named(const named_call& call, void* values) {
  return run_named_to_host(states_of<Family, named_kernels>(), Family::text, call, values);
}
/// Reduces to device memory.
template <class Family>
result<> reduce_named_into(const named_call& call, const reduction_output* outputs) {
  return run_named_into(states_of<Family, named_kernels>(), Family::text, call, outputs);
}

/// Reduces `x`, whose elements are of type `T`, to the value that the family calls `result_type`.
template <class Family, class T, class X>
result<typename Family::result_type> reduce_elements(const stream_ref& stream, X& x,
                                                     source_location where) {
  bound_argument<const T*> elements(x);
  const loop_argument list[] = {elements.get()};
  typename Family::result_type value;
  GPU_TRY(reduce_named<Family>({stream, list, where}, &value));
  return value;
}
template <class Family, class T, class X, class Out>
result<> reduce_elements_into(const stream_ref& stream, X& x, Out& out, source_location where) {
  bound_argument<const T*> elements(x);
  const loop_argument list[] = {elements.get()};
  const reduction_output output = make_output("out", out);
  return reduce_named_into<Family>({stream, list, where}, &output);
}

/// The type of what a reduction stores in `Out`.
template <class Out> struct stored_element {
  static_assert(!std::is_const_v<typename elements_of_argument<std::remove_reference_t<Out>>::type>,
                "the results are written, but their elements are const");
  using type = argument_element<Out>;
};
template <class Out> using stored_element_t = typename stored_element<Out>::type;

/// A value of `T`, as a neutral value.
template <class T, int Value> inline constexpr T number_constant = static_cast<T>(Value);

/// Checks that elements of type `T` can be combined to an `R`.
template <class T, class R> constexpr void check_combined() noexcept {
  static_assert(number<T>,
                "the elements are numbers: bool, integers, float, double, __half, "
                "__nv_bfloat16, or std::complex of float or double");
  static_assert(number<R> && !std::same_as<R, bool>,
                "the result is a number and not bool: see gpu::any_of, gpu::all_of and gpu::count");
  static_assert(!complex_number<T> || complex_number<R>,
                "complex numbers give a complex result: the imaginary parts would be lost");
}

}}}  // namespace gpu::v1::detail

#if !defined(GPU_COMPILED)
#  include <gpu/algorithm/reduce/run_named_inl.hpp>  // IWYU pragma: keep
#endif
