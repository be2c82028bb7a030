// Names that no input defines, that two define, or that inputs disagree about.

#include "compiler/link_support.hpp"

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/link.hpp>
#include <gpu/compiler/link_input.hpp>
#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/text.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace link_check_test { namespace {

using test::compile;
using test::kernels;
using test::math;
using test::ptx_of;
using test::value_of;
using test::without_nvjitlink;

TEST_CASE("an undefined name is told in the words of the source, with who asks",
          "[compiler][link]") {
  const auto target = gpu::architecture::sm(90);
  const gpu::link_input asking(compile(kernels, false, target), "kernels.cu");
  const gpu::cuda_error error = test::error_of(gpu::link({asking}, {.architecture = target}));
  CHECK(error == gpu::errc::link_failed);
  CHECK(error.kind() == gpu::error_kind::compile);
  CHECK(error.asked() == 3);
  CHECK(test::says(error, "add_one(int) (_Z7add_onei) is undefined; kernels.cu refers to it.",
                   "base is undefined", "table is undefined", "relocatable = true"));
  const std::string details(error.details());
  CHECK(details.substr(details.size() - 1) == "\n");
  CHECK(details.substr(details.size() - 2) != "\n\n");
  const gpu::cuda_error lto =
      test::error_of(gpu::link({compile(kernels, true, target)}, {.architecture = target}));
  CHECK(lto == gpu::errc::link_failed);
  CHECK(test::says(lto, "add_one(int) (_Z7add_onei) is undefined"));

  const without_nvjitlink scope;
  const gpu::cuda_error driver =
      test::error_of(gpu::link({gpu::link_input(ptx_of(kernels), "kernels.cu")}));
  CHECK(driver == gpu::errc::link_failed);
  CHECK(test::says(driver, "add_one(int) (_Z7add_onei) is undefined; kernels.cu refers to it."));
}

TEST_CASE("a name that two inputs define is refused before a linker sees it", "[compiler][link]") {
  const auto target = gpu::architecture::sm(90);
  const auto link = [&](const std::vector<gpu::link_input>& inputs) {
    return test::error_of(gpu::link(inputs, {.architecture = target}));
  };
  const gpu::compiled_program cubin = compile(math, false, target);
  const gpu::text ptx = ptx_of(math);
  for (const gpu::link_input& second : {gpu::link_input(cubin, "b"), gpu::link_input(ptx, "b")}) {
    for (const gpu::link_input& first : {gpu::link_input(cubin, "a"), gpu::link_input(ptx, "a")}) {
      const gpu::cuda_error error = link({first, second, compile(kernels, false, target)});
      CHECK(error == gpu::errc::link_failed);
      CHECK(test::says(error, "add_one(int) (_Z7add_onei) is defined in a and in b.",
                       "base is defined in a and in b."));
    }
  }
  const gpu::cuda_error lto = link({compile(math, true, target), compile(math, true, target)});
  CHECK(test::says(lto, "multiply defined"));
  const gpu::cuda_error mixed = link({compile(math, true, target), ptx});
  CHECK(mixed == gpu::errc::link_failed);
  CHECK(test::says(mixed, "Multiple definition"));
}

TEST_CASE("names that are defined twice are found among many", "[compiler][link]") {
  std::string first, second;
  for (int i = 0; i < 300; ++i) {
    first += "__device__ int a" + std::to_string(i) + ";\n";
    second += "__device__ int b" + std::to_string(i) + ";\n";
  }
  second += "__device__ int a0;\n__device__ int a123;\n__device__ int a299;\n";
  const gpu::cuda_error error =
      test::error_of(gpu::link({{ptx_of(first.c_str()), "one"}, {ptx_of(second.c_str()), "other"}},
                               {.architecture = gpu::architecture::sm(90)}));
  CHECK(error == gpu::errc::link_failed);
  for (const char* name : {"a0", "a123", "a299"}) {
    CHECK(test::says(error, (name + std::string(" is defined in one and in other.")).c_str()));
  }
  const std::string details(error.details());
  std::size_t count = 0;
  for (std::size_t at = 0; (at = details.find(" is defined in ", at)) != std::string::npos; ++at) {
    ++count;
  }
  CHECK(count == 3);
}

TEST_CASE("names that inputs disagree about are refused", "[compiler][link]") {
  const auto target = gpu::architecture::sm(90);
  const auto link = [&](const char* a, const char* b) {
    return test::error_of(
        gpu::link({{ptx_of(a), "a"}, {ptx_of(b), "b"}}, {.architecture = target}));
  };
  constexpr const char* user =
      "extern __device__ int v[4]; extern \"C\" __device__ int f(int); "
      "extern \"C\" __global__ void k(int* x) { *x = f(v[2]); }";
  const gpu::cuda_error size =
      link(user, "__device__ int v[5]; extern \"C\" __device__ int f(int x) { return x; }");
  CHECK(size == gpu::errc::link_failed);
  CHECK(test::says(size, "v has different sizes in a and in b"));
  const gpu::cuda_error space =
      link(user, "__constant__ int v[4]; extern \"C\" __device__ int f(int x) { return x; }");
  CHECK(test::says(space, "v is in different memory spaces in a and in b"));
  const gpu::cuda_error parameters =
      link(user, "__device__ int v[4]; extern \"C\" __device__ int f(double x) { return x; }");
  CHECK(test::says(parameters, "f has different parameters or results in a and in b"));
  // Templates are in several inputs, and names of a unit's own may be alike.
  constexpr const char* first =
      "template <class T> __device__ __noinline__ T twice(T x) { return x + x; } "
      "static __device__ int own = 1; extern \"C\" __global__ void p(int* x) { *x = twice(own); }";
  constexpr const char* second =
      "template <class T> __device__ __noinline__ T twice(T x) { return x + x; } "
      "static __device__ double own = 1; "
      "extern \"C\" __global__ void q(int* x) { *x = twice(2) + own; }";
  CHECK(gpu::link({ptx_of(first), ptx_of(second)}, {.architecture = target}).has_value());
}

}}  // namespace link_check_test
