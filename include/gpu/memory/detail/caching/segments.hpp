#pragma once
/// \file
/// What both caching allocators decide and say about the segments that they get from the driver:
/// which options can be, how large a segment is, and what is held where there is no room for one.

#include <gpu/core/detail/last_error_mark.hpp>
#include <gpu/memory/detail/caching/state.hpp>

namespace gpu::inline v0::detail {

/// More than any device or host has, and still far from overflow when it is rounded up.
inline constexpr std::size_t most_segment_bytes = ~std::size_t{0} / 1024 * 512;

/// `errc::invalid_argument` for segments that nobody could give, and for a limit below one.
inline result<> check_caching_options(const caching_options& options, const char* function,
                                      source_location where) noexcept {
  const std::size_t segment = options.segment_bytes, limit = options.limit;
  const std::size_t least = segment < block_arena::unit ? block_arena::unit : segment;
  if (segment <= most_segment_bytes && (limit == 0 || limit >= least)) [[likely]]
    return {};
  text_builder out;
  if (segment > most_segment_bytes) {
    out << "segments of " << segment << " bytes are beyond " << most_segment_bytes
        << ", and no device has so many. Lower segment_bytes: what is larger gets a segment of "
           "its own.";
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, segment,
                        most_segment_bytes));
  }
  out << "the limit of " << limit << " bytes is below one segment of " << least
      << " bytes. Raise the limit, or lower segment_bytes.";
  return fail(refusal(errc::invalid_argument, function, out.finish(), where, limit, least));
}

/// How much to ask the driver for where `bytes` are wanted and a segment is to have `least`: what
/// the driver counts in, or all that the limit leaves. `held` is what the allocator has already.
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
      noted_error(cuda_error(error_domain::driver, CUDA_ERROR_OUT_OF_MEMORY, function, where)
                      .with_details(out.finish())
                      .with_values(bytes, limit)));
}

inline bool is_out_of_memory(const cuda_error& error) noexcept {
  return error.domain() == error_domain::driver && error.code() == CUDA_ERROR_OUT_OF_MEMORY;
}

/// Has `get(segment_bytes, memory)` ask the driver for a segment of `lane`, or for the `bytes`
/// alone where it has less than that, and takes a block of them at once, before another thread
/// does. Sets `segment_bytes` to what it got.
template <class Memory, class Block, class Get>
result<Block*> take_segment(block_arena& lane, std::size_t bytes, std::size_t& segment_bytes,
                            const char* function, source_location where, Get get) noexcept {
  Memory memory;
  const last_error_mark before;
  const result<> first = get(segment_bytes, memory);
  if (!first.has_value()) {
    if (segment_bytes == bytes || !is_out_of_memory(first.error())) return fail(first.error());
    before.restore();
    segment_bytes = bytes;
    GPU_TRY(get(segment_bytes, memory));
  }
  auto* segment = new (std::nothrow) cached_segment;
  Block* block = nullptr;
  if (segment != nullptr) {
    segment->address = std::uintptr_t(memory.get().address);  // a number or a pointer
    segment->bytes = segment_bytes;
    lane.lock.lock();
    block = lane.add_and_take(*segment, bytes);
    lane.lock.unlock();
  }
  if (block == nullptr) {
    delete segment;
    return fail(out_of_host_memory_error(function, block_arena::record_bytes, where));
  }
  static_cast<void>(memory.release());
  return block;
}

/// The error with what an allocator holds: numbers, and a map of its lanes' segments.
/// `for_each_lane(work)` does `work(arena, number)` for each.
template <class ForEachLane>
[[gnu::cold]] cuda_error with_map(cuda_error error, std::size_t held_bytes, std::size_t segments,
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
  if (lines_left < 0) out << "\n  (and more)";
  out << '\n';
  const std::uint64_t asked = error.asked(), limit = error.limit();
  return noted_error(detail::move(error).with_details(out.finish()).with_values(asked, limit));
}

}  // namespace gpu::inline v0::detail
