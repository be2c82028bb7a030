// What it costs to allocate and free with the caching allocators: a warm block, with 10,000 others
// alive too, from two threads on two streams, and page-locked. Beside each, in the same run, what
// the driver's own pool takes. Without a GPU the driver is one that does nothing, so that the
// figures are the library's alone. Exit code 1 where a figure is above its limit on a GPU.

#include <gpu/driver.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// A driver that does nothing, and gives addresses out of thin air.
namespace nothing {

CUresult count(int* devices) {
  *devices = 1;
  return CUDA_SUCCESS;
}
CUresult get(CUdevice* device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult attribute(int* value, CUdevice_attribute, CUdevice) {
  *value = 1;
  return CUDA_SUCCESS;
}
CUresult retain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(std::uintptr_t{0x1000});
  return CUDA_SUCCESS;
}
CUresult current(CUcontext* context) { return retain(context, 0); }
CUresult make_stream(CUstream* stream, unsigned, int) {
  static std::uintptr_t last = 0x2000;
  *stream = reinterpret_cast<CUstream>(last += 64);
  return CUDA_SUCCESS;
}
CUresult destroy_stream(CUstream) { return CUDA_SUCCESS; }
CUresult capturing(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult number(CUstream stream, unsigned long long* id) {
  *id = reinterpret_cast<std::uintptr_t>(stream) / 64;
  return CUDA_SUCCESS;
}
CUresult allocate(CUdeviceptr* address, std::size_t bytes) {
  static std::atomic<CUdeviceptr> last{std::uintptr_t{1} << 40};
  *address = last.fetch_add((bytes + 0xfffff) / 0x100000 * 0x100000);
  return CUDA_SUCCESS;
}
CUresult free_memory(CUdeviceptr) { return CUDA_SUCCESS; }
CUresult allocate_async(CUdeviceptr* address, std::size_t bytes, CUstream) {
  return allocate(address, bytes);
}
CUresult free_async(CUdeviceptr, CUstream) { return CUDA_SUCCESS; }
CUresult allocate_host(void** address, std::size_t bytes, unsigned) {
  *address = std::malloc(bytes);
  return CUDA_SUCCESS;
}
CUresult free_host(void* address) {
  std::free(address);
  return CUDA_SUCCESS;
}
CUresult wait_for_stream(CUstream) { return CUDA_SUCCESS; }

gpu::driver::entry_points table() {
  gpu::driver::entry_points made{};
  made.device_get_count = &count;
  made.device_get = &get;
  made.device_get_attribute = &attribute;
  made.device_primary_ctx_retain = &retain;
  made.ctx_get_current = &current;
  made.stream_create_with_priority = &make_stream;
  made.stream_destroy = &destroy_stream;
  made.stream_is_capturing = &capturing;
  made.stream_get_id = &number;
  made.stream_synchronize = &wait_for_stream;
  made.mem_alloc = &allocate;
  made.mem_free = &free_memory;
  made.mem_alloc_async = &allocate_async;
  made.mem_free_async = &free_async;
  made.mem_host_alloc = &allocate_host;
  made.mem_free_host = &free_host;
  return made;
}

}  // namespace nothing

template <class T> T need(gpu::result<T> outcome) {
  if (!outcome.has_value()) {
    std::fprintf(stderr, "%s\n", outcome.error().message().c_str());
    std::exit(2);
  }
  return *std::move(outcome);
}

/// Nanoseconds for one `work()`: the best of many short runs, which a busy machine disturbs least.
template <class Work> double best_time(int rounds, Work work) {
  double best = 1e30;
  for (int run = 0; run < 100; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) work();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    best = std::min(best, taken.count() / rounds);
  }
  return best;
}

int failures = 0;

void show(const char* what, double ours, double yardstick, double limit, bool on_gpu) {
  std::printf("%-52s %8.1f ns", what, ours);
  if (yardstick > 0)
    std::printf("   driver's own %10.1f ns   ratio %.3f", yardstick, ours / yardstick);
  std::printf("   limit %.0f ns%s\n", limit, ours > limit ? "   ABOVE" : "");
  if (on_gpu && ours > limit) ++failures;
}

