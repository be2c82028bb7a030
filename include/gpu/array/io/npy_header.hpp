#pragma once
/// \file
/// The header of NumPy's .npy files, and how it is written.

#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/generated/number_type.hpp>
#include <gpu/memory/detail/shape_text.hpp>
#include <gpu/memory/detail/view_layout.hpp>

#include <cstddef>
#include <type_traits>

namespace gpu { inline namespace v1 { namespace detail {

/// An element type as NumPy names it: a letter of its kind, and the number of bytes.
struct npy_type {
  char kind = 0;  ///< b, i, u, f or c
  unsigned bytes = 0;
  bool big_endian = false;

  /// The bytes that are in opposite order on a big-endian machine.
  unsigned word_bytes() const noexcept { return kind == 'c' ? bytes / 2 : bytes; }
  friend bool operator==(const npy_type& a, const npy_type& b) noexcept {
    return a.kind == b.kind && a.bytes == b.bytes;
  }
};

struct npy_type_name {
  npy_type type;
  const char* numpy;
  const char* element;
  const char* others;  ///< the letter, which may have a byte order, and further names
};
inline constexpr npy_type_name npy_types[] = {
    {{'b', 1}, "bool", "bool", "? bool_"},
    {{'i', 1}, "int8", "std::int8_t", "b byte"},
    {{'i', 2}, "int16", "std::int16_t", "h short"},
    {{'i', 4}, "int32", "std::int32_t", "i intc"},
    {{'i', 8}, "int64", "std::int64_t", "l q n p int int_ intp long longlong"},
    {{'u', 1}, "uint8", "std::uint8_t", "B ubyte"},
    {{'u', 2}, "uint16", "std::uint16_t", "H ushort"},
    {{'u', 4}, "uint32", "std::uint32_t", "I uintc"},
    {{'u', 8}, "uint64", "std::uint64_t", "L Q N P uint uintp ulong ulonglong"},
    {{'f', 2}, "float16", "__half", "e half"},
    {{'f', 4}, "float32", "float", "f single"},
    {{'f', 8}, "float64", "double", "d float double"},
    {{'c', 8}, "complex64", "std::complex<float>", "F csingle"},
    {{'c', 16}, "complex128", "std::complex<double>", "D complex cdouble"},
};
inline const npy_type_name* find_npy_type(const npy_type& type) noexcept {
  for (const npy_type_name& known : npy_types) {
    if (known.type == type) return &known;
  }
  return nullptr;
}

/// Returns whether a word is in a list of words with a blank between them.
inline bool is_listed(string_ref word, string_ref list) noexcept {
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t end = begin;
    while (end < list.size() && list.data()[end] != ' ') ++end;
    if (list.substring(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

/// Finds the type that NumPy calls `name`, such as "<f4", "f4", "f" or "float32". Returns whether
/// it is one of numbers that the library has, too.
inline bool find_npy_type(string_ref name, npy_type& found) noexcept {
  const char first = name.empty() ? '\0' : name.data()[0];
  const bool has_order = first == '<' || first == '>' || first == '=' || first == '|';
  const string_ref code = name.substring(has_order ? 1 : 0, name.size() - (has_order ? 1 : 0));
  npy_type sized;
  std::size_t at = 1;
  if (code.size() > 1) sized.kind = code.data()[0];
  // As strtol reads it: blanks, a sign and zeros may come first.
  while (at < code.size() &&
         (code.data()[at] == ' ' || (code.data()[at] >= '\t' && code.data()[at] <= '\r'))) {
    ++at;
  }
  if (at < code.size() && code.data()[at] == '+') ++at;
  for (; at < code.size() && code.data()[at] >= '0' && code.data()[at] <= '9'; ++at) {
    if (sized.bytes < 100)
      sized.bytes = sized.bytes * 10 + static_cast<unsigned>(code.data()[at] - '0');
  }
  if (at != code.size()) sized = {};
  for (const npy_type_name& known : npy_types) {
    const bool by_name = code.size() == 1 || !has_order;
    if (known.type == sized ||
        (by_name && (code == known.numpy || is_listed(code, known.others)))) {
      found = known.type;
      found.big_endian = first == '>';
      return true;
    }
  }
  return false;
}

template <class T> constexpr npy_type npy_type_of() noexcept {
  switch (number_kind_of<T>()) {
    case number_kind::boolean: return {'b', 1};
    case number_kind::integer: return {std::is_signed_v<T> ? 'i' : 'u', sizeof(T)};
    case number_kind::complex: return {'c', sizeof(T)};
    default: return {'f', sizeof(T)};
  }
}
/// Numbers of which NumPy has the type, too.
template <class T> constexpr bool is_npy_number() noexcept {
  if constexpr (short_number<T>) {
    return element_type_of<T>().name == string_ref("gpu::half");
  } else {
    return number<T>;
  }
}
template <class T>
concept npy_number = is_npy_number<T>();

struct npy_header {
  static constexpr int most_axes = 64;  // of NumPy

  npy_type type;
  bool fortran = false;
  int rank = 0;
  std::size_t extents[most_axes] = {};
};

inline constexpr char npy_magic[] = "\x93NUMPY";
inline constexpr std::size_t npy_prefix_bytes = 10;  ///< magic, version, and a length of 2 bytes
inline constexpr std::size_t npy_alignment = 64;

/// Returns the header that NumPy writes. The text has bytes that are 0.
inline text write_npy_header(const npy_type& type, bool fortran,
                             const view_layout& shape) noexcept {
  text_builder words;
  words << "{'descr': '" << (type.bytes == 1 ? '|' : '<') << type.kind << type.bytes
        << "', 'fortran_order': " << (fortran ? "True" : "False") << ", 'shape': ";
  write_extents(words, shape.extents, shape.rank);
  words << ", }";
  if (shape.rank > 0) {  // NumPy leaves room for the array to grow along the outermost axis
    int digits = 1;
    for (std::size_t left = shape.extents[fortran ? shape.rank - 1 : 0]; left >= 10; left /= 10)
      ++digits;
    for (; digits < 21; ++digits) words << ' ';
  }
  const std::size_t used = npy_prefix_bytes + words.size() + 1;
  for (std::size_t blanks = npy_alignment - used % npy_alignment; blanks > 0; --blanks)
    words << ' ';
  words << '\n';
  const std::size_t size = words.size();
  text dictionary = words.finish();
  if (dictionary.lost()) return dictionary;
  text_builder out;
  out.append(npy_magic, 6) << '\1' << '\0' << static_cast<char>(size & 0xff)
                           << static_cast<char>(size >> 8);
  return (out << dictionary).finish();
}

}}}  // namespace gpu::v1::detail
