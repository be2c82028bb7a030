// file_histogram [--check] FILE...: counts the 256 byte values of files of any size on the GPU.
//
// The file streams through two pinned buffers, each with a stream of its own, so that reading,
// copying and counting overlap. --check counts on the host too and compares.
// Exit code: 0, or 1 where a file could not be read, the counts differ or cannot be written, 2 for
// a wrong call, 3 where the GPU or the compiler gave an error.

#include <gpu/gpu.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

namespace {

using histogram = std::array<unsigned long long, 256>;
using count_kernel = gpu::kernel<const unsigned char*, std::size_t, unsigned long long*>;

constexpr std::size_t chunk_bytes = std::size_t{16} << 20;
constexpr std::uint32_t block_threads = 256;

constexpr const char* kernel_text = R"(
// Each block counts its share in shared memory and adds the result to the total.
extern "C" __global__ void count_bytes(const unsigned char* data, size_t size,
                                       unsigned long long* counts) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step)
    atomicAdd(&bins[data[i]], 1u);
  __syncthreads();
  if (bins[threadIdx.x] != 0)
    atomicAdd(&counts[threadIdx.x], (unsigned long long)bins[threadIdx.x]);
})";

/// One of the two lanes that chunks of a file take in turn.
struct lane {
  gpu::stream stream;
  gpu::pinned_vector<unsigned char> host;
  gpu::device_buffer<unsigned char> data;
  gpu::device_buffer<unsigned long long> counts;

  static gpu::result<lane> create(gpu::device device) {
    gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto host = GPU_TRY(gpu::pinned_vector<unsigned char>::create(device, chunk_bytes));
    auto data = GPU_TRY(gpu::device_buffer<unsigned char>::create(stream, chunk_bytes));
    auto counts = GPU_TRY(gpu::device_buffer<unsigned long long>::create(stream, 256));
    return lane{std::move(stream), std::move(host), std::move(data), std::move(counts)};
  }

  /// Queues the counting of the first `size` bytes of `host`; does not wait.
  gpu::result<> count(const count_kernel& kernel, std::uint32_t most_blocks, std::size_t size) {
    const auto chunk = data.span().first(size);
    GPU_TRY(gpu::copy(stream, host.first(size), chunk));
    const std::uint32_t blocks = std::min(gpu::grid_for(size, block_threads), most_blocks);
    return gpu::launch(stream, {blocks, block_threads}, kernel, chunk, size, counts);
  }
};

/// Owns an open file.
struct file {
  int descriptor;
  explicit file(const char* path) : descriptor{::open(path, O_RDONLY | O_CLOEXEC)} {}
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() {
    if (descriptor >= 0) ::close(descriptor);
  }

  /// 0, or the `errno` that says why there is nothing to be read.
  int failure() const {
    struct stat status{};
    if (descriptor < 0 || ::fstat(descriptor, &status) != 0) return errno;
    return S_ISDIR(status.st_mode) ? EISDIR : 0;
  }

