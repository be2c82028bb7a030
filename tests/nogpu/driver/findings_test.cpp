// What the driver finds in kernels, from CUDA source that NVRTC compiled with line information: the
// code that the program gets, and all that the report says.

#include <gpu/compiler.hpp>
#include <gpu/kernel.hpp>
#include <gpu/memory.hpp>

#include "driver_fixture.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace findings_test {
namespace {

using test::driver_fixture;

/// Kernels that go wrong in one way each, in the line that ends with their own name.
constexpr const char* source = R"(
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
__constant__ int settings[4];
__device__ int deeper(volatile int* p, int n) {
  volatile int room[64];
  room[n & 63] = n;
  return room[n & 63] + deeper(p, n + 1);  // stack_overflow
}
extern "C" {
__global__ void beyond(int* p, int n) {
  p[threadIdx.x] = n;  // beyond
}
__global__ void before(int* p, int n) {
  int i = -n;
  p[i] = *p;  // before
}
__global__ void freed(int* p, int n) {
  p[n] = 1;  // freed
}
__global__ void null(int* p, int n) {
  p[n] = 1;  // null
}
__global__ void misaligned(int* p, int n) {
  *(int*)((char*)p + n) = 1;  // misaligned
}
__global__ void foreign(int* p, int n) {
  p[n] = 1;  // foreign
}
__global__ void constant(int* p, int n) {
  int* settled = (int*)settings;
  asm volatile("" : "+l"(settled));
  settled[n & 3] = 1;  // constant
}
__global__ void shared(int* p, int n) {
  __shared__ int room[8];
  ((volatile int*)room)[threadIdx.x] = n;  // shared
}
__global__ void stack_overflow(int* p, int n) {
  *p = deeper(p, n);
}
__global__ void space(int* p, int n) {
  int own = n;
  asm volatile("red.add.u32 [%0], 1;" :: "l"(&own) : "memory");  // space
  *p = own;
}
__global__ void pointer(int* p, int n) {
  ((void (*)(int))(unsigned long long)n)(n);  // pointer
}
__global__ void mask(int* p, int n) {
  p[threadIdx.x & 1] = __shfl_sync(1, n, 0);  // mask
}
__global__ void partial(int* p, int n) {
  if (threadIdx.x < 8) p[threadIdx.x & 1] = n + __shfl_down_sync(0xff, threadIdx.x, 16);  // partial
}
__global__ void endless(int* p, int n) {
  while (*(volatile int*)p == n) {}  // endless
}
__global__ void apart(int* p, int n) {
  if (threadIdx.x < 32) asm volatile("bar.sync 1;");  // apart
  else asm volatile("bar.sync 2;");
}
__global__ void trapped(int* p, int n) {
  if (threadIdx.x == 3) __trap();  // trapped
}
__global__ void asserted(int* p, int n) {
  if (n <= 1000) __assertfail("n > 1000", "kernels.cu", 7, "asserted", 1);  // asserted
}
__global__ void unwritten(int* p, int n) {
  p[1] = p[2 + n % 2];  // unwritten
}
__global__ void race(int* p, int n) {
  __shared__ int room[64];
  room[threadIdx.x] = n * threadIdx.x;
  p[threadIdx.x & 1] = room[63 - threadIdx.x];  // race
}
__global__ void exits(int* p, int n) {
  if (threadIdx.x >= 40) return;
  __syncthreads();  // exits
}
}
)";

/// The line of `source` that ends with `// name`.
std::string line_of(std::string_view name) {
  const std::string_view text = source;
  const std::string mark = "// " + std::string(name) + "\n";
  const std::size_t at = text.find(mark);
  REQUIRE(at != text.npos);
  std::size_t line = 1;
  for (std::size_t i = 0; i < at; ++i) line += text[i] == '\n';
  return std::to_string(line);
}

const std::string& code() {
  static const std::string ptx = [] {
    gpu::compile_options options;
    options.architecture = gpu::architecture::sm(90);
    options.line_info = true;
    const auto made = test::value_of(gpu::compile(gpu::program(source, "kernels.cu"), options));
    return std::string(made.ptx().data(), made.ptx().size());
  }();
  return ptx;
}

