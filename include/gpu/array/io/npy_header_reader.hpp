#pragma once
/// \file
/// Reads the header of a .npy file as NumPy does.

#include <gpu/array/io/byte_source.hpp>
#include <gpu/array/io/host_bytes.hpp>
#include <gpu/array/io/npy_header.hpp>
#include <gpu/array/io/python_words.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/string_ref.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Reads the dictionary of a header, a literal of Python's.
class npy_header_reader {
 public:
  /// In files of versions 1 and 2, Python 2 may have written integers with an L.
  npy_header_reader(const named_file& file, string_ref words, std::uint64_t begin,
                    unsigned version) noexcept
      : file_{file}, words_{file, words, begin}, has_long_{version < 3} {}

  result<npy_header> read() noexcept {
    npy_header header;
    bool seen[3] = {};
    constexpr const char* keys[] = {"descr", "fortran_order", "shape"};
    const int parentheses = open_parentheses();
    GPU_TRY(words_.expect('{'));
    while (!words_.take('}')) {
      const std::size_t at = words_.skip_blanks();
      const int around_key = open_parentheses();
      const python_string key = GPU_TRY(words_.read_string());
      GPU_TRY(close_parentheses(around_key));
      int which = -1;
      for (int k = 0; k < 3; ++k) {
        if (key.value() == keys[k]) which = k;
      }
      if (which < 0) return fail(words_.wrong(at, "the header has an unknown key"));
      seen[which] = true;  // of a key that comes twice, Python takes the second value
      GPU_TRY(words_.expect(':'));
      if (which == 0) GPU_TRY(read_type(header));
      if (which == 1) GPU_TRY(read_order(header));
      if (which == 2) GPU_TRY(read_shape(header));
      if (words_.take(',')) continue;
      GPU_TRY(words_.expect('}'));
      break;
    }
    GPU_TRY(close_parentheses(parentheses));
    if (!seen[0] || !seen[1] || !seen[2])
      return fail(words_.wrong(words_.at(),
                               "the header lacks one of 'descr', 'fortran_order' and 'shape'"));
    if (!words_.at_end())
      return fail(words_.wrong(words_.at(), "the header goes on behind its dictionary"));
    return header;
  }

 private:
  static constexpr const char* save_numbers = "Save the numbers by themselves.";

  int open_parentheses() noexcept {
    int count = 0;
    while (words_.take('(')) ++count;
    return count;
  }
  result<> close_parentheses(int count) noexcept {
    while (count-- > 0) GPU_TRY(words_.expect(')'));
    return {};
  }

  result<> read_type(npy_header& header) noexcept {
    const std::size_t at = words_.skip_blanks();
    const auto refuse = [&](const char* what) {
      return fail(file_.unsupported(words_.offset(at), what, save_numbers));
    };
    const int parentheses = open_parentheses();
    if (words_.next() == '[') return refuse("its elements are structures");
    const python_string name = GPU_TRY(words_.read_string());
    if (parentheses > 0 && words_.take(',')) {  // with the shape of an element
      npy_header element;
      const bool is_tuple = GPU_TRY(read_value(element, 0));
      for (int axis = 0; axis < (is_tuple ? element.rank : 1); ++axis) {
        if (element.extents[axis] != 1) return refuse("its elements are arrays");
      }
      words_.take(',');
    }
    GPU_TRY(close_parentheses(parentheses));
    if (!find_npy_type(name.value(), header.type))
      return refuse("its elements are not numbers of a known type");
    return {};
  }
  result<> read_order(npy_header& header) noexcept {
    const int parentheses = open_parentheses();
    const std::size_t at = words_.skip_blanks();
    header.fortran = words_.take_name("True");
    if (!header.fortran && !words_.take_name("False"))
      return fail(words_.wrong(at, "'fortran_order' is not True or False"));
    return close_parentheses(parentheses);
  }
  result<> read_shape(npy_header& header) noexcept {
    const std::size_t at = words_.skip_blanks();
    header.rank = 0;
    if (!GPU_TRY(read_value(header, 0)))
      return fail(words_.wrong(at, "the shape is a number without a comma, not a tuple"));
    return {};
  }

  /// Reads a number to `extents[rank]`, or a tuple of numbers from there on. Returns whether it is
  /// a tuple.
  result<bool> read_value(npy_header& header, int depth) noexcept {
    const std::size_t at = words_.skip_blanks();
    if (depth > npy_header::most_axes || header.rank == npy_header::most_axes)
      return fail(words_.wrong(at, "the shape has more than 64 axes or parentheses"));
    if (!words_.take('(')) {
      header.extents[header.rank] = GPU_TRY(words_.read_integer(has_long_));
      return false;
    }
    for (bool first = true; !words_.take(')'); first = false) {
      const bool is_tuple = GPU_TRY(read_value(header, depth + 1));
      const bool goes_on = words_.take(',');
      if (!goes_on && first) {  // only in parentheses
        GPU_TRY(words_.expect(')'));
        return is_tuple;
      }
      if (is_tuple) return fail(words_.wrong(at, "the shape has a tuple in a tuple"));
      ++header.rank;
      if (goes_on) continue;
      GPU_TRY(words_.expect(')'));
      break;
    }
    return true;
  }

  const named_file& file_;
  python_words words_;
  bool has_long_;
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
  return npy_header_reader(file, dictionary, at, version).read();
}

}}}  // namespace gpu::v1::detail
