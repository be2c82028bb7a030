#pragma once
/// \file
/// The header of NumPy's .npy files: versions 1.0, 2.0 and 3.0.

#include <gpu/algorithm/detail/number_type.hpp>
#include <gpu/array/detail/byte_source.hpp>
#include <gpu/array/detail/host_bytes.hpp>
#include <gpu/memory/detail/shape_text.hpp>
#include <gpu/memory/detail/view_layout.hpp>

namespace gpu::inline v1::detail {

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
};
inline constexpr npy_type_name npy_types[] = {
    {{'b', 1}, "bool", "bool"},
    {{'i', 1}, "int8", "std::int8_t"},
    {{'i', 2}, "int16", "std::int16_t"},
    {{'i', 4}, "int32", "std::int32_t"},
    {{'i', 8}, "int64", "std::int64_t"},
    {{'u', 1}, "uint8", "std::uint8_t"},
    {{'u', 2}, "uint16", "std::uint16_t"},
    {{'u', 4}, "uint32", "std::uint32_t"},
    {{'u', 8}, "uint64", "std::uint64_t"},
    {{'f', 2}, "float16", "__half"},
    {{'f', 4}, "float32", "float"},
    {{'f', 8}, "float64", "double"},
    {{'c', 8}, "complex64", "std::complex<float>"},
    {{'c', 16}, "complex128", "std::complex<double>"},
};
inline const npy_type_name* find_npy_type(const npy_type& type) noexcept {
  for (const npy_type_name& known : npy_types) {
    if (known.type == type) return &known;
  }
  return nullptr;
}

