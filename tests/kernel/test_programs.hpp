#pragma once
/// \file
/// What tests of kernels need over and over: a compiled program, a stream, host values.

#include <gpu/compiler.hpp>
#include <gpu/driver.hpp>
#include <gpu/kernel.hpp>

#include "support/results.hpp"

namespace test {

/// Compiles for the device that the tests run on, and loads.
inline gpu::module load_source(const char* source) {
  return value_of(gpu::module::load(value_of(gpu::compile(source))));
}

inline gpu::stream new_stream() { return value_of(gpu::stream::create(first_device())); }

}  // namespace test
