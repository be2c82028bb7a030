#pragma once
/// \file
/// Batches for managed memory: many ranges prefetched, or their contents given up, by one call.

#include <gpu/memory/detail/batch.hpp>
#include <gpu/memory/prefetch.hpp>

#include <initializer_list>

namespace gpu::inline v0 {

namespace detail {

struct managed_batch;

/// A range of a batch, and where its pages go, if anywhere.
struct managed_request {
  copy_end range;
  std::size_t bytes;
  memory_location to;
};

template <class Range>
managed_request managed_request_of(Range& range, const memory_location& to) noexcept {
  const copy_end end = copy_end_of(range);
  return {end, end.count * sizeof(element_t<Range>), to};
}

}  // namespace detail

/// One range of a batch, and the location that its pages move to. `range` is what `prefetch` takes.
class range_prefetch {
 public:
  template <class Range>
    requires(device_range<Range> || host_range<Range>)
  range_prefetch(Range&& range, memory_location to) noexcept
      : request_{detail::managed_request_of(range, to)} {}

 private:
  friend struct detail::managed_batch;

  detail::managed_request request_;
};

/// One range of a batch whose contents nobody needs any more. The location is for
/// `discard_and_prefetch`: where its pages are going to be written.
class range_discard {
 public:
  template <class Range>
    requires(device_range<Range> || host_range<Range>)
  range_discard(Range&& range, memory_location to = {}) noexcept
      : request_{detail::managed_request_of(range, to)} {
    static_assert(!detail::is_const<detail::element_t<Range>>,
                  "the range's elements are const, and to discard them is to change them");
  }

 private:
  friend struct detail::managed_batch;

  detail::managed_request request_;
};

namespace detail {

/// The driver function of a batch, and what is said of it.
template <auto Member> struct managed_work;
template <> struct managed_work<&driver::entry_points::mem_prefetch_batch_async> {
  static constexpr const char* function = "gpu::prefetch";
  static constexpr const char* what = "prefetches";
  static constexpr launch_label label{"a batch of prefetches", -1};
  static constexpr bool moves = true;
};
template <> struct managed_work<&driver::entry_points::mem_discard_batch_async> {
  static constexpr const char* function = "gpu::discard";
  static constexpr const char* what = "discards";
  static constexpr launch_label label{"a batch of discards", -1};
  static constexpr bool moves = false;
};
template <> struct managed_work<&driver::entry_points::mem_discard_and_prefetch_batch_async> {
  static constexpr const char* function = "gpu::discard_and_prefetch";
  static constexpr const char* what = "discards";
  static constexpr launch_label label{"a batch of discards", -1};
  static constexpr bool moves = true;
};

/// The way of batches to what their ranges hold.
struct managed_batch {
  template <auto Member, class Range>
  static result<> queue(const stream_ref& stream, const Range* ranges, std::size_t count,
                        source_location where) noexcept {
    using work = managed_work<Member>;
    GPU_TRY(require_batch_stream(stream, work::function, work::what, where));
    const scratch_array<CUdeviceptr> addresses(count);
    const scratch_array<std::size_t> sizes(2 * count);
    const scratch_array<CUmemLocation> locations(count);
    if (addresses.data == nullptr || sizes.data == nullptr || locations.data == nullptr) {
      return fail(no_room_error(work::function,
                                count * (3 * sizeof(std::size_t) + sizeof(CUmemLocation)), where));
    }
    std::size_t* const first_ranges = sizes.data + count;  // that the locations apply to
    std::size_t used = 0, places = 0;
    memory_location last;
    for (std::size_t i = 0; i < count; ++i) {
      const managed_request& each = ranges[i].request_;
      GPU_TRY(require_owner(work::function, "range", each.range, where));
      GPU_TRY(check_location<work::moves>(each.to, i, work::function, where));
      if (each.bytes == 0) continue;  // which the driver does not take
      addresses.data[used] = each.range.device_address();
      sizes.data[used] = each.bytes;
      if (places == 0 || !(each.to == last)) {
        last = each.to;
        locations.data[places] = last.native();
        first_ranges[places++] = used;
      }
      ++used;
    }
    if (used == 0) return {};
    GPU_TRY(require_no_capture(
        stream, work::function,
        "Call it before the capture begins, or before the graph is launched.", where));
    result<> done = driver::in_context(stream.context().native(), where, [&] {
      if constexpr (work::moves) {
        return detail::queue<Member>(stream, work::label, where, addresses.data, sizes.data, used,
                                     locations.data, first_ranges, places, 0ull, stream.native());
      } else {
        return detail::queue<Member>(stream, work::label, where, addresses.data, sizes.data, used,
                                     0ull, stream.native());
      }
    });
    if (done.has_value() || done.error().code() != CUDA_ERROR_INVALID_VALUE) return done;
    return fail(noted_error(detail::move(done).error().with_details(explain(ranges, count))));
  }

