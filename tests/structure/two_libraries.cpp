// Compiled into two shared libraries with hidden symbols and into a program that opens both. The
// table that one library puts in force is the one that the other sees, and so is the reporter; a
// kernel that one has looked up is found by the other, which has a graph keep its code.
#include <gpu/kernel/shared_object.hpp>

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

#else

#  include <dlfcn.h>

#  include <cstdio>

namespace {
void quiet(const gpu::cuda_error&) {}
}  // namespace

int main(int, char** argv) {
  static const gpu::driver::entry_points table{};
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
  return 0;
}

#endif
