// The formatting of device printf: a C format string, arguments packed as CUDA packs them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace nogpu { inline namespace v1 { namespace machine {

namespace detail {

/// One conversion of a format string.
struct conversion {
  std::string flags;   // flags, width and precision as written, '*' included
  std::string length;  // hh, h, l, ll, j, z, t, L
  char kind = 0;       // 0: the format string ends in the middle
  std::size_t end = 0;
};

inline conversion parse_conversion(std::string_view format, std::size_t at) {
  conversion c;
  std::size_t i = at + 1;
  while (i < format.size() && std::string_view("-+ #0123456789.*'").find(format[i]) != format.npos)
    c.flags += format[i++];
  while (i < format.size() && std::string_view("hlLjztq").find(format[i]) != format.npos)
    c.length += format[i++];
  if (i < format.size()) c.kind = format[i++];
  c.end = i;
  return c;
}

/// Formats one value by the host's snprintf. `spec` comes from `format_device`, which let only
/// conversions pass that fit T.
template <class T> inline std::string format_one(const std::string& spec, T value) {
  const int length = std::snprintf(nullptr, 0, spec.c_str(), value);
  if (length <= 0) return {};
  std::vector<char> text(static_cast<std::size_t>(length) + 1);
  (void)std::snprintf(text.data(), text.size(), spec.c_str(), value);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace detail

/// Formats as device printf does. `arguments(void* to, size)` fetches the next argument, aligned to
/// its size, and `string(address)` reads a string from device memory; both give false, or nothing,
/// when the memory is not accessible. As CUDA documents it, at most 32 arguments are formatted,
/// widths and precisions that are arguments included; the conversions behind these are printed as
/// they stand. Widths and precisions are limited to `widest`, and nothing more is formatted once
/// the text is as long as CUDA's default buffer. Result: false when an argument could not be
/// fetched; `count` is then the number fetched.
template <class Arguments, class String>
inline bool format_device(std::string_view format, Arguments arguments, String string,
                          std::string& out, int& count) {
  constexpr int widest = 4096;
  constexpr std::size_t longest = std::size_t{1} << 20;
  constexpr int most_arguments = 32;
  bool is_beyond = false;
  count = 0;
  for (std::size_t i = 0; i < format.size() && out.size() < longest;) {
    if (format[i] != '%') {
      out += format[i++];
      continue;
    }
    const detail::conversion c = detail::parse_conversion(format, i);
    if (c.kind == '%' || c.kind == 0) {
      out += '%';
      i = c.end;
      continue;
    }
    const auto needed = 1 + static_cast<int>(std::ranges::count(c.flags, '*'));
    is_beyond = is_beyond || count + needed > most_arguments;
    if (is_beyond) {
      out += format.substr(i, c.end - i);
      i = c.end;
      continue;
    }
    std::string spec = "%";
    int number = -1;  // of a width or precision as it is read
    for (const char f : c.flags) {
      if (f == '*') {
        std::int32_t width = 0;
        if (!arguments(&width, sizeof(width))) return false;
        ++count;
        if (width > widest) width = widest;
        if (width < -widest) width = -widest;
        if (width < 0 && spec.back() == '.') {
          spec.pop_back();  // a negative precision counts as none
        } else if (number < 0) {
          spec += std::to_string(width);
        }
        number = widest;  // digits or stars that follow at once are ignored
      } else if (f >= '0' && f <= '9') {
        number = number < 0 ? f - '0' : number * 10 + (f - '0');
        if (number <= widest) spec += f;
        if (number > widest) number = widest;
      } else {
        number = -1;
        spec += f;
      }
    }
    const bool wide = c.length.find_first_of("ljztq") != c.length.npos;
    const bool half = c.length == "h" || c.length == "hh";
    switch (c.kind) {
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X': {
        std::uint64_t bits = 0;
        std::uint32_t narrow = 0;
        if (wide ? !arguments(&bits, 8) : !arguments(&narrow, 4)) return false;
        if (wide) {
          out += detail::format_one(spec + "ll" + c.kind, static_cast<long long>(bits));
        } else {
          out +=
              detail::format_one(spec + (half ? c.length : "") + c.kind, static_cast<int>(narrow));
        }
        break;
      }
      case 'c': {
        std::int32_t value = 0;
        if (!arguments(&value, 4)) return false;
        out += detail::format_one(spec + 'c', value);
        break;
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        double value = 0;
        if (!arguments(&value, 8)) return false;
        out += detail::format_one(spec + c.kind, value);
        break;
      }
      case 'p':
      case 's': {
        std::uint64_t value = 0;
        if (!arguments(&value, 8)) return false;
        if (c.kind == 'p') {
          out += detail::format_one(spec + 'p', reinterpret_cast<const void*>(value));
        } else {
          const std::string text = value == 0 ? std::string("(null)") : string(value);
          out += detail::format_one(spec + 's', text.c_str());
        }
        break;
      }
      default:  // printed as it stands, as CUDA does
        out += std::string(format.substr(i, c.end - i));
        i = c.end;
        continue;
    }
    ++count;
    i = c.end;
  }
  return true;
}

}}}  // namespace nogpu::v1::machine
