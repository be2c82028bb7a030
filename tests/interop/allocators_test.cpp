#include <gpu/interop/allocators.hpp>
#include <gpu/interop/memory_resource.hpp>

#include "support/drivers.hpp"
#include "support/results.hpp"

#include <gpu/core/kernel_argument.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/context.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/entry_points.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/memory/caching_pinned_allocator.hpp>
#include <gpu/memory/copy.hpp>
#include <gpu/memory/device_buffer.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/fill.hpp>
#include <gpu/memory/managed_buffer.hpp>
#include <gpu/memory/pinned_flags.hpp>
#include <gpu/memory/ranges.hpp>
#include <gpu/testing/fault_injection.hpp>

#include <cstdint>
#include <cstring>
#include <list>
#include <memory_resource>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace allocators_test {

using gpu::managed_allocator;
using gpu::pinned_allocator;
using test::says;
using test::value_of;

namespace {

template <class T> using pinned_list = std::vector<T, pinned_allocator<T>>;
template <class T> using managed_list = std::vector<T, managed_allocator<T>>;

CUmemorytype type_of(const void* address) {
  CUmemorytype type{};
  CHECK(test::driver().pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                             reinterpret_cast<std::uintptr_t>(address)) ==
        CUDA_SUCCESS);
  return type;
}

bool is_managed(const void* address) {
  unsigned managed = 0;
  CHECK(test::driver().pointer_get_attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                             reinterpret_cast<std::uintptr_t>(address)) ==
        CUDA_SUCCESS);
  return managed != 0;
}

}  // namespace

static_assert(gpu::pinned_range<pinned_list<int>&>);
static_assert(!gpu::pinned_range<pinned_list<int>>);
static_assert(!gpu::pinned_range<managed_list<int>&>);
static_assert(gpu::kernel_argument_for<managed_list<int>&, int*>);
static_assert(gpu::kernel_argument_for<const managed_list<int>&, gpu::device_span<const int>>);
static_assert(!gpu::kernel_argument_for<const managed_list<int>&, int*>);
static_assert(!gpu::kernel_argument_for<managed_list<int>, int*>);
static_assert(std::is_base_of_v<std::bad_alloc, gpu::bad_allocation>);
static_assert(std::is_nothrow_copy_constructible_v<gpu::bad_allocation>);

TEST_CASE("allocators: a vector in page-locked memory is copied asynchronously",
          "[interop][allocators]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto memory = value_of(pinned_allocator<int>::create(device, gpu::pinned_flags::portable));
  pinned_list<int> values(1000, 7, memory);
  CHECK(type_of(values.data()) == CU_MEMORYTYPE_HOST);
  unsigned flags = 0;
  const auto current = value_of(gpu::context_scope::enter(value_of(gpu::context::primary(device))));
  CHECK(test::driver().mem_host_get_flags(&flags, values.data()) == CUDA_SUCCESS);
  // A driver with one device may leave the flag out.
  void* raw = nullptr;
  unsigned expected = 0;
  REQUIRE(test::driver().mem_host_alloc(&raw, 4000, CU_MEMHOSTALLOC_PORTABLE) == CUDA_SUCCESS);
  CHECK(test::driver().mem_host_get_flags(&expected, raw) == CUDA_SUCCESS);
  CHECK(test::driver().mem_free_host(raw) == CUDA_SUCCESS);
  CHECK(flags == expected);
  for (int i = 0; i < 1000; ++i) values.push_back(i);
  auto buffer = value_of(gpu::device_buffer<int>::create(stream, values.size()));
  REQUIRE(gpu::copy(stream, values, buffer).has_value());
  pinned_list<int> back(values.size(), 0, memory);
  REQUIRE(gpu::copy(stream, buffer, back).has_value());
  REQUIRE(stream.synchronize().has_value());
  CHECK(back == values);
  CHECK(back[1999] == 999);
}

TEST_CASE("allocators: other containers and element types work", "[interop][allocators]") {
  const gpu::device device = test::first_device();
  const auto memory = value_of(pinned_allocator<int>::create(device));
  const std::list<std::string, pinned_allocator<std::string>> words({"one", "two"}, memory);
  CHECK(words.back() == "two");
  CHECK(type_of(&words.front()) == CU_MEMORYTYPE_HOST);
  pinned_list<int> first(10, 1, memory), second(memory);
  const int* const address = first.data();
  second = std::move(first);  // takes the allocator along, and the memory
  CHECK(second.data() == address);
  swap(first, second);
  CHECK(first.data() == address);
}