struct finding {
  const char* kernel;
  int n;
  CUresult code;
  unsigned threads;
  std::vector<const char*> says;
};

/// Runs the kernel with 16 ints of which the first two are written. Returns the report.
std::string report_of(const finding& f, driver_fixture& driver, CUdeviceptr p) {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  REQUIRE(driver.cu.module_load_data(&module, code().c_str()) == CUDA_SUCCESS);
  REQUIRE(driver.cu.module_get_function(&kernel, module, f.kernel) == CUDA_SUCCESS);
  int n = f.n;
  void* parameters[] = {&p, &n};
  CHECK(driver.cu.launch_kernel(kernel, 2, 1, 1, f.threads, 1, 1, 0, nullptr, parameters,
                                nullptr) == CUDA_SUCCESS);
  CHECK(driver.cu.ctx_synchronize() == f.code);
  return driver.reports() + driver.prints();
}

void check_report(const finding& f, const std::string& report) {
  INFO(report);
  const auto says = [&](const std::string& part) {
    CAPTURE(part);
    CHECK(report.find(part) != std::string::npos);
  };
  says("kernel " + std::string(f.kernel));
  says("PTX line ");
  says("kernels.cu:" + line_of(f.kernel));
  says("block (");
  for (const char* part : f.says) says(part);
}

const char* const this_file = test::places_known ? "findings_test.cpp:" : "";

gpu::testing::cpu_driver_options quick() {
  gpu::testing::cpu_driver_options options = test::with_places();
  options.devices = 2;
  options.instruction_budget = 100'000;
  options.block_threads = 1;
  options.checks.shared_bounds_are_faults = true;
  return options;
}

}  // namespace

TEST_CASE("each finding has the code of a driver and says where it is", "[cpu]") {
  const finding findings[] = {
      {"beyond",
       1,
       CUDA_ERROR_ILLEGAL_ADDRESS,
       32,
       {"out of bounds", "block (0,0,0), thread (16,0,0)", "writes 4 bytes at 0x1",
        "0 bytes past the end of the device allocation of 64 bytes", this_file}},
      {"before",
       1,
       CUDA_ERROR_ILLEGAL_ADDRESS,
       1,
       {"out of bounds", "thread (0,0,0)", "4 bytes before", this_file}},
      {"misaligned", 2, CUDA_ERROR_MISALIGNED_ADDRESS, 1, {"misaligned", this_file}},
      {"constant", 1, CUDA_ERROR_ILLEGAL_ADDRESS, 1, {"settings"}},
      {"shared",
       1,
       CUDA_ERROR_ILLEGAL_ADDRESS,
       32,
       {"the block has 32 bytes of shared memory, and this is 0 bytes past the end of ", "room",
        "thread (8,0,0)"}},
      {"stack_overflow", 1, CUDA_ERROR_ILLEGAL_ADDRESS, 1, {"raise the stack limit", "deeper"}},
      {"space", 1, CUDA_ERROR_INVALID_ADDRESS_SPACE, 1, {"global and shared memory"}},
      {"pointer", 12, CUDA_ERROR_INVALID_PC, 1, {"call"}},
      {"mask",
       1,
       CUDA_SUCCESS,
       32,
       {"the member mask 0x1 does not name the executing lane", "thread (1,0,0)"}},
      {"partial", 1, CUDA_SUCCESS, 32, {"reads lane 16, which does not take part", "mask 0xff"}},
      {"endless", 1, CUDA_ERROR_LAUNCH_TIMEOUT, 1, {"more than 100000 instructions"}},
      {"apart", 1, CUDA_ERROR_LAUNCH_TIMEOUT, 64, {"barrier 1 waits for 64 threads; 32 arrived"}},
      {"trapped", 1, CUDA_ERROR_LAUNCH_FAILED, 32, {"trap", "thread (3,0,0)"}},
      {"asserted", 1, CUDA_ERROR_ASSERT, 32, {"Assertion `n > 1000` failed", "block: [0,0,0]"}},
      {"unwritten", 1, CUDA_SUCCESS, 1, {"never written", this_file}},
      {"race", 1, CUDA_SUCCESS, 64, {"with no barrier in between"}},
      {"exits", 1, CUDA_SUCCESS, 64, {"24 of the 64 threads have exited before barrier 0"}},
  };
  for (const finding& f : findings) {
    CAPTURE(f.kernel);
    driver_fixture driver(quick());
    CUdeviceptr p = 0;
    REQUIRE(driver.cu.mem_alloc(&p, 64) == CUDA_SUCCESS);
    REQUIRE(driver.cu.memset_d32(p, 1, 2) == CUDA_SUCCESS);
    check_report(f, report_of(f, driver, p));
  }
}

