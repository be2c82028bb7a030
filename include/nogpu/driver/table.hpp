#pragma once
/// \file
/// The driver table of a CPU driver: plain functions that find their driver by the slot they were
/// made for.

#include <gpu/driver/entry_points.hpp>
#include <nogpu/driver/array_copies.hpp>
#include <nogpu/driver/array_mapping_calls.hpp>
#include <nogpu/driver/arrays.hpp>
#include <nogpu/driver/cluster_occupancy.hpp>
#include <nogpu/driver/contexts.hpp>
#include <nogpu/driver/copies.hpp>
#include <nogpu/driver/copies_3d.hpp>
#include <nogpu/driver/copy_batches.hpp>
#include <nogpu/driver/current_pools.hpp>
#include <nogpu/driver/devices.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/events.hpp>
#include <nogpu/driver/external_memory.hpp>
#include <nogpu/driver/external_semaphores.hpp>
#include <nogpu/driver/fills.hpp>
#include <nogpu/driver/functions.hpp>
#include <nogpu/driver/graph_execs.hpp>
#include <nogpu/driver/graph_memory_calls.hpp>
#include <nogpu/driver/graph_updates.hpp>
#include <nogpu/driver/graph_user_objects.hpp>
#include <nogpu/driver/graphics.hpp>
#include <nogpu/driver/green_contexts.hpp>
#include <nogpu/driver/host_memory.hpp>
#include <nogpu/driver/ipc.hpp>
#include <nogpu/driver/launches.hpp>
#include <nogpu/driver/libraries.hpp>
#include <nogpu/driver/links.hpp>
#include <nogpu/driver/logs.hpp>
#include <nogpu/driver/managed_batches.hpp>
#include <nogpu/driver/managed_memory.hpp>
#include <nogpu/driver/memory.hpp>
#include <nogpu/driver/modules.hpp>
#include <nogpu/driver/multicast.hpp>
#include <nogpu/driver/occupancy.hpp>
#include <nogpu/driver/pointer_attributes.hpp>
#include <nogpu/driver/pools.hpp>
#include <nogpu/driver/primary_contexts.hpp>
#include <nogpu/driver/shared_pools.hpp>
#include <nogpu/driver/stream_attributes.hpp>
#include <nogpu/driver/stream_memory_operations.hpp>
#include <nogpu/driver/streams.hpp>
#include <nogpu/driver/tensor_maps.hpp>
#include <nogpu/driver/textures.hpp>
#include <nogpu/driver/virtual_memory.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

