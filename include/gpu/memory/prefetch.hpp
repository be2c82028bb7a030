#pragma once
/// \file
/// `prefetch`, `advise` and `attach`: control where managed memory is, and what may access it.

#include <gpu/core/detail/enumerator_name.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/copy_request.hpp>
#include <gpu/memory/detail/element_owner.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/memory_location.hpp>
#include <gpu/memory/ranges.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 {

/// The kinds of advice for a range of managed memory; converts to `CUmem_advise` by cast.
enum class memory_advice : int {
  set_read_mostly = CU_MEM_ADVISE_SET_READ_MOSTLY,  ///< each reader gets its own copy
  unset_read_mostly = CU_MEM_ADVISE_UNSET_READ_MOSTLY,
  set_preferred_location = CU_MEM_ADVISE_SET_PREFERRED_LOCATION,  ///< pages stay there if they can
  unset_preferred_location = CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
  set_accessed_by = CU_MEM_ADVISE_SET_ACCESSED_BY,  ///< kept mapped there, wherever the pages are
  unset_accessed_by = CU_MEM_ADVISE_UNSET_ACCESSED_BY,
};

/// Returns the enumerator's name, such as "set_read_mostly"; null for an unknown value.
constexpr const char* name_of(memory_advice advice) noexcept {
  using enum memory_advice;
  return detail::find_name(advice, {{set_read_mostly, "set_read_mostly"},
                                    {unset_read_mostly, "unset_read_mostly"},
                                    {set_preferred_location, "set_preferred_location"},
                                    {unset_preferred_location, "unset_preferred_location"},
                                    {set_accessed_by, "set_accessed_by"},
                                    {unset_accessed_by, "unset_accessed_by"}});
}

namespace detail {

/// Fails with `errc::invalid_argument` if the advice does not go with the location.
inline result<> check_advice(memory_advice advice, const memory_location& location,
                             source_location where) noexcept {
  const bool needs_location = advice == memory_advice::set_preferred_location ||
                              advice == memory_advice::set_accessed_by ||
                              advice == memory_advice::unset_accessed_by;
  GPU_TRY(require_enumerator(advice, "memory_advice", "gpu::advise", where));
  const char* name = name_of(advice);
  text_builder out;
  if (needs_location && !location) {
    out << name << " needs a location. Pass a device or gpu::memory_location::host().";
  } else if (needs_location && advice != memory_advice::set_preferred_location &&
             location.type() != memory_location_type::device &&
             location.type() != memory_location_type::host) {
    out << name << " takes a device or the host as a whole, but " << location
        << " was given. Pass gpu::memory_location::host().";
  } else if (!needs_location && location) {
    out << name << " does not take a location, but " << location << " was given. Leave it out.";
  } else {
    return {};
  }
  return fail(refusal(errc::invalid_argument, "gpu::advise", out.finish(), where,
                      static_cast<std::uint64_t>(static_cast<int>(advice))));
}

inline constexpr launch_label prefetch_label{"a prefetch", -1};
inline constexpr launch_label attach_label{"an attachment of managed memory", -1};

/// Returns why a range is not managed memory, in a sentence that begins with `name`. Empty if no
/// reason can be found. (cuPointerGetAttributes)
inline text find_range_fault(const char* name, CUdeviceptr address, std::size_t bytes) noexcept {
  unsigned managed = 0;
  CUdeviceptr start = 0;
  std::size_t size = 0;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                  CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* values[] = {&managed, &start, &size};
  const result<> asked = driver::call<&driver::entry_points::pointer_get_attributes>(
      source_location{}, 3, wanted, values, address);
  if (!asked.has_value()) return {};
  const auto left = static_cast<std::size_t>(start + size - address);
  text_builder out;
  if (managed == 0) {
    out << name << " is not managed memory. Take it from a gpu::managed_buffer.";
  } else if (bytes > left) {
    out << name << " has " << bytes << " bytes, but its allocation ends after " << left
        << ". Pass a range inside one allocation.";
  }
  return out.finish();
}

/// Adds to the error of a call that names a range and a location which of the two is wrong.
inline result<> explain_range(result<> failed, const copy_end& range, std::size_t bytes,
                              const memory_location& at, source_location where) noexcept {
  // A new variable, because nvcc's front end crashes on an assignment to `failed`.
  result<> located = explain_location(std::move(failed), at, where);
  if (located.error().domain() != error_domain::driver ||
      located.error().code() != CUDA_ERROR_INVALID_VALUE) {
    return located;
  }
  text fault = find_range_fault("the range", range.device_address(), bytes);
  if (fault.empty()) return located;
  return fail(record_error(std::move(located).error().with_details(std::move(fault))));
}

inline result<> prefetch_on(const stream_ref& stream, const copy_end& range, std::size_t bytes,
                            const memory_location& to, source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::prefetch", where));
  if (!to) {
    text_builder out;
    out << "the location to prefetch to is empty. Pass a device or gpu::memory_location::host().";
    return fail(refusal(errc::invalid_argument, "gpu::prefetch", out.finish(), where));
  }
  GPU_TRY(require_owner("gpu::prefetch", "range", range, where));
  if (bytes == 0) return {};
  GPU_TRY(require_no_capture(stream, "gpu::prefetch",
                             "Prefetch before the capture begins, or before the graph is launched.",
                             where));
  result<> queued = on_stream(stream, where, [&] {
    return queue<&driver::entry_points::mem_prefetch_async>(stream, prefetch_label, where,
                                                            range.device_address(), bytes,
                                                            to.native(), 0u, stream.native());
  });
  if (queued.has_value()) return queued;
  return explain_range(std::move(queued), range, bytes, to, where);
}

}  // namespace detail

