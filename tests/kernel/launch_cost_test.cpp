// A launch neither allocates nor locks: malloc and the mutexes of this process are counted.

#include <gpu/driver/entry_points.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory/device_span.hpp>

#include "kernel/recorded_launch.hpp"
#include "support/catch.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>

namespace launch_cost_test {
namespace {

// Counts only where the test asks, in the thread that asks.
thread_local bool counting = false;
thread_local int allocations = 0;
thread_local int locks = 0;

template <class Function> Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

[[maybe_unused]] CUresult launch_nothing(CUfunction, unsigned, unsigned, unsigned, unsigned,
                                         unsigned, unsigned, unsigned, CUstream, void**, void**) {
  return CUDA_SUCCESS;
}

struct counted_section {
  counted_section() {
    allocations = locks = 0;
    counting = true;
  }
  ~counted_section() { counting = false; }
};

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define GPU_TEST_SANITIZED
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#    define GPU_TEST_SANITIZED
#  endif
#endif

// The sanitizers have hooks of their own in these places, which know nothing of ours.
#ifndef GPU_TEST_SANITIZED

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);

extern "C" void* malloc(std::size_t size) noexcept {
  if (counting) ++allocations;
  return __libc_malloc(size);
}
extern "C" void* calloc(std::size_t count, std::size_t size) noexcept {
  if (counting) ++allocations;
  return __libc_calloc(count, size);
}
extern "C" void* realloc(void* memory, std::size_t size) noexcept {
  if (counting) ++allocations;
  return __libc_realloc(memory, size);
}
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto real = next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
  if (counting) ++locks;
  return real(mutex);
}

namespace {

TEST_CASE("a launch neither allocates nor locks", "[kernel][launch]") {
  gpu::driver::entry_points table = test::recorded::table();
  table.launch_kernel = launch_nothing;
  const test::recording_driver recording({4, 8, 16, 4, 8}, {0, 8, 16, 32, 40});
  const gpu::driver::scoped_entry_points in_force(table);
  const gpu::module module = gpu::module::load(".version 8.0").value();
  const auto kernel =
      module.kernel<float, const float*, gpu::device_span<float>, int, double>("recorded").value();
  const gpu::untyped_kernel untyped = module.kernel("recorded").value();
  const auto stream = test::recording_driver::stream();
  const auto x = gpu::device_span<float>::from_native(0x1000, 100);
  const auto launch_all = [&] {
    const bool typed = gpu::launch(stream, {4, 128}, kernel, 1, x, x, 2, 3.0).has_value();
    const bool shaped =
        gpu::launch(stream, {{1, 2, 3}, {4, 5, 6}, 60'000}, kernel, 1, x, x, 2, 3.0).has_value();
    const bool sizes = gpu::launch(stream, {4, 128}, untyped, 1.0f, x, x, 2, 3.0).has_value();
    return typed && shaped && sizes;
  };
  REQUIRE(launch_all());  // the first one asks for limits
  bool good = true;
  {
    const counted_section section;
    for (int i = 0; i < 1000; ++i) good = launch_all() && good;
  }
  CHECK(good);
  CHECK(allocations == 0);
  CHECK(locks == 0);
  // The counters do count.
  {
    const counted_section section;
    void* volatile memory = std::malloc(10);
    std::free(memory);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  CHECK(allocations == 1);
  CHECK(locks == 1);
}

}  // namespace

#endif

}  // namespace launch_cost_test