TEST_CASE("memory that is nobody's, freed or of another context is told with who made it",
          "[cpu]") {
  driver_fixture none(quick());
  const finding null{"null", 1, CUDA_ERROR_ILLEGAL_ADDRESS, 1, {"null pointer", "at 0x4"}};
  check_report(null, report_of(null, none, 0));

  driver_fixture driver(quick());
  CUdeviceptr freed = 0;
  REQUIRE(driver.cu.mem_alloc(&freed, 64) == CUDA_SUCCESS);
  REQUIRE(driver.cu.mem_free(freed) == CUDA_SUCCESS);
  const finding use{"freed",
                    1,
                    CUDA_ERROR_ILLEGAL_ADDRESS,
                    1,
                    {"freed device allocation of 64 bytes", this_file}};
  check_report(use, report_of(use, driver, freed));

  driver_fixture two(quick());
  CUcontext other = nullptr;
  CUdeviceptr there = 0;
  REQUIRE(two.cu.device_primary_ctx_retain(&other, 1) == CUDA_SUCCESS);
  REQUIRE(two.cu.ctx_push_current(other) == CUDA_SUCCESS);
  REQUIRE(two.cu.mem_alloc(&there, 64) == CUDA_SUCCESS);
  REQUIRE(two.cu.ctx_pop_current(nullptr) == CUDA_SUCCESS);
  const finding reach{"foreign", 1, CUDA_ERROR_ILLEGAL_ADDRESS, 1, {"another context", this_file}};
  check_report(reach, report_of(reach, two, there));
  CHECK(two.cu.device_primary_ctx_release(1) == CUDA_SUCCESS);
}

TEST_CASE("what gpu::compile makes without options is reported with names and lines of the source",
          "[cpu]") {
  constexpr const char* text = R"(
namespace mine {
template <class T> __device__ T twice(const T* p, int i) {
  return 2 * p[i];
}
template <class T> __global__ void moved(T* p, int by) {
  p[0] = twice(p, by);
}
})";
  driver_fixture driver(quick());
  const gpu::driver::scoped_entry_points in_force(driver.cu);
  const gpu::device device = test::value_of(gpu::device::get(0));
  const gpu::stream stream = test::value_of(gpu::stream::create(device));
  test::value_of(device.synchronize());  // launches in other tests are not among the suspects
  const auto code = test::value_of(gpu::module::load(
      test::value_of(gpu::compile(gpu::program(text).instance("mine::moved<float>")))));
  const auto kernel = test::value_of(code.kernel<float*, int>("mine::moved<float>"));
  auto x = test::value_of(gpu::device_buffer<float>::create(device, 4));
  const gpu::result<> launched = gpu::launch(stream, {1, 1}, kernel, x, 4);
  const gpu::result<> done = launched.has_value() ? stream.synchronize() : launched;
  const std::string report = driver.reports();
  INFO(report);
  CHECK(report.find("out of bounds in kernel mine::moved<float>, block (0,0,0), thread (0,0,0)") !=
        report.npos);
  CHECK(report.find("\n  source program.cu:4\n  inlined at program.cu:7") != report.npos);
  REQUIRE_FALSE(done.has_value());
  CHECK(test::says(done.error(), "earliest first: mine::moved<float> at "));
}

}  // namespace findings_test
