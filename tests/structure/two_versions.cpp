// Compiled into two shared libraries, one of them from headers with another ABI number, and into a
// program that opens both so that their symbols see each other. Each library compiles and launches
// on a CPU driver of its own, and nothing that one does to its process-wide state shows in the
// other.

#include <dlfcn.h>

#include <cstdio>

#if defined(GPU_LIBRARY)

#  include <gpu/gpu.hpp>
#  include <gpu/testing/cpu_driver.hpp>

namespace {

void quiet(const gpu::cuda_error&) {}

gpu::result<int> store(int value) {
  const gpu::device device = GPU_TRY(gpu::device::get(0));
  const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
  const gpu::module code = GPU_TRY(gpu::module::load(GPU_TRY(
      gpu::compile("extern \"C\" __global__ void store(int* out, int value) { *out = value; }"))));
  const auto kernel = GPU_TRY(code.kernel<int*, int>("store"));
  auto out = GPU_TRY(gpu::device_buffer<int>::create(device, 1));
  GPU_TRY(gpu::launch(stream, {1, 1}, kernel, out, value));
  int stored[] = {-1};
  GPU_TRY(gpu::copy(out, stored));
  return stored[0];
}

}  // namespace

extern "C" int abi_number() { return gpu::abi_number; }
extern "C" const void* driver_table() { return &gpu::driver::current_entry_points(); }
/// Returns what a kernel stored, `value`, or -1.
extern "C" int run(int value) {
  const gpu::result<int> stored = store(value);
  if (!stored) std::printf("%s\n", stored.error().message().c_str());
  return stored ? *stored : -1;
}
extern "C" void start() { gpu::testing::use_cpu_driver(); }
extern "C" void set_reporter() { gpu::set_error_reporter(&quiet); }
extern "C" bool has_reporter() { return gpu::set_error_reporter(nullptr) != nullptr; }

#else

template <class Function> Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

int check(bool holds, const char* what) {
  if (!holds) std::printf("not so: %s\n", what);
  return holds ? 0 : 1;
}

int main(int, char** argv) {
  void* const first = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  void* const second = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
  if (first == nullptr || second == nullptr) return check(false, dlerror());
  int failed = check(find<int()>(first, "abi_number")() + 1 == find<int()>(second, "abi_number")(),
                     "the libraries have two ABI numbers");
  find<void()>(first, "start")();
  find<void()>(second, "start")();
  failed += check(
      find<const void*()>(first, "driver_table")() != find<const void*()>(second, "driver_table")(),
      "each library has a driver table");
  failed += check(find<int(int)>(first, "run")(17) == 17, "the first library computes");
  failed += check(find<int(int)>(second, "run")(23) == 23, "the second library computes");
  failed += check(find<int(int)>(first, "run")(19) == 19, "the first library computes again");
  find<void()>(first, "set_reporter")();
  failed +=
      check(!find<bool()>(second, "has_reporter")(), "the error reporter is the first's alone");
  failed +=
      check(find<bool()>(first, "has_reporter")(), "the first library keeps its error reporter");
  return failed;
}

#endif
