// What every allocator does, whatever memory it has and wherever it gets it from.

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/core/text.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/interop/allocators.hpp>
#include <gpu/memory/caching_allocator.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/logging_allocator.hpp>
#include <gpu/memory/memory_pool.hpp>
#include <gpu/memory/pinned_buffer.hpp>
#include <gpu/memory/pinned_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace allocator_contract_test {

using test::error_of;
using test::says;
using test::value_of;

namespace {

/// Memory for floats of some allocator, which stays alive as long.
struct memory {
  std::uintptr_t address = 0;
  std::size_t count = 0;
  std::shared_ptr<void> owner;

  gpu::device_span<float> span() const {
    return gpu::device_span<float>::from_native(address, count);
  }
  float* pointer() const { return reinterpret_cast<float*>(address); }
};

using allocate = std::function<gpu::result<memory>(gpu::stream_ref, std::size_t count)>;

struct kind {
  const char* name;
  bool ordered;  // device memory, in the order of a stream; else the host has access
  std::function<gpu::result<allocate>(gpu::device)> create;
  allocate empty;  // of an object to be assigned to, or with an empty context
  std::vector<std::string_view> may_survive = {"cuCtxGetCurrent"};

  bool write(const memory& to, float value) const {
    if (ordered) return gpu::copy(std::vector<float>(to.count, value), to.span()).has_value();
    std::fill_n(to.pointer(), to.count, value);
    return true;
  }
  bool holds(const memory& from, float value) const {
    std::vector<float> found(from.count);
    if (!ordered) {
      std::copy_n(from.pointer(), from.count, found.begin());
    } else if (!gpu::copy(from.span(), found).has_value()) {
      return false;
    }
    return found == std::vector<float>(from.count, value);
  }
};

memory take(gpu::device_buffer<float> buffer) {
  const std::uintptr_t address = buffer.native();
  const std::size_t count = buffer.size_bytes() / sizeof(float);
  return {address, count, std::make_shared<gpu::device_buffer<float>>(std::move(buffer))};
}
memory take(gpu::pinned_buffer<float> buffer) {
  const auto address = reinterpret_cast<std::uintptr_t>(buffer.data());
  const std::size_t count = buffer.size_bytes() / sizeof(float);
  return {address, count, std::make_shared<gpu::pinned_buffer<float>>(std::move(buffer))};
}

template <class Allocator> allocate on_streams(Allocator allocator) {
  const auto kept = std::make_shared<Allocator>(std::move(allocator));
  return [kept](gpu::stream_ref stream, std::size_t count) -> gpu::result<memory> {
    return take(GPU_TRY(kept->template allocate<float>(stream, count)));
  };
}

allocate pinned(gpu::caching_pinned_allocator allocator) {
  const auto kept = std::make_shared<gpu::caching_pinned_allocator>(std::move(allocator));
  return [kept](gpu::stream_ref, std::size_t count) -> gpu::result<memory> {
    return take(GPU_TRY(kept->allocate<float>(count)));
  };
}

template <class Allocator> allocate logged(Allocator allocator) {
  const auto kept = std::make_shared<Allocator>(std::move(allocator));
  return [kept](gpu::stream_ref stream, std::size_t count) -> gpu::result<memory> {
    gpu::logging_allocator logged(*kept, [](const gpu::text&, void*) {});
    return take(GPU_TRY(logged.template allocate<float>(stream, count)));
  };
}

#if defined(__cpp_exceptions)
/// The allocators of containers, whose errors are exceptions.
template <class Allocator> allocate of_containers(Allocator allocator) {
  return [allocator](gpu::stream_ref, std::size_t count) mutable -> gpu::result<memory> {
    try {
      float* const got = allocator.allocate(count);
      const std::shared_ptr<void> owner(
          got, [allocator, got, count](void*) mutable { allocator.deallocate(got, count); });
      return memory{reinterpret_cast<std::uintptr_t>(got), count, owner};
    } catch (const gpu::bad_allocation& error) {
      return gpu::detail::fail(gpu::cuda_error(error.error()));
    }
  };
}
#endif

std::vector<kind> kinds() {
  using gpu::device;
  using made = gpu::result<allocate>;
  std::vector<kind> all = {
      {"caching_allocator",
       true,
       [](device on) -> made { return on_streams(GPU_TRY(gpu::caching_allocator::create(on))); },
       on_streams(gpu::caching_allocator{}),
       {"cuCtxGetCurrent", "cuStreamGetId"}},
      {"caching_pinned_allocator", false,
       [](device on) -> made { return pinned(GPU_TRY(gpu::caching_pinned_allocator::create(on))); },
       pinned(gpu::caching_pinned_allocator{})},
      {"memory_pool", true,
       [](device on) -> made { return on_streams(GPU_TRY(gpu::memory_pool::create(on))); },
       on_streams(gpu::memory_pool{})},
      {"memory_pool_ref", true,
       [](device on) -> made { return on_streams(GPU_TRY(gpu::memory_pool_ref::default_of(on))); },
       on_streams(gpu::memory_pool_ref{})},
      // A line lacks what the driver does not tell.
      {"logging_allocator of caching_allocator",
       true,
       [](device on) -> made { return logged(GPU_TRY(gpu::caching_allocator::create(on))); },
       logged(gpu::caching_allocator{}),
       {"cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuStreamGetId", "cuMemGetInfo"}},
      {"logging_allocator of memory_pool",
       true,
       [](device on) -> made { return logged(GPU_TRY(gpu::memory_pool::create(on))); },
       logged(gpu::memory_pool{}),
       {"cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuMemGetInfo"}}};
#if defined(__cpp_exceptions)
  const auto add = [&](const char* name, auto allocator_type) {
    using allocator = typename decltype(allocator_type)::type;
    all.push_back({name, false,
                   [](device on) -> made { return of_containers(GPU_TRY(allocator::create(on))); },
                   of_containers(allocator(gpu::context_ref{}))});
  };
  add("pinned_allocator", std::type_identity<gpu::pinned_allocator<float>>{});
  add("managed_allocator", std::type_identity<gpu::managed_allocator<float>>{});
#endif
  return all;
}

constexpr std::size_t mebibyte = std::size_t{1} << 20;

}  // namespace

