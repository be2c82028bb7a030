#pragma once
/// \file
/// The primary contexts that the library holds on to: one reference a device, for as long as the
/// process runs, as the CUDA runtime does.

#include <gpu/driver/calls.hpp>

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/system/mutex.hpp>

#include <cstdint>
#include <utility>

namespace gpu { inline namespace v1 { namespace detail {

inline cuda_error device_out_of_range(const char* function, int index, int count,
                                      source_location where) noexcept {
  text_builder out;
  out << "device index " << index << " is not below the number of devices, " << count
      << (count == 0
              ? ". Check that nvidia-smi lists a device and that CUDA_VISIBLE_DEVICES is not empty."
              : ". Choose an index below gpu::device::count().");
  return refusal(errc::index_out_of_range, function, out.finish(), where,
                 static_cast<std::uint64_t>(static_cast<std::int64_t>(index)),
                 static_cast<std::uint64_t>(count));
}

/// Replaces the error of a call that makes or retains a context of `device`, if the machine lacks
/// such a device, by one with the index and the number of devices.
inline result<> explain_device(result<> failed, CUdevice device, source_location where) noexcept {
  const cuda_error& error = failed.error();
  int count = 0;
  if (error.domain() != error_domain::driver || error.code() != CUDA_ERROR_INVALID_DEVICE ||
      !driver::call<&driver::entry_points::device_get_count>(where, &count).has_value() ||
      (device >= 0 && device < count)) {
    return failed;
  }
  return fail(device_out_of_range(error.call(), device, count, where));
}

/// The primary context of one device. It is stale once the driver table has been replaced.
struct primary_context_slot {
  std::uint64_t generation;  // of the driver table, plus one; 0 is an empty slot
  CUcontext context;
};

/// Each shared library has its own, and holds its own references.
struct primary_context_cache {
  static constexpr int capacity = 128;
  mutex lock;
  primary_context_slot slots[capacity];
};

inline primary_context_cache& primary_contexts() noexcept {
  static primary_context_cache cache{};
  return cache;
}

/// Sets `context` to the primary context of `device`; retained on first use and then kept.
/// **Errors**: `errc::index_out_of_range` with the index and the count; the driver's.
/// **Threads**: any number may ask at once; one of them retains.
inline result<> find_primary_context(CUdevice device, CUcontext& context,
                                     source_location where) noexcept {
  const bool unavailable = driver::current_entry_points().device_primary_ctx_retain == nullptr;
  if (unavailable || device < 0 || device >= primary_context_cache::capacity) {
    // Fails with the reason if the driver is missing.
    auto retained =
        driver::call<&driver::entry_points::device_primary_ctx_retain>(where, &context, device);
    if (!retained) return explain_device(std::move(retained), device, where);
    return retained;
  }
  primary_context_cache& cache = primary_contexts();
  const scoped_lock lock(cache.lock);
  const std::uint64_t generation = driver::entry_points_generation() + 1;
  primary_context_slot& slot = cache.slots[device];
  if (slot.generation != generation) {
    auto retained =
        driver::call<&driver::entry_points::device_primary_ctx_retain>(where, &context, device);
    if (!retained) return explain_device(std::move(retained), device, where);
    slot = {generation, context};
  }
  context = slot.context;
  return {};
}

/// Gives up the reference to a primary context that was reset, so that the next use retains it
/// anew.
inline result<> forget_primary_context(CUdevice device, source_location where) noexcept {
  if (device < 0 || device >= primary_context_cache::capacity) return {};
  bool known = false;
  {
    primary_context_cache& cache = primary_contexts();
    const scoped_lock lock(cache.lock);
    primary_context_slot& slot = cache.slots[device];
    known = slot.generation == driver::entry_points_generation() + 1;
    slot = {};
  }
  if (!known) return {};
  return driver::call<&driver::entry_points::device_primary_ctx_release>(where, device);
}

/// Sets `context` to a primary context that is retained already, or else to that of device 0.
inline result<> find_any_primary_context(CUcontext& context, source_location where) noexcept {
  CUdevice device = 0;
  if (driver::current_entry_points().device_primary_ctx_retain != nullptr) {
    primary_context_cache& cache = primary_contexts();
    const scoped_lock lock(cache.lock);
    const std::uint64_t generation = driver::entry_points_generation() + 1;
    for (CUdevice i = 0; i < primary_context_cache::capacity; ++i) {
      if (cache.slots[i].generation != generation) continue;
      device = i;
      break;
    }
  }
  return find_primary_context(device, context, where);
}

}}}  // namespace gpu::v1::detail
