// Throughput of file_histogram on a file in the page cache, beside its two yardsticks from the same
// run: the rate at which the host reads the file into pinned memory, and the pinned host-to-device
// copy. The lower of the two is what a program can have that reads and copies at the same time.
//
//   benchmark_examples_file_histogram PROGRAM [MEBIBYTES]
//
// Exit code 1 where the program reaches less than 80 % of the lower yardstick.

#include <gpu/core/result.hpp>
#include <gpu/driver.hpp>
#include <gpu/memory.hpp>

#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t chunk_bytes = std::size_t{16} << 20;
constexpr int repetitions = 5;

template <class Work> double seconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// A file of its own in the temporary folder, written once, gone at the end.
struct test_file {
  std::string path;
  std::size_t size;

  test_file(std::size_t bytes) : size{bytes} {
    const char* folder = std::getenv("TMPDIR");
    path = std::string(folder != nullptr ? folder : "/tmp") + "/file_histogram_benchmark";
    std::vector<unsigned char> chunk(chunk_bytes);
    std::uint32_t state = 1;
    for (unsigned char& byte : chunk) {
      state = state * 1664525u + 1013904223u;
      byte = static_cast<unsigned char>(state >> 24);
    }
    std::FILE* out = std::fopen(path.c_str(), "wb");
    for (std::size_t done = 0; out != nullptr && done < size; done += chunk_bytes) {
      if (std::fwrite(chunk.data(), 1, chunk_bytes, out) != chunk_bytes) size = 0;
    }
    if (out == nullptr || std::fclose(out) != 0) size = 0;
  }
  test_file(const test_file&) = delete;
  test_file& operator=(const test_file&) = delete;
  ~test_file() { std::remove(path.c_str()); }
};

/// Bytes per second of read() into the pinned buffer.
double read_rate(const test_file& file, gpu::pinned_vector<unsigned char>& buffer) {
  const int descriptor = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
  std::size_t total = 0;
  const double taken = seconds([&] {
    for (;;) {
      const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
      if (got <= 0) break;
      total += static_cast<std::size_t>(got);
    }
  });
  ::close(descriptor);
  return static_cast<double>(total) / taken;
}

/// Bytes per second of copies from the pinned buffer, one after the other on a stream.
gpu::result<double> copy_rate(const gpu::stream& stream,
                              const gpu::pinned_vector<unsigned char>& host,
                              gpu::device_buffer<unsigned char>& device) {
  constexpr int copies = 64;
  GPU_TRY(stream.synchronize());
  gpu::result<> outcome;
  const double taken = seconds([&] {
    for (int i = 0; i < copies && outcome.has_value(); ++i)
      outcome = gpu::copy(stream, host, device);
    if (outcome.has_value()) outcome = stream.synchronize();
  });
  GPU_TRY(std::move(outcome));
  return static_cast<double>(host.size()) * copies / taken;
}

/// Bytes per second that the program prints for itself, or 0.
double program_rate(const std::string& program, const test_file& file) {
  std::FILE* output = ::popen((program + ' ' + file.path).c_str(), "r");
  if (output == nullptr) return 0;
  char line[512] = "";
  double megabytes = 0;
  while (std::fgets(line, sizeof line, output) != nullptr) {
    const std::string text = line;
    const std::size_t unit = text.find(" MB/s");
    if (unit != text.npos) megabytes = std::atof(text.c_str() + text.rfind(' ', unit - 1));
  }
  ::pclose(output);
  return megabytes * 1e6;
}

gpu::result<double> run(const std::string& program, const test_file& file) {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  auto host = GPU_TRY(gpu::pinned_vector<unsigned char>::create(device, chunk_bytes));
  auto data = GPU_TRY(gpu::device_buffer<unsigned char>::create(stream, chunk_bytes));
  std::vector<double> reads, copies, ours;
  for (int i = 0; i < repetitions; ++i) {
    reads.push_back(read_rate(file, host));
    copies.push_back(GPU_TRY(copy_rate(stream, host, data)));
    ours.push_back(program_rate(program, file));
  }
  const double yardstick = std::min(median(reads), median(copies));
  std::printf("file of %zu MiB on %s, medians of %d\n", file.size >> 20,
              GPU_TRY(device.name()).c_str(), repetitions);
  std::printf("  host reads the file      %8.2f GB/s\n", median(reads) * 1e-9);
  std::printf("  pinned host to device    %8.2f GB/s\n", median(copies) * 1e-9);
  std::printf("  file_histogram           %8.2f GB/s  %.2f of the lower one\n", median(ours) * 1e-9,
              median(ours) / yardstick);
  return median(ours) / yardstick;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE_HISTOGRAM [MEBIBYTES]\n", argv[0]);
    return 2;
  }
  const test_file file((argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4096) << 20);
  if (file.size == 0) {
    std::fprintf(stderr, "%s cannot be written\n", file.path.c_str());
    return 2;
  }
  const gpu::result<double> share = run(argv[1], file);
  if (!share) std::fprintf(stderr, "%s\n", share.error().message().c_str());
  return share && *share >= 0.8 ? 0 : 1;
}
