// Elementwise kernels and reductions beside CUB and the driver's copy, on one GPU.
//   nvcc -std=c++20 -O3 -arch=native -I include -I benchmarks benchmarks/algorithm/loops.cu -lcuda

#include "beside.cuh"

#include <gpu/algorithm/argmin.hpp>
#include <gpu/algorithm/count.hpp>
#include <gpu/algorithm/dot.hpp>
#include <gpu/algorithm/elementwise.hpp>
#include <gpu/algorithm/mean_variance.hpp>
#include <gpu/algorithm/norm.hpp>
#include <gpu/algorithm/reduction.hpp>
#include <gpu/algorithm/scan.hpp>
#include <gpu/algorithm/sum.hpp>
#include <gpu/array.hpp>

#include <cub/cub.cuh>

#include <chrono>
#include <vector>

using beside::need;
using beside::row;

namespace loops_benchmark {

struct moments {
  float count, mean, squares;
};
struct sum_and_squares {
  float sum, squares;
};

}  // namespace loops_benchmark

template <> struct gpu::device_name<loops_benchmark::moments> {
  static constexpr const char* value = "moments";
  static constexpr const char* definition = "struct moments { float count, mean, squares; };";
};
template <> struct gpu::device_name<loops_benchmark::sum_and_squares> {
  static constexpr const char* value = "sum_and_squares";
  static constexpr const char* definition = "struct sum_and_squares { float sum, squares; };";
};

namespace {

using loops_benchmark::moments;
using loops_benchmark::sum_and_squares;

struct affine {
  __device__ float operator()(float x, float y) const { return 2.0f * x + y; }
};
struct formula {
  __device__ float operator()(float x, float y) const { return 2 * x + sinf(y) * y - x / (y + 1); }
};

/// How long the host takes for a call, of calls that the device keeps up with.
template <class Work> double call_nanoseconds(gpu::stream_ref stream, const Work& work) {
  constexpr int calls = 50;
  need(stream.synchronize());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) work();
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - begin;
  return all.count() / calls;
}

/// How much longer than `base` the host takes: the median of many turns, since a single one may be
/// hundreds of nanoseconds off.
template <class Base, class Work>
double longer_nanoseconds(gpu::stream_ref stream, const Base& base, const Work& work) {
  std::vector<double> longer;
  for (int turn = 0; turn < 1500; ++turn) {
    const double before = call_nanoseconds(stream, base), taken = call_nanoseconds(stream, work);
    longer.push_back(taken - (before + call_nanoseconds(stream, base)) / 2);
  }
  return beside::median(longer);
}

}  // namespace

