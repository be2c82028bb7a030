// Names that C++ types and values make: as NVRTC reads them, its lowered names being the oracle,
// and as launches use them.

#include <gpu/compiler/architecture.hpp>
#include <gpu/compiler/compile.hpp>
#include <gpu/compiler/compile_options.hpp>
#include <gpu/compiler/compiled_program.hpp>
#include <gpu/compiler/instance.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/string_ref.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/array_view.hpp>

#include "kernel/test_programs.hpp"
#include "support/results.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <vector_types.h>

#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
#  include <cuda_bf16.h>
#  include <cuda_fp16.h>
#endif

// Types as a program and its device code would share them.
struct point {
  float x, y;
};
namespace user {
enum class color { red, green, blue = -7 };
enum level : unsigned char { low, high = 200 };
enum wide : unsigned long { lowest, highest = ~0ul };
template <class T, int N> struct matrix {
  T values[N];
  struct row {
    T first;
  };
};
template <class T, class Policy = point> struct box {
  T value;
};
template <unsigned long N> struct count {};
template <class T, unsigned long N> struct fixed {};
template <auto... V> struct values {};
template <color C> struct colored {};
template <class T> struct outer {
  template <class U> struct inner {};
};
namespace nested {
struct deep {};
}  // namespace nested
struct called_otherwise {
  float x, y, z, w;
};
template <class T> struct wrapped {};
}  // namespace user

template <> struct gpu::device_name<user::called_otherwise> {
  static constexpr const char* value = "float4";
};
template <class T> struct gpu::device_name<user::wrapped<T>> {
  static constexpr auto value = gpu::instance<T, 2>("user::matrix");
};

