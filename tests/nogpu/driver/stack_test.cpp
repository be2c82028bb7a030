// The stack of a thread: what recursive kernels may use of it, and what the others are given.

#include <gpu/compiler.hpp>

#include "driver_fixture.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <string>

namespace stack_test {

using test::driver_fixture;

namespace {

/// Functions that are not inlined, each of which counts its calls.
constexpr const char* source = R"(
#define function __device__ __noinline__
__device__ volatile int* count;
function int plain(int n) {
  if (n == 0) return 0;
  *count = *count + 1;
  return plain(n - 1) * 3 + n;
}
template <int N> function double many(int n, const volatile double* p) {
  if (n == 0) return 0;
  double v[N];
  for (int i = 0; i < N; ++i) v[i] = p[i];
  *count = *count + 1;
  double r = many<N>(n - 1, p);
  for (int i = 0; i < N; ++i) r = r * v[i] + 1;
  return r;
}
function int chain(int n, int k) {
  int v[256];
  for (int i = 0; i < 256; ++i) v[i] = i * n;
  *count = *count + 1;
  return v[k & 255];
}
function int longer(int n, int k) {
  int v[256];
  for (int i = 0; i < 256; ++i) v[i] = i * n;
  return chain(v[k & 255], k) + v[(k + 1) & 255];
}
__device__ int (*table[2])(int, int);
extern "C" {
__global__ void recursive(int* c, int n, const double* p) { count = c; c[1] = plain(n); }
__global__ void many_values(int* c, int n, const double* p) {
  count = c;
  c[1] = (int)many<16>(n, p);
}
__global__ void with_variables(int* c, int n, const double* p) {
  int v[1024];
  for (int i = 0; i < 1024; ++i) v[i] = i * n;
  count = c;
  const int s = plain(n);
  c[1] = s + v[s & 1023];
}
__global__ void not_recursive(int* c, int n, const double* p) { count = c; c[1] = longer(n, n); }
__global__ void by_address(int* c, int n, const double* p) {
  count = c;
  table[0] = chain;
  table[1] = longer;
  c[1] = table[n & 1](n, n);
}
})";

const std::string& code() {
  static const std::string ptx = [] {
    const auto made = test::value_of(
        gpu::compile(gpu::program(source), {.architecture = gpu::architecture::compute(90)}));
    return std::string(made.ptx().data(), made.ptx().size());
  }();
  return ptx;
}

struct outcome {
  CUresult code;
  int calls;
  std::size_t limit;  // afterwards
  std::string report;
};

/// Runs one thread of a kernel in a driver of its own; a limit of 0 leaves the context's.
outcome run(const char* kernel, int n, std::size_t limit = 0) {
  driver_fixture f;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  void* shown = nullptr;
  CUdeviceptr count = 0, values = 0;
  if (limit != 0) REQUIRE(f.cu.ctx_set_limit(CU_LIMIT_STACK_SIZE, limit) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_load_data(&module, code().c_str()) == CUDA_SUCCESS);
  REQUIRE(f.cu.module_get_function(&function, module, kernel) == CUDA_SUCCESS);
  // The host's memory can be read after a fault.
  REQUIRE(f.cu.mem_host_alloc(&shown, 8, CU_MEMHOSTALLOC_DEVICEMAP) == CUDA_SUCCESS);
  int* calls = static_cast<int*>(shown);
  calls[0] = 0;
  REQUIRE(f.cu.mem_host_get_device_pointer(&count, shown, 0) == CUDA_SUCCESS);
  REQUIRE(f.cu.mem_alloc(&values, 128) == CUDA_SUCCESS);
  REQUIRE(f.cu.memset_d8(values, 0, 128) == CUDA_SUCCESS);
  void* arguments[] = {&count, &n, &values};
  CHECK(f.cu.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) ==
        CUDA_SUCCESS);
  outcome result{f.cu.ctx_synchronize(), calls[0], 0, f.reports()};
  (void)f.cu.ctx_get_limit(&result.limit, CU_LIMIT_STACK_SIZE);
  return result;
}

/// That so many calls fit, as on an H200 or some more, and one that is far too deep does not.
void check_depth(const char* kernel, std::size_t limit, int recorded) {
  CAPTURE(kernel, limit);
  CHECK(run(kernel, recorded, limit).code == CUDA_SUCCESS);
  const outcome deep = run(kernel, 10'000, limit);
  CHECK(deep.code == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(deep.calls >= recorded);
  CHECK(deep.calls <= recorded + recorded / 10 + 1);
  const std::string has = "and a thread has " + std::to_string(limit) + ": raise the stack limit";
  INFO(deep.report);
  CHECK(deep.report.find(has) != std::string::npos);
  CHECK(deep.report.find(std::to_string(deep.calls + 1) + " nested calls need at least ") !=
        std::string::npos);
}

}  // namespace

TEST_CASE("recursion is as deep as the stack limit allows", "[cpu]") {
  // Calls that an H200 did before CUDA_ERROR_ILLEGAL_ADDRESS.
  check_depth("recursive", 1024, 64);
  check_depth("recursive", 4096, 256);
  check_depth("recursive", 16384, 1024);
  check_depth("many_values", 1024, 7);
  check_depth("many_values", 4096, 28);
  check_depth("many_values", 16384, 113);
  check_depth("with_variables", 16384, 768);
}

TEST_CASE("the variables of a recursive kernel are part of its stack", "[cpu]") {
  // 4096 bytes of variables, for which an H200 does not get to the first call.
  for (const std::size_t limit : {std::size_t{1024}, std::size_t{4096}}) {
    const outcome none = run("with_variables", 3, limit);
    CHECK(none.code == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(none.calls <= 1);
  }
}

TEST_CASE("calls without recursion have the stack that they need", "[cpu]") {
  for (const std::size_t limit : {std::size_t{256}, std::size_t{1024}}) {
    const outcome all = run("not_recursive", 3, limit);
    CHECK(all.code == CUDA_SUCCESS);
    CHECK(all.calls == 1);
    CHECK(all.limit >= 2048);  // the driver raises it, for the kernels that follow too
  }
  CHECK(run("not_recursive", 3, 8192).limit == 8192);
}

TEST_CASE("functions that are called by their addresses have the context's stack", "[cpu]") {
  CHECK(run("by_address", 1, 1024).code == CUDA_ERROR_ILLEGAL_ADDRESS);
  const outcome enough = run("by_address", 1, 8192);
  CHECK(enough.code == CUDA_SUCCESS);
  CHECK(enough.calls == 1);
}

}  // namespace stack_test
