// Work that repeats, captured once and launched as a whole.
#include <gpu/gpu.hpp>
#include <gpu/graph.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstdio>

constexpr const char* kernel_text = R"(
extern "C" __global__ void twice(int* x) { x[threadIdx.x] *= 2; }
extern "C" __global__ void add_one(int* x) { x[threadIdx.x] += 1; })";

gpu::result<> run() {
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
  auto twice = GPU_TRY(code.kernel<int*>("twice"));
  auto add_one = GPU_TRY(code.kernel<int*>("add_one"));
  auto x = GPU_TRY(gpu::device_buffer<int>::create(device, 4));

  // Between begin and end, what is queued on the stream is recorded instead of run.
  auto capture = GPU_TRY(gpu::stream_capture::begin(stream));
  GPU_TRY(gpu::launch(stream, {1, 4}, twice, x));
  GPU_TRY(gpu::launch(stream, {1, 4}, add_one, x));
  gpu::graph step = GPU_TRY(capture.end());
  gpu::graph_exec exec = GPU_TRY(gpu::graph_exec::instantiate(step));

  GPU_TRY(gpu::fill(stream, x, 0));
  for (int i = 0; i < 10; ++i) GPU_TRY(gpu::launch(stream, exec));
  GPU_TRY(stream.synchronize());
  int host[4] = {};
  GPU_TRY(gpu::copy(x, host));
  std::printf("after 10 steps: %d %d %d %d\n", host[0], host[1], host[2], host[3]);
  return {};
}

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  return gpu::exit_status(run());
}

// Prints:
// after 10 steps: 1023 1023 1023 1023
