// Measures what a device does in a second: copies, launches, atomics and shared memory. Takes about
// ten seconds on a GPU, and prints a page. With a name it also writes NAME.svg, NAME.google.json
// and NAME.nvbench.json, which the tools of Google Benchmark and of nvbench read.

#include <gpu/gpu.hpp>
#include <gpu/measure.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

constexpr const char* kernel_text = R"(
__global__ void nothing() {}

// Each of n threads adds to one of `targets` counters.
__global__ void add(unsigned* counters, unsigned targets, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(counters + i % targets, 1u);
}
__global__ void add_shared(unsigned* counters, unsigned rounds) {
  __shared__ unsigned sum[256];
  sum[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = 0; i < rounds; ++i) atomicAdd(sum + (threadIdx.x + i) % 256, 1u);
  __syncthreads();
  if (sum[threadIdx.x] != rounds) atomicAdd(counters, 1u);
}

// Each thread reads `rounds` words; `stride` decides how many threads of a warp share a bank.
__global__ void read_shared(unsigned* out, unsigned rounds, unsigned stride) {
  __shared__ unsigned words[4096];
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = i;
  __syncthreads();
  unsigned at = threadIdx.x * stride, sum = 0;
#pragma unroll 8
  for (unsigned i = 0; i < rounds; ++i) {
    sum += words[at % 4096];
    at += 32;
  }
  if (sum == 1) *out = sum;  // never so, but the compiler does not know
}
)";

/// How much is measured: as much as keeps a GPU busy, or little on the CPU driver.
struct amounts {
  std::size_t copied;  // bytes
  unsigned threads;
  unsigned rounds;
  unsigned blocks;
  gpu::measure_options options;
};

class page {
 public:
  page(gpu::stream_ref stream, gpu::device device, const amounts& sizes)
      : stream_{stream}, device_{device}, sizes_{sizes} {}

  gpu::result<> copies() {
    const std::size_t n = sizes_.copied;
    auto x = GPU_TRY(gpu::device_buffer<char>::create(stream_, n));
    auto y = GPU_TRY(gpu::device_buffer<char>::create(stream_, n));
    auto host = GPU_TRY(gpu::pinned_vector<char>::create(device_, n));
    GPU_TRY(gpu::fill(stream_, x, '\1'));
    const double bytes = static_cast<double>(n);
    GPU_TRY(add(
        "Device memory",
        gpu::measure(
            stream_, sizes_.options,
            gpu::candidate("copy in the device", [&] { return gpu::copy(stream_, x, y); },
                           {.bytes = 2 * bytes}),
            gpu::candidate("fill", [&] { return gpu::fill(stream_, y, '\2'); }, {.bytes = bytes})),
        memory_peak()));
    return add(
        "Between host and device",
        gpu::measure(stream_, sizes_.options,
                     gpu::candidate("copy to the device",
                                    [&] { return gpu::copy(stream_, host, x); }, {.bytes = bytes}),
                     gpu::candidate("copy to the host", [&] { return gpu::copy(stream_, x, host); },
                                    {.bytes = bytes})),
        {});
  }

  gpu::result<> kernels() {
    const auto code = GPU_TRY(gpu::module::load(GPU_TRY(gpu::compile(kernel_text))));
    const auto nothing = GPU_TRY(code.kernel<>("nothing"));
    const auto add_to = GPU_TRY(code.kernel<unsigned*, unsigned, unsigned>("add"));
    const auto add_shared = GPU_TRY(code.kernel<unsigned*, unsigned>("add_shared"));
    const auto read_shared = GPU_TRY(code.kernel<unsigned*, unsigned, unsigned>("read_shared"));
    const unsigned n = sizes_.threads, blocks = sizes_.blocks, rounds = sizes_.rounds;
    auto counters = GPU_TRY(gpu::device_buffer<unsigned>::create(stream_, n));
    GPU_TRY(gpu::fill(stream_, counters, 0u));

    GPU_TRY(
        add("Launches of an empty kernel",
            gpu::measure(
                stream_, sizes_.options,
                gpu::candidate("1 block", [&] { return gpu::launch(stream_, {1, 32}, nothing); }),
                gpu::candidate("every multiprocessor",
                               [&] { return gpu::launch(stream_, {blocks, 256}, nothing); })),
            {}));

    const auto adds = [&](unsigned targets) {
      return [&, targets] {
        return gpu::launch(stream_, {gpu::grid_for(n, 256), 256}, add_to, counters, targets, n);
      };
    };
    const double additions = n, shared_additions = double{256} * blocks * rounds;
    GPU_TRY(add("Atomic additions",
                gpu::measure(stream_, sizes_.options,
                             gpu::candidate("to one word", adds(1), {.operations = additions}),
                             gpu::candidate("to 32 words", adds(32), {.operations = additions}),
                             gpu::candidate("to a word each", adds(n), {.operations = additions}),
                             gpu::candidate("in shared memory",
                                            [&] {
                                              return gpu::launch(stream_, {blocks, 256}, add_shared,
                                                                 counters, rounds);
                                            },
                                            {.operations = shared_additions})),
                {}));

    const auto reads = [&](unsigned stride) {
      return [&, stride] {
        return gpu::launch(stream_, {blocks, 256}, read_shared, counters, rounds, stride);
      };
    };
    const double read = 4.0 * 256 * blocks * rounds;
    return add("Shared memory",
               gpu::measure(stream_, sizes_.options,
                            gpu::candidate("a bank for each thread", reads(1), {.bytes = read}),
                            gpu::candidate("2 threads on each bank", reads(2), {.bytes = read}),
                            gpu::candidate("32 threads on each bank", reads(32), {.bytes = read})),
               shared_peak());
  }

