#pragma once
/// \file
/// `mt19937`: the Mersenne Twister, in cuRAND's order.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/sequence.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random/detail/engine_position.hpp>
#include <gpu/random/detail/mt19937_jumps.hpp>
#include <gpu/random/detail/mt19937_kernel.hpp>
#include <gpu/random/engines.hpp>
#include <gpu/random/random_numbers.hpp>

#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// MT19937 of Matsumoto and Nishimura, for those who have to reproduce old results: bits, uniform
/// and normal numbers are those of cuRAND's `CURAND_RNG_PSEUDO_MT19937` for the host in its default
/// order, for the same seed; on a device cuRAND rounds some floats otherwise in the last place.
/// There 8,192 generators take turns, each with eight numbers, which are 2^2048 numbers apart in
/// one sequence: that of `std::mt19937` with the lowest 32 bits of the seed. The first number is
/// the first of `std::mt19937`; the others come in another order.
///
/// Like other engines it reserves numbers, which are then a value. It keeps 22 MB in device memory:
/// the numbers that each generator made last. Numbers behind them are made of these, others anew
/// from the seed. Must live as long as work and graphs that use it. Move-only.
/// **Threads**: work on one engine is ordered by its stream: use an engine for each stream.
/// **Cost**: the first engine of a process computes polynomials, which all share: 0.3 s in a build
/// without optimization.
class mt19937 {
 public:
  static constexpr const char* name = "mt19937";
  static constexpr std::uint64_t sequences = 1;

  /// Makes the engine behind its first `offset` numbers.
  /// **Ordering**: waits for the stream. **Errors**: `errc::out_of_host_memory`; those of
  /// `device_buffer::create`. **Capture**: not allowed.
  static result<mt19937> create(const stream_ref& stream, std::uint64_t seed,
                                std::uint64_t offset = 0,
                                source_location where = source_location::current()) {
    return create_at(stream, {seed, 0, offset}, where);
  }

  /// Makes the engine again of what `to_text` returned.
  /// **Errors**: `errc::invalid_argument` for a text that is not one of this kind of engine; those
  /// of `create`.
  static result<mt19937> from_text(const stream_ref& stream, string_ref written,
                                   source_location where = source_location::current()) {
    return create_at(stream, GPU_TRY(detail::read_position(name, written, where)), where);
  }
  /// Returns the engine as text, such as "mt19937 42 0 1000": seed, 0, and how many numbers are
  /// used.
  text to_text() const noexcept { return detail::write_position(name, position_); }

  std::uint64_t seed() const noexcept { return position_.seed; }
  /// Returns how many numbers of 32 bits are used.
  std::uint64_t offset() const noexcept { return position_.offset; }
  /// Skips `count` numbers of 32 bits. **Cost**: an addition here. The generators that the next
  /// numbers come from are moved there: by up to 1,023 states, 5,111,808 numbers each, step by
  /// step, and farther by up to 32 products of polynomials.
  void skip(std::uint64_t count) noexcept { position_.reserve(count); }

 private:
  friend detail::engine_access;
  friend detail::random_access;

  mt19937(array<std::uint32_t>&& memory, const detail::engine_position& position) noexcept
      : memory_{std::move(memory)}, position_{position} {}

  static result<mt19937> create_at(const stream_ref& stream,
                                   const detail::engine_position& position, source_location where) {
    return detail::catch_bad_alloc("gpu::mt19937::create", where, [&]() -> result<mt19937> {
      const detail::mt19937_polynomials* const polynomials = detail::find_mt19937_polynomials();
      if (polynomials == nullptr) {
        return detail::fail(detail::out_of_host_memory_error(
            "gpu::mt19937::create", sizeof(detail::mt19937_polynomials), where));
      }
      sequence<std::uint32_t> head(detail::mt19937_head_words);  // no generator has numbers
      detail::write_mt19937_state(head.begin(), static_cast<std::uint32_t>(position.seed));
      __builtin_memcpy(head.begin() + detail::mt19937_words, polynomials, sizeof *polynomials);
      auto memory = GPU_TRY((gpu::empty<std::uint32_t>(
          stream,
          gpu::shape<1>{detail::mt19937_head_words + detail::mt19937_range +
                        detail::mt19937_few_words},
          where)));
      detail::copy_end begin = detail::copy_end_of(memory);
      begin.count = detail::mt19937_head_words;
      GPU_TRY(detail::upload(stream, head.begin(), begin, sizeof(std::uint32_t), where));
      return mt19937(std::move(memory), position);
    });
  }

  array<std::uint32_t> memory_;
  detail::engine_position position_;
};

namespace detail {

template <> inline constexpr bool is_engine<mt19937> = true;
template <> inline constexpr bool is_stored_engine<mt19937> = true;

}  // namespace detail
}}  // namespace gpu::v1
