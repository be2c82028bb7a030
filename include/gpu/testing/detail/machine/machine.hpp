// The PTX machine: memory, modules, grids.
#pragma once

// IWYU pragma: begin_exports
#include <gpu/testing/detail/machine/address_space.hpp>
#include <gpu/testing/detail/machine/fault.hpp>
#include <gpu/testing/detail/machine/grid.hpp>
#include <gpu/testing/detail/machine/launch.hpp>
#include <gpu/testing/detail/machine/loaded_module.hpp>
#include <gpu/testing/detail/machine/loader.hpp>
// IWYU pragma: end_exports
