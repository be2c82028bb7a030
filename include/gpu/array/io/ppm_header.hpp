#pragma once
/// \file
/// The header of PPM and PGM files.

#include <gpu/array/io/byte_source.hpp>
#include <gpu/core/result.hpp>
#include <gpu/system/open_file.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

struct ppm_header {
  std::size_t width = 0, height = 0;
  unsigned highest = 0;     ///< level
  std::size_t samples = 0;  ///< of a pixel
  std::uint64_t begin = 0;  ///< of the pixels

  std::size_t bytes() const noexcept { return width * height * samples; }
};

/// Reads `P6 width height highest` or `P5 ...`, with comments from `#` to the end of a line.
inline result<ppm_header> read_ppm_header(const named_file& name, const open_file& file) noexcept {
  constexpr std::size_t most = 16384;  // bytes of a header, with its comments
  unsigned char bytes[4096];
  std::size_t got = 0, at = 0;
  std::uint64_t begin = 0;
  int failure = 0;
  // The next byte, or -1 at the end.
  const auto peek = [&]() -> int {
    if (at == got) {
      begin += got;
      at = 0;
      failure = begin < most ? file.read(begin, bytes, sizeof bytes, got) : 0;
      if (failure != 0 || begin >= most) got = 0;
    }
    return at < got ? bytes[at] : -1;
  };
  const auto is_blank = [](int c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  const auto wrong = [&](const char* what) {
    return fail(failure != 0 ? name.failed("read", failure) : name.damaged(begin + at, what));
  };
  ppm_header header;
  constexpr const char* kind = "it does not begin as a binary PPM or PGM file does, with P6 or P5";
  if (peek() != 'P') return wrong(kind);
  ++at;
  const int letter = peek();
  if (letter != '6' && letter != '5') return wrong(kind);
  header.samples = letter == '6' ? 3 : 1;
  ++at;
  std::size_t values[3] = {};
  for (std::size_t& value : values) {
    if (!is_blank(peek()) && peek() != '#') return wrong("the header has no blank here");
    while (is_blank(peek()) || peek() == '#') {
      if (peek() == '#') {
        while (peek() != '\n' && peek() >= 0) ++at;
      } else {
        ++at;
      }
    }
    bool any = false;
    for (; peek() >= '0' && peek() <= '9'; ++at, any = true) {
      value = value * 10 + static_cast<std::size_t>(peek() - '0');
      if (value > 0x7fffffff) return wrong("a number of the header is above 2147483647");
    }
    if (!any || value == 0) return wrong("the header has no positive number here");
  }
  header.width = values[0];
  header.height = values[1];
  if (values[2] > 255) {
    return fail(name.unsupported(begin + at, "it has more than 255 levels",
                                 "Save it with 8 bits a sample."));
  }
  header.highest = static_cast<unsigned>(values[2]);
  if (!is_blank(peek())) return wrong("the header does not end with a blank");
  header.begin = begin + at + 1;
  const std::uint64_t row = header.width * header.samples;
  const std::uint64_t left = file.size() < header.begin ? 0 : file.size() - header.begin;
  if (left / row < header.height)
    return fail(name.damaged(file.size(), "the file ends before the last pixel"));
  return header;
}

}}}  // namespace gpu::v1::detail
