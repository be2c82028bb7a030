#pragma once
/// \file
/// The driver behind libcuda.so.1: a CPU driver that the first call starts.

#include <gpu/driver/detail/entry_point_table.hpp>

#include <cuda.h>

namespace nogpu::libcuda {

using table = gpu::driver::entry_points;

/// Returns the functions of the driver, and starts it if this is the first call. In a child of a
/// process that had initialized the driver, nearly all members are null.
const table& driver() noexcept;

/// cuInit, whose success decides what a child of `fork` may do.
CUresult init(unsigned flags) noexcept;

/// Says once for each function, on stderr, that it is not implemented.
CUresult refuse(const char* function) noexcept;

/// Calls a function of the driver's table.
template <auto Member, class... Arguments> CUresult ask(Arguments... arguments) noexcept {
  const auto function = driver().*Member;
  return function != nullptr ? function(arguments...) : CUDA_ERROR_NOT_INITIALIZED;
}

}  // namespace nogpu::libcuda
