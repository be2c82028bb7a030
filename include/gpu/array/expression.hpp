#pragma once
/// \file
/// `expression<T, Rank>`: what operators and functions of arrays return. `scalar` and `cast`.

#include <gpu/array/array.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/detail/operation_types.hpp>
#include <gpu/array/view_elements.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/array_view.hpp>
#include <gpu/memory/detail/allocation.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 {

namespace detail {
struct expression_access;
}

/// A computation for each index, of arrays, numbers and operations. Operators and functions build
/// it; they compute nothing, make no call of the driver and cannot fail. `evaluate`, `assign`
/// and `item` run it, in one kernel.
///
/// It holds views of its arrays, which must live until it is evaluated, and copies of its numbers.
/// Copy it freely. `T` is the type of its elements, and `Rank` the number of its axes.
template <class T, int Rank, std::size_t Words> class expression {
 public:
  using value_type = T;
  static constexpr int rank = Rank;
  static_assert(Rank <= detail::most_axes, "expressions have at most 8 axes");

  /// Does not compile: `==` of arrays compares element by element.
  template <std::same_as<bool> B> explicit operator B() const noexcept {
    static_assert(Words == 0,
                  "an expression has one value for each element, so it is neither true nor false: "
                  "`x == y` compares element by element. To ask whether two arrays are equal, "
                  "call gpu::array_equal");
    return false;
  }
  template <class... Indices> auto operator()(const Indices&...) const noexcept {
    static_assert(detail::always_false<Indices...>,
                  "an expression has no elements in memory: write auto values = "
                  "GPU_TRY(gpu::evaluate(stream, expression)), and index that");
  }

 private:
  friend detail::expression_access;
  expression() noexcept = default;
  detail::expression_word words_[Words];
};

