// Time of gpu::link beside nvJitLink alone, for two sources compiled to LTO-IR:
//
//   cold           a link that is made and stored, against nvJitLink's calls
//   same process   a link that this process made before, against nvJitLink's calls
//   warm           in a new process, from opening the cache to the machine code, against opening
//                  nvJitLink and its calls in a new process
//
// Each figure is a median; each yardstick is measured in turns with ours. Needs no GPU and no
// driver. Exit code 1 where a figure is beyond its limit.

#include <gpu/compiler.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/libraries/nvjitlink_functions.hpp>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ratio>
#include <string>
#include <vector>

namespace {

constexpr auto target = gpu::architecture::sm(90);

template <class T> T require(gpu::result<T> outcome) {
  if (outcome.has_value()) return *std::move(outcome);
  std::fprintf(stderr, "%s\n", outcome.error().message().c_str());
  std::exit(2);
}
void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(2);
}

double milliseconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The two inputs; `number` makes another program of them.
std::vector<gpu::link_input> inputs(int number, const std::string& folder) {
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
  const gpu::compile_options options{
      .architecture = target, .link_time_optimization = true, .cache = &cache};
  const std::string math = "__device__ float f(float x) { return __expf(x) * sinf(x) + " +
                           std::to_string(number) + "; }";
  return {
      {require(gpu::compile(math, options)), "math"},
      {require(gpu::compile("__device__ float f(float); extern \"C\" __global__ void k(float* x)"
                            "{ for (int i = 0; i < 16; ++i) x[i * threadIdx.x] = f(x[i]); }",
                            options)),
       "kernels"}};
}

void link_bare(const std::vector<gpu::link_input>& pieces) {
  const gpu::nvjitlink::entry_points& nvjitlink = gpu::nvjitlink::current_entry_points();
  const char* const options[] = {"-arch=sm_90", "-lto"};
  constexpr int lto_ir = 3;
  gpu::nvjitlink::nvjitlink_handle link = nullptr;
  require(nvjitlink.create(&link, 2, options) == 0, "nvJitLinkCreate");
  for (const gpu::link_input& piece : pieces) {
    const gpu::text& code = piece.program().lto_ir();
    require(nvjitlink.add_data(link, lto_ir, code.data(), code.size(), piece.name().c_str()) == 0,
            "nvJitLinkAddData");
  }
  require(nvjitlink.complete(link) == 0, "nvJitLinkComplete");
  std::size_t size = 0;
  nvjitlink.get_linked_cubin_size(link, &size);
  std::string cubin(size, '\0');
  require(nvjitlink.get_linked_cubin(link, cubin.data()) == 0, "nvJitLinkGetLinkedCubin");
  nvjitlink.destroy(&link);
}

gpu::origin_kind link_ours(const std::vector<gpu::link_input>& pieces, gpu::compile_cache& cache) {
  return require(gpu::link(pieces, {.architecture = target, .cache = &cache})).origin().kind;
}

// A child process measures once and prints milliseconds.
int child(const std::string& mode, const std::string& folder) {
  const std::vector<gpu::link_input> pieces = inputs(0, folder);
  gpu::origin_kind origin = gpu::origin_kind::disk;
  std::printf("%.6f\n", milliseconds_of([&] {
                if (mode == "bare") return link_bare(pieces);
                gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = folder});
                origin = link_ours(pieces, cache);
              }));
  require(origin == gpu::origin_kind::disk, "finding the link in the cache");
  return 0;
}

double figure_of_child(const std::string& mode, const std::string& folder) {
  char self[4096] = {};
  require(::readlink("/proc/self/exe", self, sizeof self - 1) > 0, "readlink");
  std::FILE* output = ::popen((std::string(self) + " " + mode + " " + folder).c_str(), "r");
  double value = -1;
  require(output != nullptr && std::fscanf(output, "%lf", &value) == 1, mode.c_str());
  ::pclose(output);
  return value;
}

bool within(const char* name, double ours, double yardstick, double limit) {
  const bool met = ours <= limit;
  std::printf("%-14s %10.4f %10.4f   at most %.4f ms: %s\n", name, ours, yardstick, limit,
              met ? "PASS" : "FAIL");
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) return child(argv[1], argv[2]);
  char root[] = "/tmp/gpu_link_cost_XXXXXX";
  require(::mkdtemp(root) != nullptr, "mkdtemp");
  gpu::compile_cache cache({.use = gpu::cache_use::disk, .folder = root});

  std::vector<double> cold, bare, repeated, warm, bare_process;
  link_bare(inputs(-1, root));
  for (int i = 0; i < 21; ++i) {
    const std::vector<gpu::link_input> ours = inputs(i, root), theirs = inputs(100 + i, root);
    cold.push_back(milliseconds_of([&] { link_ours(ours, cache); }));
    bare.push_back(milliseconds_of([&] { link_bare(theirs); }));
    repeated.push_back(milliseconds_of([&] {
      require(link_ours(ours, cache) == gpu::origin_kind::memory, "finding the link in memory");
    }));
  }
  for (int i = 0; i < 11; ++i) {
    warm.push_back(figure_of_child("warm", root));
    bare_process.push_back(figure_of_child("bare", root));
  }
  std::printf("%-14s %10s %10s\n", "", "ours", "yardstick");
  const double yardstick = median(bare);
  bool met = within("cold", median(cold), yardstick, yardstick * 1.05 + 0.5);
  met &= within("same process", median(repeated), yardstick, 0.1);
  met &= within("warm", median(warm), median(bare_process), median(bare_process) / 2);
  return std::system((std::string("rm -rf ") + root).c_str()) == 0 && met ? 0 : 1;
}