TEST_CASE("an allocator's memory is aligned, and that in use does not overlap",
          "[memory][allocators]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  for (const kind& each : kinds()) {
    INFO(each.name);
    const allocate get = value_of(each.create(device));
    std::vector<memory> live;
    const std::size_t counts[] = {1, 2, 31, 32, 33, 64, 65, 1000, 100'000, 300'000, 1};
    for (const std::size_t count : counts) {
      live.push_back(value_of(get(stream, count)));
      CHECK(live.back().count == count);
      CHECK(live.back().address != 0);
      CHECK(live.back().address % 256 == 0);
      value_of(stream.synchronize());
      CHECK(each.write(live.back(), static_cast<float>(live.size())));
    }
    for (std::size_t i = 0; i < live.size(); ++i) {
      CHECK(each.holds(live[i], static_cast<float>(i + 1)));
    }
    CHECK(value_of(get(stream, 0)).count == 0);
  }
}

TEST_CASE("an allocator refuses more elements than memory can have, and says how many it can",
          "[memory][allocators]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  constexpr std::size_t most = ~std::size_t{0} / 2 / sizeof(float);
  for (const kind& each : kinds()) {
    INFO(each.name);
    const allocate get = value_of(each.create(device));
    for (const std::size_t count : {most + 1, ~std::size_t{0} / 4, ~std::size_t{0} - 5}) {
      const gpu::cuda_error error = error_of(get(stream, count));
      CHECK(error == gpu::errc::size_overflow);
      CHECK(says(error, (std::to_string(count) + " elements of 4 bytes").c_str(),
                 ("Request at most " + std::to_string(most) + " elements").c_str()));
      CHECK(error.asked() == count);
      CHECK(error.limit() == most);
    }
    const gpu::cuda_error much = error_of(get(stream, most / 4));
    CHECK(much.code() == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(much.kind() == gpu::error_kind::memory);
  }
}

TEST_CASE("an allocator refuses an empty stream, and an empty allocator refuses all",
          "[memory][allocators]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  for (const kind& each : kinds()) {
    INFO(each.name);
    const gpu::cuda_error empty = error_of(each.empty(stream, 1));
    CHECK(empty == gpu::errc::empty_handle);
    CHECK(says(empty, "is empty"));
    if (!each.ordered) continue;
    const gpu::cuda_error nowhere = error_of(value_of(each.create(device))(gpu::stream_ref{}, 1));
    CHECK(nowhere == gpu::errc::empty_handle);
    CHECK(says(nowhere, "stream is empty"));
  }
}

TEST_CASE("an allocator that gets no memory says how much was asked for, and works afterwards",
          "[memory][allocators]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  gpu::driver::entry_points exhausted = test::driver();
  exhausted.mem_alloc = [](CUdeviceptr*, std::size_t) { return CUDA_ERROR_OUT_OF_MEMORY; };
  exhausted.mem_alloc_from_pool_async = [](CUdeviceptr*, std::size_t, CUmemoryPool, CUstream) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  };
  exhausted.mem_alloc_managed = [](CUdeviceptr*, std::size_t, unsigned) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  };
  exhausted.mem_host_alloc = [](void**, std::size_t, unsigned) { return CUDA_ERROR_OUT_OF_MEMORY; };
  for (const kind& each : kinds()) {
    INFO(each.name);
    const allocate get = value_of(each.create(device));
    const memory before = value_of(get(stream, 64));
    value_of(stream.synchronize());
    CHECK(each.write(before, 1));
    {
      const gpu::driver::scoped_entry_points in_force(exhausted);
      const gpu::cuda_error error = error_of(get(stream, mebibyte));
      CHECK(error.code() == CUDA_ERROR_OUT_OF_MEMORY);
      CHECK(error.kind() == gpu::error_kind::memory);
      CHECK(error.asked() == 4 * mebibyte);
      CHECK(says(error, "asked for 4194304 bytes"));
    }
    const memory after = value_of(get(stream, mebibyte));
    value_of(stream.synchronize());
    CHECK(each.write(after, 2));
    CHECK(each.holds(before, 1));
  }
}

