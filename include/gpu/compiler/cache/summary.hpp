#pragma once
/// \file
/// Explains why a program was not in the cache: compares the request with short notes about earlier
/// requests of the same source or name.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/cache/bytes.hpp>
#include <gpu/compiler/cache/conditions.hpp>
#include <gpu/compiler/cache/digest.hpp>
#include <gpu/compiler/cache/entry.hpp>
#include <gpu/compiler/cache/folder.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// A request, with digests in place of its texts.
struct request_summary {
  text name;
  gpu::architecture architecture;
  digest source;
  sequence<text> options;
  sequence<file_condition> inputs;  // besides the source, with their names in messages
  sequence<text> instances;
};

inline byte_writer& operator<<(byte_writer& out, const request_summary& s) noexcept {
  return out << s.name << s.architecture << s.source << s.options << s.inputs << s.instances;
}
inline byte_reader& operator>>(byte_reader& in, request_summary& s) {
  return in >> s.name >> s.architecture >> s.source >> s.options >> s.inputs >> s.instances;
}

/// Describes the differences between two requests.
class summary_difference {
 public:
  summary_difference(const request_summary& now, const request_summary& before) {
    if (!(now.source == before.source)) say("the source changed");
    if (!(now.name == before.name)) say("it is named ", now.name, " instead of ", before.name);
    if (!(now.architecture == before.architecture)) {
      text_builder out;
      out << "it is for ";
      write_architecture(out, now.architecture);
      out << " instead of ";
      write_architecture(out, before.architecture);
      say(out.finish());
    }
    compare("option ", now.options, before.options);
    compare("instance ", now.instances, before.instances);
    sequence<text> names, names_before;
    for (const file_condition& input : now.inputs) names.push_back(input.path);
    for (const file_condition& input : before.inputs) names_before.push_back(input.path);
    compare("", names, names_before);
    for (const file_condition& a : now.inputs) {
      for (const file_condition& b : before.inputs) {
        if (a.path == b.path && !(a.content == b.content)) say(a.path, " changed");
      }
    }
  }

  /// Returns how many there are.
  std::size_t count() const noexcept { return count_; }
  /// Returns their description.
  text finish() noexcept { return out_.finish(); }

 private:
  void say(const auto&... pieces) {
    if (count_++ != 0) out_ << ", ";
    (out_ << ... << pieces);
  }
  static bool has(const sequence<text>& list, const text& word) {
    for (const text& candidate : list) {
      if (candidate == word) return true;
    }
    return false;
  }
  void compare(const char* what, const sequence<text>& now, const sequence<text>& before) {
    for (const text& word : now) {
      if (!has(before, word)) say(what, word, " is new");
    }
    for (const text& word : before) {
      if (!has(now, word)) say(what, word, " is gone");
    }
  }
  text_builder out_;
  std::size_t count_ = 0;
};

/// The notes in a cache's folder.
class summary_notes {
 public:
  explicit summary_notes(const cache_folder& folder) noexcept : folder_{folder} {}

  /// Returns how the request differs from the most similar earlier one; empty for the first.
  text explain(const request_summary& now) const {
    sequence<request_summary> before = read(source_key(now));
    if (before.empty() && is_named(now)) before = read(name_key(now));
    if (before.empty()) return {};
    std::size_t closest = 0, least = ~std::size_t{0};
    for (std::size_t i = before.size(); i-- > 0;) {
      const std::size_t count = summary_difference(now, before[i]).count();
      if (count >= least) continue;
      least = count;
      closest = i;
    }
    if (least == 0) return text("it was stored, and removed since");
    return summary_difference(now, before[closest]).finish();
  }

  /// Adds a note. Returns how many bytes were written.
  std::uint64_t add(const request_summary& now) const {
    return append(source_key(now), now) + (is_named(now) ? append(name_key(now), now) : 0);
  }

 private:
  /// Returns whether the program has a name of its own, and not the default one.
  static bool is_named(const request_summary& s) noexcept { return !(s.name == "program.cu"); }
  static digest source_key(const request_summary& s) noexcept {
    return (digest_builder() << string_ref("source") << s.source).finish();
  }
  static digest name_key(const request_summary& s) noexcept {
    return (digest_builder() << string_ref("name") << string_ref(s.name)).finish();
  }
  static entry_name name_of(const digest& key) noexcept { return {key, 's'}; }

  sequence<request_summary> read(const digest& key) const {
    sequence<request_summary> notes;
    text sealed;
    string_ref contents;
    if (folder_.read(name_of(key).characters, sealed) != cache_folder::reading::done ||
        !unseal(sealed, entry_kind::summary, key, contents)) {
      return notes;
    }
    byte_reader in(contents);
    in >> notes;
    if (!in.ok()) notes.clear();
    return notes;
  }
  std::uint64_t append(const digest& key, const request_summary& now) const {
    constexpr std::size_t most = 8;
    sequence<request_summary> notes = read(key);
    if (notes.size() >= most) notes.erase(notes.begin());
    notes.push_back(now);
    text trouble;
    byte_writer out;
    out << notes;
    const text contents = out.finish();
    const text sealed = seal(entry_kind::summary, key, contents);
    if (sealed.lost()) return 0;
    return folder_.write(name_of(key).characters, sealed, trouble) ? sealed.size() : 0;
  }

  const cache_folder& folder_;
};

}}}  // namespace gpu::v1::detail
