#pragma once
/// \file
/// Makes the pool that the library keeps for a device, and gives its free memory back when the
/// device has too little.

#include <gpu/core/detail/atomic.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/source_location.hpp>
#include <gpu/core/unique_handle.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/detail/cuda_header.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/detail/entry_point_table.hpp>
#include <gpu/driver/detail/library_pools.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/detail/capture_check.hpp>
#include <gpu/memory/detail/explain_error.hpp>
#include <gpu/system/mutex.hpp>

#include <cstddef>
#include <cstdint>

namespace gpu { inline namespace v1 { namespace detail {

/// Returns whether a call failed because the driver or the device has no memory pools.
inline bool is_without_pools(const cuda_error& error) noexcept {
  return error == errc::not_supported ||
         (error.domain() == error_domain::driver && error.code() == CUDA_ERROR_NOT_SUPPORTED);
}

struct destroy_native_pool {
  void operator()(CUmemoryPool pool) const noexcept {
    driver::destroy<&driver::entry_points::mem_pool_destroy>(pool);
  }
};
using owned_native_pool = unique_handle<CUmemoryPool, destroy_native_pool>;

/// Gives the other devices the access to `pool` that they have to `standard`, the default pool of
/// the same device.
inline result<> copy_access(CUmemoryPool standard, CUmemoryPool pool, CUdevice device,
                            source_location where) noexcept {
  int count = 0;
  GPU_TRY(driver::call<&driver::entry_points::device_get_count>(where, &count));
  for (int other = 0; other < count; ++other) {
    if (other == device) continue;
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = other;
    GPU_TRY(driver::call<&driver::entry_points::mem_pool_get_access>(where, &access.flags, standard,
                                                                     &access.location));
    if (access.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) continue;
    GPU_TRY(driver::call<&driver::entry_points::mem_pool_set_access>(where, pool, &access, 1));
  }
  return {};
}

/// Makes a pool of `device` that keeps all its memory.
inline result<> create_library_pool(CUdevice device, CUmemoryPool standard, owned_native_pool& pool,
                                    source_location where) noexcept {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  CUmemoryPool made = nullptr;
  GPU_TRY(driver::call<&driver::entry_points::mem_pool_create>(where, &made, &properties));
  pool.reset(made);
  std::uint64_t all = ~std::uint64_t{0};
  GPU_TRY(driver::call<&driver::entry_points::mem_pool_set_attribute>(
      where, made, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
  return copy_access(standard, made, device, where);
}

/// Makes the library's pool of `device`, unless it was made for the same driver under another
/// table. Captures neither forbid this nor suffer from it.
inline result<> make_library_pool(CUdevice device, source_location where) noexcept {
  const auto allowed = GPU_TRY(capture_mode_scope::enter(capture_mode::relaxed, where));
  CUmemoryPool standard = nullptr;
  GPU_TRY(
      driver::call<&driver::entry_points::device_get_default_mem_pool>(where, &standard, device));
  library_pools& all = library_pools::of_process();
  const scoped_lock held(all.changing);
  if (all.make_valid(device, standard)) return {};
  owned_native_pool pool;
  GPU_TRY(create_library_pool(device, standard, pool, where));
  all.set(device, standard, pool.release());
  return {};
}

/// The same, but not for a device without pools: that is noted.
[[gnu::noinline]] inline result<> make_library_pool_if_possible(CUdevice device,
                                                                source_location where) noexcept {
  const last_error_mark before;
  result<> made = make_library_pool(device, where);
  if (made.has_value() || !is_without_pools(made.error())) return made;
  before.restore();
  library_pools& all = library_pools::of_process();
  const scoped_lock held(all.changing);
  all.set(device, nullptr, nullptr);
  return {};
}

/// Sets `pool` to the library's pool of `device`, which is made on first use, and `standard` to the
/// driver's default one. `pool` is null if the device has no pools.
inline result<> find_library_pool(CUdevice device, CUmemoryPool& pool, CUmemoryPool& standard,
                                  source_location where) noexcept {
  library_pools& all = library_pools::of_process();
  if (all.find(device) == nullptr) GPU_TRY(make_library_pool_if_possible(device, where));
  pool = atomic_load<memory_order::relaxed>(all.of_device[device].pool);
  standard = atomic_load<memory_order::relaxed>(all.of_device[device].standard);
  return {};
}

/// Does the same if the device has a pool already, and otherwise sets both to null.
inline result<> find_known_library_pool(CUdevice device, CUmemoryPool& pool, CUmemoryPool& standard,
                                        source_location where) noexcept {
  pool = standard = nullptr;
  library_pools& all = library_pools::of_process();
  if (!all.was_made(device)) return {};
  if (all.find(device) == nullptr) {
    CUmemoryPool found = nullptr;
    GPU_TRY(
        driver::call<&driver::entry_points::device_get_default_mem_pool>(where, &found, device));
    const scoped_lock held(all.changing);
    if (!all.make_valid(device, found)) return {};
  }
  return find_library_pool(device, pool, standard, where);
}

/// Sets `pool` to the pool from which buffers on `device` come if the program names none: the
/// library's. Sets it to null if the program has made another pool than the driver's default one
/// current, and if there are no pools: then memory comes from cuMemAllocAsync. The program may do
/// so at any time without the library, so the driver is asked each time. (cuDeviceGetMemPool)
inline result<> choose_pool(CUdevice device, CUmemoryPool& pool, source_location where) noexcept {
  if (!library_pools::has(device)) return {};
  CUmemoryPool own = nullptr, standard = nullptr, current = nullptr;
  GPU_TRY(find_library_pool(device, own, standard, where));
  if (own == nullptr) return {};
  GPU_TRY(driver::call<&driver::entry_points::device_get_mem_pool>(where, &current, device));
  if (current == standard) pool = own;
  return {};
}

/// Gives memory that a pool does not use back to the driver. Captures neither forbid this nor
/// suffer from it.
inline result<> trim_pool(CUmemoryPool pool, source_location where) noexcept {
  const auto allowed = GPU_TRY(capture_mode_scope::enter(capture_mode::relaxed, where));
  return driver::call<&driver::entry_points::mem_pool_trim_to>(where, pool, std::size_t{0});
}

/// Gives memory that the library's pool of the stream's device does not use back to the driver;
/// with `wait` after the work of the stream's context. Returns false if that cannot be done: there
/// is no such pool, or the stream is being captured.
inline bool give_back_kept_memory(const stream_ref& stream, bool wait) noexcept {
  constexpr source_location nowhere;  // the caller has an error of its own
  CUmemoryPool pool = nullptr, standard = nullptr;
  if (!find_known_library_pool(stream.device().native(), pool, standard, nowhere).has_value() ||
      pool == nullptr)
    return false;
  if (wait) {
    bool captured = true;
    if (!get_captured(stream, captured, nowhere).has_value() || captured ||
        !driver::call_in<&driver::entry_points::ctx_synchronize>(stream.context().native(), nowhere)
             .has_value())
      return false;
  }
  return trim_pool(pool, nowhere).has_value();
}

/// Returns what `get()` returns, which sets `made` to memory of the stream's device. If the device
/// has too little, the library gives back what it keeps, and calls `get()` again: first what is
/// free now, then what is free when the work of the context is done.
template <class Made, class Get>
result<> with_kept_memory(const stream_ref& stream, const Made& made, Get get) noexcept {
  const last_error_mark before;
  for (int attempt = 0;; ++attempt) {
    result<> done = get();
    if (done.has_value()) {
      if (attempt != 0) before.restore();
      return done;
    }
    if (attempt == 2 || !is_out_of_memory(done.error()) || made != Made{} ||
        !give_back_kept_memory(stream, attempt == 1))
      return done;
  }
}

}}}  // namespace gpu::v1::detail
