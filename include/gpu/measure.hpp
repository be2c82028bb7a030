#pragma once
/// \file
/// Measuring: how long work on a device takes, how certain that is, and what share of the device's
/// abilities it uses.

// IWYU pragma: begin_exports
#include <gpu/measure/device_condition.hpp>
#include <gpu/measure/device_peaks.hpp>
#include <gpu/measure/json.hpp>
#include <gpu/measure/measure.hpp>
#include <gpu/measure/measurement.hpp>
#include <gpu/measure/memory_blocks.hpp>
#include <gpu/measure/memory_picture.hpp>
#include <gpu/measure/picture.hpp>
#include <gpu/measure/sample_statistics.hpp>
#include <gpu/measure/table.hpp>
// IWYU pragma: end_exports
