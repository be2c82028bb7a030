#pragma once
/// \file
/// The driver's objects: devices, contexts, streams, events, and the table they are reached by.

#include <gpu/driver/calls.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/detail/current_context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/elapsed_time.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/error_reporter.hpp>
#include <gpu/driver/event.hpp>
#include <gpu/driver/stream.hpp>
