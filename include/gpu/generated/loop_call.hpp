#pragma once
/// \file
/// `loop_call`: a call of a generated kernel, and the checks of its arguments.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/expected.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/generated/kernel_store.hpp>
#include <gpu/generated/loop_form.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/shared_elements.hpp>
#include <gpu/generated/snippet.hpp>
#include <gpu/generated/snippet_access.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/view_fault.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 { namespace detail {

/// The largest number of parameters of a generated kernel.
inline constexpr std::size_t most_loop_parameters = 32;

/// The checks of a number or a plain pointer before it is passed.
struct value_checks {
  const copy_end* memory = nullptr;    ///< of a plain pointer, if it is known
  const loop_operand* view = nullptr;  ///< of which a plain pointer is
  argument_refusal refusal{};          ///< of a number
};

/// An argument of a generated kernel: elements, or a value. It is as small as it can be, because
/// calls go through the arguments many times (benchmarks/array/evaluate_overhead).
struct loop_argument {
  const loop_operand* operand;           ///< null for numbers and plain pointers
  void* value;                           ///< the number or the pointer
  const value_checks* checks = nullptr;  ///< of the value; null if there is nothing to check
};

/// A snippet with the kernels that were made of it.
struct loop_state {
  snippet code;
  sequence<parameter_use> uses;
  /// True if the snippet compiles with elements loaded before it. The first kernel that is made may
  /// clear it.
  bool by_element = true;
  /// Groups of the full width in a thread. More than one share what a thread prepares; that pays if
  /// the snippet loads nothing and is short.
  unsigned groups = 1;
  /// Writes the program of a form.
  void (*write)(const loop_state&, const loop_form&, generated_program&) = nullptr;
  kernel_store kernels;
};

/// Returns the kernel of a form. If its text does not compile with elements loaded beforehand, the
/// snippet is compiled as it is: so an error names what the user wrote.
inline result<const untyped_kernel*> find_kernel(loop_state& state, device on, loop_form& form,
                                                 source_location where) {
  if (const untyped_kernel* const known = state.kernels.known(on, form.key())) return known;
  const auto attempt = [&] {
    return state.kernels.find(on, form.key(), where, [&](generated_program& made) -> result<> {
      state.write(state, form, made);
      return {};
    });
  };
  auto found = attempt();
  if (found.has_value() || !form.by_element || found.error() != errc::compile_failed) return found;
  atomic_store<memory_order::relaxed>(state.by_element, false);
  form.by_element = false;
  return attempt();
}

/// A call of a generated kernel.
struct loop_call {
  loop_state& state;
  const stream_ref& stream;
  source_location where;
  const loop_argument* arguments;

  const snippet& code() const noexcept { return state.code; }
  std::size_t count() const noexcept { return state.code.parameters.size(); }
  const char* name(std::size_t p) const noexcept { return state.code.parameters[p].name.c_str(); }
  const loop_operand* operand(std::size_t p) const noexcept { return arguments[p].operand; }
};

inline named_elements name_operand(const loop_call& call, std::size_t p) noexcept {
  const element_type& type = call.code().parameters[p].type;
  return {call.name(p), call.operand(p)->memory, type.bytes, type.alignment};
}

/// Returns whether a kernel in a context can certainly use memory with elements of a type.
/// `require_usable` decides on all other memory, such as that of 2^31 elements and more, and says
/// why not.
inline bool is_usable(const copy_end& memory, const element_type& type,
                      const context_ref& context) noexcept {
  if ((memory.address & (type.alignment - 1)) != 0) return false;
  if (memory.count >> 31 != 0) return false;
  return memory.context ? memory.context == context : !memory.needs_context;
}

/// Returns whether elements of equal index are at equal addresses.
inline bool same_elements(const loop_operand& a, const loop_operand& b) noexcept {
  if (a.memory.address != b.memory.address || a.memory.count != b.memory.count) return false;
  if (a.contiguous && b.contiguous) return true;
  if (!same_shape(a, b)) return false;
  for (int axis = 0; axis < a.rank; ++axis) {
    if (a.extents[axis] != 1 && a.strides[axis] != b.strides[axis]) return false;
  }
  return true;
}

/// Fails if an element of operand `w`, which is a view and written, occurs twice in it.
inline result<> require_distinct_elements(const loop_call& call, std::size_t w) noexcept {
  if (!shares_within(*call.operand(w), call.code().parameters[w].type.bytes)) return {};
  text_builder out;
  out << call.name(w) << " is written, but several elements of its view are at one address, as "
      << "with a stride of 0. Pass a view whose elements are at different addresses.";
  return fail(refusal(errc::invalid_argument, call.code().function, out.finish(), call.where));
}

/// Fails if an element of operand `w`, which is written, lies in operand `p` at another index. They
/// reach into the same memory.
inline result<> require_same_elements(const loop_call& call, std::size_t w,
                                      std::size_t p) noexcept {
  const loop_operand &written = *call.operand(w), &other = *call.operand(p);
  const std::size_t bytes = call.code().parameters[w].type.bytes;
  const std::size_t other_bytes = call.code().parameters[p].type.bytes;
  const bool views = !written.contiguous || !other.contiguous;
  if (views && !share_bytes(written, bytes, other, other_bytes)) return {};
  const bool own_only = !call.state.uses[w].reaches_others && !call.state.uses[p].reaches_others;
  if (bytes == other_bytes && own_only && same_elements(written, other)) return {};
  text_builder out;
  out << call.name(w) << " is written and overlaps " << call.name(p) << " in memory, ";
  if (own_only) {
    out << "but not element by element: the result would depend on the order of the threads. "
           "Pass the same elements, or memory that does not overlap.";
  } else {
    out << "and the snippet may use elements at other indices than i, which other threads "
           "write. Pass memory that does not overlap.";
  }
  return fail(refusal(errc::invalid_argument, call.code().function, out.finish(), call.where));
}

