// CUDA's vector types as elements: their names and layouts are those of NVRTC's own types.

#include <gpu/array/array.hpp>
#include <gpu/array/creation.hpp>
#include <gpu/array/evaluate.hpp>
#include <gpu/array/put.hpp>
#include <gpu/array/take.hpp>
#include <gpu/array/view_elements.hpp>
#include <gpu/array/view_shape.hpp>
#include <gpu/core/type_name.hpp>
#include <gpu/generated/element_type.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <vector>

#if __has_include(<vector_types.h>) && __has_include(<crt/host_defines.h>)
#  include "array/array_fixture.hpp"

#  include <gpu/algorithm/elementwise.hpp>
#  include <gpu/compiler/compile.hpp>
#  include <gpu/kernel.hpp>

#  include <vector_types.h>

#  include <cstring>
#  include <string>
#  include <tuple>
#  include <type_traits>

namespace vector_types_test {
struct narrow {
  float x, y;
};
}  // namespace vector_types_test

template <> struct gpu::device_name<vector_types_test::narrow> {
  static constexpr const char* value = "float3";
};

namespace vector_types_test { namespace {

using array_test::fixture;

using vector_types =
    std::tuple<char1, char2, char3, char4, uchar1, uchar2, uchar3, uchar4, short1, short2, short3,
               short4, ushort1, ushort2, ushort3, ushort4, int1, int2, int3, int4, uint1, uint2,
               uint3, uint4, long1, long2, long3, long4_16a, long4_32a, ulong1, ulong2, ulong3,
               ulong4_16a, ulong4_32a, longlong1, longlong2, longlong3, longlong4_16a,
               longlong4_32a, ulonglong1, ulonglong2, ulonglong3, ulonglong4_16a, ulonglong4_32a,
               float1, float2, float3, float4, double1, double2, double3, double4_16a, double4_32a>;

/// Returns a statement of device code that holds if a type is there what it is on the host.
template <class T> std::string same_on_device() {
  constexpr gpu::detail::element_type type = gpu::detail::element_type_of<T>();
  CHECK(type.definition.empty());
  const std::string name(type.name.data(), type.name.size());
  return "static_assert(sizeof(" + name + ") == " + std::to_string(type.bytes) + " && alignof(" +
         name + ") == " + std::to_string(type.alignment) + ", \"\");\n";
}

TEST_CASE("CUDA's vector types have their names and layouts on the device", "[array][vectors]") {
  const std::string code = std::apply(
      [](const auto&... each) { return (same_on_device<std::decay_t<decltype(each)>>() + ...); },
      vector_types());
  CHECK(code.find("sizeof(float4) == 16 && alignof(float4) == 16") != code.npos);
  CHECK(code.find("sizeof(uchar3) == 3 && alignof(uchar3) == 1") != code.npos);
  CHECK(code.find("sizeof(long4_32a) == 32 && alignof(long4_32a) == 32") != code.npos);
  test::value_of(gpu::compile(code.c_str()));
}

template <class T> bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEMPLATE_TEST_CASE("arrays of CUDA's vector types", "[array][vectors]", uchar3, float4, long4_32a) {
  using part = decltype(TestType::x);
  const fixture f;
  std::vector<TestType> host(60), turned(60), expected(60);
  for (std::size_t i = 0; i < 60; ++i) {
    host[i].x = static_cast<part>(i);
    host[i].y = static_cast<part>(2 * i);
    host[i].z = static_cast<part>(3 * i);
    turned[i % 6 * 10 + i / 6] = host[i];
  }
  auto a = test::value_of(gpu::array<TestType, 2>::from(f.stream, host, {10, 6}));
  const auto b = test::value_of(gpu::evaluate(f.stream, gpu::transpose(a)));
  CHECK(same_bytes(f.download(b), turned));

  const auto swap = test::value_of(gpu::elementwise<const TestType*, TestType, TestType*>::create(
      "x, shift, y", "y[i] = x[i]; y[i].x = x[i].z + shift.y; y[i].z = x[i].x"));
  TestType shift{};
  shift.x = 1;
  shift.y = 2;
  auto y = test::value_of(gpu::empty_like(f.stream, a));
  test::value_of(swap(f.stream, a, shift, y));
  for (std::size_t i = 0; i < 60; ++i) {
    expected[i] = host[i];
    expected[i].x = static_cast<part>(host[i].z + shift.y);
    expected[i].z = host[i].x;
  }
  CHECK(same_bytes(f.download(y), expected));
  // Elements at odd places, one by one.
  test::value_of(swap(f.stream, a.span().subspan(1, 58), shift, y.span().subspan(0, 58)));
  expected.erase(expected.begin());
  expected.resize(58);
  CHECK(same_bytes(f.download(y.span().subspan(0, 58)), expected));

  test::value_of(gpu::assign(f.stream, a(gpu::slice(2, 5)), shift));
  for (std::size_t i = 12; i < 30; ++i) host[i] = shift;
  CHECK(same_bytes(f.download(a), host));
  const auto filled = test::value_of(gpu::full<TestType>(f.stream, gpu::shape{7}, shift));
  CHECK(same_bytes(f.download(filled), std::vector<TestType>(7, shift)));
  CHECK(test::value_of(gpu::item(f.stream, a(0, 3))).y == part(6));
}

TEST_CASE("a structure with the name of a larger one is refused", "[array][vectors]") {
  const fixture f;
  auto a = test::value_of(gpu::zeros<narrow>(f.stream, gpu::shape{4}));
  CHECK(test::says(test::error_of(gpu::assign(f.stream, a, narrow{1, 2})),
                   "float3 has another size on the device than on the host"));
}

TEST_CASE("the parts of vectors are a view", "[array][vectors]") {
  const fixture f;
  auto a = test::value_of(gpu::array<float2>::from(f.stream, {float2{1, 2}, float2{3, 4}}));
  const auto parts = gpu::reshape(gpu::view_as<float>(a), 2, 2);
  test::value_of(gpu::assign(f.stream, parts, 2 * parts + 1));
  CHECK(test::value_of(gpu::item(f.stream, a(0))).x == 3);
  CHECK(test::value_of(gpu::item(f.stream, a(1))).y == 9);
}

TEST_CASE("kernels take vectors and pointers to them", "[array][vectors]") {
  const fixture f;
  const gpu::module code = test::value_of(gpu::module::load(test::value_of(gpu::compile(R"(
    extern "C" __global__ void add(char first, float4 x, const uchar3* y, double2 z, float4* out) {
      const uchar3 b = y[threadIdx.x];
      out[threadIdx.x] = make_float4(x.x + b.x, x.y + b.y, x.z + b.z, x.w + first + z.y);
    })"))));
  const auto add =
      test::value_of(code.kernel<char, float4, const uchar3*, double2, float4*>("add"));
  const auto y =
      test::value_of(gpu::array<uchar3>::from(f.stream, {uchar3{1, 2, 3}, uchar3{4, 5, 6}}));
  auto out = test::value_of(gpu::zeros<float4>(f.stream, gpu::shape{2}));
  test::value_of(
      gpu::launch(f.stream, {1, 2}, add, char{4}, float4{10, 20, 30, 40}, y, double2{0, 0.5}, out));
  const std::vector<float4> expected{{11, 22, 33, 44.5f}, {14, 25, 36, 44.5f}};
  CHECK(same_bytes(f.download(out), expected));
}

TEST_CASE("arrays are taken from and put into others by the same indices", "[array][vectors]") {
  const fixture f;
  const auto from = test::value_of(gpu::array<int>::from(f.stream, {3, 0, 1}));
  const auto to = test::value_of(gpu::array<int>::from(f.stream, {1, 4, 2}));
  std::vector<float4> host(8);
  for (std::size_t i = 0; i < 8; ++i) host[i].x = static_cast<float>(i);
  const auto x = test::value_of(gpu::array<float4>::from(f.stream, host));
  // Each source has an offset of its own, as `src_offsets` of PyCUDA's multi_take_put.
  for (const int offset : {0, 4}) {
    auto y = test::value_of(gpu::zeros<float4>(f.stream, gpu::shape{5}));
    const auto moved =
        test::value_of(gpu::take(f.stream, x(gpu::slice(offset, gpu::to_end)), from));
    test::value_of(gpu::put(f.stream, y, to, moved));
    std::vector<float4> expected(5);
    expected[1].x = static_cast<float>(offset + 3);
    expected[4].x = static_cast<float>(offset);
    expected[2].x = static_cast<float>(offset + 1);
    CHECK(same_bytes(f.download(y), expected));
  }
}

}}  // namespace vector_types_test
#endif
