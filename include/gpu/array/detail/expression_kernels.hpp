#pragma once
/// \file
/// The kernels of expressions, found by what the expressions are made of.

#include <gpu/algorithm/elementwise/elementwise_kernel.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/expression_text.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/loop_plan.hpp>
#include <gpu/generated/shared_states.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/generated/snippet_options.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Makes the memory of a result when its shape is known, so that an expression is taken apart once.
struct result_maker {
  /// Fills in the operand that `out` of the target refers to.
  stable_result (*make)(void* self, const std::size_t* extents);
  void* self;
};

/// An expression and the operand into which its elements are written.
struct expression_target {
  expression_ref expression;
  const loop_operand* out;
  element_kind kind;                    ///< of the elements of `out`
  const result_maker* maker = nullptr;  ///< of a single target that is not there yet
};

/// Makes the memory of a result that is not there yet.
inline result<> make_result(const expression_target& target, const expression_layout& layout) {
  if (target.maker == nullptr) return {};
  return target.maker->make(target.maker->self, layout.extents);
}

/// The kernels of one structure of expressions, for all layouts of their operands. `State` is a
/// `loop_state`.
template <class State> struct structure_kernels {
  State loops;
  loop_form usual;  ///< for contiguous, aligned operands, if they are loaded before the text
};
using expression_kernels = structure_kernels<loop_state>;

/// The extents of a result, and the strides of a leaf that repeats along some axes.
struct repeated_leaf {
  long long extent[most_axes], stride[most_axes];
};

/// Names a parameter for each of the targets: `out`, or `out0`, `out1`, ...
inline text target_name(std::size_t t, std::size_t count) {
  text_builder out;
  out << "out";
  if (count > 1) out << t;
  return required(out.finish());
}

/// Adds a parameter to those of a kernel. `names` are separated by commas.
inline void add_parameter(snippet& code, text_builder& names, parameter_kind kind, bool writable,
                          const element_type& type, const text& name) {
  code.parameters.push_back({kind, writable, type, text()});
  if (names.size() != 0) names << ", ";
  names << name;
}

inline element_type type_of_kind(element_kind kind) noexcept {
  const kind_facts facts = facts_of(kind);
  const unsigned alignment = facts_of(real_kind(kind)).bytes;
  return element_type{facts.device_name, {}, facts.bytes, alignment};
}

/// Adds a parameter for each operand.
inline void add_slots(const expression_layout& layout, const expression_writer& writer,
                      snippet& code, text_builder& names) {
  for (std::size_t s = 0; s < layout.slot_count; ++s) {
    const expression_slot& slot = layout.slots[s];
    const word_header header = slot.header();
    const text& name = writer.slot_names[s];
    if (header.what != opcode::leaf) {
      const bool is_number = header.what == opcode::number;
      add_parameter(code, names, is_number ? parameter_kind::number : parameter_kind::elements,
                    false, type_of_kind(header.kind), name);
      for (const char* what : {"_size", "_stride"}) {
        if (!slot.is_taken()) break;
        text_builder of_axis;
        of_axis << name << what;
        add_parameter(code, names, parameter_kind::number, false, element_type_of<long long>(),
                      required(of_axis.finish()));
      }
      continue;
    }
    add_parameter(code, names, parameter_kind::number, false,
                  {slot.description().state_type,
                   {},
                   static_cast<std::uint32_t>(slot.state_bytes()),
                   static_cast<std::uint32_t>(slot.state_alignment())},
                  name);
    if (!slot.repeats) continue;
    text_builder repeated;
    repeated << 'r' << name;
    add_parameter(code, names, parameter_kind::number, false,
                  {"gpu_repeated", {}, sizeof(repeated_leaf), 8}, required(repeated.finish()));
  }
}

/// Returns the name and the texts around the body that have been written.
inline snippet_options options_of(const expression_writer& writer) {
  snippet_options options;
  options.fast = writer.is_fast;
  static_cast<text&>(options.name) = writer.name;
  static_cast<text&>(options.preamble) = writer.preamble;
  static_cast<text&>(options.before) = writer.setup;
  return options;
}

/// Returns how a body with a `return` uses the parameters: it reads each element once, but for
/// those that an index chooses.
inline sequence<parameter_use> uses_of_slots(const expression_layout& layout,
                                             const expression_writer& writer, const snippet& code) {
  sequence<parameter_use> found;
  for (const snippet_parameter& each : code.parameters) {
    bool loads = each.kind == parameter_kind::elements;
    for (std::size_t s = 0; s < layout.slot_count; ++s)
      loads = loads && !(layout.slots[s].is_taken() && writer.slot_names[s] == each.name);
    found.push_back({loads ? element_access::load : element_access::memory, false});
  }
  return found;
}

/// Gives a kernel the texts that have been written, and its parameters their names.
inline result<> finish_snippet(const evaluation& call, expression_writer& writer,
                               text_builder& names, snippet& code) {
  writer.finish();
  const snippet_options options = options_of(writer);
  return describe_snippet(code, required(names.finish()), writer.body, options, call.where);
}

/// Describes the kernel of an expression.
inline result<> describe_expression(const evaluation& call, const expression_layout& layout,
                                    const expression_target* targets, std::size_t count,
                                    loop_state& made) {
  expression_writer writer(layout);
  snippet& code = made.code;
  // Of the functions that share a kernel, the one that its errors name.
  code.function = count > 1 ? "gpu::assign_all" : "gpu::assign";
  text_builder names;
  for (std::size_t t = 0; t < count; ++t) {
    const text name = target_name(t, count);
    add_parameter(code, names, parameter_kind::elements, true, type_of_kind(targets[t].kind), name);
    writer.write(targets[t].expression, name, targets[t].kind);
  }
  add_slots(layout, writer, code, names);
  GPU_TRY(finish_snippet(call, writer, names, code));
  made.uses = find_uses(code);
  made.write = &write_elementwise;
  return {};
}

/// Returns the kernels of a structure of expressions, which `describe(state)` describes on the
/// first call.
template <class State, class Describe>
result<structure_kernels<State>*> find_structure(const evaluation& call,
                                                 const expression_layout& layout,
                                                 Describe describe) {
  const string_ref key(reinterpret_cast<const char*>(layout.key),
                       layout.key_size * sizeof *layout.key);
  return find_shared<expression_layout, structure_kernels<State>>(
      call.function, {key}, call.where, [&](structure_kernels<State>& made) -> result<> {
        GPU_TRY(describe(made.loops));
        made.usual = spread_groups(usual_form(made.loops));
        return {};
      });
}

/// Returns the kernels of an expression.
inline result<expression_kernels*> find_expression(const evaluation& call,
                                                   const expression_layout& layout,
                                                   const expression_target* targets,
                                                   std::size_t count) {
  return find_structure<loop_state>(call, layout, [&](loop_state& made) {
    return describe_expression(call, layout, targets, count, made);
  });
}

}}}  // namespace gpu::v1::detail
