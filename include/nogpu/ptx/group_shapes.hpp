#pragma once
/// The shapes of the products of warp groups: 64 rows, and 8 to 256 columns in steps of 8.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <nogpu/ptx/suffix.hpp>

namespace nogpu { inline namespace v1 { namespace ptx::detail {

/// A short text that is put together at compile time.
struct built_word {
  char text[12] = {};
  std::size_t size = 0;

  constexpr built_word& add(std::string_view part) {
    for (const char c : part) text[size++] = c;
    return *this;
  }
  constexpr built_word& add(std::uint32_t number) {
    if (number >= 10) add(number / 10);
    text[size++] = static_cast<char>('0' + number % 10);
    return *this;
  }
  constexpr std::string_view view() const { return {text, size}; }
};

/// The name of the group: m64k16.
template <std::uint16_t K>
inline constexpr built_word shape_group = built_word{}.add("m64k").add(K);
template <std::uint16_t N, std::uint16_t K>
inline constexpr built_word shape_word = built_word{}.add("m64n").add(N).add("k").add(K);

template <std::uint16_t K, std::size_t... I>
constexpr auto make_shape_suffixes(std::index_sequence<I...>) {
  return std::array<suffix, sizeof...(I)>{suffix{
      shape_group<K>.view(), shape_word<8 * (I + 1), K>.view(), multiplies<64, 8 * (I + 1), K>}...};
}

/// The group of the shapes with `K` columns of A.
template <std::uint16_t K>
inline constexpr auto shape_suffixes = make_shape_suffixes<K>(std::make_index_sequence<32>{});

}}}  // namespace nogpu::v1::ptx::detail
