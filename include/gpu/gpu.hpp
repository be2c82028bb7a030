#pragma once
/// \file
/// The library, but for `gpu/testing/`, for what needs other libraries' headers (`gpu/interop/`),
/// and for what few programs use and all would pay for: `gpu/texture.hpp`, of `gpu/core/`
/// `last_error.hpp`, of `gpu/driver/` `driver_log.hpp`, `peer_matrix.hpp` and
/// `stream_attribute.hpp`, of `gpu/kernel/` `cluster_occupancy.hpp`, `kernel_attribute.hpp` and
/// `launch_attribute.hpp`, of `gpu/graph/` `box_node.hpp`, `graph_dot.hpp`, `graph_edge.hpp`,
/// `graph_memory.hpp`, `memory_operation_node.hpp` and `node_attribute.hpp`, and of `gpu/memory/`
/// `copy_batch.hpp`, `growing_buffer.hpp`, `ipc.hpp`, `logging_allocator.hpp`, `managed_batch.hpp`,
/// `memory_pool_attribute.hpp`, `memory_range_attribute.hpp`, `peer_memory.hpp`,
/// `pointer_attribute.hpp`, `shared_pool.hpp`, `stream_memory_operation.hpp` and
/// `virtual_memory.hpp`.

#include <gpu/compiler.hpp>
#include <gpu/driver.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/choose_device.hpp>
#include <gpu/driver/device_properties.hpp>
#include <gpu/driver/host_function.hpp>
#include <gpu/driver/l2_cache.hpp>
#include <gpu/driver/peer.hpp>
#include <gpu/driver/primary_context.hpp>
#include <gpu/driver/profiler.hpp>
#include <gpu/driver/remote_writes.hpp>
#include <gpu/graph.hpp>
#include <gpu/kernel.hpp>
#include <gpu/kernel/occupancy.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/aligned_buffer.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>
#include <gpu/memory/copy_2d.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/memory_pool.hpp>
#include <gpu/memory/pitched_buffer.hpp>
#include <gpu/memory/prefetch.hpp>
#include <gpu/memory/registered_memory.hpp>
#include <gpu/version.hpp>
