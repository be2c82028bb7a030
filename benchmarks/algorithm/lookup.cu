// Histograms beside CUB's, gather, scatter and search_sorted beside Thrust's, on one GPU. The
// results have to be theirs, too.
//   nvcc -std=c++20 -O3 -arch=native -I include -I benchmarks benchmarks/algorithm/lookup.cu -lcuda

#include "beside.cuh"

#include <gpu/algorithm/bincount.hpp>
#include <gpu/algorithm/gather.hpp>
#include <gpu/algorithm/histogram.hpp>
#include <gpu/algorithm/scatter.hpp>
#include <gpu/algorithm/search_sorted.hpp>

#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/scatter.h>

#include <cub/cub.cuh>

#include <cstdint>
#include <cstring>

using beside::need;
using beside::row;

namespace {

struct bench {
  gpu::stream owner;
  gpu::stream_ref stream = owner;
  cudaStream_t raw = stream.native();
  bool all_equal = true;

  template <class T> gpu::device_buffer<T> make(std::size_t n) {
    return need(gpu::device_buffer<T>::create(stream, n));
  }
  template <class T> gpu::device_buffer<T> upload(const std::vector<T>& host) {
    auto made = make<T>(host.size());
    need(gpu::copy(host, made));
    return made;
  }
  template <class T>
  void compare(const char* name, const gpu::device_buffer<T>& expected,
               const gpu::device_buffer<T>& found) {
    std::vector<T> a(expected.size()), b(expected.size());
    need(gpu::copy(expected, a));
    need(gpu::copy(found, b));
    if (std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0) return;
    all_equal = false;
    std::printf("  DIFFERENT: %s\n", name);
  }

  /// Bins of width 1, so that CUB's are the same.
  template <class T> void even(const char* name, const std::vector<T>& host, int bins) {
    const auto x = upload(host);
    auto theirs = make<std::uint32_t>(bins), ours = make<std::uint32_t>(bins);
    const auto n = static_cast<long long>(host.size());
    std::size_t bytes = 0;
    const auto cub_histogram = [&](void* temporary) {
      need(cub::DeviceHistogram::HistogramEven(
          temporary, bytes, x.span().data(), theirs.span().data(), bins + 1, static_cast<float>(0),
          static_cast<float>(bins), n, raw));
    };
    cub_histogram(nullptr);
    auto temporary = make<char>(bytes);
    row(
        name, raw, static_cast<double>(n) * sizeof(T),
        [&] { cub_histogram(temporary.span().data()); },
        [&] { need(gpu::histogram(stream, x, 0, bins, ours)); });
    compare(name, theirs, ours);
  }

  void between(const char* name, const std::vector<float>& host, int bins) {
    std::vector<float> host_edges;
    for (int k = 0; k <= bins; ++k)
      host_edges.push_back(256.0f * static_cast<float>(k) * static_cast<float>(k) /
                           (static_cast<float>(bins) * static_cast<float>(bins)));
    const auto x = upload(host), edges = upload(host_edges);
    auto theirs = make<std::uint32_t>(bins), ours = make<std::uint32_t>(bins);
    const auto n = static_cast<long long>(host.size());
    std::size_t bytes = 0;
    const auto cub_histogram = [&](void* temporary) {
      need(cub::DeviceHistogram::HistogramRange(temporary, bytes, x.span().data(),
                                                theirs.span().data(), bins + 1, edges.span().data(),
                                                n, raw));
    };
    cub_histogram(nullptr);
    auto temporary = make<char>(bytes);
    row(
        name, raw, static_cast<double>(n) * 4, [&] { cub_histogram(temporary.span().data()); },
        [&] { need(gpu::histogram(stream, x, edges, ours)); });
    compare(name, theirs, ours);
  }

  void counts(const char* name, const std::vector<std::int32_t>& host, int bins) {
    const auto x = upload(host);
    auto theirs = make<std::uint32_t>(bins), ours = make<std::uint32_t>(bins);
    const auto n = static_cast<long long>(host.size());
    std::size_t bytes = 0;
    const auto cub_histogram = [&](void* temporary) {
      need(cub::DeviceHistogram::HistogramEven(temporary, bytes, x.span().data(),
                                               theirs.span().data(), bins + 1, 0, bins, n, raw));
    };
    cub_histogram(nullptr);
    auto temporary = make<char>(bytes);
    row(
        name, raw, static_cast<double>(n) * 4, [&] { cub_histogram(temporary.span().data()); },
        [&] { need(gpu::bincount(stream, x, ours)); });
    compare(name, theirs, ours);
    auto weights = make<float>(host.size()), sums = make<float>(bins);
    need(gpu::fill(stream, weights, 1.0f));
    row(
        "  with weights, beside the counts", raw, static_cast<double>(n) * 8,
        [&] { cub_histogram(temporary.span().data()); },
        [&] { need(gpu::bincount(stream, x, weights, sums)); });
  }

