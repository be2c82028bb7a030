// What memory that the library keeps saves: functions that return a new array, in a loop that
// synchronizes and drops the array, with all memory kept (the default) and with the limit 0, beside
// the same work into an array that exists. Then what an allocation costs the host, beside the raw
// calls of the driver from the same pool. An argument is the largest number of elements.

#include "interleaved.hpp"

#include <gpu/algorithm/inclusive_scan.hpp>
#include <gpu/algorithm/sort.hpp>
#include <gpu/array.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/kept_memory.hpp>
#include <gpu/memory/shape.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace benchmark;

constexpr std::uint64_t everything = ~std::uint64_t{0};

struct bench {
  gpu::device device;
  gpu::stream stream = need(gpu::stream::create(device));
  int pairs;

  /// Prints the times of `fresh()`, which returns a result with an array, and `existing()`.
  template <class Fresh, class Existing>
  void row(const char* what, std::size_t n, Fresh fresh, Existing existing) const {
    const auto make = [&] {
      {
        static_cast<void>(need(fresh()));
      }
      need(stream.synchronize());
    };
    const auto write = [&] {
      need(existing());
      need(stream.synchronize());
    };
    need(gpu::limit_kept_memory(device, 0));
    const pair_of_times without = interleaved(pairs, 1, write, make, [] {});
    need(gpu::limit_kept_memory(device, everything));
    const pair_of_times with = interleaved(pairs, 1, write, make, [] {});
    std::printf("%-26s %10zu   existing %10.1f us   new, kept %10.1f us   new, limit 0 %10.1f us\n",
                what, n, with.raw / 1e3, with.ours / 1e3, without.ours / 1e3);
  }
};

void measure(const bench& b, std::size_t n) {
  const gpu::stream& stream = b.stream;
  auto x = need(gpu::empty<float>(stream, gpu::shape{n}));
  need(gpu::assign(stream, x, gpu::sin(gpu::cast<float>(gpu::index_along(gpu::shape{n}, 0)))));
  auto out = need(gpu::empty<float>(stream, gpu::shape{n}));
  b.row(
      "evaluate(2 * x + 1)", n, [&] { return gpu::evaluate(stream, 2 * x + 1); },
      [&] { return gpu::assign(stream, out, 2 * x + 1); });
  b.row(
      "sorted(x)", n, [&] { return gpu::sorted(stream, x, 0); },
      [&]() -> gpu::result<> {
        GPU_TRY(gpu::assign(stream, out, x));
        return gpu::sort(stream, out.span());
      });
  b.row(
      "cumulative_sum(x)", n, [&] { return gpu::cumulative_sum(stream, x, 0); },
      [&] { return gpu::inclusive_scan(stream, x.span(), out.span()); });
}

void measure_allocations(const bench& b) {
  const gpu::driver::entry_points cu = gpu::driver::current_entry_points();
  const CUmemoryPool pool = need(gpu::library_pool_of(b.device)).native();
  constexpr int calls = 100;
  const auto settle = [&] { need(b.stream.synchronize()); };
  const pair_of_times times = interleaved(
      b.pairs, calls,
      [&] {
        CUdeviceptr address = 0;
        need(cu.mem_alloc_from_pool_async(&address, 1 << 16, pool, b.stream.native()));
        need(cu.mem_free_async(address, b.stream.native()));
      },
      [&] { static_cast<void>(need(gpu::device_buffer<char>::create(b.stream, 1 << 16))); },
      settle);
  const auto ask = [&] {
    CUmemoryPool current = nullptr;
    need(cu.device_get_mem_pool(&current, b.device.native()));
  };
  std::printf(
      "allocation and free: raw %.0f ns, device_buffer %.0f ns; cuDeviceGetMemPool %.0f ns\n",
      times.raw, times.ours, interleaved(b.pairs, calls, ask, ask, settle).raw);
}

}  // namespace

int main(int count, char** arguments) {
  const machine here;
  const bench b{.device = here.device, .pairs = here.has_gpu ? 100 : 4};
  const std::size_t most = count > 1      ? std::strtoull(arguments[1], nullptr, 10)
                           : here.has_gpu ? std::size_t{1} << 28
                                          : std::size_t{1} << 12;
  for (std::size_t n = here.has_gpu ? std::size_t{1} << 22 : 1 << 10; n <= most; n *= 64)
    measure(b, n);
  measure_allocations(b);
}
