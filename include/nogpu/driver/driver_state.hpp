#pragma once
/// \file
/// One CPU driver: its devices, memory and live handles, and what every entry point needs of them.

#include <nogpu/driver/context_stacks.hpp>
#include <nogpu/driver/cost_collections.hpp>
#include <nogpu/driver/external_objects.hpp>
#include <nogpu/driver/green_context_objects.hpp>
#include <nogpu/driver/message_log.hpp>
#include <nogpu/driver/objects.hpp>
#include <nogpu/driver/places.hpp>
#include <nogpu/driver/rollback.hpp>
#include <nogpu/driver/virtual_memory_objects.hpp>
#include <nogpu/driver_options.hpp>
#include <nogpu/machine/host_processors.hpp>

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

struct driver_state {
  explicit driver_state(driver_options chosen)
      : options{std::move(chosen)},
        blocks{options.block_threads},
        work{mutex, options.mode == execution::deferred, options.stream_threads,
             options.value_wait_limit} {}

  const driver_options options;
  const std::uint64_t number = next_handle_number();  // unique in the process
  std::size_t slot = 0;
  bool has_slot = false;  // false if too many drivers are alive
  std::mutex mutex;
  machine::address_space memory{~std::uint64_t{0}};  // each device counts its own memory
  machine::host_processors blocks;
  scheduler work;
  std::atomic<bool> canceled{false};
  bool initialized = false;
  std::uint64_t last_owner = 0;
  unsigned long long last_stream_id = 0;
  std::uint64_t last_grid = 0;

  std::vector<std::unique_ptr<device_state>> devices;
  handle_table<CUcontext, context_state, handle_kind::context> contexts;
  green_contexts greens;
  handle_table<CUstream, stream_state, handle_kind::stream> streams;
  handle_table<CUevent, event_state, handle_kind::event> events;
  handle_table<CUmemoryPool, pool_state, handle_kind::pool> pools;
  std::map<std::array<int, 3>, place_pools> pools_of_places;  // by type and number, type of memory
  handle_table<CUmodule, module_state, handle_kind::module> modules;
  handle_table<CUfunction, function_state, handle_kind::function> functions;
  handle_table<CUlibrary, library_state, handle_kind::library> libraries;
  handle_table<CUkernel, kernel_state, handle_kind::kernel> kernels;
  handle_table<CUlinkState, link_state, handle_kind::link> links;
  handle_table<CUgraph, graph_state, handle_kind::graph> graphs;
  handle_table<CUgraphNode, graph_node_state, handle_kind::graph_node> graph_nodes;
  handle_table<CUgraphExec, graph_exec_state, handle_kind::graph_exec> graph_execs;
  handle_table<CUuserObject, user_object_state, handle_kind::user_object> user_objects;
  std::vector<capture_ptr> captures;  // those in progress
  std::mutex conditions_mutex;        // held with or without the driver's lock
  handle_table<CUarray, array_state, handle_kind::array> arrays;
  handle_table<CUmipmappedArray, mipmapped_array_state, handle_kind::mipmapped_array>
      mipmapped_arrays;
  machine::image_table images;  // the parts of the next two members that kernels see
  std::map<CUtexObject, image_object> textures;
  std::map<CUsurfObject, image_object> surfaces;
  handle_table<CUexternalMemory, external_memory_state, handle_kind::external_memory>
      external_memories;
  handle_table<CUexternalSemaphore, external_semaphore_state, handle_kind::external_semaphore>
      external_semaphores;
  handle_table<CUgraphicsResource, graphics_resource_state, handle_kind::graphics_resource>
      graphics_resources;
  std::map<CUgraphConditionalHandle, std::weak_ptr<conditional_value>> conditions;
  cuuint64_t last_capture_id = 0;
  std::map<std::uint64_t, memory_block> blocks_of_memory;  // by address
  virtual_memory_state virtual_memory;
  place_table places;
  message_log log;
  cost_collections costs;

  std::atomic<std::size_t> findings{0};  // mistakes that were reported and not yet asked for

  std::mutex message_mutex;  // never taken before `mutex` is given up, nor held while it is taken
  std::string printed;       // by kernels, and not yet passed on; under message_mutex

  std::string place() { return options.record_locations ? places.remember() : std::string(); }
  std::uint64_t next_owner() { return ++last_owner; }

  /// Reports a mistake of the program. Call it without the lock.
  void report(std::string_view text) {
    const std::string explained = places.explain(text);
    {
      const std::lock_guard guard(message_mutex);
      if (options.report) {
        options.report(explained);
      } else {
        std::fprintf(stderr, "gpu cpu driver: %s\n", explained.c_str());
      }
    }
    log.add(CU_LOG_LEVEL_ERROR, explained);
  }
  /// Reports a mistake in what ran, and counts it.
  void report_finding(std::string_view text) {
    ++findings;
    report(text);
  }
  void print(std::string_view text) {
    const std::lock_guard guard(message_mutex);
    printed.append(text);
  }
  /// Passes on what kernels printed.
  void flush_prints() {
    const std::lock_guard guard(message_mutex);
    if (printed.empty()) return;
    if (options.print) {
      options.print(printed);
    } else {
      std::fwrite(printed.data(), 1, printed.size(), stdout);
      std::fflush(stdout);
    }
    printed.clear();
  }

