// Square products by gpu::matmul with cuBLASLt and with the library's own kernel, in turns: the
// times show from which size on cuBLASLt pays, which is `enough` in cublaslt_product.hpp. The first
// large product opens the library; its time is printed apart.

#include "interleaved.hpp"

#include <gpu/array.hpp>
#include <gpu/driver/event.hpp>

#include <cuda_fp16.h>

#include <chrono>

namespace {

using namespace benchmark;

/// Milliseconds of one product on the device: the median of `samples`, each of `calls`.
template <class T>
double time_of(const gpu::stream& stream, const gpu::array<T, 2>& a, const gpu::array<T, 2>& b,
               gpu::array<T, 2>& out, bool same_bits, int samples, int calls) {
  const gpu::event start = need(gpu::event::create(stream.device()));
  const gpu::event stop = need(gpu::event::create(stream.device()));
  std::vector<double> times;
  for (int sample = 0; sample < samples; ++sample) {
    need(gpu::record(stream, start));
    for (int call = 0; call < calls; ++call)
      need(gpu::matmul(stream, a, b, out, {.same_bits = same_bits}));
    need(gpu::record(stream, stop));
    need(stream.synchronize());
    times.push_back(static_cast<double>(need(gpu::elapsed(start, stop)).milliseconds()) / calls);
  }
  return median(times);
}

template <class T> void compare(const gpu::stream& stream, const char* type, std::size_t most) {
  for (std::size_t n = 32; n <= most; n *= 2) {
    const auto a = need(gpu::ones<T>(stream, gpu::shape{n, n}));
    const auto b = need(gpu::ones<T>(stream, gpu::shape{n, n}));
    auto out = need(gpu::empty<T>(stream, gpu::shape{n, n}));
    const int calls = n <= 512 ? 100 : 5;
    double own = 0, lt = 0;
    for (int warm = 0; warm < 2; ++warm) {
      own = time_of(stream, a, b, out, true, 7, calls);
      lt = time_of(stream, a, b, out, false, 7, calls);
    }
    const double operations = 2.0 * static_cast<double>(n) * static_cast<double>(n * n);
    std::printf("%-7s n = %5zu: own %9.4f ms %9.1f GFLOP/s, matmul %9.4f ms %9.1f GFLOP/s\n", type,
                n, own, operations / own / 1e6, lt, operations / lt / 1e6);
  }
}

}  // namespace

int main() {
  const machine here;
  const gpu::stream stream = need(gpu::stream::create(here.device));
  const auto a = need(gpu::ones<float>(stream, gpu::shape{256, 256}));
  auto out = need(gpu::empty<float>(stream, gpu::shape{256, 256}));
  need(stream.synchronize());
  const auto begin = std::chrono::steady_clock::now();
  need(gpu::matmul(stream, a, a, out));
  need(stream.synchronize());
  const std::chrono::duration<double, std::milli> first = std::chrono::steady_clock::now() - begin;
  std::printf("cuBLASLt is %s; the first large product takes %.0f ms\n",
              gpu::detail::has_cublaslt() ? "in use" : "not in use", first.count());
  const std::size_t most = here.has_gpu ? 4096 : 64;
  compare<float>(stream, "float", most);
  compare<double>(stream, "double", most);
  compare<__half>(stream, "__half", most);
}
