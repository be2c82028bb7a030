// Time to allocate and free with the caching allocators: a warm block, with 10,000 others
// alive too, from two threads on two streams, page-locked, and freed behind a stream. Medians, each
// measured in turns with what the driver's own calls take. Without a GPU the driver is one that
// does nothing, so that the figures are the library's alone. Exit code 1 where a figure is above
// its limit on a GPU.

#include "interleaved.hpp"

#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <ratio>
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
CUresult enter(CUcontext) { return CUDA_SUCCESS; }
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
CUresult wait_for_value(CUstream, CUdeviceptr, cuuint32_t, unsigned) { return CUDA_SUCCESS; }
CUresult make_event(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(std::uintptr_t{0x3000});
  return CUDA_SUCCESS;
}
CUresult record(CUevent, CUstream) { return CUDA_SUCCESS; }
CUresult wait_for_event(CUstream, CUevent, unsigned) { return CUDA_SUCCESS; }
CUresult ask_event(CUevent) { return CUDA_SUCCESS; }

gpu::driver::entry_points table() {
  gpu::driver::entry_points made{};
  made.device_get_count = &count;
  made.device_get = &get;
  made.device_get_attribute = &attribute;
  made.device_primary_ctx_retain = &retain;
  made.ctx_get_current = &current;
  made.ctx_push_current = &enter;
  made.ctx_pop_current = &current;
  made.stream_create_with_priority = &make_stream;
  made.stream_destroy = &destroy_stream;
  made.stream_is_capturing = &capturing;
  made.stream_get_id = &number;
  made.stream_synchronize = &wait_for_stream;
  made.stream_wait_value_32 = &wait_for_value;
  made.stream_wait_event = &wait_for_event;
  made.event_create = &make_event;
  made.event_record = &record;
  made.event_query = &ask_event;
  made.event_synchronize = &ask_event;
  made.event_destroy = &ask_event;
  made.mem_alloc = &allocate;
  made.mem_free = &free_memory;
  made.mem_alloc_async = &allocate_async;
  made.mem_free_async = &free_async;
  made.mem_host_alloc = &allocate_host;
  made.mem_free_host = &free_host;
  return made;
}

}  // namespace nothing

using benchmark::interleaved;
using benchmark::median;
using benchmark::need;
using benchmark::pair_of_times;

constexpr int pairs = 200;
constexpr std::size_t mebibyte = std::size_t{1} << 20;

int failures = 0;

void show(const char* what, pair_of_times times, double limit, bool on_gpu) {
  std::printf("%-52s %8.1f ns   driver's own %10.1f ns   ratio %.3f", what, times.ours, times.raw,
              times.ours / times.raw);
  if (limit > 0) {
    const bool above = times.ours > limit;
    std::printf("   limit %.0f ns%s", limit, above ? "   ABOVE" : "");
    if (on_gpu && above) ++failures;
  }
  std::printf("\n");
}

/// For two ways of one thing of which the second ought to take hardly longer.
void show_increase(const char* what, double first, const char* other, double second,
                   double most_percent, bool on_gpu) {
  const double more = (second / first - 1) * 100;
  std::printf("%-52s %8.1f ns\n%-52s %8.1f ns   %.0f %% more, limit %.0f %%%s\n", what, first,
              other, second, more, most_percent, more > most_percent ? "   ABOVE" : "");
  if (on_gpu && more > most_percent) ++failures;
}

const auto nothing_to_settle = [] {};

/// The time of one `work(t)`, per thread t, when `threads` do it at once: the slowest one's.
template <class Work> double threads_time(std::size_t threads, Work work) {
  constexpr int rounds = 10000;
  std::atomic<std::size_t> ready{0};
  std::vector<double> times(threads);
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      work(t);
      ++ready;
      while (ready < threads) {
      }
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < rounds; ++i) work(t);
      const std::chrono::duration<double, std::nano> taken =
          std::chrono::steady_clock::now() - begin;
      times[t] = taken.count() / rounds;
    });
  }
  for (std::thread& each : running) each.join();
  return *std::max_element(times.begin(), times.end());
}

