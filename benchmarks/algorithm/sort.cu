// Sorts and top_k beside CUB's radix sort, on one GPU. The results have to be CUB's, too.
//   nvcc -std=c++20 -O3 -arch=native -I include -I benchmarks benchmarks/algorithm/sort.cu -lcuda

#include "beside.cuh"

#include <gpu/algorithm/sort.hpp>
#include <gpu/algorithm/top_k.hpp>

#include <cub/cub.cuh>

#include <cstdint>
#include <cstring>

using beside::milliseconds;
using beside::need;

namespace {

struct bench {
  gpu::stream owner;
  gpu::stream_ref stream = owner;
  cudaStream_t raw = stream.native();
  bool all_equal = true;

  template <class T> gpu::device_buffer<T> make(std::size_t n) {
    return need(gpu::device_buffer<T>::create(stream, n));
  }

  /// Times both in turns. Each sorts a fresh copy, which `restore` makes outside of the times.
  template <class Restore, class Theirs, class Ours>
  void row(const char* name, std::size_t n, Restore restore, Theirs theirs, Ours ours) {
    const int rounds = n > (1u << 24) ? 15 : 51;
    std::vector<double> theirs_taken, ours_taken;
    for (int round = 0; round < rounds + 3; ++round) {
      restore();
      const double their_time = milliseconds(raw, theirs);
      restore();
      const double our_time = milliseconds(raw, ours);
      if (round < 3) continue;
      theirs_taken.push_back(their_time);
      ours_taken.push_back(our_time);
    }
    const double their_time = beside::median(theirs_taken), our_time = beside::median(ours_taken);
    const auto rate = [&](double taken) { return static_cast<double>(n) / taken / 1e6; };
    std::printf("%-36s %11zu %10.1f us %7.2f G/s   %10.1f us %7.2f G/s   %5.3f x\n", name, n,
                their_time * 1e3, rate(their_time), our_time * 1e3, rate(our_time),
                their_time / our_time);
  }

  template <class T>
  void compare(const char* name, const T* expected, const T* found, std::size_t n) {
    std::vector<T> a(n), b(n);
    need(cudaStreamSynchronize(raw));
    need(cudaMemcpy(a.data(), expected, n * sizeof(T), cudaMemcpyDeviceToHost));
    need(cudaMemcpy(b.data(), found, n * sizeof(T), cudaMemcpyDeviceToHost));
    if (std::memcmp(a.data(), b.data(), n * sizeof(T)) == 0) return;
    all_equal = false;
    std::printf("  DIFFERENT: %s\n", name);
  }

  template <class T> void copy(const T* from, T* to, std::size_t n) {
    need(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToDevice, raw));
  }

