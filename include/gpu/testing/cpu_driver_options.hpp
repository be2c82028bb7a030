#pragma once
/// \file
/// `cpu_driver_options`: the options of the CPU driver, which are those of nogpu.

#include <nogpu/driver_options.hpp>  // IWYU pragma: export

namespace gpu { inline namespace v1 { namespace testing {

using nogpu::execution;
using nogpu::poison;
using cpu_driver_options = nogpu::driver_options;
namespace machine = nogpu::machine;  ///< has the checks and limits among the options

}}}  // namespace gpu::v1::testing
