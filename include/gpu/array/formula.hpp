#pragma once
/// \file
/// Expressions with texts of your own: `formula`, a line of CUDA C++; `named`, the kernel's name;
/// `fast`, approximate functions; `source_of`, the text of the kernel.

#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/expression_words.hpp>
#include <gpu/array/detail/interned_text.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/array/detail/reduction_steps.hpp>
#include <gpu/array/expression.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 {

namespace detail {

/// Returns the expression of a part that has a text.
template <class T, class... E>
auto join_with_text(word_header header, string_ref characters, const E&... operands) noexcept {
  constexpr std::size_t words = (words_of<E> + ... + text_words);
  auto made = expression_access::make<T, common_rank<E...>(), words>();
  expression_word* to = expression_access::words(made);
  ((to = put_operand(to, operands)), ...);
  header.words = text_words;
  to[0] = __builtin_bit_cast(expression_word, header);
  to[1] = reinterpret_cast<std::uintptr_t>(intern(characters));
  return made;
}

}  // namespace detail

/// Returns an expression whose elements a line of CUDA C++ computes, an expression that is
/// converted to `R`: `formula<float>("a * a + fabsf(b)", x, y)`. The operands, up to 8, are called
/// `a`, `b`, `c` and so on; a number of the host has the type that it has in C++. A mistake in the
/// text is an error of the evaluation, `errc::compile_failed`.
/// **Cost**: finding the text among those before. Each different text is kept until the process
/// ends, as its kernel is: pass what changes as an operand.
template <class R, detail::any_operand... A>
auto formula(string_ref code, A&&... operands) noexcept {
  static_assert(detail::kind_of<R>() != detail::element_kind::none,
                "gpu::formula: the type of the result is not a number");
  static_assert(sizeof...(A) >= 1 && sizeof...(A) <= 8, "gpu::formula takes 1 to 8 operands");
  detail::require_array<A...>();
  const detail::word_header header{detail::opcode::formula,
                                   detail::kind_of<R>(),
                                   0,
                                   0,
                                   0,
                                   static_cast<std::uint16_t>(sizeof...(A))};
  return detail::join_with_text<R>(
      header, code,
      detail::as_operand<detail::operand_type_of<A>().kind>(static_cast<A&&>(operands))...);
}

/// Returns the expression with a name for its kernel, as a profiler shows it:
/// `named("heat step", ...)`. What an identifier cannot have becomes '_'. **Cost**: as `formula`.
template <class T, int Rank, std::size_t Words>
auto named(string_ref name, const expression<T, Rank, Words>& e) noexcept {
  const detail::word_header header{detail::opcode::named, detail::kind_of<T>()};
  return detail::join_with_text<T>(header, name, e);
}

/// Returns the expression, to be computed with approximate functions, and with products and sums
/// that are rounded once (--use_fast_math). It holds for the whole kernel.
template <class T, int Rank, std::size_t Words>
auto fast(const expression<T, Rank, Words>& e) noexcept {
  return detail::join<T>(detail::operation_word(detail::opcode::fast, detail::kind_of<T>()), e);
}

/// Returns the text of the kernel that evaluates an expression, for operands that are contiguous
/// and aligned.
/// **Errors**: those of `evaluate` that need no device.
template <class T, int Rank, std::size_t Words>
result<text> source_of(const expression<T, Rank, Words>& e,
                       source_location where = source_location::current()) {
  return detail::write_source({"gpu::source_of", stream_ref(), where},
                              detail::expression_access::ref(e));
}

}}  // namespace gpu::v1
