#pragma once
/// \file
/// Element types of CUDA arrays: `array_format` for one channel, `texel_format` for a whole texel,
/// and the C++ types that correspond to them.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>  // IWYU pragma: keep

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

/// The type of one channel of an array; converts to `CUarray_format` by cast. The formats from
/// `nv12` on describe all channels at once, or several planes.
enum class array_format : int {
#define GPU_ARRAY_FORMAT(name, native) name = CU_AD_FORMAT_##native,
#include <gpu/texture/detail/array_format.inc>
};

/// The enumerator, such as "unsigned_int8"; null for a value that this library does not know.
constexpr const char* name_of(array_format format) noexcept {
  switch (format) {
#define GPU_ARRAY_FORMAT(name, native) \
  case array_format::name: return #name;
#include <gpu/texture/detail/array_format.inc>
  }
  return nullptr;
}

/// The bits of an IEEE half-precision float, for host code, since C++20 has no such type.
enum class half_bits : std::uint16_t {};

/// `Count` channels of type `T`, with the layout of CUDA's vector types such as `float4`, which
/// are declared in a header of the runtime.
template <class T, int Count>
struct alignas((Count & (Count - 1)) == 0 ? sizeof(T) * Count : alignof(T)) channels {
  T values[static_cast<std::size_t>(Count)];

  constexpr T& operator[](int channel) noexcept { return values[channel]; }
  constexpr const T& operator[](int channel) const noexcept { return values[channel]; }
  friend constexpr bool operator==(const channels& a, const channels& b) noexcept {
    for (int i = 0; i < Count; ++i) {
      if (!(a.values[i] == b.values[i])) return false;
    }
    return true;
  }
};

/// The format of a texel, an element of an array: the counterpart of `cudaChannelFormatDesc`.
struct texel_format {
  array_format format{};
  int channels = 1;  ///< 1, 2 or 4; the driver's own number for formats that imply their channels

  friend constexpr bool operator==(texel_format a, texel_format b) noexcept {
    return a.format == b.format && a.channels == b.channels;
  }
};

namespace detail {

template <class T>
concept channel_integer = detail::word_integer<T> && !std::same_as<T, bool> && sizeof(T) <= 4;

template <class T> struct channels_of {
  using channel = T;
  static constexpr int count = 1;
};
template <class T, int Count> struct channels_of<gpu::channels<T, Count>> {
  using channel = T;
  static constexpr int count = Count;
};

template <class T> using member_x = std::remove_cvref_t<decltype(std::declval<T&>().x)>;

/// Returns how many of the members x, y, z, w a type has; 0 if their types differ.
template <class T> constexpr int count_members() noexcept {
  using x = member_x<T>;
  int count = 1;
  if constexpr (requires(T& v) { v.y; })
    count = std::same_as<std::remove_cvref_t<decltype(std::declval<T&>().y)>, x> ? 2 : 0;
  if constexpr (requires(T& v) { v.z; })
    count =
        count == 2 && std::same_as<std::remove_cvref_t<decltype(std::declval<T&>().z)>, x> ? 3 : 0;
  if constexpr (requires(T& v) { v.w; })
    count =
        count == 3 && std::same_as<std::remove_cvref_t<decltype(std::declval<T&>().w)>, x> ? 4 : 0;
  return count;
}

/// CUDA's vector types, recognized by their members.
template <class T>
  requires(requires(T& v) { v.x; } && sizeof(T) == sizeof(member_x<T>) * count_members<T>())
struct channels_of<T> {
  using channel = member_x<T>;
  static constexpr int count = count_members<T>();
};

template <class Channel> constexpr array_format format_of_channel() noexcept {
  if constexpr (channel_integer<Channel>) {
    constexpr int width = sizeof(Channel);
    constexpr bool with_sign = std::is_signed_v<Channel>;
    if (width == 1) return with_sign ? array_format::signed_int8 : array_format::unsigned_int8;
    if (width == 2) return with_sign ? array_format::signed_int16 : array_format::unsigned_int16;
    return with_sign ? array_format::signed_int32 : array_format::unsigned_int32;
  } else if constexpr (std::same_as<Channel, float>) {
    return array_format::float_;
#if defined(__STDCPP_FLOAT16_T__)
  } else if constexpr (std::same_as<Channel, _Float16>) {
    return array_format::half;
#endif
  } else if constexpr (std::same_as<Channel, half_bits>) {
    return array_format::half;
  } else {
    return array_format{};
  }
}

template <class T> constexpr texel_format deduce_format() noexcept {
  if constexpr (std::is_object_v<T> && !std::is_array_v<T>) {
    using parts = channels_of<T>;
    constexpr array_format format = format_of_channel<typename parts::channel>();
    if (format != array_format{} && parts::count != 3) return {format, parts::count};
  }
  return {array_format{}, 0};
}

}  // namespace detail

