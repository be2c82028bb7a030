#pragma once
/// \file
/// `element_kind`: the element types of expressions, and the types of what is computed from them.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/generated/number_type.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// An element type of expressions, without its C++ type.
enum class element_kind : unsigned char {
  none,
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  half,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128,
};

/// The classes of kinds for which rules are the same.
enum class kind_class : unsigned char { none, boolean, integer, real, complex };

struct kind_facts {
  const char* device_name;  ///< in generated code
  const char* name;         ///< in messages
  kind_class type;
  bool is_signed;
  unsigned char bytes;
};

inline constexpr kind_facts kind_table[] = {
    {"void", "none", kind_class::none, false, 0},
    {"bool", "bool", kind_class::boolean, false, 1},
    {"signed char", "int8", kind_class::integer, true, 1},
    {"short", "int16", kind_class::integer, true, 2},
    {"int", "int32", kind_class::integer, true, 4},
    {"long long", "int64", kind_class::integer, true, 8},
    {"unsigned char", "uint8", kind_class::integer, false, 1},
    {"unsigned short", "uint16", kind_class::integer, false, 2},
    {"unsigned int", "uint32", kind_class::integer, false, 4},
    {"unsigned long long", "uint64", kind_class::integer, false, 8},
    {"gpu::half", "half", kind_class::real, true, 2},
    {"gpu::bfloat16", "bfloat16", kind_class::real, true, 2},
    {"float", "float", kind_class::real, true, 4},
    {"double", "double", kind_class::real, true, 8},
    {"gpu::complex<float>", "complex of float", kind_class::complex, true, 8},
    {"gpu::complex<double>", "complex of double", kind_class::complex, true, 16},
};

constexpr const kind_facts& facts_of(element_kind kind) noexcept {
  return kind_table[static_cast<int>(kind)];
}

constexpr kind_class class_of(element_kind kind) noexcept { return facts_of(kind).type; }
constexpr bool is_fractional(element_kind kind) noexcept {
  return class_of(kind) >= kind_class::real;
}
constexpr bool is_short_kind(element_kind kind) noexcept {
  return kind == element_kind::half || kind == element_kind::bfloat16;
}
constexpr bool is_integral_kind(element_kind kind) noexcept {
  return class_of(kind) == kind_class::integer || class_of(kind) == kind_class::boolean;
}

/// Returns the kind of the type in which elements of a kind are computed: float for numbers of 16
/// bits.
constexpr element_kind computed_kind(element_kind kind) noexcept {
  return is_short_kind(kind) ? element_kind::float32 : kind;
}
/// Returns the kind of the real part.
constexpr element_kind real_kind(element_kind kind) noexcept {
  return kind == element_kind::complex64    ? element_kind::float32
         : kind == element_kind::complex128 ? element_kind::float64
                                            : kind;
}

/// Returns the smallest floating-point kind that holds the integers of a kind, as NumPy chooses it
/// for sums with floating-point numbers.
constexpr element_kind real_for_integers(element_kind kind) noexcept {
  const int bytes = facts_of(kind).bytes;
  return bytes == 1   ? element_kind::half
         : bytes == 2 ? element_kind::float32
                      : element_kind::float64;
}

constexpr element_kind integer_of(bool is_signed, int bytes) noexcept {
  const int first = static_cast<int>(is_signed ? element_kind::int8 : element_kind::uint8);
  return static_cast<element_kind>(first + (bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3));
}

/// Returns the kind of a sum of the two, from NumPy's lattice (NEP 50): the smallest that holds all
/// values of both. NumPy has no `bfloat16`; it stands where `half` does, and with `half` it makes
/// float.
constexpr element_kind promote(element_kind a, element_kind b) noexcept {
  if (a == b || class_of(b) == kind_class::boolean) return a;
  if (class_of(a) == kind_class::boolean) return b;
  if (class_of(a) < class_of(b)) return promote(b, a);
  const kind_facts x = facts_of(a), y = facts_of(b);
  if (x.type == kind_class::integer) {
    if (x.is_signed == y.is_signed) return x.bytes > y.bytes ? a : b;
    const kind_facts& positive = x.is_signed ? y : x;
    const kind_facts& any = x.is_signed ? x : y;
    if (any.bytes > positive.bytes) return x.is_signed ? a : b;
    return positive.bytes == 8 ? element_kind::float64 : integer_of(true, 2 * positive.bytes);
  }
  element_kind other = real_kind(b);
  if (y.type == kind_class::integer) other = real_for_integers(b);
  const element_kind own = real_kind(a);
  const int own_bytes = facts_of(own).bytes, other_bytes = facts_of(other).bytes;
  element_kind real = own_bytes >= other_bytes ? own : other;
  const bool both_short = own_bytes == 2 && other_bytes == 2;
  if (both_short && own != other && y.type != kind_class::integer) real = element_kind::float32;
  if (x.type == kind_class::real) return real;
  return real == element_kind::float64 ? element_kind::complex128 : element_kind::complex64;
}

