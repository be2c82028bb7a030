#pragma once
/// \file
/// Queues and runs copies of contiguous elements, once the types of the arguments are checked.

#include <gpu/core/detail/size_product.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/launch_ring.hpp>
#include <gpu/driver/detail/primary_context.hpp>
#include <gpu/driver/detail/queued_call.hpp>
#include <gpu/driver/detail/refusals.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/element_owner.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

/// One end of a copy.
struct copy_end {
  std::uintptr_t address = 0;
  std::size_t count = 0;
  bool on_device = false;
  bool needs_context = false;  // an owner, which has one until it is moved from
  context_ref context;         // empty if it is not known, and for host memory

  bool moved_from() const noexcept { return needs_context && !context; }

  CUdeviceptr device_address() const noexcept { return static_cast<CUdeviceptr>(address); }
  void* host_address() const noexcept { return reinterpret_cast<void*>(address); }
};

/// Not a stream. Excludes asynchronous copies from the overloads of blocking ones.
template <class Source>
concept no_stream = !std::is_convertible_v<Source, stream_ref>;

/// Fails with `errc::empty_handle` if the owner of a range was moved from.
inline result<> require_owner(const char* function, const char* what, const copy_end& end,
                              source_location where) noexcept {
  if (!end.moved_from()) return {};
  return fail(empty_handle_error(function, what, where));
}

inline result<> require_owners(const copy_end& source, const copy_end& destination,
                               source_location where) noexcept {
  GPU_TRY(require_owner("gpu::copy", "source", source, where));
  return require_owner("gpu::copy", "destination", destination, where);
}

/// Fails with `errc::size_mismatch` unless both ends have the same number of elements.
inline result<> require_same_size(const copy_end& source, const copy_end& destination,
                                  source_location where) noexcept {
  if (source.count == destination.count) return {};
  text_builder out;
  out << "the source has " << source.count << " elements, but the destination has "
      << destination.count << ". Copy ranges of the same length: take first("
      << (source.count < destination.count ? source.count : destination.count)
      << ") of the longer one.";
  return fail(refusal(errc::size_mismatch, "gpu::copy", out.finish(), where, source.count,
                      destination.count));
}

/// Fails with `errc::wrong_context` if `range` is known to belong to another context than `stream`.
inline result<> require_context(const char* function, const stream_ref& stream, const char* what,
                                context_ref range, source_location where) noexcept {
  if (!range || range == stream.context()) return {};
  return fail(wrong_context_error(function, "stream", stream.device().native(), what,
                                  range.device().native(), where));
}

/// Fails with `errc::wrong_context` if an end is known to belong to another context than the
/// stream. If both contexts are known, it is enough that one of them is the stream's.
inline result<> require_contexts(const stream_ref& stream, context_ref source,
                                 context_ref destination, source_location where) noexcept {
  const context_ref own = stream.context();
  if (source && destination && (source == own || destination == own)) return {};
  GPU_TRY(require_context("gpu::copy", stream, "source", source, where));
  return require_context("gpu::copy", stream, "destination", destination, where);
}

/// Sets `peers` if a copy has to use the driver's peer functions: its ends belong to different
/// contexts, and the stream is not being captured (a capture takes it as an ordinary copy only).
inline result<> find_peers(const stream_ref& stream, context_ref source, context_ref destination,
                           bool& peers, source_location where) noexcept {
  GPU_TRY(require_contexts(stream, source, destination, where));
  if (!source || !destination || source == destination) return {};
  bool captured = false;
  GPU_TRY(get_captured(stream, captured, where));
  peers = !captured;
  return {};
}

/// Queues a copy with the driver's function for these two ends.
inline result<> queue_copy(const stream_ref& stream, const copy_end& source,
                           const copy_end& destination, std::size_t bytes,
                           source_location where) noexcept {
  const CUstream native = stream.native();
  const CUdeviceptr from = source.device_address(), to = destination.device_address();
  if (source.on_device && destination.on_device) {
    return queue<&driver::entry_points::memcpy_dtod_async>(stream, copy_label, where, to, from,
                                                           bytes, native);
  }
  if (source.on_device) {
    return queue<&driver::entry_points::memcpy_dtoh_async>(
        stream, copy_label, where, destination.host_address(), from, bytes, native);
  }
  if (destination.on_device) {
    return queue<&driver::entry_points::memcpy_htod_async>(
        stream, copy_label, where, to, static_cast<const void*>(source.host_address()), bytes,
        native);
  }
  return queue<&driver::entry_points::memcpy_async>(stream, copy_label, where, to, from, bytes,
                                                    native);
}

inline result<> queue_peer_copy(const stream_ref& stream, const copy_end& source,
                                const copy_end& destination, std::size_t bytes,
                                source_location where) noexcept {
  return queue<&driver::entry_points::memcpy_peer_async>(
      stream, copy_label, where, destination.device_address(), destination.context.native(),
      source.device_address(), source.context.native(), bytes, stream.native());
}

/// Returns whether an end needs no check: its owner was not moved from, and its context is unknown
/// or the stream's.
inline bool belongs_to(const copy_end& end, const stream_ref& stream) noexcept {
  return end.context ? end.context == stream.context() : !end.needs_context;
}

