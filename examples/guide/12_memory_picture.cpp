// What becomes of the memory of a caching allocator: which buffers share a segment, what is free
// between them, and what each stream keeps. The picture goes to the file that is named, if one is.
#include <gpu/gpu.hpp>
#include <gpu/measure/memory_blocks.hpp>
#include <gpu/measure/memory_picture.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

gpu::result<std::string> draw_memory() {
  gpu::device device = GPU_TRY(gpu::device::get(0));
  gpu::stream first = GPU_TRY(gpu::stream::create(device));
  gpu::stream second = GPU_TRY(gpu::stream::create(device));
  auto cache = GPU_TRY(gpu::caching_allocator::create(device, {.segment_bytes = 4 << 20}));

  // Every third buffer of the first stream is destroyed, which leaves gaps.
  std::vector<gpu::device_buffer<float>> kept;
  for (std::size_t i = 1; i <= 18; ++i) {
    auto buffer = GPU_TRY(cache.allocate<float>(first, i * 16'000));
    if (i % 3 != 0) kept.push_back(std::move(buffer));
  }
  for (std::size_t i = 1; i <= 4; ++i)
    kept.push_back(GPU_TRY(cache.allocate<float>(second, 150'000)));

  std::size_t used = 0, free = 0;
  const auto blocks = GPU_TRY(gpu::list_blocks(cache));
  for (const gpu::caching_block& each : blocks) (each.used ? used : free) += each.bytes;
  std::printf("%zu buffers, %zu KiB in use, %zu KiB free\n", kept.size(), used / 1024, free / 1024);
  return gpu::to_svg(blocks);
}

int main(int argc, char** argv) {
  gpu::testing::use_cpu_driver_if_no_gpu();
  const gpu::result<std::string> picture = draw_memory();
  if (!picture) {
    std::fprintf(stderr, "%s\n", picture.error().message().c_str());
    return 1;
  }
  if (argc < 2) return 0;
  std::FILE* file = std::fopen(argv[1], "w");
  const bool written = file && std::fputs(picture->c_str(), file) >= 0;
  const bool closed = file && std::fclose(file) == 0;
  if (!written || !closed) std::perror(argv[1]);
  return written && closed ? 0 : 1;
}

// Prints:
// 16 buffers, 9094 KiB in use, 7290 KiB free
