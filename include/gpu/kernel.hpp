#pragma once
/// \file
/// The layer `kernel`: loaded code, its kernels and their launch.

// IWYU pragma: begin_exports
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/jit_options.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/kernel_attribute.hpp>
#include <gpu/kernel/kernel_properties.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/launch_attribute.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/kernel/managed_variable.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/kernel/occupancy.hpp>
// IWYU pragma: end_exports
