// The PTX machine: memory, modules, grids.
#pragma once

// IWYU pragma: begin_exports
#include <nogpu/machine/address_space.hpp>
#include <nogpu/machine/fault.hpp>
#include <nogpu/machine/grid.hpp>
#include <nogpu/machine/launch.hpp>
#include <nogpu/machine/loaded_module.hpp>
#include <nogpu/machine/loader.hpp>
// IWYU pragma: end_exports
