#pragma once
/// \file
/// Loads PTX text into the machine and runs it. The machine takes long to compile, so run_text.cpp
/// alone includes it; it is compiled as one with the CPU driver, which has the same code.

#include <nogpu/machine/address_space.hpp>
#include <nogpu/machine/host_processors.hpp>
#include <nogpu/machine/launch.hpp>
#include <nogpu/machine/loaded_module.hpp>

#include <optional>
#include <string>

namespace machine_test {

using namespace nogpu::machine;

load_result load_text(const std::string& text, address_space& memory, std::string name = {});
std::optional<fault> run_launch(const launch& what, address_space& memory,
                                host_processors& processors);

}  // namespace machine_test
