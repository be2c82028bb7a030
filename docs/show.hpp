// Prints what a row of docs/from-cupy.md or docs/from-pycuda.md computed, as scripts/page-values
// reads it: for each array its kind (b, i, f or c, as NumPy's dtype.kind), its shape and its
// elements.
#pragma once

#include <gpu/array.hpp>
#include <gpu/memory/aligned_buffer.hpp>
#include <gpu/memory/pinned_vector.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

extern gpu::device device;
extern gpu::stream stream;

/// A row: prepares its operands for one of `sets`, and then prints its value.
struct row {
  const char* name;
  gpu::result<> (*run)(const char* name);
  std::vector<int> sets;
  std::vector<gpu::result<> (*)(int)> prepare;
};
extern const row all_rows[];

namespace showing {

inline std::string text_of(float x) {
  char text[32];
  std::snprintf(text, sizeof text, " %.9g", double{x});
  return text;
}
inline std::string text_of(double x) {
  char text[32];
  std::snprintf(text, sizeof text, " %.12g", x);
  return text;
}
template <class T> std::string text_of(const std::complex<T>& x) {
  return text_of(x.real()) + text_of(x.imag());
}
template <std::integral T> std::string text_of(T x) { return " " + std::to_string(x); }

template <class T>
constexpr char kind_of = std::is_same_v<T, bool>       ? 'b'
                         : std::is_integral_v<T>       ? 'i'
                         : std::is_floating_point_v<T> ? 'f'
                                                       : 'c';

template <class T> std::string describe(const std::vector<std::size_t>& extents) {
  std::string text{kind_of<T>, ' ', '('};
  for (std::size_t k = 0; k < extents.size(); ++k)
    text += (k == 0 ? "" : ", ") + std::to_string(extents[k]);
  return text + ")";
}

template <class T> std::string text_of(const T* elements, const std::vector<std::size_t>& extents) {
  std::string text = describe<T>(extents);
  std::size_t count = 1;
  for (const std::size_t extent : extents) count *= extent;
  for (std::size_t k = 0; k < count; ++k) text += text_of(elements[k]);
  return text;
}

inline std::string escaped(const char* text) {
  std::string out;
  for (; *text != '\0'; ++text) {
    if (*text == '\n') {
      out += "\\n";
    } else {
      out += *text;
    }
  }
  return out;
}

template <class T> constexpr bool is_result = false;
template <class T> constexpr bool is_result<gpu::result<T>> = true;
template <class T> constexpr bool is_host = false;
template <class T> constexpr bool is_host<std::vector<T>> = true;
template <class T> constexpr bool is_host<gpu::pinned_vector<T>> = true;
template <class T> constexpr bool is_host<gpu::aligned_buffer<T>> = true;
template <class T> constexpr bool is_list = false;
template <class T, std::size_t Count> constexpr bool is_list<std::array<T, Count>> = true;
template <class T> constexpr bool is_shape = false;
template <int Rank> constexpr bool is_shape<gpu::shape<Rank>> = true;

template <class V> gpu::result<std::string> print(const V& value) {
  std::string text;
  const auto add = [&](const auto& part) -> gpu::result<> {
    text += (text.empty() ? "" : " ; ") + GPU_TRY(print(part));
    return {};
  };
  if constexpr (is_result<V>) {
    if (!value) return "error: " + escaped(value.error().message().c_str());
    return print(*value);
  } else if constexpr (std::is_arithmetic_v<V>) {
    return text_of(&value, {});
  } else if constexpr (requires { value.c_str(); }) {
    return "s () " + escaped(value.c_str());
  } else if constexpr (is_host<V>) {
    return text_of(value.data(), {value.size()});
  } else if constexpr (is_shape<V> || is_list<V>) {
    for (const auto& part : value) GPU_TRY(add(part));
    return text;
  } else if constexpr (requires { value.values; }) {  // several arrays, in NumPy's order
    GPU_TRY(add(value.values));
    if constexpr (requires { value.indices; }) GPU_TRY(add(value.indices));
    if constexpr (requires { value.inverse; }) GPU_TRY(add(value.inverse));
    if constexpr (requires { value.counts; }) GPU_TRY(add(value.counts));
    return text;
  } else if constexpr (requires { value.views; }) {
    for (const auto& view : value) GPU_TRY(add(view));
    return text;
  } else {
    const auto array = GPU_TRY(gpu::evaluate(stream, value));
    using element = typename std::remove_cvref_t<decltype(array)>::value_type;
    const auto host = std::make_unique<element[]>(array.size());
    GPU_TRY(gpu::copy(array, std::span(host.get(), array.size())));
    const auto extents = array.shape();
    return text_of(host.get(), {extents.begin(), extents.end()});
  }
}

}  // namespace showing

/// Prints the name of the row, and the value.
template <class V> gpu::result<> show(const char* name, const V& value) {
  const std::string text = GPU_TRY(showing::print(value));
  extern int operands;
  std::printf("%s|%d|%s\n", name, operands, text.c_str());
  return {};
}

/// The same of memory that nobody has written: its kind and its shape alone.
template <class T, int Rank>
gpu::result<> show_unset(const char* name, const gpu::result<gpu::array<T, Rank>>& value) {
  extern int operands;
  const auto extents = value.value().shape();
  const std::string text = showing::describe<T>({extents.begin(), extents.end()});
  std::printf("%s|%d|%s *\n", name, operands, text.c_str());
  return {};
}

/// The bytes of a file, in hexadecimal.
inline std::string file_of(const char* path) {
  std::string text;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return "no file";
  for (int byte; (byte = std::fgetc(file)) != EOF;) {
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  std::fclose(file);
  return text;
}

/// Makes the array, the buffer or the vector anew, of these elements.
template <class T, class Owner, int Rank>
gpu::result<> set_elements(Owner& owner, const gpu::shape<Rank>& extents,
                           std::span<const T> elements) {
  if constexpr (std::is_same_v<Owner, std::vector<T>>) {
    owner.assign(elements.begin(), elements.end());
  } else if constexpr (std::is_same_v<Owner, gpu::pinned_vector<T>>) {
    owner = GPU_TRY(gpu::pinned_vector<T>::create(device, elements.size()));
    std::ranges::copy(elements, owner.begin());
  } else {
    auto array = GPU_TRY((gpu::array<T, Rank>::from(stream, elements, extents)));
    if constexpr (std::is_same_v<Owner, gpu::device_buffer<T>>) {
      owner = std::move(array).release();
    } else {
      owner = std::move(array);
    }
  }
  return {};
}
