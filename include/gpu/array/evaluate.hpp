#pragma once
/// \file
/// Functions that run expressions: `evaluate` makes an array, `assign` writes to existing elements,
/// `item` brings one element home, and `prepare` compiles ahead.

#include <gpu/array/array.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_kernels.hpp>
#include <gpu/array/detail/expression_launch.hpp>
#include <gpu/array/detail/expression_layout.hpp>
#include <gpu/array/detail/run_expressions.hpp>
#include <gpu/array/detail/shared_kernel.hpp>
#include <gpu/array/detail/view_changes.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/array/view_axes.hpp>
#include <gpu/array/view_shape.hpp>
#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/generated/arguments.hpp>
#include <gpu/generated/loop_call.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/view_fault.hpp>
#include <gpu/memory/detail/view_layout.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/shape.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

template <class T> struct copy_family;
template <class T> struct fill_family;

/// Satisfied by views and arrays of numbers, and by expressions.
template <class A>
concept evaluated = is_expression<std::remove_cvref_t<A>> || viewable<A>;

/// 0 for what cannot be evaluated: Clang asks before it looks at the constraint.
template <class A> constexpr int evaluated_rank() noexcept {
  if constexpr (is_expression<std::remove_cvref_t<A>>) {
    return std::remove_cvref_t<A>::rank;
  } else if constexpr (viewable<A>) {
    return viewed_rank<A>;
  } else {
    return 0;
  }
}
template <class A> struct evaluated_element : std::type_identity<operand_element_t<A>> {};
template <class A>
  requires(viewable<A> && !is_expression<std::remove_cvref_t<A>>)
struct evaluated_element<A> : std::type_identity<std::remove_cv_t<viewed_element_t<A>>> {};
template <class A> using evaluated_element_t = typename evaluated_element<A>::type;

template <class T> inline constexpr bool is_number_type = kind_of<T>() != element_kind::none;

/// Fails with the reason if a view is faulty.
inline result<> require_sound(const evaluation& call, const char* what,
                              const loop_operand& operand) noexcept {
  if (!operand.fault) return {};
  return fail(fault_error(operand.fault, call.function, what, call.where));
}

template <class T, int Rank>
result<> require_sound(const char* function, const char* what, const array_view<T, Rank>& view,
                       source_location where) noexcept {
  const loop_operand operand = make_operand(view);
  if (!operand.fault) return {};
  return fail(fault_error(operand.fault, function, what, where));
}

/// Copies elements that are not numbers.
template <class T>
result<> copy_elements(const evaluation& call, const loop_operand& written,
                       const loop_operand& read) {
  const loop_argument arguments[] = {{&written, nullptr}, {&read, nullptr}};
  return run_shared<copy_family<T>, T*, const T*>(
      {call.function, "gpu_assign", "out, x"}, call.stream, call.where,
      [] { return text("out[i] = x[i]"); }, arguments);
}

/// Assigns elements that are not numbers.
template <class Out, class A> result<> assign_elements(const evaluation& call, Out&& out, A&& a) {
  using to = viewed_element_t<Out>;
  static_assert(std::same_as<std::remove_cv_t<viewed_element_t<A>>, to>,
                "gpu::assign: only numbers are converted to another type");
  const auto target = array_view_of(static_cast<Out&&>(out));
  const auto source = array_view_of(static_cast<A&&>(a));
  const loop_operand written = operand_of(target, out);
  GPU_TRY(require_sound(call, "out", written));
  GPU_TRY(require_sound(call, "x", make_operand(source)));
  expression_layout layout;
  layout.rank = viewed_rank<A>;
  for (int axis = 0; axis < layout.rank; ++axis) layout.extents[axis] = source.extent(axis);
  GPU_TRY(require_target(call, layout, written));
  const loop_operand read = operand_of(gpu::broadcast_to(source, target.shape()), a);
  if (!overlap_in_disorder(written, sizeof(to), read, sizeof(to)))
    return copy_elements<to>(call, written, read);
  auto buffer = GPU_TRY(device_buffer<to>::create(call.stream, source.size(), call.where));
  const auto copied = gpu::reshape(buffer, source.shape());
  GPU_TRY(copy_elements<to>(call, make_operand(copied), make_operand(source)));
  return copy_elements<to>(call, written, make_operand(gpu::broadcast_to(copied, target.shape())));
}