  node_ptr make_node(graph_state& graph, node_work what, std::vector<node_dependency> after) {
    auto made = std::make_shared<graph_node_state>(
        graph_node_state{nullptr, &graph, std::move(what), std::move(after)});
    graph.nodes.push_back(made);
    rollback dropped([&graph] { graph.nodes.pop_back(); });
    (void)graph_nodes.add(made);
    dropped.keep();
    return made;
  }

  /// The block that an address lies in, or null.
  memory_block* find_block(std::uint64_t address) {
    auto after = blocks_of_memory.upper_bound(address);
    if (after == blocks_of_memory.begin()) return nullptr;
    --after;
    return address < after->second.end() ? &after->second : nullptr;
  }
};

/// The context stack of the calling thread for a driver. Static objects that are destroyed after
/// main may still own streams and memory: what is made that late stays.
inline context_stack& stack_of_thread(const driver_state& driver) {
  if (own_stacks == nullptr) (void)own_stacks_key.set(own_stacks = new stacks_of_thread);
  context_stack& stack = (*own_stacks)[driver.slot];
  if (stack.driver != driver.number) {
    stack.driver = driver.number;
    stack.contexts.clear();
    stack.capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  }
  return stack;
}

/// Ends the work of a context with a fault, unless it has one already. Threads: any, with or
/// without the lock.
inline void set_fault(context_state& context, CUresult code) {
  int none = 0;
  context.fault.compare_exchange_strong(none, static_cast<int>(code));
}

/// Runs a piece of a context's work, unless the context has a fault. If the host has too little
/// memory for it, the context gets one.
template <class Work> void do_work(context_state& context, const Work& work) {
  if (context.fault.load() != 0) return;
  if (!machine::within_memory(work)) set_fault(context, CUDA_ERROR_OUT_OF_MEMORY);
}

/// One call of an entry point: the driver, locked.
struct call {
  driver_state& driver;
  driver_lock lock;

  /// Returns the error of any call on a context that was destroyed, or whose fault was reported to
  /// the program; success for any other context.
  static CUresult usable(const context_state& context) {
    if (!context.alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return context.fault_told ? static_cast<CUresult>(context.fault.load()) : CUDA_SUCCESS;
  }

  /// The calling thread's current context, alive and without a known fault.
  CUresult current(context_ptr& context) {
    if (const CUresult bad = current_in_any_state(context)) return bad;
    return usable(*context);
  }
  /// The calling thread's current context, which may have a fault.
  CUresult current_in_any_state(context_ptr& context) {
    const context_stack& stack = stack_of_thread(driver);
    if (stack.contexts.empty() || stack.contexts.back() == nullptr)
      return CUDA_ERROR_INVALID_CONTEXT;
    context = driver.contexts.find(stack.contexts.back());
    if (!context) context = driver.greens.primary_of(stack.contexts.back());
    if (!context || !context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return CUDA_SUCCESS;
  }

  /// The context of a handle, which may have a fault.
  CUresult find_context(CUcontext handle, context_ptr& context) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    context = driver.contexts.find(handle);
    if (!context) context = driver.greens.primary_of(handle);
    if (!context) {
      const bool was_one = kind_of_handle(handle) == static_cast<unsigned>(handle_kind::context);
      return was_one ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
    }
    return context->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }

  /// The stream of a handle. The null stream and the per-thread stream are those of the current
  /// context, and need one; any other stream does not.
  CUresult find_stream(CUstream handle, stream_ptr& stream) {
    if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
      context_ptr context;
      if (const CUresult bad = current(context)) return bad;
      stream = handle == CU_STREAM_PER_THREAD ? thread_stream(context) : context->default_stream;
      return CUDA_SUCCESS;
    }
    stream = driver.streams.find(handle);
    if (!stream) return driver.streams.why_unknown(handle);
    return usable(*stream->context);
  }

  CUresult find_event(CUevent handle, event_ptr& event) {
    event = driver.events.find(handle);
    return event ? usable(*event->context) : driver.events.why_unknown(handle);
  }