  template <class T> void sort_keys(const char* name, const std::vector<T>& host, std::size_t n) {
    auto original = make<T>(n), theirs = make<T>(n), ours = make<T>(n);
    T* const in = original.span().data();
    T* const out = theirs.span().data();
    T* const place = ours.span().data();
    need(cudaMemcpy(in, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    std::size_t bytes = 0;
    const auto cub_sort = [&](void* temporary) {
      need(cub::DeviceRadixSort::SortKeys(temporary, bytes, in, out, static_cast<long long>(n), 0,
                                          static_cast<int>(8 * sizeof(T)), raw));
    };
    cub_sort(nullptr);
    auto temporary = make<char>(bytes);
    row(
        name, n, [&] { copy(in, place, n); }, [&] { cub_sort(temporary.span().data()); },
        [&] { need(gpu::sort(stream, ours)); });
    compare(name, out, place, n);
  }

  template <class K, class V>
  void sort_pairs(const char* name, const std::vector<K>& host, std::size_t n) {
    auto original = make<K>(n), theirs = make<K>(n), ours = make<K>(n);
    auto original_values = make<V>(n), their_values = make<V>(n), our_values = make<V>(n);
    K* const in = original.span().data();
    V* const values = original_values.span().data();
    std::vector<V> numbers(n);
    for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<V>(i);
    need(cudaMemcpy(in, host.data(), n * sizeof(K), cudaMemcpyHostToDevice));
    need(cudaMemcpy(values, numbers.data(), n * sizeof(V), cudaMemcpyHostToDevice));
    std::size_t bytes = 0;
    const auto cub_sort = [&](void* temporary) {
      need(cub::DeviceRadixSort::SortPairs(temporary, bytes, in, theirs.span().data(), values,
                                           their_values.span().data(), static_cast<long long>(n), 0,
                                           static_cast<int>(8 * sizeof(K)), raw));
    };
    cub_sort(nullptr);
    auto temporary = make<char>(bytes);
    const auto restore = [&] {
      copy(in, ours.span().data(), n);
      copy(values, our_values.span().data(), n);
    };
    row(
        name, n, restore, [&] { cub_sort(temporary.span().data()); },
        [&] { need(gpu::sort_pairs(stream, ours, our_values)); });
    compare(name, theirs.span().data(), ours.span().data(), n);
    compare(name, their_values.span().data(), our_values.span().data(), n);

    if (sizeof(V) != 4) return;
    auto indices = make<std::uint32_t>(n);
    row(
        "argsort, beside pairs", n, [] {}, [&] { cub_sort(temporary.span().data()); },
        [&] { need(gpu::argsort(stream, original, indices)); });
    compare("argsort", reinterpret_cast<std::uint32_t*>(their_values.span().data()),
            indices.span().data(), n);
    auto most = make<K>(1000);
    auto places = make<std::uint32_t>(1000);
    row(
        "smallest 1000, beside pairs", n, [] {}, [&] { cub_sort(temporary.span().data()); },
        [&] { need(gpu::top_k(stream, original, most, places, gpu::sort_order::ascending)); });
    compare("top_k", theirs.span().data(), most.span().data(), 1000);
    compare("top_k indices", reinterpret_cast<std::uint32_t*>(their_values.span().data()),
            places.span().data(), 1000);
  }

  void sort_segments(const char* name, const std::vector<std::uint32_t>& host, std::size_t n,
                     std::size_t length) {
    auto original = make<std::uint32_t>(n), theirs = make<std::uint32_t>(n);
    auto ours = make<std::uint32_t>(n);
    const std::size_t count = n / length;
    std::vector<std::int32_t> begins(count + 1);
    for (std::size_t s = 0; s <= count; ++s) begins[s] = static_cast<std::int32_t>(s * length);
    auto offsets = make<std::int32_t>(count + 1);
    std::uint32_t* const in = original.span().data();
    need(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
    need(cudaMemcpy(offsets.span().data(), begins.data(), begins.size() * 4,
                    cudaMemcpyHostToDevice));
    std::size_t bytes = 0;
    const auto cub_sort = [&](void* temporary) {
      need(cub::DeviceSegmentedSort::SortKeys(
          temporary, bytes, in, theirs.span().data(), static_cast<int>(n), static_cast<int>(count),
          offsets.span().data(), offsets.span().data() + 1, raw));
    };
    cub_sort(nullptr);
    auto temporary = make<char>(bytes);
    row(
        name, n, [&] { copy(in, ours.span().data(), n); },
        [&] { cub_sort(temporary.span().data()); },
        [&] { need(gpu::sort_segments(stream, ours, offsets)); });
    compare(name, theirs.span().data(), ours.span().data(), n);
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
  std::printf("%s\n%-36s %11s %13s %11s   %13s %11s\n", need(device.name()).c_str(), "", "keys",
              "cub", "", "gpu", "");
  bench b{need(gpu::stream::create(device))};
  const std::size_t n = std::size_t{1} << 27;
  std::vector<std::uint32_t> keys(n);
  std::vector<std::uint64_t> long_keys(n);
  std::vector<float> floats(n);
  for (std::size_t i = 0; i < n; ++i) {
    long_keys[i] = random_bits(i);
    keys[i] = static_cast<std::uint32_t>(long_keys[i]);
    floats[i] = static_cast<float>(static_cast<std::int32_t>(keys[i])) * 1e-6f;
  }
  b.sort_keys("uint32", keys, n);
  b.sort_keys("float", floats, n);
  b.sort_keys("uint64", long_keys, n);
  b.sort_pairs<std::uint32_t, std::uint32_t>("uint32 with uint32", keys, n);
  b.sort_pairs<std::uint64_t, std::uint64_t>("uint64 with uint64", long_keys, n / 2);
  std::vector<std::uint32_t> small(keys);
  for (std::uint32_t& key : small) key &= 0xffff;
  b.sort_keys("uint32 below 65536", small, n);
  for (const int log : {10, 12, 14, 16, 18, 20, 22, 24})
    b.sort_keys("uint32", keys, std::size_t{1} << log);
  for (const int log : {10, 16, 20})
    b.sort_pairs<std::uint32_t, std::uint32_t>("uint32 with uint32", keys, std::size_t{1} << log);
  for (const int log : {6, 10, 14, 20})
    b.sort_segments("segments of the next length", keys, std::size_t{1} << 24,
                    std::size_t{1} << log);
  std::printf(b.all_equal ? "all results are equal\n" : "RESULTS DIFFER\n");
  return b.all_equal ? 0 : 1;
}