  const gpu::measurements& all() const { return all_; }

 private:
  gpu::device_peaks memory_peak() const {
    const auto peaks = gpu::device_peaks::of(device_);
    return {peaks ? peaks->bytes : 0, 0};
  }
  /// Each multiprocessor reads a word from each of its 32 banks in a clock.
  gpu::device_peaks shared_peak() const {
    const auto clock = gpu::attribute<gpu::device_attribute::clock_rate>(device_);
    const auto count = gpu::attribute<gpu::device_attribute::multiprocessor_count>(device_);
    return {clock && count ? 32 * 4 * 1e3 * *clock * *count : 0, 0};
  }

  /// Prints a part of the page. `peaks` is what it is a share of.
  gpu::result<> add(const char* title, gpu::result<gpu::measurements> measured,
                    gpu::device_peaks peaks) {
    gpu::measurements found = GPU_TRY(std::move(measured));
    found.peaks = peaks;
    std::printf("%s\n%s\n", title, gpu::to_table(found).c_str());
    for (gpu::measurement& one : found.all) {
      one.name = gpu::text((std::string(title) + ": " + one.name.c_str()).c_str());
      all_.all.push_back(one);
    }
    found.all = std::move(all_.all);
    found.condition.add(all_.condition);
    all_ = std::move(found);
    all_.peaks = {};
    return {};
  }

  gpu::stream_ref stream_;
  gpu::device device_;
  amounts sizes_;
  gpu::measurements all_;
};

bool write(const std::string& name, const std::string& contents) {
  std::FILE* file = std::fopen(name.c_str(), "w");
  bool written = file != nullptr && std::fputs(contents.c_str(), file) >= 0;
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  if (!written) std::fprintf(stderr, "%s: %s\n", name.c_str(), std::strerror(errno));
  return written;
}

gpu::result<bool> run(const std::string& name, bool on_gpu) {
  const gpu::device device = GPU_TRY(gpu::default_device());
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  amounts sizes{.copied = 1u << 20, .threads = 2048, .rounds = 16, .blocks = 2, .options = {}};
  sizes.options.least_samples = sizes.options.most_samples = 3;
  if (on_gpu) {
    const auto limits = GPU_TRY(device.limits());
    sizes = {.copied = 256u << 20,
             .threads = 1u << 24,
             .rounds = 4096,
             .blocks = 8 * limits.multiprocessors,
             .options = {.most_seconds = 1.5}};
  }
  page printed(stream, device, sizes);
  GPU_TRY(printed.copies());
  GPU_TRY(printed.kernels());
  std::printf("%s", gpu::to_heading(printed.all()).c_str());
  if (name.empty()) return true;
  return write(name + ".svg", gpu::to_svg(printed.all())) &&
         write(name + ".google.json", gpu::to_google_benchmark_json(printed.all())) &&
         write(name + ".nvbench.json", gpu::to_nvbench_json(printed.all()));
}

int main(int count, char** arguments) {
  const std::string name = count > 1 ? arguments[1] : "";
  if (count > 2 || (!name.empty() && name[0] == '-')) {
    std::fprintf(stderr, "usage: %s [NAME]\n", arguments[0]);
    return 2;
  }
  const bool on_gpu = !gpu::testing::use_cpu_driver_if_no_gpu();
  const gpu::result<bool> done = run(name, on_gpu);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message().c_str());
  if (std::fflush(stdout) != 0) {
    std::perror("standard output");
    return 1;
  }
  return done && *done ? 0 : 1;
}