/// An expression of numbers and where its elements go.
template <class E> struct assignment {
  E expression;
  loop_operand out;
  element_kind kind;

  expression_target target() const noexcept {
    return {expression_access::ref(expression), &out, kind};
  }
};

/// Makes an assignment of an expression, or of the elements of an array or a view.
template <class Out, class A> auto make_assignment(Out&& out, A&& a) noexcept {
  using to = viewed_element_t<Out>;
  using from = evaluated_element_t<A>;
  static_assert(!std::is_const_v<to>, "gpu::assign: the elements of `out` are const");
  static_assert(evaluated_rank<A>() <= viewed_rank<Out>,
                "gpu::assign: the source has more axes than `out`; remove some with gpu::squeeze");
  static_assert(is_number_type<from> && is_number_type<to>,
                "gpu::assign: only numbers are converted to another type");
  static_assert(class_of(kind_of<from>()) != kind_class::complex ||
                    class_of(kind_of<to>()) == kind_class::complex,
                "gpu::assign: complex numbers are not converted to others; assign gpu::real(a)");
  using e = std::remove_cvref_t<decltype(as_operand<kind_of<from>()>(static_cast<A&&>(a)))>;
  return assignment<e>{as_operand<kind_of<from>()>(static_cast<A&&>(a)),
                       operand_of(array_view_of(static_cast<Out&&>(out)), out), kind_of<to>()};
}

/// Evaluates an expression, or the elements of an array or a view, into `out`.
template <class Out, class A>
result<> assign_numbers(const evaluation& call, Out&& out, A&& a, evaluation_step step) {
  const auto made = make_assignment(static_cast<Out&&>(out), static_cast<A&&>(a));
  const expression_target target = made.target();
  return run_expressions(call, &target, 1, step);
}

/// Makes an array when its shape is known.
template <class T, int Rank> struct array_maker {
  const evaluation& call;
  array<T, Rank> made = {};
  loop_operand out = {};

  static stable_result make(void* self, const std::size_t* shape) {
    auto& own = *static_cast<array_maker*>(self);
    gpu::shape<Rank> extents;
    for (int axis = 0; axis < Rank; ++axis) extents[axis] = shape[axis];
    own.made = GPU_TRY((array<T, Rank>::adopt(
        GPU_TRY(device_buffer<T>::create(own.call.stream, extents.size(), own.call.where)), extents,
        own.call.where)));
    own.out = operand_of(own.made.view(), own.made);
    return {};
  }
};

/// Makes an array of what an expression computes, for a function that has it as an operand.
template <evaluated A>
auto evaluate_for(const evaluation& call, A&& a)
    -> result<array<evaluated_element_t<A>, evaluated_rank<A>()>> {
  using element = evaluated_element_t<A>;
  constexpr int rank = evaluated_rank<A>();
  array_maker<element, rank> maker{call};
  if constexpr (is_expression<std::remove_cvref_t<A>>) {
    const result_maker make{&array_maker<element, rank>::make, &maker};
    const expression_target target{expression_access::ref(a), &maker.out, kind_of<element>(),
                                   &make};
    GPU_TRY(run_expressions(call, &target, 1, evaluation_step::run));
  } else {
    const auto source = array_view_of(static_cast<A&&>(a));
    GPU_TRY(require_sound(call, "the operand", make_operand(source)));
    GPU_TRY(maker.make(&maker, source.shape().begin()));
    if constexpr (is_number_type<element>) {
      GPU_TRY(assign_numbers(call, maker.made, static_cast<A&&>(a), evaluation_step::run));
    } else {
      GPU_TRY(assign_elements(call, maker.made, static_cast<A&&>(a)));
    }
  }
  return std::move(maker.made);
}

inline result<> require_one(const evaluation& call, std::size_t count) noexcept {
  if (count == 1) return {};
  text_builder out;
  out << "the operand has " << count
      << " elements. Pass a view of one, such as a(0), or copy all with gpu::copy.";
  return fail(refusal(errc::size_mismatch, call.function, out.finish(), call.where, count, 1));
}

