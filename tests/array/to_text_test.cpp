// Arrays as text, against what NumPy prints.

#include "algorithm/algorithm_fixture.hpp"
#include "support/host_memory.hpp"

#include <gpu/array.hpp>
#include <gpu/array/to_text.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/result.hpp>
#include <gpu/driver/device.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/graph/stream_capture.hpp>
#include <gpu/memory/device_span.hpp>
#include <gpu/memory/shape.hpp>
#include <gpu/memory/slice.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <complex>  // IWYU pragma: keep
#include <cstdint>  // IWYU pragma: keep
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace to_text_test { namespace {

using algorithm_test::fixture;

template <class Array> std::string printed(const fixture& f, Array&& a) {
  return std::string(test::value_of(gpu::to_text(f.stream, a)));
}

/// Checks how elements of these bits are printed.
template <class T, int Rank, class Bits>
void prints(const fixture& f, const gpu::shape<Rank>& shape,
            const std::vector<std::type_identity_t<Bits>>& bits, const char* expected) {
  auto made = test::value_of(gpu::empty<T>(f.stream, shape));
  REQUIRE(made.size() * sizeof(T) == bits.size() * sizeof(Bits));
  std::vector<Bits> copied(bits);
  auto words = gpu::device_span<Bits>::from_native(made.native(), bits.size());
  test::value_of(f.stream.synchronize());
  test::value_of(gpu::copy(copied, words));
  CHECK(printed(f, made) == expected);
}

template <class T, int Rank>
void prints_counted(const fixture& f, const gpu::shape<Rank>& shape, double scale, double offset,
                    const char* expected) {
  std::vector<T> values(shape.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(i) * scale + offset;
    values[i] = static_cast<T>(
        std::is_integral_v<T> ? static_cast<double>(static_cast<T>(static_cast<long long>(value)))
                              : value);
  }
  const auto made = test::value_of(gpu::array<T, Rank>::from(f.stream, values, shape));
  CHECK(printed(f, made) == expected);
}

TEST_CASE("arrays are printed as NumPy prints them", "[array][to_text]") {
  const fixture f;
#include "array/to_text_reference.inc"
}

TEST_CASE("views are printed as what they show", "[array][to_text]") {
  const fixture f;
  auto a = test::value_of(gpu::array<int, 2>::from(f.stream, {{1, 2, 3}, {40, 50, 60}}));
  CHECK(printed(f, gpu::transpose(a)) == "[[ 1 40]\n [ 2 50]\n [ 3 60]]");
  CHECK(printed(f, gpu::reverse(a, 1)) == "[[ 3  2  1]\n [60 50 40]]");
  CHECK(printed(f, a(1, -1)) == "60");
  CHECK(printed(f, a(0)) == "[1 2 3]");
  auto numbers = test::value_of(gpu::arange<long long>(f.stream, 4000));
  CHECK(printed(f, numbers(gpu::slice(0, gpu::to_end, 2))) ==
        "[   0    2    4 ... 3994 3996 3998]");
  const auto folded = gpu::reshape(numbers, 2, 2000);
  CHECK(
      printed(f, gpu::transpose(folded)) ==
      "[[   0 2000]\n [   1 2001]\n [   2 2002]\n ...\n [1997 3997]\n [1998 3998]\n [1999 3999]]");
  const auto repeated = gpu::broadcast_to(a(0), gpu::shape{1000, 3});
  CHECK(printed(f, repeated) ==
        "[[1 2 3]\n [1 2 3]\n [1 2 3]\n ...\n [1 2 3]\n [1 2 3]\n [1 2 3]]");
  const auto buffer = f.upload(std::vector<double>{0.5, -1});
  CHECK(printed(f, buffer) == "[ 0.5 -1. ]");
  CHECK(printed(f, buffer.span()) == "[ 0.5 -1. ]");
}

TEST_CASE("numbers of 16 bits have the digits that tell them apart", "[array][to_text]") {
  const fixture f;
  const std::vector<__nv_bfloat16> values{__float2bfloat16(0.1f), __float2bfloat16(-3.f),
                                          __float2bfloat16(256.f)};
  const auto a = test::value_of(gpu::array<__nv_bfloat16>::from(f.stream, values));
  CHECK(printed(f, a) == "[ 1.00e-01 -3.00e+00  2.56e+02]");
  CHECK(printed(f, a(gpu::slice(0, 2))) == "[ 0.1 -3. ]");
}

TEST_CASE("what cannot be printed is refused", "[array][to_text]") {
  const fixture f;
  auto a = test::value_of(gpu::zeros<int>(f.stream, gpu::shape{2, 3}));
  CHECK(test::says(test::error_of(gpu::to_text(f.stream, a(2))), "gpu::to_text", "index 2"));
  CHECK(test::error_of(gpu::to_text(gpu::stream_ref{}, a)) == gpu::errc::empty_handle);
  {
    test::value_of(f.stream.synchronize());
    auto capture = test::value_of(gpu::stream_capture::begin(f.stream));
    CHECK(test::error_of(gpu::to_text(f.stream, a)) == gpu::errc::capture_prohibited);
    test::value_of(capture.end());
  }
  const auto moved = std::move(a);
  CHECK(test::says(test::error_of(gpu::to_text(f.stream, a)),
                   "gpu::to_text: empty_handle (12): the operand is empty"));
}

TEST_CASE("printing fails with each of its calls and allocations", "[array][to_text][cpu]") {
  const auto run = []() -> gpu::result<> {
    const gpu::device device = GPU_TRY(gpu::device::get(0));
    const gpu::stream stream = GPU_TRY(gpu::stream::create(device));
    auto a = GPU_TRY(gpu::zeros<float>(stream, gpu::shape{30, 40}));
    GPU_TRY(gpu::to_text(stream, a));
    GPU_TRY(gpu::to_text(stream, a(0, gpu::slice(0, 9, 2))));
    return stream.synchronize();
  };
  for (int k = 0; k < 3; ++k) test::value_of(run());
  CHECK(test::sweep_calls(run, {"cuCtxGetDevice", "cuCtxPopCurrent"}) == "");
  CHECK(test::sweep_host_memory(run) == "");
}

}}  // namespace to_text_test