template <class T> constexpr npy_type npy_type_of() noexcept {
  switch (number_kind_of<T>()) {
    case number_kind::boolean: return {'b', 1};
    case number_kind::integer: return {is_signed<T> ? 'i' : 'u', sizeof(T)};
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

/// Reads the dictionary of a header: a literal of Python's, as NumPy writes it.
class npy_header_reader {
 public:
  npy_header_reader(const named_file& file, string_ref words, std::uint64_t begin) noexcept
      : file_{file}, words_{words}, begin_{begin} {}

  result<npy_header> read() noexcept {
    npy_header header;
    bool seen[3] = {};
    constexpr const char* keys[] = {"descr", "fortran_order", "shape"};
    GPU_TRY(expect('{'));
    while (!take('}')) {
      const std::size_t at = skip_blanks();
      const string_ref key = GPU_TRY(read_string());
      int which = -1;
      for (int k = 0; k < 3; ++k) {
        if (key == keys[k]) which = k;
      }
      if (which < 0) return fail(wrong(at, "the header has an unknown key"));
      if (seen[which]) return fail(wrong(at, "the header has the same key twice"));
      seen[which] = true;
      GPU_TRY(expect(':'));
      if (which == 0) GPU_TRY(read_type(header));
      if (which == 1) GPU_TRY(read_order(header));
      if (which == 2) GPU_TRY(read_shape(header));
      if (take(',')) continue;
      GPU_TRY(expect('}'));
      break;
    }
    if (!seen[0] || !seen[1] || !seen[2])
      return fail(wrong(at_, "the header lacks one of 'descr', 'fortran_order' and 'shape'"));
    skip_blanks();
    if (at_ + 1 != words_.size() || words_[at_] != '\n')
      return fail(wrong(at_, "the header does not end with blanks and a new line"));
    return header;
  }

 private:
  static constexpr const char* save_numbers = "Save the numbers by themselves.";

  cuda_error wrong(std::size_t at, const char* what) const noexcept {
    return file_.damaged(begin_ + at, what);
  }
  std::size_t skip_blanks() noexcept {
    while (at_ < words_.size() && words_[at_] == ' ') ++at_;
    return at_;
  }
  bool take(char c) noexcept {
    if (skip_blanks() == words_.size() || words_[at_] != c) return false;
    ++at_;
    return true;
  }
  result<> expect(char c) noexcept {
    if (take(c)) return {};
    char what[] = "the header has no '?' here";
    what[sizeof "the header has no '" - 1] = c;
    return fail(wrong(at_, what));
  }
  bool take(string_ref word) noexcept {
    skip_blanks();
    if (words_.size() - at_ < word.size() || !(words_.substring(at_, word.size()) == word))
      return false;
    at_ += word.size();
    return true;
  }
  result<string_ref> read_string() noexcept {
    const std::size_t at = skip_blanks();
    const char quote = at < words_.size() ? words_[at] : '\0';
    if (quote != '\'' && quote != '"') return fail(wrong(at, "the header has no string here"));
    for (std::size_t end = at + 1; end < words_.size(); ++end) {
      if (words_[end] != quote) continue;
      at_ = end + 1;
      return words_.substring(at + 1, end - at - 1);
    }
    return fail(wrong(at, "a string of the header does not end"));
  }
  result<> read_type(npy_header& header) noexcept {
    const std::size_t at = skip_blanks();
    if (at < words_.size() && words_[at] == '[')
      return fail(file_.unsupported(begin_ + at, "its elements are structures", save_numbers));
    const string_ref name = GPU_TRY(read_string());
    const char order = name.size() > 2 ? name[0] : '\0';
    npy_type type;
    type.big_endian = order == '>';
    bool known = order == '<' || order == '>' || order == '=' || order == '|';
    if (known) type.kind = name[1];
    for (std::size_t i = 2; i < name.size(); ++i) {
      known = known && name[i] >= '0' && name[i] <= '9' && i < 5;
      if (known) type.bytes = type.bytes * 10 + static_cast<unsigned>(name[i] - '0');
    }
    if (!known || find_npy_type(type) == nullptr || (order == '|' && type.bytes != 1))
      return fail(file_.unsupported(begin_ + at, "its elements are not numbers of a known type",
                                    save_numbers));
    header.type = type;
    return {};
  }
  result<> read_order(npy_header& header) noexcept {
    const std::size_t at = skip_blanks();
    header.fortran = take("True");
    if (!header.fortran && !take("False"))
      return fail(wrong(at, "'fortran_order' is not True or False"));
    return {};
  }
  result<> read_shape(npy_header& header) noexcept {
    GPU_TRY(expect('('));
    while (!take(')')) {
      const std::size_t at = skip_blanks();
      std::size_t extent = 0;
      const bool zero = at < words_.size() && words_[at] == '0';
      bool fits = header.rank < npy_header::most_axes;
      while (at_ < words_.size() && words_[at_] >= '0' && words_[at_] <= '9') {
        const auto digit = static_cast<unsigned>(words_[at_++] - '0');
        fits = fits && !__builtin_mul_overflow(extent, 10u, &extent) &&
               !__builtin_add_overflow(extent, digit, &extent);
      }
      if (at_ == at || (zero && at_ != at + 1))
        return fail(wrong(at, "the shape has no number here"));
      if (!fits)
        return fail(wrong(at, "the shape has too many axes, or an extent of more than 64 bits"));
      take('L');  // of Python 2
      header.extents[header.rank++] = extent;
      if (take(',')) continue;
      GPU_TRY(expect(')'));
      if (header.rank == 1) return fail(wrong(at_, "the shape of one axis has no comma"));
      break;
    }
    return {};
  }

  const named_file& file_;
  string_ref words_;
  std::uint64_t begin_;
  std::size_t at_ = 0;
};

/// Reads the header at the beginning of `source`.
inline result<npy_header> read_npy_header(const named_file& file, byte_source& source) noexcept {
  // NumPy's own limit is lower. Only structures have longer headers.
  constexpr std::size_t most = 65535;
  const std::uint64_t begin = source.offset();
  unsigned char prefix[npy_prefix_bytes + 2];
  std::size_t got = GPU_TRY(source.read(prefix, npy_prefix_bytes));
  for (std::size_t i = 0; i < 6; ++i) {
    if (i >= got || prefix[i] != static_cast<unsigned char>(npy_magic[i]))
      return fail(file.damaged(begin + i, "it does not begin as a .npy file does"));
  }
  if (got < npy_prefix_bytes)
    return fail(file.damaged(begin + got, "the file ends within the header"));
  const unsigned version = prefix[6];
  if (version < 1 || version > 3)
    return fail(file.damaged(begin + 6, "the version is not 1, 2 or 3"));
  if (prefix[7] != 0) return fail(file.damaged(begin + 7, "the minor version is not 0"));
  std::size_t size = prefix[8] | static_cast<std::size_t>(prefix[9]) << 8;
  if (version > 1) {
    got = GPU_TRY(source.read(prefix + npy_prefix_bytes, 2));
    if (got < 2)
      return fail(file.damaged(begin + npy_prefix_bytes + got, "the file ends within the header"));
    size |= static_cast<std::size_t>(prefix[10]) << 16 | static_cast<std::size_t>(prefix[11]) << 24;
  }
  if (size > most) return fail(file.damaged(begin + 8, "the header is longer than 65535 bytes"));
  const auto words = GPU_TRY(host_bytes::create(file.function, size, file.where));
  const std::uint64_t at = source.offset();
  got = GPU_TRY(source.read(words.data(), size));
  if (got < size) return fail(file.damaged(at + got, "the file ends within the header"));
  const string_ref dictionary(reinterpret_cast<const char*>(words.data()), size);
  return npy_header_reader(file, dictionary, at).read();
}

}  // namespace gpu::inline v1::detail
