// Views in several dimensions: how they are made, and that the device has them in the same layout.

#include <gpu/core/error.hpp>
#include <gpu/core/error_code.hpp>
#include <gpu/core/kernel_argument.hpp>
#include <gpu/driver/stream.hpp>
#include <gpu/kernel/host_argument.hpp>
#include <gpu/kernel/launch.hpp>
#include <gpu/kernel/module.hpp>
#include <gpu/memory.hpp>
#include <gpu/memory/array_view.hpp>

#include "kernel/test_programs.hpp"
#include "support/results.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace array_view_test { namespace {

using view2 = gpu::array_view<float, 2>;
static_assert(std::is_trivially_copyable_v<view2> && std::is_standard_layout_v<view2>);
static_assert(sizeof(view2) == 8 + 2 * 8 + 2 * 8);
static_assert(gpu::kernel_parameter<view2>);
static_assert(std::is_convertible_v<view2, gpu::array_view<const float, 2>>);
static_assert(!std::is_convertible_v<gpu::array_view<const float, 2>, view2>);
static_assert(!std::is_convertible_v<view2, gpu::array_view<double, 2>>);
static_assert(!std::is_constructible_v<view2, gpu::array_view<float, 3>>);

TEST_CASE("a row-major view has the last index running fastest", "[memory][array_view]") {
  const auto elements = gpu::device_span<float>::from_native(0x1000, 24);
  const auto view =
      test::value_of(gpu::array_view<float, 3>::row_major(elements, {std::size_t{2}, 3, 4}));
  CHECK(view.native() == 0x1000);
  CHECK(view.size() == 24);
  CHECK((view.extent(0) == 2 && view.extent(1) == 3 && view.extent(2) == 4));
  CHECK((view.stride(0) == 12 && view.stride(1) == 4 && view.stride(2) == 1));
  const gpu::array_view<const float, 3> constant = view;
  CHECK((constant.data() == view.data() && constant.stride(0) == 12 && constant.extent(2) == 4));
  CHECK(gpu::array_view<float, 1>().size() == 0);
  const auto named = view2::from_native(0x2000, {5, 7}, {1, -5});
  CHECK((named.native() == 0x2000 && named.extent(0) == 5 && named.extent(1) == 7));
  CHECK((named.stride(0) == 1 && named.stride(1) == -5));
}

TEST_CASE("a view of rank 0 has one element", "[memory][array_view]") {
  static_assert(sizeof(gpu::array_view<int, 0>) == 24);
  const auto one = gpu::array_view<int, 0>::from_native(0x1000);
  CHECK((one.native() == 0x1000 && one.size() == 1));
  const gpu::array_view<const int, 0> constant = one;
  CHECK(constant.native() == 0x1000);
  static_assert(std::is_same_v<gpu::array_view<int>, gpu::array_view<int, 1>>);

  const gpu::module code = test::load_source(R"(
    #include <gpu/device.hpp>
    extern "C" __global__ void look(gpu::array_view<int, 0> one, gpu::array_view<int> row) {
      row(0) = sizeof one;
      row(1) = one.size();
      row(2) = one();
      one() = 7;
    })");
  const gpu::stream stream = test::new_stream();
  const auto kernel =
      test::value_of(code.kernel<gpu::array_view<int, 0>, gpu::array_view<int>>("look"));
  auto buffer = test::value_of(gpu::device_buffer<int>::create(stream, 4));
  test::value_of(gpu::copy(std::vector<int>{0, 0, 0, 42}, buffer));
  const auto last = gpu::array_view<int, 0>::from_native(buffer.span().native() + 12);
  const auto row = test::value_of(gpu::array_view<int>::row_major(buffer.span().first(3), {3}));
  test::value_of(gpu::launch(stream, {1, 1}, kernel, last, row));
  std::vector<int> out(4);
  test::value_of(gpu::copy(buffer, out));
  CHECK(out == std::vector<int>{24, 1, 42, 7});
}