/// Fails if an element that the kernel writes lies in another operand at another index, or occurs
/// twice in its own view: then the result would depend on the order of threads.
inline result<> require_no_overlap(const loop_call& call) noexcept {
  const snippet_parameter* const parameters = call.code().parameters.data();
  const loop_argument* const arguments = call.arguments;
  const std::size_t size = call.count();
  for (std::size_t w = 0; w < size; ++w) {
    const loop_operand* const written = arguments[w].operand;
    if (!parameters[w].writable || written == nullptr || written->memory.count < 2) continue;
    if (!written->contiguous) GPU_TRY(require_distinct_elements(call, w));
    const byte_range own = bytes_of(*written, parameters[w].type.bytes);
    for (std::size_t p = 0; p < size; ++p) {
      const loop_operand* const other = arguments[p].operand;
      if (p == w || other == nullptr || other->memory.count == 0) continue;
      if (meet(own, bytes_of(*other, parameters[p].type.bytes)))
        GPU_TRY(require_same_elements(call, w, p));
    }
  }
  return {};
}

/// Returns the error for operands whose shapes differ.
inline unexpected<cuda_error> refuse_shapes(const loop_call& call, std::size_t a,
                                            std::size_t b) noexcept {
  text_builder out;
  out << call.name(a) << " has the shape ";
  write_shape(out, *call.operand(a));
  out << ", but " << call.name(b) << " has the shape ";
  write_shape(out, *call.operand(b));
  out << ". Pass views of the same shape.";
  return fail(refusal(errc::size_mismatch, call.code().function, out.finish(), call.where));
}

/// Fails if the memory of parameter `p`, a plain pointer, cannot be used on the call's stream.
inline result<> require_usable_plain(const loop_call& call, std::size_t p) noexcept {
  return require_usable(call.code().function, call.stream,
                        {call.name(p), *call.arguments[p].checks->memory, 1}, call.where);
}

/// Fails if parameter `p`, a plain pointer, is of a view that is faulty or has strides.
inline result<> require_plain_view(const loop_call& call, std::size_t p) noexcept {
  const loop_operand& view = *call.arguments[p].checks->view;
  if (view.fault)
    return fail(fault_error(view.fault, call.code().function, call.name(p), call.where));
  if (view.contiguous || view.memory.count < 2) return {};
  text_builder out;
  out << call.name(p)
      << " is a view whose elements are not contiguous, but the parameter is a gpu::raw pointer, "
         "which has no strides. Pass a contiguous copy, which gpu::evaluate(stream, view) makes, "
         "or declare the parameter without gpu::raw.";
  return fail(refusal(errc::invalid_argument, call.code().function, out.finish(), call.where));
}

/// Fails if parameter `p`, a value or a plain pointer that is checked, cannot be passed.
inline result<> require_passable(const loop_call& call, std::size_t p) noexcept {
  const value_checks& checks = *call.arguments[p].checks;
  if (checks.memory != nullptr) return require_usable_plain(call, p);
  if (checks.view != nullptr) return require_plain_view(call, p);
  const text reason = checks.refusal.reason();
  if (reason.empty()) return {};
  text_builder out;
  out << call.name(p) << ": " << reason;
  return fail(refusal(errc::invalid_argument, call.code().function, out.finish(), call.where));
}

/// Fails with the reason why operand `p` cannot be used on the call's stream.
inline result<> require_usable(const loop_call& call, std::size_t p) noexcept {
  const snippet& code = call.code();
  const view_fault& fault = call.operand(p)->fault;
  if (fault) return fail(fault_error(fault, code.function, call.name(p), call.where));
  return require_usable(code.function, call.stream, name_operand(call, p), call.where);
}

/// Checks the operands against each other and sets `count` to the number of their elements, or to 0
/// if there are none. `any` is false if the kernel has no parameter with elements.
inline result<> check_operands(const loop_call& call, std::size_t& count, bool& any) noexcept {
  const snippet_parameter* const parameters = call.code().parameters.data();
  const loop_argument* const arguments = call.arguments;
  const std::size_t size = call.count();
  const context_ref context = call.stream.context();
  std::size_t first = size, view = size, elements = 0;
  for (std::size_t p = 0; p < size; ++p) {
    const loop_operand* const operand = arguments[p].operand;
    if (operand == nullptr) {
      if (arguments[p].checks != nullptr) GPU_TRY(require_passable(call, p));
      continue;
    }
    if (operand->fault || !is_usable(operand->memory, parameters[p].type, context))
      GPU_TRY(require_usable(call, p));
    if (first == size) {
      first = p;
      elements = operand->memory.count;
    }
    if (operand->memory.count != elements) {
      return require_same_count(call.code().function, name_operand(call, first),
                                name_operand(call, p), call.where);
    }
    if (operand->contiguous && operand->rank == 1) continue;
    if (view == size) view = p;
    if (!same_shape(*arguments[view].operand, *operand)) return refuse_shapes(call, view, p);
  }
  any = first != size;
  count = elements;
  return require_no_overlap(call);
}

/// Fails because no argument has elements, which would say how many there are.
inline result<> refuse_no_elements(const loop_call& call) noexcept {
  return fail(refusal(errc::invalid_argument, call.code().function,
                      text("no parameter says how many elements there are. Declare one as a "
                           "pointer, without gpu::raw."),
                      call.where));
}

}}}  // namespace gpu::v1::detail