/// Returns the kind that a host number takes beside elements of kind `other`: that kind, unless the
/// number is of a class that does not fit in it.
constexpr element_kind weak_kind(kind_class number, element_kind other) noexcept {
  const kind_class own = class_of(other);
  if (number <= own) return other;
  if (number == kind_class::integer) return element_kind::int64;
  if (number == kind_class::real) return element_kind::float64;
  const element_kind real = own == kind_class::real ? other : element_kind::float64;
  return real == element_kind::float64 ? element_kind::complex128 : element_kind::complex64;
}

/// Returns the kind of a C++ type; `none` if it is not a number.
template <class T> constexpr element_kind kind_of() noexcept {
  if constexpr (std::same_as<T, bool>) {
    return element_kind::boolean;
  } else if constexpr (one_of<T, char8_t, char16_t, char32_t, wchar_t, long double>) {
    return element_kind::none;
  } else if constexpr (word_integer<T>) {
    return integer_of(std::is_signed_v<T>, int{sizeof(T)});
  } else if constexpr (std::same_as<T, float>) {
    return element_kind::float32;
  } else if constexpr (std::same_as<T, double>) {
    return element_kind::float64;
  } else if constexpr (number_kind_of<T>() == number_kind::short_real) {
    return element_type_of<T>().name == string_ref("gpu::half") ? element_kind::half
                                                                : element_kind::bfloat16;
  } else if constexpr (number_kind_of<T>() == number_kind::complex) {
    return sizeof(T) == 8 ? element_kind::complex64 : element_kind::complex128;
  } else {
    return element_kind::none;
  }
}

template <element_kind> struct standard_type {};
template <> struct standard_type<element_kind::boolean> : std::type_identity<bool> {};
template <> struct standard_type<element_kind::int8> : std::type_identity<std::int8_t> {};
template <> struct standard_type<element_kind::int16> : std::type_identity<std::int16_t> {};
template <> struct standard_type<element_kind::int32> : std::type_identity<std::int32_t> {};
template <> struct standard_type<element_kind::int64> : std::type_identity<std::int64_t> {};
template <> struct standard_type<element_kind::uint8> : std::type_identity<std::uint8_t> {};
template <> struct standard_type<element_kind::uint16> : std::type_identity<std::uint16_t> {};
template <> struct standard_type<element_kind::uint32> : std::type_identity<std::uint32_t> {};
template <> struct standard_type<element_kind::uint64> : std::type_identity<std::uint64_t> {};
template <> struct standard_type<element_kind::float32> : std::type_identity<float> {};
template <> struct standard_type<element_kind::float64> : std::type_identity<double> {};

/// `Complex<Part>` for a complex type of the host.
template <class C, class Part> struct with_part {};
template <template <class> class Complex, class T, class Part>
struct with_part<Complex<T>, Part> : std::type_identity<Complex<Part>> {};

/// Returns the C++ type of a kind as a `type_identity`. Types that are not the language's own are
/// those of an operand, or made from it.
template <element_kind Kind, class First, class... Rest> constexpr auto find_type() noexcept {
  if constexpr (requires { typename standard_type<Kind>::type; }) {
    return standard_type<Kind>();
  } else if constexpr (kind_of<First>() == Kind) {
    return std::type_identity<First>();
  } else if constexpr (class_of(Kind) == kind_class::complex &&
                       class_of(kind_of<First>()) == kind_class::complex) {
    return with_part<First, typename standard_type<real_kind(Kind)>::type>();
  } else {
    return find_type<Kind, Rest...>();
  }
}
template <element_kind Kind, class... Operands>
using kind_type = typename decltype(find_type<Kind, Operands...>())::type;

}}}  // namespace gpu::v1::detail