  /// `indices` is a permutation.
  void indexed(const char* name, const std::vector<std::int32_t>& host_indices) {
    std::printf("%s\n", name);
    const std::size_t n = host_indices.size();
    std::vector<float> host(n);
    for (std::size_t i = 0; i < n; ++i) host[i] = static_cast<float>(i);
    const auto x = upload(host);
    const auto indices = upload(host_indices);
    auto theirs = make<float>(n), ours = make<float>(n);
    const auto policy = thrust::cuda::par_nosync.on(raw);
    const std::int32_t* const first = indices.span().data();
    const double bytes = static_cast<double>(n) * 12;
    const auto thrust_gather = [&] {
      thrust::gather(policy, first, first + n, x.span().data(), theirs.span().data());
    };
    row("  gather", raw, bytes, thrust_gather,
        [&] { need(gpu::gather(stream, x, indices, ours)); });
    compare("gather", theirs, ours);
    row("  gather, checked", raw, bytes, thrust_gather,
        [&] { need(gpu::gather(stream, x, indices, ours, {.check = true})); });
    const auto thrust_scatter = [&] {
      thrust::scatter(policy, x.span().data(), x.span().data() + n, first, theirs.span().data());
    };
    row("  scatter, unique", raw, bytes, thrust_scatter,
        [&] { need(gpu::scatter(stream, x, indices, ours, {.unique = true})); });
    compare("scatter, unique", theirs, ours);
    row("  scatter, the last stays", raw, bytes, thrust_scatter,
        [&] { need(gpu::scatter(stream, x, indices, ours)); });
    compare("scatter", theirs, ours);
  }

  void search(const char* name, const std::vector<float>& host, std::size_t size) {
    std::vector<float> host_sorted(size);
    for (std::size_t i = 0; i < size; ++i)
      host_sorted[i] = 256.0f * static_cast<float>(i) / static_cast<float>(size);
    const auto sorted = upload(host_sorted), values = upload(host);
    auto theirs = make<std::int32_t>(host.size()), ours = make<std::int32_t>(host.size());
    const auto policy = thrust::cuda::par_nosync.on(raw);
    row(
        name, raw, static_cast<double>(host.size()) * 8,
        [&] {
          thrust::lower_bound(policy, sorted.span().data(), sorted.span().data() + size,
                              values.span().data(), values.span().data() + host.size(),
                              theirs.span().data());
        },
        [&] { need(gpu::search_sorted(stream, sorted, values, ours)); });
    compare(name, theirs, ours);
  }
};

/// The same numbers in every run.
std::uint64_t random_bits(std::uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15;
  i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9;
  i = (i ^ i >> 27) * 0x94d049bb133111eb;
  return i ^ i >> 31;
}

}  // namespace

int main() {
  const gpu::device device = need(gpu::device::get(0));
  std::printf("%s\n%-44s %25s   %25s\n", need(device.name()).c_str(), "", "cub, thrust", "gpu");
  bench b{need(gpu::stream::create(device))};
  const std::size_t n = std::size_t{1} << 28;
  std::vector<float> floats(n), hump(n);
  std::vector<std::uint8_t> bytes(n);
  std::vector<std::int32_t> integers(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bits = random_bits(i);
    floats[i] =
        static_cast<float>(bits >> 40 | 1) * 0x1p-16f;  // never an edge, which CUB leaves out
    hump[i] = 112 + static_cast<float>(bits >> 40) * 0x1p-19f;
    bytes[i] = static_cast<std::uint8_t>(bits);
    integers[i] = static_cast<std::int32_t>(bits >> 8 & 0xff);
  }
  b.even("histogram, 256 bins of 2^28 floats", floats, 256);
  b.even("  of floats in 32 of them", hump, 256);
  b.even("  of equal floats", std::vector<float>(n, 3.0f), 256);
  b.even("  of 2^28 bytes", bytes, 256);
  b.even("  of equal bytes", std::vector<std::uint8_t>(n, 3), 256);
  b.even("  of 2^20 floats", std::vector<float>(floats.begin(), floats.begin() + (1 << 20)), 256);
  b.even("  of 2^14 floats", std::vector<float>(floats.begin(), floats.begin() + (1 << 14)), 256);
  b.even("histogram, 8 bins of 2^28 floats", floats, 8);
  b.between("histogram, 16 uneven bins", floats, 16);
  b.between("histogram, 256 uneven bins", floats, 256);
  b.counts("bincount, 256 bins of 2^28 integers", integers, 256);
  for (std::size_t i = 0; i < n; ++i)
    integers[i] = static_cast<std::int32_t>(random_bits(i) & 0xfffff);
  b.counts("bincount, 2^20 bins of 2^28 integers", integers, 1 << 20);

  integers.resize(std::size_t{1} << 26);
  const std::size_t mask = integers.size() - 1;
  for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = static_cast<std::int32_t>(i ^ 37);
  b.indexed("2^26 floats, indices near each other", integers);
  for (std::size_t i = 0; i < integers.size(); ++i)
    integers[i] = static_cast<std::int32_t>(i * 0x9e3779b97f4a7c15 & mask);
  b.indexed("2^26 floats, indices far from each other", integers);

  floats.resize(std::size_t{1} << 26);
  b.search("search_sorted, 2^26 values in 2^10", floats, 1 << 10);
  b.search("search_sorted, 2^26 values in 2^20", floats, 1 << 20);
  b.search("search_sorted, 2^26 values in 2^26", floats, 1 << 26);
  std::printf(b.all_equal ? "all results are equal\n" : "RESULTS DIFFER\n");
  return b.all_equal ? 0 : 1;
}