/// Threads that each allocate and free on a stream of their own.
void measure_threads(gpu::device device, const std::vector<gpu::stream>& streams,
                     gpu::caching_allocator& shared, bool on_gpu) {
  const auto& raw = gpu::driver::current_entry_points();
  const auto allocate = [&](gpu::caching_allocator& cache, std::size_t t) {
    const auto buffer = cache.allocate<char>(streams[t], 100000);
    if (!buffer.has_value()) std::exit(2);
  };
  std::vector<gpu::caching_allocator> apart;
  for (int i = 0; i < 2; ++i) apart.push_back(need(gpu::caching_allocator::create(device)));
  const auto from_shared = [&](std::size_t t) { allocate(shared, t); };
  const auto from_own = [&](std::size_t t) { allocate(apart[t], t); };
  const auto ask = [&](std::size_t t) {
    unsigned long long number = 0;
    raw.stream_get_id(streams[t].native(), &number);
  };
  // Two threads are slower than one with an allocator each, too: the driver's own call takes longer
  // when two threads make it at once, and a machine may run slower if both are busy. What the
  // library adds is the difference between an allocator that they share and one each; the limit is
  // on that.
  const std::function<double()> ways[] = {
      [&] { return threads_time(1, from_shared); }, [&] { return threads_time(2, from_shared); },
      [&] { return threads_time(2, from_own); },    [&] { return threads_time(1, ask); },
      [&] { return threads_time(2, ask); },
  };
  constexpr std::size_t count = std::size(ways);
  std::vector<double> times[count];
  for (std::size_t run = 0; run < 100; ++run) {
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t way = (run + turn) % count;
      times[way].push_back(ways[way]());
    }
  }
  double medians[count];
  for (std::size_t way = 0; way < count; ++way) medians[way] = median(std::move(times[way]));
  const auto [alone, together, with_own, asked_alone, asked_together] = medians;
  std::printf("%-52s %8.1f ns\n%-52s %8.1f ns\n", "one thread on one stream", alone,
              "two threads on two streams, each", together);
  std::printf("%-52s %8.1f ns\n%-52s %8.1f ns\n", "of which cuStreamGetId, by one thread",
              asked_alone, "by two, each", asked_together);
  show_increase("the same two with an allocator each", with_own, "against that, with one for both",
                together, 20, on_gpu);
}

void measure_device_memory(gpu::device device, bool on_gpu) {
  const auto& raw = gpu::driver::current_entry_points();
  std::vector<gpu::stream> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(need(gpu::stream::create(device)));
  const gpu::stream& stream = streams[0];
  gpu::caching_allocator cache = need(gpu::caching_allocator::create(device));

  const auto from_pool = [&](std::size_t bytes) {
    CUdeviceptr address = 0;
    need(raw.mem_alloc_async(&address, bytes, stream.native()));
    need(raw.mem_free_async(address, stream.native()));
  };
  const auto against_pool = [&](std::size_t bytes) {
    return interleaved(
        pairs, 500, [&] { from_pool(bytes); }, [&] { need(cache.allocate<char>(stream, bytes)); },
        nothing_to_settle);
  };
  show("a warm block of 100 kB", against_pool(100000), 60, on_gpu);
  show("a warm block of 256 bytes", against_pool(256), 60, on_gpu);
  show("a warm block of 64 MiB", against_pool(64 * mebibyte), 60, on_gpu);

  unsigned long long number = 0;
  const pair_of_times asking = interleaved(
      pairs, 3000, [&] { raw.stream_get_id(stream.native(), &number); },
      [&] { need(cache.allocate<char>(stream, 100000)); }, nothing_to_settle);
  std::printf("%-52s %8.1f ns\n", "of which cuStreamGetId", asking.raw);
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
    show("the same with 10,000 live blocks", against_pool(10000), 60, on_gpu);
    const pair_of_times mixed = interleaved(
        pairs, 500, [&] { from_pool(1 + random() % 20000); },
        [&] {
          gpu::device_buffer<char>& one = live[random() % live.size()];
          one = need(cache.allocate<char>(stream, 1 + random() % 20000));
        },
        nothing_to_settle);
    show("one of 10,000 replaced by another of random size", mixed, 0, on_gpu);
  }
  measure_threads(device, streams, cache, on_gpu);
}

