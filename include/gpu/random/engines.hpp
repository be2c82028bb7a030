#pragma once
/// \file
/// Engines of random numbers: `philox`, `xorwow`, `mrg32k3a`.
///
/// An engine of the host is a seed, the number of a sequence, and how many of its numbers are used:
/// it needs no device memory, so copying, saving, skipping and splitting cost nothing. Functions
/// such as `normal` take numbers from it. Two engines with different sequences have no number in
/// common. Each number is that of cuRAND's host interface in its legacy order, where sequence 0
/// is what `curandSetPseudoRandomGeneratorSeed` selects.

#include <gpu/core/detail/traits.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/random/detail/device_headers.hpp>  // IWYU pragma: keep
#include <gpu/random/detail/engine_position.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 {

/// The state that a kernel's parameter of the type `gpu::philox_state` receives for a `philox`.
struct philox_state {
  std::uint64_t seed, sequence, offset;
};

namespace detail {

struct engine_access {
  template <class Engine> static auto& position(Engine& engine) noexcept {
    return engine.position_;
  }
};

/// Returns the first two words of block `low` of a sequence of Philox 4x32-10.
constexpr std::uint64_t philox_words(std::uint64_t seed, std::uint64_t sequence,
                                     std::uint64_t low) noexcept {
  std::uint32_t c[4] = {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                        static_cast<std::uint32_t>(sequence),
                        static_cast<std::uint32_t>(sequence >> 32)};
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0],
                        p1 = std::uint64_t{0xCD9E8D57} * c[2];
    const std::uint32_t first = static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key0;
    const std::uint32_t third = static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key1;
    c[0] = first;
    c[1] = static_cast<std::uint32_t>(p1);
    c[2] = third;
    c[3] = static_cast<std::uint32_t>(p0);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c[0] | std::uint64_t{c[1]} << 32;
}

/// The base of the engines: a position in their numbers.
template <class Engine> class sequence_engine {
 public:
  explicit constexpr sequence_engine(std::uint64_t seed, std::uint64_t sequence = 0,
                                     std::uint64_t offset = 0) noexcept
      : position_{seed, sequence, offset} {}

  constexpr std::uint64_t seed() const noexcept { return position_.seed; }
  constexpr std::uint64_t sequence() const noexcept { return position_.sequence; }
  /// Returns how many numbers of 32 bits are used.
  constexpr std::uint64_t offset() const noexcept { return position_.offset; }

  /// Skips `count` numbers of 32 bits. **Errors**: an engine whose numbers are used up stays so,
  /// and what takes numbers from it fails. **Cost**: an addition.
  constexpr void skip(std::uint64_t count) noexcept { position_.reserve(count); }
  /// Goes on at the same place of the sequence that is `count` behind.
  /// **Errors**: an engine behind its last sequence stays there, and what takes numbers from it
  /// fails.
  constexpr void skip_sequence(std::uint64_t count) noexcept { position_.skip_sequence(count); }

  /// Returns the engine as text, such as "philox 42 0 1000".
  text to_text() const noexcept { return write_position(Engine::name, position_); }
  /// Makes the engine again.
  /// **Errors**: `errc::invalid_argument` for a text that is not one of this kind of engine.
  static result<Engine> from_text(string_ref written,
                                  source_location where = source_location::current()) noexcept {
    Engine made(0);
    made.position_ = GPU_TRY(read_position(Engine::name, written, where));
    return made;
  }
  friend constexpr bool operator==(const sequence_engine&,
                                   const sequence_engine&) noexcept = default;

 protected:
  friend engine_access;
  engine_position position_;
};

}  // namespace detail

/// Philox 4x32-10 of Salmon and others, the default choice of engine: each
/// number is a function of its index, computed anew wherever it is needed. 2^46 sequences of 2^64
/// numbers for each seed.
class philox : public detail::sequence_engine<philox> {
 public:
  using sequence_engine::sequence_engine;
  static constexpr const char* name = "philox";
  static constexpr std::uint64_t sequences = std::uint64_t{1} << 46;

  /// Returns engine `k` of those that belong to this one, for a thread, a device or another operand
  /// of an expression. It has a seed of its own, made by Philox from the seed, the sequence and `k`
  /// in a part of the counter's range that gives no numbers; the offset plays no role. Engines of
  /// different seeds are independent; two out of n such seeds are equal with the probability
  /// n^2 / 2^65. **Errors**: an engine that cannot be used, because its sequence is not less than
  /// `sequences` or its numbers are used up, returns itself, which cannot be used either.
  constexpr philox split(std::uint64_t k) const noexcept {
    if (!position_.is_usable(sequences)) return *this;
    constexpr std::uint64_t seeds = std::uint64_t{3} << 62;
    return philox(detail::philox_words(seed(), seeds | (sequence() << 16), k));
  }
};

template <> struct kernel_argument<philox> {
  /// Sequence s of the host begins with the sequence 65536 s of the device.
  static constexpr philox_state value(const philox& engine) noexcept {
    return {engine.seed(), engine.sequence() << 16, engine.offset()};
  }
  /// Returns why the engine cannot be used; empty if it can.
  static text refusal(const philox& engine) noexcept {
    return detail::describe_unusable(philox::name, philox::sequences,
                                     detail::engine_access::position(engine));
  }
};

/// XORWOW of Marsaglia, for the bits of programs that use it. 2^52 sequences of 2^64 numbers.
class xorwow : public detail::sequence_engine<xorwow> {
 public:
  using sequence_engine::sequence_engine;
  static constexpr const char* name = "xorwow";
  static constexpr std::uint64_t sequences = std::uint64_t{1} << 52;
};

/// MRG32k3a of L'Ecuyer, which is equidistributed in up to 45 dimensions. 2^52 sequences of 2^64
/// numbers.
class mrg32k3a : public detail::sequence_engine<mrg32k3a> {
 public:
  using sequence_engine::sequence_engine;
  static constexpr const char* name = "mrg32k3a";
  static constexpr std::uint64_t sequences = std::uint64_t{1} << 52;
};

namespace detail {

/// An engine that functions take numbers from.
template <class Engine> inline constexpr bool is_engine = one_of<Engine, philox, xorwow, mrg32k3a>;
template <class Engine>
concept random_engine = is_engine<Engine>;
/// True for an engine whose position is in device memory.
template <class Engine> inline constexpr bool counts_on_device = false;
/// True for an engine that makes points of low discrepancy.
template <class Engine> inline constexpr bool is_quasi_random = false;
/// Whether its numbers are made in memory first.
template <class Engine> inline constexpr bool is_stored_engine = false;
/// An engine whose numbers are independent of each other.
template <class Engine>
concept independent_engine = random_engine<Engine> && !is_quasi_random<Engine>;

}  // namespace detail
}}  // namespace gpu::v1