  /// Reads until `buffer` is full or the file ends; -1 where that fails.
  long fill(gpu::pinned_vector<unsigned char>& buffer) const {
    std::size_t size = 0;
    while (size < buffer.size()) {
      const ssize_t got = ::read(descriptor, buffer.data() + size, buffer.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return -1;
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    return static_cast<long>(size);
  }
};

struct counter {
  gpu::module code;
  count_kernel kernel;
  std::array<lane, 2> lanes;
  std::uint32_t most_blocks;

  static gpu::result<counter> create() {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::device_limits limits = GPU_TRY(device.limits());
    gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
    const auto kernel =
        GPU_TRY(code.kernel<const unsigned char*, std::size_t, unsigned long long*>("count_bytes"));
    // Each in a variable: a braced list does not destroy its first elements if a later one fails.
    auto first = GPU_TRY(lane::create(device));
    auto second = GPU_TRY(lane::create(device));
    return counter{
        std::move(code), kernel, {std::move(first), std::move(second)}, 8 * limits.multiprocessors};
  }

  /// Counts the rest of `input`; with `host`, on the host as well. `read_error` gets the `errno` of
  /// a read that failed.
  gpu::result<histogram> count(const file& input, histogram* host, int& read_error) {
    for (lane& l : lanes) {
      GPU_TRY(gpu::fill(l.stream, gpu::as_writable_bytes(l.counts.span()), std::byte{0}));
    }
    for (std::size_t turn = 0;; ++turn) {
      lane& l = lanes[turn % lanes.size()];
      GPU_TRY(l.stream.synchronize());  // its buffer is free again; the other lane is still busy
      const long size = input.fill(l.host);
      if (size < 0) read_error = errno;
      if (size <= 0) break;
      GPU_TRY(l.count(kernel, most_blocks, static_cast<std::size_t>(size)));
      if (host != nullptr) {
        for (const unsigned char byte : l.host.first(static_cast<std::size_t>(size)))
          ++(*host)[byte];
      }
    }
    histogram total{};
    for (lane& l : lanes) {
      histogram part{};
      GPU_TRY(gpu::copy(l.counts, part));
      for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
    }
    return total;
  }
};

double entropy(const histogram& counts, double total) {
  double bits = 0;
  for (const auto count : counts) {
    const double share = static_cast<double>(count) / total;
    if (count != 0) bits -= share * std::log2(share);
  }
  return bits;
}

void print(const char* path, const histogram& counts, double total, double seconds) {
  std::printf("%s: %.0f bytes, entropy %.4f bits per byte, %.1f MB/s\n", path, total,
              entropy(counts, total), total / seconds * 1e-6);
  std::array<unsigned, 256> order{};
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return counts[a] > counts[b]; });
  for (const unsigned byte : std::span(order).first(10)) {
    if (counts[byte] == 0) break;
    const bool printable = byte > ' ' && byte < 127;
    std::printf("  0x%02x %c %12llu  %5.2f %%\n", byte, printable ? static_cast<char>(byte) : ' ',
                counts[byte], 100 * static_cast<double>(counts[byte]) / total);
  }
}

/// Counts one file; false where it could not be read or --check found a difference.
gpu::result<bool> process(counter& gpu_counter, const char* path, bool check) {
  const file input(path);
  int error = input.failure();
  histogram on_host{};
  histogram counts{};
  const auto start = std::chrono::steady_clock::now();
  if (error == 0) {
    counts = GPU_TRY(gpu_counter.count(input, check ? &on_host : nullptr, error));
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (error != 0) {
    std::fprintf(stderr, "file_histogram: %s: %s\n", path, std::strerror(error));
    return false;
  }
  const auto total = std::accumulate(counts.begin(), counts.end(), 0ull);
  if (total == 0) {
    std::printf("%s: empty\n", path);
  } else {
    print(path, counts, static_cast<double>(total), taken.count());
  }
  if (check) std::printf("  the host counts %s\n", on_host == counts ? "the same" : "OTHERWISE");
  return !check || on_host == counts;
}

gpu::result<bool> process_all(std::span<const char* const> paths, bool check) {
  counter gpu_counter = GPU_TRY(counter::create());
  bool all_well = true;
  for (const char* path : paths) all_well &= GPU_TRY(process(gpu_counter, path, check));
  return all_well;
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::strcmp(argv[1], "--check") == 0;
  const std::span<const char* const> paths(argv + (check ? 2 : 1), argv + argc);
  if (paths.empty() || (paths.front()[0] == '-' && paths.front()[1] == '-')) {
    std::fprintf(stderr, "usage: file_histogram [--check] FILE...\n");
    return 2;
  }
  gpu::testing::use_cpu_driver_if_no_gpu();
  const gpu::result<bool> all_well = process_all(paths, check);
  if (!all_well) {
    std::fprintf(stderr, "file_histogram: %s\n", all_well.error().message().c_str());
    return 3;
  }
  // What failed to be written earlier is told by the stream alone.
  const int error = std::fflush(stdout) != 0 ? errno : std::ferror(stdout) != 0 ? EIO : 0;
  if (error != 0) {
    std::fprintf(stderr, "file_histogram: standard output: %s\n", std::strerror(error));
    return 1;
  }
  return *all_well ? 0 : 1;
}