TEST_CASE("extents that do not multiply to the size are refused", "[memory][array_view]") {
  const auto elements = gpu::device_span<float>::from_native(0x1000, 24);
  const auto few = view2::row_major(elements, {4, 5});
  REQUIRE_FALSE(few.has_value());
  CHECK(few.error() == gpu::errc::size_mismatch);
  CHECK(few.error().asked() == 20);
  CHECK(few.error().limit() == 24);
  CHECK(few.error().details().contains("4 x 5 elements do not match the span, which has 24"));
  // 2^63 * 2 would be 0 again.
  const auto huge = view2::row_major({}, {std::size_t{1} << 63, 2});
  CHECK(huge.error() == gpu::errc::size_mismatch);
  CHECK(view2::row_major({}, {std::size_t{1} << 63, 0}).has_value());
  CHECK(gpu::array_view<float, 3>::row_major({}, {0, std::size_t{1} << 63, 2}).has_value());
  CHECK(view2::row_major(elements, {24, 0}).error() == gpu::errc::size_mismatch);
}

template <class T, int Rank> gpu::cuda_error fault_of(const gpu::array_view<T, Rank>& view) {
  return test::error_of(view.checked());
}

TEST_CASE("views of memory that cannot be are faulty", "[memory][array_view]") {
  constexpr std::size_t one = 1;
  constexpr std::ptrdiff_t lowest = -gpu::to_end - 1;
  const auto view = [](CUdeviceptr at, std::size_t rows, std::size_t columns, std::ptrdiff_t down,
                       std::ptrdiff_t right) {
    return view2::from_native(at, {rows, columns}, {down, right});
  };
  for (const auto& large :
       {view(0x1000, one << 32, one << 32, 0, 0), view(0x1000, one << 31, one << 30, 0, 0),
        view(0x1000, one << 33, one << 31, 0, 0), view(0x1000, one << 63, 3, 0, 0)}) {
    CHECK(large.size() == 0);
    CHECK(test::says(fault_of(large), "gpu::array_view::from_native", "9223372036854775807 bytes",
                     "smaller extents"));
  }
  for (const auto& outside : {view(0x1000, 2, 2, 0, gpu::to_end), view(0x1000, 2, 2, lowest, 0),
                              view(0x1000, 1 << 20, 2, one << 45, 1), view(0x1000, 5, 5, -0x400, 1),
                              view(0x1000, one << 21, one << 20, one << 40, one << 40)}) {
    CHECK(test::says(fault_of(outside), "beyond the last address", "strides count elements"));
  }
  // The first and the last element are the first and the last there are.
  CHECK(view(16, 5, 1, -1, 0).checked().has_value());
  CHECK(view(0 - CUdeviceptr{20}, 5, 1, 1, 0).checked().has_value());
  CHECK_FALSE(view(0 - CUdeviceptr{16}, 5, 1, 1, 0).checked().has_value());
  // Strides of one element, and of none, mean nothing.
  CHECK(view(0x1000, 1, 4, gpu::to_end, 1).checked().has_value());
  CHECK(view(0x1000, 0, 4, 1, lowest).checked().has_value());
  CHECK(view(0x1000, 1, 4, 9, 1).stride(0) == 9);
  const auto span = gpu::device_span<float>::from_native(0x1000, one << 62);
  CHECK(test::says(fault_of(gpu::array_view(span)), "bytes of elements"));
  CHECK(test::error_of(view2::row_major(span, {one << 32, one << 32})) == gpu::errc::size_mismatch);
}

TEST_CASE("an address that looks like a fault is refused as an address", "[memory][array_view]") {
  // All kinds of faults and functions that the bits can stand for.
  for (CUdeviceptr bits = 0; bits < 1024; ++bits) {
    const CUdeviceptr at = (CUdeviceptr{0x55} << 57) + (bits << 47) + 0x123;
    const auto named = gpu::array_view<float>::from_native(at, {5}, {3});
    REQUIRE(named.size() == 0);
    REQUIRE(test::says(fault_of(named), "gpu::array_view::from_native", "is not an address"));
    const gpu::array_view span = gpu::device_span<float>::from_native(at, 5);
    REQUIRE(test::says(fault_of(span), "is not an address"));
    REQUIRE(test::says(fault_of(gpu::array_view<float, 0>::from_native(at)), "is not an address"));
  }
  CHECK(test::says(fault_of(gpu::array_view<float>::from_native(0xAAF0000000001234, {5}, {1})),
                   "0xaaf0000000001234 is not an address of memory"));
}

