#pragma once
/// \file
/// Batches for managed memory: prefetch many ranges, or discard their contents, with one call.

#include <gpu/core/detail/host_memory.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/batch.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/prefetch.hpp>
#include <gpu/memory/ranges.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 {

namespace detail {

struct managed_batch;

/// A range of a batch, and the location to move its pages to, if any.
struct managed_request {
  copy_end range;
  std::size_t element_size;
  memory_location to;
};

template <class Range>
managed_request managed_request_of(Range& range, const memory_location& to) noexcept {
  const copy_end end = copy_end_of(range);
  return {end, sizeof(element_t<Range>), to};
}

}  // namespace detail

/// One range of a batch, with the range of `prefetch`, and the location to move its pages to.
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

/// One range of a batch whose contents may be discarded. The location is for
/// `discard_and_prefetch`: the one that will write the pages next.
class range_discard {
 public:
  template <class Range>
    requires(device_range<Range> || host_range<Range>)
  range_discard(Range&& range, memory_location to = {}) noexcept
      : request_{detail::managed_request_of(range, to)} {
    static_assert(!std::is_const_v<detail::element_t<Range>>,
                  "the range's elements are const, and discarding changes them");
  }

 private:
  friend struct detail::managed_batch;

  detail::managed_request request_;
};

namespace detail {

/// The kind of a batch, in messages and in the records of launches.
struct managed_work {
  const char* function;
  const char* what;
  launch_label label;
  bool moves;  // pages to a location
};
inline constexpr managed_work prefetch_work{
    "gpu::prefetch", "prefetches", {"a batch of prefetches", -1}, true};
inline constexpr managed_work discard_work{
    "gpu::discard", "discards", {"a batch of discards", -1}, false};
inline constexpr managed_work discard_and_prefetch_work{
    "gpu::discard_and_prefetch", "discards", {"a batch of discards", -1}, true};

/// The arrays that the driver reads. Each location applies to the ranges from `first_ranges` on.
struct managed_arguments {
  CUdeviceptr* addresses;
  std::size_t* sizes;
  std::size_t count;
  CUmemLocation* locations;
  std::size_t* first_ranges;
  std::size_t location_count;
};

inline result<> queue_managed(const managed_work& work, const stream_ref& stream,
                              const managed_arguments& a, source_location where) noexcept {
  if (&work == &prefetch_work) {
    return queue<&driver::entry_points::mem_prefetch_batch_async>(
        stream, work.label, where, a.addresses, a.sizes, a.count, a.locations, a.first_ranges,
        a.location_count, 0ull, stream.native());
  }
  if (&work == &discard_work) {
    return queue<&driver::entry_points::mem_discard_batch_async>(
        stream, work.label, where, a.addresses, a.sizes, a.count, 0ull, stream.native());
  }
  return queue<&driver::entry_points::mem_discard_and_prefetch_batch_async>(
      stream, work.label, where, a.addresses, a.sizes, a.count, a.locations, a.first_ranges,
      a.location_count, 0ull, stream.native());
}

/// Fails with `errc::invalid_argument` if the location of a range is missing or not allowed.
inline result<> check_batch_location(const managed_work& work, const memory_location& to,
                                     std::size_t index, source_location where) noexcept {
  if (static_cast<bool>(to) == work.moves) return {};
  text_builder out;
  if (work.moves) {
    out << "range " << index
        << " has no location to prefetch to. Pass a device or gpu::memory_location::host().";
  } else {
    out << "range " << index << " has a location, " << to
        << ", but gpu::discard moves no pages. Leave it out, or call gpu::discard_and_prefetch.";
  }
  return fail(refusal(errc::invalid_argument, work.function, out.finish(), where, index));
}

/// Queues batches, with access to the requests of their ranges.
struct managed_batch {
  template <class Range>
  static result<> queue(const managed_work& work, const stream_ref& stream, const Range* ranges,
                        std::size_t count, source_location where) noexcept {
    GPU_TRY(require_batch_stream(stream, work.function, work.what, where));
    const scratch_array<CUdeviceptr> addresses(count);
    const scratch_array<std::size_t> sizes(2 * count);
    const scratch_array<CUmemLocation> locations(count);
    if (addresses.data == nullptr || sizes.data == nullptr || locations.data == nullptr) {
      return fail(out_of_host_memory_error(
          work.function, count * (3 * sizeof(std::size_t) + sizeof(CUmemLocation)), where));
    }
    managed_arguments arguments{addresses.data, sizes.data,         0,
                                locations.data, sizes.data + count, 0};
    memory_location last;
    for (std::size_t i = 0; i < count; ++i) {
      const managed_request& each = ranges[i].request_;
      GPU_TRY(require_owner(work.function, "range", each.range, where));
      GPU_TRY(check_batch_location(work, each.to, i, where));
      if (each.range.count == 0) continue;  // the driver does not accept empty ranges
      addresses.data[arguments.count] = each.range.device_address();
      GPU_TRY(get_bytes(work.function, each.range.count, each.element_size,
                        sizes.data[arguments.count], where));
      if (arguments.location_count == 0 || !(each.to == last)) {
        last = each.to;
        locations.data[arguments.location_count] = last.native();
        arguments.first_ranges[arguments.location_count++] = arguments.count;
      }
      ++arguments.count;
    }
    if (arguments.count == 0) return {};
    GPU_TRY(require_no_capture(
        stream, work.function,
        "Call it before the capture begins, or before the graph is launched.", where));
    result<> done = driver::in_context(stream.context().native(), where, [&] {
      return queue_managed(work, stream, arguments, where);
    });
    if (done.has_value() || done.error().code() != CUDA_ERROR_INVALID_VALUE) return done;
    return fail(record_error(std::move(done).error().with_details(find_fault(ranges, count))));
  }

