#pragma once
/// \file
/// Green contexts, and what they are made from.

#include <nogpu/driver/objects.hpp>

#include <cuda.h>

#include <memory>
#include <string>

namespace nogpu { inline namespace v1 { namespace driver {

/// Multiprocessors from which a green context can be made.
struct resource_description_state {
  CUdevResourceDesc handle = nullptr;
  int device = 0;
  unsigned multiprocessors = 0;
};

/// A green context. Its streams are streams of the primary context.
struct green_state {
  CUgreenCtx handle = nullptr;
  CUcontext view = nullptr;  // stands for the primary context with these multiprocessors
  device_state* device = nullptr;
  unsigned multiprocessors = 0;
  unsigned long long id = 0;
  stream_ptr marks;     // for events that concern all of its streams
  operation_ptr waits;  // that streams made from now on come after; null: for none
  std::string place;
};

/// The green contexts of a driver.
struct green_contexts {
  handle_table<CUdevResourceDesc, resource_description_state, handle_kind::resource_description>
      descriptions;
  handle_table<CUgreenCtx, green_state, handle_kind::green_context> all;

  /// The green context that a handle of a context stands for, or null.
  green_ptr find_view(CUcontext handle) const {
    for (const green_ptr& each : all.all())
      if (each->view == handle) return each;
    return nullptr;
  }
  /// The primary context that such a handle stands for, or null.
  context_ptr primary_of(CUcontext handle) const {
    const green_ptr green = find_view(handle);
    return green ? green->device->primary : nullptr;
  }
};

}}}  // namespace nogpu::v1::driver
