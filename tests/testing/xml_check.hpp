#pragma once
/// \file
/// Reads a text as elements of XML: tags that are balanced, attributes in quotes, and of the
/// entities those that need no declaration.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

struct xml_element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // in it, as it stands
  std::size_t depth = 0;
};

class xml_check {
 public:
  explicit xml_check(std::string_view text) : left_{text} {
    while (valid_ && !left_.empty()) {
      const std::size_t tag = left_.find('<');
      take_text(left_.substr(0, tag));
      if (tag == std::string_view::npos) break;
      left_.remove_prefix(tag + 1);
      take_tag();
    }
    valid_ = valid_ && open_.empty() && !all_.empty();
  }
  bool valid() const { return valid_; }
  /// Every element, in the order of their beginnings.
  const std::vector<xml_element>& all() const { return all_; }

 private:
  static bool has_only_entities(std::string_view text) {
    for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
      const std::string_view rest = text.substr(at);
      bool known = false;
      for (const std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;"})
        known = known || rest.starts_with(entity);
      if (!known) return false;
    }
    for (const char c : text)
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') return false;
    return true;
  }
  void take_text(std::string_view text) {
    valid_ = valid_ && has_only_entities(text) && text.find('>') == text.npos;
    if (!open_.empty()) {
      all_[open_.back()].text += text;
    } else {
      valid_ = valid_ && text.find_first_not_of(" \n") == text.npos;
    }
  }
  void take_tag() {
    const std::size_t end = left_.find('>');
    if (end == std::string_view::npos) return void(valid_ = false);
    std::string_view tag = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    if (tag.starts_with('/')) {
      valid_ = valid_ && !open_.empty() && all_[open_.back()].name == tag.substr(1);
      if (valid_) open_.pop_back();
      return;
    }
    const bool closed = tag.ends_with('/');
    if (closed) tag.remove_suffix(1);
    xml_element made;
    made.depth = open_.size();
    made.name = tag.substr(0, tag.find(' '));
    tag.remove_prefix(made.name.size());
    while (valid_ && !tag.empty()) {
      const std::size_t equal = tag.find("=\"");
      const std::size_t close = equal == tag.npos ? tag.npos : tag.find('"', equal + 2);
      if (!tag.starts_with(' ') || close == tag.npos) return void(valid_ = false);
      const std::string_view value = tag.substr(equal + 2, close - equal - 2);
      const bool fresh = made.attributes.emplace(tag.substr(1, equal - 1), value).second;
      valid_ = fresh && has_only_entities(value) && value.find('<') == value.npos;
      tag.remove_prefix(close + 1);
    }
    all_.push_back(std::move(made));
    if (!closed) open_.push_back(all_.size() - 1);
  }

  std::string_view left_;
  bool valid_ = true;
  std::vector<xml_element> all_;
  std::vector<std::size_t> open_;
};

}  // namespace test
