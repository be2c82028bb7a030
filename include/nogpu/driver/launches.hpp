#pragma once
/// \file
/// Entry points: launches of kernels.

#include <nogpu/driver/code_loading.hpp>
#include <nogpu/driver/device_attributes.hpp>
#include <nogpu/driver/driver_state.hpp>
#include <nogpu/driver/enumeration.hpp>
#include <nogpu/driver/functions.hpp>
#include <nogpu/driver/occupancy.hpp>
#include <nogpu/driver/stream_attributes.hpp>
#include <nogpu/machine/machine.hpp>

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace nogpu { inline namespace v1 { namespace driver {

/// A launch as the caller asks for it.
struct launch_order {
  machine::extent grid{};
  machine::extent block{};
  unsigned shared = 0;  // bytes, dynamic
  CUstream stream = nullptr;
  bool cooperative = false;
  bool programmatic = false;         // it may begin before kernels ahead of it in the stream end
  machine::extent cluster{0, 0, 0};  // zeros: as the kernel says
};

/// The arguments of a launch, as the node of a graph returns them.
struct kernel_launch {
  CUDA_KERNEL_NODE_PARAMS asked{};  // without the parameters
  code_ptr code;
  const machine::executable* kernel = nullptr;
  machine::launch what;
  bool misfit = false;  // of a changed node: its clusters do not fit its grid
  std::vector<std::byte> parameters;
  std::vector<void*> pointers;  // to each of them, once the program has asked
};

/// The error code of a context after a fault of a kernel.
inline CUresult code_of(machine::fault_kind kind) {
  using machine::fault_kind;
  switch (kind) {
    case fault_kind::none: return CUDA_SUCCESS;
    case fault_kind::out_of_bounds:
    case fault_kind::use_after_free:
    case fault_kind::null_access:
    case fault_kind::foreign_context:
    case fault_kind::read_only:
    case fault_kind::shared_out_of_bounds:
    case fault_kind::local_out_of_bounds:
    case fault_kind::param_out_of_bounds:
    case fault_kind::stack_overflow:
    case fault_kind::no_such_image:
    case fault_kind::wrong_image_shape:
    case fault_kind::surface_out_of_bounds: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case fault_kind::misaligned: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case fault_kind::wrong_space: return CUDA_ERROR_INVALID_ADDRESS_SPACE;
    case fault_kind::invalid_call_target: return CUDA_ERROR_INVALID_PC;
    case fault_kind::illegal_instruction:
    case fault_kind::mask_misuse: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case fault_kind::assertion: return CUDA_ERROR_ASSERT;
    case fault_kind::instruction_budget:
    case fault_kind::barrier_divergence: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case fault_kind::trap:
    case fault_kind::shared_race:
    case fault_kind::uninitialized_read:
    case fault_kind::still_running: break;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

/// The cluster of a launch: the one that the kernel requires, or else the one that was asked for.
inline machine::extent cluster_of(const machine::executable& kernel, const launch_order& order) {
  const ptx::dimensions& required = kernel.entry->required_cluster;
  if (required.x != 0)
    return {required.x, required.y != 0 ? required.y : 1, required.z != 0 ? required.z : 1};
  return order.cluster.x != 0 ? order.cluster : machine::extent{};
}

/// Checks that clusters divide the grid, and are as the kernel takes them.
inline CUresult check_cluster(const machine::executable& kernel, const kernel_settings& settings,
                              const launch_order& order) {
  const machine::extent cluster = cluster_of(kernel, order);
  const machine::extent& asked = order.cluster;
  const bool any = asked.x != 0 || asked.y != 0 || asked.z != 0;
  if (any && asked.count() == 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (any && (asked.x != cluster.x || asked.y != cluster.y || asked.z != cluster.z))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (!any && kernel.entry->explicit_cluster && kernel.entry->required_cluster.x == 0)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  const std::uint64_t most =
      settings.nonportable_cluster != 0 ? nonportable_cluster_blocks : portable_cluster_blocks;
  const std::uint32_t rank = kernel.entry->max_cluster_rank;
  if (cluster.count() > most || (rank != 0 && cluster.count() > rank))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  const machine::extent& grid = order.grid;
  const bool divides =
      grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
  return divides ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

/// Checks that the device can run a kernel with this shape.
inline CUresult check_shape(const machine::executable& kernel, const kernel_settings& settings,
                            const launch_order& order) {
  const machine::extent& grid = order.grid;
  const machine::extent& block = order.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (grid.x > 0x7fffffffu || grid.y > 65535u || grid.z > 65535u) return CUDA_ERROR_INVALID_VALUE;
  if (block.x > 1024u || block.y > 1024u || block.z > 64u || block.count() > threads_per_block)
    return CUDA_ERROR_INVALID_VALUE;
  const ptx::dimensions& required = kernel.entry->required_threads;
  if (required.x != 0 && block.count() != std::uint64_t{required.x} *
                                              (required.y != 0 ? required.y : 1) *
                                              (required.z != 0 ? required.z : 1))
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = check_cluster(kernel, settings, order)) return bad;
  if (static_cast<std::int64_t>(order.shared) > dynamic_shared_limit(kernel, settings))
    return CUDA_ERROR_INVALID_VALUE;
  if (block.count() > kernel.max_threads_per_block) return CUDA_ERROR_INVALID_VALUE;
  const int threads = static_cast<int>(block.count());
  const int resident = blocks_without_registers(kernel, threads, order.shared);
  if (resident == 0) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const auto together = static_cast<std::uint64_t>(resident) * multiprocessors;
  if (order.cooperative && grid.count() > together) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return CUDA_SUCCESS;
}

/// Collects the parameters into one block, from an array of pointers or from a buffer of the
/// caller's. A buffer has to end where the last parameter does.
inline CUresult pack_parameters(const ptx::function& entry, void** pointers, void** extra,
                                std::vector<std::byte>& block) {
  std::size_t end = 0;
  if (!entry.parameters.empty())
    end = std::size_t{entry.parameters.back().offset} + entry.parameters.back().size;
  block.assign(std::max<std::size_t>(end, entry.parameter_bytes), std::byte{0});
  if (pointers != nullptr && extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (extra != nullptr) {
    const void* buffer = nullptr;
    const std::size_t* size = nullptr;
    for (std::size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
        buffer = extra[i + 1];
      } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
        size = static_cast<const std::size_t*>(extra[i + 1]);
      } else {
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    const std::size_t given = size != nullptr ? *size : 0;
    if (given != 0 && buffer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (given != end) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (end != 0) std::memcpy(block.data(), buffer, end);
    return CUDA_SUCCESS;
  }
  if (pointers == nullptr) return end == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const ptx::parameter& parameter = entry.parameters[i];
    if (pointers[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(block.data() + parameter.offset, pointers[i], parameter.size);
  }
  return CUDA_SUCCESS;
}

/// Notes the page-locked memory among a kernel's arguments, so that the driver does not write it
/// before the kernel has read it.
inline void note_host_reads(call& c, const std::vector<std::byte>& parameters, operation& what) {
  what.reads_mapped_host_memory = true;
  for (std::size_t at = 0; at + 8 <= parameters.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, parameters.data() + at, sizeof word);
    const memory_block* block = c.driver.find_block(word);
    if (block != nullptr && block->on_host()) what.reads.push_back({block->base, block->end()});
  }
}

/// Runs a kernel to its end. Without the lock.
inline void run_kernel(driver_state& driver, context_state& context, machine::launch what,
                       const std::vector<std::byte>& parameters) {
  what.parameters = parameters;
  what.heap = context.heap.get();
  what.images = &driver.images;
  what.canceled = &driver.canceled;
  what.hook.print = [&driver](std::string_view text) { driver.print(text); };
  what.hook.report = [&driver](const machine::fault& found) {
    if (found.kind == machine::fault_kind::still_running) return driver.report(found.text);
    driver.report_finding(found.text);
  };
  what.hook.set_conditional = [&driver](std::uint64_t handle, std::uint32_t value) {
    const std::lock_guard guard(driver.conditions_mutex);
    const auto found = driver.conditions.find(handle);
    const auto condition = found == driver.conditions.end() ? nullptr : found->second.lock();
    if (condition) condition->now.store(value);
    return condition != nullptr;
  };
  machine::cost_table costs;
  const auto collections = driver.costs.under_way();
  if (!collections.empty()) what.costs = &costs;
  const auto fault = machine::run(what, driver.memory, driver.blocks);
  for (const auto& each : collections) add_costs(costs, *each);
  if (!fault || driver.canceled.load()) return;
  set_fault(context, code_of(fault->kind));
  driver.report_finding(fault->text);
}

/// The work of a launch.
inline std::function<void()> work_of(driver_state& driver, const context_ptr& context,
                                     const std::shared_ptr<kernel_launch>& asked) {
  return [&driver, context, asked] {
    do_work(*context, [&] {
      if (!asked->misfit) return run_kernel(driver, *context, asked->what, asked->parameters);
      set_fault(*context, CUDA_ERROR_INVALID_CLUSTER_SIZE);
      driver.report_finding("the clusters of a kernel node do not fit its grid: kernel " +
                            asked->kernel->entry->name);
    });
  };
}

/// Makes the work of a launch in a context, with its parameters as they are now.
inline CUresult prepare_launch(call& c, const context_ptr& context, CUfunction handle,
                               const launch_order& order, void** pointers, void** extra,
                               operation_ptr& made) {
  function_ptr function;
  if (const CUresult bad = find_function(c, handle, context, function)) return bad;
  if (function->context != context->handle) return CUDA_ERROR_INVALID_HANDLE;
  const machine::executable& kernel = *function->kernel;
  if (!kernel.refused.empty()) {
    c.driver.report(kernel.refused);
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (const CUresult bad = check_shape(kernel, *function->settings, order)) return bad;
  auto asked = std::make_shared<kernel_launch>();
  if (const CUresult bad = pack_parameters(*kernel.entry, pointers, extra, asked->parameters))
    return bad;
  asked->asked.func = function->handle;
  if (handle != function->handle) asked->asked.kern = reinterpret_cast<CUkernel>(handle);
  asked->asked.ctx = context->handle;
  asked->asked.gridDimX = order.grid.x;
  asked->asked.gridDimY = order.grid.y;
  asked->asked.gridDimZ = order.grid.z;
  asked->asked.blockDimX = order.block.x;
  asked->asked.blockDimY = order.block.y;
  asked->asked.blockDimZ = order.block.z;
  asked->asked.sharedMemBytes = order.shared;
  asked->code = function->code;
  asked->kernel = &kernel;

  machine::launch& what = asked->what;
  what.kernel = &kernel;
  what.grid = order.grid;
  what.block = order.block;
  what.cluster = cluster_of(kernel, order);
  what.explicit_cluster = order.cluster.x != 0 || kernel.entry->required_cluster.x != 0;
  what.dynamic_shared_bytes = order.shared;
  what.cooperative = order.cooperative;
  what.context = context->owner;
  what.grid_id = ++c.driver.last_grid;
  what.multiprocessors = static_cast<std::uint32_t>(multiprocessors);
  what.limit.instructions_per_thread = c.driver.options.instruction_budget;
  what.limit.told_after = c.driver.options.long_kernel_report;
  what.limit.stack_bytes = static_cast<std::uint32_t>(context->limits[CU_LIMIT_STACK_SIZE]);
  what.check = c.driver.options.checks;

  auto enqueued = std::make_shared<operation>();
  note_host_reads(c, asked->parameters, *enqueued);
  enqueued->work = work_of(c.driver, context, asked);
  enqueued->kernel = std::move(asked);
  enqueued->node_type = CU_GRAPH_NODE_TYPE_KERNEL;
  made = std::move(enqueued);
  return CUDA_SUCCESS;
}

/// Remembers that a kernel may use the heap or printf's buffer, whose sizes are fixed from then on,
/// and gives the threads of the context the stack that it needs, as a device's driver does.
inline void note_runtime_use(context_state& context, const machine::executable& kernel) {
  std::size_t& stack = context.limits[CU_LIMIT_STACK_SIZE];
  const std::size_t needed = (std::size_t{kernel.local_bytes} + 15) / 16 * 16;
  if (kernel.depth_is_known) stack = std::max(stack, needed);
  context.heap_used = context.heap_used || kernel.uses_heap;
  context.printf_used = context.printf_used || kernel.uses_printf;
}

inline CUresult launch(call& c, CUfunction handle, const launch_order& order, void** pointers,
                       void** extra, operation_ptr* made = nullptr) {
  stream_ptr stream;
  operation_ptr what;
  if (const CUresult bad = c.find_stream(order.stream, stream)) return bad;
  const CUresult bad = prepare_launch(c, stream->context, handle, order, pointers, extra, what);
  if (bad) {
    if (stream->capture) stream->capture->invalidated = true;
    return bad;
  }
  if (!stream->capture) {
    note_runtime_use(*stream->context, *what->kernel->kernel);
    what->kernel.reset();
  }
  if (made != nullptr) *made = what;
  if (order.programmatic) depend_programmatically(stream->capture_after);
  return c.enqueue(stream, what);
}

/// Applies launch attributes. Those that only tune the hardware are accepted, but have no effect.
inline CUresult take_launch_attributes(call& c, const CUlaunchConfig& config, launch_order& order,
                                       std::vector<event_ptr>& events) {
  if (config.numAttrs != 0 && config.attrs == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config.attrs[i];
    const CUlaunchAttributeValue& value = attribute.value;
    event_ptr event;
    switch (number_of(attribute.id)) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: order.cooperative = value.cooperative != 0; break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        order.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
        break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        if (const CUresult bad = c.find_event(value.programmaticEvent.event, event)) return bad;
        events.push_back(event);
        break;
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        if (const CUresult bad = c.find_event(value.launchCompletionEvent.event, event)) return bad;
        events.push_back(event);
        break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        order.programmatic = value.programmaticStreamSerializationAllowed != 0;
        break;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if (!fits(attribute.id, value)) return CUDA_ERROR_INVALID_VALUE;
        break;
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: break;
      case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: return CUDA_ERROR_NOT_SUPPORTED;
      default: return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver

namespace nogpu { inline namespace v1 { namespace driver::entry {

inline CUresult launch_kernel(call& c, CUfunction function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared, CUstream stream, void** parameters, void** extra) {
  const launch_order order{
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, false};
  return launch(c, function, order, parameters, extra);
}

inline CUresult launch_cooperative_kernel(call& c, CUfunction function, unsigned grid_x,
                                          unsigned grid_y, unsigned grid_z, unsigned block_x,
                                          unsigned block_y, unsigned block_z, unsigned shared,
                                          CUstream stream, void** parameters) {
  const launch_order order{
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, true};
  return launch(c, function, order, parameters, nullptr);
}

inline CUresult launch_kernel_ex(call& c, const CUlaunchConfig* config, CUfunction function,
                                 void** parameters, void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  launch_order order{{config->gridDimX, config->gridDimY, config->gridDimZ},
                     {config->blockDimX, config->blockDimY, config->blockDimZ},
                     config->sharedMemBytes,
                     config->hStream,
                     false};
  std::vector<event_ptr> events;
  if (const CUresult bad = take_launch_attributes(c, *config, order, events)) return bad;
  for (const event_ptr& each : events)
    if (each->shared) return CUDA_ERROR_INVALID_VALUE;
  operation_ptr made;
  const CUresult answer = launch(c, function, order, parameters, extra, &made);
  if (answer) return answer;
  for (const event_ptr& each : events) each->recorded = made;
  return CUDA_SUCCESS;
}

}}}  // namespace nogpu::v1::driver::entry
