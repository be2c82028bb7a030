#pragma once
/// \file
/// The types of keys and values that are sorted, as the device sees them.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/detail/traits.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/generated/element_type.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace gpu { inline namespace v1 {

/// The order of sorted keys.
enum class sort_order : unsigned char {
  ascending,
  descending,
};

/// Returns the enumerator's name, such as "ascending"; null for an invalid value.
constexpr const char* name_of(sort_order order) noexcept {
  using enum sort_order;
  return detail::find_name(order, {{ascending, "ascending"}, {descending, "descending"}});
}

namespace detail {

/// Stands for the bits of the exponent of a bool. All bytes of one but 0 are equal keys.
inline constexpr std::uint8_t bool_exponent = 1;

/// A type of keys. Signed and unsigned integers of one size are sorted by the same kernel.
struct sort_key {
  const char* name;  ///< for the names of kernels
  std::uint8_t bytes;
  std::uint8_t exponent;   ///< bits of the exponent of a floating-point number; 0 for integers
  std::uint64_t inverted;  ///< bits to invert, so that keys are ordered as unsigned numbers
};

template <class T> constexpr bool is_device_type(string_ref name) noexcept {
  if constexpr (sizeof(T) == 2 && !detail::plain_number<T> && !std::is_enum_v<T> &&
                !std::is_pointer_v<T>) {
    return element_type_of<T>().name == name;
  } else {
    return false;
  }
}

/// The types that can be sorted by: arithmetic types except `long double`, `__half` and
/// `__nv_bfloat16`.
template <class T>
concept sortable = (detail::plain_number<T> && !std::same_as<T, long double>) ||
                   is_device_type<T>("gpu::half") || is_device_type<T>("gpu::bfloat16");

template <class T> constexpr sort_key sort_key_of() noexcept {
  constexpr auto bytes = static_cast<std::uint8_t>(sizeof(T));
  if constexpr (std::same_as<T, bool>) return {"bool", bytes, bool_exponent, 0};
  if constexpr (is_device_type<T>("gpu::half")) return {"half", bytes, 5, 0};
  if constexpr (is_device_type<T>("gpu::bfloat16")) return {"bfloat16", bytes, 8, 0};
  if constexpr (std::same_as<T, float>) return {"float", bytes, 8, 0};
  if constexpr (std::same_as<T, double>) return {"double", bytes, 11, 0};
  constexpr std::uint64_t sign = std::is_signed_v<T> ? std::uint64_t{1} << (8 * bytes - 1) : 0;
  return {bytes == 1   ? "integer8"
          : bytes == 2 ? "integer16"
          : bytes == 4 ? "integer32"
                       : "integer64",
          bytes, 0, sign};
}

/// Values that are moved with the keys; 0 bytes if there are none.
struct sort_value {
  std::uint8_t bytes = 0;
  std::uint8_t alignment = 0;  ///< the largest power of two that moves them, at most their size
};

/// The integers that are positions of elements.
template <class T>
concept index_type = one_of<T, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, long long,
                            unsigned long long>;

/// Returns the greatest number of elements whose positions an index type holds.
template <index_type T> constexpr std::uint64_t most_indexed() noexcept {
  if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? 0x8000'0000 : 0x1'0000'0000;
  return ~std::uint64_t{0} >> 1;
}

template <class T> constexpr void check_indices() noexcept {
  static_assert(index_type<T>,
                "gpu::argsort, gpu::top_k: the indices are written, as std::uint32_t, "
                "std::int32_t, std::uint64_t or std::int64_t");
}

template <class T> constexpr void check_offsets() noexcept {
  static_assert(index_type<T>,
                "gpu::sort_segments: the offsets are std::uint32_t, std::int32_t, std::uint64_t or "
                "std::int64_t");
}

template <class T> constexpr void check_sort_keys() noexcept {
  static_assert(!std::is_const_v<T>, "gpu::sort: the keys are sorted in place, but they are const");
  static_assert(sortable<std::remove_const_t<T>>,
                "gpu::sort: keys are numbers of 8 to 64 bits (bool, integers, float, double, "
                "__half, __nv_bfloat16). Sort other elements by a key of these types: "
                "gpu::argsort the keys, and gather by the indices");
}

template <class T> constexpr void check_sort_values() noexcept {
  static_assert(!std::is_const_v<T>,
                "gpu::sort_pairs: the values are moved in place, but they are const");
  static_assert(
      std::is_trivially_copyable_v<T> &&
          (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16),
      "gpu::sort_pairs: values are trivially copyable objects of 1, 2, 4, 8 or 16 bytes. "
      "For other values sort an index and gather: gpu::argsort the keys, and gather the "
      "values by the indices");
}

}  // namespace detail
}}  // namespace gpu::v1
