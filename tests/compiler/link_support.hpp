#pragma once
/// \file
/// Sources to be linked, and running what came of it.

#include <gpu/compiler.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>

#include "support/results.hpp"  // IWYU pragma: export

#include <vector>

namespace test {

/// Two sources, of which the second needs the first; `k` gives 52.
inline constexpr const char* math = R"(
__device__ int base = 41;
__constant__ int table[3] = {1, 10, 100};
__device__ int add_one(int x) { return x + 1; }
template <class T> __global__ void fill(T* p, T v) { *p = v; }
)";
inline constexpr const char* kernels = R"(
extern __device__ int base;
extern __constant__ int table[3];
__device__ int add_one(int);
extern "C" __global__ void k(int* out) { *out = add_one(base) + table[1]; }
)";

inline gpu::compiled_program compile(const char* source, bool lto, gpu::architecture target = {}) {
  gpu::compile_options options;
  options.architecture = target;
  options.relocatable = !lto;
  options.link_time_optimization = lto;
  return value_of(gpu::compile(gpu::program(source), options));
}
inline gpu::text ptx_of(const char* source) {
  return compile(source, false, gpu::architecture::compute(80)).ptx();
}

inline int run(const gpu::module& module) {
  const gpu::stream stream = value_of(gpu::stream::create(test::first_device()));
  const auto k = value_of(module.kernel<int*>("k"));
  std::vector<int> out(1);
  value_of(gpu::launch(stream, {1, 1}, k, gpu::out(out)));
  return out[0];
}

/// Takes nvJitLink away for a scope.
class without_nvjitlink {
 public:
  without_nvjitlink() { table_.unavailable = gpu::errc::no_nvjitlink; }

 private:
  gpu::nvjitlink::entry_points table_{};
  gpu::nvjitlink::scoped_entry_points in_force_{table_};
};

}  // namespace test
