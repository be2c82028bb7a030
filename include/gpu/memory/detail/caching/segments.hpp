#pragma once
/// \file
/// The parts of both caching allocators that deal with segments: the checks of their options, the
/// size of a new segment, and the error if it does not fit.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/memory/caching_options.hpp>
#include <gpu/memory/detail/caching/block_arena.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// More than any device or host has, but small enough to be rounded up without overflow.
inline constexpr std::size_t most_segment_bytes = ~std::size_t{0} / 1024 * 512;

/// Returns `errc::invalid_argument` for segments that are too large for any device, and for a limit
/// below one segment.
inline result<> check_caching_options(const caching_options& options, const char* function,
                                      source_location where) noexcept {
  const std::size_t segment = options.segment_bytes, limit = options.limit;
  const std::size_t least = segment < block_arena::unit ? block_arena::unit : segment;
  if (segment <= most_segment_bytes && (limit == 0 || limit >= least)) return {};
  text_builder out;
  if (segment > most_segment_bytes) {
    out << "segment_bytes is " << segment << "; it must be at most " << most_segment_bytes
        << ". Lower it: larger allocations get a segment of their own.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, segment,
                        most_segment_bytes));
  }
  out << "the limit of " << limit << " bytes is less than one segment of " << least
      << " bytes. Raise the limit, or lower segment_bytes.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, limit, least));
}

/// Returns the size of a new segment for `bytes`: at least `least`, rounded up to the driver's
/// granularity, but at most what the limit leaves. `held` is what the allocator holds already.
inline result<std::size_t> choose_segment(const caching_options& options, std::size_t held,
                                          std::size_t least, std::size_t bytes,
                                          const char* function, source_location where) noexcept {
  constexpr std::size_t unit = std::size_t{2} << 20;
  const std::size_t wanted = ((bytes > least ? bytes : least) + unit - 1) / unit * unit;
  const std::size_t limit = options.limit;
  if (limit == 0) return wanted;
  const std::size_t left =
      limit > held ? (limit - held) / block_arena::unit * block_arena::unit : 0;
  if (bytes <= left) return wanted < left ? wanted : left;
  text_builder out;
  out << "asked for " << bytes << " bytes; the limit of this allocator is " << limit
      << " bytes, of which " << held << " are held";
  return fail(
      record_error(cuda_error(error_domain::driver, CUDA_ERROR_OUT_OF_MEMORY, function, where)
                       .with_details(out.finish())
                       .with_values(bytes, limit)));
}

/// Draws each segment of an arena on a line: its size, and which parts of it are in use ('#'),
/// partly in use ('+') or free ('.'). Makes `lines_left` negative if there are more segments than
/// lines.
inline void draw_segments(text_builder& out, const block_arena& arena, int& lines_left) {
  constexpr std::size_t columns = 32;
  for (const cached_segment* each = arena.segments(); each != nullptr; each = each->next) {
    if (lines_left-- <= 0) return;
    const std::size_t column = each->bytes / columns;  // exact: sizes are multiples of 512
    std::size_t used[columns] = {};
    for (const cached_block* block = each->first; block != nullptr; block = block->after) {
      if (block->free) continue;
      const std::size_t begin = block->address - each->address;
      const std::size_t end = begin + block->bytes;
      for (std::size_t i = 0; i < columns; ++i) {
        const std::size_t from = column * i, to = from + column;
        if (begin < to && from < end)
          used[i] += (end < to ? end : to) - (begin > from ? begin : from);
      }
    }
    out << "\n    " << each->bytes << " bytes [";
    for (std::size_t i = 0; i < columns; ++i) {
      out << (used[i] == 0 ? '.' : used[i] == column ? '#' : '+');
    }
    out << ']';
  }
}

/// Adds to an out-of-memory error what the allocator holds: numbers, and a map of the segments.
/// `for_each_lane(work)` calls `work(arena, number)` for each lane.
template <class ForEachLane>
cuda_error explain_held_memory(cuda_error error, std::size_t held_bytes, std::size_t segments,
                               const char* lane_name, ForEachLane for_each_lane) noexcept {
  arena_statistics sum;
  for_each_lane([&](block_arena& lane, unsigned long long) { sum.add(lane.statistics()); });
  text_builder out;
  out << error.details() << "; the allocator holds " << held_bytes << " bytes in " << segments
      << " segments, with " << sum.used_bytes << " of them in " << sum.used_blocks
      << " buffers and the rest in " << sum.free_blocks << " free blocks";
  int lines_left = 24;
  for_each_lane([&](block_arena& lane, unsigned long long number) {
    if (lane.segments() == nullptr) return;
    if (lines_left > 0) out << "\n  " << lane_name << ' ' << number << ':';
    draw_segments(out, lane, lines_left);
  });
  if (lines_left < 0) out << "\n  (and more segments)";
  out << '\n';
  const std::uint64_t asked = error.asked(), limit = error.limit();
  return record_error(std::move(error).with_details(out.finish()).with_values(asked, limit));
}

}}}  // namespace gpu::v1::detail
