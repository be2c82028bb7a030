// Time of gpu::compile beside its yardsticks, from source to a kernel that can be launched:
//
//   cold           against nvrtcCompileProgram and cuLibraryLoadData of the same text
//   warm           in a new process, against cuLibraryLoadData of the same image
//   warm, headers  the same for a program whose compilation opens 200 headers
//   same process   a repeated call, which compiles and loads nothing; by itself, and in a process
//                  that has had a thousand other programs
//   first          a one-line kernel in a new process with an empty cache, beside CuPy's RawKernel
//                  where python3 has cupy; it has no limit
//
// Each figure is a median; each yardstick is measured in turns with ours. The driver's own cache,
// which NVRTC asks too, is off, or a second run of this program would measure that. Where there is
// no GPU, the images are loaded by the CPU driver on both sides. Each figure with a limit says PASS
// or FAIL, and the exit code is 1 where one is beyond its limit.

#include <gpu/gpu.hpp>
#include <gpu/libraries/nvrtc_functions.hpp>
#include <gpu/testing/cpu_driver.hpp>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <ios>
#include <iterator>
#include <ratio>
#include <string>
#include <vector>

namespace {

using gpu_texts = std::vector<gpu::text>;

std::string kernel_source(int number) {
  return R"(
template <int Width> __device__ float reduced(float value) {
  for (int offset = Width / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}
extern "C" __global__ void f(const float* x, const float* y, float* sums, int n) {
  __shared__ float parts[32];
  float sum = )" +
         std::to_string(number) + R"(.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += sinf(x[i]) * y[i] + expf(-x[i] * x[i]);
  sum = reduced<32>(sum);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = reduced<32>(threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  }
}
)";
}

constexpr int header_count = 200;

std::string with_headers() {
  std::string source;
  for (int i = 0; i < header_count; ++i) {
    source += "#include <part" + std::to_string(i) + ".h>\n";
  }
  return source + kernel_source(0);
}

void write_headers(const std::string& folder) {
  for (int i = 0; i < header_count; ++i) {
    std::ofstream file(folder + "/part" + std::to_string(i) + ".h");
    file << "#pragma once\n";
    // Some kilobytes, as headers have.
    for (int line = 0; line < 60; ++line) {
      file << "// A comment that stands for what else is in a header, line " << line << "\n"
           << "template <class T> __device__ T part" << i << '_' << line << "(T x) { return x; }\n";
    }
  }
}

double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class T> T require(gpu::result<T> outcome) {
  if (!outcome.has_value()) {
    std::fprintf(stderr, "%s\n", outcome.error().message().c_str());
    std::exit(2);
  }
  return *std::move(outcome);
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(2);
}

/// Everything that a launch needs and that is not part of the measurement.
void start_driver() {
  gpu::testing::use_cpu_driver_if_no_gpu();
  const gpu::device device = require(gpu::device::get(0));
  const gpu::context_ref context = require(gpu::context::primary(device));
  require(gpu::driver::current_entry_points().ctx_set_current(context.native()) == CUDA_SUCCESS,
          "cuCtxSetCurrent");
}

double milliseconds_of(const std::function<void()>& work) {
  const double begin = now();
  work();
  return now() - begin;
}

/// Loads an image with the driver alone; the CPU driver has no use for machine code.
void load_bare(const std::string& cubin, const std::string& ptx) {
  const gpu::driver::entry_points& driver = gpu::driver::current_entry_points();
  CUlibrary library = nullptr;
  const auto load = [&](const std::string& image) {
    return driver.library_load_data(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr,
                                    0) == CUDA_SUCCESS;
  };
  require((!cubin.empty() && load(cubin)) || load(ptx), "cuLibraryLoadData");
  CUkernel kernel = nullptr;
  require(driver.library_get_kernel(&kernel, library, "f") == CUDA_SUCCESS, "cuLibraryGetKernel");
  driver.library_unload(library);
}

void compile_bare(const std::string& source, const gpu_texts& options) {
  const gpu::nvrtc::entry_points& nvrtc = gpu::nvrtc::current_entry_points();
  gpu::nvrtc::nvrtc_program program = nullptr;
  nvrtc.create_program(&program, source.c_str(), "program.cu", 0, nullptr, nullptr);
  std::vector<const char*> arguments;
  for (const gpu::text& option : options) arguments.push_back(option.c_str());
  require(nvrtc.compile_program(program, static_cast<int>(arguments.size()), arguments.data()) == 0,
          "nvrtcCompileProgram");
  std::size_t size = 0;
  nvrtc.get_cubin_size(program, &size);
  std::string cubin(size, '\0');
  nvrtc.get_cubin(program, cubin.data());
  nvrtc.get_ptx_size(program, &size);
  std::string ptx(size, '\0');
  nvrtc.get_ptx(program, ptx.data());
  nvrtc.destroy_program(&program);
  load_bare(cubin, ptx);
}

