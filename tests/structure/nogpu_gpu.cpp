// A program of gpu on nogpu's libcuda. `runs` says whether it takes that for a GPU, and runs a
// kernel. `compiles` and `compiles_for_gpu` say what a compilation and a link give, and whether
// they come from the cache; the second with a table that claims to be NVIDIA's driver, as it would
// be on a machine with a GPU.

#include <gpu/gpu.hpp>
#include <gpu/testing/test_context.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

gpu::result<float> saxpy(std::size_t n) {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  const gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(
      "extern \"C\" __global__ void saxpy(float a, const float* x, float* y, size_t n) {\n"
      "  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = a * x[i] + y[i];\n}"))));
  const auto kernel = GPU_TRY(code.kernel<float, const float*, float*, std::size_t>("saxpy"));
  std::vector<float> host(n, 2.0f);
  auto x = GPU_TRY(gpu::device_buffer<float>::create(device, n));
  auto y = GPU_TRY(gpu::device_buffer<float>::create(device, n));
  GPU_TRY(gpu::copy(host, x));
  GPU_TRY(gpu::copy(host, y));
  GPU_TRY(gpu::launch(stream, {gpu::grid_for(n, 256), 256}, kernel, 20.0f, x, y, n));
  GPU_TRY(gpu::copy(y, host));
  return host[n / 2];
}

gpu::result<> compile_and_link() {
  const auto compiled =
      GPU_TRY(gpu::compile("__device__ int one() { return 1; }", {.relocatable = true}));
  std::printf("compiled: %s, %s\n", compiled.cubin().empty() ? "PTX" : "machine code",
              compiled.origin().message().c_str());
  const auto linked = GPU_TRY(gpu::link({compiled}));
  std::printf("linked: %s, %s\n", linked.cubin().empty() ? "PTX" : "machine code",
              linked.origin().message().c_str());
  return {};
}

int report(const gpu::result<>& done) {
  if (!done.has_value()) std::printf("%s\n", done.error().message().c_str());
  return done.has_value() ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const char* const what = count == 2 ? arguments[1] : "";
  if (std::strcmp(what, "runs") == 0) {
    const auto result = saxpy(1000);
    if (!result.has_value()) return report(gpu::result<>(gpu::unexpected(result.error())));
    std::printf("%g, %s libcuda; %s\n", static_cast<double>(*result),
                gpu::driver::uses_libcuda() ? "uses" : "does not use",
                gpu::testing::why_no_gpu().c_str());
    return 0;
  }
  if (std::strcmp(what, "compiles") == 0) return report(compile_and_link());
  if (std::strcmp(what, "compiles_for_gpu") == 0) {
    gpu::driver::entry_points real = gpu::driver::current_entry_points();
    real.unavailable_detail = "libcuda.so.1";
    const gpu::driver::scoped_entry_points in_force(real);
    return report(compile_and_link());
  }
  std::printf("do what?\n");
  return 1;
}
