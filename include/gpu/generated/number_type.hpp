#pragma once
/// \file
/// The numbers that named reductions take, and the types in which they are combined.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/generated/element_type.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

enum class number_kind : unsigned char {
  none,
  boolean,
  integer,
  real,        ///< float or double
  short_real,  ///< `__half` or `__nv_bfloat16`
  complex,     ///< `std::complex` of float or double
};

template <class T> constexpr number_kind number_kind_of() noexcept {
  if constexpr (std::same_as<T, bool>) {
    return number_kind::boolean;
  } else if constexpr (word_integer<T>) {
    return number_kind::integer;
  } else if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    return number_kind::real;
  } else if constexpr (plain_number<T> || std::is_enum_v<T> || std::is_pointer_v<T> ||
                       !std::is_trivially_copyable_v<T>) {
    return number_kind::none;
  } else if constexpr (sizeof(T) == 2 || sizeof(T) == 8 || sizeof(T) == 16) {
    constexpr string_ref name = element_type_of<T>().name;
    if (name == "gpu::half" || name == "gpu::bfloat16") return number_kind::short_real;
    if (name == "gpu::complex<float>" || name == "gpu::complex<double>")
      return number_kind::complex;
    return number_kind::none;
  } else {
    return number_kind::none;
  }
}

template <class T>
concept number = number_kind_of<T>() != number_kind::none;
template <class T>
concept complex_number = number_kind_of<T>() == number_kind::complex;
template <class T>
concept short_number = number_kind_of<T>() == number_kind::short_real;
/// Numbers that can be compared by size.
template <class T>
concept ordered_number = number<T> && !complex_number<T>;
/// Numbers that a mean can be.
template <class T>
concept fractional_number = standard_float<T> || short_number<T> || complex_number<T>;

/// The type of the real part: of a complex number, or the number itself.
template <class T> struct real_part_of : std::type_identity<T> {};
template <complex_number T> struct real_part_of<T> : std::type_identity<typename T::value_type> {};
template <class T> using real_part_t = typename real_part_of<T>::type;

/// The type in which a result of type `R` is combined: float for numbers of 16 bits.
template <class R> using combined_t = std::conditional_t<short_number<R>, float, R>;

/// The type of a sum of `T`: 64 bits for integers and `bool`, float for numbers of 16 bits.
template <class T>
using sum_t = std::conditional_t<
    word_integer<T>,
    std::conditional_t<std::is_signed_v<T> || std::same_as<T, bool>, std::int64_t, std::uint64_t>,
    combined_t<T>>;

/// The type of a mean of `T`: double for integers and `bool`, float for numbers of 16 bits.
template <class T> using mean_t = std::conditional_t<word_integer<T>, double, combined_t<T>>;

/// `R`, or `Default` if the caller has not named a type.
template <class R, class Default>
using chosen_t = std::conditional_t<std::is_void_v<R>, Default, R>;

/// The number that no `T` is above: infinity, or the largest integer.
template <class T> constexpr T highest_of() noexcept {
  if constexpr (standard_float<T>) {
    return static_cast<T>(__builtin_inf());
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>((std::uint64_t{1} << (8 * sizeof(T) - 1)) - 1);
  } else {
    return static_cast<T>(~std::uint64_t{0});
  }
}
/// The number that no `T` is below.
template <class T> constexpr T lowest_of() noexcept {
  if constexpr (standard_float<T>) {
    return static_cast<T>(-__builtin_inf());
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(-highest_of<T>() - 1);
  } else {
    return T{};
  }
}

}}}  // namespace gpu::v1::detail