struct setting {
  std::string source;
  std::string headers;  // a folder, or empty
};

gpu::compile_options options_for(const setting& s, gpu::compile_cache& cache) {
  gpu::compile_options options;
  if (!s.headers.empty()) options.include_folders = {s.headers};
  options.cache = &cache;
  return options;
}

/// Compiles and loads through a cache; returns the program.
gpu::compiled_program compile_and_load(const setting& s, gpu::compile_cache& cache) {
  gpu::compiled_program made = require(gpu::compile(s.source, options_for(s, cache)));
  const gpu::module module = require(gpu::module::load(made));
  require(module.kernel("f").has_value(), "module::kernel");
  return made;
}

// A child process measures once and prints milliseconds.

int warm_child(const std::string& folder, const std::string& headers) {
  start_driver();
  const setting s{headers.empty() ? kernel_source(0) : with_headers(), headers};
  gpu::origin_kind origin{};
  const double time = milliseconds_of([&] {
    gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
    origin = compile_and_load(s, cache).origin().kind;
  });
  require(origin == gpu::origin_kind::disk, "finding the program in the cache");
  std::printf("%.6f\n", time);
  return 0;
}

constexpr const char* one_line = "extern \"C\" __global__ void f(float* x) { x[0] = 1; }";

int first_child(const std::string& folder) {
  start_driver();
  std::printf("%.6f\n", milliseconds_of([&] {
                gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
                compile_and_load({one_line, ""}, cache);
              }));
  return 0;
}

int load_child(const std::string& cubin_path, const std::string& ptx_path) {
  start_driver();
  const auto read = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string cubin = read(cubin_path), ptx = read(ptx_path);
  std::printf("%.6f\n", milliseconds_of([&] { load_bare(cubin, ptx); }));
  return 0;
}

double figure_of_child(const std::string& arguments) {
  char self[4096] = {};
  require(::readlink("/proc/self/exe", self, sizeof self - 1) > 0, "readlink");
  const std::string command = std::string("'") + self + "' " + arguments + " 2>/dev/null";
  std::FILE* child = ::popen(command.c_str(), "r");
  double value = -1;
  require(child != nullptr && std::fscanf(child, "%lf", &value) == 1, command.c_str());
  ::pclose(child);
  return value;
}

/// What CuPy takes for the same, or less than 0 where it is not there.
double first_with_cupy(const std::string& folder) {
  std::ofstream(folder + ".py") << "import cupy, time\n"
                                   "cupy.zeros(1)\n"
                                   "source = r'"
                                << one_line
                                << "'\n"
                                   "begin = time.time()\n"
                                   "cupy.RawKernel(source, 'f').compile()\n"
                                   "print((time.time() - begin) * 1000)\n";
  const std::string command =
      "CUPY_CACHE_DIR='" + folder + "' python3 '" + folder + ".py' 2>/dev/null";
  std::FILE* child = ::popen(command.c_str(), "r");
  double value = -1;
  if (child == nullptr || std::fscanf(child, "%lf", &value) != 1) value = -1;
  if (child != nullptr) ::pclose(child);
  return value;
}

void first(const std::string& root) {
  std::vector<double> ours, cupy;
  for (int i = 0; i < 5; ++i) {
    const std::string folder = root + "/first" + std::to_string(i);
    ours.push_back(figure_of_child("first '" + folder + "'"));
    cupy.push_back(first_with_cupy(folder + "_cupy"));
  }
  if (median(cupy) < 0) {
    std::printf("%-14s %10.4f              ms; there is no CuPy here\n", "first", median(ours));
  } else {
    std::printf("%-14s %10.4f %10.4f   ms, CuPy's RawKernel\n", "first", median(ours),
                median(cupy));
  }
}

bool within(const char* name, double ours, double yardstick, double limit, const char* unit) {
  const bool met = ours - yardstick <= limit;
  std::printf("%-14s %10.4f %10.4f %+10.4f   at most %+.4f %s: %s\n", name, ours, yardstick,
              ours - yardstick, limit, unit, met ? "PASS" : "FAIL");
  return met;
}

