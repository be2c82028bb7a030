#pragma once
/// \file
/// Reductions that the library writes itself, such as `sum`: their kernels are shared by all calls.

#include <gpu/algorithm/detail/bound_argument.hpp>
#include <gpu/algorithm/detail/element_type.hpp>
#include <gpu/algorithm/detail/loop_call.hpp>
#include <gpu/algorithm/detail/loop_operands.hpp>
#include <gpu/algorithm/detail/number_type.hpp>
#include <gpu/algorithm/detail/reduction_kernel.hpp>
#include <gpu/algorithm/detail/reduction_text.hpp>
#include <gpu/algorithm/detail/snippet.hpp>
#include <gpu/algorithm/detail/snippet_access.hpp>
#include <gpu/algorithm/snippet_options.hpp>
#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/detail/catch_bad_alloc.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/system/made_once.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// A parameter of a named reduction.
struct named_parameter {
  parameter_kind kind = parameter_kind::elements;
  element_type type = {};
};
template <class T> constexpr named_parameter elements_of_type() noexcept {
  return {parameter_kind::elements, element_type_of<T>()};
}
template <class T> constexpr named_parameter number_of_type() noexcept {
  return {parameter_kind::number, element_type_of<T>()};
}
template <class T> constexpr named_parameter pointer_to_type() noexcept {
  return {parameter_kind::pointer, element_type_of<T>()};
}

/// A result of a named reduction.
struct named_result {
  element_type type = {};
  const char* finish = "";  ///< the result for the combined value `a`; by default `a`
};

/// The parts of a named reduction: texts as in `reduction_text`, for certain types.
struct named_reduction {
  static constexpr std::size_t most_parameters = 5;

  const char* function = "";                         ///< `gpu::sum`
  const char* kernel = "";                           ///< `gpu_sum`
  const char* names = "x";                           ///< of the parameters
  named_parameter parameters[most_parameters] = {};  ///< up to the first without a type
  /// The type that is combined, or, if there is a `structure`, what that calls `gpu_number`.
  element_type number = {};
  element_type other = {};          ///< what a structure calls `gpu_other`
  const char* structure = nullptr;  ///< the definition of a structure `gpu_combined`
  std::uint32_t structure_bytes = 0;
  std::uint32_t structure_alignment = 0;
  const void* neutral = nullptr;
  const char* preamble = "";
  const char* map = "";
  const char* combine = "";
  const char* join = "";  ///< the name of a function that combines a group of values
  named_result results[2] = {};
  const char* wanted = nullptr;  ///< what needs at least one element
  std::uint64_t most = 0;        ///< elements that a segment may have; 0 for any number
};

/// The kernels of a named reduction.
struct named_kernels : reduction_state {
  text definition;  ///< of the structure
  std::uint64_t most = 0;
};
struct delete_named_kernels {
  void operator()(named_kernels* kernels) const noexcept { delete kernels; }
};

/// Describes what is combined, and how.
inline void describe_combination(named_kernels& made, const named_reduction& from) {
  made.code.function = from.function;
  made.value = from.number;
  if (from.structure != nullptr) {
    text_builder out;
    out << "using gpu_number = " << from.number.name << ";\n";
    if (from.other.bytes != 0) out << "using gpu_other = " << from.other.name << ";\n";
    out << from.structure;
    made.definition = required(out.finish());
    made.value = {"gpu_combined", made.definition, from.structure_bytes, from.structure_alignment};
  }
  made.neutral = from.neutral;
  made.combine = required(text(from.combine));
  made.join = required(text(from.join));
  for (const named_result& each : from.results) {
    if (each.type.bytes != 0) made.results.push_back({each.type, required(text(each.finish))});
  }
  made.wanted = from.wanted;
  made.most = from.most;
  made.to_device = "Pass device memory for the result, as the last argument.";
  made.write = &write_reduction;
}

inline result<> describe_named(named_kernels& made, const named_reduction& from,
                               source_location where) {
  for (const named_parameter& each : from.parameters) {
    if (each.type.bytes == 0) break;
    made.code.parameters.push_back({each.kind, false, each.type, text()});
  }
  describe_combination(made, from);
  GPU_TRY(describe_snippet(made.code, from.names, from.map,
                           {.name = from.kernel, .preamble = from.preamble}, where));
  made.uses = find_uses(made.code);
  return {};
}