/// Queues moving the pages of `range` to a location, so that work queued later finds them there.
/// `range` is managed memory: a `managed_buffer`, or a `device_span` of a part of it. If the device
/// can access all host memory (`device_attribute::pageable_memory_access`), it may be any host
/// range. It may be empty.
/// **Ordering**: after the work already queued on `stream`, before work queued later. The host may
/// continue to read the range.
/// **Errors**: `errc::invalid_argument` for an empty location; `errc::index_out_of_range` for a
/// device that does not exist; the driver's CUDA_ERROR_INVALID_VALUE, with an explanation, for a
/// range that is not managed or goes past its allocation; CUDA_ERROR_INVALID_DEVICE for a device
/// without `concurrent_managed_access`; `errc::capture_prohibited` in a capture, which stays valid.
/// (cuStreamIsCapturing, cuMemPrefetchAsync)
template <class Range>
  requires(device_range<Range> || host_range<Range>)
result<> prefetch(stream_ref stream, Range&& range, memory_location to,
                  source_location where = source_location::current()) noexcept {
  const detail::copy_end end = detail::copy_end_of(range);
  std::size_t bytes = 0;
  GPU_TRY(detail::get_bytes("gpu::prefetch", end.count, sizeof(detail::element_t<Range>), bytes,
                            where));
  return detail::prefetch_on(stream, end, bytes, to, where);
}

/// Advises the driver how `range` will be used. Takes effect at once, for all pages that the range
/// touches. `location` is required for `set_preferred_location`, `set_accessed_by` and
/// `unset_accessed_by`, and not allowed for others.
/// **Errors**: `errc::invalid_argument` if the location is missing or not allowed; others as
/// `prefetch`.
/// **Capture**: not allowed. (cuMemAdvise)
template <class Range>
  requires(device_range<Range> || host_range<Range>)
result<> advise(Range&& range, memory_advice advice, memory_location location = {},
                source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::check_advice(advice, location, where));
  const detail::copy_end end = detail::copy_end_of(range);
  GPU_TRY(detail::require_owner("gpu::advise", "range", end, where));
  if (end.count == 0) return {};
  // Advice without a location ignores it, but the driver still requires a valid one.
  if (!location) location = memory_location::host();
  std::size_t bytes = 0;
  GPU_TRY(
      detail::get_bytes("gpu::advise", end.count, sizeof(detail::element_t<Range>), bytes, where));
  result<> advised = driver::call_in_any<&driver::entry_points::mem_advise>(
      where, end.device_address(), bytes, static_cast<CUmem_advise>(advice), location.native());
  if (advised.has_value()) return advised;
  return detail::explain_range(std::move(advised), end, bytes, location, where);
}

/// Queues a change of the streams that may access `buffer`. With `single`, the default, only work
/// of this stream may, so that the host may access it whenever this stream is idle, even if other
/// streams run work. Useful on devices without `concurrent_managed_access`.
/// **Ordering**: takes effect when the work queued on `stream` before it has finished.
/// **Errors**: `errc::invalid_argument` for `single` on a default stream; `errc::wrong_context`;
/// `errc::capture_prohibited` in a capture, which stays valid. (cuStreamIsCapturing,
/// cuStreamAttachMemAsync)
template <class T>
result<> attach(stream_ref stream, managed_buffer<T>& buffer,
                memory_attach attach = memory_attach::single,
                source_location where = source_location::current()) noexcept {
  GPU_TRY(detail::require(stream, "gpu::attach", where));
  GPU_TRY(detail::require(buffer.context(), "gpu::attach", where));
  GPU_TRY(detail::require_context("gpu::attach", stream, "buffer", buffer.context(), where));
  GPU_TRY(detail::require_enumerator(attach, "memory_attach", "gpu::attach", where));
  if (attach == memory_attach::single && detail::is_default_stream(stream.native())) {
    return detail::fail(
        detail::refusal(errc::invalid_argument, "gpu::attach",
                        text("memory cannot be attached to a default stream only. Create a "
                             "gpu::stream for it, or attach it as global."),
                        where, static_cast<unsigned>(attach)));
  }
  if (buffer.empty()) return {};
  GPU_TRY(detail::require_no_capture(stream, "gpu::attach", "Attach before the capture begins.",
                                     where));
  return detail::on_stream(stream, where, [&] {
    return detail::queue<&driver::entry_points::stream_attach_mem_async>(
        stream, detail::attach_label, where, stream.native(), buffer.native(), std::size_t{0},
        static_cast<unsigned>(attach));
  });
}

}}  // namespace gpu::v1