/// The time of one allocation with its freeing, per thread, when `threads` do it at once, each on a
/// stream of its own.
double threads_time(gpu::caching_allocator& cache, const std::vector<gpu::stream>& streams,
                    std::size_t threads) {
  constexpr int rounds = 10000;
  double best = 1e30;
  for (int run = 0; run < 100; ++run) {
    std::atomic<std::size_t> ready{0};
    std::vector<double> times(threads);
    std::vector<std::thread> running;
    for (std::size_t t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        {
          const auto warm = need(cache.allocate<char>(streams[t], 100000));
        }
        ++ready;
        while (ready < threads) {
        }
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < rounds; ++i) {
          const auto buffer = cache.allocate<char>(streams[t], 100000);
          if (!buffer.has_value()) std::exit(2);
        }
        const std::chrono::duration<double, std::nano> taken =
            std::chrono::steady_clock::now() - begin;
        times[t] = taken.count() / rounds;
      });
    }
    for (std::thread& each : running) each.join();
    best = std::min(best, *std::max_element(times.begin(), times.end()));
  }
  return best;
}

}  // namespace

int main() {
  const bool on_gpu = gpu::device::count().has_value();
  static const gpu::driver::entry_points table = nothing::table();
  if (!on_gpu) gpu::driver::use_entry_points(&table);
  std::printf("driver: %s\n", on_gpu ? "of this machine" : "one that does nothing");

  const gpu::device device = need(gpu::device::get(0));
  std::vector<gpu::stream> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(need(gpu::stream::create(device)));
  const gpu::stream& stream = streams[0];
  const auto& raw = gpu::driver::current_entry_points();
  gpu::caching_allocator cache = need(gpu::caching_allocator::create(device));

  CUdeviceptr address = 0;
  const double pool = best_time(500, [&] {
    raw.mem_alloc_async(&address, 100000, stream.native());
    raw.mem_free_async(address, stream.native());
  });
  const auto pair = [&](std::size_t bytes) {
    return best_time(3000, [&] { need(cache.allocate<char>(stream, bytes)); });
  };
  show("a warm block of 100 kB", pair(100000), pool, 60, on_gpu);
  show("a warm block of 256 bytes", pair(256), pool, 60, on_gpu);
  show("a warm block of 64 MiB", pair(std::size_t{64} << 20), pool, 60, on_gpu);

  unsigned long long number = 0;
  std::printf("%-52s %8.1f ns\n", "of which cuStreamGetId",
              best_time(3000, [&] { raw.stream_get_id(stream.native(), &number); }));
  {
    std::vector<gpu::device_buffer<char>> live;
    unsigned state = 1;
    const auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
    for (int i = 0; i < 20000; ++i)
      live.push_back(need(cache.allocate<char>(stream, 1 + random() % 20000)));
    for (int i = 0; i < 10000; ++i) {  // every other goes, so that free blocks are everywhere
      std::swap(live[random() % live.size()], live.back());
      live.pop_back();
    }
    show("the same with 10,000 live blocks", pair(10000), pool, 60, on_gpu);
    const double mixed = best_time(3000, [&] {
      gpu::device_buffer<char>& one = live[random() % live.size()];
      one = need(cache.allocate<char>(stream, 1 + random() % 20000));
    });
    std::printf("%-52s %8.1f ns\n", "one of 10,000 replaced by another of random size", mixed);
  }
  const double one = threads_time(cache, streams, 1), two = threads_time(cache, streams, 2);
  std::printf("%-52s %8.1f ns\n", "one thread on one stream", one);
  std::printf("%-52s %8.1f ns   %.0f %% more, limit 20 %%\n", "two threads on two streams, each",
              two, (two / one - 1) * 100);
  if (on_gpu && two > one * 1.2) ++failures;

  // The driver's own call, unlike the allocator's, wants a context to be current.
  const gpu::context_scope scope =
      need(gpu::context_scope::enter(need(gpu::context::primary(device))));
  void* host = nullptr;
  bool refused = false;
  const double pinned = best_time(4, [&] {
    refused = refused || raw.mem_host_alloc(&host, std::size_t{1} << 20, 0) != CUDA_SUCCESS ||
              raw.mem_free_host(host) != CUDA_SUCCESS;
  });
  if (refused) ++failures;
  auto pinned_cache = need(gpu::caching_pinned_allocator::create(device));
  show("a warm page-locked MiB",
       best_time(3000, [&] { need(pinned_cache.allocate<char>(std::size_t{1} << 20)); }), pinned,
       100, on_gpu);
  return failures == 0 ? 0 : 1;
}
