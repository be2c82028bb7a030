// The smallest program: a kernel that prints.
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

gpu::result<> run() {
  gpu::stream stream = GPU_TRY(gpu::stream::create(GPU_TRY(gpu::device::get(0))));
  gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(R"(
    extern "C" __global__ void hello() { printf("hello from thread %d\n", threadIdx.x); })"))));
  GPU_TRY(gpu::launch(stream, {1, 3}, GPU_TRY(code.kernel<>("hello"))));
  return stream.synchronize();
}

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  return gpu::exit_status(run());
}

// Prints:
// hello from thread 0
// hello from thread 1
// hello from thread 2
