#pragma once
/// \file
/// The layer `kernel`: loaded code, its kernels and their launch.

#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/kernel.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/launch_config.hpp>
#include <gpu/kernel/module.hpp>
