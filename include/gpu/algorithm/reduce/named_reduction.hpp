#pragma once
/// \file
/// Describes reductions that the library writes itself, such as `sum`.

#include <gpu/algorithm/reduce/reduction_kernel.hpp>
#include <gpu/algorithm/reduce/reduction_text.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/generated/snippet_options.hpp>

#include <cstddef>
#include <cstdint>

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
using shared_reductions = shared_states<named_kernels>;

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

/// Returns the kernels, the only ones in `all`, which are described on the first call.
inline result<named_kernels*> find_named(shared_reductions& all, const named_reduction& from,
                                         source_location where) {
  return &GPU_TRY(all.find(from.function, {}, where, [&](named_kernels& made) {
            return describe_named(made, from, where);
          }))->state;
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

}}}  // namespace gpu::v1::detail
