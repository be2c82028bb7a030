#pragma once
/// \file
/// The form that expressions have inside: words in postfix order, which know nothing of C++ types.

#include <gpu/array/detail/element_kind.hpp>
#include <gpu/array/detail/operation.hpp>
#include <gpu/core/detail/ieee_number.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/generated/loop_operands.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/detail/view_fault.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

struct leaf_description;

namespace detail {

using expression_word = std::uint64_t;

/// The first word of each part of an expression. Operands come before the operation.
struct word_header {
  opcode what = opcode::view;
  element_kind kind = element_kind::none;  ///< of the elements, or of the result
  unsigned char rank = 0;                  ///< of a view or a leaf
  unsigned char flags = 0;
  std::uint16_t words = 1;  ///< of this part, with the header
  std::uint16_t extra = 0;
};
static_assert(sizeof(word_header) == sizeof(expression_word));

inline constexpr unsigned char owner_flag = 1;   ///< of a view: of an owner that knows its context
inline constexpr unsigned char misfit_flag = 2;  ///< of a number: not a value of its kind
/// Of a view: the result of a reduction, whose number is in place of the address.
inline constexpr unsigned char reduced_flag = 4;
/// Of a view: an index chooses the elements along an axis, along which the view repeats the first.
/// Behind its strides are the size and the stride of that axis, and the `index_check`, or 0.
inline constexpr unsigned char taken_flag = 8;
inline constexpr std::size_t taken_words = 3;

/// The words of a view: the header, the address, the context, its device, extents, strides.
inline constexpr std::size_t view_words = 4;
/// The words of a number: the header, and its bytes.
inline constexpr std::size_t number_words = 3;
/// The words of a leaf before its extents and its state: the header, the description, the size of
/// the state in bytes, with its alignment in the upper half.
inline constexpr std::size_t leaf_words = 3;
/// The words of a formula, and of a name: the header, and the text.
inline constexpr std::size_t text_words = 2;

inline word_header header_at(const expression_word* at) noexcept {
  return __builtin_bit_cast(word_header, *at);
}

/// An expression without its type: what is evaluated.
struct expression_ref {
  const expression_word* words;
  std::size_t count;
  element_kind kind;  ///< of the elements
  int rank;
};

/// Returns the format of a kind of real numbers.
constexpr const float_format& format_of(element_kind real) noexcept {
  return real == element_kind::half       ? half_format
         : real == element_kind::bfloat16 ? bfloat16_format
         : real == element_kind::float32  ? float32_format
                                          : float64_format;
}

/// A number of the host, of any type.
struct host_number {
  element_kind kind;
  std::uint64_t integer = 0;  ///< if it is one; negative ones with their sign
  ieee_number real = {}, imag = {};
};

template <class N> host_number describe_number(const N& value) noexcept {
  host_number made{kind_of<N>()};
  if constexpr (detail::word_integer<N>) {
    made.integer = static_cast<std::uint64_t>(value);
    made.real = static_cast<double>(value);
  } else if constexpr (detail::standard_float<N>) {
    made.real = value;
  } else if constexpr (number_kind_of<N>() == number_kind::complex) {
    made.real = value.real();
    made.imag = value.imag();
  } else {
    made.real =
        ieee_number::from_bits(__builtin_bit_cast(std::uint16_t, value), format_of(made.kind));
  }
  return made;
}

/// Returns an integer as a number that rounds to fewer digits as the integer does: of one with more
/// digits than a double has, the last digit tells that there are further ones.
inline ieee_number round_to_odd(const host_number& number, bool is_negative) noexcept {
  std::uint64_t size = is_negative ? 0 - number.integer : number.integer;
  if (size >> 53 != 0) size = (size & ~std::uint64_t{0x7ff}) | ((size & 0x7ff) != 0 ? 0x800u : 0u);
  return is_negative ? -static_cast<double>(size) : static_cast<double>(size);
}

/// Writes a number as an element of a kind; 16 bytes at most. Returns whether it is a value of the
/// kind: fractions are rounded, integers and sizes have to fit. As a bool, what is not 0 is true.
inline bool store_number(const host_number& number, element_kind kind, void* to) noexcept {
  const kind_facts facts = facts_of(kind);
  const bool is_integer = is_integral_kind(number.kind);
  const bool is_negative = is_integer && facts_of(number.kind).is_signed &&
                           static_cast<std::int64_t>(number.integer) < 0;
  if (facts.type == kind_class::boolean) {
    const bool value = number.integer != 0 || number.real != 0 || number.imag != 0;
    __builtin_memcpy(to, &value, sizeof value);
    return true;
  }
  if (facts.type == kind_class::integer) {
    __builtin_memcpy(to, &number.integer, facts.bytes);
    if (facts.bytes == 8) {
      const bool too_large = facts.is_signed && !is_negative && number.integer >> 63 != 0;
      return !too_large && (facts.is_signed || !is_negative);
    }
    const unsigned bits = 8u * facts.bytes - (facts.is_signed ? 1 : 0);
    if (is_negative) return facts.is_signed && ~number.integer >> bits == 0;
    return number.integer >> bits == 0;
  }
  bool fits = true;
  const element_kind part = real_kind(kind);
  const float_format& format = format_of(part);
  const auto store = [&](ieee_number value, char* at) {
    const std::uint64_t bits = value.to_bits(format);
    fits = fits && ((bits & (format.sign() - 1)) != format.infinity() || !value.is_finite());
    if (part == element_kind::float64) return void(__builtin_memcpy(at, &bits, 8));
    if (part == element_kind::float32) return void(__builtin_memcpy(at, &bits, 4));
    __builtin_memcpy(at, &bits, 2);
  };
  if (is_integer && part == element_kind::float32) {  // rounded once, and never to a special number
    const float narrow = is_negative ? static_cast<float>(static_cast<std::int64_t>(number.integer))
                                     : static_cast<float>(number.integer);
    __builtin_memcpy(to, &narrow, sizeof narrow);
  } else {
    const bool is_rounded = is_integer && is_short_kind(part);
    store(is_rounded ? round_to_odd(number, is_negative) : number.real, static_cast<char*>(to));
  }
  if (facts.type == kind_class::complex)
    store(number.imag, static_cast<char*>(to) + facts.bytes / 2);
  return fits;
}

/// Writes the words of a view at `to` before its extents and its strides, and returns where these
/// come.
inline expression_word* put_view_start(expression_word* to, element_kind kind, int rank,
                                       CUdeviceptr address, const context_ref& context,
                                       bool of_owner) noexcept {
  word_header header{opcode::view, kind, static_cast<unsigned char>(rank)};
  header.flags = of_owner ? owner_flag : 0;
  header.words = static_cast<std::uint16_t>(view_words + 2 * header.rank);
  to[0] = __builtin_bit_cast(expression_word, header);
  to[1] = address;
  to[2] = reinterpret_cast<std::uintptr_t>(context.native());
  to[3] = static_cast<expression_word>(context.device().native());
  return to + view_words;
}

/// Writes a view at `to`.
inline void put_view(expression_word* to, element_kind kind, const loop_operand& operand) noexcept {
  expression_word* next = put_view_start(to, kind, operand.rank, operand.memory.device_address(),
                                         operand.memory.context, operand.memory.needs_context);
  for (int axis = 0; axis < operand.rank; ++axis) *next++ = operand.extents[axis];
  for (int axis = 0; axis < operand.rank; ++axis)
    *next++ = static_cast<expression_word>(operand.strides[axis]);
}

/// Writes a number at `to`.
inline void put_number(expression_word* to, element_kind kind, const host_number& number) noexcept {
  word_header header{opcode::number, kind};
  header.words = number_words;
  to[1] = to[2] = 0;
  if (!store_number(number, kind, to + 1)) {
    header.flags = misfit_flag;
    header.extra = static_cast<std::uint16_t>(number.kind);
    to[1] = is_integral_kind(number.kind) ? number.integer
                                          : __builtin_bit_cast(expression_word, number.real);
  }
  to[0] = __builtin_bit_cast(expression_word, header);
}

/// Objects whose bytes are the state of a leaf.
template <class T>
concept kernel_parameter_bytes = std::is_trivially_copyable_v<T> && sizeof(T) <= 256 &&
                                 alignof(T) <= 16 && !std::is_pointer_v<T>;

/// Writes a leaf at `to`.
inline void put_leaf(expression_word* to, element_kind kind, const leaf_description& description,
                     const std::size_t* extents, int rank, const void* state, std::size_t bytes,
                     std::size_t alignment) noexcept {
  word_header header{opcode::leaf, kind, static_cast<unsigned char>(rank)};
  header.words = static_cast<std::uint16_t>(leaf_words + header.rank + (bytes + 7) / 8);
  to[0] = __builtin_bit_cast(expression_word, header);
  to[1] = reinterpret_cast<std::uintptr_t>(&description);
  to[2] = bytes | alignment << 32;
  expression_word* next = to + leaf_words;
  for (int axis = 0; axis < rank; ++axis) *next++ = extents[axis];
  to[header.words - 1] = 0;
  __builtin_memcpy(next, state, bytes);
}

/// Makes a leaf faulty.
inline void put_fault(expression_word* leaf, const view_fault& fault) noexcept {
  leaf[1] = fault_address(fault);
  leaf[2] = static_cast<expression_word>(fault.limit);
}

/// Returns the word of an operation.
constexpr expression_word operation_word(opcode what, element_kind kind) noexcept {
  return __builtin_bit_cast(expression_word, word_header{what, kind});
}

}  // namespace detail
}}  // namespace gpu::v1
