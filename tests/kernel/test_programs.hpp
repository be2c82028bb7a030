#pragma once
/// \file
/// What tests of kernels need over and over: a compiled program, a stream, host values.

#include <gpu/compiler.hpp>
#include <gpu/driver.hpp>
#include <gpu/kernel.hpp>

#include "support/catch.hpp"

namespace test {

/// Ends the test case with the error where there is one.
template <class T> T must(gpu::result<T> r) {
  if (!r.has_value()) FAIL(r.error().message().c_str());
  if constexpr (!std::is_void_v<T>) return *std::move(r);
}

/// Compiles for the device that the tests run on, and loads.
inline gpu::module load_source(const char* source) {
  return must(gpu::module::load(must(gpu::compile(source))));
}

inline gpu::device first_device() { return must(gpu::device::get(0)); }
inline gpu::stream new_stream() { return must(gpu::stream::create(first_device())); }

}  // namespace test