 private:
  /// `errc::invalid_argument` where a location is missing or too much.
  template <bool Wanted>
  static result<> check_location(const memory_location& to, std::size_t index, const char* function,
                                 source_location where) noexcept {
    if (static_cast<bool>(to) == Wanted) return {};
    text_builder out;
    if (Wanted) {
      out << "range " << index
          << " has no location to prefetch to. Pass a device or gpu::memory_location::host().";
    } else {
      out << "range " << index << " has a location, " << to
          << ", but is not going to be moved. Leave it out, or call gpu::discard_and_prefetch.";
    }
    return fail(refusal(errc::invalid_argument, function, out.finish(), where, index));
  }

  /// What is wrong with a batch that the driver did not take, as far as can be found out.
  template <class Range> static text explain(const Range* ranges, std::size_t count) noexcept {
    text_builder out;
    for (std::size_t i = 0; i < count; ++i) {
      const managed_request& each = ranges[i].request_;
      if (each.bytes == 0) continue;
      const auto write_name = [&](text_builder& to) { to << "range " << i << " of " << count; };
      if (write_range_fault(out, each.range.device_address(), each.bytes, write_name))
        return out.finish();
    }
    out << "each range is managed memory. Pass locations that the system has, and see that all "
           "its devices have gpu::device_attribute::concurrent_managed_access.";
    return out.finish();
  }
};

}  // namespace detail

/// Queues moving the pages of many ranges, each to a location of its own, and returns:
///
///     GPU_TRY(gpu::prefetch(stream, {{x, device}, {y, gpu::memory_location::host()}}));
///
/// Ranges without elements are fine, and so is a list without ranges.
/// **Ordering**: the batch after what was queued on `stream`, before what will be; its ranges in no
/// order. The host may go on reading.
/// **Errors**: `errc::invalid_argument` without a location, and for the legacy default stream;
/// `errc::empty_handle` for a buffer that was moved from; `errc::capture_prohibited` in a capture,
/// which goes on unharmed; `errc::out_of_host_memory`; `errc::not_supported` before CUDA 13.0's
/// driver; the driver's CUDA_ERROR_INVALID_VALUE, which says which range is not managed memory.
/// **Threads**: any. (cuStreamIsCapturing, cuMemPrefetchBatchAsync)
inline result<> prefetch(stream_ref stream, std::initializer_list<range_prefetch> ranges,
                         source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue<&driver::entry_points::mem_prefetch_batch_async>(
      stream, ranges.begin(), ranges.size(), where);
}
/// The same for any contiguous range of them.
template <host_range Ranges>
  requires detail::same<detail::remove_cv_t<detail::host_element_t<const Ranges>>, range_prefetch>
result<> prefetch(stream_ref stream, const Ranges& ranges,
                  source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue<&driver::entry_points::mem_prefetch_batch_async>(
      stream, detail::data_of(ranges), detail::size_of(ranges), where);
}

/// Queues giving up the contents of ranges, so that their pages need not be moved before they are
/// written again:
///
///     GPU_TRY(gpu::discard(stream, {x, y.span().first(n)}));
///
/// What is in them is undefined until it is written; memory and addresses stay.
/// **Ordering**: as `prefetch`; nothing else may touch the ranges at the same time.
/// **Errors**: those of `prefetch`; `errc::invalid_argument` for a range with a location.
/// (cuStreamIsCapturing, cuMemDiscardBatchAsync)
inline result<> discard(stream_ref stream, std::initializer_list<range_discard> ranges,
                        source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue<&driver::entry_points::mem_discard_batch_async>(
      stream, ranges.begin(), ranges.size(), where);
}
template <host_range Ranges>
  requires detail::same<detail::remove_cv_t<detail::host_element_t<const Ranges>>, range_discard>
result<> discard(stream_ref stream, const Ranges& ranges,
                 source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue<&driver::entry_points::mem_discard_batch_async>(
      stream, detail::data_of(ranges), detail::size_of(ranges), where);
}

/// Queues what `discard` and then `prefetch` would, for less: the pages are at their locations,
/// where what is queued next writes them.
/// **Ordering**, **Errors**: as `discard`, but each range has a location.
/// (cuStreamIsCapturing, cuMemDiscardAndPrefetchBatchAsync)
inline result<> discard_and_prefetch(stream_ref stream, std::initializer_list<range_discard> ranges,
                                     source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue<&driver::entry_points::mem_discard_and_prefetch_batch_async>(
      stream, ranges.begin(), ranges.size(), where);
}
template <host_range Ranges>
  requires detail::same<detail::remove_cv_t<detail::host_element_t<const Ranges>>, range_discard>
result<> discard_and_prefetch(stream_ref stream, const Ranges& ranges,
                              source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue<&driver::entry_points::mem_discard_and_prefetch_batch_async>(
      stream, detail::data_of(ranges), detail::size_of(ranges), where);
}

}  // namespace gpu::inline v0
