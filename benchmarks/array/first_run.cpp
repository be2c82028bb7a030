// The first run of expressions whose kernels are in no cache: what `gpu::prepare` takes, most of it
// in NVRTC, beside the compilation of an empty kernel and of one of a line. In each of the rounds,
// which take turns, every kernel has a new name, so that it is another one. With a GPU, machine
// code is made for it; without one, PTX for the CPU driver.

#include "interleaved.hpp"

#include <gpu/array.hpp>
#include <gpu/compiler.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory/shape.hpp>

#include <stdlib.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <ratio>
#include <string>
#include <vector>

namespace {

using namespace benchmark;

constexpr int rounds = 7;

struct subject {
  const char* name;
  std::function<void(const char* kernel)> run;
  std::vector<double> milliseconds = {};
};

double milliseconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

int main() {
  ::setenv("GPU_CACHE", "off", 1);
  const machine here;
  const gpu::stream stream = need(gpu::stream::create(here.device));
  const auto x = need(gpu::ones<float>(stream, gpu::shape{64, 64}));
  const auto y = need(gpu::ones<float>(stream, gpu::shape{64, 64}));
  const auto row = need(gpu::ones<float>(stream, gpu::shape{64}));
  auto all = need(gpu::empty<float>(stream, gpu::shape{64, 64}));
  auto some = need(gpu::empty<float>(stream, gpu::shape{64}));
  auto one = need(gpu::empty<float>(stream, gpu::shape{}));
  auto index = need(gpu::empty<long long>(stream, gpu::shape{}));

  const auto prepare = [&](auto& out, auto make) {
    return [&out, &stream, make](const char* kernel) {
      need(gpu::prepare(stream, out, gpu::named(kernel, make())));
    };
  };
  const auto compile = [&](const char* kernel, const char* rest) {
    const std::string source = "extern \"C\" __global__ void " + std::string(kernel) + rest;
    need(gpu::module::load(
        need(gpu::compile(source, {.architecture = here.device, .extra = {"--minimal"}}))));
  };
  constexpr const char* saxpy =
      "(float* out, const float* x, const float* y, float a, int n) {"
      " const int i = blockIdx.x * blockDim.x + threadIdx.x;"
      " if (i < n) out[i] = a * x[i] + y[i]; }";
  // What `2 * x + y` generates, without the functions that all kernels share.
  constexpr const char* by_hand =
      "(float* out, float a, const float* x, const float* y, long long n) {"
      " const int tiles = int(n) / 1024;"
      " const int single = tiles * 768 + int(blockIdx.x) * 256 + threadIdx.x;"
      " if (blockIdx.x < tiles) {"
      "  const int i = blockIdx.x * 256 + threadIdx.x;"
      "  const float4 p = ((const float4*)x)[i], q = ((const float4*)y)[i];"
      "  ((float4*)out)[i] ="
      "    make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);"
      " } else if (single < int(n)) {"
      "  out[single] = a * x[single] + y[single];"
      " } }";
  subject subjects[] = {
      {"an empty kernel", [&](const char* kernel) { compile(kernel, "() {}"); }},
      {"a line by hand", [&](const char* kernel) { compile(kernel, saxpy); }},
      {"4 and 1 by hand", [&](const char* kernel) { compile(kernel, by_hand); }},
      {"2 * x + y", prepare(all, [&] { return 2.0f * x + y; })},
      {"x * row", prepare(all, [&] { return x * row; })},
      {"2 * transpose(x)", prepare(all, [&] { return 2.0f * gpu::transpose(x); })},
      {"sin(x) * y", prepare(all, [&] { return gpu::sin(x) * y; })},
      {"sum(x)", prepare(one, [&] { return gpu::sum(x); })},
      {"sum(x, axis<1>)", prepare(some, [&] { return gpu::sum(x, gpu::axis<1>); })},
      {"sum(x, axis<0>)", prepare(some, [&] { return gpu::sum(x, gpu::axis<0>); })},
      {"argmax(x)", prepare(index, [&] { return gpu::argmax(x); })},
      {"variance(x)", prepare(one, [&] { return gpu::variance(x); })},
  };
  for (int round = 0; round < rounds; ++round) {
    const std::string kernel = "round_" + std::to_string(round);
    for (subject& each : subjects)
      each.milliseconds.push_back(milliseconds_of([&] { each.run(kernel.c_str()); }));
  }
  std::printf("%-18s %6s %6s   ms, median and fastest of %d\n", "", "", "", rounds);
  double base = 0;
  for (subject& each : subjects) {
    std::sort(each.milliseconds.begin(), each.milliseconds.end());
    const double median = each.milliseconds[rounds / 2];
    if (base == 0) base = median;
    std::printf("%-18s %6.1f %6.1f   %.1f x the empty kernel\n", each.name, median,
                each.milliseconds.front(), median / base);
  }
}