/// Makes temporary memory for one element when the shape of an expression is known.
template <class T, int Rank> struct item_maker {
  const evaluation& call;
  device_buffer<unsigned char> memory = {};
  loop_operand out = {};

  static stable_result make(void* self, const std::size_t* shape) {
    auto& own = *static_cast<item_maker*>(self);
    std::size_t count = 1;
    view_layout layout;
    for (int axis = 0; axis < Rank; ++axis) {
      count = saturated_product(count, shape[axis]);
      layout.add_axis(shape[axis], 0);
    }
    GPU_TRY(require_one(own.call, count));
    GPU_TRY(require_no_capture(own.call.stream, own.call.function, "Assign to an array.",
                               own.call.where));
    own.memory = GPU_TRY(allocate_workspace(own.call.stream, sizeof(T), own.call.where));
    layout.address = static_cast<std::uintptr_t>(own.memory.native());
    set_dense_strides(layout);
    own.out = make_operand(view_access::make<T, Rank>(layout));
    return {};
  }
};

/// Returns an element in device memory, for which it waits.
template <class T>
result<T> fetch(const stream_ref& stream, CUdeviceptr from, source_location where) noexcept {
  alignas(T) unsigned char bytes[sizeof(T)];
  GPU_TRY(copy_to_host(stream, from, bytes, sizeof bytes, where));
  if constexpr (std::same_as<T, bool>) {
    return bytes[0] != 0;  // the byte can be any
  } else {
    return __builtin_bit_cast(T, bytes);
  }
}

}  // namespace detail

/// Evaluates `a`, an expression or an array or a view, into the elements of `out`, which is an
/// array, a view, a buffer or a span: `assign(stream, y, 2 * x + y)`. The result is repeated to the
/// shape of `out` as NumPy does (it has the same extents, 1, or fewer axes), and converted as a C++
/// cast converts. Elements of `out` that are read, too, are computed in place if they are the same
/// ones; if they overlap in another way, there is a temporary array.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**:
/// `errc::size_mismatch` with both shapes; the reason of a faulty view; `errc::invalid_argument`
/// for a number that does not fit the type of what it meets, for more than 31 operands, and if
/// several elements of `out` are at one address; `errc::wrong_context`; `errc::empty_handle`.
/// **Cost**: one launch, and those of the reductions in the expression before; a kernel is compiled
/// by the first call with such operations and types, and for other layouts when they come, at most
/// 9 times. **Capture**: allowed, if the kernels are there: call `prepare` before. The
/// memory of a temporary array, and of the results of reductions, then belongs to the graph.
template <detail::viewable Out, detail::evaluated A>
result<> assign(const stream_ref& stream, Out&& out, A&& a,
                source_location where = source_location::current()) {
  using to = detail::viewed_element_t<Out>;
  const detail::evaluation call{"gpu::assign", stream, where};
  if constexpr (detail::is_number_type<std::remove_cv_t<to>>) {
    return detail::assign_numbers(call, static_cast<Out&&>(out), static_cast<A&&>(a),
                                  detail::evaluation_step::run);
  } else {
    return detail::assign_elements(call, static_cast<Out&&>(out), static_cast<A&&>(a));
  }
}

/// Writes one value to all elements of `out`. Otherwise as above.
template <detail::viewable Out>
result<> assign(const stream_ref& stream, Out&& out,
                const std::remove_cv_t<detail::viewed_element_t<Out>>& value,
                source_location where = source_location::current()) {
  using to = detail::viewed_element_t<Out>;
  static_assert(!std::is_const_v<to>, "gpu::assign: the elements of `out` are const");
  const detail::evaluation call{"gpu::assign", stream, where};
  if constexpr (detail::is_number_type<to>) {
    return detail::assign_numbers(call, static_cast<Out&&>(out), gpu::scalar<to>(value),
                                  detail::evaluation_step::run);
  } else {
    const detail::loop_operand written =
        detail::operand_of(detail::array_view_of(static_cast<Out&&>(out)), out);
    to passed = value;
    const detail::loop_argument arguments[] = {{&written, nullptr}, {nullptr, &passed}};
    return detail::run_shared<detail::fill_family<to>, to*, to>(
        {"gpu::assign", "gpu_fill", "out, value"}, stream, where,
        [] { return text("out[i] = value"); }, arguments);
  }
}