/// Returns the kernels in `slot`. If it is empty, they are described, and kept until the process
/// ends.
inline result<named_kernels*> find_named(named_kernels*& slot, const named_reduction& from,
                                         source_location where) {
  named_kernels* const known = atomic_load<memory_order::acquire>(slot);
  if (known != nullptr) return known;
  return catch_bad_alloc(from.function, where, [&]() -> result<named_kernels*> {
    unique_handle<named_kernels*, delete_named_kernels> made(new named_kernels);
    GPU_TRY(describe_named(*made.get(), from, where));
    return made_once(slot, [&] { return made.release(); });
  });
}

/// A call of a named reduction.
struct named_call {
  const stream_ref& stream;
  const loop_argument* arguments;
  source_location where;
  /// Ranges that the map reads by indices of its own.
  const reduction_output* reads = nullptr;
  std::size_t read_count = 0;
};

/// Checks the ranges that the map reads by indices of its own.
inline result<> check_reads(const loop_call& call, const named_call& made) noexcept {
  const char* const function = call.code().function;
  for (std::size_t k = 0; k < made.read_count; ++k) {
    const reduction_output& each = made.reads[k];
    GPU_TRY(require_usable(call, each));
    if (each.operand.memory.count != 0 || call.operand(0)->memory.count == 0) continue;
    text_builder out;
    out << each.name << " has 0 elements, but " << call.name(0) << " has "
        << call.operand(0)->memory.count << ". Pass the elements that the indices choose from.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), call.where));
  }
  return {};
}

/// Fails if positions in a segment, or a number of its elements, may not fit in the results.
inline result<> check_result_count(const loop_call& call, std::uint64_t most, std::size_t length) {
  if (most == 0 || length <= most) return {};
  text_builder out;
  out << "the results are integers of at most " << most << ", but stand for " << length
      << " elements each. Use integers of 64 bits.";
  return fail(refusal(errc::invalid_argument, call.code().function, out.finish(), call.where,
                      length, most));
}

/// Does what `run_named_to_host` does.
inline result<> run_named_to_host_here(named_kernels*& slot, const named_reduction& from,
                                       const named_call& made, void* values) {
  named_kernels& kernels = *GPU_TRY(find_named(slot, from, made.where));
  const loop_call call{kernels, made.stream, made.where, made.arguments};
  GPU_TRY(check_reads(call, made));
  return reduce_to_host(call, values);
}

/// Does what `run_named_into` does.
inline result<> run_named_into_here(named_kernels*& slot, const named_reduction& from,
                                    const named_call& made, const reduction_output* outputs) {
  named_kernels& kernels = *GPU_TRY(find_named(slot, from, made.where));
  const loop_call call{kernels, made.stream, made.where, made.arguments};
  GPU_TRY(check_reads(call, made));
  const std::size_t segments = outputs[0].operand.memory.count;
  if (segments != 0) {
    GPU_TRY(check_result_count(call, kernels.most, call.operand(0)->memory.count / segments));
  }
  return reduce_into(call, outputs, made.reads, made.read_count);
}

#if defined(GPU_ARRAY_COMPILED)
cuda_error run_named_to_host_compiled(named_kernels*& slot, const named_reduction& from,
                                      const named_call& made, void* values);
cuda_error run_named_into_compiled(named_kernels*& slot, const named_reduction& from,
                                   const named_call& made, const reduction_output* outputs);
#endif

/// Runs a named reduction, whose kernels are kept in `slot`, and returns its values on the host.
inline result<> run_named_to_host(named_kernels*& slot, const named_reduction& from,
                                  const named_call& made, void* values) {
#if defined(GPU_ARRAY_COMPILED)
  return result_of_error(run_named_to_host_compiled(slot, from, made, values));
#else
  return run_named_to_host_here(slot, from, made, values);
#endif
}

/// Runs a named reduction, whose kernels are kept in `slot`, into device memory.
inline result<> run_named_into(named_kernels*& slot, const named_reduction& from,
                               const named_call& made, const reduction_output* outputs) {
#if defined(GPU_ARRAY_COMPILED)
  return result_of_error(run_named_into_compiled(slot, from, made, outputs));
#else
  return run_named_into_here(slot, from, made, outputs);
#endif
}

/// The kernels of a family of types. A `Family` has a `static constexpr named_reduction text`.
template <class Family> named_kernels*& named_slot() noexcept {
  static named_kernels* slot = nullptr;  // constant initialization: no guard, so no lock in a fork
  return slot;
}

/// Reduces all elements to values on the host, one after the other in `values`.
template <class Family> result<> reduce_named(const named_call& call, void* values) {
  return run_named_to_host(named_slot<Family>(), Family::text, call, values);
}
/// Reduces to device memory.
template <class Family>
result<> reduce_named_into(const named_call& call, const reduction_output* outputs) {
  return run_named_into(named_slot<Family>(), Family::text, call, outputs);
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
