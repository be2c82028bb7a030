#pragma once
/// \file
/// A reader of JSON for tests: strict, and nothing of the library's.

#include "support/catch.hpp"

#include <cctype>
#include <concepts>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

/// A value of JSON. Of the members only those of its kind are filled.
struct json {
  char kind = '0';  ///< one of { [ " 1 t f n, or 0 if it is missing
  std::string string;
  double number = 0;
  std::vector<json> list;
  std::map<std::string, json> members;

  const json& operator[](const char* name) const {
    static const json missing;
    const auto found = members.find(name);
    return found == members.end() ? missing : found->second;
  }
  template <std::integral Index> const json& operator[](Index i) const {  // 0 is no pointer here
    return list.at(static_cast<std::size_t>(i));
  }
  std::size_t size() const { return list.size(); }
};

/// Reads one value; fails the test if that is not all.
class json_reader {
 public:
  static json read(std::string_view text) {
    json_reader reader(text);
    json whole = reader.value();
    reader.blanks();
    if (reader.at_ != text.size()) reader.fail("something follows the value");
    return whole;
  }

 private:
  explicit json_reader(std::string_view text) : text_{text} {}

  [[noreturn]] void fail(const char* why) const {
    FAIL("JSON, byte " << at_ << ": " << why);
    std::abort();
  }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  char next() {
    blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) fail("another character was expected");
  }

  std::string string() {
    std::string out;
    need('"');
    for (;;) {
      if (at_ >= text_.size()) fail("the string does not end");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character");
      if (c != '\\') {
        out += c;
      } else if (text_.substr(at_, 3) == "u00") {
        out += static_cast<char>(
            std::strtol(std::string(text_.substr(at_ + 1, 4)).c_str(), nullptr, 16));
        at_ += 5;
      } else if (const char escaped = text_[at_++]; escaped == '"' || escaped == '\\') {
        out += escaped;
      } else {
        fail("an escape");
      }
    }
  }

  json value() {
    json made;
    made.kind = next();
    switch (made.kind) {
      case '{':
        ++at_;
        if (take('}')) return made;
        do {
          blanks();
          std::string name = string();
          need(':');
          if (!made.members.emplace(std::move(name), value()).second) fail("a name twice");
        } while (take(','));
        need('}');
        return made;
      case '[':
        ++at_;
        if (take(']')) return made;
        do made.list.push_back(value());
        while (take(','));
        need(']');
        return made;
      case '"': made.string = string(); return made;
      default: break;
    }
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return made;
    }
    const std::string rest(text_.substr(at_, 40));
    char* end = nullptr;
    made.number = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str() || std::isalpha(static_cast<unsigned char>(rest[0])) != 0)
      fail("no value");
    at_ += static_cast<std::size_t>(end - rest.c_str());
    made.kind = '1';
    return made;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace test