  CUresult find_device(CUdevice ordinal, device_state*& device) {
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= driver.devices.size())
      return CUDA_ERROR_INVALID_DEVICE;
    device = driver.devices[static_cast<std::size_t>(ordinal)].get();
    return CUDA_SUCCESS;
  }

  /// Returns the context's fault, if it has one, from calls that wait or query.
  CUresult tell_fault(context_state& context) {
    const int fault = context.fault.load();
    if (fault != 0) context.fault_told = true;
    lock.unlock();
    driver.flush_prints();
    lock.lock();
    return static_cast<CUresult>(fault);
  }

  /// Puts work into a stream, or into the graph that the stream is being captured to. `what->work`
  /// is skipped once the context has a fault.
  CUresult enqueue(const stream_ptr& stream, const operation_ptr& what) {
    if (const CUresult bad = refuse_implicit(*stream)) return bad;
    if (stream->capture) return capture(stream, std::move(*what));
    // Work that will never run must not be waited for.
    rollback enqueued([&what] { what->drop(); });
    context_state& context = *stream->context;
    if (stream->is_default) {
      for (const stream_ptr& each : context.streams)
        if (each->blocking() && each->last()) what->after.push_back(each->last());
    } else if (stream->blocking() && context.default_stream->last()) {
      what->after.push_back(context.default_stream->last());
    }
    what->fault = {stream->context, &context.fault};
    if (!driver.work.enqueue(stream, what, lock)) return CUDA_ERROR_OPERATING_SYSTEM;
    enqueued.keep();
    drop_finished_streams(context);
    return CUDA_SUCCESS;
  }

  /// Adds the next work of a captured stream to its graph.
  CUresult capture(const stream_ptr& stream, node_work what) {
    if (stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    std::vector<node_dependency> next(1);
    next[0].node =
        driver.make_node(*stream->capture->graph, std::move(what), stream->capture_after);
    stream->capture_after = std::move(next);
    return CUDA_SUCCESS;
  }
  CUresult capture(const stream_ptr& stream, operation what) {
    if (what.node_type < 0) {
      stream->capture->invalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    node_work node;
    node.type = static_cast<CUgraphNodeType>(what.node_type);
    node.context = stream->context;
    node.work = std::move(what.work);
    node.reads = std::move(what.reads);
    node.reads_any_host_memory = what.reads_any_host_memory;
    node.reads_mapped_host_memory = what.reads_mapped_host_memory;
    node.kernel = std::move(what.kernel);
    return capture(stream, std::move(node));
  }

  /// The default stream cannot be used while a blocking stream of its context is being captured,
  /// for the two would wait for each other.
  CUresult refuse_implicit(const stream_state& stream, bool invalidate = true) {
    if (!stream.is_default || driver.captures.empty()) return CUDA_SUCCESS;
    bool implicit = false;
    for (const capture_ptr& each : driver.captures) {
      for (const stream_ptr& captured : each->streams) {
        if (captured->context != stream.context || !captured->blocking()) continue;
        implicit = true;
        if (invalidate) each->invalidated = true;
      }
    }
    return implicit ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
  }

  /// Returns the error of a call on a stream that a capture does not allow, such as one that
  /// blocks, and invalidates the capture.
  CUresult refuse_capture(const stream_state& stream) {
    if (const CUresult bad = refuse_implicit(stream)) return bad;
    if (!stream.capture) return refuse_unsafe_call();
    stream.capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }

  /// Does the same for a call that waits for all work of a context.
  CUresult refuse_capture(const context_state& context) {
    if (driver.captures.empty()) return CUDA_SUCCESS;
    CUresult refused = refuse_unsafe_call();
    for (const stream_ptr& each : context.streams) {
      if (!each->capture) continue;
      each->capture->invalidated = true;
      refused = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return refused;
  }

  /// Returns the error of a call that blocks or changes the address space during a capture that
  /// forbids such calls in this thread, and invalidates the capture.
  CUresult refuse_unsafe_call() {
    const CUstreamCaptureMode own = stack_of_thread(driver).capture_mode;
    if (driver.captures.empty() || own == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
    CUresult refused = CUDA_SUCCESS;
    for (const capture_ptr& each : driver.captures) {
      const bool in_thread = each->thread == std::this_thread::get_id();
      const bool forbids = in_thread ? each->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                     : own == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                           each->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
      if (!forbids) continue;
      each->invalidated = true;
      refused = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return refused;
  }

  /// Waits for all work of a stream; for the default stream that is the blocking streams' too.
  void finish(const stream_ptr& stream) {
    if (stream->is_default) {
      const std::vector<stream_ptr> others = stream->context->streams;
      for (const stream_ptr& each : others)
        if (each->blocking()) driver.work.finish(each->last(), lock);
    }
    driver.work.finish(stream->last(), lock);
  }
  /// Waits for all work of a context.
  void finish(const context_ptr& context) {
    const std::vector<stream_ptr> all = context->streams;
    for (const stream_ptr& each : all) driver.work.finish(each->last(), lock);
    driver.work.finish(context->default_stream->last(), lock);
    drop_finished_streams(*context);
  }
  /// Waits for the work of all contexts of a device.
  void finish(const device_state& device) {
    for (const context_ptr& each : driver.contexts.all())
      if (each->alive && each->device == &device) finish(each);
  }

  static void drop_finished_streams(context_state& context) {
    std::erase_if(context.streams,
                  [](const stream_ptr& each) { return each->closed && each->pending.empty(); });
  }

 private:
  stream_ptr thread_stream(const context_ptr& context) {
    stream_ptr& stream = context->thread_streams[std::this_thread::get_id()];
    if (!stream) {
      auto made = std::make_shared<stream_state>();
      made->handle = CU_STREAM_PER_THREAD;
      made->context = context;
      made->id = ++driver.last_stream_id;
      context->streams.push_back(made);
      stream = std::move(made);
    }
    return stream;
  }
};

}}}  // namespace nogpu::v1::driver