TEST_CASE("allocators: equal are those that can free each other's memory",
          "[interop][allocators]") {
  const gpu::device device = test::first_device();
  const auto plain = value_of(pinned_allocator<int>::create(device));
  const auto mapped = value_of(pinned_allocator<int>::create(device, gpu::pinned_flags::mapped));
  CHECK(plain == value_of(pinned_allocator<int>::create(device)));
  CHECK(plain == pinned_allocator<char>(plain));
  CHECK(plain != mapped);
  const auto managed = value_of(managed_allocator<int>::create(device));
  CHECK(managed == value_of(managed_allocator<char>::create(device)));
  CHECK(managed != value_of(managed_allocator<int>::create(device, gpu::memory_attach::host)));
}

TEST_CASE("allocators: a vector in managed memory is device memory too", "[interop][allocators]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  const auto memory = value_of(managed_allocator<int>::create(device));
  managed_list<int> values(100, 1, memory);
  CHECK(is_managed(values.data()));
  REQUIRE(gpu::fill(stream, gpu::as_device_span(values).first(50), 9).has_value());
  REQUIRE(stream.synchronize().has_value());
  CHECK(values[49] == 9);
  CHECK(values[50] == 1);
  const managed_list<int>& reading = values;
  CHECK(gpu::as_device_span(reading).native() == reinterpret_cast<std::uintptr_t>(values.data()));
}

TEST_CASE("memory_resource: hands out memory of its kind, and takes it back",
          "[interop][memory_resource]") {
  const gpu::device device = test::first_device();
  const gpu::context_ref context = value_of(gpu::context::primary(device));
  gpu::pinned_memory_resource pinned(context);
  gpu::managed_memory_resource managed(context);
  {
    std::pmr::vector<int> one(100, 1, &pinned), two(100, 2, &managed);
    CHECK(type_of(one.data()) == CU_MEMORYTYPE_HOST);
    CHECK(is_managed(two.data()));
    std::pmr::monotonic_buffer_resource many(1 << 16, &pinned);
    std::pmr::vector<std::pmr::string> words(&many);
    for (int i = 0; i < 100; ++i)
      words.emplace_back("a text that is too long to lie in the string");
    CHECK(type_of(words.back().data()) == CU_MEMORYTYPE_HOST);
  }
  CHECK(pinned == pinned);
  CHECK_FALSE(pinned == gpu::pinned_memory_resource(context));
}

TEST_CASE("memory_resource: one over a cache keeps memory for the next",
          "[interop][memory_resource]") {
  const gpu::device device = test::first_device();
  auto cache = value_of(gpu::caching_pinned_allocator::create(device));
  gpu::caching_pinned_memory_resource resource(cache);
  void* const first = resource.allocate(1000, 64);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  CHECK(type_of(first) == CU_MEMORYTYPE_HOST);
  std::memset(first, 1, 1000);
  resource.deallocate(first, 1000, 64);
  CHECK(resource.allocate(1000, 64) == first);
  void* const second = resource.allocate(0, 1);
  CHECK(second != nullptr);
  void* const aligned = resource.allocate(100, 256);
  CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0);
  resource.deallocate(first, 1000, 64);
  resource.deallocate(second, 0, 1);
  resource.deallocate(aligned, 100, 256);
  CHECK(cache.statistics().used_blocks == 0);
}

