#pragma once
/// \file
/// `engine_position`: where an engine of random numbers is, and its form as text.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// The place of an engine: which seed, which of its sequences, and how many numbers of it are used.
struct engine_position {
  std::uint64_t seed = 0, sequence = 0, offset = 0;
  bool exhausted = false;  ///< more than 2^64 numbers of the sequence were asked for

  /// Uses up `count` numbers and returns where they begin.
  constexpr std::uint64_t reserve(std::uint64_t count) noexcept {
    const std::uint64_t first = offset;
    if (__builtin_add_overflow(offset, count, &offset)) exhaust();
    return first;
  }
  /// Uses up all numbers. The offset does not wrap around, so that no copy of it begins anew.
  constexpr void exhaust() noexcept {
    offset = ~std::uint64_t{0};
    exhausted = true;
  }
  /// Goes on to another sequence; to one that no engine has rather than around to the first ones.
  constexpr void skip_sequence(std::uint64_t count) noexcept {
    if (__builtin_add_overflow(sequence, count, &sequence)) sequence = ~std::uint64_t{0};
  }
  /// Returns whether an engine with so many sequences can be here.
  constexpr bool is_usable(std::uint64_t sequences) const noexcept {
    return sequence < sequences && !exhausted;
  }
  friend constexpr bool operator==(const engine_position&,
                                   const engine_position&) noexcept = default;
};

/// Returns why an engine cannot be used, as a sentence; empty if it can.
inline text describe_unusable(const char* name, std::uint64_t sequences,
                              const engine_position& position) noexcept {
  if (position.is_usable(sequences)) return {};
  text_builder out;
  if (position.sequence >= sequences) {
    out << "the engine is at the sequence " << position.sequence << ", but " << name << " has "
        << sequences << " of them. Use a smaller number, or another seed.";
  } else {
    out << "the engine's offset would pass 2^64, the number of numbers in a sequence of " << name
        << ". Use another sequence, or another seed.";
  }
  return out.finish();
}

/// Writes `NAME SEED SEQUENCE OFFSET`.
inline text write_position(const char* name, const engine_position& position) noexcept {
  text_builder out;
  out << name << ' ' << position.seed << ' ' << position.sequence << ' ' << position.offset;
  if (position.exhausted) out << " exhausted";
  return out.finish();
}

/// Reads what `write_position` has written.
/// **Errors**: `errc::invalid_argument`.
inline result<engine_position> read_position(const char* name, string_ref written,
                                             source_location where) noexcept {
  const char* at = written.begin();
  const char* const end = written.end();
  const auto skip_word = [&](string_ref word) {
    if (static_cast<std::size_t>(end - at) < word.size() || string_ref(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  };
  const auto read_number = [&](std::uint64_t& number) {
    if (!skip_word(" ") || at == end || *at < '0' || *at > '9') return false;
    for (number = 0; at != end && *at >= '0' && *at <= '9'; ++at) {
      if (__builtin_mul_overflow(number, 10u, &number) ||
          __builtin_add_overflow(number, static_cast<unsigned>(*at - '0'), &number))
        return false;
    }
    return true;
  };
  engine_position read;
  bool good = skip_word(name) && read_number(read.seed) && read_number(read.sequence) &&
              read_number(read.offset);
  if (good && skip_word(" exhausted")) read.exhaust();
  if (good && at == end) return read;
  text_builder out;
  out << '"' << written
      << "\" is not the text of this engine. Pass what to_text() returned, such as \"" << name
      << " 42 0 1000\".";
  return fail(refusal(errc::invalid_argument, "gpu::from_text", out.finish(), where));
}

}}}  // namespace gpu::v1::detail
