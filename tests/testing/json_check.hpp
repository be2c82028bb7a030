#pragma once
/// \file
/// Checks that a text is one JSON value (RFC 8259), and counts the values with a key in it.

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

namespace test {

class json_check {
 public:
  explicit json_check(std::string_view text) : left_{text} {
    valid_ = value();
    space();
    valid_ = valid_ && left_.empty();
  }
  bool valid() const { return valid_; }
  /// Objects in the text, and those of them that have the key.
  std::size_t objects() const { return objects_; }
  std::size_t with(std::string_view key) const {
    const std::string wanted = '"' + std::string(key) + '"';
    std::size_t count = 0;
    for (std::size_t at = keys_.find(wanted); at != keys_.npos; at = keys_.find(wanted, at + 1))
      ++count;
    return count;
  }

 private:
  void space() {
    const std::size_t at = left_.find_first_not_of(" \t\r\n");
    left_.remove_prefix(at == left_.npos ? left_.size() : at);
  }
  bool take(char c) {
    space();
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view all) {
    if (!left_.starts_with(all)) return false;
    left_.remove_prefix(all.size());
    return true;
  }
  bool text() {
    space();
    const std::string_view start = left_;
    if (!take('"')) return false;
    for (; !left_.starts_with('"'); left_.remove_prefix(1)) {
      if (left_.size() < 2 || static_cast<unsigned char>(left_[0]) < 0x20) return false;
      if (left_[0] != '\\') continue;
      if (std::string_view("\"\\/bfnrtu").find(left_[1]) == std::string_view::npos) return false;
      left_.remove_prefix(1);
    }
    left_.remove_prefix(1);
    last_ = start.substr(0, start.size() - left_.size());
    return true;
  }
  bool number() {
    std::size_t length = left_.starts_with('-') ? 1 : 0;
    const std::size_t first = length;
    while (length < left_.size() &&
           (std::isdigit(static_cast<unsigned char>(left_[length])) != 0 ||
            std::string_view(".eE+-").find(left_[length]) != std::string_view::npos))
      ++length;
    if (length == first || std::isdigit(static_cast<unsigned char>(left_[first])) == 0)
      return false;
    left_.remove_prefix(length);
    return true;
  }
  bool value() {
    space();
    if (take('{')) {
      ++objects_;
      if (take('}')) return true;
      do {
        if (!text()) return false;
        keys_ += last_;
        if (!take(':') || !value()) return false;
      } while (take(','));
      return take('}');
    }
    if (take('[')) {
      if (take(']')) return true;
      do {
        if (!value()) return false;
      } while (take(','));
      return take(']');
    }
    if (left_.starts_with('"')) return text();
    return word("true") || word("false") || word("null") || number();
  }

  std::string_view left_;
  std::string_view last_;
  std::string keys_;
  std::size_t objects_ = 0;
  bool valid_ = false;
};

}  // namespace test