TEST_CASE("an index of an unsigned type is never negative", "[memory][array_view]") {
  const gpu::array_view row = gpu::device_span<float>::from_native(0x1000, 24);
  const auto table = view2::from_native(0x1000, {6, 4}, {4, 1});
  const std::size_t i = 0;
  const gpu::cuda_error error = fault_of(row(i - 1));
  CHECK(error == gpu::errc::index_out_of_range);
  CHECK(test::says(error, "index 18446744073709551615 is out of range for axis 0",
                   "has 24 elements", "unsigned type is never negative", "signed type"));
  CHECK(test::says(fault_of(table(gpu::all(), i - 3)), "index 18446744073709551613", "axis 1"));
  CHECK(fault_of(table(i - 1, 2)) == gpu::errc::index_out_of_range);
  CHECK(fault_of(row(0u - 1)) == gpu::errc::index_out_of_range);
  CHECK(fault_of(row(std::uint8_t{255})) == gpu::errc::index_out_of_range);
  CHECK(fault_of(row(~0ull)) == gpu::errc::index_out_of_range);
  CHECK(row(-1).native() == 0x1000 + 23 * 4);
  CHECK(row(i + 23).native() == 0x1000 + 23 * 4);
  CHECK(row(std::uint8_t{23}).native() == 0x1000 + 23 * 4);
  CHECK(test::says(fault_of(gpu::array_view<float>()(i - 1)), "18446744073709551615",
                   "has 0 elements"));

  // Slices leave out what is out of range.
  CHECK(row(gpu::slice(i - 1, gpu::to_end)).size() == 0);
  CHECK(row(gpu::slice(i, i - 1)).size() == 24);
  CHECK(row(gpu::slice(i + 3, i - 1, i + 2)).size() == 11);
  CHECK(row(gpu::slice(i, 24u, i - 1)).size() == 1);
  CHECK(row(gpu::slice(i - 1, gpu::before_start, -1)).size() == 24);
  CHECK(row(gpu::slice(-1, gpu::to_end)).size() == 1);
}

TEST_CASE("a view has one layout on host and device", "[memory][array_view]") {
  const gpu::module code = test::load_source(R"(
    #include <gpu/device.hpp>
    extern "C" __global__ void look(gpu::array_view<const int, 3> view, long long* out) {
      out[0] = sizeof view;
      out[1] = alignof(decltype(view));
      for (int axis = 0; axis < 3; ++axis) {
        out[2 + axis] = view.extent(axis);
        out[5 + axis] = view.stride(axis);
      }
      out[8] = view(1, 2, 3);
      out[9] = view.size();
    })");
  const gpu::stream stream = test::new_stream();
  using view_type = gpu::array_view<const int, 3>;
  const auto kernel = test::value_of(code.kernel<view_type, long long*>("look"));
  std::vector<int> numbers(60);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
  auto buffer = test::value_of(gpu::device_buffer<int>::create(stream, numbers.size()));
  test::value_of(gpu::copy(numbers, buffer));
  std::vector<long long> out(10);

  const auto rows = test::value_of(gpu::array_view<int, 3>::row_major(buffer.span(), {3, 4, 5}));
  test::value_of(gpu::launch(stream, {1, 1}, kernel, rows, gpu::out(out)));
  CHECK(out == std::vector<long long>{sizeof(view_type), alignof(view_type), 3, 4, 5, 20, 5, 1,
                                      1 * 20 + 2 * 5 + 3, 60});
  // From the end backwards, one row for all indices of the second dimension.
  const auto reversed =
      view_type::from_native(buffer.span().native() + 59 * sizeof(int), {3, 4, 5}, {-20, 0, -1});
  test::value_of(gpu::launch(stream, {1, 1}, kernel, reversed, gpu::out(out)));
  CHECK(out[8] == 59 - 20 - 3);
  CHECK((out[5] == -20 && out[6] == 0 && out[7] == -1));
}

}}  // namespace array_view_test