namespace detail {

template <class T, int Rank, std::size_t Words>
inline constexpr bool is_expression<expression<T, Rank, Words>> = true;
template <class> inline constexpr bool is_owning_array = false;
template <class T, int Rank> inline constexpr bool is_owning_array<array<T, Rank>> = true;

/// Specialized for types with a `value_type` and a `rank` that stand for an expression where they
/// are an operand: `make(a)` returns it.
template <class A> struct expression_source;
template <class A>
concept has_expression_source =
    requires(const A& a) { requires is_expression<decltype(expression_source<A>::make(a))>; };

/// Arrays, views of them, expressions, and what stands for one.
template <class A>
concept array_operand =
    is_expression<std::remove_cvref_t<A>> || is_array_view<std::remove_cvref_t<A>> ||
    is_owning_array<std::remove_cvref_t<A>> || has_expression_source<std::remove_cvref_t<A>>;

/// Numbers of the host.
template <class N>
concept host_operand = detail::plain_number<N> || requires { typename complex_parts<N>::part; } ||
                       (sizeof(N) == 2 && std::is_trivially_copyable_v<N> &&
                        requires(const N& n) { static_cast<float>(n); });

template <class A>
concept any_operand = array_operand<A> || host_operand<std::remove_cvref_t<A>>;

/// The operands of an operator: arrays and numbers, at least one of them an array.
template <class... A>
concept operator_operands = (array_operand<A> || ...) && (any_operand<A> && ...);

template <class A> struct operand_element : std::type_identity<A> {};
template <class A>
  requires requires {
    typename A::value_type;
    typename A::element_type;
  }
struct operand_element<A> : std::type_identity<typename A::value_type> {};
template <class T, int Rank> struct operand_element<array<T, Rank>> : std::type_identity<T> {};
template <class T, int Rank, std::size_t Words>
struct operand_element<expression<T, Rank, Words>> : std::type_identity<T> {};
template <has_expression_source A>
struct operand_element<A> : std::type_identity<typename A::value_type> {};
/// The type of an operand's elements, or of a number.
template <class A> using operand_element_t = typename operand_element<std::remove_cvref_t<A>>::type;

template <class A> constexpr int operand_rank() noexcept {
  if constexpr (array_operand<A>) {
    return std::remove_cvref_t<A>::rank;
  } else {
    return 0;
  }
}
template <class... A> constexpr int common_rank() noexcept {
  int most = 0;
  for (const int each : {operand_rank<A>()...}) most = each > most ? each : most;
  return most;
}

template <class A> constexpr operand_type operand_type_of() noexcept {
  constexpr element_kind kind = kind_of<operand_element_t<A>>();
  static_assert(kind != element_kind::none,
                "the elements of an operand are not numbers: expressions have bool, integers, "
                "__half, __nv_bfloat16, float, double and std::complex of these two");
  return {kind, !array_operand<A>};
}

/// Makes expressions and reads them.
struct expression_access {
  template <class T, int Rank, std::size_t Words> static auto make() noexcept {
    return expression<T, Rank, Words>();
  }
  template <class T, int Rank, std::size_t Words>
  static expression_word* words(expression<T, Rank, Words>& e) noexcept {
    return e.words_;
  }
  template <class T, int Rank, std::size_t Words>
  static const expression_word* words(const expression<T, Rank, Words>& e) noexcept {
    return e.words_;
  }
  template <class T, int Rank, std::size_t Words>
  static expression_ref ref(const expression<T, Rank, Words>& e) noexcept {
    return {e.words_, Words, kind_of<T>(), Rank};
  }
  template <class T, int Rank, std::size_t Words>
  static constexpr std::size_t size(const expression<T, Rank, Words>*) noexcept {
    return Words;
  }
};

template <class E>
inline constexpr std::size_t words_of =
    expression_access::size(static_cast<const std::remove_cvref_t<E>*>(nullptr));

/// Returns an operand as an expression; a number of the host as one of `Kind`.
template <element_kind Kind, class A> decltype(auto) as_operand(A&& a) noexcept {
  using bare = std::remove_cvref_t<A>;
  if constexpr (is_expression<bare>) {
    return static_cast<const bare&>(a);
  } else if constexpr (has_expression_source<bare>) {
    return expression_source<bare>::make(a);
  } else if constexpr (viewable<A>) {
    const auto view = array_view_of(static_cast<A&&>(a));
    using element = typename decltype(view)::value_type;
    constexpr int rank = decltype(view)::rank;
    auto made = expression_access::make<element, rank, view_words + 2 * std::size_t{rank}>();
    expression_word* const to = expression_access::words(made);
    context_ref context;
    if constexpr (knows_context<bare>) context = a.context();
    expression_word* next =
        put_view_start(to, kind_of<element>(), rank, view.native(), context, knows_context<bare>);
    for (int axis = 0; axis < rank; ++axis) *next++ = view.extent(axis);
    for (int axis = 0; axis < rank; ++axis)
      *next++ = static_cast<expression_word>(view.stride(axis));
    return made;
  } else {
    auto made = expression_access::make<bare, 0, number_words>();
    put_number(expression_access::words(made), Kind, describe_number(a));
    return made;
  }
}

template <class E> expression_word* put_operand(expression_word* to, const E& e) noexcept {
  __builtin_memcpy(to, expression_access::words(e), sizeof e);
  return to + words_of<E>;
}

/// Returns the expression of an operation on others.
template <class T, class... E> auto join(expression_word last, const E&... operands) noexcept {
  auto made = expression_access::make<T, common_rank<E...>(), (words_of<E> + ... + 1)>();
  expression_word* to = expression_access::words(made);
  ((to = put_operand(to, operands)), ...);
  *to = last;
  return made;
}

template <opcode What, type_problem Problem> constexpr void require_types() noexcept {
  static_assert(What != opcode::divide || Problem != type_problem::integers,
                "`/` of integers could mean two quotients: use gpu::true_divide, which gives "
                "double, or gpu::floor_divide, which rounds down");
  static_assert(What != opcode::modulo || Problem != type_problem::integers,
                "`%` of integers could mean two remainders: use gpu::remainder, whose sign is that "
                "of the divisor");
  static_assert(
      What == opcode::divide || What == opcode::modulo || Problem != type_problem::integers,
      "this function takes floating-point numbers: convert integers with gpu::cast");
  static_assert(Problem != type_problem::booleans,
                "this operation has no meaning for bool: use `!`, `&`, `|` and `^`, or convert "
                "with gpu::cast");
  static_assert(Problem != type_problem::fractions,
                "this operation takes integers: floating-point and complex numbers have no bits");
  static_assert(Problem != type_problem::complexes,
                "this operation does not take complex numbers: use gpu::real, gpu::imag or "
                "gpu::abs of them");
  static_assert(Problem != type_problem::shorts,
                "this function has no form for numbers of 16 bits: convert with gpu::cast");
}

/// Says what to use for numbers of the host.
template <class... A> constexpr void require_array() noexcept {
  static_assert((array_operand<A> || ...),
                "functions of arrays are not for numbers of the host: use std::sin and the like");
}

/// The types of an operation on such operands, which have to fit it.
template <opcode What, class... A> consteval operation_types types_of() noexcept {
  require_array<A...>();
  constexpr operand_type given[] = {operand_type_of<A>()...};
  constexpr operation_types types = resolve_types(What, given);
  require_types<What, types.problem>();
  return types;
}

/// Returns the expression of an operation on operands of any sort.
template <opcode What, class A> auto apply(A&& a) noexcept {
  constexpr operation_types types = types_of<What, A>();
  return join<kind_type<types.result, operand_element_t<A>>>(
      operation_word(What, types.result), as_operand<types.operands[0]>(static_cast<A&&>(a)));
}
template <opcode What, class A, class B> auto apply(A&& a, B&& b) noexcept {
  constexpr operation_types types = types_of<What, A, B>();
  return join<kind_type<types.result, operand_element_t<A>, operand_element_t<B>>>(
      operation_word(What, types.result), as_operand<types.operands[0]>(static_cast<A&&>(a)),
      as_operand<types.operands[1]>(static_cast<B&&>(b)));
}
template <opcode What, class A, class B, class C> auto apply(A&& a, B&& b, C&& c) noexcept {
  constexpr operation_types types = types_of<What, A, B, C>();
  return join<
      kind_type<types.result, operand_element_t<A>, operand_element_t<B>, operand_element_t<C>>>(
      operation_word(What, types.result), as_operand<types.operands[0]>(static_cast<A&&>(a)),
      as_operand<types.operands[1]>(static_cast<B&&>(b)),
      as_operand<types.operands[2]>(static_cast<C&&>(c)));
}

}  // namespace detail

