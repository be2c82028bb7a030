#pragma once
/// \file
/// The options of the driver, from the environment.

#include <gpu/testing/cpu_driver_options.hpp>

namespace nogpu::libcuda {

/// Reads NOGPU_DEVICES, NOGPU_MEMORY, NOGPU_THREADS and NOGPU_STRICT. A value that cannot be used
/// is named on stderr, and the default takes its place.
gpu::testing::cpu_driver_options settings_of_environment();

}  // namespace nogpu::libcuda
