// A class that owns GPU objects: made by a function that can fail, moved, and freed with its
// members.
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstdio>
#include <utility>
#include <vector>

/// The running mean of vectors of one length, on the device.
class running_mean {
 public:
  static gpu::result<running_mean> create(gpu::device device, std::size_t size) {
    constexpr const char* kernel_text = R"(
      extern "C" __global__ void add(float* mean, const float* x, float share, size_t n) {
        const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
        if (i < n) mean[i] += (x[i] - mean[i]) * share;
      })";
    gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
    auto add = GPU_TRY(code.kernel<float*, const float*, float, std::size_t>("add"));
    auto mean = GPU_TRY(gpu::device_buffer<float>::create(device, size));
    auto next = GPU_TRY(gpu::device_buffer<float>::create(device, size));
    GPU_TRY(gpu::fill(stream, mean, 0.0f));
    // The kernel keeps the code; the module need not be a member.
    return running_mean(std::move(stream), std::move(add), std::move(mean), std::move(next));
  }

  gpu::result<> add(const std::vector<float>& x) {
    GPU_TRY(gpu::copy(x, next_));
    const std::size_t n = mean_.size();
    const float share = 1.0f / static_cast<float>(++count_);
    return gpu::launch(stream_, {gpu::grid_for(n, 256), 256}, add_, mean_, next_, share, n);
  }

  gpu::result<std::vector<float>> get() const {
    std::vector<float> host(mean_.size());
    GPU_TRY(gpu::copy(mean_, host));
    return host;
  }

 private:
  using kernel_type = gpu::kernel<float*, const float*, float, std::size_t>;

  running_mean(gpu::stream stream, kernel_type add, gpu::device_buffer<float> mean,
               gpu::device_buffer<float> next)
      : stream_(std::move(stream)),
        add_(std::move(add)),
        mean_(std::move(mean)),
        next_(std::move(next)) {}

  gpu::stream stream_;
  kernel_type add_;
  gpu::device_buffer<float> mean_, next_;
  int count_ = 0;
};

gpu::result<> run() {
  running_mean mean = GPU_TRY(running_mean::create(GPU_TRY(gpu::device::get(0)), 3));
  GPU_TRY(mean.add({1, 2, 3}));
  GPU_TRY(mean.add({3, 6, 9}));
  running_mean moved = std::move(mean);
  for (float value : GPU_TRY(moved.get())) std::printf("%g ", double(value));
  std::printf("\n");
  return {};
}

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  return gpu::exit_status(run());
}

// Prints:
// 2 4 6
