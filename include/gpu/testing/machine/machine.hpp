// The PTX machine: memory, modules, grids.
#pragma once

#include <gpu/testing/machine/address_space.hpp>
#include <gpu/testing/machine/fault.hpp>
#include <gpu/testing/machine/grid.hpp>
#include <gpu/testing/machine/launch.hpp>
#include <gpu/testing/machine/loaded_module.hpp>
#include <gpu/testing/machine/loader.hpp>
