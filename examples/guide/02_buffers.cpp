// Device memory that owns, spans that only refer, and copies that check lengths.
#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstdio>
#include <vector>

gpu::result<> run() {
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::stream stream = GPU_TRY(gpu::stream::create(device));

  // Ordered by the stream: created, used and freed in the order of its work.
  auto buffer = GPU_TRY(gpu::device_buffer<int>::create(stream, 8));
  GPU_TRY(gpu::fill(stream, buffer, 1));
  gpu::device_span<int> second_half = buffer.span().subspan(4);
  GPU_TRY(gpu::fill(stream, second_half, 2));

  std::vector<int> host(8);
  GPU_TRY(gpu::copy(buffer, host));  // waits for the fills
  for (int value : host) std::printf("%d ", value);
  std::printf("\n");

  // Four elements do not go into eight: an error, before the driver is asked.
  const gpu::result<> refused = gpu::copy(second_half, host);
  std::printf("%s\n", refused ? "copied" : refused.error().name());
  return {};
}

int main() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  return gpu::exit_status(run());
}

// Prints:
// 1 1 1 1 2 2 2 2
// size_mismatch
