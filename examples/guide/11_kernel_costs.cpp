// What kernels cost, before a GPU is at hand: the CPU driver counts instructions, sectors of global
// memory and bank conflicts by line. Both kernels below transpose tiles of a matrix; one pads its
// tile. The table goes to stderr, and a picture to the file that is named, if one is.
#include <gpu/gpu.hpp>
#include <gpu/testing/cost_collection.hpp>
#include <gpu/testing/cpu_driver.hpp>
#include <gpu/testing/kernel_costs.hpp>

#include <cstdio>
#include <vector>

constexpr const char* kernel_text = R"(
template <int width>
__device__ void transpose_tile(const float* from, float* to, int n) {
  __shared__ float tile[32][width];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32, column = threadIdx.x;
  for (int row = threadIdx.y; row < 32; row += blockDim.y)
    tile[row][column] = from[(y + row) * n + x + column];
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += blockDim.y)
    to[(x + row) * n + y + column] = tile[column][row];
}
extern "C" __global__ void plain(const float* from, float* to, int n) {
  transpose_tile<32>(from, to, n);
}
extern "C" __global__ void padded(const float* from, float* to, int n) {
  transpose_tile<33>(from, to, n);
})";

gpu::result<gpu::testing::cost_report> transpose_twice(const gpu::testing::cpu_driver& driver) {
  constexpr int n = 64;
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  gpu::module code =
      GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(gpu::program(kernel_text, "transpose.cu")))));
  std::vector<float> from(n * n, 1.0f), to(n * n);

  const gpu::testing::cost_collection costs(driver);
  for (const char* name : {"plain", "padded"}) {
    auto kernel = GPU_TRY(code.kernel<const float*, float*, int>(name));
    GPU_TRY(
        gpu::launch(stream, {{n / 32, n / 32}, {32, 8}}, kernel, gpu::in(from), gpu::out(to), n));
  }
  return costs.report();
}

int main(int argc, char** argv) {
  const auto report = transpose_twice(gpu::testing::use_cpu_driver());
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().message().c_str());
    return 1;
  }
  for (const gpu::testing::kernel_costs& kernel : report->kernels) {
    const gpu::testing::cost_counts total = kernel.total();
    std::printf("%s: %.0f %% coalesced", kernel.name.c_str(), 100 * total.coalescing());
    for (const gpu::testing::line_costs& line : kernel.lines)
      if (const auto conflicts = line.counts.bank_conflicts(); conflicts != 0)
        std::printf(", %zu bank conflicts in %s", std::size_t(conflicts), line.place().c_str());
    std::printf("\n");
  }
  std::fputs(gpu::testing::to_table(*report).c_str(), stderr);
  if (argc < 2) return 0;
  std::FILE* picture = std::fopen(argv[1], "w");
  const bool written = picture && std::fputs(gpu::testing::to_svg(*report).c_str(), picture) >= 0;
  const bool closed = picture && std::fclose(picture) == 0;
  if (!written || !closed) std::perror(argv[1]);
  return written && closed ? 0 : 1;
}

// Prints:
// plain: 100 % coalesced, 3968 bank conflicts in transpose.cu:10
// padded: 100 % coalesced
