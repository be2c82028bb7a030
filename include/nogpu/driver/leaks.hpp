#pragma once
/// \file
/// Lists the handles and allocations that a program has not released.

#include <gpu/driver/detail/library_pools.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/live_object.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

inline const char* name_of(memory_block::origin from) {
  switch (from) {
    case memory_block::origin::device: return "device memory";
    case memory_block::origin::array: return "array";
    case memory_block::origin::pool: return "stream-ordered memory";
    case memory_block::origin::graph: return "memory of a graph";
    case memory_block::origin::managed: return "managed memory";
    case memory_block::origin::pinned: return "pinned host memory";
    case memory_block::origin::registered: return "registered host memory";
    case memory_block::origin::imported: return "imported memory";
    case memory_block::origin::external: return "mapped external memory";
    case memory_block::origin::graphics: return "mapped graphics buffer";
  }
  return "memory";
}

/// Lists everything alive except primary contexts and the library's pools, which belong to the
/// process, default pools, and memory whose release is queued.
inline std::vector<live_object> collect_live(driver_state& driver) {
  std::vector<live_object> list;
  const auto add = [&](const char* kind, const void* handle, const std::string& place) {
    list.push_back({kind, reinterpret_cast<std::uintptr_t>(handle), 0, place});
  };
  {
    const driver_lock lock(driver.mutex);
    for (const auto& [base, block] : driver.blocks_of_memory)
      if (!block.free_enqueued && block.graph.expired() &&
          block.from != memory_block::origin::array)
        list.push_back({name_of(block.from), base, block.size, block.place});
    for (const auto& [base, each] : driver.virtual_memory.reservations)
      list.push_back({"address reservation", base, each.size, each.place});
    for (const auto& [base, each] : driver.virtual_memory.mappings)
      list.push_back({"mapping", base, each.memory->size, each.memory->place});
    for (const physical_ptr& each : driver.virtual_memory.physical.all())
      if (each->holds != 0) add("physical memory", each->handle, each->place);
    for (const context_ptr& each : driver.contexts.all()) {
      if (!each->primary) add("context", each->handle, each->place);
      if (!each->heap) continue;
      if (const auto heap = each->heap->live(); heap.blocks != 0)
        list.push_back({std::to_string(heap.blocks) + " blocks of malloc in kernels",
                        heap.first,
                        heap.bytes,
                        {}});
    }
    for (const green_ptr& each : driver.greens.all.all())
      add("green context", each->handle, each->place);
    for (const stream_ptr& each : driver.streams.all()) add("stream", each->handle, each->place);
    for (const event_ptr& each : driver.events.all()) add("event", each->handle, each->place);
    for (const pool_ptr& each : driver.pools.all())
      if (!each->is_default && !gpu::detail::library_pools::of_process().contain(each->handle))
        add("memory pool", each->handle, each->place);
    for (const module_ptr& each : driver.modules.all())
      if (!each->of_library) add("module", each->handle, each->place);
    for (const graph_ptr& each : driver.graphs.all())
      if (!each->owned_by_node && !each->captured_into) add("graph", each->handle, each->place);
    for (const exec_ptr& each : driver.graph_execs.all())
      add("executable graph", each->handle, each->place);
    for (const auto& each : driver.user_objects.all())
      add("user object", each->handle, each->place);
    for (const library_ptr& each : driver.libraries.all())
      add("library", each->handle, each->place);
    for (const link_ptr& each : driver.links.all()) add("link", each->handle, each->place);
    for (const array_ptr& each : driver.arrays.all()) {
      if (each->borrowed) continue;
      add("array", each->handle, each->place);
      list.back().bytes = each->bytes();
    }
    for (const mipmapped_array_ptr& each : driver.mipmapped_arrays.all())
      if (!each->borrowed) add("mipmapped array", each->handle, each->place);
    for (const auto& each : driver.external_memories.all())
      add("external memory", each->handle, each->place);
    for (const auto& each : driver.external_semaphores.all())
      add("external semaphore", each->handle, each->place);
    for (const auto& each : driver.graphics_resources.all())
      add("graphics resource", each->handle, each->place);
    for (const CUlogsCallbackHandle each : driver.log.callbacks()) add("log callback", each, {});
    for (const auto& [handle, each] : driver.textures)
      list.push_back({"texture object", handle, 0, each.place});
    for (const auto& [handle, each] : driver.surfaces)
      list.push_back({"surface object", handle, 0, each.place});
  }
  return list;
}

/// Waits for the work of all contexts.
inline void finish_all_work(driver_state& driver) {
  call c{driver, driver_lock(driver.mutex)};
  for (const context_ptr& each : driver.contexts.all())
    if (each->alive) c.finish(each);
}

/// Does the work that is queued by now, as the process ends: threads that are still there may queue
/// more than is ever done, and a kernel may wait for one that is not there any more. When the time
/// is up, kernels that run are ended. Returns whether all of the work was done before.
inline bool finish_at_exit(driver_state& driver, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  machine::host_thread timer;
  (void)timer.start([&] {
    std::unique_lock lock(mutex);
    if (!changed.wait_until(lock, end, [&] { return done; })) driver.canceled = true;
  });
  bool finished = false;
  {
    driver_lock lock(driver.mutex);
    finished = driver.work.finish_until(end, lock);
  }
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  timer.join();
  return !driver.canceled.exchange(false) && finished;
}

/// Waits for all work, whose objects are alive until it is done; then counts what is alive, retains
/// of primary contexts, and contexts on the calling thread's stack.
inline std::size_t count_held(driver_state& driver) {
  finish_all_work(driver);
  std::size_t count = collect_live(driver).size();
  const driver_lock lock(driver.mutex);
  count += stack_of_thread(driver).contexts.size();
  for (const auto& each : driver.devices) count += each->primary_count;
  return count;
}

/// Returns `collect_live` with locations as file and line.
inline std::vector<live_object> list_live(driver_state& driver) {
  std::vector<live_object> list = collect_live(driver);
  for (live_object& each : list) each.location = driver.places.explain(each.location);
  return list;
}

}}}  // namespace nogpu::v1::driver
