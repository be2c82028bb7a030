// Scans, selections, and runs beside CUB, on one GPU. Each result is compared with CUB's first.
//   nvcc -std=c++20 -O3 -arch=native -I include -I benchmarks benchmarks/algorithm/scan.cu -lcuda

#include "beside.cuh"

#include <gpu/algorithm/elementwise.hpp>
#include <gpu/algorithm/inclusive_scan.hpp>
#include <gpu/algorithm/reduce_by_key.hpp>
#include <gpu/algorithm/reduction.hpp>
#include <gpu/algorithm/run_length.hpp>
#include <gpu/algorithm/select.hpp>
#include <gpu/algorithm/unique.hpp>

#include <cub/cub.cuh>

#include <cstdint>

using beside::need;
using beside::row;

namespace {

struct above_half {
  __device__ bool operator()(float x) const { return x > 0.5f; }
};
struct plus {
  template <class T> __device__ T operator()(const T& a, const T& b) const { return a + b; }
};

template <class T> gpu::device_buffer<T> make(gpu::stream_ref stream, std::size_t count) {
  return need(gpu::device_buffer<T>::create(stream, count));
}

/// Ends the program if the first `count` elements differ by more than `tolerance`.
template <class T>
void compare(const char* what, gpu::stream_ref stream, gpu::device_span<T> found,
             gpu::device_span<T> expected, double tolerance) {
  static const auto largest = need(gpu::reduction<double, const T*, const T*>::create(
      {.parameters = "x, y", .map = "fabs((double)x[i] - (double)y[i]) / (1 + fabs((double)y[i]))",
       .reduce = "fmax(a, b)", .neutral = 0.0}));
  const double difference = need(largest(stream, found, expected));
  if (difference <= tolerance) return;
  std::fprintf(stderr, "%s: results differ by %g\n", what, difference);
  std::exit(1);
}

template <class Call> void with_temporary(Call call) {
  static char* memory = nullptr;
  static std::size_t have = 0;
  std::size_t bytes = 0;
  need(call(nullptr, bytes));
  if (bytes > have) {
    need(cudaFree(memory));
    need(cudaMalloc(&memory, bytes));
    have = bytes;
  }
  need(call(memory, bytes));
}

template <class T>
void scans(const char* type, gpu::stream_ref stream, std::size_t count, double tolerance) {
  auto x = make<T>(stream, count), y = make<T>(stream, count), z = make<T>(stream, count);
  static const auto fill =
      need(gpu::elementwise<T*>::create("x", "x[i] = (i * 2654435761u >> 7) % 8 - 3"));
  need(fill(stream, x));
  const auto theirs = [&] {
    with_temporary([&](void* memory, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(memory, bytes, x.span().data(), y.span().data(),
                                           static_cast<long long>(count), stream.native());
    });
  };
  const auto ours = [&] { need(gpu::inclusive_scan(stream, x, z)); };
  const auto before = [&] { need(gpu::exclusive_scan(stream, x, z)); };
  theirs();
  ours();
  compare<T>("inclusive_scan", stream, z.span(), y.span(), tolerance);
  char name[80];
  std::snprintf(name, sizeof name, "inclusive_scan of %zu %s", count, type);
  row(name, stream.native(), 2.0 * sizeof(T) * static_cast<double>(count), theirs, ours);
  std::snprintf(name, sizeof name, "exclusive_scan of %zu %s", count, type);
  row(name, stream.native(), 2.0 * sizeof(T) * static_cast<double>(count), theirs, before);
}

void selections(gpu::stream_ref stream, std::size_t n) {
  auto x = make<float>(stream, n), y = make<float>(stream, n), z = make<float>(stream, n);
  auto flags = make<std::uint8_t>(stream, n);
  auto count = make<unsigned long long>(stream, 1);
  auto their_count = make<unsigned long long>(stream, 1);
  // Half of the elements are above 0.5, in no order.
  const auto fill = need(gpu::elementwise<float*, std::uint8_t*>::create(
      "x, flags", "unsigned h = (unsigned)i * 2654435761u; h ^= h >> 15; h *= 2246822519u; h ^= h >> 13; x[i] = h * 0x1p-32f; flags[i] = x[i] > 0.5f;"));
  need(fill(stream, x, flags));
  const auto above = need(gpu::selection<float, const float*>::create(
      {.parameters = "x", .condition = "x[i] > 0.5f", .value = "x[i]"}));
  const auto theirs_if = [&] {
    with_temporary([&](void* memory, std::size_t& bytes) {
      return cub::DeviceSelect::If(memory, bytes, x.span().data(), y.span().data(),
                                   their_count.span().data(), static_cast<long long>(n),
                                   above_half(), stream.native());
    });
  };
  const auto theirs_flagged = [&] {
    with_temporary([&](void* memory, std::size_t& bytes) {
      return cub::DeviceSelect::Flagged(memory, bytes, x.span().data(), flags.span().data(),
                                        y.span().data(), their_count.span().data(),
                                        static_cast<long long>(n), stream.native());
    });
  };
  const auto ours_if = [&] { need(above.into(stream, z, count, x)); };
  const auto ours_flagged = [&] { need(gpu::select(stream, x, flags, z, count)); };
  const auto check = [&](const char* what) {
    unsigned long long found[1], expected[1];
    need(gpu::copy(count, found));
    need(gpu::copy(their_count, expected));
    if (found[0] != expected[0]) {
      std::fprintf(stderr, "%s: %llu elements, not %llu\n", what, found[0], expected[0]);
      std::exit(1);
    }
    compare<float>(what, stream, z.span().first(found[0]), y.span().first(found[0]), 0);
  };
  const double bytes = 4.0 * static_cast<double>(n);
  theirs_if();
  ours_if();
  check("selection");
  row("selection of x > 0.5, by input", stream.native(), bytes, theirs_if, ours_if);
  need(gpu::fill(stream, z, 0.0f));
  ours_flagged();
  check("select");
  row("select by flags, by input", stream.native(), bytes * 1.25, theirs_flagged, ours_flagged);
}

void runs(gpu::stream_ref stream, std::size_t n, unsigned length) {
  auto keys = make<int>(stream, n), out_keys = make<int>(stream, n), their_keys = make<int>(stream, n);
  auto values = make<float>(stream, n), out = make<float>(stream, n), theirs = make<float>(stream, n);
  auto lengths = make<int>(stream, n), their_lengths = make<int>(stream, n);
  auto count = make<unsigned long long>(stream, 1);
  auto their_count = make<unsigned long long>(stream, 1);
  const auto fill = need(gpu::elementwise<int*, float*, int>::create(
      "keys, values, length", "keys[i] = (int)(i / length); values[i] = (float)(i % 16)"));
  need(fill(stream, keys, values, static_cast<int>(length)));
  const auto signed_n = static_cast<long long>(n);
  const std::size_t all = (n + length - 1) / length;
  const auto cub_unique = [&] {
    with_temporary([&](void* memory, std::size_t& bytes) {
      return cub::DeviceSelect::Unique(memory, bytes, keys.span().data(), their_keys.span().data(),
                                       their_count.span().data(), signed_n, stream.native());
    });
  };
  const auto cub_lengths = [&] {
    with_temporary([&](void* memory, std::size_t& bytes) {
      return cub::DeviceRunLengthEncode::Encode(
          memory, bytes, keys.span().data(), their_keys.span().data(), their_lengths.span().data(),
          their_count.span().data(), static_cast<int>(n), stream.native());
    });
  };
  const auto cub_reduce = [&] {
    with_temporary([&](void* memory, std::size_t& bytes) {
      return cub::DeviceReduce::ReduceByKey(memory, bytes, keys.span().data(),
                                            their_keys.span().data(), values.span().data(),
                                            theirs.span().data(), their_count.span().data(), plus(),
                                            static_cast<int>(n), stream.native());
    });
  };
  const auto our_unique = [&] { need(gpu::unique(stream, keys, out_keys, count)); };
  const auto our_lengths = [&] { need(gpu::run_length(stream, keys, out_keys, lengths, count)); };
  const auto our_reduce = [&] {
    need(gpu::reduce_by_key(stream, keys, values, out_keys, out, count));
  };
  char name[80];
  const double bytes = 4.0 * static_cast<double>(n);
  cub_unique();
  our_unique();
  compare<int>("unique", stream, out_keys.span().first(all), their_keys.span().first(all), 0);
  std::snprintf(name, sizeof name, "unique, runs of %u, by input", length);
  row(name, stream.native(), bytes, cub_unique, our_unique);
  cub_lengths();
  our_lengths();
  compare<int>("run_length", stream, lengths.span().first(all), their_lengths.span().first(all), 0);
  std::snprintf(name, sizeof name, "run_length, runs of %u, by input", length);
  row(name, stream.native(), bytes, cub_lengths, our_lengths);
  cub_reduce();
  our_reduce();
  compare<float>("reduce_by_key", stream, out.span().first(all), theirs.span().first(all), 1e-5);
  std::snprintf(name, sizeof name, "reduce_by_key, runs of %u, by input", length);
  row(name, stream.native(), 2 * bytes, cub_reduce, our_reduce);
}

}  // namespace

int main() {
  const gpu::device device = need(gpu::device::get(0));
  std::printf("%s\n%-44s %12s %11s   %12s %11s\n", need(device.name()).c_str(), "", "cub", "", "gpu",
              "");
  const gpu::stream owner = need(gpu::stream::create(device));
  const gpu::stream_ref stream = owner;
  const std::size_t n = std::size_t{1} << 28;
  scans<float>("float", stream, n, 1e-3);
  scans<float>("float", stream, std::size_t{1} << 20, 1e-3);
  scans<float>("float", stream, 1024, 1e-5);
  scans<int>("int", stream, n, 0);
  scans<double>("double", stream, n / 2, 1e-9);
  selections(stream, n);
  for (const unsigned length : {1u, 5u, 1000u}) runs(stream, n, length);
}
