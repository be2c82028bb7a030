#pragma once
/// \file
/// `device_philox`: a Philox engine whose place is in device memory, so that each launch of a graph
/// draws new numbers.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/random/engines.hpp>
#include <gpu/random/random_numbers.hpp>

#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// A `philox` that counts on the device. Functions such as `gpu::normal` take it like another
/// engine, but nothing is reserved when they are called: the numbers begin where the engine is when
/// they are computed, and a second, small kernel moves it on by whole blocks of four. So a graph
/// into which `assign` was captured goes on with each launch. Move-only; must live as long as work
/// and graphs that use it.
/// **Threads**: work on one engine is ordered by its stream: use an engine for each stream.
class device_philox {
 public:
  /// Makes an engine at the place of `engine`, or at the end of the block of four numbers in which
  /// it is.
  /// **Ordering**: after the work queued on the stream; does not wait. **Errors**:
  /// `errc::invalid_argument` for an engine whose sequence is not less than `philox::sequences` or
  /// whose numbers are used up; those of `gpu::full`. **Capture**: not allowed.
  static result<device_philox> create(const stream_ref& stream, const philox& engine,
                                      source_location where = source_location::current()) {
    text reason = kernel_argument<philox>::refusal(engine);
    if (!reason.empty()) {
      return detail::fail(detail::refusal(errc::invalid_argument, "gpu::device_philox::create",
                                          std::move(reason), where));
    }
    const std::uint64_t block = engine.offset() / 4 + (engine.offset() % 4 != 0 ? 1 : 0);
    auto blocks = GPU_TRY((gpu::full<std::uint64_t>(stream, shape<1>{1}, block, where)));
    return device_philox(std::move(blocks), engine);
  }

  std::uint64_t seed() const noexcept { return start_.seed(); }
  std::uint64_t sequence() const noexcept { return start_.sequence(); }

  /// Returns an engine of the host at the place where this one is now. This one may go on behind
  /// the 2^64 numbers that an engine of the host has, with numbers that no other one has; then the
  /// engine that is returned is used up.
  /// **Ordering**: waits for the stream. **Errors**: `errc::empty_handle` after a move.
  /// **Capture**: not allowed.
  result<philox> position(const stream_ref& stream,
                          source_location where = source_location::current()) const {
    const std::uint64_t block = GPU_TRY(gpu::item(stream, blocks_, where));
    philox here(seed(), sequence());
    for (int number = 0; number < 4; ++number) here.skip(block);
    return here;
  }

 private:
  friend detail::random_access;
  device_philox(array<std::uint64_t>&& blocks, const philox& start) noexcept
      : blocks_{std::move(blocks)}, start_{start} {}

  array<std::uint64_t> blocks_;  ///< one number: of blocks that are used
  philox start_;
};

namespace detail {

template <> inline constexpr bool is_engine<device_philox> = true;
template <> inline constexpr bool counts_on_device<device_philox> = true;

}  // namespace detail
}}  // namespace gpu::v1
