// Compiled into two shared libraries with hidden symbols and into a program that opens both. The
// table that one library puts in force is the one that the other sees, and so is the reporter.
#include <gpu/driver/process_state.hpp>

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
  return 0;
}

#endif
