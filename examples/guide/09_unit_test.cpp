// A unit test of one's own kernels, on any machine: the CPU driver runs them, and finds what a GPU
// would pass over. The kernel below writes one element too many if it is told to.
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>
#include <gpu/testing/cpu_driver_options.hpp>

#include <cstdio>
#include <vector>

constexpr const char* kernel_text = R"(
extern "C" __global__ void iota(int* x, int n, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < limit) x[i] = i;
})";

gpu::result<std::vector<int>> iota(int n, int limit) {
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
  auto kernel = GPU_TRY(code.kernel<int*, int, int>("iota"));
  std::vector<int> host(static_cast<std::size_t>(n));
  GPU_TRY(gpu::launch(stream, {gpu::grid_for(host.size() + 1, 64), 64}, kernel, gpu::out(host), n,
                      limit));
  return host;
}

int failures = 0;

void check(bool right, const char* what) {
  std::printf("%s: %s\n", what, right ? "passed" : "FAILED");
  failures += !right;
}

int main() {
  // Nothing runs before something waits for it, so what does not wait reads too early, always.
  gpu::testing::cpu_driver& driver = gpu::testing::use_cpu_driver(
      {.mode = gpu::testing::execution::deferred, .report = [](auto&&...) {}});

  const auto right = iota(100, 100);
  check(right && right->front() == 0 && right->back() == 99, "iota counts");
  check(driver.report_leaks() == 0, "iota frees what it allocates");
  const auto wrong = iota(100, 101);
  check(!wrong && wrong.error().is_sticky(), "a write past the end is an error");
  // A mistake that nobody asks for makes the program exit with status 1.
  check(driver.take_findings() == 1, "it was reported");
  return failures;
}

// Prints:
// iota counts: passed
// iota frees what it allocates: passed
// a write past the end is an error: passed
// it was reported: passed
