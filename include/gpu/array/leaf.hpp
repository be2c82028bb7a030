#pragma once
/// \file
/// Operands of your own for expressions: values that device code computes from the index.
///
///     struct ramp_state { double start, step; };
///
///     inline constexpr gpu::leaf_description ramp_leaf{
///         .name = "ramp",
///         .state_type = "ramp_state",
///         .preamble = "struct ramp_state { double start, step; };",
///         .text = "$s.start + $i * $s.step"};
///
///     template <int Rank> auto ramp(double start, double step, const gpu::shape<Rank>& extents) {
///       return gpu::make_leaf<double>(ramp_leaf, extents, ramp_state{start, step});
///     }
///
/// The kernel gets one parameter of type `state_type` for each leaf, with the bytes of the state,
/// and computes `text` for each element that is needed. A kernel is compiled once for a
/// description, and serves all states and shapes.

#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/memory/shape.hpp>

#include <cstddef>

namespace gpu { inline namespace v1 {

/// Describes a leaf to device code. It must live as long as the process: it is a constant.
struct leaf_description {
  /// A part of the kernel's name: letters, digits and '_'.
  const char* name = "leaf";
  /// The type of the state in device code: `unsigned long long`, or a structure of the preamble.
  const char* state_type = "unsigned long long";
  /// Functions and types before the kernel. If several leaves have the same preamble, it is there
  /// once. Its names should begin with that of the leaf.
  const char* preamble = "";
  /// Statements that each thread runs once before its elements. `$s` is the state; `$v` begins the
  /// names of variables, so that those of several leaves differ: `const float $v_scale = ...;`.
  const char* setup = "";
  /// An expression for one element. `$i` is its index in C order in the shape of the leaf, a
  /// `long long`; `$s` is the state, and `$v` begins the names of the variables of `setup`.
  const char* text = "";
  /// Called with the state before the kernel runs, if it is not null: returns the error of a state
  /// from which nothing can be computed.
  result<> (*check)(const void* state, source_location where) = nullptr;
};

/// Makes a leaf with elements of type `T`, which `text` converts to. `state` is passed to the
/// kernel byte by byte; leaves with the same description, shape and bytes in one expression are
/// one. So a state should have no padding. It may hold device pointers, whose memory must live
/// until the expression is evaluated.
template <class T, int Rank, class State>
auto make_leaf(const leaf_description& description, const shape<Rank>& extents,
               const State& state) noexcept {
  static_assert(detail::kind_of<T>() != detail::element_kind::none,
                "gpu::make_leaf: the elements are not numbers");
  static_assert(detail::kernel_parameter_bytes<State>,
                "gpu::make_leaf: the state is a trivially copyable object of up to 256 bytes");
  constexpr std::size_t state_words = (sizeof(State) + 7) / 8;
  constexpr std::size_t words = detail::leaf_words + std::size_t{Rank} + state_words;
  auto made = detail::expression_access::make<T, Rank, words>();
  detail::put_leaf(detail::expression_access::words(made), detail::kind_of<T>(), description,
                   extents.begin(), Rank, &state, sizeof(State), alignof(State));
  return made;
}

}}  // namespace gpu::v1
