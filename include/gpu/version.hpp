#pragma once
/// \file
/// All versions that matter: of the library, of the headers, of the driver, of NVRTC.

// IWYU pragma: begin_exports
#include <gpu/compiler/toolkit_version.hpp>
#include <gpu/core/version.hpp>
#include <gpu/driver/driver_version.hpp>
// IWYU pragma: end_exports
