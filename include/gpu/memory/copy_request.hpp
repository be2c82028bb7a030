#pragma once
/// \file
/// What `copy` asks of the driver once the types of its arguments have done their part.

#include <gpu/memory/allocation.hpp>

namespace gpu::detail {

/// One end of a copy.
struct copy_end {
  std::uintptr_t address = 0;
  std::size_t count = 0;
  bool on_device = false;
  context_ref context;  // empty where it is not known, and on the host

  CUdeviceptr device_address() const noexcept { return static_cast<CUdeviceptr>(address); }
  void* host_address() const noexcept { return reinterpret_cast<void*>(address); }
};

/// `errc::size_mismatch` unless both ends have the same number of elements.
inline result<> require_same_size(const copy_end& source, const copy_end& destination,
                                  source_location where) noexcept {
  if (source.count == destination.count) [[likely]]
    return {};
  text_builder out;
  out << "the source has " << source.count << " elements, the destination " << destination.count
      << ". Copy ranges of the same length: take first("
      << (source.count < destination.count ? source.count : destination.count)
      << ") of the longer one.";
  return fail(refusal(errc::size_mismatch, "gpu::copy", out.finish(), where, source.count,
                      destination.count));
}

/// `errc::wrong_context` where `range` is known to belong to another context than `stream`.
inline result<> require_context(const char* function, const stream_ref& stream, const char* what,
                                context_ref range, source_location where) noexcept {
  if (!range || range == stream.context()) [[likely]]
    return {};
  return fail(wrong_context_error(function, "stream", stream.device().native(), what,
                                  range.device().native(), where));
}

/// Between contexts: of two devices, or two of one device. One of them has to be the stream's.
inline result<> copy_between_contexts(const stream_ref& stream, const copy_end& source,
                                      const copy_end& destination, std::size_t bytes,
                                      source_location where) noexcept {
  if (source.context != stream.context()) {
    GPU_TRY(require_context("gpu::copy", stream, "destination", destination.context, where));
  }
  return driver::call<&driver::entry_points::memcpy_peer_async>(
      where, destination.device_address(), destination.context.native(), source.device_address(),
      source.context.native(), bytes, stream.native());
}

/// Queues the copy on `stream`.
inline result<> copy_on(const stream_ref& stream, const copy_end& source,
                        const copy_end& destination, std::size_t element_size,
                        source_location where) noexcept {
  GPU_TRY(require(stream, "gpu::copy", where));
  GPU_TRY(require_same_size(source, destination, where));
  const std::size_t bytes = source.count * element_size;
  if (bytes == 0) return {};
  const bool between =
      source.context && destination.context && source.context != destination.context;
  if (!between) {
    GPU_TRY(require_context("gpu::copy", stream, "source", source.context, where));
    GPU_TRY(require_context("gpu::copy", stream, "destination", destination.context, where));
  }
  return on_stream(stream, where, [&]() -> result<> {
    if (between) return copy_between_contexts(stream, source, destination, bytes, where);
    if (source.on_device && destination.on_device) {
      return driver::call<&driver::entry_points::memcpy_dtod_async>(
          where, destination.device_address(), source.device_address(), bytes, stream.native());
    }
    if (source.on_device) {
      return driver::call<&driver::entry_points::memcpy_dtoh_async>(
          where, destination.host_address(), source.device_address(), bytes, stream.native());
    }
    if (destination.on_device) {
      return driver::call<&driver::entry_points::memcpy_htod_async>(
          where, destination.device_address(), source.host_address(), bytes, stream.native());
    }
    return driver::call<&driver::entry_points::memcpy_async>(
        where, destination.device_address(), source.device_address(), bytes, stream.native());
  });
}

/// Sets `context` to the one that memory on a device belongs to, where the range does not know it.
/// Memory of a pool belongs to a device only, and stands for its primary context.
/// (cuPointerGetAttributes)
inline result<> find_context(const copy_end& end, context_ref& context,
                             source_location where) noexcept {
  context = end.context;
  if (context) return {};
  CUcontext native = nullptr;
  int ordinal = 0;
  CUmemorytype type{};
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_CONTEXT,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                      CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* values[] = {&native, &ordinal, &type};
  GPU_TRY(driver::call<&driver::entry_points::pointer_get_attributes>(
      where, 3u, &attributes[0], &values[0], end.device_address()));
  if (type == CUmemorytype{}) {
    return fail(refusal(errc::invalid_argument, "gpu::copy",
                        text("the device_span does not name memory that the driver knows. It may "
                             "have been freed."),
                        where, end.address));
  }
  const device on = device::from_native(ordinal);
  if (native == nullptr) GPU_TRY(find_primary_context(ordinal, native, where));
  context = context_ref::from_native(native, on);
  return {};
}

/// Copies, and returns when the elements have arrived.
inline result<> copy_now(const copy_end& source, const copy_end& destination,
                         std::size_t element_size, source_location where) noexcept {
  GPU_TRY(require_same_size(source, destination, where));
  const std::size_t bytes = source.count * element_size;
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
    // The driver's blocking copies wait for the legacy default stream alone, and those to a device
    // may return before the last bytes are there.
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

}  // namespace gpu::detail
