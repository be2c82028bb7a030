// Compiled into two shared libraries with hidden symbols and into a program that opens both. The
// table that one library puts in force is the one that the other sees, and so is the reporter; a
// kernel that one has looked up is found by the other, which has a graph keep its code. Access to a
// peer lasts as long as either of them has a scope. Both take memory from the same pool.
#include <gpu/driver/peer_access.hpp>
#include <gpu/kernel/detail/shared_object.hpp>
#include <gpu/memory/kept_memory.hpp>

#if defined(GPU_LIBRARY)

extern "C" __attribute__((visibility("default"))) const void* use_table(const void* table) {
  return gpu::driver::use_entry_points(static_cast<const gpu::driver::entry_points*>(table));
}
extern "C" __attribute__((visibility("default"))) const void* current_table() {
  return &gpu::driver::current_entry_points();
}
extern "C" __attribute__((visibility("default"))) void set_reporter(gpu::error_reporter reporter) {
  gpu::set_error_reporter(reporter);
}
extern "C" __attribute__((visibility("default"))) void add_kernel(
    gpu::detail::live_kernel* kernel) {
  gpu::detail::add_live_kernel(*kernel);
}
extern "C" __attribute__((visibility("default"))) void* take_share(CUkernel kernel) {
  return gpu::detail::take_share_of(kernel);
}
namespace {
gpu::detail::peer_pair pair_of_all() {
  const auto context = [](std::uintptr_t number) {
    return gpu::context_ref::from_native(reinterpret_cast<CUcontext>(number),
                                         gpu::device::from_native(static_cast<int>(number)));
  };
  return {context(1), context(2)};
}
}  // namespace
extern "C" __attribute__((visibility("default"))) bool begin_access() {
  bool holds_it = false;
  return gpu::detail::begin_peer_access(pair_of_all(), holds_it, gpu::source_location{}) &&
         holds_it;
}
extern "C" __attribute__((visibility("default"))) void end_access() {
  gpu::detail::disable_peer_access{}(pair_of_all());
}
extern "C" __attribute__((visibility("default"))) void* pool_of_device() {
  const auto pool = gpu::library_pool_of(gpu::device::from_native(0));
  return pool.has_value() ? pool->native() : nullptr;
}

#else

#  include <dlfcn.h>

#  include <cstdio>

namespace {
void quiet(const gpu::cuda_error&) {}

bool accessible = false;
std::uintptr_t pools = 1;
}  // namespace

int main(int, char** argv) {
  static gpu::driver::entry_points table{};
  table.ctx_get_current = [](CUcontext* context) {
    *context = reinterpret_cast<CUcontext>(1);
    return CUDA_SUCCESS;
  };
  table.ctx_enable_peer_access = [](CUcontext, unsigned) {
    const bool already = std::exchange(accessible, true);
    return already ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
  };
  table.ctx_disable_peer_access = [](CUcontext) {
    accessible = false;
    return CUDA_SUCCESS;
  };
  table.thread_exchange_stream_capture_mode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  table.device_get_default_mem_pool = [](CUmemoryPool* pool, CUdevice) {
    *pool = reinterpret_cast<CUmemoryPool>(1);
    return CUDA_SUCCESS;
  };
  table.mem_pool_create = [](CUmemoryPool* pool, const CUmemPoolProps*) {
    *pool = reinterpret_cast<CUmemoryPool>(++pools);
    return CUDA_SUCCESS;
  };
  table.mem_pool_set_attribute = [](CUmemoryPool, CUmemPool_attribute, void*) {
    return CUDA_SUCCESS;
  };
  table.device_get_count = [](int* count) {
    *count = 1;
    return CUDA_SUCCESS;
  };
  void* first = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void* second = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (first == nullptr || second == nullptr) {
    std::puts(dlerror());
    return 1;
  }
  using gpu::detail::find_symbol;
  find_symbol<const void* (*)(const void*)>(first, "use_table")(&table);
  find_symbol<void (*)(gpu::error_reporter)>(first, "set_reporter")(&quiet);
  const void* seen = find_symbol<const void* (*)()>(second, "current_table")();
  if (seen != &table || &gpu::driver::current_entry_points() != &table) {
    std::puts("the libraries do not share one driver table");
    return 1;
  }
  if (gpu::set_error_reporter(nullptr) != &quiet) {
    std::puts("the libraries do not share one error reporter");
    return 1;
  }
  gpu::detail::shared_object code{[](gpu::detail::shared_object*) noexcept {}};
  gpu::detail::live_kernel kernel{reinterpret_cast<CUkernel>(&code), &code, nullptr};
  find_symbol<void (*)(gpu::detail::live_kernel*)>(first, "add_kernel")(&kernel);
  if (find_symbol<void* (*)(CUkernel)>(second, "take_share")(kernel.native) != &code) {
    std::puts("one library does not find the kernels of the other");
    return 1;
  }
  const auto begins = [](void* library) {
    return find_symbol<bool (*)()>(library, "begin_access")();
  };
  const auto ends = [](void* library) { find_symbol<void (*)()>(library, "end_access")(); };
  const bool both = begins(first) && begins(second);
  ends(first);
  const bool still = accessible;
  ends(second);
  if (!both || !still || accessible) {
    std::puts("access to a peer does not end with the last scope of the libraries");
    return 1;
  }
  void* const pool = find_symbol<void* (*)()>(first, "pool_of_device")();
  if (pool == nullptr || find_symbol<void* (*)()>(second, "pool_of_device")() != pool) {
    std::puts("the libraries do not keep memory in one pool");
    return 1;
  }
  return 0;
}

#endif
