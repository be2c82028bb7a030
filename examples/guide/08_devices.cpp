// All devices of the machine: each sums its share of the numbers, at the same time as the others.
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstdio>
#include <utility>
#include <vector>

constexpr const char* kernel_text = R"(
extern "C" __global__ void sum(unsigned long long first, unsigned long long last,
                               unsigned long long* total) {
  unsigned long long own = 0;
  for (auto i = first + blockIdx.x * blockDim.x + threadIdx.x; i < last; i += gridDim.x * blockDim.x)
    own += i;
  atomicAdd(total, own);
})";

using sum_type = unsigned long long;

struct share {
  gpu::stream stream;
  gpu::device_buffer<sum_type> total;
};

gpu::result<> run() {
  const int count = GPU_TRY(gpu::device::count());
  const sum_type all = 1'000'000;
  // One module serves every device: its kernel runs where the stream is.
  gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
  auto sum = GPU_TRY(code.kernel<sum_type, sum_type, sum_type*>("sum"));

  std::vector<share> shares;
  for (int i = 0; i < count; ++i) {
    gpu::device device = GPU_TRY(gpu::device::get(i));
    gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto total = GPU_TRY(gpu::device_buffer<sum_type>::create(device, 1));
    GPU_TRY(gpu::copy(std::vector<sum_type>{0}, total));
    const sum_type first = all * sum_type(i) / sum_type(count),
                   last = all * sum_type(i + 1) / sum_type(count);
    GPU_TRY(gpu::launch(stream, {8, 64}, sum, first, last, total));
    shares.push_back({std::move(stream), std::move(total)});
  }
  sum_type result = 0;
  for (share& one : shares) {
    sum_type part[1] = {};
    GPU_TRY(one.stream.synchronize());
    GPU_TRY(gpu::copy(one.total, part));
    result += part[0];
  }
  std::printf("the sum is %llu\n", result);
  return {};
}

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu({.devices = 3});
  return gpu::exit_status(run());
}

// Prints:
// the sum is 499999500000
