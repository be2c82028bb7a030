#pragma once
/// \file
/// The part of an expression that reduces the operand before it.

#include <gpu/algorithm/argmin.hpp>
#include <gpu/algorithm/mean_variance.hpp>
#include <gpu/algorithm/reduce/named_reduction.hpp>
#include <gpu/array/axes.hpp>
#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/memory/detail/view_fault.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// The words of a reduction: the header, its texts for few elements, those for any number, the
/// correction of a variance, the axis of a problem.
inline constexpr std::size_t reduction_words = 5;
inline constexpr unsigned keep_dims_flag = 1u << most_axes;  ///< beside a bit for each axis

/// A reduction, as its words have it.
struct reduction_part {
  const expression_word* words;

  word_header header() const noexcept { return header_at(words); }
  bool has_axis(int axis) const noexcept { return (header().extra >> axis & 1) != 0; }
  bool keeps_dims() const noexcept { return (header().extra & keep_dims_flag) != 0; }
  /// Returns the texts for a segment of so many elements in so many segments.
  const named_reduction& texts(std::size_t elements) const noexcept {
    const std::size_t which = has_short_positions(elements) ? 1 : 2;
    return *reinterpret_cast<const named_reduction*>(static_cast<std::uintptr_t>(words[which]));
  }
  /// The correction, as an argument of a kernel.
  void* correction() const noexcept { return const_cast<expression_word*>(words + 3); }
  fault_kind problem() const noexcept { return static_cast<fault_kind>(header().flags); }
  int asked() const noexcept { return static_cast<int>(words[4]); }
};

inline constexpr void read_correction(double&, const auto&) noexcept {}
inline constexpr void read_correction(double& found, const variance_options& option) noexcept {
  found = option.correction;
}

/// The options of a reduction of an operand with `Rank` axes.
template <int Rank, class... Options> struct reduction_options {
  static constexpr int axis_options = (0 + ... + (named_axes<Options> != 0 ? 1 : 0));
  static constexpr bool keeps_dims = (std::same_as<Options, keep_dims_option> || ...);
  static_assert(axis_options <= 1, "name all axes in one list, as in gpu::axis<0, 2>");
  static constexpr int reduced =
      axis_options == 0 ? Rank : static_cast<int>((0 + ... + named_axes<Options>));
  static_assert(reduced <= Rank, "the reduction is over more axes than the array has");
  static constexpr int rank = keeps_dims ? Rank : reduced > Rank ? 0 : Rank - reduced;

  static constexpr axis_set find_axes(const Options&... options) noexcept {
    axis_set found{(1u << Rank) - 1};
    (read_axes<Rank>(found, options), ...);
    return found;
  }
  static constexpr double find_correction(const Options&... options) noexcept {
    double found = 0;
    (read_correction(found, options), ...);
    return found;
  }
};

inline void put_reduction(expression_word* to, element_kind kind, int rank,
                          const named_reduction& few, const named_reduction& many,
                          const axis_set& over, bool keeps_dims, double correction) noexcept {
  word_header header{opcode::reduce, kind, static_cast<unsigned char>(rank)};
  header.flags = static_cast<unsigned char>(over.problem);
  header.words = reduction_words;
  header.extra = static_cast<std::uint16_t>(over.axes | (keeps_dims ? keep_dims_flag : 0));
  to[0] = __builtin_bit_cast(expression_word, header);
  to[1] = reinterpret_cast<std::uintptr_t>(&few);
  to[2] = reinterpret_cast<std::uintptr_t>(&many);
  to[3] = __builtin_bit_cast(expression_word, correction);
  to[4] = static_cast<expression_word>(over.asked);
}

/// Returns the expression of a reduction with elements of type `R`.
template <class R, class E, class... Options>
auto reduce_with(const E& operand, const named_reduction& few, const named_reduction& many,
                 const Options&... options) noexcept {
  using chosen = reduction_options<E::rank, Options...>;
  auto made = expression_access::make<R, chosen::rank, words_of<E> + reduction_words>();
  expression_word* const to = put_operand(expression_access::words(made), operand);
  put_reduction(to, kind_of<R>(), chosen::rank, few, many, chosen::find_axes(options...),
                chosen::keeps_dims, chosen::find_correction(options...));
  return made;
}

/// Returns the expression of the reduction of a family.
template <class Family, class A, class... Options>
auto reduce_to(A&& a, const Options&... options) noexcept {
  constexpr element_kind kind = operand_type_of<A>().kind;
  return reduce_with<typename Family::result_type>(as_operand<kind>(static_cast<A&&>(a)),
                                                   Family::text, Family::text, options...);
}
/// The same, for a family that depends on whether there are few elements.
template <class Few, class Many, class A, class... Options>
auto reduce_to_count(A&& a, const Options&... options) noexcept {
  constexpr element_kind kind = operand_type_of<A>().kind;
  return reduce_with<typename Few::result_type>(as_operand<kind>(static_cast<A&&>(a)), Few::text,
                                                Many::text, options...);
}

/// Options of reductions: axes, and `keep_dims`.
template <class O>
concept axis_option = named_axes<std::remove_cvref_t<O>> != 0 ||
                      std::same_as<std::remove_cvref_t<O>, keep_dims_option>;
/// Those of a variance.
template <class O>
concept moments_option = axis_option<O> || std::same_as<std::remove_cvref_t<O>, variance_options>;

/// A call such as `sum(x, axis<0>)` makes the compiler look at the functions that take a stream
/// first, too, and at their return types, which depend on the elements of the second argument.
struct no_elements {};
template <class O>
  requires axis_option<O> || std::same_as<O, variance_options>
struct elements_of_argument<O> : std::type_identity<no_elements> {};

}}}  // namespace gpu::v1::detail
