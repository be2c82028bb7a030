#pragma once
/// \file
/// The instructions on several integers in one register: dot products of bytes and arithmetic on
/// two halves.

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <nogpu/ptx/arithmetic/integer.hpp>

namespace nogpu { inline namespace v1 { namespace ptx {

namespace detail {

/// Byte `index` of `value`, extended as `Signed` says.
template <bool Signed> constexpr std::int32_t byte_of(std::uint32_t value, int index) {
  const std::uint32_t byte = value >> 8 * index & 0xff;
  return Signed ? static_cast<std::int8_t>(byte) : static_cast<std::int32_t>(byte);
}

/// Half `index` of `value`, extended as `Signed` says.
template <bool Signed> constexpr std::int32_t half_of(std::uint32_t value, int index) {
  const std::uint32_t half = value >> 16 * index & 0xffff;
  return Signed ? static_cast<std::int16_t>(half) : static_cast<std::int32_t>(half);
}

/// Applies `f` to both pairs of halves.
template <class T, class F>
constexpr std::uint32_t each_half(std::uint32_t a, std::uint32_t b, F f) {
  const auto low = f(static_cast<T>(a), static_cast<T>(b));
  const auto high = f(static_cast<T>(a >> 16), static_cast<T>(b >> 16));
  return static_cast<std::uint32_t>(static_cast<std::uint16_t>(low)) |
         static_cast<std::uint32_t>(static_cast<std::uint16_t>(high)) << 16;
}

}  // namespace detail

/// dp4a: c plus the four products of bytes. `A` and `B` are std::uint32_t or std::int32_t and say
/// how the bytes of a and b extend. The sum wraps around.
template <std::integral A, std::integral B>
constexpr std::uint32_t dp4a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto product = [&](int i) {
    return static_cast<std::uint32_t>(detail::byte_of<std::is_signed_v<A>>(a, i) *
                                      detail::byte_of<std::is_signed_v<B>>(b, i));
  };
  return c + product(0) + product(1) + product(2) + product(3);
}

/// dp2a.lo, and dp2a.hi with `High`: c plus the products of the two halves of a with the two lower
/// (upper) bytes of b.
template <std::integral A, std::integral B, bool High>
constexpr std::uint32_t dp2a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto product = [&](int i) {
    return static_cast<std::uint32_t>(detail::half_of<std::is_signed_v<A>>(a, i) *
                                      detail::byte_of<std::is_signed_v<B>>(b, High ? i + 2 : i));
  };
  return c + product(0) + product(1);
}

/// add.u16x2, add.s16x2
constexpr std::uint32_t add_16x2(std::uint32_t a, std::uint32_t b) {
  return detail::each_half<std::uint16_t>(a, b, [](auto x, auto y) { return add(x, y); });
}

/// min.u16x2, min.s16x2: `T` is the type of a half.
template <std::integral T>
  requires(sizeof(T) == 2)
constexpr std::uint32_t min_16x2(std::uint32_t a, std::uint32_t b) {
  return detail::each_half<T>(a, b, [](T x, T y) { return min(x, y); });
}

template <std::integral T>
  requires(sizeof(T) == 2)
constexpr std::uint32_t max_16x2(std::uint32_t a, std::uint32_t b) {
  return detail::each_half<T>(a, b, [](T x, T y) { return max(x, y); });
}

/// min.relu.s16x2
constexpr std::uint32_t min_relu_16x2(std::uint32_t a, std::uint32_t b) {
  return detail::each_half<std::int16_t>(
      a, b, [](std::int16_t x, std::int16_t y) { return max(min(x, y), std::int16_t{0}); });
}

/// max.relu.s16x2
constexpr std::uint32_t max_relu_16x2(std::uint32_t a, std::uint32_t b) {
  return detail::each_half<std::int16_t>(
      a, b, [](std::int16_t x, std::int16_t y) { return max(max(x, y), std::int16_t{0}); });
}

}}}  // namespace nogpu::v1::ptx