bool cold(const std::string& root) {
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = root + "/cold"});
  const gpu::compiled_program first = compile_and_load({kernel_source(-1), ""}, cache);
  gpu_texts options;
  for (const gpu::text& option : first.options()) {
    if (!option.contains("--include-path")) options.push_back(option);
  }
  compile_bare(kernel_source(-2), options);
  std::vector<double> ours, bare;
  for (int i = 0; i < 41; ++i) {
    const setting s{kernel_source(100 + i), ""};
    const auto measure_ours = [&] {
      ours.push_back(milliseconds_of([&] { compile_and_load(s, cache); }));
    };
    const auto measure_bare = [&] {
      // The same text but for a number: NVRTC may keep what it compiled last.
      bare.push_back(milliseconds_of([&] { compile_bare(kernel_source(1000 + i), options); }));
    };
    if (i % 2 == 0) measure_ours();
    measure_bare();
    if (i % 2 != 0) measure_ours();
  }
  const double yardstick = median(bare);
  return within("cold", median(ours), yardstick, 0.03 * yardstick, "ms, 3 %");
}

bool warm(const std::string& root, const std::string& headers, const char* name, double limit) {
  const std::string folder = root + (headers.empty() ? "/warm" : "/warm_headers");
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
  const setting s{headers.empty() ? kernel_source(0) : with_headers(), headers};
  const gpu::compiled_program made = compile_and_load(s, cache);
  if (!made.origin().not_stored.empty()) std::printf("%s\n", made.origin().message().c_str());
  if (!headers.empty()) {
    require(made.headers().size() == header_count, "opening 200 headers");
  }
  std::ofstream(root + "/cubin", std::ios::binary)
      .write(made.cubin().data(), static_cast<std::streamsize>(made.cubin().size()));
  std::ofstream(root + "/ptx", std::ios::binary)
      .write(made.ptx().data(), static_cast<std::streamsize>(made.ptx().size()));
  figure_of_child("warm '" + folder + "' '" + headers + "'");  // leaves a note about NVRTC
  std::vector<double> ours, bare;
  for (int i = 0; i < 15; ++i) {
    ours.push_back(figure_of_child("warm '" + folder + "' '" + headers + "'"));
    bare.push_back(figure_of_child("load '" + root + "/cubin' '" + root + "/ptx'"));
  }
  return within(name, median(ours), median(bare), limit, "ms");
}

bool same_process(const std::string& root, const char* name, int others) {
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = root + "/same"});
  const setting s{kernel_source(0), ""};
  const gpu::compile_options options = options_for(s, cache);
  for (int i = 0; i < others; ++i) {
    gpu::compile_options small = options;
    small.architecture = gpu::architecture::compute(80);
    const std::string source = "__device__ int x" + std::to_string(i) + ";";
    // The second time is what is remembered by how it was said.
    for (int time = 0; time < 2; ++time)
      require(gpu::compile(source, small).has_value(), "compile");
  }
  std::vector<double> times;
  for (int round = 0; round < 21; ++round) {
    constexpr int repetitions = 2000;
    const double begin = now();
    for (int i = 0; i < repetitions; ++i)
      require(gpu::compile(s.source, options).has_value(), "compile");
    times.push_back((now() - begin) * 1000 / repetitions);
  }
  return within(name, median(times), 0, 1, "us");
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("CUDA_CACHE_DISABLE", "1", 1);
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "warm") return warm_child(argv[2], argc > 3 ? argv[3] : "");
  if (mode == "first") return first_child(argv[2]);
  if (mode == "load") return load_child(argv[2], argv[3]);

  ::setenv("GPU_COMPILE_OPTIONS", "", 1);
  start_driver();
  char root[] = "/tmp/gpu_compile_cost_XXXXXX";
  require(::mkdtemp(root) != nullptr, "mkdtemp");
  const std::string headers = std::string(root) + "/headers";
  require(std::system(("mkdir " + headers).c_str()) == 0, "mkdir");
  write_headers(headers);

  std::printf("%-14s %10s %10s %10s\n", "", "ours", "yardstick", "apart");
  bool met = cold(root);
  met &= warm(root, "", "warm", 1);
  met &= warm(root, headers, "warm, headers", 5);
  met &= same_process(root, "same process", 0);
  met &= same_process(root, "beside 1000", 1000);
  first(root);
  std::puts(met ? "PASS: all figures are within their limits"
                : "FAIL: a figure is beyond its limit");
  return std::system((std::string("rm -rf ") + root).c_str()) == 0 && met ? 0 : 1;
}