/// The texel format of a C++ type: integers of up to 32 bits, `float`, `half_bits`, and two or four
/// of them as CUDA's vector types or as `channels`. It has 0 channels for all other types. You can
/// specialize it for your own types:
///
///     template <> inline constexpr gpu::texel_format gpu::texel_format_of<__half> = {
///         gpu::array_format::half, 1};
template <class T>
inline constexpr texel_format texel_format_of = detail::deduce_format<std::remove_cv_t<T>>();

/// A type that can be the element type of arrays, textures and surfaces.
template <class T>
concept texel = texel_format_of<T>.channels != 0 && std::is_trivially_copyable_v<T>;

namespace detail {

/// Returns the size of one channel in bytes; 0 if the format describes more than one channel, or is
/// not known.
constexpr std::size_t channel_bytes(array_format format) noexcept {
  switch (format) {
    case array_format::unsigned_int8:
    case array_format::signed_int8: return 1;
    case array_format::unsigned_int16:
    case array_format::signed_int16:
    case array_format::half: return 2;
    case array_format::unsigned_int32:
    case array_format::signed_int32:
    case array_format::float_: return 4;
    default: return 0;
  }
}

/// Returns the number of channels that a format such as `unorm_int8x4` implies; 0 if it implies
/// none.
constexpr int implied_channels(array_format format) noexcept {
  switch (format) {
    case array_format::unorm_int8x1:
    case array_format::snorm_int8x1:
    case array_format::unorm_int16x1:
    case array_format::snorm_int16x1: return 1;
    case array_format::unorm_int8x2:
    case array_format::snorm_int8x2:
    case array_format::unorm_int16x2:
    case array_format::snorm_int16x2: return 2;
    case array_format::unorm_int8x4:
    case array_format::snorm_int8x4:
    case array_format::unorm_int16x4:
    case array_format::snorm_int16x4:
    case array_format::unorm_int_101010_2: return 4;
    default: return 0;
  }
}

/// Returns the size of a texel in bytes; 0 if texels are compressed in blocks or spread over
/// planes.
constexpr std::size_t texel_bytes(texel_format texel) noexcept {
  const auto count = static_cast<std::size_t>(texel.channels);
  if (texel.format == array_format::unorm_int_101010_2) return 4;
  if (implied_channels(texel.format) == 0) return channel_bytes(texel.format) * count;
  const bool wide =
      texel.format == array_format::unorm_int16x1 || texel.format == array_format::unorm_int16x2 ||
      texel.format == array_format::unorm_int16x4 || texel.format == array_format::snorm_int16x1 ||
      texel.format == array_format::snorm_int16x2 || texel.format == array_format::snorm_int16x4;
  return (wide ? 2 : 1) * count;
}

/// Returns whether the channels are integers that a texture can return without conversion.
constexpr bool is_integer_format(array_format format) noexcept {
  return channel_bytes(format) != 0 && format != array_format::half &&
         format != array_format::float_;
}

/// Writes "4 channels of unsigned_int8".
inline void write_format(text_builder& out, texel_format texel) noexcept {
  const char* name = name_of(texel.format);
  out << texel.channels << (texel.channels == 1 ? " channel of " : " channels of ");
  if (name != nullptr) {
    out << name;
  } else {
    out << "format " << static_cast<int>(texel.format);
  }
}

}  // namespace detail
}}  // namespace gpu::v1