namespace instance_test { namespace {

constexpr const char* source = R"(
#include <gpu/device.hpp>
struct point { float x, y; };
namespace user {
enum class color { red, green, blue = -7 };
enum level : unsigned char { low, high = 200 };
enum wide : unsigned long { lowest, highest = ~0ul };
template <class T, int N> struct matrix { T values[N]; struct row { T first; }; };
template <class T, class Policy = point> struct box { T value; };
template <unsigned long N> struct count {};
template <class T, unsigned long N> struct fixed {};
template <auto... V> struct values {};
template <color C> struct colored {};
template <class T> struct outer { template <class U> struct inner {}; };
namespace nested { struct deep {}; }
}
template <class... T> __global__ void types(T*...) {}
template <auto... V> __global__ void values() {}
template <class T, int N> __global__ void mixed() {}
template <unsigned N, class T> __global__ void number_first() {}
template <class T, class U, long A, bool B> __global__ void two_and_two() {}
template <int A, class T, int B> __global__ void between() {}
template <class... T> __global__ void any() {}
)";

gpu::compile_options for_90() {
  gpu::compile_options options;
  options.architecture = gpu::architecture::compute(90);
  return options;
}

std::string text_of(gpu::string_ref name) { return std::string(name.data(), name.size()); }

/// The name of the instance in the module, by NVRTC.
std::string lowered(gpu::string_ref name) {
  const auto made = gpu::compile(gpu::program(source).instance(name), for_90());
  if (!made.has_value()) FAIL(made.error().message().c_str());
  return made->lowered_name(name).c_str();
}

TEST_CASE("an instance is named as in C++", "[compiler][instance]") {
  CHECK(text_of(gpu::instance<float, 4>("axpy")) == "axpy<float, 4>");
  CHECK(text_of(gpu::instance<4, float>("axpy")) == "axpy<4, float>");
  CHECK(text_of(gpu::instance<>("n::axpy")) == "n::axpy<>");
  CHECK(text_of(gpu::instance<int*, user::box<unsigned long>>("f")) ==
        "f<int*, user::box<unsigned long, point>>");
  CHECK(text_of(gpu::instance<char, gpu::value<3u>, bool>("f")) == "f<char, 3u, bool>");
  CHECK(text_of(gpu::overload<float*, int>("f")) == "static_cast<void(*)(float*, int)>(f)");
  // Known at compile time, and nothing but characters.
  constexpr auto name = gpu::instance<float>("f");
  static_assert(name.size() == 8 && sizeof name == 9);
  static_assert(name.c_str()[8] == '\0');
}

// The expected names follow the Itanium C++ ABI, letter for letter.
TEST_CASE("arithmetic types", "[compiler][instance]") {
  CHECK(lowered(gpu::instance<bool, char, signed char, unsigned char>("any")) ==
        "_Z3anyIJbcahEEvv");
  CHECK(lowered(gpu::instance<short, unsigned short, int, unsigned>("any")) == "_Z3anyIJstijEEvv");
  CHECK(lowered(gpu::instance<long, unsigned long, long long, unsigned long long>("any")) ==
        "_Z3anyIJlmxyEEvv");
  CHECK(lowered(gpu::instance<float, double, void, std::nullptr_t>("any")) == "_Z3anyIJfdvDnEEvv");
  CHECK(lowered(gpu::instance<wchar_t, char8_t, char16_t, char32_t>("any")) ==
        "_Z3anyIJwDuDsDiEEvv");
  CHECK(lowered(gpu::instance<std::int64_t, std::size_t>("any")) == "_Z3anyIJlmEEvv");
}

TEST_CASE("compound types", "[compiler][instance]") {
  CHECK(lowered(gpu::instance<const float*, float* const, const volatile int*>("any")) ==
        "_Z3anyIJPKfKPfPVKiEEvv");
  CHECK(lowered(gpu::instance<int&, const int&, int&&>("any")) == "_Z3anyIJRiRKiOiEEvv");
  CHECK(lowered(gpu::instance<float[4], float[2][3], float(*)[4], const float(&)[2]>("any")) ==
        "_Z3anyIJA4_fA2_A3_fPS0_RA2_KfEEvv");
  CHECK(lowered(gpu::instance<void(int), void (*)(const float*, int), float (&)()>("any")) ==
        "_Z3anyIJFviEPFvPKfiERFfvEEEvv");
  CHECK(lowered(gpu::instance<int (*(*)(char))(float), void (*)(int, ...)>("any")) ==
        "_Z3anyIJPFPFifEcEPFvizEEEvv");
  CHECK(lowered(gpu::instance<float point::*, float point::* const, int (point::*)(float) const>(
            "any")) == "_Z3anyIJM5pointfKS1_MS0_KFifEEEvv");
}

TEST_CASE("types of the user and of CUDA", "[compiler][instance]") {
  CHECK(lowered(gpu::instance<point, user::nested::deep, user::color>("any")) ==
        "_Z3anyIJ5pointN4user6nested4deepENS1_5colorEEEvv");
  CHECK(lowered(gpu::instance<user::matrix<float, 4>, user::matrix<const float*, 2>::row>("any")) ==
        "_Z3anyIJN4user6matrixIfLi4EEENS1_IPKfLi2EE3rowEEEvv");
  CHECK(lowered(gpu::instance<user::box<user::box<int>>>("any")) ==
        "_Z3anyIJN4user3boxINS1_Ii5pointEES2_EEEEvv");
  CHECK(lowered(gpu::instance<user::count<3>, user::fixed<unsigned char, 5>>("any")) ==
        "_Z3anyIJN4user5countILm3EEENS0_5fixedIhLm5EEEEEvv");
  CHECK(lowered(gpu::instance<user::values<1, 2u, 'a', 3ul, user::high>>("any")) ==
        "_Z3anyIJN4user6valuesIJLi1ELj2ELc97ELm3ELNS0_5levelE200EEEEEEvv");
  CHECK(lowered(gpu::instance<user::colored<user::color::blue>>("any")) ==
        "_Z3anyIJN4user7coloredILNS0_5colorEn7EEEEEvv");
  CHECK(lowered(gpu::instance<user::outer<int>::inner<float>>("any")) ==
        "_Z3anyIJN4user5outerIiE5innerIfEEEEvv");
}

#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
TEST_CASE("the small floating-point and vector types of CUDA", "[compiler][instance]") {
  gpu::program program(R"(
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    template <class... T> __global__ void any() {}
    template <class T> __global__ void twice(T* x) { x[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x]; }
    template <class T> __global__ void sum(const T* x, float* out) { *out = x->x + x->y; })");
  constexpr auto names = gpu::instance<__half, __nv_bfloat16, __half2, float4, int2, dim3>("any");
  program.instance(names)
      .instance(gpu::instance<__half>("twice"))
      .instance(gpu::instance<__nv_bfloat16>("twice"))
      .instance(gpu::instance<float4>("sum"));
  const gpu::compiled_program made = test::value_of(gpu::compile(program));
  CHECK(made.lowered_name(names) == "_Z3anyIJ6__half13__nv_bfloat167__half26float44int24dim3EEvv");
  const gpu::module code = test::value_of(gpu::module::load(made));
  const gpu::stream stream = test::new_stream();
  const auto twice = test::value_of(code.kernel<__half*>(gpu::instance<__half>("twice")));
  // 1.5 and -0.25 in binary16 are 0x3e00 and 0xb400; their doubles have an exponent one higher.
  std::vector<__half> halves(2);
  halves[0] = __half(__half_raw{0x3e00});
  halves[1] = __half(__half_raw{0xb400});
  test::value_of(gpu::launch(stream, {1, 2}, twice, gpu::inout(halves)));
  CHECK(__half_raw(halves[0]).x == 0x4200);
  CHECK(__half_raw(halves[1]).x == 0xb800);
  const auto twice_b =
      test::value_of(code.kernel<__nv_bfloat16*>(gpu::instance<__nv_bfloat16>("twice")));
  std::vector<__nv_bfloat16> brains(1);
  brains[0] = __nv_bfloat16(__nv_bfloat16_raw{0x3fc0});  // 1.5
  test::value_of(gpu::launch(stream, {1, 1}, twice_b, gpu::inout(brains)));
  CHECK(__nv_bfloat16_raw(brains[0]).x == 0x4040);
  const auto sum = test::value_of(code.kernel<const float4*, float*>(gpu::instance<float4>("sum")));
  std::vector<float4> vectors(1, float4{1.5f, 2, 3, 4});
  std::vector<float> out(1);
  test::value_of(gpu::launch(stream, {1, 1}, sum, gpu::in(vectors), gpu::out(out)));
  CHECK(out[0] == 3.5f);
}
#endif

TEST_CASE("types of the standard library", "[compiler][instance]") {
  gpu::program program(R"(
    #include <array>
    #include <tuple>
    template <class T> __global__ void size(unsigned long* out) { *out = sizeof(T); })");
  using array = std::array<float, 3>;
  using pair = std::pair<char, std::array<double, 2>>;
  program.instance(gpu::instance<array>("size")).instance(gpu::instance<pair>("size"));
  const gpu::module code = test::value_of(gpu::module::load(test::value_of(gpu::compile(program))));
  const gpu::stream stream = test::new_stream();
  std::vector<unsigned long> out(1);
  const auto of_array = test::value_of(code.kernel<unsigned long*>(gpu::instance<array>("size")));
  test::value_of(gpu::launch(stream, {1, 1}, of_array, gpu::out(out)));
  CHECK(out[0] == sizeof(array));
  const auto of_pair = test::value_of(code.kernel<unsigned long*>(gpu::instance<pair>("size")));
  test::value_of(gpu::launch(stream, {1, 1}, of_pair, gpu::out(out)));
  CHECK(out[0] == sizeof(pair));
}

TEST_CASE("values keep their types", "[compiler][instance]") {
  CHECK(lowered(gpu::instance<4, -4, 4u, 4l, 4ul, 4ll, 4ull>("values")) ==
        "_Z6valuesIJLi4ELin4ELj4ELl4ELm4ELx4ELy4EEEvv");
  CHECK(lowered(gpu::instance<true, 'a', (signed char)-1, (unsigned char)200>("values")) ==
        "_Z6valuesIJLb1ELc97ELan1ELh200EEEvv");
  CHECK(lowered(gpu::instance<(short)-3, (unsigned short)65535, L'a', u8'b', U'c'>("values")) ==
        "_Z6valuesIJLsn3ELt65535ELw97ELDu98ELDi99EEEvv");
  CHECK(lowered(gpu::instance<std::numeric_limits<int>::min(), std::numeric_limits<long>::min(),
                              std::numeric_limits<long long>::min()>("values")) ==
        "_Z6valuesIJLin2147483648ELln9223372036854775808ELxn9223372036854775808EEEvv");
  CHECK(lowered(gpu::instance<std::numeric_limits<unsigned long long>::max(),
                              std::numeric_limits<unsigned>::max()>("values")) ==
        "_Z6valuesIJLy18446744073709551615ELj4294967295EEEvv");
  CHECK(lowered(gpu::instance<user::color::green, user::color::blue, user::high, user::highest,
                              static_cast<user::color>(9), nullptr>("values")) ==
        "_Z6valuesIJLN4user5colorE1ELS1_n7ELNS0_5levelE200ELNS0_4wideE18446744073709551615ELS1_9E"
        "LDnEEEvv");
}

#if !defined(__clang__) || __clang_major__ >= 18
TEST_CASE("values of floating point are exact", "[compiler][instance]") {
  CHECK(lowered(gpu::instance<1.5f, -0.0f, 0.1f>("values")) ==
        "_Z6valuesIJLf3fc00000ELf80000000ELf3dcccccdEEEvv");
  CHECK(lowered(gpu::instance<0.1, 5e-324, 1.7976931348623157e308>("values")) ==
        "_Z6valuesIJLd3fb999999999999aELd0000000000000001ELd7fefffffffffffffEEEvv");
  CHECK(lowered(gpu::instance<std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<float>::denorm_min()>("values")) ==
        "_Z6valuesIJLf7f800000ELdfff0000000000000ELf00000001EEEvv");
}
#endif

TEST_CASE("types and values mix", "[compiler][instance]") {
  CHECK(lowered(gpu::instance<double, -2>("mixed")) == "_Z5mixedIdLin2EEvv");
  CHECK(lowered(gpu::instance<3, char>("number_first")) == "_Z12number_firstILj3EcEvv");
  CHECK(lowered(gpu::instance<float, int, 3, true>("two_and_two")) ==
        "_Z11two_and_twoIfiLl3ELb1EEvv");
  CHECK(lowered(gpu::instance<gpu::value<1>, float, gpu::value<2>>("between")) ==
        "_Z7betweenILi1EfLi2EEvv");
}

TEST_CASE("types can have another name on the device", "[compiler][instance]") {
  CHECK(text_of(gpu::instance<user::called_otherwise, const user::called_otherwise*>("f")) ==
        "f<float4, const float4*>");
  CHECK(text_of(gpu::instance<user::box<user::called_otherwise*>>("f")) ==
        "f<user::box<float4*, point>>");
  CHECK(text_of(gpu::instance<user::wrapped<user::wrapped<int>>>("f")) ==
        "f<user::matrix<user::matrix<int, 2>, 2>>");
  CHECK(lowered(gpu::instance<gpu::device_span<const float>, gpu::device_span<int, 3>>("any")) ==
        "_Z3anyIJN3gpu11device_spanIKfEENS1_IiEEEEvv");
  CHECK(lowered(gpu::instance<gpu::array_view<float, 2>>("any")) ==
        "_Z3anyIJN3gpu10array_viewIfLi2EEEEEvv");
}

TEST_CASE("overloads differ in their parameters", "[compiler][instance]") {
  gpu::program program(R"(
    struct point { float x, y; };
    __global__ void put(int* out, float) { *out = 1; }
    __global__ void put(int* out, double) { *out = 2; }
    __global__ void put(int* out, point p) { *out = 3 + int(p.y); }
    template <class T> __global__ void which(T*, int* out) { *out = 10; }
    template <class T> __global__ void which(T, int* out) { *out = 20; })");
  program.instance(gpu::overload<int*, float>("put"))
      .instance(gpu::overload<int*, double>("put"))
      .instance(gpu::overload<int*, point>("put"))
      .instance(gpu::overload<float*, int*>(gpu::instance<float>("which")))
      .instance(gpu::overload<float*, int*>(gpu::instance<float*>("which")));
  const gpu::module code = test::value_of(gpu::module::load(test::value_of(gpu::compile(program))));
  const gpu::stream stream = test::new_stream();
  std::vector<int> out(1);
  const auto run = [&](const auto& kernel, auto value) {
    test::value_of(gpu::launch(stream, {1, 1}, kernel, gpu::out(out), value));
    return out[0];
  };
  CHECK(run(test::value_of(code.kernel<int*, float>(gpu::overload<int*, float>("put"))), 0.0f) ==
        1);
  CHECK(run(test::value_of(code.kernel<int*, double>(gpu::overload<int*, double>("put"))), 0.0) ==
        2);
  CHECK(run(test::value_of(code.kernel<int*, point>(gpu::overload<int*, point>("put"))),
            point{0, 4}) == 7);
  const auto by_pointer = test::value_of(
      code.kernel<float*, int*>(gpu::overload<float*, int*>(gpu::instance<float>("which"))));
  const auto by_value = test::value_of(
      code.kernel<float*, int*>(gpu::overload<float*, int*>(gpu::instance<float*>("which"))));
  test::value_of(gpu::launch(stream, {1, 1}, by_pointer, nullptr, gpu::out(out)));
  CHECK(out[0] == 10);
  test::value_of(gpu::launch(stream, {1, 1}, by_value, nullptr, gpu::out(out)));
  CHECK(out[0] == 20);
}

/// Sums `N` times each element on the device, and compares with the host.
template <class T, int N> void check_scale(const gpu::module& code, const gpu::stream& stream) {
  const auto kernel = test::value_of(
      code.kernel<gpu::device_span<const T>, gpu::device_span<T>>(gpu::instance<T, N>("scale")));
  std::vector<T> x(100), y(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i);
  auto from = test::value_of(gpu::device_buffer<T>::create(stream, x.size()));
  auto to = test::value_of(gpu::device_buffer<T>::create(stream, x.size()));
  test::value_of(gpu::copy(x, from));
  test::value_of(gpu::launch(stream, {2, 32}, kernel, from, to));
  test::value_of(gpu::copy(to, y));
  for (std::size_t i = 0; i < x.size(); ++i) {
    REQUIRE(static_cast<double>(y[i]) ==
            static_cast<double>(static_cast<T>(N * static_cast<double>(i))));
  }
}

TEST_CASE("instances run", "[compiler][instance]") {
  gpu::program program(R"(
    #include <gpu/device.hpp>
    template <class T, int N>
    __global__ void scale(gpu::device_span<const T> x, gpu::device_span<T> y) {
      for (auto i : gpu::grid_stride(y.size())) y[i] = T(N * double(x[i]));
    })");
  program.instance(gpu::instance<float, 3>("scale"))
      .instance(gpu::instance<double, -2>("scale"))
      .instance(gpu::instance<long, 5>("scale"))
      .instance(gpu::instance<signed char, 1>("scale"))
      .instance(gpu::instance<unsigned short, 7>("scale"));
  const gpu::module code = test::value_of(gpu::module::load(test::value_of(gpu::compile(program))));
  const gpu::stream stream = test::new_stream();
  check_scale<float, 3>(code, stream);
  check_scale<double, -2>(code, stream);
  check_scale<long, 5>(code, stream);
  check_scale<signed char, 1>(code, stream);
  check_scale<unsigned short, 7>(code, stream);
}

TEST_CASE("variables are named by instances of variable templates", "[compiler][instance]") {
  const auto made = test::value_of(gpu::compile(
      gpu::program("template <class T> __device__ T level = 7; __device__ int* keep = &level<int>;")
          .instance(gpu::instance<int>("&level"))));
  const gpu::module code = test::value_of(gpu::module::load(made));
  const auto level =
      test::value_of(code.global<int>(gpu::instance<int>("&level"), test::first_device()));
  std::vector<int> value(1);
  test::value_of(gpu::copy(level, value));
  CHECK(value[0] == 7);
}

TEST_CASE("an instance that does not compile is an error", "[compiler][instance]") {
  const char* kernel = "template <class T> __global__ void f(T* p) { p->x = 0; }";
  const auto wrong = gpu::compile(gpu::program(kernel).instance(gpu::instance<int>("f")), for_90());
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error() == gpu::errc::compile_failed);
  const auto empty = gpu::compile(gpu::program(kernel).instance(gpu::instance<>("f")), for_90());
  REQUIRE_FALSE(empty.has_value());
  CHECK(empty.error() == gpu::errc::compile_failed);
  CHECK(empty.error().details().contains("f<>"));
  const auto many =
      gpu::compile(gpu::program(kernel).instance(gpu::instance<int, 4>("f")), for_90());
  REQUIRE_FALSE(many.has_value());
  CHECK(many.error() == gpu::errc::compile_failed);
}

}}  // namespace instance_test
