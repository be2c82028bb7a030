// Copies and kernels that overlap: two streams, page-locked memory, and an event between them.
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstdio>

constexpr const char* kernel_text = R"(
extern "C" __global__ void square(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
})";

gpu::result<> run() {
  constexpr std::size_t parts = 8, size = 1000;
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
  auto square = GPU_TRY(code.kernel<int*, int>("square"));

  // A copy on a stream returns at once, so the host's memory must be page-locked.
  auto host = GPU_TRY(gpu::pinned_vector<int>::create(device, parts * size));
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i % size);
  auto memory = GPU_TRY(gpu::device_buffer<int>::create(device, parts * size));

  gpu::stream streams[2];
  for (gpu::stream& stream : streams) stream = GPU_TRY(gpu::stream::create(device));
  for (std::size_t part = 0; part < parts; ++part) {
    const gpu::stream& stream = streams[part % 2];
    auto here = host.span().subspan(part * size, size);
    auto there = memory.span().subspan(part * size, size);
    GPU_TRY(gpu::copy(stream, here, there));
    GPU_TRY(gpu::launch(stream, {gpu::grid_for(size, 256), 256}, square, there, int(size)));
    GPU_TRY(gpu::copy(stream, there, here));
  }

  // The first stream waits for the second, and the host for the first.
  gpu::event done = GPU_TRY(gpu::event::create(device));
  GPU_TRY(gpu::record(streams[1], done));
  GPU_TRY(gpu::wait(streams[0], done));
  GPU_TRY(streams[0].synchronize());

  long long sum = 0;
  for (int value : host) sum += value;
  std::printf("the sum of all squares is %lld\n", sum);
  return {};
}

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  return gpu::exit_status(run());
}

// Prints:
// the sum of all squares is 2662668000
