#pragma once
/// \file
/// The driver's objects: devices, contexts, streams, events, and the table they are reached by.

// IWYU pragma: begin_exports
#include <gpu/driver/cache_preference.hpp>
#include <gpu/driver/calls.hpp>
#include <gpu/driver/capture_mode.hpp>
#include <gpu/driver/choose_device.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/context_limit.hpp>
#include <gpu/driver/context_memo.hpp>
#include <gpu/driver/context_or_device.hpp>
#include <gpu/driver/default_context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/device_attribute.hpp>
#include <gpu/driver/device_data.hpp>
#include <gpu/driver/device_properties.hpp>
#include <gpu/driver/driver_log.hpp>
#include <gpu/driver/driver_version.hpp>
#include <gpu/driver/elapsed_time.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/exit_status.hpp>
#include <gpu/driver/green_context.hpp>
#include <gpu/driver/host_function.hpp>
#include <gpu/driver/l2_cache.hpp>
#include <gpu/driver/multiprocessor_set.hpp>
#include <gpu/driver/peer_access.hpp>
#include <gpu/driver/peer_matrix.hpp>
#include <gpu/driver/primary_context.hpp>
#include <gpu/driver/profiler.hpp>
#include <gpu/driver/remote_writes.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/driver/stream_attribute.hpp>
// IWYU pragma: end_exports