 private:
  /// Returns why the driver rejected a batch, as far as that can be found out.
  template <class Range> static text find_fault(const Range* ranges, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      const managed_request& each = ranges[i].request_;
      if (each.range.count == 0) continue;
      text_builder name;
      name << "range " << i << " of " << count;
      text fault = find_range_fault(name.finish().c_str(), each.range.device_address(),
                                    each.range.count * each.element_size);
      if (!fault.empty()) return fault;
    }
    return text(
        "each range is managed memory. Pass locations that the system has, and check that all its "
        "devices have gpu::device_attribute::concurrent_managed_access.");
  }
};

}  // namespace detail

/// Queues moving the pages of many ranges, each to its own location, and returns:
///
///     GPU_TRY(gpu::prefetch(stream, {{x, device}, {y, gpu::memory_location::host()}}));
///
/// Ranges may be empty, and so may the list.
/// **Ordering**: after the work already queued on `stream`, before work queued later; the ranges in
/// any order. The host may continue to read them.
/// **Errors**: `errc::invalid_argument` for an empty location, and for the legacy default stream;
/// `errc::empty_handle` for a buffer that was moved from; `errc::capture_prohibited` in a capture,
/// which stays valid; `errc::out_of_host_memory`; `errc::not_supported` with a driver before CUDA
/// 13.0; the driver's CUDA_ERROR_INVALID_VALUE, which names the range that is not managed memory.
/// **Threads**: any. (cuStreamIsCapturing, cuMemPrefetchBatchAsync)
inline result<> prefetch(stream_ref stream, std::initializer_list<range_prefetch> ranges,
                         source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue(detail::prefetch_work, stream, ranges.begin(), ranges.size(),
                                      where);
}
/// Does the same for any contiguous range of them.
template <host_range Ranges>
  requires std::same_as<std::remove_cv_t<detail::host_element_t<const Ranges>>, range_prefetch>
result<> prefetch(stream_ref stream, const Ranges& ranges,
                  source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue(detail::prefetch_work, stream, detail::data_of(ranges),
                                      detail::size_of(ranges), where);
}

/// Queues discarding the contents of ranges, so that their pages need not be moved before they are
/// written again:
///
///     GPU_TRY(gpu::discard(stream, {x, y.span().first(n)}));
///
/// The elements have undefined values until they are written. Memory and addresses stay.
/// **Ordering**: as `prefetch`; nothing else may access the ranges at the same time.
/// **Errors**: those of `prefetch`; `errc::invalid_argument` for a range with a location.
/// (cuStreamIsCapturing, cuMemDiscardBatchAsync)
inline result<> discard(stream_ref stream, std::initializer_list<range_discard> ranges,
                        source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue(detail::discard_work, stream, ranges.begin(), ranges.size(),
                                      where);
}
template <host_range Ranges>
  requires std::same_as<std::remove_cv_t<detail::host_element_t<const Ranges>>, range_discard>
result<> discard(stream_ref stream, const Ranges& ranges,
                 source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue(detail::discard_work, stream, detail::data_of(ranges),
                                      detail::size_of(ranges), where);
}

/// Queues the effect of `discard` and then `prefetch`, at lower cost: the pages are at the
/// locations where work that is queued next writes them.
/// **Ordering**, **Errors**: as `discard`, but each range has a location. (cuStreamIsCapturing,
/// cuMemDiscardAndPrefetchBatchAsync)
inline result<> discard_and_prefetch(stream_ref stream, std::initializer_list<range_discard> ranges,
                                     source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue(detail::discard_and_prefetch_work, stream, ranges.begin(),
                                      ranges.size(), where);
}
template <host_range Ranges>
  requires std::same_as<std::remove_cv_t<detail::host_element_t<const Ranges>>, range_discard>
result<> discard_and_prefetch(stream_ref stream, const Ranges& ranges,
                              source_location where = source_location::current()) noexcept {
  return detail::managed_batch::queue(detail::discard_and_prefetch_work, stream,
                                      detail::data_of(ranges), detail::size_of(ranges), where);
}

}}  // namespace gpu::v1
