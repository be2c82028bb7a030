#pragma once
/// \file
/// `random_request`: which numbers are asked for, of which engine.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/random/detail/engine_position.hpp>
#include <gpu/random/detail/random_distribution.hpp>
#include <gpu/random/detail/random_element.hpp>

#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

enum class engine_kind : unsigned char {
  philox,
  philox_in_memory,
  xorwow,
  mrg32k3a,
  mt19937,
  sobol32,
  sobol64
};

/// The engine and the position from which a call takes its numbers.
struct random_source {
  engine_kind kind;
  engine_position position;  ///< its offset is where the call's numbers begin
  const char* name;
  std::uint64_t sequences;  ///< that the engine has
  copy_end place = {};      ///< a position in memory, tables of Sobol, or numbers
  copy_end shifts = {};     ///< for each dimension of them

  constexpr bool counts() const noexcept {
    return kind == engine_kind::philox || kind == engine_kind::philox_in_memory;
  }
  constexpr bool is_quasi_random() const noexcept {
    return kind == engine_kind::sobol32 || kind == engine_kind::sobol64;
  }
  /// Whether each element is made of numbers that another kernel makes first.
  constexpr bool is_stored() const noexcept { return kind == engine_kind::mt19937; }
  const char* word_type() const noexcept {
    return kind == engine_kind::sobol32 ? "unsigned" : "unsigned long long";
  }
};

/// Sequences of an engine that does not count from which the numbers of a fill come in turns: as in
/// cuRAND's legacy order, which depends on no device.
inline constexpr std::uint64_t interleaved_sequences = 4096;

/// Numbers of Philox after which the orders of doubles and of others meet: two blocks of four from
/// each of 65,536 sequences.
inline constexpr std::uint64_t numbers_of_both_orders = std::uint64_t{1} << 19;

/// The most elements for which numbers can be reserved, more than a memory has. Of up to eight
/// numbers each, they are less than 2^64.
inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 60;

/// A request for `count` elements of a type.
struct random_request {
  random_distribution distribution;
  random_element element;
  random_source source;
  std::uint64_t count;
  std::uint64_t used = 0;  ///< numbers of 32 bits that were reserved

  constexpr const random_recipe& recipe() const noexcept { return recipe_of(distribution.kind); }

  /// Returns how many numbers of 32 bits make an element.
  constexpr unsigned words() const noexcept {
    // MRG32k3a and MT19937 make a double of one number, as in cuRAND.
    const bool of_one = source.kind == engine_kind::mrg32k3a || source.is_stored();
    const unsigned for_double = of_one ? 1 : 2;
    switch (distribution.kind) {
      case random_kind::bits: return element.type.bytes == 8 ? 2 : 1;
      case random_kind::integers: return distribution.count - 1 > 0xffff'fffe ? 2 : 1;
      case random_kind::bernoulli:
      case random_kind::poisson: return 1;
      case random_kind::discrete: return for_double;
      default: return element.is_double() ? for_double : 1;
    }
  }
  /// Whether all elements are Poisson numbers of one mean that a table serves.
  bool is_tabulated() const noexcept {
    return distribution.kind == random_kind::poisson && !distribution.has_means &&
           distribution.a < 64 && !source.is_quasi_random();
  }
  /// Returns whether the elements are doubles, which Philox makes in an order of their own.
  constexpr bool in_order_of_doubles() const noexcept {
    return element.is_double() && source.counts() && !recipe().draws_until_accepted &&
           distribution.kind != random_kind::discrete &&
           distribution.kind != random_kind::bernoulli;
  }
  /// Returns whether an engine other than Philox starts a sequence for each element.
  bool seeds_sequences() const noexcept {
    return recipe().draws_until_accepted || distribution.kind == random_kind::integers;
  }
  /// Returns how many numbers an engine that does not count uses for an element, or for a pair.
  unsigned words_of_unit() const noexcept {
    if (source.is_stored()) return seeds_sequences() ? 2 : words();
    if (recipe().draws_until_accepted) return 2;
    return words() * (recipe().in_pairs ? 2 : 1) + (seeds_sequences() ? 2 : 0);
  }
  /// Whether a thread takes a row of elements, since the engine does not find each number by
  /// itself.
  bool takes_rows() const noexcept { return !source.counts() && !source.is_quasi_random(); }
  std::uint64_t units() const noexcept { return recipe().in_pairs ? (count - 1) / 2 + 1 : count; }

  /// Takes the numbers from an engine.
  void reserve_from(engine_position& engine) noexcept {
    source.position = engine;
    if (count == 0) return;
    if (count > most_elements) {
      engine.exhaust();
    } else if (source.is_quasi_random()) {
      // An engine that was moved from has no dimensions; its empty memory is refused later.
      used = source.shifts.count == 0 ? 0 : count / source.shifts.count;
    } else if (source.counts()) {
      std::uint64_t elements = recipe().in_pairs ? units() * 2 : count;
      const std::uint64_t axes = distribution.count;
      if (distribution.kind == random_kind::on_sphere && axes != 0)
        elements = count / axes * (axes + axes % 2);
      used = elements * (recipe().draws_until_accepted ? 1 : words());
      if (in_order_of_doubles()) {
        // Whole ranges in which both orders have the same numbers, so that no number comes twice.
        const std::uint64_t partial = engine.offset % numbers_of_both_orders;
        if (partial != 0) engine.reserve(numbers_of_both_orders - partial);
        used = ((used - 1) / numbers_of_both_orders + 1) * numbers_of_both_orders;
      }
    } else if (source.is_stored()) {
      engine.reserve(engine.offset % words_of_unit());
      used = count * words_of_unit();
    } else if (words_of_unit() == 1) {
      used = count;
    } else {
      const std::uint64_t partial = engine.offset % interleaved_sequences;
      if (partial != 0) engine.reserve(interleaved_sequences - partial);
      used = ((units() - 1) / interleaved_sequences + 1) * words_of_unit() * interleaved_sequences;
    }
    source.position.offset = engine.reserve(used);
    source.position.exhausted = engine.exhausted;
  }
};

/// Fails for an engine that has too few sequences or numbers.
inline result<> check_source(const random_request& request, source_location where) noexcept {
  const random_source& source = request.source;
  text_builder out;
  if (source.is_quasi_random()) {
    const std::uint64_t dimensions = source.shifts.count, points = request.used;
    const std::uint64_t end = source.position.offset + points;
    if (dimensions != 0 && request.count % dimensions != 0) {
      out << request.count << " elements are not a whole number of points in " << dimensions
          << " dimensions. Ask for numbers in the shape of dimensions by points.";
    } else if (source.position.exhausted ||
               (source.kind == engine_kind::sobol32 && end > std::uint64_t{1} << 32)) {
      out << "the sequence has 2^" << (source.kind == engine_kind::sobol32 ? 32 : 64)
          << " points, of which " << source.position.offset << " are used and " << points
          << " were asked for. Use gpu::sobol64, or start again with another scrambling.";
    } else {
      return {};
    }
  } else {
    if (source.position.is_usable(source.sequences)) return {};
    out << describe_unusable(source.name, source.sequences, source.position);
  }
  return fail(refusal(errc::invalid_argument, request.recipe().function, out.finish(), where));
}

}}}  // namespace gpu::v1::detail
