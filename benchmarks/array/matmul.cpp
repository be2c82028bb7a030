// Square products by gpu::matmul with cuBLASLt and with the library's own kernel, in turns: the
// times show from which size on cuBLASLt pays, which is `enough` in cublaslt_product.hpp. The first
// large product opens the library; its time is printed apart.

#include "interleaved.hpp"

#include <gpu/array.hpp>
#include <gpu/array/detail/cublaslt_product.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/measure.hpp>
#include <gpu/memory/shape.hpp>

#include <cuda_fp16.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ratio>

namespace {

using namespace benchmark;

template <class T> void compare(const gpu::stream& stream, const char* type, std::size_t most) {
  for (std::size_t n = 32; n <= most; n *= 2) {
    const auto a = need(gpu::ones<T>(stream, gpu::shape{n, n}));
    const auto b = need(gpu::ones<T>(stream, gpu::shape{n, n}));
    auto out = need(gpu::empty<T>(stream, gpu::shape{n, n}));
    const auto product = [&](bool same_bits) {
      return gpu::matmul(stream, a, b, out, {.same_bits = same_bits});
    };
    const double operations = 2.0 * static_cast<double>(n) * static_cast<double>(n * n);
    const gpu::measurements found = need(gpu::measure(
        stream, {.most_seconds = 2},
        gpu::candidate("own", [&] { return product(true); }, {.operations = operations}),
        gpu::candidate("matmul", [&] { return product(false); }, {.operations = operations})));
    const gpu::measurement &own = found.all[0], &lt = found.all[1];
    std::printf("%-7s n = %5zu: own %9.4f ms %9.1f GFLOP/s, matmul %9.4f ms %9.1f GFLOP/s%s\n",
                type, n, own.seconds.median * 1e3, own.operations_per_second() / 1e9,
                lt.seconds.median * 1e3, lt.operations_per_second() / 1e9,
                own.steady && lt.steady ? "" : ", not steady");
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