namespace nogpu { inline namespace v1 { namespace driver {

/// The drivers that are alive, by slot.
inline std::array<std::atomic<driver_state*>, slot_count>& driver_slots() noexcept {
  static std::array<std::atomic<driver_state*>, slot_count> slots{};
  return slots;
}

/// Calls that a driver answers before cuInit, and from a host function.
template <auto Function> inline constexpr bool always_allowed = false;
template <> inline constexpr bool always_allowed<&entry::init> = true;
template <> inline constexpr bool always_allowed<&entry::driver_get_version> = true;
template <> inline constexpr bool always_allowed<&entry::get_error_name> = true;
template <> inline constexpr bool always_allowed<&entry::get_error_string> = true;

/// Calls that a stream capture may forbid: those that wait, change the address space, or change
/// settings of a context, pool or process.
template <auto Function> inline constexpr bool unsafe_in_capture = false;
template <> inline constexpr bool unsafe_in_capture<&entry::graph_exec_destroy> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::graph_instantiate_with_params> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_alloc> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_alloc_pitch> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_alloc_managed> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_free> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_alloc_host> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_host_alloc> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_free_host> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_host_register> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_host_unregister> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::array_create> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::array_3d_create> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::array_destroy> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mipmapped_array_create> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mipmapped_array_destroy> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::tex_object_create> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::tex_object_destroy> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::surf_object_create> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::surf_object_destroy> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_pool_create> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_pool_get_access> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_pool_set_access> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::device_set_mem_pool> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_set_mem_pool> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_advise> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::pointer_set_attribute> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::profiler_start> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::profiler_stop> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::ctx_set_cache_config> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::ctx_set_limit> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::ctx_enable_peer_access> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::ctx_disable_peer_access> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_pool_get_attribute> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_pool_set_attribute> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_pool_trim_to> = true;
template <>
inline constexpr bool unsafe_in_capture<&entry::mem_pool_export_to_shareable_handle> = true;
template <>
inline constexpr bool unsafe_in_capture<&entry::mem_pool_import_from_shareable_handle> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_pool_export_pointer> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::mem_pool_import_pointer> = true;

template <> inline constexpr bool unsafe_in_capture<&entry::import_external_memory> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::destroy_external_memory> = true;
template <>
inline constexpr bool unsafe_in_capture<&entry::external_memory_get_mapped_buffer> = true;
template <>
inline constexpr bool unsafe_in_capture<&entry::external_memory_get_mapped_mipmapped_array> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::graphics_gl_register_buffer> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::graphics_gl_register_image> = true;
template <> inline constexpr bool unsafe_in_capture<&entry::graphics_unregister_resource> = true;

/// When a driver answers a call.
struct call_rules {
  bool always_allowed, unsafe_in_capture;
};

/// Does a call on the driver of a slot: `run(c, work)`, if the driver answers it now. The function
/// is behind a pointer, so that a program has this code once and not for each function.
inline CUresult answer_call(std::size_t slot, call_rules rules,
                            CUresult (*run)(call& c, const void* work), const void* work) {
  driver_state* driver = driver_slots()[slot].load(std::memory_order_acquire);
  if (driver == nullptr) return CUDA_ERROR_DEINITIALIZED;
  if (!rules.always_allowed && in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  CUresult answer = CUDA_SUCCESS;
  const bool had_memory = machine::within_memory([&] {
    call c{*driver, driver_lock(driver->mutex)};
    if (!rules.always_allowed && !driver->initialized)
      answer = CUDA_ERROR_NOT_INITIALIZED;
    else if (rules.unsafe_in_capture)
      answer = c.refuse_unsafe_call();
    if (answer == CUDA_SUCCESS) answer = run(c, work);
  });
  return had_memory ? answer : CUDA_ERROR_OUT_OF_MEMORY;
}

/// The entry points for a function `CUresult f(call&, arguments...)`.
template <auto Function, class Type = decltype(Function)> struct entry_point;

template <auto Function, class... Arguments>
struct entry_point<Function, CUresult (*)(call&, Arguments...)> {
  /// That of a slot.
  template <std::size_t Slot> static CUresult run(Arguments... arguments) {
    return run_on(Slot, arguments...);
  }

 private:
  /// Once, whatever the number of slots. An enumerator that does not exist is passed on as it is;
  /// the function returns the driver's error.
  [[gnu::noinline]] static CUresult run_on(std::size_t slot, const Arguments&... arguments) {
    const auto work = [&](call& c) __attribute__((no_sanitize("enum"))) {
      return Function(c, arguments...);
    };
    return answer_call(slot, {always_allowed<Function>, unsafe_in_capture<Function>},
                       &run_work<decltype(work)>, &work);
  }
  template <class Work> static CUresult run_work(call& c, const void* work) {
    return (*static_cast<const Work*>(work))(c);
  }
};

template <std::size_t Slot> constexpr gpu::driver::entry_points make_table() noexcept {
  gpu::driver::entry_points table{};
#define GPU_DRIVER_ENTRY(member, function, version) \
  table.member = &entry_point<&entry::member>::template run<Slot>;
#include <gpu/driver/detail/entry_points.inc>
  return table;
}

/// A constant table, rather than code that assigns each member.
template <std::size_t Slot>
inline constexpr gpu::driver::entry_points table_in_slot = make_table<Slot>();

/// The table of a slot.
inline const gpu::driver::entry_points& table_of(std::size_t slot) noexcept {
  return *[]<std::size_t... Slots>(std::size_t wanted, std::index_sequence<Slots...>) {
    static constexpr const gpu::driver::entry_points* all[] = {&table_in_slot<Slots>...};
    return all[wanted];
  }(slot, std::make_index_sequence<slot_count>{});
}

}}}  // namespace nogpu::v1::driver