#if defined(__cpp_exceptions)
TEST_CASE("allocators: a driver without memory throws what containers expect",
          "[interop][allocators][cpu]") {
  test::own_cpu_driver driver({.memory_per_device = 16 << 20});
  gpu::testing::fault_injection faults(driver.table());
  const gpu::driver::scoped_entry_points in_force(faults.entry_points());
  const gpu::device device = test::first_device();
  const auto memory = value_of(pinned_allocator<int>::create(device));
  const auto managed = value_of(managed_allocator<int>::create(device));
  const std::size_t before = driver.live_objects();
  for (std::size_t call = 0; call < 4; ++call) {  // cuCtxGetCurrent, push, allocate, pop
    faults.fail_call(call, CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_THROWS_AS(pinned_list<int>(10, 0, memory), std::bad_alloc);
    faults.clear();
    CHECK(driver.live_objects() == before);
    faults.fail_call(call, CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_THROWS_AS(managed_list<int>(10, 0, managed), std::bad_alloc);
    faults.clear();
    CHECK(driver.live_objects() == before);
  }
  try {
    faults.fail_call("cuMemHostAlloc", 0, CUDA_ERROR_OUT_OF_MEMORY);
    const pinned_list<int> none(1000, 0, memory);
    FAIL("there was memory");
  } catch (const gpu::bad_allocation& error) {
    CHECK(error.error().code() == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(std::string(error.what()).find("asked for 4000 bytes of page-locked") !=
          std::string::npos);
  }
  auto allocator = memory;
  CHECK_THROWS_AS(allocator.allocate(~std::size_t{0} / 2), gpu::bad_allocation);
  auto cache = value_of(gpu::caching_pinned_allocator::create(device));
  gpu::caching_pinned_memory_resource kept(cache);
  CHECK_THROWS_AS(kept.allocate(std::size_t{1} << 62), std::bad_alloc);
}

TEST_CASE("allocators: what cannot be allocated is refused with a sentence",
          "[interop][allocators]") {
  const gpu::device device = test::first_device();
  const gpu::context_ref context = value_of(gpu::context::primary(device));
  gpu::pinned_memory_resource pinned(context), no_pinned{gpu::context_ref{}};
  gpu::managed_memory_resource managed(context), no_managed{gpu::context_ref{}};
  auto cache = value_of(gpu::caching_pinned_allocator::create(device));
  gpu::caching_pinned_memory_resource kept(cache);
  const auto refused = [](std::pmr::memory_resource& resource, std::size_t bytes,
                          std::size_t alignment, auto... words) {
    try {
      void* const address = resource.allocate(bytes, alignment);
      resource.deallocate(address, bytes, alignment);
    } catch (const gpu::bad_allocation& error) {
      return says(error.error(), words...) && error.error().message() == error.what();
    }
    return false;
  };
  CHECK(refused(no_pinned, 8, 8, "gpu::pinned_allocator::allocate", "context is empty"));
  CHECK(refused(no_managed, 8, 8, "gpu::managed_allocator::allocate", "context is empty"));
  const std::pair<std::pmr::memory_resource*, const char*> sources[] = {
      {&pinned, "gpu::pinned_allocator::allocate"},
      {&managed, "gpu::managed_allocator::allocate"},
      {&kept, "gpu::caching_pinned_memory_resource::allocate"}};
  for (const auto& [resource, function] : sources) {
    INFO(function);
    CHECK(refused(*resource, 8, 512, function, "alignment of 512 bytes",
                  "more than the limit of 256", "Use a type with a smaller alignment"));
    void* const aligned = resource->allocate(8, 256);
    CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0);
    resource->deallocate(aligned, 8, 256);
  }
  const std::size_t most = ~std::size_t{0};
  CHECK(refused(kept, most - 255, 256, "gpu::caching_pinned_memory_resource::allocate",
                "18446744073709551360 elements of 1 bytes",
                "Request at most 9223372036854775551 elements"));
}

TEST_CASE("allocators: not during a capture, which is spoiled", "[interop][allocators]") {
  const gpu::device device = test::first_device();
  const gpu::stream stream = value_of(gpu::stream::create(device));
  auto pinned = value_of(pinned_allocator<int>::create(device));
  auto managed = value_of(managed_allocator<int>::create(device));
  const auto spoils = [&](auto& allocator) {
    REQUIRE(test::driver().stream_begin_capture(stream.native(), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
            CUDA_SUCCESS);
    CHECK_THROWS_AS(allocator.allocate(10), gpu::bad_allocation);
    CUgraph graph = nullptr;
    return test::driver().stream_end_capture(stream.native(), &graph) ==
           CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  };
  CHECK(spoils(pinned));
  CHECK(spoils(managed));
}
#endif

TEST_CASE("allocators: each driver call behind them may fail", "[interop][allocators][cpu]") {
  CHECK(test::sweep(
            []() -> gpu::result<> {
              const gpu::device device = GPU_TRY(gpu::device::get(0));
              const gpu::context_ref primary = GPU_TRY(gpu::context::primary(device));
              const gpu::context_scope scope = GPU_TRY(gpu::context_scope::enter(primary));
              const auto pinned = GPU_TRY(pinned_allocator<int>::create(device));
              const auto managed = GPU_TRY(managed_allocator<int>::create(device));
              void* const one = GPU_TRY(pinned.source().allocate(64, 16));
              pinned.source().deallocate(one, 64);
              void* const two = GPU_TRY(managed.source().allocate(64, 16));
              managed.source().deallocate(two, 64);
              return {};
            },
            {"cuCtxGetCurrent"}) == "");
}

}  // namespace allocators_test