TEST_CASE("an allocator reuses memory behind the work that was queued when it was freed",
          "[memory][allocators][cpu]") {
  test::own_cpu_driver driver({.deferred = true});
  const gpu::device device = test::first_device();
  const gpu::stream one = value_of(gpu::stream::create(device));
  const gpu::stream two = value_of(gpu::stream::create(device));
  for (const kind& each : kinds()) {
    if (!each.ordered) continue;
    INFO(each.name);
    const allocate get = value_of(each.create(device));
    auto seen = value_of(gpu::pinned_vector<float>::create(device, 1000));
    memory first = value_of(get(one, 1000));
    value_of(gpu::fill(one, first.span(), 1.0f));
    value_of(gpu::copy(one, first.span(), seen));
    std::thread([&] { first = {}; }).join();  // whichever thread frees it
    const memory again = value_of(get(one, 1000)), other = value_of(get(two, 1000));
    value_of(gpu::fill(one, again.span(), 2.0f));
    value_of(gpu::fill(two, other.span(), 3.0f));
    value_of(two.synchronize());
    value_of(one.synchronize());
    CHECK(std::count(seen.begin(), seen.end(), 1.0f) == 1000);
    CHECK(each.holds(again, 2));
    CHECK(each.holds(other, 3));
  }
}

TEST_CASE("an allocator serves several threads at once", "[memory][allocators][threads]") {
  const gpu::device device = test::first_device();
  const gpu::stream shared = value_of(gpu::stream::create(device));
  for (const kind& each : kinds()) {
    INFO(each.name);
    const allocate get = value_of(each.create(device));
    std::vector<int> wrong(4);
    const auto work = [&](std::size_t t) {
      const auto own = gpu::stream::create(device);
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<std::pair<memory, float>> live;
      for (int i = 0; i < 100; ++i) {
        const gpu::stream_ref on = i % 3 == 0 ? gpu::stream_ref(shared) : gpu::stream_ref(*own);
        auto made = get(on, 1 + random() % 5000);
        const float value = static_cast<float>(t * 1000) + static_cast<float>(i);
        if (!made.has_value() || !on.synchronize().has_value() || !each.write(*made, value)) {
          ++wrong[t];
          continue;
        }
        live.emplace_back(*std::move(made), value);
        if (live.size() < 10) continue;
        std::swap(live[random() % 10], live.back());
        wrong[t] += !each.holds(live.back().first, live.back().second);
        live.pop_back();
      }
      for (const auto& [kept, value] : live) wrong[t] += !each.holds(kept, value);
    };
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t) threads.emplace_back(work, t);
    for (std::thread& thread : threads) thread.join();
    CHECK(std::accumulate(wrong.begin(), wrong.end(), 0) == 0);
  }
}

TEST_CASE("an allocator's memory may outlive it, and all goes back", "[memory][allocators][cpu]") {
  test::own_cpu_driver driver;
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  for (const kind& each : kinds()) {
    INFO(each.name);
    const std::size_t before = driver.live_objects();
    {
      std::vector<memory> live;
      {
        const allocate get = value_of(each.create(device));
        for (int i = 0; i < 5; ++i) live.push_back(value_of(get(stream, mebibyte / 4)));
        value_of(stream.synchronize());
        live.erase(live.begin() + 1);
      }
      CHECK(driver.live_objects() > before);
      for (const memory& one : live) CHECK(each.write(one, 1));
    }
    value_of(stream.synchronize());
    INFO(driver.live_list());
    CHECK(driver.live_objects() == before);
  }
}

TEST_CASE("an allocator survives every failing call and allocation", "[memory][allocators][cpu]") {
  for (const kind& each : kinds()) {
    INFO(each.name);
    const auto operation = [&]() -> gpu::result<> {
      const gpu::device device = GPU_TRY(gpu::device::get(0));
      const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
      const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
      const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
      const allocate get = GPU_TRY(each.create(device));
      const memory kept = GPU_TRY(get(stream, 100));
      GPU_TRY(get(stream, 1000));
      GPU_TRY(get(stream, 1000));
      return stream.synchronize();
    };
    CHECK(test::sweep(operation, each.may_survive) == "");
  }
}

}  // namespace allocator_contract_test