int main() {
  const gpu::device device = need(gpu::device::get(0));
  std::printf("%s\n%-44s %12s %11s   %12s %11s\n", need(device.name()).c_str(), "", "yardstick", "",
              "gpu", "");
  const gpu::stream owner = need(gpu::stream::create(device));
  const gpu::stream_ref stream = owner;
  const cudaStream_t raw = stream.native();
  const std::size_t n = std::size_t{1} << 28;
  const double bytes = 4.0 * static_cast<double>(n);
  auto x = need(gpu::device_buffer<float>::create(stream, n));
  auto y = need(gpu::device_buffer<float>::create(stream, n));
  auto z = need(gpu::device_buffer<float>::create(stream, n));
  float* const px = x.span().data();
  float* const py = y.span().data();
  float* const pz = z.span().data();
  auto ramp = need(gpu::elementwise<float*>::create("x", "x[i] = 1.0f / (1 + i % 1000)"));
  need(ramp(stream, x));
  need(ramp(stream, y));
  std::size_t scratch_bytes = 64 << 20;
  auto scratch = need(gpu::device_buffer<char>::create(stream, scratch_bytes));
  void* const temporary = scratch.span().data();

  const auto copy = [&] { need(cudaMemcpyAsync(pz, px, n * 4, cudaMemcpyDeviceToDevice, raw)); };
  const auto transform = [&](auto f) {
    return [&, f] {
      need(cub::DeviceTransform::Transform(::cuda::std::tuple{px, py}, pz,
                                           static_cast<long long>(n), f, raw));
    };
  };
  using two_in = gpu::elementwise<const float*, const float*, float*>;
  auto assign = need(gpu::elementwise<const float*, float*>::create("x, z", "z[i] = x[i]"));
  auto sum2 = need(two_in::create("x, y, z", "z[i] = 2.0f * x[i] + y[i]"));
  auto longer =
      need(two_in::create("x, y, z", "z[i] = 2 * x[i] + sinf(y[i]) * y[i] - x[i] / (y[i] + 1)"));
  row("z = x, beside cudaMemcpy", raw, 2 * bytes, copy, [&] { need(assign(stream, x, z)); });
  row("z = 2x + y, beside cub::DeviceTransform", raw, 3 * bytes, transform(affine()),
      [&] { need(sum2(stream, x, y, z)); });
  row("z = 2x + sin(y)y - x/(y+1)", raw, 3 * bytes, transform(formula()),
      [&] { need(longer(stream, x, y, z)); });
  row(
      "z = 2x + y, unaligned by 4 bytes, beside aligned", raw, 3 * bytes,
      [&] { need(sum2(stream, x, y, z)); },
      [&] {
        need(sum2(stream, x.span().subspan(1), y.span().first(n - 1), z.span().first(n - 1)));
      });
  const std::size_t side = 16384;
  const auto plain =
      gpu::array_view<float, 2>::from_native(x.span().native(), {side, side}, {side, 1});
  const auto turned =
      gpu::array_view<float, 2>::from_native(x.span().native(), {side, side}, {1, side});
  const auto even = gpu::array_view<float, 1>::from_native(x.span().native(), {n / 2}, {2});
  const auto repeated =
      gpu::array_view<float, 2>::from_native(y.span().native(), {side, side}, {0, 1});
  row("z = x + y[row], beside cudaMemcpy", raw, 2 * bytes, copy,
      [&] { need(sum2(stream, plain, repeated, z)); });
  row("z = transposed x, beside cudaMemcpy", raw, 2 * bytes, copy,
      [&] { need(assign(stream, turned, z)); });
  row("z = 2 x + transposed y, beside cub, in order", raw, 3 * bytes, transform(affine()), [&] {
    need(sum2(stream, x,
              gpu::array_view<float, 2>::from_native(y.span().native(), {side, side}, {1, side}),
              z));
  });
  row(
      "z = every other x, beside cudaMemcpy by bytes", raw, 1.5 * bytes,
      [&] { need(cudaMemcpyAsync(pz, px, n * 3, cudaMemcpyDeviceToDevice, raw)); },
      [&] { need(assign(stream, even, z.span().first(n / 2))); });

  auto sum = need((gpu::reduction<float, const float*>::create(
      {.parameters = "x", .map = "x[i]", .reduce = "a + b", .neutral = 0.0f})));
  auto largest = need((gpu::reduction<float, const float*>::create(
      {.parameters = "x", .map = "x[i]", .reduce = "fmaxf(a, b)", .neutral = -1e30f})));
  const auto cub_sum = [&](std::size_t count) {
    return [&, count] {
      need(cub::DeviceReduce::Sum(temporary, scratch_bytes, px, pz, static_cast<long long>(count),
                                  raw));
    };
  };
  for (const std::size_t count :
       {n, std::size_t{1} << 20, std::size_t{1} << 16, std::size_t{1} << 14, std::size_t{1024}}) {
    char name[64];
    std::snprintf(name, sizeof name, "sum of %zu, beside cub::DeviceReduce", count);
    row(name, raw, 4.0 * static_cast<double>(count), cub_sum(count),
        [&] { need(sum.into(stream, z.span().first(1), x.span().first(count))); });
  }
  row("max of 2^28, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(largest.into(stream, z.span().first(1), x)); });
  row("sum of unaligned 2^28, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(sum.into(stream, z.span().first(1), x.span().subspan(1))); });
  row("sums of 16384 rows, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(sum.into(stream, z.span().first(side), plain)); });
  auto variance = need((gpu::reduction<moments, const float*>::create({.parameters = "x",
                                                                       .map = "moments{1, x[i], 0}",
                                                                       .reduce = "combine(a, b)",
                                                                       .neutral = {0, 0, 0},
                                                                       .options = {.preamble = R"(
inline moments combine(const moments& a, const moments& b) {
  const float count = a.count + b.count, distance = b.mean - a.mean;
  const float part = count == 0 ? 0 : __fdividef(b.count, count);
  return {count, a.mean + distance * part,
          a.squares + b.squares + distance * distance * (a.count * part)};
})"}})));
  auto sums = need((gpu::reduction<sum_and_squares, const float*>::create(
      {.parameters = "x",
       .map = "sum_and_squares{x[i], x[i] * x[i]}",
       .reduce = "sum_and_squares{a.sum + b.sum, a.squares + b.squares}",
       .neutral = {0, 0},
       .result = "sum_and_squares{a.sum / n, (a.squares - a.sum * (a.sum / n)) / n}"})));
  auto of_moments = need(gpu::device_buffer<moments>::create(stream, 1));
  auto of_sums = need(gpu::device_buffer<sum_and_squares>::create(stream, 1));
  row("mean and variance by sums, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(sums.into(stream, of_sums, x)); });
  row("mean and variance by moments, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(variance.into(stream, of_moments, x)); });
  // The columns of matrices whose rows are contiguous, with `gap` elements behind each row.
  const auto columns = [&](std::size_t rows, std::size_t count, std::size_t gap) {
    char name[64];
    std::snprintf(name, sizeof name, "columns of (%zu, %zu)%s, beside cub's sum", rows, count,
                  gap == 0 ? "" : ", unaligned");
    const std::size_t used = rows * count;
    const auto pitch = static_cast<std::ptrdiff_t>(count + gap);
    row(name, raw, 4.0 * static_cast<double>(used), cub_sum(used), [&] {
      need(sum.into(
          stream, z.span().first(count),
          gpu::array_view<float, 2>::from_native(x.span().native(), {count, rows}, {1, pitch})));
    });
  };
  columns(side, side, 0);
  columns(side - 1, side, 1);
  columns(1 << 25, 8, 0);
  columns(n / 9, 9, 0);
  columns(n / 11, 11, 0);
  columns(1 << 24, 16, 0);
  columns(n / 80, 80, 0);
  columns(1 << 20, 256, 0);
  columns(1 << 16, 1 << 12, 0);
  columns(1 << 12, 1 << 16, 0);
  columns(256, 1 << 20, 0);
  columns(16, 1 << 24, 0);
  columns(4096, 256, 0);
  columns(1024, 1024, 0);
  // Rows of matrices without gaps.
  for (const std::size_t length : {256, 64, 16, 4}) {
    char name[64];
    std::snprintf(name, sizeof name, "rows of %zu, beside cub's sum", length);
    row(name, raw, bytes, cub_sum(n),
        [&] { need(sum.into(stream, z.span().first(n / length), x)); });
  }

  // The named reductions read x once, or x and y. CUB's sum of as many bytes is the yardstick.
  const auto one = z.span().first(1), another = z.span().subspan(1, 1);
  const auto place = gpu::device_span<std::int64_t>::from_native(z.span().subspan(4).native(), 1);
  const auto bytes_of_x =
      gpu::device_span<const std::uint8_t>::from_native(x.span().native(), 4 * n);
  row("gpu::sum of 2^28, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(gpu::sum(stream, x, one)); });
  row("gpu::max of 2^28, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(gpu::max(stream, x, one)); });
  row("gpu::minmax of 2^28, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(gpu::minmax(stream, x, one, another)); });
  row("gpu::argmax of 2^28, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(gpu::argmax(stream, x, place)); });
  row("gpu::mean_variance of 2^28, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(gpu::mean_variance(stream, x, one, another)); });
  row("gpu::norm of 2^28, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(gpu::norm(stream, x, one)); });
  row("gpu::count of 2^30 bytes, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(gpu::count(stream, bytes_of_x, place)); });
  row("gpu::dot of 2^27, beside cub's sum", raw, bytes, cub_sum(n),
      [&] { need(gpu::dot(stream, x.span().first(n / 2), y.span().first(n / 2), one)); });
  for (const std::size_t count : {std::size_t{1} << 20, std::size_t{1024}}) {
    char name[64];
    std::snprintf(name, sizeof name, "gpu::mean_variance of %zu", count);
    row(name, raw, 4.0 * static_cast<double>(count), cub_sum(count),
        [&] { need(gpu::mean_variance(stream, x.span().first(count), one, another)); });
    std::snprintf(name, sizeof name, "gpu::max of %zu", count);
    row(name, raw, 4.0 * static_cast<double>(count), cub_sum(count),
        [&] { need(gpu::max(stream, x.span().first(count), one)); });
  }

  auto running = need((gpu::scan<float, const float*, float*>::create({.parameters = "x, y",
                                                                       .map = "x[i]",
                                                                       .combine = "a + b",
                                                                       .store = "y[i] = item",
                                                                       .neutral = 0})));
  for (const std::size_t count :
       {n, std::size_t{1} << 24, std::size_t{1} << 20, std::size_t{1} << 14, std::size_t{1024}}) {
    char name[64];
    std::snprintf(name, sizeof name, "scan of %zu, beside cub::DeviceScan", count);
    row(
        name, raw, 8.0 * static_cast<double>(count),
        [&] {
          need(cub::DeviceScan::InclusiveSum(temporary, scratch_bytes, px, pz,
                                             static_cast<long long>(count), raw));
        },
        [&] { need(running(stream, x.span().first(count), z.span().first(count))); });
  }

  auto empty = need(gpu::compile(
      "extern \"C\" __global__ void k(const float* x, const float* y, float* z, long long n) {}"));
  auto module = need(gpu::module::load(empty));
  auto kernel = need(module.kernel<const float*, const float*, float*, long long>("k"));
  const auto launch = [&] { need(gpu::launch(stream, {4, 256}, kernel, x, y, z, 1000ll)); };
  const auto few = [](auto& buffer) { return buffer.span().first(1000); };
  const double by_snippet =
      longer_nanoseconds(stream, launch, [&] { need(sum2(stream, few(x), few(y), few(z))); });
  auto a = need(gpu::zeros<float>(stream, gpu::shape<1>{1000}));
  auto b = need(gpu::zeros<float>(stream, gpu::shape<1>{1000}));
  auto c = need(gpu::zeros<float>(stream, gpu::shape<1>{1000}));
  need(gpu::assign(stream, c, 2.0f * a + b));  // compiles
  const double by_expression =
      longer_nanoseconds(stream, launch, [&] { need(gpu::assign(stream, c, 2.0f * a + b)); });
  std::printf(
      "a warm call takes the host longer than gpu::launch: elementwise %+.0f ns, assign %+.0f ns\n",
      by_snippet, by_expression);
}