/// Queues a copy on `stream`. The usual copy passes all checks at once; one after the other they
/// take longer than the limit of benchmarks/driver/wrapper_calls.
inline result<> copy_on(const stream_ref& stream, const copy_end& source,
                        const copy_end& destination, std::size_t element_size,
                        source_location where) noexcept {
  std::size_t bytes = saturated_product(source.count, element_size);
  if (is_fast_path(stream) && belongs_to(source, stream) && belongs_to(destination, stream) &&
      source.count == destination.count && bytes - 1 < most_memory_bytes) {
    return queue_copy(stream, source, destination, bytes, where);
  }
  GPU_TRY(require(stream, "gpu::copy", where));
  GPU_TRY(require_owners(source, destination, where));
  GPU_TRY(require_same_size(source, destination, where));
  GPU_TRY(get_bytes("gpu::copy", source.count, element_size, bytes, where));
  if (bytes == 0) return {};
  bool peers = false;
  GPU_TRY(find_peers(stream, source.context, destination.context, peers, where));
  return on_stream(stream, where, [&] {
    return peers ? queue_peer_copy(stream, source, destination, bytes, where)
                 : queue_copy(stream, source, destination, bytes, where);
  });
}

/// Sets `owner` to the context that device memory belongs to, or to null if it belongs to a device
/// only, as the memory of a pool does; and `ordinal` to the device. (cuPointerGetAttributes)
inline result<> find_owner(std::uintptr_t address, CUcontext& owner, int& ordinal,
                           source_location where, const char* function = "gpu::copy") noexcept {
  CUmemorytype type{};
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_CONTEXT,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                      CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* values[] = {&owner, &ordinal, &type};
  GPU_TRY(driver::call<&driver::entry_points::pointer_get_attributes>(where, 3, attributes, values,
                                                                      address));
  if (type != CUmemorytype{}) return {};
  return fail(refusal(errc::invalid_argument, function,
                      text("the device_span does not name memory that the driver knows. It may "
                           "have been freed."),
                      where, address));
}

/// Sets `context` to the context that device memory belongs to, and asks the driver if the range
/// does not know it. Memory of a pool counts as its device's primary context.
inline result<> find_context(const copy_end& end, context_ref& context, source_location where,
                             const char* function = "gpu::copy") noexcept {
  context = end.context;
  if (context) return {};
  CUcontext native = nullptr;
  int ordinal = 0;
  GPU_TRY(find_owner(end.address, native, ordinal, where, function));
  if (native == nullptr) GPU_TRY(find_primary_context(ordinal, native, where));
  context = context_ref::from_native(native, device::from_native(ordinal));
  return {};
}

/// Says what to write instead of a blocking copy, if a capture is why the driver refused it.
[[gnu::cold]] inline cuda_error explain_blocking_copy(cuda_error error) noexcept {
  if (error.domain() != error_domain::driver ||
      error.code() != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
    return error;
  return record_error(std::move(error).with_details(text(
      "gpu::copy without a stream waits for all streams, which is not allowed while one is "
      "being captured. Write gpu::copy(stream, from, to) with page-locked host memory, or copy "
      "before or after the capture.")));
}

/// Copies, and returns when the elements have arrived.
inline result<> copy_and_wait(const copy_end& source, const copy_end& destination,
                              std::size_t element_size, source_location where) noexcept {
  GPU_TRY(require_owners(source, destination, where));
  GPU_TRY(require_same_size(source, destination, where));
  std::size_t bytes = 0;
  GPU_TRY(get_bytes("gpu::copy", source.count, element_size, bytes, where));
  if (bytes == 0) return {};
  context_ref context;
  GPU_TRY(find_context(destination.on_device ? destination : source, context, where));
  if (source.on_device && destination.on_device) {
    context_ref other;
    GPU_TRY(find_context(source, other, where));
    GPU_TRY(other.synchronize(where));
    if (other != context) {
      GPU_TRY(context.synchronize(where));
      GPU_TRY(driver::call_in<&driver::entry_points::memcpy_peer>(
          context.native(), where, destination.device_address(), context.native(),
          source.device_address(), other.native(), bytes));
      return context.synchronize(where);
    }
  }
  return driver::in_context(context.native(), where, [&]() -> result<> {
    // The driver's blocking copies wait for the legacy default stream only, and those to a device
    // may return before the last bytes have arrived.
    GPU_TRY(driver::call<&driver::entry_points::ctx_synchronize>(where));
    if (!destination.on_device) {
      return driver::call<&driver::entry_points::memcpy_dtoh>(where, destination.host_address(),
                                                              source.device_address(), bytes);
    }
    if (source.on_device) {
      GPU_TRY(driver::call<&driver::entry_points::memcpy_dtod>(where, destination.device_address(),
                                                               source.device_address(), bytes));
    } else {
      GPU_TRY(driver::call<&driver::entry_points::memcpy_htod>(where, destination.device_address(),
                                                               source.host_address(), bytes));
    }
    return driver::call<&driver::entry_points::ctx_synchronize>(where);
  });
}
inline result<> copy_now(const copy_end& source, const copy_end& destination,
                         std::size_t element_size, source_location where) noexcept {
  result<> copied = copy_and_wait(source, destination, element_size, where);
  if (!copied.has_value()) return fail(explain_blocking_copy(std::move(copied).error()));
  return copied;
}

}}}  // namespace gpu::v1::detail
