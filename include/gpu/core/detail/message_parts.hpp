#pragma once
/// \file
/// Parts of messages: lists that end after ten items, and names without control characters.

#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Writes a number with commas, as in "59,990".
inline void write_thousands(text_builder& out, std::uint64_t value) noexcept {
  if (value >= 1000) {
    write_thousands(out, value / 1000);
    out << ',';
    for (std::uint64_t power = 100; power > 1 && value % 1000 < power; power /= 10) out << '0';
  }
  out << value % 1000;
}

/// Writes a list into a message, which ends after ten items: `a, b, ... and 59,990 more`. Call
/// `add` for each item, and write the item if it returns true; then `finish`.
class message_list {
 public:
  static constexpr std::size_t most = 10;

  explicit message_list(text_builder& out, const char* separator = ", ",
                        std::size_t limit = most) noexcept
      : out_{&out}, separator_{separator}, limit_{limit} {}

  bool add() noexcept {
    if (++count_ > limit_) return false;
    if (count_ > 1) *out_ << separator_;
    return true;
  }
  void finish() noexcept {
    if (count_ <= limit_) return;
    *out_ << separator_ << "... and ";
    write_thousands(*out_, count_ - limit_);
    *out_ << " more";
  }
  std::size_t count() const noexcept { return count_; }

 private:
  text_builder* out_;
  const char* separator_;
  std::size_t limit_;
  std::size_t count_ = 0;
};

/// Returns how many bytes of a control character begin at `at`; 0 if there is none. Those beyond
/// ASCII have two in UTF-8.
constexpr std::size_t control_character_at(string_ref words, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(words[i]); };
  if (byte(at) < 0x20 || byte(at) == 0x7f) return 1;
  const bool two = byte(at) == 0xc2 && at + 1 < words.size() && byte(at + 1) < 0xa0;
  return two ? 2 : 0;
}

/// Returns whether a control character is a part of lines: a tab or the end of a line.
constexpr bool is_layout_at(string_ref words, std::size_t at) noexcept {
  const bool returns = words[at] == '\r' && at + 1 < words.size() && words[at + 1] == '\n';
  return words[at] == '\n' || words[at] == '\t' || returns;
}

/// Writes a name, of a file, a kernel or the like, with escapes in place of control characters. Of
/// a name of more than 500 bytes, writes the beginning and the end.
struct escaped {
  string_ref name;
  bool keeps_lines = false;  ///< of a text of several lines
};
inline text_builder& operator<<(text_builder& out, const escaped& what) noexcept {
  constexpr char digits[] = "0123456789abcdef";
  const string_ref name = what.name;
  constexpr std::size_t part = 250;
  if (!what.keeps_lines && name.size() > 2 * part) {
    return out << escaped{name.substring(0, part)} << " ... "
               << escaped{name.substring(name.size() - part, part)};
  }
  std::size_t written = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const std::size_t size = control_character_at(name, at);
    if (size == 0 || (what.keeps_lines && is_layout_at(name, at))) continue;
    out << name.substring(written, at - written);
    if (name[at] == '\n' || name[at] == '\r' || name[at] == '\t') {
      out << '\\' << (name[at] == '\n' ? 'n' : name[at] == '\r' ? 'r' : 't');
    } else {
      for (std::size_t i = at; i < at + size; ++i) {
        const auto byte = static_cast<unsigned char>(name[i]);
        out << "\\x" << digits[byte / 16] << digits[byte % 16];
      }
    }
    at += size - 1;
    written = at + 1;
  }
  return out << name.substring(written, name.size() - written);
}

/// Returns a message whose control characters, but for those of its lines, are escaped.
inline text without_control_characters(text message) noexcept {
  const string_ref words(message);
  bool any = false;
  for (std::size_t at = 0; at < words.size() && !any; ++at)
    any = control_character_at(words, at) != 0 && !is_layout_at(words, at);
  if (!any) return message;
  text_builder out;
  out << escaped{words, true};
  return out.finish();
}

}}}  // namespace gpu::v1::detail
