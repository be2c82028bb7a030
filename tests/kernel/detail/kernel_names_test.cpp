// Kernels and variables are found by the names that they have in the source, and the types in a
// mangled name are compared with those of arguments.

#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/instance.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/last_error.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory.hpp>

#include "kernel/test_programs.hpp"
#include "support/results.hpp"

#include <string>
#include <vector>

namespace kernel_names_test { namespace {

constexpr const char* source = R"(
__global__ void saxpy(float a, const float* x, float* y) {
  y[threadIdx.x] += a * x[threadIdx.x];
}
__global__ void sub(float* x) { x[threadIdx.x] -= 1; }
__global__ void sub(int* x) { x[threadIdx.x] -= 2; }
__global__ void sub(const int* x, int* y) { *y = -*x; }
template <class T, int N> __global__ void fill(T* x) { x[threadIdx.x] = T(N); }
template __global__ void fill<float, 4>(float*);
template __global__ void fill<unsigned long long, -3>(unsigned long long*);
template <class T> __global__ void once(T* x) { *x = 1; }
template __global__ void once<double>(double*);
namespace outer {
__device__ int table[3] = {1, 2, 3};
__constant__ double factor = 0.5;
__managed__ int shared_count = 9;
template <class T> __device__ T cell = 7;
namespace inner { __global__ void saxpy(int* x) { *x = table[1]; } }
namespace { __global__ void hidden(double* x) { *x = factor + shared_count; } }
__global__ void keep(void (*)(), double* x) { hidden<<<1, 1>>>(x); *x = cell<int>; }
}
)";

gpu::module load() {
  std::string text = source;
  text.replace(text.find("hidden<<<1, 1>>>(x); "), 21, "");
  return test::load_source(text.c_str());
}

/// The name in the module of the kernel that is asked for.
std::string symbol(const gpu::module& code, const char* asked) {
  return test::value_of(code.kernel(asked)).name();
}

TEST_CASE("kernels are found by the names that they have in the source", "[kernel][module]") {
  const gpu::module code = load();
  for (const char* asked : {"saxpy", "::saxpy", "&saxpy", "saxpy(float, const float*, float*)",
                            "saxpy(float,float const *,float*)", "_Z5saxpyfPKfPf"}) {
    INFO(asked);
    CHECK(symbol(code, asked) == "_Z5saxpyfPKfPf");
  }
  for (const char* asked : {"sub(float*)", "sub( float * )", "static_cast<void(*)(float*)>(sub)"}) {
    INFO(asked);
    CHECK(symbol(code, asked) == "_Z3subPf");
  }
  CHECK(symbol(code, "sub(int*)") == "_Z3subPi");
  CHECK(symbol(code, "sub(const int*, int*)") == "_Z3subPKiPi");
  CHECK(symbol(code, "fill<float, 4>") == "_Z4fillIfLi4EEvPT_");
  CHECK(symbol(code, "fill(float*)") == "_Z4fillIfLi4EEvPT_");
  CHECK(symbol(code, gpu::instance<unsigned long long, -3>("fill").c_str()) ==
        "_Z4fillIyLin3EEvPT_");
  CHECK(symbol(code, "fill< long long unsigned, (int)-3 >(unsigned long long int*)") ==
        "_Z4fillIyLin3EEvPT_");
  CHECK(symbol(code, "once") == "_Z4onceIdEvPT_");
  CHECK(symbol(code, "outer::inner::saxpy") == "_ZN5outer5inner5saxpyEPi");
  CHECK(symbol(code, "inner::saxpy") == "_ZN5outer5inner5saxpyEPi");
  CHECK(symbol(code, "saxpy(int*)") == "_ZN5outer5inner5saxpyEPi");
  CHECK(symbol(code, "outer::hidden") == symbol(code, "hidden"));
  CHECK(symbol(code, "outer::(anonymous namespace)::hidden(double*)") == symbol(code, "hidden"));
  CHECK(code.kernel<void(float, const float*, float*)>("saxpy").has_value());
}

TEST_CASE("a name that several kernels may have is answered with all of them", "[kernel][module]") {
  const gpu::module code = load();
  const gpu::cuda_error sub = test::error_of(code.kernel("sub"));
  CHECK(sub == gpu::errc::unknown_name);
  CHECK(sub.asked() == 3);
  CHECK(test::says(sub, "3 kernels that \"sub\" may mean. Write which:", "\"sub(float*)\"",
                   "\"sub(int*)\"", "\"sub(const int*, int*)\""));
  CHECK(test::says(test::error_of(code.kernel<float*>("fill")), "\"fill<float, 4>(float*)\"",
                   "\"fill<unsigned long long, -3>(unsigned long long*)\""));
  CHECK(test::says(test::error_of(code.kernel("other::saxpy")), "no kernel \"other::saxpy\""));
  CHECK(test::says(test::error_of(code.kernel("sub(double*)")), "no kernel \"sub(double*)\""));
  CHECK(test::says(test::error_of(code.kernel("fill<float, 5>")), "no kernel \"fill<float, 5>\"",
                   "add .instance(\"fill<float, 5>\") to the program"));
  CHECK(test::says(test::error_of(code.kernel("bill")),
                   "add .instance(\"bill<...>\") to the program"));
  for (const char* odd : {"", "::", "sub(", "sub)", "<>", "sub<", "(", ")", "sub()",
                          "::::sub::", "static_cast<void(*)(", "static_cast<void(*)()>()"}) {
    INFO(odd);
    CHECK(test::error_of(code.kernel(odd)) == gpu::errc::unknown_name);
  }
}

TEST_CASE("a kernel that is found by its name in the source leaves no error behind",
          "[kernel][module]") {
  const gpu::module code = load();
  (void)gpu::take_last_error();
  test::value_of(code.kernel("saxpy"));
  test::value_of(code.global<int>("outer::table", test::first_device()));
  CHECK(gpu::take_last_error().has_value());
}

TEST_CASE("variables are found by their names in the source", "[kernel][module]") {
  const gpu::module code = test::value_of(gpu::module::load(test::value_of(
      gpu::compile(gpu::program(std::string(source).replace(
                                    std::string(source).find("hidden<<<1, 1>>>(x); "), 21, ""))
                       .instance("&outer::cell<int>")))));
  const gpu::device device = test::first_device();
  CHECK(test::value_of(code.global<int>("outer::table", device)).size() == 3);
  CHECK(test::value_of(code.global<int>("::outer::table", device)).size() == 3);
  CHECK(test::value_of(code.global<double>("outer::factor", device)).size() == 1);
  CHECK(test::value_of(code.managed<int>("outer::shared_count"))[0] == 9);
  CHECK(test::value_of(code.global<int>("outer::cell<int>", device)).size() == 1);
  for (const char* odd : {"table", "outer::", "outer::tables", "outer:table", "::", "7::x",
                          "outer::cell<long>", "outer::::table"}) {
    INFO(odd);
    CHECK(test::says(test::error_of(code.global<int>(odd, device)), odd, ".instance(\"",
                     "Write its namespaces"));
  }
  CHECK(test::says(test::error_of(code.global<int>("", device)), "the name is empty"));
  CHECK(test::says(test::error_of(code.managed<int>("")), "the name is empty"));
  CHECK(test::says(test::error_of(code.kernel("")), "the name is empty"));
}

TEST_CASE("the types in a mangled name are compared with the arguments", "[kernel][launch]") {
  const gpu::module code = test::load_source(R"(
struct pair { float a, b; };
enum color : int { red };
__global__ void take(float a, int b, float* x, const double* y, void* z, pair p, color c,
                     unsigned long long address) {}
__global__ void pointers(float** x, const unsigned* y) {}
)");
  const gpu::stream stream = test::new_stream();
  const auto take = test::value_of(code.kernel("take"));
  struct pair {
    float a, b;
  };
  enum color : int { red };
  float* const x = nullptr;
  const double* const y = nullptr;
  const auto launch = [&](const auto&... arguments) {
    return gpu::launch(stream, {1, 1}, take, arguments...);
  };
  const CUdeviceptr address = 0;
  test::value_of(launch(1.0f, 2, x, y, x, pair{}, red, 3ull));
  test::value_of(launch(1.0f, 2u, x, y, y, pair{}, 1, 3l));
  test::value_of(launch(1.0f, red, address, y, address, pair{}, 1, x));
  const auto buffer = test::value_of(gpu::device_buffer<float>::create(stream, 4));
  test::value_of(launch(1.0f, 2, buffer, y, buffer, pair{}, red, 3ull));

  const gpu::cuda_error number = test::error_of(launch(1, 2, x, y, x, pair{}, red, 3ull));
  CHECK(number == gpu::errc::argument_mismatch);
  INFO(number.message().c_str());
  CHECK(
      test::says(number, "kernel take has 8 parameters, and 8 are passed, but they differ:\n",
                 "   #  kernel                            passed\n",
                 "\n   1  float                  4 bytes    int ",
                 "4 bytes   <-- the first difference\n   2  int                    4 bytes    int ",
                 "\n   4  const double*          8 bytes    const double* ",
                 "\n   6  pair                   8 bytes    "));
  const auto marks = [&](const gpu::result<>& done, const char* line) {
    const gpu::cuda_error error = test::error_of(done);
    INFO(error.message().c_str());
    CHECK(error == gpu::errc::argument_mismatch);
    CHECK(std::string(error.details().c_str()).find("<-- the first difference") <
          std::string(error.details().c_str()).find(line));
  };
  marks(launch(1.0f, 2.0f, x, y, x, pair{}, red, 3ull), "\n   3  ");
  marks(launch(1.0f, 2, y, y, x, pair{}, red, 3ull), "\n   4  ");
  marks(launch(1.0f, 2, x, buffer, x, pair{}, red, 3ull), "\n   5  ");
  marks(launch(1.0f, 2, x, 1.5, x, pair{}, red, 3ull), "\n   5  ");
  marks(launch(1.0f, 2, x, y, 1.5, pair{}, red, 3ull), "\n   6  ");
  marks(launch(1.0f, 2, x, y, x, pair{}, 1.0f, 3.0), "\nPass ");
  const std::vector<double> host(3);
  marks(launch(1.0f, 2, gpu::in(host), y, x, pair{}, red, 3ull), "\n   4  ");

  CHECK(code.kernel<void(float**, const unsigned*)>("pointers").has_value());
  CHECK(code.kernel<void(float**, const int*)>("pointers").has_value());
  CHECK(code.kernel<void(void*, void*)>("pointers").has_value());
  CHECK(test::error_of(code.kernel<void(float*, const unsigned*)>("pointers")) ==
        gpu::errc::argument_mismatch);
  CHECK(test::error_of(code.kernel<void(double**, const unsigned*)>("pointers")) ==
        gpu::errc::argument_mismatch);
  CHECK(test::error_of(code.kernel<void(float**, const float*)>("pointers")) ==
        gpu::errc::argument_mismatch);
}

TEST_CASE("each call and each allocation of a look-up by name may fail", "[kernel][module]") {
  // As for every load: it may go on where machine code was refused and the thread not left as it
  // was.
  const gpu::compiled_program program =
      test::value_of(gpu::compile("__global__ void sub(float*) {} __global__ void sub(int*) {}"));
  CHECK(test::sweep(
            [&]() -> gpu::result<> {
              const gpu::module code = GPU_TRY(gpu::module::load(program));
              GPU_TRY(code.kernel("sub(int*)"));
              return {};
            },
            {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
}

}}  // namespace kernel_names_test
