#pragma once
/// \file
/// `text_set`: a hashed set of texts that keeps their order.

#include <gpu/core/sequence.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns a fast hash for tables in memory. Equal hashes do not prove equal strings.
inline std::uint64_t quick_hash(string_ref string, std::uint64_t seed) noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  const auto mix = [](std::uint64_t a, std::uint64_t b) {
    __extension__ using wide = unsigned __int128;
    const wide product = static_cast<wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  const char* at = string.data();
  std::size_t left = string.size();
  std::uint64_t hash = seed ^ odd;
  for (; left >= 16; left -= 16, at += 16) {
    std::uint64_t words[2];
    __builtin_memcpy(words, at, sizeof words);
    hash = mix(words[0] ^ hash, words[1] ^ odd);
  }
  std::uint64_t words[2] = {};
  __builtin_memcpy(words, at, left);
  return mix(mix(words[0] ^ hash, words[1] ^ odd) ^ string.size(), odd);
}

/// Texts, each once, in the order in which they were added.
class text_set {
 public:
  /// Adds a text. Returns false if the set has it already.
  bool insert(const text& string) {
    if (list_.size() * 2 >= slots_.size()) grow();
    std::size_t& slot = slots_[find(string)];
    if (slot != 0) return false;
    list_.push_back(string);
    slot = list_.size();
    return true;
  }
  bool contains(string_ref string) const noexcept { return position(string) != 0; }
  /// Returns the position in `list`, counted from 1; 0 if the text is not in the set.
  std::size_t position(string_ref string) const noexcept {
    return slots_.empty() ? 0 : slots_[find(string)];
  }
  const sequence<text>& list() const noexcept { return list_; }

 private:
  std::size_t find(string_ref string) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = quick_hash(string, 0) & mask;
    while (slots_[at] != 0 && !(string_ref(list_[slots_[at] - 1]) == string)) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    sequence<std::size_t> larger(slots_.empty() ? 64 : slots_.size() * 4);
    slots_.swap(larger);
    for (std::size_t i = 0; i < list_.size(); ++i) slots_[find(list_[i])] = i + 1;
  }

  sequence<text> list_;
  sequence<std::size_t> slots_;  // a position in list_, from 1; the size is a power of two
};

}}}  // namespace gpu::v1::detail