/// Compiles what `assign` of these arguments needs, and writes nothing. So the first `assign` takes
/// no longer than later ones, and may be captured. If that takes a temporary array, one is
/// allocated and freed, so that the memory is kept for it. **Errors**: those of `assign`.
/// **Capture**: allowed if nothing is left to be compiled.
template <detail::viewable Out, detail::evaluated A>
result<> prepare(const stream_ref& stream, Out&& out, A&& a,
                 source_location where = source_location::current()) {
  return detail::assign_numbers({"gpu::prepare", stream, where}, static_cast<Out&&>(out),
                                static_cast<A&&>(a), detail::evaluation_step::prepare);
}

/// Makes an array of what an expression computes, or of the elements of an array or a view, in C
/// order. The array belongs to `stream`.
/// **Ordering**: after the work queued on the stream; does not wait. **Errors**: those of `assign`,
/// shapes that cannot be broadcast among them, and of `device_buffer::create`. **Capture**: as
/// `assign`; the memory then belongs to the graph.
template <detail::evaluated A>
auto evaluate(const stream_ref& stream, A&& a, source_location where = source_location::current())
    -> result<array<detail::evaluated_element_t<A>, detail::evaluated_rank<A>()>> {
  return detail::evaluate_for({"gpu::evaluate", stream, where}, static_cast<A&&>(a));
}

/// Returns the one element of an expression, an array or a view on the host.
/// **Ordering**: waits for the stream. **Errors**: `errc::size_mismatch` unless there is one
/// element; the reason of a faulty view; `errc::empty_handle`; those of `evaluate`. **Capture**:
/// not allowed.
template <detail::evaluated A>
auto item(const stream_ref& stream, A&& a, source_location where = source_location::current())
    -> result<detail::evaluated_element_t<A>> {
  using element = detail::evaluated_element_t<A>;
  const detail::evaluation call{"gpu::item", stream, where};
  GPU_TRY(detail::require(stream, call.function, where));
  GPU_TRY(detail::require_no_capture(stream, call.function, "Call it before or after the capture.",
                                     where));
  if constexpr (detail::is_expression<std::remove_cvref_t<A>>) {
    using item_maker = detail::item_maker<element, detail::evaluated_rank<A>()>;
    item_maker maker{call};
    const detail::result_maker make{&item_maker::make, &maker};
    const detail::expression_target target{detail::expression_access::ref(a), &maker.out,
                                           detail::kind_of<element>(), &make};
    GPU_TRY(detail::run_expressions(call, &target, 1, detail::evaluation_step::run));
    return detail::fetch<element>(stream, maker.memory.native(), where);
  } else {
    const detail::loop_operand operand =
        detail::operand_of(detail::array_view_of(static_cast<A&&>(a)), a);
    GPU_TRY(detail::require_sound(call, "the operand", operand));
    GPU_TRY(detail::require_usable(call.function, stream,
                                   {"operand", operand.memory, sizeof(element)}, where));
    GPU_TRY(detail::require_one(call, operand.memory.count));
    return detail::fetch<element>(stream, operand.memory.device_address(), where);
  }
}

/// These do not compile, and say so: work is queued on a stream.
template <detail::viewable Out, class A> auto assign(Out&&, const A&) noexcept {
  static_assert(detail::always_false<A>,
                "gpu::assign: the stream is missing; write gpu::assign(stream, array, value)");
}
template <detail::evaluated A> auto evaluate(A&&) noexcept {
  static_assert(detail::always_false<A>,
                "gpu::evaluate: the stream is missing; write gpu::evaluate(stream, expression)");
}
template <detail::evaluated A> auto item(A&&) noexcept {
  static_assert(detail::always_false<A>,
                "gpu::item: the stream is missing; write gpu::item(stream, element)");
}

}}  // namespace gpu::v1