/// Returns a number whose type counts as that of an array's elements does:
/// `x + gpu::scalar<double>(0.1)` has elements of type double, also if those of `x` are float. A
/// number as it is, as in `x + 0.1`, takes the type of `x`.
template <class T> auto scalar(const typename std::type_identity<T>::type& value) noexcept {
  static_assert(detail::kind_of<T>() != detail::element_kind::none,
                "gpu::scalar: the type is not a number");
  return detail::as_operand<detail::kind_of<T>()>(value);
}

/// Returns an expression whose elements are those of `a`, converted to `T` as a C++ cast does.
template <class T, detail::array_operand A> auto cast(A&& a) noexcept {
  constexpr detail::element_kind kind = detail::kind_of<T>();
  constexpr detail::element_kind from = detail::operand_type_of<A>().kind;
  static_assert(kind != detail::element_kind::none, "gpu::cast: the type is not a number");
  static_assert(detail::class_of(from) != detail::kind_class::complex ||
                    detail::class_of(kind) == detail::kind_class::complex,
                "gpu::cast: complex numbers are not converted to others; take gpu::real of them");
  return detail::join<T>(detail::operation_word(detail::opcode::cast, kind),
                         detail::as_operand<from>(static_cast<A&&>(a)));
}

}}  // namespace gpu::v1
