#pragma once
/// \file
/// Objects that a graph keeps alive and whose destructors use the driver: buffers, modules, events.
///
/// The driver says that a graph no longer needs an object in a callback that must not call CUDA. So
/// the callback puts the object into a list, and the next operation on any graph destroys it.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/kernel/detail/shared_object.hpp>

namespace gpu { inline namespace v1 { namespace detail {

/// An object that a graph keeps alive.
struct kept_object {
  void (*destroy)(kept_object* self) noexcept;
  kept_object* next = nullptr;

  static inline constinit kept_object* put_aside = nullptr;  // first of a list

  // A CUhostFn.
  static void CUDA_CB put_aside_at(void* self) noexcept {
    auto* object = static_cast<kept_object*>(self);
    while (!atomic_compare_exchange_weak<memory_order::release, memory_order::relaxed>(
        put_aside, object->next, object)) {
    }
  }
};

template <class T> struct kept_value : kept_object {
  T value;

  explicit kept_value(T&& from) noexcept
      : kept_object{[](kept_object* self) noexcept { delete static_cast<kept_value*>(self); }},
        value(static_cast<T&&>(from)) {}
};

/// Destroys the objects that graphs no longer need, and the shared objects without owners. Relaxes
/// the thread's capture mode meanwhile: a capture may forbid the calls that destroy a buffer.
inline void destroy_put_aside() noexcept {
  if (atomic_load<memory_order::relaxed>(kept_object::put_aside) == nullptr && !has_unwanted()) {
    return;
  }
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  const auto exchange = driver::current_entry_points().thread_exchange_stream_capture_mode;
  const bool exchanged = exchange != nullptr && exchange(&mode) == CUDA_SUCCESS;
  kept_object* each = atomic_exchange<memory_order::acquire>(kept_object::put_aside, nullptr);
  while (each != nullptr) {
    kept_object* const next = each->next;
    each->destroy(each);
    each = next;
  }
  end_unwanted();
  if (exchanged) {
    driver::destroy<&driver::entry_points::thread_exchange_stream_capture_mode>(&mode);
  }
}

}}}  // namespace gpu::v1::detail