void measure_pinned_memory(gpu::device device, bool on_gpu) {
  const auto& raw = gpu::driver::current_entry_points();
  const gpu::stream stream = need(gpu::stream::create(device));
  // The driver's own call, unlike the allocator's, wants a context to be current.
  const gpu::context_scope scope =
      need(gpu::context_scope::enter(need(gpu::context::primary(device))));
  auto cache = need(gpu::caching_pinned_allocator::create(device));
  constexpr int batch = 500;  // the driver takes so much longer
  pair_of_times warm = interleaved(
      pairs, 4,
      [&] {
        void* host = nullptr;
        need(raw.mem_host_alloc(&host, mebibyte, 0));
        need(raw.mem_free_host(host));
      },
      [&] {
        for (int i = 0; i < batch; ++i) need(cache.allocate<char>(mebibyte));
      },
      nothing_to_settle);
  warm.ours /= batch;
  show("a warm page-locked MiB", warm, 100, on_gpu);

  // Whole segments, so that each allocation looks which streams have got so far. What the driver
  // has to be asked in any case stands beside it.
  CUevent event = nullptr;
  need(raw.event_create(&event, CU_EVENT_DISABLE_TIMING));
  const auto behind_stream = [&] {
    return interleaved(
        pairs, 100,
        [&] {
          CUstreamCaptureStatus status{};
          need(raw.stream_is_capturing(stream.native(), &status));
          need(raw.event_record(event, stream.native()));
          static_cast<void>(raw.event_query(event));
        },
        [&] { need(cache.free_after(stream, need(cache.allocate<char>(2 * mebibyte)))); },
        [&] { need(stream.synchronize()); });
  };
  const pair_of_times alone = behind_stream();
  show("page-locked 2 MiB, freed behind a stream", alone, 0, on_gpu);
  const gpu::stream slow = need(gpu::stream::create(device));
  auto gate = need(gpu::pinned_vector<unsigned>::create(device, 1));
  need(raw.stream_wait_value_32(slow.native(), reinterpret_cast<CUdeviceptr>(gate.data()), 1,
                                CU_STREAM_WAIT_VALUE_EQ));
  for (int i = 0; i < 1000; ++i) need(cache.free_after(slow, need(cache.allocate<char>(500))));
  const pair_of_times behind_others = behind_stream();
  __atomic_store_n(gate.data(), 1u, __ATOMIC_RELEASE);
  need(slow.synchronize());
  show("the same, with 1,000 waiting for another stream", behind_others, 0, on_gpu);
  // The driver's own calls take two to three times as long while another stream waits.
  show_increase("without the driver's calls, alone", alone.ours - alone.raw, "with 1,000 waiting",
                behind_others.ours - behind_others.raw, 50, on_gpu);
  need(raw.event_destroy(event));
}

}  // namespace

int main() {
  const bool on_gpu = gpu::device::count().has_value();
  static const gpu::driver::entry_points table = nothing::table();
  if (!on_gpu) gpu::driver::use_entry_points(&table);
  std::printf("driver: %s\n", on_gpu ? "of this machine" : "one that does nothing");
  const gpu::device device = need(gpu::device::get(0));
  measure_device_memory(device, on_gpu);
  measure_pinned_memory(device, on_gpu);
  return failures == 0 ? 0 : 1;
}
