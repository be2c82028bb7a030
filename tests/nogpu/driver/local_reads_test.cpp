// What reading local memory that was never written looks like in code that NVRTC made, optimized
// and for a debugger: found where a kernel does so, and nothing else in what is right.

#include <gpu/compiler.hpp>

#include "driver_fixture.hpp"
#include "support/results.hpp"

#include <string>

namespace local_reads_test {
namespace {

constexpr const char* source = R"(
struct padded { char c; int x; };
struct bits { unsigned a : 3, b : 7, c : 22; };
struct big { double d; char c; int v[5]; char e; };
struct some { int a, b; float f; };
__device__ __noinline__ int take(const padded* p, int i) { return p[i].x + p[i].c; }
__device__ __noinline__ void make(padded* p, int i) { p->c = i; p->x = i * 2; }
__device__ __noinline__ padded give(int i) { padded p; p.c = i; p.x = 3; return p; }
__device__ __noinline__ some half(int i) {
  some p;
  p.a = i;
  if (i > 1000) p.f = 2;
  return p;
}
__device__ __noinline__ big changed(big b, int i) { b.v[i & 3] = i; return b; }
__device__ int fibonacci(int n) {
  int a[2];
  a[0] = n;
  a[1] = 1;
  return n < 2 ? a[n & 1] : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" {
__global__ void never_written(int* p, int n) {
  int a[8];
  for (int i = 0; i < n; ++i) a[i] = i;
  p[0] = a[p[1] + 3];
}
__global__ void copied_out(int* p, int n) {
  int a[8];
  for (int i = 0; i < n; ++i) a[i] = i + p[1];
  for (int i = 0; i < 8; ++i) p[i] = a[i];
}
__global__ void summed(int* p, int n) {
  float a[8];
  for (int i = 0; i < n; ++i) a[i * 2 & 7] = i;
  float sum = 0;
  for (int i = 0; i < 2 * n; ++i) sum += a[i];
  p[0] = sum;
}
__global__ void branched(int* p, int n) {
  bool flags[16];
  for (int i = 0; i < n; ++i) flags[i] = i & 1;
  for (int i = 0; i < 2 * n; ++i)
    if (flags[i + p[1] - 1]) p[i] = n;
}
__global__ void padding_between(int* p, int n) {
  padded own[4], copy[4];
  for (int i = 0; i < 4; ++i) make(&own[i], i + n);
  for (int i = 0; i < 4; ++i) copy[i] = own[(i + n) & 3];
  ((padded*)p)[2] = copy[n & 3];
  p[0] = take(copy, n & 3);
}
__global__ void padding_passed(int* p, int n) {
  ((padded*)p)[1] = give(n);
  padded q = give(n + 1);
  p[0] = take(&q, 0);
}
__global__ void bit_fields(int* p, int n) {
  bits own[4];
  for (int i = 0; i < 4; ++i) own[i].a = n, own[i].b = n + i;
  for (int i = 0; i < 4; ++i) own[i].c = i;
  p[0] = own[n & 3].b + own[(n + 1) & 3].c;
}
__global__ void asked_first(int* p, int n) {
  int a[4], have = 0;
  for (int i = 0; i < n; ++i) a[have++ & 3] = p[1] + i;
  int last = 7;
  if (have > 2) last = a[p[1] & 3];
  p[0] = last + (have ? a[0] : 1) + (have > 1 ? a[1] : 2) + (have > 3 ? a[3] * 5 + 1 : 3);
}
__global__ void part_returned(int* p, int n) {
  some q = half(n), r[3];
  for (int i = 0; i < 3; ++i) r[i] = half(i);
  p[0] = q.a + r[n % 3].a;
}
__global__ void structures(int* p, int n) {
  big b;
  b.d = n, b.c = 1, b.e = 2;
  for (int i = 0; i < 5; ++i) b.v[i] = i;
  big c = changed(b, n), d = c;
  d.v[n & 3]++;
  c = changed(d, n + 1);
  p[0] = c.v[n & 3] + c.e + c.c;
}
__global__ void functions(int* p, int n) {
  float s, c;
  sincosf(1e30f * n, &s, &c);
  double e, f, whole;
  sincos(1e200 * n, &e, &f);
  int q, exponent;
  double sum = s + c + e + f + remquo(1e20 * n, 3.0, &q) + modf(2.5 * n, &whole);
  sum += frexp(1e10 * n, &exponent) + tgamma(n * 1.5) + jn(5, n * 3.0) + lgamma(n * 0.3);
  sum += tan(1e100 * n) + sinf(4e10f * n) + fmod(1e300 * n, 7.0) + yn(4, n * 2.0);
  p[0] = sum + q + whole + exponent + erfcinv(0.1 * n) + normcdfinv(0.2 * n) + pow(1.5, n * 2.0);
}
__global__ void recursion(int* p, int n) { p[0] = fibonacci(n + 8); }
__global__ void prints(int* p, int n) {
  char t[16];
  for (int i = 0; i < 5; ++i) t[i] = 'a' + i;
  t[5] = 0;
  printf("%s %d %f %c\n", t, n, 2.5, 'x');
}
__global__ void digits(int* p, int n) {
  char t[32], r[32];
  int length = 0, hash = 0;
  for (int v = n * 1000 + 7; v; v /= 10) t[length++] = '0' + v % 10;
  for (int i = 0; i < length; ++i) r[i] = t[length - 1 - i];
  r[length] = 0;
  for (char* q = r; *q; ++q) hash = hash * 31 + *q;
  p[0] = hash;
}
__global__ void sorts(int* p, int n) {
  int a[16];
  for (int i = 0; i < 16; ++i) a[i] = (i * 7 + n) % 16;
  for (int i = 1; i < 16; ++i) {
    int v = a[i], j = i - 1;
    while (j >= 0 && a[j] > v) a[j + 1] = a[j], --j;
    a[j + 1] = v;
  }
  p[0] = a[n];
}
__global__ void ring(int* p, int n) {
  int q[8], head = 0, tail = 0;
  for (int i = 0; i < 20 + n; ++i) {
    q[tail++ & 7] = i;
    if (tail - head > 3 + (p[1] & 1)) p[0] += q[head++ & 7];
  }
  while (head != tail) p[0] += q[head++ & 7];
}
__global__ void vectors(int* p, int n) {
  float4 a[4];
  float3 b[4];
  for (int i = 0; i < 4; ++i) a[i].x = i, a[i].y = n, a[i].z = 1, b[i] = make_float3(i, n, 2);
  float4 c = a[n & 3];
  float3 d = b[n & 3];
  p[0] = c.x + c.y + c.z + d.z;
}
}
)";

std::string compiled(bool debug) {
  gpu::compile_options options;
  options.architecture = gpu::architecture::sm(90);
  options.line_info = true;
  options.debug = debug;
  const auto made = test::value_of(gpu::compile(gpu::program(source, "kernels.cu"), options));
  return std::string(made.ptx().data(), made.ptx().size());
}

/// What is reported of a kernel that one thread runs with 64 ints, all written.
std::string report_of(const std::string& code, const char* name) {
  test::driver_fixture driver;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr p = 0;
  REQUIRE(driver.cu.module_load_data(&module, code.c_str()) == CUDA_SUCCESS);
  REQUIRE(driver.cu.module_get_function(&kernel, module, name) == CUDA_SUCCESS);
  REQUIRE(driver.cu.mem_alloc(&p, 256) == CUDA_SUCCESS);
  REQUIRE(driver.cu.memset_d32(p, 1, 64) == CUDA_SUCCESS);
  int n = 2;
  void* parameters[] = {&p, &n};
  REQUIRE(driver.cu.launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) ==
          CUDA_SUCCESS);
  CHECK(driver.cu.ctx_synchronize() == CUDA_SUCCESS);
  return driver.reports();
}

}  // namespace

TEST_CASE("compiled code that reads what it never wrote to local memory is found", "[cpu]") {
  for (const bool debug : {false, true}) {
    const std::string code = compiled(debug);
    for (const char* name : {"never_written", "copied_out", "summed", "branched"}) {
      CAPTURE(debug, name);
      const std::string report = report_of(code, name);
      INFO(report);
      CHECK(report.find("read of memory that was never written in kernel " + std::string(name)) ==
            0);
      CHECK(report.find(" of __local_depot") != std::string::npos);
      CHECK(report.find("kernels.cu:") != std::string::npos);
    }
  }
}

TEST_CASE("compiled code that reads what it wrote to local memory is not suspected", "[cpu]") {
  for (const bool debug : {false, true}) {
    const std::string code = compiled(debug);
    for (const char* name :
         {"padding_between", "padding_passed", "bit_fields", "asked_first", "part_returned",
          "structures", "functions", "recursion", "prints", "digits", "sorts", "ring", "vectors"}) {
      CAPTURE(debug, name);
      CHECK(report_of(code, name) == "");
    }
  }
}

}  // namespace local_reads_test
